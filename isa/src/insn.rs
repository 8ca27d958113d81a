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

    /// The registers of the fields whose use is one of those asked for, a bit each.
    const fn registers(&self, int: bool, read: bool) -> u32 {
        let uses = self.desc().shape.uses();
        // A literal has 31 for rb, which is none.
        let fields = [self.ra, self.rb, self.rc];
        let mut mask = 0;
        let mut k = 0;
        while k < 3 {
            let asked = if read { uses[k].reads() } else { uses[k].writes() };
            if asked && uses[k].is_int() == int {
                mask |= bit(fields[k]);
            }
            k += 1;
        }
        mask
    }

    /// Whether it is this function of CALL_PAL.
    const fn is_pal(&self, function: u32) -> bool {
        matches!(self.desc().shape, Shape::Pal) && self.imm as u32 == function
    }

    /// Integer registers that it reads, a bit each; `$31` is none.
    #[must_use]
    pub const fn int_reads(&self) -> u32 {
        if self.is_pal(WRUNIQUE) { bit(16) } else { self.registers(true, true) }
    }

    /// Integer registers that it writes, a bit each; `$31` is none.
    #[must_use]
    pub const fn int_writes(&self) -> u32 {
        if self.is_pal(RDUNIQUE) { bit(0) } else { self.registers(true, false) }
    }

    /// Floating-point registers that it reads, a bit each; `$f31` is none.
    #[must_use]
    pub const fn fp_reads(&self) -> u32 {
        self.registers(false, true)
    }

    /// Floating-point registers that it writes, a bit each; `$f31` is none.
    #[must_use]
    pub const fn fp_writes(&self) -> u32 {
        self.registers(false, false)
    }

    /// Whether it changes nothing: its result goes to `$31` or `$f31`, and it can't stop. So are
    /// NOP, FNOP and UNOP, with which compilers align code, and prefetches.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        match self.desc().shape {
            Shape::Int | Shape::Cmov | Shape::FCmov | Shape::FToI | Shape::IToF => self.rc == ZERO,
            Shape::Lda | Shape::Load | Shape::FLoad => self.ra == ZERO,
            _ => false,
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
