//! `axperf run`.

use crate::failure::Failure;
use crate::guest::{self, Guest};

/// What to run.
#[derive(Debug)]
pub struct Options {
    pub guest: guest::Options,
}

/// Runs a program; the process ends as the program does.
pub fn run(options: Options) -> Result<(), Failure> {
    let (process, report) = Guest::new(&options.guest, None)?.split();
    let status = process.run();
    report.finish();
    status.pass_on()
}
