//! The file format of speedscope.app: call chains with their weights, one profile an event.
//!
//! Its schema: <https://www.speedscope.app/file-format-schema.json>.

use std::collections::HashMap;
use std::io::Write;

use serde_json::json;

use super::format::WriteError;
use super::perf_data::PerfData;
use super::stacks::Stacks;
use crate::symbols::Session;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes a recording.
///
/// # Errors
/// The recording can't be read, or the output can't be written.
pub fn write(
    data: &PerfData,
    session: &mut Session,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let stacks = Stacks::collect(data, session)?;
    // Frames of a function are alike here.
    let (mut shared, mut index) = (Vec::new(), HashMap::new());
    let frames: Vec<usize> = stacks
        .frames
        .iter()
        .map(|f| {
            *index.entry((f.function.as_str(), f.file.as_str())).or_insert_with(|| {
                shared.push(json!({ "name": f.function, "file": f.file }));
                shared.len() - 1
            })
        })
        .collect();
    let profile = |(event, name): (usize, &String)| {
        let of_event = stacks.stacks.iter().filter(|s| s.weights[event].samples > 0);
        let samples: Vec<Vec<usize>> =
            of_event.clone().map(|s| s.frames.iter().rev().map(|&f| frames[f]).collect()).collect();
        let weights: Vec<u64> = of_event.map(|s| s.weights[event].events).collect();
        let end = weights.iter().fold(0, |sum: u64, &w| sum.saturating_add(w));
        json!({
            "type": "sampled",
            "name": name,
            "unit": "none",
            "startValue": 0,
            "endValue": end,
            "samples": samples,
            "weights": weights,
        })
    };
    let file = json!({
        "$schema": SCHEMA,
        "name": data.cmdline().map_or_else(String::new, |c| c.join(" ")),
        "exporter": concat!("axperf@", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": shared },
        "profiles": stacks.events.iter().enumerate().map(profile).collect::<Vec<_>>(),
    });
    serde_json::to_writer(&mut *out, &file).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
