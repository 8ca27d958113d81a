//! `axperf export`.

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use axperf::export::Format;
use axperf::export::perf_data::PerfData;

use crate::cmd_report::{session, warn};
use crate::failure::Failure;

/// What to write, and where.
#[derive(Debug)]
pub struct Options {
    pub input: PathBuf,
    pub sysroot: Option<PathBuf>,
    pub format: Format,
    pub output: Option<PathBuf>,
}

/// Writes a recording in another program's format.
pub fn run(options: Options) -> Result<(), Failure> {
    let data = PerfData::open(&options.input)?;
    let mut session = session(options.sysroot);
    let mut out: Box<dyn Write> = match &options.output {
        Some(path) => {
            let file = File::create(path)
                .map_err(|e| Failure::Said(format!("can't create {}: {e}", path.display())))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(BufWriter::new(stdout().lock())),
    };
    options.format.write(&data, &mut session, &mut out)?;
    out.flush()?;
    warn(&data, &session);
    Ok(())
}
