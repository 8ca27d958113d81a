//! Why a run came back: data, never a callback, never an error.

use axperf_isa::palmode::PalInsn;

use crate::machine::bus::{Access, FaultKind};

/// Why [`Machine::run`](crate::Machine::run) came back.
///
/// Where an exit says "not retired", the pc register holds the instruction that caused it and
/// nothing of it was done; else the pc is the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The fuel is used up.
    Fuel,
    /// CALL_PAL, retired: callsys is 0x83. The reservation is gone.
    Pal {
        /// The 26-bit function.
        function: u32,
    },
    /// An instruction of PALmode, where [`Machine::set_palmode`](crate::Machine::set_palmode) allows
    /// it. Not retired: the embedder performs it and says so by
    /// [`Machine::retire`](crate::Machine::retire).
    PalMode {
        /// The instruction.
        pc: u64,
        /// What it is, by the CPU's family.
        insn: PalInsn,
    },
    /// A memory access failed. Not retired.
    Fault {
        /// The instruction; of a failed fetch, the address fetched from.
        pc: u64,
        /// The address accessed.
        addr: u64,
        /// What was tried.
        access: Access,
        /// Why it failed.
        kind: FaultKind,
    },
    /// A load or store at an address that isn't a multiple of its size. Not retired.
    Unaligned {
        /// The instruction.
        pc: u64,
        /// The address accessed.
        addr: u64,
        /// The instruction's word.
        word: u32,
    },
    /// An arithmetic trap. Retired: its result is written, the pc is the next instruction.
    Arith {
        /// The next instruction.
        pc: u64,
        /// The exception summary register: bit 0 SWC, 1 INV, 2 DZE, 3 OVF, 4 UNF, 5 INE, 6 IOV.
        summary: u64,
        /// The exception register write mask: bits 0..31 integer, 32..63 floating-point.
        write_mask: u64,
    },
    /// Not an instruction, or one that a user may not execute. Not retired.
    Illegal {
        /// The instruction.
        pc: u64,
        /// Its word.
        word: u32,
    },
    /// A breakpoint. Not retired.
    Breakpoint {
        /// The instruction.
        pc: u64,
    },
    /// [`Kick::now`](crate::Kick::now) was called.
    Interrupted,
    /// A sampler's ring has reached its watermark, or is full.
    Watermark,
    /// Crosscheck: the engines differ. The machine holds the interpreter's state.
    Diverged,
}
