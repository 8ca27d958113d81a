//! `axperf record`.

use std::io::{Write, stderr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axperf::export::perf_data::{DataSummary, FileEvent, PerfData, PerfDataWriter};
use axperf::export::profile::Profiles;
use axperf::perf::{Attr, AttrFlags, Event, RegAbi, SamplerStats};
use axperf::symbols::Session;

use crate::failure::Failure;
use crate::guest::{self, Guest};
use crate::progress::size;
use crate::recorder::{EVENT_ID, Recorder};
use crate::{cmd_report, host, table};

/// What to record.
#[derive(Debug)]
pub struct Options {
    pub event: String,
    pub period: u64,
    pub chains: bool,
    pub user_regs: Option<String>,
    pub stack_size: Option<u32>,
    pub output: PathBuf,
    pub guest: guest::Options,
}

/// Functions and call chains that are shown at the end.
const SHOWN: usize = 10;

/// Shares below this, in percent, are not shown at the end.
const SHOWN_LIMIT: f64 = 0.5;

/// Runs a program and records it; the process ends as the program does.
pub fn run(options: Options) -> Result<(), Failure> {
    let attr = attr(&options)?;
    let old = Old::put_aside(&options.output)?;
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&options.output)
        .map_err(|e| axperf::Error::file(&options.output, e))?;
    let lifted = axperf_linux::lift(OwnedFd::from(file))
        .map_err(|e| axperf::Error::file(&options.output, e))?;
    let event = FileEvent { attr: attr.clone(), name: options.event.clone(), ids: vec![EVENT_ID] };
    let writer = PerfDataWriter::with_file(lifted.into(), options.output.clone(), vec![event])?;
    let recorder = Arc::new(Recorder::new(writer, attr)?);
    let guest = Guest::new(&options.guest, Some(recorder.clone()), |_| {});
    let (process, report) = match guest {
        Ok(guest) => guest.split(),
        Err(e) => {
            old.put_back(&options.output);
            return Err(e);
        }
    };
    let status = process.run();
    report.finish();
    drop(report);
    let finished = match Arc::try_unwrap(recorder) {
        Ok(recorder) => finish(recorder, &options),
        Err(_) => Err(Failure::Said("a thread of the program still runs".into())),
    };
    if let Err(e) = finished {
        eprintln!("axperf: the recording is incomplete: {e}");
    }
    status.pass_on()
}

/// A recording that was there before: perf, too, keeps it under another name.
struct Old(Option<PathBuf>);

impl Old {
    fn put_aside(output: &Path) -> Result<Old, Failure> {
        if !output.is_file() {
            return Ok(Old(None));
        }
        let mut name = output.as_os_str().to_owned();
        name.push(".old");
        let name = PathBuf::from(name);
        std::fs::rename(output, &name).map_err(|e| axperf::Error::file(output, e))?;
        Ok(Old(Some(name)))
    }

    /// Undoes it: there is nothing to take its place.
    fn put_back(self, output: &Path) {
        let undone = match self.0 {
            Some(name) => std::fs::rename(name, output),
            None if output.is_file() => std::fs::remove_file(output),
            None => Ok(()),
        };
        if let Err(e) = undone {
            eprintln!("axperf: {}: {e}", output.display());
        }
    }
}

fn attr(options: &Options) -> Result<Attr, Failure> {
    let event: Event = options.event.parse()?;
    let mut attr = Attr::new(event, options.period).with_flags(
        AttrFlags::MMAP
            | AttrFlags::MMAP2
            | AttrFlags::COMM
            | AttrFlags::COMM_EXEC
            | AttrFlags::TASK
            | AttrFlags::INHERIT
            | AttrFlags::BUILD_ID
            | AttrFlags::EXCLUDE_KERNEL
            | AttrFlags::EXCLUDE_HV
            | AttrFlags::USE_CLOCKID,
    );
    attr.clockid = libc::CLOCK_MONOTONIC;
    if options.chains {
        attr = attr.callchain();
    }
    if let Some(list) = &options.user_regs {
        attr = attr.user_regs(list.parse()?);
    }
    if let Some(bytes) = options.stack_size {
        attr = attr.user_stack(bytes);
    }
    attr.check(RegAbi::Extended)?;
    Ok(attr)
}

/// Completes the file and says what is in it.
fn finish(recorder: Recorder, options: &Options) -> Result<(), Failure> {
    let (writer, totals) = recorder.end();
    let summary = writer.finish(&host::features(options.guest.cpu))?;
    let mut out = stderr().lock();
    // A terminal that is gone is no reason for anything.
    drop(say(&summary, &totals, options, &mut out));
    Ok(())
}

fn say(
    summary: &DataSummary,
    totals: &SamplerStats,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = options.output.display();
    writeln!(
        out,
        "axperf: {} samples, one every {} {}, {} lost: {} in {path}",
        summary.samples,
        options.period,
        options.event,
        summary.lost.max(totals.lost),
        size(summary.bytes),
    )?;
    if let Some(at) = summary.damaged_at {
        writeln!(out, "axperf: a process was killed while it wrote: {path} ends at {at:#x}")?;
    }
    if let Some(ends) = table::chain_ends(&totals.chains) {
        writeln!(out, "axperf: {ends}")?;
    }
    if summary.samples == 0 {
        let shorter = options.period / 100;
        writeln!(out, "axperf: the program is shorter than a period: try -c {}", shorter.max(1))?;
        return Ok(());
    }
    let data = PerfData::open(&options.output)?;
    let mut session = Session::new();
    let profiles = Profiles::collect(&data, &mut session)?;
    cmd_report::warn(&data, &session);
    for profile in &profiles.events {
        writeln!(out)?;
        table::functions(profile, SHOWN_LIMIT, SHOWN, out)?;
        if profile.has_chains {
            writeln!(out, "\n# Call chains")?;
            table::chains(profile, SHOWN_LIMIT, SHOWN, out)?;
        }
    }
    writeln!(out, "\naxperf: more of it: axperf report -i {path}")?;
    Ok(())
}
