//! From words to text, as GNU `objdump` writes it.

use core::fmt::{self, Display, Formatter};

use crate::desc::InsnDesc;
use crate::format::{INEXACT, SOFTWARE, UNDERFLOW};
use crate::insn::Insn;
use crate::palmode::{Family, PalInsn, Text};
use crate::regs::Reg;
use crate::syntax::{ALIASES, Operand, operands};

/// A word to be written as assembly language: mnemonic, a tab, operands; `.long` if it is no
/// instruction.
///
/// ```
/// assert_eq!(axperf_isa::disasm(0x4022_0403, 0).to_string(), "addq\tt0,t1,t2");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Disasm {
    word: u32,
    insn: Option<Insn>,
    pc: u64,
    palmode: Option<Family>,
}

/// Disassembles a word at `pc`.
#[must_use]
pub fn disasm(word: u32, pc: u64) -> Disasm {
    Disasm { word, insn: crate::decode(word), pc, palmode: None }
}

impl Insn {
    /// Disassembles it, as at `pc`.
    #[must_use]
    pub fn disasm(&self, pc: u64) -> Disasm {
        Disasm { word: self.word, insn: Some(*self), pc, palmode: None }
    }
}

impl Disasm {
    /// PALmode instructions are those of a family; else they are opcodes with 26 bits.
    #[must_use]
    pub(crate) fn with_palmode(self, family: Family) -> Disasm {
        Disasm { palmode: Some(family), ..self }
    }
}

impl Display for Disasm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = self.palmode
            && let Some(insn) = PalInsn::decode(self.word, family)
        {
            return Text { insn, family, pc: self.pc }.fmt(f);
        }
        let Some(insn) = self.insn else {
            return write!(f, ".long {:#x}", self.word);
        };
        let alias = ALIASES.iter().find(|a| a.printed && a.op == insn.op && a.fits(insn.word));
        let list = if let Some(alias) = alias {
            f.write_str(alias.name)?;
            alias.operands
        } else {
            write_name(f, &insn)?;
            operands(insn.desc().form)
        };
        for (n, operand) in list.iter().enumerate() {
            f.write_str(if n == 0 { "\t" } else { "," })?;
            self.write_operand(f, &insn, *operand)?;
        }
        Ok(())
    }
}

/// Mnemonic and qualifiers.
fn write_name(f: &mut Formatter<'_>, insn: &Insn) -> fmt::Result {
    let InsnDesc { mnemonic, qualifiers, .. } = insn.desc();
    f.write_str(mnemonic)?;
    if !insn.has_qualifiers() {
        return Ok(());
    }
    let function = insn.fp_function();
    let traps = qualifiers.traps_of(function);
    let low = if qualifiers.is_integer() { "v" } else { "u" };
    let rounding = ["c", "m", "", "d"][usize::from(qualifiers.rounding_of(function) & 3)];
    f.write_str("/")?;
    for (bit, letter) in [(SOFTWARE, "s"), (UNDERFLOW, low), (INEXACT, "i")] {
        if traps & bit != 0 {
            f.write_str(letter)?;
        }
    }
    f.write_str(rounding)
}

/// A number as C's `%#x` has it.
pub(crate) fn write_number(f: &mut Formatter<'_>, number: u64) -> fmt::Result {
    if number == 0 { f.write_str("0") } else { write!(f, "{number:#x}") }
}

pub(crate) fn write_int(f: &mut Formatter<'_>, number: u8) -> fmt::Result {
    f.write_str(match Reg::int(number) {
        Some(reg @ (Reg::Gp | Reg::Sp)) => reg.name(),
        Some(reg) => reg.abi_name(),
        None => "zero",
    })
}

impl Disasm {
    fn write_operand(&self, f: &mut Formatter<'_>, insn: &Insn, operand: Operand) -> fmt::Result {
        match operand {
            Operand::Ra | Operand::RaRb => write_int(f, insn.ra),
            Operand::RbOrLiteral if insn.literal => write_number(f, insn.imm as u64),
            Operand::Rb | Operand::RbOrLiteral => write_int(f, insn.rb),
            Operand::Rc => write_int(f, insn.rc),
            Operand::Base => {
                f.write_str("(")?;
                write_int(f, insn.rb)?;
                f.write_str(")")
            }
            Operand::Fa | Operand::FaFb => write!(f, "$f{}", insn.ra),
            Operand::Fb => write!(f, "$f{}", insn.rb),
            Operand::Fc => write!(f, "$f{}", insn.rc),
            Operand::Memory => {
                write!(f, "{}(", insn.imm)?;
                write_int(f, insn.rb)?;
                f.write_str(")")
            }
            Operand::Displacement => write!(f, "{}", insn.imm),
            Operand::Target => write_number(f, displaced(self.pc, insn.imm)),
            Operand::HintTarget => {
                // Sign-extended from 14 bits.
                write_number(f, displaced(self.pc, insn.imm << 18 >> 18))
            }
            Operand::Hint | Operand::Function => write_number(f, insn.imm as u64),
        }
    }
}

pub(crate) fn displaced(pc: u64, words: i32) -> u64 {
    pc.wrapping_add(4).wrapping_add((i64::from(words) << 2) as u64)
}
