//! Following calls outwards by call frame information (DWARF CFI), as Alpha's compilers write it.
//!
//! What is particular to Alpha:
//! - the return address is in the register that the code's CIE names: `$26`, `$23` in the division
//!   routines, a column of its own (64, the pc) in signal trampolines;
//! - a frame whose return address is undefined is the outermost one;
//! - of the callee-saved registers only `$15` ever addresses a frame, and only where it is the
//!   frame pointer;
//! - `.plt`, `.init`, `.fini` and the start-up code have no CFI at all: the [`Unwinder`] reads
//!   their instructions.
//!
//! [`Modules`] says which files are mapped where and is shared by the threads of a process; each
//! thread has an [`Unwinder`].

mod code;
mod module;
mod modules;
mod rule;
mod sigframe;
mod table;
#[cfg(test)]
mod tests;
mod unwinder;

pub use module::Module;
pub use modules::Modules;
pub use unwinder::Unwinder;
