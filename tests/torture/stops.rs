//! Where and how a run stops: the exit, the pc, the count and every register, whatever the fuel.

use axperf::isa::{asm, word};
use axperf::{Access, Bus, Config, Engine, Exit, FaultKind, FlatMemory, Machine, Reg, UNLIMITED};

use crate::guest::{KINDS, Kind, START, engine, load, machine};

const DATA: u64 = 0x8000;
const LEN: u64 = 0x10000;
const END: Exit = Exit::Pal { function: 0x83 };

/// A loop that changes registers of both files before and after the instruction under test, which
/// is at `STOP`. The third round meets it with `$1` at the address given, the others with `DATA`.
fn program(insn: &str, addr: u64) -> String {
    format!(
        "
            lda $10, 3($31)
            ldah $1, 0($31)
            li $2, {DATA}
            li $3, {addr}
            lda $11, 0x3ff0($31)
            sll $11, 48, $11
            itoft $11, $f3
        again:
            subq $10, 1, $10
            addq $4, 2, $4
            cmoveq $10, $3, $2
            itoft $4, $f2
            bis $31, $2, $1
            {insn}
            addq $5, 1, $5
            bne $10, again
            call_pal 0x83
        "
    )
}

fn start(kind: Kind, text: &str) -> Machine<FlatMemory> {
    let memory = FlatMemory::new(LEN as usize);
    load(&memory, text);
    machine(&engine(kind), memory)
}

/// The place of an instruction in memory.
fn place(m: &Machine<FlatMemory>, insn: &str) -> (u64, u32) {
    let word = asm(insn, START).unwrap();
    let mut at = START;
    while m.bus().load(at, axperf::isa::Width::Long) != Ok(word.into()) {
        at += 4;
    }
    (at, word)
}

/// Every kind of access at an address that isn't aligned, and out of bounds: not retired, the
/// registers as they were before it.
#[test]
fn memory_stops() {
    for (name, width, store) in [
        ("ldwu $6", 2, false),
        ("ldl $6", 4, false),
        ("ldq $6", 8, false),
        ("ldl_l $6", 4, false),
        ("ldq_l $6", 8, false),
        ("lds $f6", 4, false),
        ("ldt $f6", 8, false),
        ("stw $4", 2, true),
        ("stl $4", 4, true),
        ("stq $4", 8, true),
        ("stl_c $4", 4, true),
        ("stq_c $4", 8, true),
        ("sts $f2", 4, true),
        ("stt $f2", 8, true),
        ("ldbu $6", 1, false),
        ("stb $4", 1, true),
        ("ldq_u $6", 1, false),
        ("stq_u $4", 1, true),
    ] {
        let insn = format!("{name}, 16($1)");
        for base in [DATA + 1, DATA + 7, LEN - 16, LEN, LEN + 0x10_0000, u64::MAX - 15, 1 << 63] {
            let addr = base.wrapping_add(16);
            let quad = name.contains("q_u");
            let touched = if quad { addr & !7 } else { addr };
            let text = program(&insn, base);
            let access = if store { Access::Write } else { Access::Read };
            let conditional = name.contains("_c");
            for kind in KINDS {
                let mut m = start(kind, &text);
                let (pc, word) = place(&m, &insn);
                let want = if addr % width != 0 {
                    Exit::Unaligned { pc, addr, word }
                } else if touched >= LEN && !conditional {
                    Exit::Fault { pc, addr: touched, access, kind: FaultKind::Unmapped }
                } else {
                    // Without a reservation nothing is stored.
                    END
                };
                assert_eq!(m.run(UNLIMITED), want, "{insn} {base:#x} {kind:?}");
                if want != END {
                    assert_eq!(m.reg(Reg::Pc), pc);
                    let regs = [Reg::R10, Reg::R4, Reg::R5, Reg::R1, Reg::F2].map(|r| m.reg(r));
                    let four = if conditional { m.reg(Reg::R4) } else { 6 };
                    assert_eq!(regs, [0, four, 2, base, four], "{insn} {base:#x} {kind:?}");
                }
                around(&text, kind, want, &insn);
            }
        }
    }
}

/// Arithmetic traps: retired, the result written where the manual says so (4.7.7 and, for integer
/// overflow, the instruction's own page). Bits of the summary: 6 IOV, 2 DZE, 1 INV, 0 SWC.
#[test]
fn arithmetic_traps() {
    let most = 0x7fff_ffff_ffff_ffffu64;
    for (insn, operand, summary, write_mask, result) in [
        ("addq/v $3, $3, $6", most, 1 << 6, 1 << 6, Some((Reg::R6, most << 1))),
        ("subq/v $31, $3, $7", 1 << 63, 1 << 6, 1 << 7, Some((Reg::R7, 1 << 63))),
        ("mulq/v $3, 2, $6", most, 1 << 6, 1 << 6, Some((Reg::R6, u64::MAX - 1))),
        ("addl/v $3, 1, $6", 0x7fff_ffff, 1 << 6, 1 << 6, Some((Reg::R6, 0xffff_ffff_8000_0000))),
        ("mulq/v $3, $3, $31", most, 1 << 6, 0, None),
        // 1 / 0, a denormal operand, and 1 as a quadword: 2^52 × 1023 is no longword.
        ("divt $f3, $f31, $f6", 0, 1 << 2, 1 << 38, None),
        ("addt $f2, $f3, $f6", 0, 1 << 1, 1 << 38, None),
        ("cvtql/v $f3, $f6", 0, 1 << 6, 1 << 38, Some((Reg::F6, 0))),
    ] {
        let text = program(insn, operand);
        for kind in KINDS {
            let mut m = start(kind, &text);
            let (at, _) = place(&m, insn);
            let exit = m.run(UNLIMITED);
            assert_eq!(exit, Exit::Arith { pc: at + 4, summary, write_mask }, "{insn} {kind:?}");
            assert_eq!(m.reg(Reg::Pc), at + 4);
            if let Some((reg, value)) = result {
                assert_eq!(m.reg(reg), value, "{insn} {kind:?}");
            }
            around(&text, kind, exit, insn);
        }
    }
}

/// CALL_PAL with any function comes back, retired, with the function; `halt` too, which is function
/// 0 and ends no host. IMB and the thread pointer's functions go on.
#[test]
fn pal_calls() {
    for function in (0..64).chain([0x80, 0x81, 0x83, 0xaa, 0x3f_ffff, 0x3ff_ffff]) {
        let insn = format!("call_pal {function:#x}");
        let text = program(&insn, 0);
        for kind in KINDS {
            let mut m = start(kind, &text);
            for round in 1..=3 {
                let exit = m.run(UNLIMITED);
                assert_eq!(exit, Exit::Pal { function }, "{kind:?}");
                assert_eq!(m.reg(Reg::R4), 2 * round, "{kind:?}");
                assert_eq!(m.reg(Reg::R5), round - 1, "{kind:?}");
            }
            assert_eq!(m.run(UNLIMITED), END);
        }
        let mut m = start(Kind::Jit, &text);
        let exit = m.run(UNLIMITED);
        around(&text, Kind::Jit, exit, &insn);
    }
    for function in [0x86, 0x9e, 0x9f] {
        let text = program(&format!("call_pal {function:#x}"), 0);
        for kind in KINDS {
            assert_eq!(start(kind, &text).run(UNLIMITED), END, "{function:#x} {kind:?}");
        }
    }
}

/// Words that are no instructions, and PALcode's own: not retired.
#[test]
fn illegal_instructions() {
    for word in [0x0400_0000u32, 0x1c00_0000, 0x6400_0000, 0x7fff_ffff, 0x4000_0fe0] {
        illegal(word, |pc| Exit::Illegal { pc, word });
    }
}

fn illegal(word: u32, want: impl Fn(u64) -> Exit) {
    let text = program(&format!(".long {word:#x}"), 0);
    for kind in KINDS {
        let mut m = start(kind, &text);
        let exit = m.run(UNLIMITED);
        let pc = m.reg(Reg::Pc);
        assert_eq!(exit, want(pc), "{word:#x} {kind:?}");
        assert_eq!(m.bus().load(pc, axperf::isa::Width::Long), Ok(word.into()));
        assert_eq!((m.reg(Reg::R4), m.reg(Reg::R5)), (2, 0), "{word:#x} {kind:?}");
        // It stops again and again, and isn't retired.
        let count = m.icount();
        assert_eq!(m.run(5), exit);
        assert_eq!((m.icount(), m.reg(Reg::Pc)), (count, pc));
        around(&text, kind, exit, &format!("{word:#x}"));
    }
}

/// Splits the fuel at every instruction near the stop: the same stop, state and count.
fn around(text: &str, kind: Kind, want: Exit, name: &str) {
    let mut whole = start(Kind::Interp, text);
    assert_eq!(whole.run(u64::MAX - 1), want, "{name}");
    let n = whole.icount().unwrap();
    let retired = matches!(want, Exit::Pal { .. } | Exit::Arith { .. });
    for first in n.saturating_sub(4)..=n {
        let mut m = start(kind, text);
        let exit = m.run(first);
        // What retires with the last instruction of the fuel is told, not that the fuel is used up.
        if first < n || !retired {
            assert_eq!(exit, Exit::Fuel, "{name} {first} of {n} {kind:?}");
            assert_eq!(m.icount(), Some(first), "{name} {kind:?}");
            assert_eq!(m.run(1000), want, "{name} {first} of {n} {kind:?}");
        } else {
            assert_eq!(exit, want, "{name} {first} of {n} {kind:?}");
        }
        assert_eq!(m.icount(), Some(n), "{name} {kind:?}");
        assert_eq!(m.regs(), whole.regs(), "{name} {first} of {n} {kind:?}");
    }
}

/// No fuel, no instruction; and a machine whose fuel is used up has done nothing else.
#[test]
fn no_fuel() {
    for kind in KINDS {
        let mut m = start(kind, &program("nop", 0));
        let before = m.regs().clone();
        assert_eq!(m.run(0), Exit::Fuel);
        assert_eq!((m.regs(), m.icount()), (&before, Some(0)));
    }
}

/// The reservation survives exits that change nothing, and falls with PAL calls.
#[test]
fn reservations_at_exits() {
    for kind in KINDS {
        let text = program("ldq_l $6, 0($1)\n stq_c $4, 0($1)", DATA);
        for step in 1..12 {
            let mut m = start(kind, &text);
            while m.run(step) == Exit::Fuel {}
            assert_eq!(m.reg(Reg::R4), 1, "{kind:?} {step}");
            assert_eq!(m.regs().word(word::LOCK_ADDR), axperf::isa::state::NO_RESERVATION);
        }
    }
}

/// Code that takes up more than there is room for: what is old makes room.
#[test]
fn a_full_code_cache() {
    let mut text = String::from("lda $10, 8($31)\nagain:\n");
    for i in 0..1500 {
        text += &format!("f{i}: beq $10, g{i}\n addq $4, {}, $4\n g{i}:\n", i % 256);
    }
    text += "subq $10, 1, $10\n bne $10, again\n call_pal 0x83";
    let sum: u64 = (0..1500).map(|i| i % 256).sum();
    let mut c = Config::new();
    c.hot(1).code_limit(1).region_blocks(2);
    let memory = FlatMemory::new(LEN as usize);
    load(&memory, &text);
    let e = Engine::new(&c).unwrap();
    let mut m = machine(&e, memory);
    assert_eq!(m.run(UNLIMITED), END);
    assert_eq!(m.reg(Reg::R4), 8 * sum);
    assert!(e.stats().evictions > 0);
}
