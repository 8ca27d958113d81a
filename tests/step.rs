//! `Machine::step`: a program done an instruction at a time is the program, and what is stepped needn't
//! be what memory has.

use axperf::isa::{assemble, decode};
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const START: u64 = 0x1000;

/// Branches, calls, memory, a locked sequence, a trap's instruction that doesn't trap, floating point.
const PROGRAM: &str = "
    lda $30, 0x4000($31)
    lda $1, 50($31)
again:
    bsr $26, work
    subq $1, 1, $1
    bne $1, again
    call_pal 0x83
work:
    ldq_l $2, 0($30)
    addq/v $2, $1, $2
    stq_c $2, 0($30)
    beq $2, work
    itoft $1, $f1
    cvtqt $f1, $f1
    addt $f2, $f1, $f2
    stt $f2, 8($30)
    ldbu $3, 9($30)
    xor $4, $3, $4
    ret $31, ($26)
";

fn machine(engine: EngineKind) -> Machine<FlatMemory> {
    let engine = Engine::new(Config::new().engine(engine).hot(2)).expect("an engine");
    let mut machine = Machine::new(&engine, FlatMemory::new(1 << 16)).expect("a machine");
    for (i, word) in assemble(PROGRAM, START).expect("it assembles").iter().enumerate() {
        machine.write(START + 4 * i as u64, &word.to_le_bytes()).expect("memory");
    }
    machine.set_reg(Reg::Pc, START);
    machine
}

/// Steps the instruction that memory has at the pc.
fn step(machine: &mut Machine<FlatMemory>) -> Option<Exit> {
    let mut word = [0; 4];
    machine.read(machine.reg(Reg::Pc), &mut word).expect("code");
    machine.step(&decode(u32::from_le_bytes(word)).expect("an instruction"))
}

#[test]
fn steps_are_the_program() {
    let mut whole = machine(EngineKind::Jit);
    let end = Exit::Pal { function: 0x83 };
    // 50 rounds of 14 instructions, two before and one after.
    assert_eq!(whole.run(UNLIMITED - 1), end);
    assert_eq!(whole.icount(), Some(50 * 14 + 3));
    // The sum of 1 to 50.
    assert_eq!(whole.reg(Reg::F2), 1275f64.to_bits());

    let mut steps = machine(EngineKind::Interp);
    while step(&mut steps).is_none() {}
    assert_eq!(steps.regs(), whole.regs());
    assert_eq!(steps.icount(), whole.icount());

    // Steps between runs of any length, which end in the middle of the locked sequence too.
    for run in 1..40 {
        let mut mixed = machine(EngineKind::Jit);
        while mixed.run(run) == Exit::Fuel && step(&mut mixed).is_none() {}
        assert_eq!(mixed.regs(), whole.regs(), "{run}");
        assert_eq!(mixed.icount(), whole.icount(), "{run}");
    }
}

#[test]
fn an_instruction_that_memory_has_not() {
    let mut machine = machine(EngineKind::Jit);
    let other = assemble("lda $5, 7($31)", 0).expect("it assembles")[0];
    assert_eq!(machine.step(&decode(other).expect("an instruction")), None);
    assert_eq!((machine.reg(Reg::R5), machine.reg(Reg::Pc)), (7, START + 4));
    let load = assemble("ldq $5, 1($31)", 0).expect("it assembles")[0];
    let exit = machine.step(&decode(load).expect("an instruction"));
    assert_eq!(exit, Some(Exit::Unaligned { pc: START + 4, addr: 1, word: load }));
    assert_eq!((machine.reg(Reg::R5), machine.reg(Reg::Pc)), (7, START + 4));
    assert_eq!(machine.icount(), Some(1));
}
