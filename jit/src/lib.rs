//! Translates DEC Alpha code to host code with Cranelift, for axperf.
//!
//! The crate knows no bus, no sampler and no Linux: it is told how memory is reached
//! ([`Shape`]), when code looks whether it should leave ([`Poll`]), and which registers are exact
//! then ([`Class`]). It gives a [`Cache`] of translations by guest address.
#![deny(unsafe_code)]

mod abi;
mod anchor;
mod arena;
mod background;
mod cache;
mod checks;
mod clif;
mod compile;
mod doors;
mod faults;
mod flow;
mod homes;
mod ieee;
mod loops;
mod presence;
mod region;
mod singles;
mod slots;
mod store;
mod translate;
mod translations;
mod unroll;
mod variant;

pub use abi::{Left, POLL_OFFSET, fault_landing, state_of_pinned};
pub use arena::is_translated;
pub use cache::{Cache, Code, Error, Hold, OnDisk, Settings, Stats};
pub use faults::{HostFrame, SPILLED, Site};
pub use presence::{Pass, Presence};
pub use region::Guest;
pub use slots::Slot;
pub use store::StoreError;
pub use variant::{Class, Mode, Poll, Shape};

/// Entries of an indirect-target cache: {guest address, address of its slot}, 16 bytes each, by
/// bits 2 and up of the guest address.
pub const TARGETS: usize = 4096;

/// Entries of a soft TLB: {tag for reading, tag for writing, host address less guest address, 0},
/// 32 bytes each, by the bits of the page number. A tag is the page's address.
pub const TLB_ENTRIES: usize = 256;
