//! PALmode instructions as text, as GNU tools write them.

extern crate alloc;

use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};

use super::fields::mode::{ALTERNATE, PHYSICAL, VPTE, WRITE_CHECK};
use super::{Family, Ipr, PalAccess, PalInsn, PalReturn, ReturnHint};
use crate::asm::Line;
use crate::asm_error::{AsmError, Problem};
use crate::disasm::{Disasm, displaced, write_int, write_number};
use crate::encode::EncodeError;
use crate::program;
use crate::sem::Width;

/// Assembles one instruction, as [`asm`](crate::asm()) does; PALmode instructions are the family's.
///
/// ```
/// use axperf_isa::palmode::{Family, asm};
/// assert_eq!(asm("hw_ldq/p $1, 8($2)", 0, Family::Ev4), Ok(0x6c22_9008));
/// assert_eq!(asm("hw_ldq/p $1, 8($2)", 0, Family::Ev6), Ok(0x6c22_1008));
/// ```
///
/// # Errors
/// The text is no instruction.
pub fn asm(text: &str, pc: u64, family: Family) -> Result<u32, AsmError> {
    Line::new(text, 1, pc, &|_| None).with_palmode(Some(family)).instruction()
}

/// Assembles a program, as [`assemble`](crate::assemble()) does; PALmode instructions are the
/// family's.
///
/// # Errors
/// The first line that is wrong.
pub fn assemble(text: &str, base: u64, family: Family) -> Result<Vec<u32>, AsmError> {
    program::assemble_with(text, base, Some(family))
}

/// Disassembles a word at `pc`, as [`disasm`](crate::disasm()) does; PALmode instructions are the
/// family's.
#[must_use]
pub fn disasm(word: u32, pc: u64, family: Family) -> Disasm {
    crate::disasm(word, pc).with_palmode(family)
}

/// Letters for the properties of an access, in the order they are written.
const fn access_letters(family: Family) -> &'static [(u8, char)] {
    match family {
        Family::Ev4 => &[(PHYSICAL, 'p'), (ALTERNATE, 'a'), (WRITE_CHECK, 'r')],
        Family::Ev5 => &[(PHYSICAL, 'p'), (ALTERNATE, 'a'), (WRITE_CHECK, 'w'), (VPTE, 'v')],
        Family::Ev6 => &[(PHYSICAL, 'p'), (VPTE, 'v'), (WRITE_CHECK, 'w'), (ALTERNATE, 'a')],
    }
}

/// Letters for EV4's choice of internal register.
const IPR_LETTERS: &[(u8, char)] = &[(4, 'p'), (2, 'a'), (1, 'i')];

/// Names of EV6's ways to return.
const RETURNS: &[(ReturnHint, &str)] = &[
    (ReturnHint::Jmp, "hw_jmp"),
    (ReturnHint::Jsr, "hw_jsr"),
    (ReturnHint::Ret, "hw_ret"),
    (ReturnHint::Coroutine, "hw_jcr"),
];

/// Names of accesses: whether it is a store, its width, and the ending of one that is locked.
const ACCESSES: &[(&str, bool, Width, &str)] = &[
    ("hw_ldl", false, Width::Long, "_l"),
    ("hw_ldq", false, Width::Quad, "_l"),
    ("hw_stl", true, Width::Long, "_c"),
    ("hw_stq", true, Width::Quad, "_c"),
];

/// `/` and the letters of the bits that are set.
fn write_letters(f: &mut Formatter<'_>, bits: u8, letters: &[(u8, char)]) -> fmt::Result {
    let mut first = true;
    for (_, letter) in letters.iter().filter(|(bit, _)| bits & bit != 0) {
        if first {
            f.write_str("/")?;
        }
        first = false;
        write!(f, "{letter}")?;
    }
    Ok(())
}

/// A PALmode instruction to be written.
pub(crate) struct Text {
    pub insn: PalInsn,
    pub family: Family,
    pub pc: u64,
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.insn {
            PalInsn::Mfpr { ra, ipr } => self.write_ipr(f, "hw_mfpr", ra, ipr),
            PalInsn::Mtpr { rb, ipr } => self.write_ipr(f, "hw_mtpr", rb, ipr),
            PalInsn::Load(access) => self.write_access(f, false, &access),
            PalInsn::Store(access) => self.write_access(f, true, &access),
            PalInsn::Return(to) => self.write_return(f, &to),
        }
    }
}

impl Text {
    fn write_ipr(&self, f: &mut Formatter<'_>, name: &str, reg: u8, ipr: Ipr) -> fmt::Result {
        f.write_str(name)?;
        let number = match self.family {
            Family::Ev4 => {
                write_letters(f, ipr.select, IPR_LETTERS)?;
                ipr.index
            }
            Family::Ev5 => ipr.index,
            Family::Ev6 => ipr.index << 8 | u16::from(ipr.select),
        };
        f.write_str("\t")?;
        write_int(f, reg)?;
        f.write_str(",")?;
        write_number(f, number.into())
    }

    fn write_access(&self, f: &mut Formatter<'_>, store: bool, a: &PalAccess) -> fmt::Result {
        let names = ACCESSES.iter().find(|n| n.1 == store && n.2 == a.width);
        let Some((name, _, _, locked)) = names else { return Err(fmt::Error) };
        f.write_str(name)?;
        f.write_str(if a.locked { locked } else { "" })?;
        write_letters(f, a.modes(), access_letters(self.family))?;
        f.write_str("\t")?;
        write_int(f, a.ra)?;
        write!(f, ",{}(", a.disp)?;
        write_int(f, a.rb)?;
        f.write_str(")")
    }

    fn write_return(&self, f: &mut Formatter<'_>, to: &PalReturn) -> fmt::Result {
        let Some(rb) = to.rb else {
            return f.write_str(if to.stall { "hw_rei_stall" } else { "hw_rei" });
        };
        let names = RETURNS.iter().find(|(hint, _)| *hint == to.hint);
        f.write_str(names.map_or("hw_ret", |(_, name)| name))?;
        f.write_str(if to.stall { "/stall\t(" } else { "\t(" })?;
        write_int(f, rb)?;
        f.write_str(")")?;
        if matches!(to.hint, ReturnHint::Jmp | ReturnHint::Jsr) {
            f.write_str(",")?;
            write_number(f, displaced(self.pc, to.disp.into()))?;
        }
        Ok(())
    }
}

/// The bits that letters stand for; each once, in any order.
fn letters(text: &str, known: &[(u8, char)]) -> Result<u8, Problem> {
    text.chars().try_fold(0, |bits, letter| {
        let bit = known.iter().find(|(_, l)| *l == letter).map_or(0, |(bit, _)| *bit);
        if bit == 0 || bits & bit != 0 { Err(Problem::Qualifiers) } else { Ok(bits | bit) }
    })
}

/// An instruction, and where the number that may not fit stands.
type Read = Result<(PalInsn, usize), AsmError>;

/// Reads the operands of the instruction `name`, which stands at `start` and may be a PALmode
/// instruction, and gives its word; None if it is another.
pub(crate) fn instruction(
    line: &mut Line<'_, '_>,
    name: &str,
    start: usize,
    family: Family,
) -> Option<Result<u32, AsmError>> {
    let (stem, qualifiers) = name.split_once('/').unwrap_or((name, ""));
    let read = match stem {
        "hw_mfpr" | "hw_mtpr" => ipr(line, stem == "hw_mfpr", qualifiers, family),
        "hw_rei" | "hw_rei_stall" => {
            let stall = stem == "hw_rei_stall";
            let to = PalReturn { rb: None, hint: ReturnHint::Ret, disp: 0, stall };
            let problem = || line.error(Problem::Qualifiers);
            if qualifiers.is_empty() { Ok((PalInsn::Return(to), start)) } else { Err(problem()) }
        }
        _ => {
            let access_named = |n: &&(&str, bool, Width, &str)| {
                stem.strip_prefix(n.0).is_some_and(|rest| rest.is_empty() || rest == n.3)
            };
            if let Some(&(plain, store, width, _)) = ACCESSES.iter().find(access_named) {
                let locked = stem != plain;
                access(line, (store, width, locked), qualifiers, family)
            } else if let Some(&(hint, _)) = RETURNS.iter().find(|(_, name)| *name == stem) {
                going(line, hint, qualifiers)
            } else {
                return None;
            }
        }
    };
    let word = read.and_then(|(insn, number)| {
        line.end()?;
        insn.encode(family).map_err(|error| {
            line.rewind(number);
            line.error(match error {
                EncodeError::Range | EncodeError::Register => Problem::Range,
                EncodeError::Literal => Problem::Expected("a register"),
                // No such instruction in this family.
                EncodeError::Qualifiers => Problem::Qualifiers,
            })
        })
    });
    Some(word.map_err(|error| match error.problem {
        Problem::Qualifiers => {
            line.rewind(start);
            line.error(error.problem)
        }
        _ => error,
    }))
}

fn ipr(line: &mut Line<'_, '_>, read: bool, qualifiers: &str, family: Family) -> Read {
    let known = if family == Family::Ev4 { IPR_LETTERS } else { &[] };
    let select = letters(qualifiers, known).map_err(|problem| line.error(problem))?;
    let register = line.int()?;
    line.comma()?;
    let at = line.position();
    let number = line.up_to(if family == Family::Ev4 { 31 } else { 0xffff })? as u16;
    let ipr = match family {
        Family::Ev4 | Family::Ev5 => Ipr { index: number, select },
        Family::Ev6 => Ipr { index: number >> 8, select: number as u8 },
    };
    let insn = if read {
        PalInsn::Mfpr { ra: register, ipr }
    } else {
        PalInsn::Mtpr { rb: register, ipr }
    };
    Ok((insn, at))
}

fn access(
    line: &mut Line<'_, '_>,
    (store, width, locked): (bool, Width, bool),
    qualifiers: &str,
    family: Family,
) -> Read {
    let modes = letters(qualifiers, access_letters(family)).map_err(|p| line.error(p))?;
    let ra = line.int()?;
    line.comma()?;
    let at = line.position();
    let (disp, rb) = line.memory()?;
    let disp = i16::try_from(disp).map_err(|_| {
        line.rewind(at);
        line.error(Problem::Range)
    })?;
    let has = |property| modes & property != 0;
    let access = PalAccess {
        ra,
        rb,
        disp,
        width,
        physical: has(PHYSICAL),
        alternate: has(ALTERNATE),
        write_check: has(WRITE_CHECK),
        vpte: has(VPTE),
        locked,
    };
    Ok((if store { PalInsn::Store(access) } else { PalInsn::Load(access) }, at))
}

fn going(line: &mut Line<'_, '_>, hint: ReturnHint, qualifiers: &str) -> Read {
    if !matches!(qualifiers, "" | "stall") {
        return Err(line.error(Problem::Qualifiers));
    }
    let rb = line.base()?;
    let (mut at, mut disp) = (line.position(), 0);
    if matches!(hint, ReturnHint::Jmp | ReturnHint::Jsr) && line.accept(',') {
        at = line.position();
        let words = line.words_to_target()?;
        disp = i16::try_from(words).map_err(|_| {
            line.rewind(at);
            line.error(Problem::Range)
        })?;
    }
    let stall = !qualifiers.is_empty();
    Ok((PalInsn::Return(PalReturn { rb: Some(rb), hint, disp, stall }), at))
}
