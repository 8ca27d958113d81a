//! Reading perf.data: what axperf wrote, and what perf wrote on a real Alpha.
//!
//! Files may hold anything: each count and offset in them is checked against what is there.

use std::path::{Path, PathBuf};

use super::{EventIndex, Feature, FileEvent, HEADER_SIZE, MAGIC, PIPE_HEADER_SIZE, SECTION_SIZE};
use crate::error::{Error, Result};
use crate::perf::{ATTR_SIZE_VER0, Attr, Cursor, Record, Sample, SampleId, Truncated, kind};

/// Records that only tools write and that matter for reading.
mod user_kind {
    pub const HEADER_ATTR: u32 = 64;
    pub const AUXTRACE: u32 = 71;
    pub const HEADER_FEATURE: u32 = 80;
    pub const COMPRESSED: u32 = 81;
    pub const COMPRESSED2: u32 = 83;
}

/// A perf.data file, in memory.
pub struct PerfData {
    path: PathBuf,
    bytes: Vec<u8>,
    events: Vec<FileEvent>,
    features: Vec<(u32, Span)>,
    /// Where reading stopped, if the recording was not finished.
    cut_at: Option<usize>,
    /// Where each record stands, in the order of their times.
    records: Vec<Place>,
}

/// Bytes of the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    time: u64,
    at: usize,
    event: usize,
}

impl std::fmt::Debug for PerfData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerfData")
            .field("path", &self.path)
            .field("events", &self.events)
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

/// A record of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileRecord<'a> {
    /// Where it stands in the file.
    pub offset: u64,
    /// When it happened, in nanoseconds; 0 if the file doesn't say.
    pub time: u64,
    /// Index of the event that it belongs to.
    pub event: usize,
    /// What it tells.
    pub kind: RecordKind<'a>,
}

/// What a record of a file tells.
#[derive(Clone, Debug)]
pub enum RecordKind<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// Something else, and what identifies it.
    Other(Record<'a>, SampleId),
}

impl PerfData {
    /// Reads a file.
    ///
    /// # Errors
    /// It can't be read, or isn't a perf.data file.
    pub fn open(path: impl AsRef<Path>) -> Result<PerfData> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::file(path, e))?;
        PerfData::parse(path, bytes)
    }

    /// Reads a file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// They aren't those of a perf.data file.
    pub fn parse(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<PerfData> {
        let mut data = PerfData {
            path: path.into(),
            bytes,
            events: vec![],
            features: vec![],
            cut_at: None,
            records: vec![],
        };
        match data.read() {
            Ok(()) => Ok(data),
            Err(why) => Err(Error::format(data.path, why)),
        }
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The events.
    #[must_use]
    pub fn events(&self) -> &[FileEvent] {
        &self.events
    }

    /// The body of a feature section.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<&[u8]> {
        let (_, span) = self.features.iter().find(|(bit, _)| *bit == feature as u32)?;
        self.bytes.get(span.start..span.start + span.len)
    }

    /// The string that a feature section consists of.
    #[must_use]
    pub fn feature_string(&self, feature: Feature) -> Option<String> {
        string(&mut Cursor::new(self.feature(feature)?)).ok()
    }

    /// The command line of the recording.
    #[must_use]
    pub fn cmdline(&self) -> Option<Vec<String>> {
        let mut at = Cursor::new(self.feature(Feature::CmdLine)?);
        let n = at.half().ok()?;
        (0..n).map(|_| string(&mut at).ok()).collect()
    }

    /// Whether the recording was not finished: then the records are those written until then.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.cut_at.is_some()
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records in the order of their times.
    pub fn records(&self) -> impl Iterator<Item = Result<FileRecord<'_>>> {
        self.records.iter().map(|place| self.record(place))
    }

    fn record(&self, place: &Place) -> Result<FileRecord<'_>> {
        let decode = || -> Result<RecordKind<'_>, Truncated> {
            let (kind, misc, body) = self.header(place.at).ok_or(Truncated)?;
            let attr = &self.events[place.event].attr;
            if kind == kind::SAMPLE {
                return Ok(RecordKind::Sample(Sample::decode(attr, misc, body)?));
            }
            let id = match kind < kind::USER_START {
                true => SampleId::decode(attr, body)?,
                false => SampleId::default(),
            };
            Ok(RecordKind::Other(Record::decode(kind, misc, body)?, id))
        };
        match decode() {
            Ok(kind) => Ok(FileRecord {
                offset: place.at as u64,
                time: place.time,
                event: place.event,
                kind,
            }),
            Err(e) => Err(Error::format(&self.path, format!("offset {:#x}: {e}", place.at))),
        }
    }

    /// Type, misc word and body of the record at `at`.
    fn header(&self, at: usize) -> Option<(u32, u16, &[u8])> {
        let header = u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?);
        let size = (header >> 48) as usize;
        let body = self.bytes.get(at..at.checked_add(size)?)?.get(8..)?;
        Some((header as u32, (header >> 32) as u16, body))
    }

    fn read(&mut self) -> Result<(), String> {
        match self.bytes.first_chunk::<8>() {
            Some(MAGIC) => {}
            Some(b"2ELIFREP") => return Err("it was recorded on a big-endian machine".into()),
            Some(b"PERFFILE") => return Err("the format is perf's first, of before 2013".into()),
            _ => return Err("it is no perf.data file".into()),
        }
        let size = self.word_at(8).ok_or("it ends in its header")?;
        let data = match size {
            PIPE_HEADER_SIZE => Span {
                start: PIPE_HEADER_SIZE as usize,
                len: self.bytes.len() - PIPE_HEADER_SIZE as usize,
            },
            HEADER_SIZE.. => self.read_header()?,
            n => return Err(format!("its header has {n} bytes, fewer than any perf wrote")),
        };
        self.read_records(data)?;
        if self.events.is_empty() {
            return Err("it describes no event".into());
        }
        self.name_events();
        self.assign_events()
    }

    fn word_at(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// The span that a section's place names, if it lies in the file.
    fn section(&self, at: usize) -> Option<Span> {
        let start = usize::try_from(self.word_at(at)?).ok()?;
        let len = usize::try_from(self.word_at(at.checked_add(8)?)?).ok()?;
        (start.checked_add(len)? <= self.bytes.len()).then_some(Span { start, len })
    }

    /// Reads header, events and features; gives the place of the records.
    fn read_header(&mut self) -> Result<Span, String> {
        const ENDS: &str = "it ends in its header";
        let entry = self.word_at(16).ok_or(ENDS)?;
        let entry = usize::try_from(entry)
            .ok()
            .filter(|&n| (ATTR_SIZE_VER0 + SECTION_SIZE..=8192).contains(&n))
            .ok_or_else(|| format!("its attributes have {entry} bytes"))?;
        let attrs = self.section(24).ok_or("its attributes lie outside of it")?;
        let mut data = self
            .section(40)
            .ok_or("its records lie outside of it: it is cut, or the recording was not finished")?;
        for at in (attrs.start..attrs.start + attrs.len).step_by(entry) {
            let attr =
                self.bytes.get(at..at + entry - SECTION_SIZE).ok_or("its attributes are cut")?;
            let attr = read_attr(attr)?;
            let ids = self.section(at + entry - SECTION_SIZE).ok_or("its ids lie outside of it")?;
            let ids = &self.bytes[ids.start..ids.start + ids.len];
            let ids = ids.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)).collect();
            self.events.push(FileEvent { attr, name: String::new(), ids });
        }
        let mut place = data.start + data.len;
        for word in 0..4 {
            let bits = self.word_at(72 + 8 * word).ok_or(ENDS)?;
            for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                let span = self.section(place).ok_or("a description in it lies outside of it")?;
                self.features.push((word as u32 * 64 + bit, span));
                place += SECTION_SIZE;
            }
        }
        if data.len == 0 && self.features.is_empty() {
            // The recording was not finished: perf, too, then takes all that is there.
            data.len = self.bytes.len() - data.start;
            self.cut_at = Some(self.bytes.len());
        }
        Ok(data)
    }

    /// Finds the records, and in a pipe's stream the events and features among them.
    fn read_records(&mut self, data: Span) -> Result<(), String> {
        let end = data.start + data.len;
        let mut at = data.start;
        while at < end {
            let Some((kind, _, body)) = self.header(at).filter(|(.., b)| at + 8 + b.len() <= end)
            else {
                if self.cut_at.is_some() {
                    self.cut_at = Some(at);
                    return Ok(());
                }
                return Err(format!("there is no whole record at offset {at:#x}"));
            };
            let (body_at, mut next) = (at + 8, at + 8 + body.len());
            match kind {
                user_kind::HEADER_ATTR => {
                    let event = pipe_event(body).map_err(|e| format!("offset {at:#x}: {e}"))?;
                    self.events.push(event);
                }
                user_kind::HEADER_FEATURE => {
                    let bit = self.word_at(body_at).filter(|b| *b < 256);
                    let bit = bit.ok_or_else(|| format!("no feature at offset {at:#x}"))?;
                    let span = Span { start: body_at + 8, len: next - body_at - 8 };
                    self.features.push((bit as u32, span));
                }
                user_kind::AUXTRACE => {
                    let more = self.word_at(body_at).and_then(|n| usize::try_from(n).ok());
                    next = more
                        .and_then(|n| next.checked_add(n))
                        .filter(|n| *n <= end)
                        .ok_or_else(|| format!("the trace at offset {at:#x} is cut"))?;
                }
                user_kind::COMPRESSED | user_kind::COMPRESSED2 => {
                    return Err("its records are compressed: record without -z".into());
                }
                _ if kind >= kind::USER_START => {}
                _ => self.records.push(Place { time: 0, at, event: 0 }),
            }
            at = next;
        }
        Ok(())
    }

    fn name_events(&mut self) {
        let Some(described) = self.feature(Feature::EventDesc).and_then(|b| event_desc(b).ok())
        else {
            return;
        };
        for (i, event) in self.events.iter_mut().enumerate() {
            let by_id = described.iter().find(|(ids, _)| !ids.is_empty() && *ids == event.ids);
            if let Some((_, name)) = by_id.or(described.get(i)) {
                event.name.clone_from(name);
            }
        }
    }

    /// Says of each record which event it belongs to and when it was, and sorts them.
    fn assign_events(&mut self) -> Result<(), String> {
        let index = EventIndex::new(&self.events)?;
        let mut records = std::mem::take(&mut self.records);
        for place in &mut records {
            if let Some((kind, _, body)) = self.header(place.at) {
                let (event, time) = index.locate(kind, body);
                (place.event, place.time) = (event, time.unwrap_or(0));
            }
        }
        records.sort_by_key(|place| place.time);
        self.records = records;
        Ok(())
    }
}

/// Reads attributes of whatever version: what is newer than axperf is left out.
fn read_attr(block: &[u8]) -> Result<Attr, String> {
    let head = block.first_chunk().ok_or("its attributes are cut")?;
    let declared = Attr::declared_size(head).map_err(|e| e.to_string())?;
    let known = declared.min(block.len()).min(crate::perf::ATTR_SIZE);
    Attr::from_bytes(&block[..known]).map_err(|e| e.to_string())
}

/// The event of a HEADER_ATTR record: attributes, then ids to the record's end.
fn pipe_event(body: &[u8]) -> Result<FileEvent, String> {
    let attr = read_attr(body)?;
    let declared =
        body.first_chunk().map_or(Ok(0), Attr::declared_size).map_err(|e| e.to_string())?;
    let ids = body.get(declared..).ok_or("its attributes are cut")?;
    let ids = ids.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)).collect();
    Ok(FileEvent { attr, name: String::new(), ids })
}

/// Ids and names in an EVENT_DESC section.
fn event_desc(body: &[u8]) -> Result<Vec<(Vec<u64>, String)>, Truncated> {
    let mut at = Cursor::new(body);
    let (n, attr_size) = at.halves()?;
    let mut events = Vec::new();
    for _ in 0..n {
        at.bytes(attr_size as usize)?;
        let ids = at.half()?;
        let name = string(&mut at)?;
        events.push((at.words(u64::from(ids))?.iter().collect(), name));
    }
    Ok(events)
}

/// A length and as many bytes, of which those before the first zero count.
fn string(at: &mut Cursor) -> Result<String, Truncated> {
    let len = at.half()? as usize;
    let bytes = at.bytes(len)?;
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(len);
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}
