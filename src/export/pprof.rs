//! profile.proto, compressed with gzip: the format of pprof and of what reads its files.
//!
//! Its description: <https://github.com/google/pprof/blob/main/proto/profile.proto>. A sample has two
//! values for each event: how many samples, and how many events they stand for.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::format::WriteError;
use super::perf_data::PerfData;
use super::stacks::Stacks;
use crate::symbols::Session;

/// Numbers of the fields that a profile has here.
#[derive(Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Message)]
struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
}

#[derive(Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    /// As the file has it.
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The table of strings, whose first is empty.
struct Strings {
    list: Vec<String>,
    index: HashMap<String, i64>,
}

impl Strings {
    fn new() -> Strings {
        let mut strings = Strings { list: Vec::new(), index: HashMap::new() };
        strings.of("");
        strings
    }

    fn of(&mut self, text: &str) -> i64 {
        if let Some(&i) = self.index.get(text) {
            return i;
        }
        let i = self.list.len() as i64;
        self.list.push(text.to_owned());
        self.index.insert(text.to_owned(), i);
        i
    }
}

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
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&profile(data, &stacks, session).encode_to_vec())?;
    gzip.finish()?;
    Ok(())
}

fn profile(data: &PerfData, stacks: &Stacks, session: &Session) -> Profile {
    let mut strings = Strings::new();
    let mut sample_type = Vec::new();
    for event in &stacks.events {
        let (samples, count) = (strings.of("samples"), strings.of("count"));
        sample_type.push(ValueType { kind: samples, unit: count });
        sample_type.push(ValueType { kind: strings.of(event), unit: count });
    }
    let build_ids: HashMap<&str, &[u8]> = session.files().collect();
    let (mut mappings, mut files) = (Vec::new(), HashMap::new());
    let (mut functions, mut names) = (Vec::new(), HashMap::new());
    let mut locations = Vec::new();
    for (i, frame) in stacks.frames.iter().enumerate() {
        let mapping_id = *files.entry(frame.file.as_str()).or_insert_with(|| {
            let id = mappings.len() as u64 + 1;
            let build_id = build_ids.get(frame.file.as_str()).copied().unwrap_or_default();
            let build_id: String = build_id.iter().map(|b| format!("{b:02x}")).collect();
            let (filename, build_id) = (strings.of(&frame.file), strings.of(&build_id));
            mappings.push(Mapping { id, filename, build_id, has_functions: true });
            id
        });
        let name = (frame.function.as_str(), mapping_id);
        let function_id = *names.entry(name).or_insert_with(|| {
            let id = functions.len() as u64 + 1;
            let name = strings.of(&frame.function);
            functions.push(Function { id, name, system_name: name, filename: 0 });
            id
        });
        locations.push(Location {
            id: i as u64 + 1,
            mapping_id,
            address: frame.place.address,
            line: vec![Line { function_id }],
        });
    }
    let (thread, signed) = (strings.of("thread"), |n: u64| i64::try_from(n).unwrap_or(i64::MAX));
    let sample = stacks.stacks.iter().map(|stack| Sample {
        location_id: stack.frames.iter().map(|&f| f as u64 + 1).collect(),
        value: stack.weights.iter().flat_map(|w| [signed(w.samples), signed(w.events)]).collect(),
        label: vec![Label { key: thread, str: strings.of(&stack.comm) }],
    });
    let sample = sample.collect();
    let comment = data.cmdline().map(|c| strings.of(&c.join(" ")));
    let default_sample_type = stacks.events.first().map_or(0, |e| strings.of(e));
    Profile {
        sample_type,
        sample,
        mapping: mappings,
        location: locations,
        function: functions,
        comment: comment.into_iter().collect(),
        default_sample_type,
        string_table: strings.list,
    }
}
