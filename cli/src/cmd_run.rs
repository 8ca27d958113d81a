//! `axperf run`.

use std::path::PathBuf;

use axperf_linux::GdbAddress;

use crate::failure::Failure;
use crate::guest::{self, Guest};

/// What to run.
#[derive(Debug)]
pub struct Options {
    /// Where gdb is waited for.
    pub gdb: Option<GdbAddress>,
    /// Where a core dump is written.
    pub core: Option<PathBuf>,
    pub guest: guest::Options,
}

/// Runs a program; the process ends as the program does.
pub fn run(options: Options) -> Result<(), Failure> {
    // The program may change its directory.
    let core = options.core.as_ref().map(std::path::absolute).transpose()?;
    let configure = |linux: &mut axperf_linux::Config| {
        linux.gdb(options.gdb.clone()).core(core);
    };
    let (process, report) = Guest::new(&options.guest, None, configure)?.split();
    let status = process.run();
    report.finish();
    status.pass_on()
}
