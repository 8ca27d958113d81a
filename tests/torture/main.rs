//! What tries to break the engines: random programs, hostile code, threads, code that changes.
//!
//! The engines are compared with each other at every stop, and with qemu-alpha where a program ends.
//! `AXPERF_TORTURE=20` runs twenty times as many random cases as `cargo test` does by itself.

mod buses;
mod coherence;
mod elf;
mod eviction;
mod generate;
mod guest;
mod hostile;
mod kept;
mod kicks;
mod oracle;
mod pages;
mod random;
mod reservations;
mod rng;
mod samples;
mod stops;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod trace;
