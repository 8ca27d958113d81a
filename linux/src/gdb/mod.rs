//! gdb's remote serial protocol: a thread of the host's that listens, and tells a debugger of the
//! process.
//!
//! The crate `gdbstub` speaks the protocol; [`Debuggee`] is what it asks; [`Hold`] stops the
//! threads. Breakpoints are in the fetching of instructions ([`Space`](crate::mm::Space)), not in
//! memory: the program never sees one.

mod debuggee;
mod extended;
mod files;
mod points;
mod registers;
mod resume;
mod server;
mod signals;
mod wire;

pub use wire::{BadAddress, GdbAddress};

pub(crate) use server::Server;

use debuggee::Debuggee;
