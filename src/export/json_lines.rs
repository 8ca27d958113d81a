//! JSON lines: an object for each sample, in the order of their times, for programs of one's own.
//!
//! Addresses and registers are strings of hexadecimal digits: a number in JSON has no more than 53
//! bits in many a reader. What a sample lacks is left out.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::format::WriteError;
use super::perf_data::PerfData;
use super::samples::{Sampled, for_each_sample};
use crate::perf::SampleRegs;
use crate::symbols::Session;

/// Writes a recording.
///
/// # Errors
/// The recording can't be read, or the output can't be written.
pub fn write(
    data: &PerfData,
    session: &mut Session,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    for_each_sample(data, session, |s| {
        let object = Value::Object(object(s, &data.events()[s.event].name));
        serde_json::to_writer(&mut *out, &object).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok::<_, WriteError>(())
    })?;
    Ok(())
}

fn object(s: &Sampled, event: &str) -> Map<String, Value> {
    let sample = &s.sample;
    let mut object = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    put("event", Some(event.into()));
    put("comm", Some(s.comm().into()));
    put("pid", sample.task.map(|(pid, _)| pid.into()));
    put("tid", sample.task.map(|(_, tid)| tid.into()));
    put("cpu", sample.cpu.map(Value::from));
    put("time", sample.time.map(Value::from));
    put("period", sample.period.map(Value::from));
    put("addr", sample.addr.map(hex));
    put("kernel", Some(sample.kernel).filter(|k| *k).map(Value::from));
    let frames = s.frames().map(|(ip, place)| {
        let symbol = s.session.symbol(&place);
        let mut frame = Map::from_iter([("ip".to_owned(), hex(ip))]);
        if let Some(symbol) = symbol {
            frame.insert("symbol".into(), symbol.name().into());
        }
        if let Some(file) = s.session.dso_name(&place) {
            frame.insert("dso".into(), file.into());
            frame.insert("address".into(), hex(place.address));
        }
        Value::Object(frame)
    });
    put("frames", Some(frames.collect::<Vec<_>>().into()));
    put("chain_end", s.unwound.map(|end| end.stop.text().into()));
    put("user_regs", sample.user_regs.as_ref().map(registers));
    put("intr_regs", sample.intr_regs.as_ref().map(registers));
    put("user_stack_bytes", sample.user_stack.map(|s| json!(s.len())));
    object
}

fn registers(regs: &SampleRegs) -> Value {
    Value::Object(regs.iter().map(|(reg, value)| (reg.name().to_owned(), hex(value))).collect())
}

fn hex(value: u64) -> Value {
    format!("{value:#x}").into()
}
