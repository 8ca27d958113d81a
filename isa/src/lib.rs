//! The DEC Alpha instruction set, said once.
//!
//! One [row](table) per instruction and one [body](sem) per row; the decoder, the encoder, the
//! assembler, the disassembler and every fact about an instruction come from the row, and both the
//! interpreter and the translator come from the body.
#![no_std]
#![forbid(unsafe_code)]

pub mod asm;
pub mod asm_error;
pub mod decode;
pub mod desc;
pub mod disasm;
pub mod encode;
pub mod exec;
pub mod format;
pub mod fpcr;
pub mod insn;
pub mod palmode;
pub mod program;
pub mod regs;
pub mod sem;
pub mod state;
mod syntax;
pub mod table;

pub use asm::asm;
pub use asm_error::{AsmError, Problem};
pub use decode::decode;
pub use desc::{Extension, Flags, INSNS, InsnDesc, Op, Shape, Use};
pub use disasm::{Disasm, disasm};
pub use encode::{EncodeError, Fields, encode};
pub use exec::{Flow, Row, exec, row};
pub use insn::Insn;
pub use program::assemble;
pub use regs::Reg;
pub use sem::{Sem, Width};
pub use state::{Regs, word};
