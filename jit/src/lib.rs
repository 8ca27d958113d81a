//! Translates DEC Alpha code to host code with Cranelift, for axperf.
//!
//! Being built: the cache below has no translator yet.

use std::ops::Range;

/// Offset of the poll flag from the state pointer: it stands right after the registers.
pub const POLL_OFFSET: usize = 1024;

/// Whether `pc` is an address in translated code. Async-signal-safe.
#[must_use]
pub fn is_translated(_pc: usize) -> bool {
    false
}

/// The state pointer, from the value of the register that translated code pins.
#[must_use]
pub fn state_of_pinned(pinned: usize) -> usize {
    pinned
}

/// Where a faulting thread goes on: it leaves translated code.
#[must_use]
pub fn fault_landing() -> usize {
    0
}

/// When translated code looks whether it should leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Poll {
    /// Never.
    Free,
    /// A flag, at entries and back-edges.
    Flag,
    /// A budget of instructions, counted exactly.
    Counted,
}

/// Which registers are exact where translated code leaves at a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Those that the program can still see.
    Live,
    /// Those, and the unwind set: sp, $15, $23, $26, $16.
    Unwind,
    /// All.
    Full,
}

/// The variant of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Polls.
    pub poll: Poll,
    /// Registers at polls.
    pub class: Class,
    /// Registers are exact at every host memory fault.
    pub precise: bool,
}

/// Which translation a guest address has, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u32);

/// Translated code.
#[derive(Debug, Default)]
pub struct Cache {}

impl Cache {
    /// Drops what was translated from this range of guest addresses.
    pub fn invalidate(&self, _range: Range<u64>) {}
}
