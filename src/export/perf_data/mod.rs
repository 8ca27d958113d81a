//! perf.data, Linux perf's file: written while a program runs, and read again.
//!
//! A file is a header, the events with their ids, the records, and descriptions ("features") of
//! the machine and the recording. The format is that of the kernel's
//! `tools/perf/Documentation/perf.data-file-format.txt`.

mod features;
mod reader;
mod writer;

pub use features::{BuildId, Feature, Features};
pub use reader::{FileRecord, PerfData, RecordKind};
pub use writer::{DataSummary, PerfDataWriter};

use std::collections::HashMap;

use crate::perf::{Attr, AttrFlags, SampleId, SampleType, kind};

/// What every file starts with.
const MAGIC: &[u8; 8] = b"PERFILE2";

/// Bytes of the header.
const HEADER_SIZE: u64 = 104;

/// Bytes of a pipe's header: magic and size.
const PIPE_HEADER_SIZE: u64 = 16;

/// Bytes of a section's place: offset and size.
const SECTION_SIZE: usize = 16;

/// Bytes of the attributes in a file: what perf 6.1, the oldest that is supported, knows. None of
/// axperf's events needs more.
const FILE_ATTR_SIZE: usize = 128;

/// An event of a file: attributes, name, and the ids that its records carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEvent {
    /// Its attributes.
    pub attr: Attr,
    /// Its name; empty if the file doesn't say.
    pub name: String,
    /// Its ids.
    pub ids: Vec<u64>,
}

impl FileEvent {
    /// The attributes as they stand in a file. Those that don't fit were refused before.
    fn attr_bytes(&self) -> Vec<u8> {
        self.attr.to_bytes_of(FILE_ATTR_SIZE).unwrap_or_default()
    }
}

/// Tells which event a record belongs to.
#[derive(Debug)]
struct EventIndex<'a> {
    events: &'a [FileEvent],
    by_id: HashMap<u64, usize>,
    /// Whether all records have their id at a place that doesn't depend on the event.
    identifier: bool,
}

impl<'a> EventIndex<'a> {
    fn new(events: &'a [FileEvent]) -> Result<EventIndex<'a>, String> {
        let identifier = events.iter().all(|e| e.attr.sample_type.contains(SampleType::IDENTIFIER));
        let layout = |a: &Attr| (a.sample_type, a.flags.contains(AttrFlags::SAMPLE_ID_ALL));
        let alike = events.windows(2).all(|w| layout(&w[0].attr) == layout(&w[1].attr));
        if !identifier && !alike {
            return Err("its events have different fields and no IDENTIFIER to tell them by".into());
        }
        let ids = events.iter().enumerate().flat_map(|(i, e)| e.ids.iter().map(move |&id| (id, i)));
        Ok(EventIndex { events, by_id: ids.collect(), identifier })
    }

    /// Index of a record's event, and the record's time if it has one.
    fn locate(&self, kind: u32, body: &[u8]) -> (usize, Option<u64>) {
        let Some(first) = self.events.first().filter(|_| kind < kind::USER_START) else {
            return (0, None);
        };
        let id = if self.events.len() == 1 {
            None
        } else if self.identifier {
            let word = if kind == kind::SAMPLE { body.first_chunk() } else { body.last_chunk() };
            word.map(|w| u64::from_le_bytes(*w))
        } else {
            id_and_time(&first.attr, kind, body).0
        };
        let event = id.and_then(|id| self.by_id.get(&id).copied()).unwrap_or(0);
        (event, id_and_time(&self.events[event].attr, kind, body).1)
    }
}

/// The event's id and the time of a record, without decoding all of it.
fn id_and_time(attr: &Attr, kind: u32, body: &[u8]) -> (Option<u64>, Option<u64>) {
    let has = |field| attr.sample_type.contains(field);
    if kind != kind::SAMPLE {
        if !attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            return (None, None);
        }
        let Ok(id) = SampleId::decode(attr, body) else { return (None, None) };
        return (Some(id.id), has(SampleType::TIME).then_some(id.time));
    }
    let before = |fields: &[SampleType]| fields.iter().filter(|f| has(**f)).count() * 8;
    let word = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
    let time_at = before(&[SampleType::IDENTIFIER, SampleType::IP, SampleType::TID]);
    let id_at = time_at + before(&[SampleType::TIME, SampleType::ADDR]);
    (
        has(SampleType::ID).then(|| word(id_at)).flatten(),
        has(SampleType::TIME).then(|| word(time_at)).flatten(),
    )
}
