//! `axperf script`.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use axperf::export::perf_data::PerfData;
use axperf::export::script::{Fields, write_script};

use crate::cmd_report::{session, warn};
use crate::failure::Failure;

/// What to show.
#[derive(Debug)]
pub struct Options {
    pub input: PathBuf,
    pub sysroot: Option<PathBuf>,
    pub fields: Option<String>,
}

/// Shows each sample.
pub fn run(options: Options) -> Result<(), Failure> {
    let fields = options.fields.map_or(Ok(Fields::default()), |list| list.parse())?;
    let data = PerfData::open(&options.input)?;
    let mut session = session(options.sysroot);
    let mut out = BufWriter::new(stdout().lock());
    write_script(&data, &mut session, &fields, &mut out)?;
    out.flush()?;
    warn(&data, &session);
    Ok(())
}
