//! `axperf run --gdb`: what a debugger sees of a program, and what it can do to it. Expected values
//! come from the program's source.

#[path = "../../../tests/support/mod.rs"]
mod support;

mod client;
mod session;

mod core_dump;
mod hostile;
mod protocol;
mod stops;
mod threads;
