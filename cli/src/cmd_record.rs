//! `axperf record`.

use std::io::{Write, stderr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axperf::export::perf_data::{DataSummary, FileEvent, PerfData, PerfDataWriter};
use axperf::export::profile::Profiles;
use axperf::perf::{
    Attr, AttrFlags, EventList, EventSpec, RegAbi, SampleType, SamplerStats, Source,
};
use axperf::symbols::Session;

use crate::failure::Failure;
use crate::guest::{self, Guest};
use crate::progress::size;
use crate::recorder::{FIRST_ID, Recorded, Recorder};
use crate::{cmd_report, host, table};

/// What to record.
#[derive(Debug)]
pub struct Options {
    pub events: String,
    pub rate: Rate,
    pub chains: bool,
    pub user_regs: Option<String>,
    pub intr_regs: Option<String>,
    pub stack_size: Option<u32>,
    /// Milliseconds without samples at the start.
    pub delay: u64,
    pub output: PathBuf,
    pub guest: guest::Options,
}

/// How often a sample is taken.
#[derive(Clone, Copy, Debug)]
pub enum Rate {
    /// As suits the event.
    Default,
    /// Once in so many events.
    Period(u64),
    /// So often a second.
    Frequency(u64),
}

/// Instructions between samples, if nothing was said: a prime number, which no loop divides.
const PERIOD: u64 = 1_000_003;

/// Samples a second by time, if nothing was said: perf's.
const FREQUENCY: u64 = 4000;

/// Functions and call chains that are shown at the end.
const SHOWN: usize = 10;

/// Shares below this, in percent, are not shown at the end.
const SHOWN_LIMIT: f64 = 0.5;

/// Runs a program and records it; the process ends as the program does.
pub fn run(options: Options) -> Result<(), Failure> {
    let specs = options.events.parse::<EventList>()?.0;
    let events = recorded(&specs, &options)?;
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
    let in_file = |(i, (spec, event)): (usize, (&EventSpec, &Recorded))| FileEvent {
        attr: event.attr.clone(),
        name: spec.name.clone(),
        ids: vec![FIRST_ID + i as u64],
    };
    let in_file = specs.iter().zip(&events).enumerate().map(in_file).collect();
    let writer = PerfDataWriter::with_file(lifted.into(), options.output.clone(), in_file)?;
    let starts_at = match options.delay {
        0 => 0,
        delay => axperf::Clock::Host.now(0).saturating_add(delay.saturating_mul(1_000_000)),
    };
    let recorder = Arc::new(Recorder::new(writer, events, starts_at)?);
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

/// The events with all that the options say.
fn recorded(specs: &[EventSpec], options: &Options) -> Result<Vec<Recorded>, Failure> {
    let mut events: Vec<Recorded> = Vec::new();
    for (i, spec) in specs.iter().enumerate() {
        let mut leader = i;
        if spec.group.is_some() {
            leader = specs.iter().position(|s| s.group == spec.group).unwrap_or(i);
        }
        let mut attr = attr(spec, options)?;
        if i > 0 {
            // What happens beside samples is recorded once.
            attr.flags = attr.flags.without(SIDE);
        }
        events.push(Recorded { attr, leader });
    }
    Ok(events)
}

/// The records beside samples.
const SIDE: AttrFlags = AttrFlags::MMAP
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK)
    .union(AttrFlags::BUILD_ID);

fn attr(spec: &EventSpec, options: &Options) -> Result<Attr, Failure> {
    let rate = match (options.rate, spec.event.source()) {
        (Rate::Default, Source::Retired) => Rate::Period(PERIOD),
        (Rate::Default, Source::Time) => Rate::Frequency(FREQUENCY),
        (Rate::Default, _) => Rate::Period(1),
        (given, _) => given,
    };
    let (period, frequency) = match rate {
        Rate::Period(n) => (n, AttrFlags::EMPTY),
        Rate::Frequency(n) => (n, AttrFlags::FREQ),
        Rate::Default => (PERIOD, AttrFlags::EMPTY),
    };
    // The kernel's instructions aren't executed here, so they aren't counted either.
    let modes = match spec.event.is_hardware() && !spec.has_modes {
        true => AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
        false => AttrFlags::EMPTY,
    };
    let mut attr = Attr::new(spec.event, period).with_flags(
        SIDE | AttrFlags::INHERIT | AttrFlags::USE_CLOCKID | spec.flags | frequency | modes,
    );
    attr.clockid = libc::CLOCK_MONOTONIC;
    if options.chains {
        attr = attr.callchain();
    }
    if let Some(list) = &options.user_regs {
        attr = attr.user_regs(list.parse()?);
    }
    if let Some(list) = &options.intr_regs {
        attr = attr.intr_regs(list.parse().map_err(Failure::IntrRegs)?);
    }
    if let Some(bytes) = options.stack_size {
        attr = attr.user_stack(bytes);
    }
    if spec.event.source() == Source::Raised {
        attr.sample_type |= SampleType::ADDR;
    }
    attr.check(RegAbi::Extended)?;
    Ok(attr)
}

/// How often there was a sample, in words.
fn often(options: &Options) -> String {
    let events = &options.events;
    match (options.rate, events.parse::<EventList>().ok().as_ref().map(|l| &l.0[..])) {
        (Rate::Period(n), _) => format!("one every {n} {events}"),
        (Rate::Frequency(n), _) => format!("{n} a second of {events}"),
        (Rate::Default, Some([one])) if one.event.source() == Source::Retired => {
            format!("one every {PERIOD} {events}")
        }
        (Rate::Default, _) => format!("of {events}"),
    }
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
        "axperf: {} samples, {}, {} lost: {} in {path}",
        summary.samples,
        often(options),
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
        match options.rate {
            Rate::Default | Rate::Period(2..) => {
                let period = if let Rate::Period(n) = options.rate { n } else { PERIOD };
                let shorter = (period / 100).max(1);
                writeln!(out, "axperf: the program is shorter than a period: try -c {shorter}")?;
            }
            Rate::Period(_) => writeln!(out, "axperf: the event didn't happen")?,
            Rate::Frequency(_) => writeln!(out, "axperf: the program is too short: try -c 1000")?,
        }
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
