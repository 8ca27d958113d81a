//! `axperf report`.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use axperf::export::perf_data::{Feature, PerfData};
use axperf::export::profile::{Profile, Profiles};
use axperf::symbols::Session;

use crate::failure::Failure;
use crate::table;

/// What to show.
#[derive(Debug)]
pub struct Options {
    pub input: PathBuf,
    pub sysroot: Option<PathBuf>,
    pub percent_limit: f64,
    pub chains: usize,
}

/// Shows functions and call chains by their share.
pub fn run(options: Options) -> Result<(), Failure> {
    let data = PerfData::open(&options.input)?;
    let mut session = session(options.sysroot);
    let profiles = Profiles::collect(&data, &mut session)?;
    warn(&data, &session);
    let mut out = BufWriter::new(stdout().lock());
    if let Some(cmdline) = data.cmdline() {
        writeln!(out, "# {}", cmdline.join(" "))?;
    }
    if let Some(arch) = data.feature_string(Feature::Arch).filter(|a| a != "alpha") {
        writeln!(out, "# recorded on {arch}, not alpha: register names are not right")?;
    }
    writeln!(out, "# Lost samples: {}", profiles.lost)?;
    for profile in &profiles.events {
        show(profile, options.percent_limit, options.chains, &mut out)?;
    }
    Ok(out.flush()?)
}

fn show(profile: &Profile, limit: f64, chains: usize, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "#\n# Samples: {} of event '{}'", profile.samples, profile.event)?;
    writeln!(out, "# Event count: {}", profile.weight)?;
    if let Some(ends) = table::chain_ends(&profile.unwound) {
        writeln!(out, "# Unwound from registers and stack: {ends}")?;
    }
    writeln!(out, "#")?;
    table::functions(profile, limit, usize::MAX, out)?;
    if profile.has_chains && chains > 0 {
        writeln!(out, "\n# Call chains\n#")?;
        table::chains(profile, limit, chains, out)?;
    }
    Ok(())
}

/// A session that looks for files below `sysroot` first.
pub fn session(sysroot: Option<PathBuf>) -> Session {
    match sysroot {
        Some(root) => Session::new().with_sysroot(root),
        None => Session::new(),
    }
}

/// Says on standard error what a recording lacks.
pub fn warn(data: &PerfData, session: &Session) {
    let path = data.path().display();
    if data.is_unfinished() {
        eprintln!("axperf: {path}: the recording was not finished; this is what was written");
    }
    for problem in session.problems() {
        eprintln!("axperf: no symbols: {problem}");
    }
}
