//! What a call chain is unwound from, and how that can end.

use axperf_isa::{Reg, Regs};

use super::regs::RegMask;
use super::sample::SampleRegs;

/// The registers that unwinding needs: no other is a frame's base or holds a return address in
/// code that compilers make for Alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwindRegs {
    /// Address of the next instruction.
    pub pc: u64,
    /// `$30`, the stack pointer.
    pub sp: u64,
    /// `$15`, the frame pointer of functions that need one.
    pub r15: Option<u64>,
    /// `$16`, which `longjmp` addresses its buffer by.
    pub r16: Option<u64>,
    /// `$23`, the return address of the division routines.
    pub r23: Option<u64>,
    /// `$26`, the return address.
    pub r26: Option<u64>,
}

impl UnwindRegs {
    /// From a machine's registers.
    #[must_use]
    pub fn from_regs(regs: &Regs) -> UnwindRegs {
        UnwindRegs {
            pc: regs.get(Reg::Pc),
            sp: regs.get(Reg::Sp),
            r15: Some(regs.get(Reg::R15)),
            r16: Some(regs.get(Reg::R16)),
            r23: Some(regs.get(Reg::R23)),
            r26: Some(regs.get(Reg::R26)),
        }
    }

    /// From the registers of a sample; None if pc or sp isn't among them.
    #[must_use]
    pub fn from_sample(regs: &SampleRegs) -> Option<UnwindRegs> {
        Some(UnwindRegs {
            pc: regs.get(Reg::Pc)?,
            sp: regs.get(Reg::Sp)?,
            r15: regs.get(Reg::R15),
            r16: regs.get(Reg::R16),
            r23: regs.get(Reg::R23),
            r26: regs.get(Reg::R26),
        })
    }
}

/// Why a call chain ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stop {
    /// At the outermost frame: the chain is whole.
    Complete,
    /// At code without unwind information, not in the innermost frame.
    NoUnwindInfo,
    /// At a part of the stack that can't be read, or wasn't copied.
    StackUnreadable,
    /// A register is needed that isn't known: `$15` with Linux's register mask, say.
    RegisterUnknown,
    /// The unwind information or the stack makes no sense.
    Corrupt,
    /// At the greatest number of addresses that was asked for.
    TooDeep,
}

impl Stop {
    /// All of them.
    pub const ALL: [Stop; 6] = [
        Stop::Complete,
        Stop::NoUnwindInfo,
        Stop::StackUnreadable,
        Stop::RegisterUnknown,
        Stop::Corrupt,
        Stop::TooDeep,
    ];

    /// In words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Stop::Complete => "complete",
            Stop::NoUnwindInfo => "no unwind information",
            Stop::StackUnreadable => "stack not readable",
            Stop::RegisterUnknown => "register not known",
            Stop::Corrupt => "corrupt",
            Stop::TooDeep => "too deep",
        }
    }
}

/// How a call chain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainEnd {
    /// Why it ended where it did.
    pub stop: Stop,
    /// Whether a frame of it had no unwind information and was understood from its instructions,
    /// or by the calling standard.
    pub guessed: bool,
}

/// Follows calls from the innermost frame outwards.
pub trait Unwind {
    /// Appends the addresses of the calls under way to `chain`, the innermost (`regs.pc` itself)
    /// first, at most `max` of them, and says how it ended. `read` reads an aligned word of the
    /// guest's memory.
    fn unwind(
        &mut self,
        regs: &UnwindRegs,
        read: &mut dyn FnMut(u64) -> Option<u64>,
        max: usize,
        chain: &mut Vec<u64>,
    ) -> ChainEnd;
}

/// What a call chain needs of the registers.
pub(crate) const CHAIN_REGS: RegMask = RegMask::UNWIND;
