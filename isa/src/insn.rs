//! A decoded instruction, and what follows from its shape.

use crate::desc::{InsnDesc, Op, Shape};
use crate::format::{Form, INEXACT, SOFTWARE, UNDERFLOW, ZERO};
use crate::sem::pal::{RDUNIQUE, WRUNIQUE};
use crate::sem::{Qualifiers, Rounding};

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    /// Which one.
    pub op: Op,
    /// Register field a; 31 where the form has none.
    pub ra: u8,
    /// Register field b; 31 where the form has none, or a literal.
    pub rb: u8,
    /// Register field c; 31 where the form has none.
    pub rc: u8,
    /// Operand b is [`Insn::imm`].
    pub literal: bool,
    /// The literal (0 to 255), the sign-extended displacement (as it stands in the word: not
    /// shifted for branches, not scaled for LDAH), the hint of a jump (14 bits), or the PALcode
    /// function (26 bits).
    pub imm: i32,
    /// The word itself.
    pub word: u32,
}

const _: () = assert!(size_of::<Insn>() <= 16);

const fn bit(register: u8) -> u32 {
    (1 << register) & !(1 << ZERO)
}

impl Insn {
    /// The row of the table.
    #[must_use]
    #[inline]
    pub const fn desc(&self) -> &'static InsnDesc {
        self.op.desc()
    }

    /// The 11-bit function field of a floating-point operate instruction.
    pub(crate) const fn fp_function(&self) -> u16 {
        (self.word >> 5 & 0x7ff) as u16
    }

    /// Whether it is written with qualifiers.
    pub(crate) const fn has_qualifiers(&self) -> bool {
        let (set, function) = (self.desc().qualifiers, self.fp_function());
        match self.desc().form {
            Form::Fp(..) | Form::FpB(..) => function != set.plain(),
            _ => false,
        }
    }

    /// Rounding and trap mode of a floating-point instruction.
    #[must_use]
    #[inline]
    pub const fn qualifiers(&self) -> Qualifiers {
        let set = self.desc().qualifiers;
        let traps = set.traps_of(self.fp_function());
        Qualifiers {
            rounding: match set.rounding_of(self.fp_function()) {
                0 => Rounding::Chopped,
                1 => Rounding::MinusInfinity,
                2 => Rounding::Nearest,
                _ => Rounding::Dynamic,
            },
            underflow: traps & UNDERFLOW != 0,
            software: traps & SOFTWARE != 0,
            inexact: traps & INEXACT != 0,
        }
    }

    /// Integer registers that it reads, a bit each; `$31` is none.
    #[must_use]
    pub const fn int_reads(&self) -> u32 {
        let b = if self.literal { 0 } else { bit(self.rb) };
        match self.desc().shape {
            Shape::Int | Shape::IntV => bit(self.ra) | b,
            Shape::Cmov => bit(self.ra) | b | bit(self.rc),
            Shape::Lda | Shape::Load | Shape::LoadL | Shape::FLoad | Shape::FStore => b,
            Shape::Store | Shape::StoreC => bit(self.ra) | b,
            Shape::Branch | Shape::IToF => bit(self.ra),
            Shape::Jump => b,
            Shape::FBranch | Shape::Br | Shape::Fp2 | Shape::Fp1 | Shape::FCmov => 0,
            Shape::FToI | Shape::MfFpcr | Shape::MtFpcr | Shape::ReadMisc => 0,
            Shape::Pal => match self.imm as u32 {
                WRUNIQUE => bit(16),
                _ => 0,
            },
            Shape::Effect | Shape::Stop => 0,
        }
    }

    /// Integer registers that it writes, a bit each; `$31` is none.
    #[must_use]
    pub const fn int_writes(&self) -> u32 {
        match self.desc().shape {
            Shape::Int | Shape::IntV | Shape::Cmov | Shape::FToI => bit(self.rc),
            Shape::Lda | Shape::Load | Shape::LoadL | Shape::StoreC => bit(self.ra),
            Shape::Br | Shape::Jump | Shape::ReadMisc => bit(self.ra),
            Shape::Store | Shape::FLoad | Shape::FStore | Shape::Branch | Shape::FBranch => 0,
            Shape::Fp2 | Shape::Fp1 | Shape::FCmov | Shape::IToF => 0,
            Shape::Pal => match self.imm as u32 {
                RDUNIQUE => bit(0),
                _ => 0,
            },
            Shape::MfFpcr | Shape::MtFpcr | Shape::Effect | Shape::Stop => 0,
        }
    }

    /// Floating-point registers that it reads, a bit each; `$f31` is none.
    #[must_use]
    pub const fn fp_reads(&self) -> u32 {
        match self.desc().shape {
            Shape::FStore | Shape::FBranch | Shape::FToI | Shape::MtFpcr => bit(self.ra),
            Shape::Fp2 => bit(self.ra) | bit(self.rb),
            Shape::Fp1 => bit(self.rb),
            Shape::FCmov => bit(self.ra) | bit(self.rb) | bit(self.rc),
            Shape::Int | Shape::IntV | Shape::Cmov | Shape::Lda | Shape::Load | Shape::LoadL => 0,
            Shape::Store | Shape::StoreC | Shape::FLoad | Shape::Branch | Shape::Br => 0,
            Shape::Jump | Shape::IToF | Shape::MfFpcr | Shape::ReadMisc => 0,
            Shape::Effect | Shape::Pal | Shape::Stop => 0,
        }
    }

    /// Floating-point registers that it writes, a bit each; `$f31` is none.
    #[must_use]
    pub const fn fp_writes(&self) -> u32 {
        match self.desc().shape {
            Shape::FLoad | Shape::MfFpcr => bit(self.ra),
            Shape::Fp2 | Shape::Fp1 | Shape::FCmov | Shape::IToF => bit(self.rc),
            Shape::Int | Shape::IntV | Shape::Cmov | Shape::Lda | Shape::Load | Shape::LoadL => 0,
            Shape::Store | Shape::StoreC | Shape::FStore | Shape::Branch | Shape::FBranch => 0,
            Shape::Br | Shape::Jump | Shape::FToI | Shape::MtFpcr | Shape::ReadMisc => 0,
            Shape::Effect | Shape::Pal | Shape::Stop => 0,
        }
    }

    /// For CALL_PAL: whether it is one that goes on.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        matches!(self.imm as u32, RDUNIQUE | WRUNIQUE)
    }

    /// Nothing after it runs by falling through without a test: branches, jumps, and what stops.
    #[must_use]
    #[inline]
    pub const fn ends_block(&self) -> bool {
        match self.desc().shape {
            Shape::Branch | Shape::FBranch | Shape::Br | Shape::Jump | Shape::Stop => true,
            Shape::Pal => !self.goes_on(),
            _ => false,
        }
    }

    /// Target of a branch at `pc`; None for what isn't one.
    #[must_use]
    #[inline]
    pub const fn branch_target(&self, pc: u64) -> Option<u64> {
        match self.desc().shape {
            Shape::Branch | Shape::FBranch | Shape::Br => {
                Some(pc.wrapping_add(4).wrapping_add(((self.imm as i64) << 2) as u64))
            }
            _ => None,
        }
    }
}
