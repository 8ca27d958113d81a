//! Linux/alpha user mode on axperf: real Alpha programs run as processes of this machine.
//!
//! [`Process`] loads an Alpha ELF program and runs it: an exit loop over [`axperf::Machine`]s, one
//! a thread, that does what Linux/alpha's kernel does for a program. The address space is Alpha's
//! ([`layout`]), at the same host addresses; so are system call numbers, error numbers, signals,
//! flags and structures. Threads are host threads, processes are host processes.
//!
//! Your duties: a host process has one guest process at most; it runs on the thread that calls
//! [`Process::run`], and signals of the host process are the guest's from then on. Descriptors of
//! your own are best out of the guest's sight ([`lift`]). An [`Observer`] is told what perf's kernel
//! side would record.
//!
//! Not there: ptrace, which is ENOSYS and named with [`Config::verbose`].

#[cfg(test)]
mod abi;
mod bytes;
mod config;
mod coredump;
mod cpu;
mod descriptors;
pub mod elf;
mod emulate;
mod errno;
mod flags;
mod futex;
mod gdb;
mod hold;
mod ieee;
pub mod layout;
mod limits;
mod load;
mod log;
pub mod mm;
mod observer;
mod path;
mod perf_event;
mod process;
mod procfs;
mod signal;
mod signo;
mod stack;
mod strace;
mod syscall;
mod termios;
mod thread;
mod timers;
mod traced;
mod trap;
mod unaligned;
mod vfork;
mod watch;

pub use config::{Config, DEBIAN_SYSROOT};
pub use descriptors::lift;
pub use elf::ElfError;
pub use errno::Errno;
pub use gdb::{BadAddress, GdbAddress};
pub use load::{LoadError, LoadFailure};
pub use observer::{Ids, MapEvent, Observer};
pub use path::Sysroot;
pub use perf_event::Pmu;
pub use process::{Error, ExitStatus, Process, Shared};
pub use signo::{SigSet, Signal};
pub use thread::Cpu;
