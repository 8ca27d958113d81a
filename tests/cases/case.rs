//! A case and how it is written: one a line.
//!
//! ```text
//! addl r1, r2, r3   r1=0x7fffffff r2=1 => r3=0xffffffff80000000
//! ```
//!
//! Left of `=>` stand the instruction (or several, with `;` between them, of which the first stands
//! at 0x1000) and what is there before: registers, memory as `m[0x8000]:8=0x1234`, `cpu=ev56`,
//! `palmode=1` for a CPU in PALmode.
//! Right of it stands all that is another afterwards, or `unchanged`: registers, memory, `pc`
//! where it isn't the next instruction, and, where the run doesn't go on, the exit:
//!
//! ```text
//! exit pal 0x83             exit illegal    exit unaligned 0x8001
//! exit fault read 0x10000   exit arith swc inv f3    exit palmode
//! ```
//!
//! A number is hexadecimal or decimal, with a sign if need be; that of a floating-point register
//! may be a number with a point or `inf`, which stands for its T_floating image. `*` is any value.
//! A comment starts with `#` and a space.

use axperf::isa::palmode::{PalInsn, assemble};
use axperf::isa::{Insn, Width};
use axperf::{Access, Cpu, Exit, FaultKind, Reg};

/// Where the first instruction stands.
pub const CODE: u64 = 0x1000;
/// Size of the memory, which is otherwise zero; as an instruction, zero is CALL_PAL 0.
pub const MEMORY: u64 = 0x1_0000;

/// A case.
#[derive(Debug)]
pub struct Case {
    /// The file, of which `line` is the number of its line.
    pub file: String,
    pub line: usize,
    /// The instructions, as they are written.
    pub text: String,
    pub words: Vec<u32>,
    pub cpu: Cpu,
    /// PALmode instructions come back.
    pub palmode: bool,
    pub before: Vec<(Place, u64)>,
    /// What changes; None is any value.
    pub after: Vec<(Place, Option<u64>)>,
    /// Where it goes on, or where it stops.
    pub pc: u64,
    /// Why it stops.
    pub exit: Option<Exit>,
}

/// Something that has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Reg(Reg),
    Memory(u64, Width),
}

impl Case {
    /// The instructions.
    pub fn insns(&self) -> impl Iterator<Item = Insn> {
        self.words.iter().filter_map(|word| axperf::isa::decode(*word))
    }
}

/// Reads a file's text: the cases, and what is wrong with its other lines.
pub fn read(file: &str, text: &str) -> (Vec<Case>, Vec<String>) {
    let (mut cases, mut errors) = (Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        match case(file, n + 1, line) {
            Ok(case) => cases.push(case),
            Err(error) => errors.push(format!("{file}:{}: {error}: {line}", n + 1)),
        }
    }
    (cases, errors)
}

fn without_comment(line: &str) -> &str {
    let comment = if line.starts_with('#') { Some(0) } else { line.find(" # ") };
    &line[..comment.unwrap_or(line.len())]
}

fn case(file: &str, line: usize, text: &str) -> Result<Case, String> {
    let (left, right) = text.split_once("=>").ok_or("`=>` is missing")?;
    // The first token with an equals sign ends the instructions.
    let mut at = 0;
    for token in left.split_inclusive(' ') {
        if token.contains('=') {
            break;
        }
        at += token.len();
    }
    let (program, given) = left.split_at(at);
    let program = program.trim();
    let mut case = Case {
        file: file.to_owned(),
        line,
        text: program.to_owned(),
        pc: CODE,
        words: Vec::new(),
        cpu: Cpu::default(),
        palmode: false,
        before: Vec::new(),
        after: Vec::new(),
        exit: None,
    };
    for token in given.split_whitespace() {
        if let Some(name) = token.strip_prefix("cpu=") {
            case.cpu = name.parse().map_err(|e: axperf::UnknownCpu| e.to_string())?;
            continue;
        }
        if token == "palmode=1" {
            case.palmode = true;
            continue;
        }
        let (place, value) = assignment(token)?;
        let value = value.ok_or_else(|| format!("{token}: a value is needed"))?;
        if case.before.iter().any(|(p, _)| *p == place) {
            return Err(format!("{token} is given twice"));
        }
        case.before.push((place, value));
    }
    let lines = program.replace(';', "\n");
    case.words = assemble(&lines, CODE, case.cpu.family()).map_err(|e| e.to_string())?;
    if case.words.is_empty() {
        return Err("the instruction is missing".into());
    }
    case.pc += 4 * case.words.len() as u64;
    outcome(&mut case, right)?;
    Ok(case)
}

/// What stands to the right.
fn outcome(case: &mut Case, text: &str) -> Result<(), String> {
    let mut tokens = text.split_whitespace();
    let mut pc = None;
    if text.trim() == "unchanged" {
        return Ok(());
    }
    if text.trim().is_empty() {
        return Err("the outcome is missing".into());
    }
    while let Some(token) = tokens.next() {
        if token == "exit" {
            // An exit is the last instruction's, or that of the instruction at `pc`.
            let words: Vec<&str> = tokens.by_ref().collect();
            let at = pc.unwrap_or(case.pc - 4);
            let word = case.words.get((at.wrapping_sub(CODE) / 4) as usize).copied();
            let exit = exit(&words, at, word.unwrap_or_default(), case.cpu)?;
            pc = match exit {
                Exit::Fault { pc, .. } | Exit::Unaligned { pc, .. } => Some(pc),
                Exit::Illegal { pc, .. } | Exit::PalMode { pc, .. } => Some(pc),
                _ => pc,
            };
            case.exit = Some(exit);
            break;
        }
        let (place, value) = assignment(token)?;
        if place == Place::Reg(Reg::Pc) {
            pc = value;
        } else if case.after.iter().any(|(p, _)| *p == place) {
            return Err(format!("{token} is given twice"));
        } else {
            case.after.push((place, value));
        }
    }
    case.pc = pc.unwrap_or(case.pc);
    Ok(())
}

/// An exit of the instruction at `pc`.
fn exit(words: &[&str], pc: u64, word: u32, cpu: Cpu) -> Result<Exit, String> {
    Ok(match *words {
        ["pal", function] => {
            let function = u32::try_from(number(function)?).map_err(|e| e.to_string())?;
            Exit::Pal { function }
        }
        ["illegal"] => Exit::Illegal { pc, word },
        ["palmode"] => {
            let insn = PalInsn::decode(word, cpu.family());
            Exit::PalMode { pc, insn: insn.ok_or("no PALmode instruction")? }
        }
        ["unaligned", addr] => Exit::Unaligned { pc, addr: number(addr)?, word },
        ["fault", access, addr] => {
            let addr = number(addr)?;
            let (access, pc) = match access {
                "read" => (Access::Read, pc),
                "write" => (Access::Write, pc),
                "execute" => (Access::Execute, addr),
                _ => return Err(format!("{access}: an access is read, write or execute")),
            };
            Exit::Fault { pc, addr, access, kind: FaultKind::Unmapped }
        }
        ["arith", ref facts @ ..] => {
            let (mut summary, mut write_mask) = (0, 0);
            // The exception summary register's bits, from bit 0 on.
            let bits = ["swc", "inv", "dze", "ovf", "unf", "ine", "iov"];
            for fact in facts {
                if let Some(bit) = bits.iter().position(|name| name == fact) {
                    summary |= 1 << bit;
                    continue;
                }
                write_mask |= match register(fact)? {
                    Reg::Pc | Reg::Fpcr | Reg::Unique => {
                        return Err(format!("{fact} is in no write mask"));
                    }
                    reg => 1u64 << reg as u8,
                };
            }
            Exit::Arith { pc: pc + 4, summary, write_mask }
        }
        _ => return Err(format!("`exit {}` is no exit", words.join(" "))),
    })
}

/// `place=value`.
fn assignment(token: &str) -> Result<(Place, Option<u64>), String> {
    let (place, value) = token.split_once('=').ok_or_else(|| format!("{token}: `=` is missing"))?;
    let at = match place.strip_prefix("m[") {
        Some(rest) => {
            let (addr, size) =
                rest.split_once("]:").ok_or_else(|| format!("{place}: m[…]:size"))?;
            let width = match size {
                "1" => Width::Byte,
                "2" => Width::Word,
                "4" => Width::Long,
                "8" => Width::Quad,
                _ => return Err(format!("{place}: a size is 1, 2, 4 or 8")),
            };
            let addr = number(addr)?;
            if addr >= MEMORY || addr % width.bytes() != 0 {
                return Err(format!("{place} isn't aligned, or not below {MEMORY:#x}"));
            }
            Place::Memory(addr, width)
        }
        None => Place::Reg(register(place)?),
    };
    if value == "*" {
        return Ok((at, None));
    }
    let fp = matches!(at, Place::Reg(reg) if (32..63).contains(&(reg as u8)));
    let value = match value.parse::<f64>() {
        Ok(real) if fp && (value.contains('.') || value.contains("inf")) => real.to_bits(),
        _ => number(value)?,
    };
    match at {
        Place::Memory(_, width) if value >> (8 * width.bytes() - 1) > 1 => {
            Err(format!("{token}: the value is larger than that"))
        }
        _ => Ok((at, Some(value))),
    }
}

fn register(name: &str) -> Result<Reg, String> {
    let named = |reg: &&Reg| reg.name() == name || reg.abi_name() == name;
    Reg::ALL.iter().find(named).copied().ok_or_else(|| format!("{name} is no register"))
}

fn number(text: &str) -> Result<u64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16),
        None => digits.parse(),
    };
    let value = value.map_err(|e| format!("{text}: {e}"))?;
    Ok(if negative { value.wrapping_neg() } else { value })
}
