//! From addresses to names: who had which file mapped where, and what that file calls it.
//!
//! Three kinds of addresses: one in a process's memory; an offset in a file, which a mapping
//! translates it to; and the address that the ELF file itself uses, which its program headers
//! translate the offset to. Symbols have the last.

mod code;
mod demangle;
mod dso;
mod nameless;
mod segments;
mod session;
mod space;

pub use code::{CodeSection, read_code};
pub use demangle::demangle;
pub use dso::{Dso, Symbol};
pub(crate) use segments::Segments;
pub(crate) use session::locate;
pub use session::{DsoId, Place, Session};
pub use space::{AddressSpace, Mapping};
