//! axperf: a DEC Alpha (AXP) CPU, translated at run time, and a register sampler for it.
//!
//! Six concepts are all there is to learn:
//!
//! | concept | is |
//! |---|---|
//! | [`Machine`] | one Alpha CPU: registers, a bus, translated code (shared through an [`Engine`]) |
//! | [`Bus`] | the memory that you give it |
//! | [`Exit`] | why [`run`](Machine::run) came back: data, never a callback, never an error |
//! | Sampler | a set of perf attributes attached to a machine |
//! | Sample | what it took: ip, registers, stack, call chain |
//! | Journal | everything that the outside world told the machine (not there yet) |
//!
//! ```
//! use axperf::{Bus, Config, Engine, Exit, FlatMemory, Machine, Reg};
//!
//! let engine = Engine::new(&Config::new())?;
//! let mut machine = Machine::new(&engine, FlatMemory::new(1 << 16))?;
//! // addq $16,$17,$0; ret $31,($26)
//! for (i, word) in [0x4211_0400u32, 0x6bfa_8001].into_iter().enumerate() {
//!     machine.write(0x1000 + 4 * i as u64, &word.to_le_bytes())?;
//! }
//! machine.set_reg(Reg::R16, 40);
//! machine.set_reg(Reg::R17, 2);
//! machine.set_reg(Reg::R26, 0x8000);
//! machine.set_reg(Reg::Pc, 0x1000);
//! assert_eq!(machine.run(2), Exit::Fuel);
//! assert_eq!(machine.reg(Reg::R0), 42);
//! assert_eq!(machine.reg(Reg::Pc), 0x8000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

pub mod error;
pub mod export;
pub mod machine;
pub mod perf;
pub mod symbols;
pub mod unwind;

pub use axperf_isa as isa;
pub use axperf_isa::{Insn, Reg, Regs};
pub use error::{Error, Result};
pub use machine::bus::{Access, Bus, Fault, FaultKind, HostPage, MemoryShape, PAGE_SIZE};
pub use machine::config::{Config, EngineKind};
pub use machine::cpu::{Cpu, UnknownCpu};
pub use machine::crosscheck::{Difference, Divergence};
pub use machine::engine::{Engine, ForkGuard, Stats};
pub use machine::exit::Exit;
pub use machine::flat::FlatMemory;
pub use machine::host;
pub use machine::kick::Kick;
pub use machine::sampling::{Clock, SamplerId};
pub use machine::{Machine, UNLIMITED};

/// The code in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So does that in docs/embedding.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Embedding;
