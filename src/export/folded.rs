//! Folded stacks: a line for each call chain, outermost function first, with the events that it had
//! at the end. `flamegraph.pl`, inferno and others draw it.

use std::collections::BTreeMap;
use std::io::Write;

use super::format::WriteError;
use super::perf_data::PerfData;
use super::stacks::Stacks;
use crate::symbols::Session;

/// Writes a recording. Where it has several events, each chain begins with the event's name.
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
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &stacks.stacks {
        let functions = stack.frames.iter().rev().map(|&f| stacks.frames[f].function.as_str());
        for (event, weight) in stacks.events.iter().zip(&stack.weights) {
            if weight.samples == 0 {
                continue;
            }
            let event = Some(event.as_str()).filter(|_| stacks.events.len() > 1);
            let names = event.into_iter().chain([stack.comm.as_str()]).chain(functions.clone());
            let line: Vec<String> = names.map(plain).collect();
            let sum = lines.entry(line.join(";")).or_default();
            *sum = sum.saturating_add(weight.events);
        }
    }
    for (chain, events) in lines {
        writeln!(out, "{chain} {events}")?;
    }
    Ok(())
}

/// A name without what separates names and lines.
fn plain(name: &str) -> String {
    name.replace([';', '\n', '\r'], ":")
}
