//! The `axperf` command.
fn main() {}
