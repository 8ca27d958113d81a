//! PALmode: instructions that the embedder performs are exact in count, fuel and samples, and the same
//! in both engines. The oracle is the same program with an ordinary instruction in their place.

use std::sync::Arc;

use axperf::isa::palmode::{Family, PalInsn, ReturnHint, assemble};
use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sampler};
use axperf::{Config, Cpu, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const CODE: u64 = 0x1000;
const END: Exit = Exit::Pal { function: 0x83 };

/// A loop in which `{}` stands for an instruction that adds 3 to $2.
const LOOP: &str = "
        li      $1, 500
    again:
        addq    $3, $2, $3
        {}
        subq    $1, 1, $1
        xor     $2, $3, $4
        bne     $1, again
        call_pal 0x83
";

fn config(kind: EngineKind, cpu: Cpu) -> Config {
    let mut config = Config::new();
    config.engine(kind).cpu(cpu).hot(2);
    config
}

fn machine(config: &Config, text: &str) -> Machine<FlatMemory> {
    let engine = Engine::new(config).unwrap();
    let words = assemble(text, CODE, engine.cpu().family()).unwrap();
    let mut m = Machine::new(&engine, FlatMemory::new(0x10000)).unwrap();
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_palmode(true);
    m
}

/// Runs with `fuel` at a time; HW_MFPR of the internal register 7 adds 3 to $2.
fn run(m: &mut Machine<FlatMemory>, fuel: u64) -> Exit {
    loop {
        match m.run(fuel) {
            Exit::Fuel | Exit::Watermark => {}
            Exit::PalMode { pc, insn: PalInsn::Mfpr { ra: 2, ipr } } => {
                assert_eq!((pc, ipr.index), (m.reg(Reg::Pc), 7));
                m.set_reg(Reg::R2, m.reg(Reg::R2) + 3);
                m.retire(pc + 4);
            }
            exit => return exit,
        }
    }
}

const MFPR: [(Cpu, &str); 3] = [
    (Cpu::Ev4, "hw_mfpr/i $2, 7"),
    (Cpu::Pca56, "hw_mfpr $2, 7"),
    (Cpu::Ev67, "hw_mfpr $2, 0x700"),
];

/// State, count and every sample of both programs are the same.
#[test]
fn as_exact_as_an_ordinary_instruction() {
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for (cpu, insn) in MFPR {
            for (period, fuel) in [(1, UNLIMITED), (7, UNLIMITED), (13, 5), (1000, 1), (100, 97)] {
                let outcome = |insn: &str| {
                    let mut m = machine(&config(kind, cpu), &LOOP.replace("{}", insn));
                    let attr = Attr::new(Event::Instructions, period).user_regs(RegMask::EXTENDED);
                    let ring = Arc::new(Ring::new(1 << 22).unwrap());
                    let sampler = Sampler::new(attr, RegAbi::Extended, 7, ring.clone()).unwrap();
                    let id = m.attach(sampler);
                    assert_eq!(run(&mut m, fuel), END);
                    let mut bytes = Vec::new();
                    ring.drain(&mut bytes);
                    (m.regs().clone(), m.icount(), m.sampler(id).unwrap().stats(), bytes)
                };
                let (ours, theirs) = (outcome(insn), outcome("addq $2, 3, $2"));
                assert_eq!(ours.1, Some(1 + 5 * 500 + 1));
                assert!(ours == theirs, "{kind:?} {cpu:?} period {period} fuel {fuel}");
            }
        }
    }
}

/// Without counting, and with the engines side by side.
#[test]
fn other_variants() {
    let mut checked = config(EngineKind::Jit, Cpu::Ev67);
    checked.crosscheck(true);
    for config in [config(EngineKind::Jit, Cpu::Ev67), checked] {
        let mut m = machine(&config, &LOOP.replace("{}", "hw_mfpr $2, 0x700"));
        assert_eq!(run(&mut m, UNLIMITED), END);
        assert_eq!(m.reg(Reg::R2), 1500);
        // The sum of 0, 3, ..., 3 * 499.
        assert_eq!(m.reg(Reg::R3), 3 * 499 * 500 / 2);
    }
}

/// RPCC reads the count of the instructions before it, where there is one; PALmode's count too.
#[test]
fn cycle_counter() {
    const TEXT: &str = "
            li      $1, 300
        again:
            rpcc    $5
            subq    $5, $6, $7
            bis     $5, $5, $6
            hw_mfpr $2, 0x700
            subq    $1, 1, $1
            addq    $8, $7, $8
            bne     $1, again
            call_pal 0x83
    ";
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for fuel in [UNLIMITED - 1, 10] {
            let mut m = machine(&config(kind, Cpu::Ev67), TEXT);
            assert_eq!(run(&mut m, fuel), END);
            // One instruction of li, and seven of the loop 299 times.
            assert_eq!((m.reg(Reg::R5), m.reg(Reg::R7)), (1 + 7 * 299, 7), "{kind:?}");
            assert_eq!((m.reg(Reg::R8), m.icount()), (1 + 7 * 299, Some(1 + 7 * 300 + 1)));
        }
    }
}

/// Out of PALmode they are illegal; what isn't performed doesn't retire.
#[test]
fn native_mode() {
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        let mut m = machine(&config(kind, Cpu::Ev6), "addq $1, 1, $1\n hw_ret/stall ($1)");
        let exit = m.run(10);
        let Exit::PalMode { pc: 0x1004, insn: PalInsn::Return(to) } = exit else {
            panic!("{exit:?}")
        };
        assert_eq!((to.rb, to.hint, to.stall), (Some(1), ReturnHint::Ret, true));
        assert_eq!((m.icount(), m.reg(Reg::Pc)), (Some(1), 0x1004));
        m.set_palmode(false);
        assert!(!m.palmode());
        assert_eq!(m.run(10), Exit::Illegal { pc: 0x1004, word: 0x7be1_a000 });
        assert_eq!((m.icount(), m.reg(Reg::Pc)), (Some(1), 0x1004));
    }
}

/// Every function of CALL_PAL comes back if they are wanted; the machine does three itself if not.
#[test]
fn pal_calls() {
    let functions = (0..0x100).chain((0..26).map(|bit| 1 << bit)).chain([0x3ff_ffff]);
    let functions: Vec<u32> = functions.collect();
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for all in [false, true] {
            let mut config = config(kind, Cpu::Ev67);
            config.hot(1).all_pal_calls(all);
            for &function in &functions {
                let text = format!("addq $1, 1, $1\n call_pal {function}\n call_pal 0x83");
                let mut m = machine(&config, &text);
                m.set_reg(Reg::R16, 5);
                m.set_reg(Reg::Unique, 9);
                let own = !all && matches!(function, 0x86 | 0x9e | 0x9f);
                for fuel in [UNLIMITED, 10] {
                    m.set_reg(Reg::Pc, CODE);
                    let exit = m.run(fuel);
                    if own {
                        assert_eq!((exit, m.reg(Reg::Pc)), (END, CODE + 12), "{function:#x}");
                    } else {
                        assert_eq!(exit, Exit::Pal { function });
                        assert_eq!(m.reg(Reg::Pc), CODE + 8, "{function:#x}");
                        assert_eq!((m.reg(Reg::R0), m.reg(Reg::Unique)), (0, 9));
                    }
                }
                assert_eq!(m.reg(Reg::R1), 2);
            }
        }
    }
}

/// A loop with a call in it that the embedder does, where all are wanted: hot code around it too.
#[test]
fn all_pal_calls_in_hot_code() {
    let mut config = config(EngineKind::Jit, Cpu::Ev67);
    config.all_pal_calls(true);
    let mut m = machine(&config, &LOOP.replace("{}", "call_pal 0x9e"));
    let mut calls = 0;
    loop {
        match m.run(UNLIMITED) {
            Exit::Pal { function: 0x9e } => {
                calls += 1;
                m.set_reg(Reg::R2, m.reg(Reg::R2) + 3);
            }
            exit => break assert_eq!(exit, END),
        }
    }
    assert_eq!((calls, m.reg(Reg::R2)), (500, 1500));
    assert!(m.engine().stats().translations > 0);
}

/// An instruction that the CPU lacks, executed for it.
#[test]
fn emulation() {
    let mut m = machine(&config(EngineKind::Jit, Cpu::Ev5), "ctpop $1, $2\n addl/v $3, $3, $4");
    m.set_reg(Reg::R1, 0xff);
    m.set_reg(Reg::R3, 0x4000_0000);
    let Exit::Illegal { pc: CODE, word } = m.run(10) else { panic!() };
    let insn = axperf::isa::decode(word).unwrap();
    assert_eq!(m.emulate(&insn), Ok(()));
    assert_eq!((m.reg(Reg::R2), m.reg(Reg::Pc), m.icount()), (8, CODE + 4, Some(0)));
    // One that traps.
    let insn = axperf::isa::decode(0x4063_0804).unwrap();
    let trap = Exit::Arith { pc: CODE + 8, summary: 1 << 6, write_mask: 1 << 4 };
    assert_eq!(m.emulate(&insn), Err(trap));
    assert_eq!((m.reg(Reg::R4), m.reg(Reg::Pc)), (0xffff_ffff_8000_0000, CODE + 8));
}

/// Any word of the reserved opcodes, on any CPU: it comes back decoded or as illegal, and nothing has
/// retired.
#[test]
fn any_word() {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 32) as u32
    };
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for &cpu in Cpu::ALL {
            let mut m = machine(config(kind, cpu).hot(1), "nop");
            let mut decoded = 0;
            for n in 0..3000 {
                let opcode = [0x19, 0x1b, 0x1d, 0x1e, 0x1f][n % 5];
                // Half of them with register fields that may be right.
                let registers = [random() >> 6, 31 << 21 | 31 << 16, 1 << 21 | 1 << 16][n % 3];
                let word = opcode << 26 | registers & 0x3ff_0000 | random() & 0xffff;
                m.write(CODE, &word.to_le_bytes()).unwrap();
                m.imb();
                let before = m.regs().clone();
                let exit = m.run(10);
                let want = match PalInsn::decode(word, cpu.family()) {
                    Some(insn) => Exit::PalMode { pc: CODE, insn },
                    None => Exit::Illegal { pc: CODE, word },
                };
                assert_eq!(exit, want, "{cpu} {word:#x}");
                assert!(*m.regs() == before && m.icount() == Some(0));
                decoded += usize::from(matches!(exit, Exit::PalMode { .. }));
            }
            assert!(decoded > 1000, "{cpu}: {decoded}");
        }
    }
}

#[test]
fn families() {
    let families: Vec<Family> = Cpu::ALL.iter().map(|cpu| cpu.family()).collect();
    let (ev4, ev5, ev6) = (Family::Ev4, Family::Ev5, Family::Ev6);
    assert_eq!(families, [ev4, ev5, ev5, ev5, ev6, ev6]);
}
