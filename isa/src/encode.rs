//! From instructions to words.

use core::fmt;

use crate::desc::Op;
use crate::format::{Form, ZERO};
use crate::insn::Insn;
use crate::sem::Qualifiers;

/// The operands of an instruction, by field. A field that the form lacks is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Register a.
    pub ra: u8,
    /// Register b.
    pub rb: u8,
    /// Register c.
    pub rc: u8,
    /// Operand b is [`Fields::imm`], not register b.
    pub literal: bool,
    /// Literal, displacement, hint or PALcode function, as in [`Insn::imm`].
    pub imm: i32,
    /// Qualifiers of a floating-point instruction; None for the plain one.
    pub qualifiers: Option<Qualifiers>,
}

impl Default for Fields {
    /// Register 31 everywhere, and 0.
    fn default() -> Self {
        Fields { ra: ZERO, rb: ZERO, rc: ZERO, literal: false, imm: 0, qualifiers: None }
    }
}

/// Why there is no such word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A register number above 31.
    Register,
    /// The number doesn't fit in its field.
    Range,
    /// The instruction takes no literal.
    Literal,
    /// The instruction doesn't have these qualifiers.
    Qualifiers,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EncodeError::Register => "no such register",
            EncodeError::Range => "number out of range",
            EncodeError::Literal => "the instruction takes no literal",
            EncodeError::Qualifiers => "the instruction does not have these qualifiers",
        })
    }
}

impl core::error::Error for EncodeError {}

impl Insn {
    /// Its operands: `encode(insn.op, &insn.fields())` gives the word, with zeros where the
    /// architecture ignores bits.
    #[must_use]
    pub const fn fields(&self) -> Fields {
        let qualifiers = match self.desc().form {
            Form::Fp(..) | Form::FpB(..) => Some(self.qualifiers()),
            _ => None,
        };
        let Insn { ra, rb, rc, literal, imm, .. } = *self;
        Fields { ra, rb, rc, literal, imm, qualifiers }
    }
}

pub(crate) const fn register(number: u8, shift: u32) -> Result<u32, EncodeError> {
    if number <= ZERO { Ok((number as u32) << shift) } else { Err(EncodeError::Register) }
}

/// The low bits of a signed number.
pub(crate) const fn signed(imm: i32, bits: u32) -> Result<u32, EncodeError> {
    let half = 1 << (bits - 1);
    if imm >= -half && imm < half {
        Ok(imm as u32 & ((1 << bits) - 1))
    } else {
        Err(EncodeError::Range)
    }
}

pub(crate) const fn unsigned(imm: i32, bits: u32) -> Result<u32, EncodeError> {
    if imm >= 0 && imm >> bits == 0 { Ok(imm as u32) } else { Err(EncodeError::Range) }
}

/// Encodes an instruction.
///
/// # Errors
/// A field holds what its instruction can't.
pub fn encode(op: Op, fields: &Fields) -> Result<u32, EncodeError> {
    let Fields { ra, rb, rc, literal, imm, qualifiers } = *fields;
    let desc = op.desc();
    let word = desc.form.word();
    let (a, b, c) = (register(ra, 21)?, register(rb, 16)?, register(rc, 0)?);
    let operand_b = if literal { 1 << 12 | unsigned(imm, 8)? << 13 } else { b };
    let takes_literal = matches!(desc.form, Form::Opr(..) | Form::OprB(..) | Form::OprC(..));
    if literal && !takes_literal {
        return Err(EncodeError::Literal);
    }
    let function = match qualifiers {
        None => 0,
        Some(q) => {
            let plain = desc.qualifiers.plain();
            let function = desc.qualifiers.function(q).ok_or(EncodeError::Qualifiers)?;
            u32::from(function ^ plain) << 5
        }
    };
    Ok(match desc.form {
        Form::Pal(_) => word | unsigned(imm, 26)?,
        Form::Mem(_) | Form::FMem(_) => word | a | b | signed(imm, 16)?,
        Form::Misc(..) => word,
        Form::MiscA(..) => word | a,
        Form::MiscB(..) => word | b,
        Form::MiscAB(..) => word | a | b,
        Form::Jmp(..) => word | a | b | unsigned(imm, 14)?,
        Form::Bra(_) | Form::FBra(_) => word | a | signed(imm, 21)?,
        Form::Opr(..) => word | a | operand_b | c,
        Form::OprB(..) => word | operand_b | c,
        Form::OprC(..) => word | c,
        Form::Opr3(..) => word | a | b | c,
        Form::Opr2(..) => word | b | c,
        Form::Fp(..) => (word ^ function) | a | b | c,
        Form::FpB(..) => (word ^ function) | b | c,
        Form::Fpcr(..) => word | a | a >> 5 | a >> 21,
        Form::FToI(..) | Form::IToF(..) => word | a | c,
    })
}
