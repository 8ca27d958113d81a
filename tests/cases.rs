//! Every instruction against values worked out from the definitions of the Alpha Architecture
//! Reference Manual: `cases/*.txt`, one case a line, in every way that the machine can run it.
//!
//! `cases/case.rs` says how a case is written. `scripts/check-cases` works the values out again, in
//! another language and from the manual's definitions alone.

#[path = "cases/case.rs"]
mod case;
#[path = "cases/doc.rs"]
mod doc;
mod support;

use std::collections::HashMap;
use std::path::Path;

use axperf::isa::{INSNS, Op, assemble};
use axperf::{
    Access, Bus, Config, Cpu, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED,
};

use case::{CODE, Case, MEMORY, Place};

/// The cases of all files, in the order of the files' names.
fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .expect("tests/cases is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    let (mut cases, mut errors) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.file_name().expect("a file's path").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let (more, wrong) = case::read(&format!("tests/cases/{name}"), &text);
        cases.extend(more);
        errors.extend(wrong);
    }
    assert!(errors.is_empty(), "{} lines are no cases:\n{}", errors.len(), errors.join("\n"));
    cases
}

/// How often each instruction stands in a case.
fn counts(cases: &[Case]) -> HashMap<Op, usize> {
    let mut counts = HashMap::new();
    for case in cases {
        let mut ops: Vec<Op> = case.insns().map(|insn| insn.op).collect();
        ops.sort();
        ops.dedup();
        for op in ops {
            *counts.entry(op).or_default() += 1;
        }
    }
    counts
}

/// A way to run a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    /// In the interpreter.
    Interpreter,
    /// Translated, with no polls.
    Free,
    /// Translated, looking for a flag.
    Flag,
    /// Translated, counting.
    Counted,
    /// Translated, a block at a time.
    Block,
    /// Translated, with integer registers that the same code has set: operands are constants.
    Constant,
}

impl Way {
    const ALL: [Way; 6] =
        [Way::Interpreter, Way::Free, Way::Flag, Way::Counted, Way::Block, Way::Constant];

    fn engine(self, cpu: Cpu) -> Engine {
        let mut config = Config::new();
        config.cpu(cpu).hot(1);
        match self {
            Way::Interpreter => config.engine(EngineKind::Interp),
            Way::Block => config.region_blocks(1),
            Way::Free | Way::Flag | Way::Counted | Way::Constant => &mut config,
        };
        Engine::new(&config).expect("the host can hold code")
    }
}

/// What a register holds that the case doesn't name.
fn filler(reg: Reg) -> u64 {
    match reg {
        Reg::Pc => CODE,
        // Rounding to nearest, no trap disabled, no status.
        Reg::Fpcr => 2 << 58,
        _ => 0xa5a5_0000_0000_0101u64.wrapping_mul(reg as u64 + 1),
    }
}

fn is_integer(reg: Reg) -> bool {
    (reg as u8) < Reg::Pc as u8
}

/// Instructions that set the integer registers that are given.
fn setup(case: &Case) -> Vec<u32> {
    let lines = case.before.iter().filter_map(|(place, value)| match place {
        Place::Reg(reg) if is_integer(*reg) => Some(format!("li ${}, {value:#x}\n", *reg as u8)),
        Place::Reg(_) | Place::Memory(..) => None,
    });
    assemble(&lines.collect::<String>(), 0).expect("constants can be loaded")
}

/// A machine before the case.
fn before(case: &Case, way: Way, engine: &Engine) -> Machine<FlatMemory> {
    let mut machine = Machine::new(engine, FlatMemory::new(MEMORY as usize)).expect("it fits");
    machine.set_async(way == Way::Flag);
    machine.set_palmode(case.palmode);
    let setup = if way == Way::Constant { setup(case) } else { Vec::new() };
    let start = CODE - 4 * setup.len() as u64;
    for (n, word) in setup.iter().chain(&case.words).enumerate() {
        machine.write(start + 4 * n as u64, &word.to_le_bytes()).expect("it fits");
    }
    for &reg in Reg::ALL {
        machine.set_reg(reg, filler(reg));
    }
    for &(place, value) in &case.before {
        match place {
            Place::Reg(reg) if way == Way::Constant && is_integer(reg) => {}
            Place::Reg(reg) => machine.set_reg(reg, value),
            Place::Memory(addr, width) => machine.bus().store(addr, width, value).expect("it fits"),
        }
    }
    machine.set_reg(Reg::Pc, start);
    machine
}

/// What there is to compare.
struct State {
    exit: Exit,
    /// In the order of [`Reg::ALL`]; None is any value.
    registers: Vec<Option<u64>>,
    memory: Vec<u8>,
}

impl State {
    fn of(machine: &Machine<FlatMemory>, exit: Exit) -> State {
        let registers = Reg::ALL.iter().map(|reg| Some(machine.reg(*reg))).collect();
        let mut memory = vec![0; MEMORY as usize];
        machine.read(0, &mut memory).expect("it is all there");
        State { exit, registers, memory }
    }

    /// What the case says that becomes of a machine.
    fn after(case: &Case, machine: &Machine<FlatMemory>) -> State {
        // Where the case goes on, CALL_PAL 0 stands.
        let (exit, pc) = match case.exit {
            Some(exit) => (exit, case.pc),
            None => (Exit::Pal { function: 0 }, case.pc.wrapping_add(4)),
        };
        let mut state = State::of(machine, exit);
        let mut set = |place, value: Option<u64>| match place {
            Place::Reg(reg) => state.registers[reg as usize] = value,
            Place::Memory(addr, width) => {
                let bytes = value.unwrap_or_default().to_le_bytes();
                let (start, size) = (addr as usize, width.bytes() as usize);
                state.memory[start..start + size].copy_from_slice(&bytes[..size]);
            }
        };
        case.before.iter().for_each(|(place, value)| set(*place, Some(*value)));
        case.after.iter().for_each(|(place, value)| set(*place, *value));
        set(Place::Reg(Reg::Pc), Some(pc));
        state
    }

    /// How it differs from what is expected.
    fn differences(&self, expected: &State) -> Vec<String> {
        let mut list = Vec::new();
        if self.exit != expected.exit {
            list.push(format!("the exit is {:x?} instead of {:x?}", self.exit, expected.exit));
        }
        for (reg, (value, expected)) in
            Reg::ALL.iter().zip(self.registers.iter().zip(&expected.registers))
        {
            if let (Some(value), Some(expected)) = (value, expected)
                && value != expected
            {
                list.push(format!("{} is {value:#x} instead of {expected:#x}", reg.name()));
            }
        }
        let mut bytes = self.memory.iter().zip(&expected.memory);
        if let Some(addr) = bytes.position(|(byte, expected)| byte != expected) {
            let (byte, expected) = (self.memory[addr], expected.memory[addr]);
            list.push(format!("the byte at {addr:#x} is {byte:#x} instead of {expected:#x}"));
        }
        list
    }
}

/// How many instructions of a case of one instruction retire, CALL_PAL 0 included.
fn retired(case: &Case, exit: Exit) -> Option<u64> {
    match exit {
        _ if case.words.len() > 1 => None,
        Exit::Fault { access: Access::Execute, .. } => Some(1),
        Exit::Fault { .. } | Exit::Unaligned { .. } => Some(0),
        Exit::Illegal { .. } | Exit::PalMode { .. } => Some(0),
        _ => Some(1 + u64::from(case.exit.is_none())),
    }
}

/// Runs a case; what is wrong with the outcome.
fn run(case: &Case, way: Way, engine: &Engine) -> Vec<String> {
    let mut machine = before(case, way, engine);
    let setup = (CODE - machine.reg(Reg::Pc)) / 4;
    let expected = State::after(case, &machine);
    let exit = machine.run(if way == Way::Counted { 1000 } else { UNLIMITED });
    let mut wrong = State::of(&machine, exit).differences(&expected);
    if let (Some(n), Some(expected)) = (machine.icount(), retired(case, expected.exit))
        && n != setup + expected
    {
        wrong.push(format!("{n} instructions retired instead of {}", setup + expected));
    }
    wrong
}

#[test]
fn cases_hold() {
    let cases = cases();
    let mut engines = HashMap::new();
    let mut failures = Vec::new();
    for case in &cases {
        for way in Way::ALL {
            let engine = engines.entry((way, case.cpu)).or_insert_with(|| way.engine(case.cpu));
            engine.invalidate_all();
            let wrong = run(case, way, engine);
            if !wrong.is_empty() {
                let Case { file, line, text, .. } = case;
                failures.push(format!("{file}:{line}: {text}: {way:?}: {}", wrong.join("; ")));
            }
        }
    }
    support::say(format_args!("{} cases in {} ways", cases.len(), Way::ALL.len()));
    let translated: u64 = engines.values().map(|e| e.stats().translations).sum();
    assert!(translated as usize > cases.len(), "only {translated} regions were translated");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_instruction_has_a_case() {
    let counts = counts(&cases());
    let without: Vec<&str> =
        INSNS.iter().filter(|desc| !counts.contains_key(&desc.op)).map(|d| d.mnemonic).collect();
    assert!(without.is_empty(), "no case of {}", without.join(", "));
}

/// A line that is no case is named, with what is wrong.
#[test]
fn wrong_lines_are_named() {
    for (line, error) in [
        ("addq r1, r2, r3", "`=>` is missing"),
        ("addq r1, r2, r3 => ", "the outcome is missing"),
        ("addq r1, r2 r1=1 => r3=1", "line 1, column 12: expected `,`"),
        ("addq r1, r2, r3 r1=1 r1=2 => r3=1", "r1=2 is given twice"),
        ("addq r1, r2, r3 r1=* => r3=1", "r1=*: a value is needed"),
        ("addq r1, r2, r3 r1=1 => r32=1", "r32 is no register"),
        ("addq r1, r2, r3 r1=1 => r3=1x", "1x: invalid digit found in string"),
        ("addq r1, r2, r3 r1=1 => r3", "r3: `=` is missing"),
        ("stq r1, 0(r2) r1=1 => m[1]:8=1", "m[1]:8 isn't aligned, or not below 0x10000"),
        ("stq r1, 0(r2) r1=1 => m[8]:3=1", "m[8]:3: a size is 1, 2, 4 or 8"),
        ("stb r1, 0(r2) r1=1 => m[8]:1=0x100", "m[8]:1=0x100: the value is larger than that"),
        ("ldq r1, 0(r2) => exit fault 1", "`exit fault 1` is no exit"),
        ("amask 1, r2 cpu=ev8 => r2=1", "no CPU is called \"ev8\"; there are"),
    ] {
        let (cases, errors) = case::read("file", &format!("\n# a comment\n{line}"));
        assert!(cases.is_empty(), "{line}");
        assert_eq!(errors.len(), 1, "{line}");
        let expected = format!("file:3: {error}");
        assert!(errors[0].starts_with(&expected), "{}\nexpected: {expected}", errors[0]);
    }
}

/// docs/isa.md is what the table and the cases make of it. With UPDATE_DOCS=1 it becomes so.
#[test]
fn documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/isa.md");
    let cases = cases();
    let text = doc::text(cases.len(), &counts(&cases));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).expect("docs can be written");
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let at = there.lines().zip(text.lines()).take_while(|(a, b)| a == b).count() + 1;
    assert!(
        there == text,
        "docs/isa.md differs from line {at} on; UPDATE_DOCS=1 cargo test --test cases writes it"
    );
}
