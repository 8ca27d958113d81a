//! The Firefox Profiler's format: samples along time, by process and thread, with their names in it, so
//! that it shows them without the files. <https://profiler.firefox.com> opens it.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use fxprof_processed_profile::{
    CategoryColor, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, ReferenceTimestamp,
    SamplingInterval, Timestamp,
};

use super::format::WriteError;
use super::perf_data::PerfData;
use super::profile::UNKNOWN;
use super::samples::for_each_sample;
use crate::symbols::Session;

/// Colours of the events, one after the other.
const COLORS: [CategoryColor; 6] = [
    CategoryColor::Blue,
    CategoryColor::Green,
    CategoryColor::Orange,
    CategoryColor::Purple,
    CategoryColor::Red,
    CategoryColor::Brown,
];

/// Writes a recording. Each event is a category; a sample weighs one.
///
/// # Errors
/// The recording can't be read, or the output can't be written.
pub fn write(
    data: &PerfData,
    session: &mut Session,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let name = data.cmdline().map_or_else(|| "axperf".to_owned(), |c| c.join(" "));
    // A recording's clock has no known beginning.
    let start = ReferenceTimestamp::from_duration_since_unix_epoch(Duration::ZERO);
    let mut profile = Profile::new(&name, start, SamplingInterval::from_millis(1));
    profile.set_product("axperf");
    profile.set_os_name("Linux/alpha");
    profile.set_symbolicated(true);
    let categories: Vec<_> = (data.events().iter().zip(COLORS.into_iter().cycle()))
        .map(|(event, color)| profile.add_category(&event.name, color))
        .collect();
    let (mut processes, mut threads) = (HashMap::new(), HashMap::new());
    let mut first = None;
    for_each_sample::<WriteError>(data, session, |s| {
        let time = s.sample.time.unwrap_or(0);
        let time = time.saturating_sub(*first.get_or_insert(time));
        let time = Timestamp::from_nanos_since_reference(time);
        let (pid, tid) = (s.pid(), s.tid());
        let process = *processes.entry(pid).or_insert_with(|| {
            let comm = s.session.comm(pid).map_or_else(|| s.comm(), str::to_owned);
            profile.add_process(&comm, pid, time)
        });
        let thread = *threads.entry((pid, tid)).or_insert_with(|| {
            let thread = profile.add_thread(process, tid, time, pid == tid);
            profile.set_thread_name(thread, &s.comm());
            thread
        });
        let mut frames = Vec::new();
        for (_, place) in s.frames() {
            let function = s.session.symbol(&place).map_or(UNKNOWN, |f| f.name());
            let name = match s.session.dso_short_name(&place) {
                Some(file) => format!("{function} ({file})"),
                None => function.to_owned(),
            };
            frames.push(FrameInfo {
                frame: Frame::Label(profile.intern_string(&name)),
                category_pair: categories[s.event].into(),
                flags: FrameFlags::empty(),
            });
        }
        let stack = profile.intern_stack_frames(thread, frames.into_iter().rev());
        profile.add_sample(thread, time, stack, CpuDelta::ZERO, 1);
        Ok(())
    })?;
    serde_json::to_writer(&mut *out, &profile).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
