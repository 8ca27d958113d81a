//! The instructions of PALmode: what the opcodes 19, 1B, 1D, 1E and 1F are to each family of CPUs.
//!
//! The architecture leaves these opcodes to the implementation, and their fields are others on each.
//! Only PALcode executes them; to [`decode`](crate::decode()) they are opcodes with 26 bits. An
//! emulator of a whole system decodes them here and performs them itself.
//!
//! Sources: the Hardware Reference Manuals of the 21064, the 21164 and the 21264, and for what
//! counts as well-formed GNU binutils, with which the tests compare.

mod fields;
mod text;

use crate::sem::Width;

pub(crate) use text::{Text, instruction};
pub use text::{asm, assemble, disasm};

/// The CPUs whose PALmode instructions are laid out alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// 21064, 21064A, 21066.
    Ev4,
    /// 21164, 21164A, 21164PC.
    Ev5,
    /// 21264 and what came of it.
    Ev6,
}

impl Family {
    /// Every family, oldest first.
    pub const ALL: &'static [Family] = &[Family::Ev4, Family::Ev5, Family::Ev6];
}

/// An instruction of PALmode with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PalInsn {
    /// HW_MFPR: integer register `ra` from an internal processor register.
    Mfpr {
        /// Destination.
        ra: u8,
        /// What is read.
        ipr: Ipr,
    },
    /// HW_MTPR: an internal processor register from an integer register.
    Mtpr {
        /// Source: field a on EV4 and EV5 (where field b must be the same), field b on EV6.
        rb: u8,
        /// What is written.
        ipr: Ipr,
    },
    /// HW_LD: integer register `ra` from memory; a longword is sign-extended.
    Load(PalAccess),
    /// HW_ST: memory from integer register `ra`.
    Store(PalAccess),
    /// HW_REI, or HW_RET and its like on EV6: leaves PALcode, or goes on elsewhere in it.
    Return(PalReturn),
}

/// The internal processor register that HW_MFPR and HW_MTPR name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipr {
    /// Its number: 5 bits on EV4, 16 on EV5, 8 on EV6.
    pub index: u16,
    /// EV4: whose register it is, by bits: 4 PALtemp, 2 Abox, 1 Ibox. EV6: the scoreboard mask.
    /// EV5: 0.
    pub select: u8,
}

/// A memory access by HW_LD or HW_ST.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PalAccess {
    /// The register that is loaded or stored.
    pub ra: u8,
    /// The register that the address is relative to.
    pub rb: u8,
    /// What is added to it: 12 bits with a sign on EV4 and EV6, 10 on EV5.
    pub disp: i16,
    /// [`Width::Long`] or [`Width::Quad`].
    pub width: Width,
    /// The address is a physical one.
    pub physical: bool,
    /// Access is checked in the mode that the register ALT_MODE names, not in the current one.
    pub alternate: bool,
    /// Access is checked for writing too. Loads; on EV4, stores also.
    pub write_check: bool,
    /// It reads a page table entry by its virtual address: a miss is a double miss. EV5, EV6.
    pub vpte: bool,
    /// It takes the reservation (a load) or depends on it (a store). EV5, EV6.
    pub locked: bool,
}

/// Where HW_REI or HW_RET goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PalReturn {
    /// EV6: the register with the address, whose bit 0 says whether PALmode goes on. None on EV4 and
    /// EV5, which go to the internal register EXC_ADDR.
    pub rb: Option<u8>,
    /// What branch prediction is told.
    pub hint: ReturnHint,
    /// For a jump or a call, the instructions from the next one to the predicted target: 13 bits with
    /// a sign.
    pub disp: i16,
    /// Fetching waits until it is done. EV5 (HW_REI_STALL), EV6.
    pub stall: bool,
}

/// What HW_RET tells branch prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnHint {
    /// HW_JMP.
    Jmp,
    /// HW_JSR: a return address is pushed.
    Jsr,
    /// HW_RET: one is popped. EV4 and EV5 have no other.
    Ret,
    /// HW_JCR: one is popped, and one is pushed.
    Coroutine,
}
