//! `axperf stat`.

use std::io::{Write, stderr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axperf::perf::{Attr, AttrFlags, EventList, EventSpec, RegAbi, Source};

use crate::counter::Counter;
use crate::failure::Failure;
use crate::guest::{self, Guest};

/// What to count.
#[derive(Debug)]
pub struct Options {
    pub events: String,
    pub guest: guest::Options,
}

/// Runs a program and says what was counted; the process ends as the program does.
pub fn run(options: Options) -> Result<(), Failure> {
    let specs = options.events.parse::<EventList>()?.0;
    let mut attrs = Vec::new();
    for spec in &specs {
        let attr = Attr::new(spec.event, 0).with_flags(AttrFlags::INHERIT | spec.flags);
        attr.check(RegAbi::Extended)?;
        attrs.push(attr);
    }
    let counter = Arc::new(Counter::new(attrs)?);
    let (process, report) = Guest::new(&options.guest, Some(counter.clone()), |_| {})?.split();
    let start = Instant::now();
    let status = process.run();
    let elapsed = start.elapsed();
    report.finish();
    let name = options.guest.argv.iter().map(|a| String::from_utf8_lossy(a)).collect::<Vec<_>>();
    let out = &mut stderr().lock();
    // A terminal that is gone is no reason for anything.
    drop(show(&specs, &counter.end(), &name.join(" "), elapsed, out));
    status.pass_on()
}

/// Prints counts, as perf stat does.
fn show(
    specs: &[EventSpec],
    counts: &[u64],
    name: &str,
    elapsed: Duration,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "\n Performance counter stats for '{name}':\n")?;
    let seconds = elapsed.as_secs_f64();
    for (spec, count) in specs.iter().zip(counts) {
        if spec.event.source() == Source::Time {
            let (milli, used) = (*count as f64 / 1e6, *count as f64 / 1e9 / seconds.max(1e-9));
            writeln!(out, "{milli:>18.2} msec {:<24} # {used:>8.3} CPUs utilized", spec.name)?;
        } else {
            writeln!(out, "{count:>18}      {}", spec.name)?;
        }
    }
    writeln!(out, "\n{seconds:>18.9} seconds time elapsed\n")
}
