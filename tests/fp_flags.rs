//! The FPCR's status in programs: an operation raises its flags if the program reaches it, when it
//! does, and whether or not anything uses its result. Expected values: by hand.

use axperf::isa::assemble;
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const CODE: u64 = 0x1000;
const DATA: u64 = 0x8000;

const INV: u64 = 1 << 52;
const DZE: u64 = 1 << 53;
const UNF: u64 = 1 << 55;
const INE: u64 = 1 << 56;
const SUM: u64 = 1 << 63;
/// The FPCR of a Linux program: rounding to nearest, no IEEE trap enabled.
const START: u64 = 0x680e_8000_0000_0000;

fn machine(kind: EngineKind, blocks: usize, text: &str) -> Machine<FlatMemory> {
    let mut c = Config::new();
    c.engine(kind).hot(2).region_blocks(blocks);
    let engine = Engine::new(&c).unwrap();
    let mut m = Machine::new(&engine, FlatMemory::new(0x10000)).unwrap();
    let words = assemble(text, CODE).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::R16, DATA);
    // 1, 3, 0, a small number whose square isn't one, and the least number; an odd integer.
    for (reg, x) in
        [(Reg::F1, 1.0), (Reg::F2, 3.0), (Reg::F3, 0.0), (Reg::F4, 1e-200), (Reg::F5, 5e-324)]
    {
        m.set_reg(reg, f64::to_bits(x));
    }
    m.set_reg(Reg::F10, (1 << 60) + 1);
    m
}

/// Runs a program that ends with callsys, and compares the FPCR's status afterwards.
fn check(text: &str, status: u64) {
    let text = &format!("{text}\n call_pal 0x83");
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for blocks in [1, usize::MAX] {
            let mut m = machine(kind, blocks, text);
            assert_eq!(m.run(UNLIMITED), Exit::Pal { function: 0x83 }, "{kind:?} {text}");
            let want = START | status | if status != 0 { SUM } else { 0 };
            let got = m.reg(Reg::Fpcr);
            assert_eq!(got, want, "{kind:?} {blocks}: {got:#x}, not {want:#x}: {text}");
        }
    }
}

/// A loop of 100 turns: `$1` counts down. It is translated from its head on.
fn turns(body: &str) -> String {
    format!("li $1, 100\nbr $31, next\nnext:\n{body}\nsubq $1, 1, $1\nbgt $1, next")
}

/// A loop that does something in one turn, when it has long been translated.
fn late(body: &str) -> String {
    turns(&format!("cmpeq $1, 20, $9\nbeq $9, over\n{body}\nover:"))
}

/// What doesn't change in a loop, behind a branch that is never taken there.
#[test]
fn nothing_is_raised_that_is_not_reached() {
    for operation in [
        "divt/su $f1, $f3, $f6",
        "divt/su $f1, $f2, $f6",
        "divs/su $f1, $f2, $f6",
        "mult/su $f4, $f4, $f6",
        "divt/suc $f1, $f2, $f6",
        "sqrtt/su $f2, $f6",
        "cvtts/su $f4, $f6",
        "cvttq/svc $f4, $f6",
        "cvtqt/sui $f10, $f6",
        "cvtqt/suic $f10, $f6",
        "cvtqt $f10, $f6",
        "cvtqs/sui $f10, $f6",
        "cmptlt/su $f5, $f2, $f6",
        "addt $f1, $f4, $f6",
    ] {
        check(&turns(&format!("bge $1, over\n{operation}\nover:")), 0);
        check(&turns(&format!("bge $1, over\n{operation}\n{operation}\nover: stq $1, 0($16)")), 0);
        let never = "blt $1, some\nback:\n subq $1, 0, $1";
        let text = turns(never);
        check(&format!("{text}\nbr $31, end\nsome: {operation}\nbr $31, back\nend:"), 0);
        // And before an exit in its way.
        let text = turns(&format!("beq $1, end\n{operation}"));
        let text =
            format!("li $2, 200\nagain: subq $2, 1, $2\nbgt $2, again\nbr $31, end\n{text}\nend:");
        check(&text, 0);
    }
}

#[test]
fn all_is_raised_that_is_reached() {
    for (operation, status) in [
        // Overwritten at once, in the next turn, or never kept.
        ("divt/su $f1, $f2, $f6\n cpys $f1, $f1, $f6", INE),
        ("divt/su $f1, $f2, $f6", INE),
        ("divt/su $f1, $f2, $f31", INE),
        ("divs/su $f1, $f2, $f31", INE),
        ("divt/suc $f1, $f2, $f31", INE),
        ("divt/su $f1, $f3, $f31", DZE),
        ("divt/su $f3, $f3, $f31", INV),
        ("divt/su $f31, $f31, $f31", INV),
        ("mult/su $f4, $f4, $f31", UNF | INE),
        ("muls/su $f4, $f4, $f31", UNF | INE),
        ("cvtts/su $f4, $f31", UNF | INE),
        ("cvttq/svc $f4, $f31", INE),
        ("cvtqt/sui $f2, $f31", 0),
        ("sqrtt/su $f2, $f31", INE),
        ("cmptlt/su $f5, $f2, $f31", 1 << 57),
        ("addt/su $f5, $f31, $f31", 1 << 57),
        ("addt $f1, $f4, $f31", INE),
        ("divt $f1, $f2, $f31", INE),
        // Constants alone.
        ("lda $2, 3($31)\n itoft $2, $f7\n cvtqt/sui $f7, $f7\n sqrtt/su $f7, $f31", INE),
        ("cvtqt/sui $f31, $f7\n divt/su $f7, $f7, $f31", INV),
        // An odd number of 54 bits.
        ("subq $31, 1, $2\n srl $2, 10, $2\n itoft $2, $f7\n cvtqt/sui $f7, $f31", INE),
        ("cvtqt/sui $f10, $f31", INE),
        ("cvtqt $f10, $f31", INE),
        ("cvtqs $f10, $f31", INE),
        ("lda $2, 1($31)\n sll $2, 53, $2\n itoft $2, $f7\n cvtqt $f7, $f31", 0),
    ] {
        check(&late(operation), status);
        check(&turns(operation), status);
        check(operation, status);
        let other = operation.replace("$f31\n", "$f6\n").replace("$f31", "$f6");
        if !operation.contains("$f31,") {
            check(&late(&other), status);
            check(&late(&format!("{other}\ncpys $f1, $f1, $f6")), status);
        }
    }
}

/// A result that is used later in the same turn, past places where translated code can leave.
const CHAIN: &str = "
    li $1, 60
    lda $2, 1($31)
next:
    divt/su $f1, $f2, $f6
    stt $f1, 0($16)
    ldq $3, 0($16)
    addt/su $f6, $f1, $f7
    mult/su $f4, $f4, $f8
    subq $1, 1, $1
    bgt $1, next
    divt/su $f1, $f3, $f6
    cmptun/su $f6, $f7, $f9
    subt/su $f6, $f6, $f10
    call_pal 0x83
";

/// The status at every stop is that of the instructions that retired.
#[test]
fn status_is_exact_at_every_stop() {
    // By hand: instruction 2 is the first division, 6 the first product, 422 and 424 at the end.
    let status = |n: u64| {
        let mut s = 0;
        for (from, raised) in [(3, INE), (7, UNF), (423, DZE), (425, INV)] {
            s |= if n >= from { raised } else { 0 };
        }
        START | s | if s != 0 { SUM } else { 0 }
    };
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for step in [1, 2, 3, 7, 11, 100] {
            let mut m = machine(kind, usize::MAX, CHAIN);
            loop {
                let exit = m.run(step);
                let n = m.icount().unwrap();
                assert_eq!(m.reg(Reg::Fpcr), status(n), "{kind:?} {step} after {n}: {m:?}");
                if exit != Exit::Fuel {
                    assert_eq!(exit, Exit::Pal { function: 0x83 });
                    break;
                }
            }
        }
    }
}

/// MT_FPCR takes effect at once, in loops that are translated too: status, rounding, traps.
#[test]
fn writes_take_effect() {
    let text = "
        li $1, 100
    next:
        ldq $2, 0($16)
        itoft $2, $f10
        mt_fpcr $f10
        br $31, one
    one:
        divt/sud $f1, $f2, $f6
        mf_fpcr $f11
        stt $f6, 8($16)
        stt $f11, 16($16)
        subq $1, 1, $1
        bgt $1, next
        call_pal 0x83
    ";
    // 1/3 by rounding mode, and the FPCR: bits 46:0 don't exist, SUM follows from the status.
    let (down, up) = (0x3fd5_5555_5555_5555u64, 0x3fd5_5555_5555_5556u64);
    let modes = [(0, down), (1, down), (2, down), (3, up)];
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        for (mode, want) in modes {
            let fpcr = START & !(3 << 58) | mode << 58;
            let mut m = machine(kind, usize::MAX, text);
            m.write(DATA, &(fpcr | 0x7fff).to_le_bytes()).unwrap();
            assert_eq!(m.run(UNLIMITED), Exit::Pal { function: 0x83 });
            assert_eq!(m.reg(Reg::F6), want, "{kind:?} {mode}");
            assert_eq!(m.reg(Reg::F11), fpcr | INE | SUM, "{kind:?} {mode}");
        }
    }
}

/// What was computed before the status was cleared raises it again.
#[test]
fn the_same_again_raises_again() {
    for operation in [
        "divt/su $f1, $f2, $f6",
        "divt/suc $f1, $f2, $f6",
        "divs/su $f1, $f2, $f6",
        "divt $f1, $f2, $f6",
        "addt/su $f1, $f4, $f6",
        "addt/suc $f1, $f4, $f6",
        "cvtqt/sui $f10, $f6",
        "cvttq/svc $f4, $f6",
        "cvttq/sv $f4, $f6",
        "cvtts/su $f2, $f6\n sqrts/su $f6, $f6",
    ] {
        let once = format!("{operation}\n mf_fpcr $f20\n ftoit $f20, $3\n and $2, $3, $2");
        let clear = "mt_fpcr $f21";
        let text = turns(&format!("{clear}\n{once}\n{clear}\n{once}\n{clear}\n mf_fpcr $f22"));
        for kind in [EngineKind::Interp, EngineKind::Jit] {
            let mut m = machine(kind, usize::MAX, &format!("{text}\n call_pal 0x83"));
            m.set_reg(Reg::R2, u64::MAX);
            m.set_reg(Reg::F21, START);
            assert_eq!(m.run(UNLIMITED), Exit::Pal { function: 0x83 }, "{kind:?} {text}");
            assert_eq!(m.reg(Reg::R2), START | INE | SUM, "{kind:?} {operation}");
            assert_eq!(m.reg(Reg::F22), START, "{kind:?} {operation}");
            assert_eq!(m.reg(Reg::Fpcr), START, "{kind:?} {operation}");
        }
    }
}

/// A program turns traps on while it runs: the next exception comes back.
#[test]
fn traps_can_be_enabled_at_run_time() {
    let text = "
        li $1, 100
    next:
        divt/su $f1, $f3, $f6
        subq $1, 1, $1
        bgt $1, next
        mt_fpcr $f10
        br $31, more
    more:
        divt/su $f1, $f2, $f6
        divt/su $f1, $f3, $f6
        call_pal 0x83
    ";
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        let mut m = machine(kind, usize::MAX, text);
        // All but DZED.
        m.set_reg(Reg::F10, START & !(1 << 50));
        let exit = m.run(UNLIMITED);
        let pc = CODE + 4 * 8;
        assert_eq!(exit, Exit::Arith { pc, summary: 1 << 2 | 1, write_mask: 1 << 38 }, "{kind:?}");
        assert_eq!(m.reg(Reg::F6), f64::INFINITY.to_bits());
        assert_eq!(m.reg(Reg::Fpcr), START & !(1 << 50) | DZE | INE | SUM, "{kind:?}");
        assert_eq!(m.run(UNLIMITED), Exit::Pal { function: 0x83 });
    }
}

/// The exception summary of an integer overflow is IOV alone, whatever the operand looks like; the
/// result is written. (Alpha Architecture Handbook, 4.7.7.9 and the operation sections.)
#[test]
fn integer_overflow() {
    for (insn, result) in [
        ("addl/v $2, $3, $4", 0xffff_ffff_8000_0000u64),
        ("mull/v $2, 4, $4", 0),
        ("addq/v $5, $5, $4", 0x8000_0000_0000_0000),
        ("subq/v $6, 129, $4", 0x7fff_ffff_ffff_ff7f),
        ("mulq/v $5, 8, $4", 0),
        ("mulq/v $5, 8, $31", 0),
    ] {
        let text = turns(&format!("cmpeq $1, 7, $7\n beq $7, over\n {insn}\nover:"));
        for kind in [EngineKind::Interp, EngineKind::Jit] {
            let mut m = machine(kind, usize::MAX, &format!("{text}\n call_pal 0x83"));
            m.set_reg(Reg::R2, 0x4000_0000);
            m.set_reg(Reg::R3, 0x4000_0000);
            m.set_reg(Reg::R5, 1 << 62);
            m.set_reg(Reg::R6, 1 << 63);
            let mask = if insn.ends_with("$31") { 0 } else { 1 << 4 };
            let exit = m.run(UNLIMITED);
            let Exit::Arith { summary, write_mask, .. } = exit else { panic!("{insn} {exit:?}") };
            assert_eq!((summary, write_mask), (1 << 6, mask), "{kind:?} {insn}");
            assert_eq!(m.reg(Reg::R4), if mask == 0 { 0 } else { result }, "{kind:?} {insn}");
        }
    }
}
