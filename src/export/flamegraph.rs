//! A flame graph: an SVG file of its own, drawn by inferno. Behind the feature `flamegraph`, for
//! inferno's licence is CDDL.

use std::io::Write;

use inferno::flamegraph::{Options, from_lines};

use super::folded;
use super::format::WriteError;
use super::perf_data::PerfData;
use crate::symbols::Session;

/// Writes a recording.
///
/// # Errors
/// The recording can't be read or has no samples, or the output can't be written.
pub fn write(
    data: &PerfData,
    session: &mut Session,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let mut lines = Vec::new();
    folded::write(data, session, &mut lines)?;
    let lines = String::from_utf8_lossy(&lines);
    if lines.is_empty() {
        return Err(crate::Error::format(data.path(), "it has no samples to draw").into());
    }
    let mut options = Options::default();
    options.count_name = match data.events() {
        [event] => event.name.clone(),
        _ => "events".to_owned(),
    };
    options.title = data.cmdline().map_or_else(|| "axperf".to_owned(), |c| c.join(" "));
    Ok(from_lines(&mut options, lines.lines(), out)?)
}
