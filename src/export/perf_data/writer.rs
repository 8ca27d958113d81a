//! Writing perf.data while a program runs.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::SECTION_SIZE;
use super::features::lay_out;
use super::{BuildId, EventIndex, FILE_ATTR_SIZE, Features, FileEvent, HEADER_SIZE, MAGIC};
use crate::error::{Error, Result};
use crate::perf::{Record, SampleId, Truncated, kind};

/// A perf.data file that is being written.
///
/// Header and events stand at the front from the start; [`append`](Self::append) adds records, and
/// may be called by processes forked after the file was made, which share its position;
/// [`finish`](Self::finish), by one of them and last, adds the descriptions and fills in the
/// header. Until then the header says that there are no records, as perf's does.
#[derive(Debug)]
pub struct PerfDataWriter {
    file: File,
    path: PathBuf,
    events: Vec<FileEvent>,
    data_start: u64,
}

/// What a finished file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataSummary {
    /// Bytes of records.
    pub bytes: u64,
    /// Samples.
    pub samples: u64,
    /// Samples lost while recording, by the records that tell of it.
    pub lost: u64,
    /// Time of the first sample and of the last.
    pub times: Option<(u64, u64)>,
    /// Where the file was found damaged: a process that was killed while it wrote leaves a part of
    /// a record, and what comes after it can't be read and is left out.
    pub damaged_at: Option<u64>,
}

impl PerfDataWriter {
    /// Makes the file, or empties it if it is there.
    ///
    /// # Errors
    /// It can't be made or written.
    pub fn create(path: impl Into<PathBuf>, events: Vec<FileEvent>) -> Result<PerfDataWriter> {
        let path = path.into();
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|e| Error::file(&path, e))?;
        PerfDataWriter::with_file(file, path, events)
    }

    /// Writes to a file that is open for reading and writing, empty, and not in append mode;
    /// `path` is for messages.
    ///
    /// # Errors
    /// It can't be written.
    pub fn with_file(file: File, path: PathBuf, events: Vec<FileEvent>) -> Result<PerfDataWriter> {
        if let Some(event) = events.iter().find(|e| e.attr.to_bytes_of(FILE_ATTR_SIZE).is_none()) {
            let why = format!("the attributes of event {} need a newer file format", event.name);
            return Err(Error::format(path, why));
        }
        let mut front = vec![0; HEADER_SIZE as usize];
        let ids_size = |e: &FileEvent| (e.ids.len() * 8) as u64;
        let mut ids_at = HEADER_SIZE;
        for event in &events {
            front.extend(event.ids.iter().flat_map(|id| id.to_le_bytes()));
        }
        for event in &events {
            front.extend(event.attr_bytes());
            front.extend(ids_at.to_le_bytes());
            front.extend(ids_size(event).to_le_bytes());
            ids_at += ids_size(event);
        }
        let writer = PerfDataWriter { file, path, events, data_start: front.len() as u64 };
        front[..HEADER_SIZE as usize].copy_from_slice(&writer.header(0, [0; 4]));
        writer.append(&front)?;
        Ok(writer)
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

    /// Adds records: whole ones, in one write, so that those of several processes don't mix.
    ///
    /// # Errors
    /// They can't be written; the file may then end in a part of them.
    pub fn append(&self, records: &[u8]) -> Result<()> {
        (&self.file).write_all(records).map_err(|e| Error::file(&self.path, e))
    }

    /// Ends the file and says what is in it. What other processes append from now on is no part of
    /// it.
    ///
    /// # Errors
    /// It can't be written.
    pub fn finish(self, features: &Features) -> Result<DataSummary> {
        let io = |e| Error::file(&self.path, e);
        let mut found = Found::default();
        let seen = self.scan(self.data_start, false, &mut found)?;
        if found.summary.lost > 0 {
            self.append_total(&found.summary)?;
        }
        // Room for the descriptions, whose size is known, though not the place: somebody may
        // append records at the same time. Where the zeros are, the records end.
        let known = found.build_ids.len();
        let lay_out_at = |found: &Found, at| {
            let times = found.summary.times.unwrap_or_default();
            lay_out(&features.sections(&self.events, &found.build_ids[..known], times), at)
        };
        self.append(&vec![0; lay_out_at(&found, 0).1.len()])?;
        let end = self.scan(seen, true, &mut found)?;
        let (bits, bytes) = lay_out_at(&found, end);
        self.file.write_all_at(&bytes, end).map_err(io)?;
        found.summary.bytes = end - self.data_start;
        self.file.write_all_at(&self.header(found.summary.bytes, bits), 0).map_err(io)?;
        Ok(found.summary)
    }

    /// Adds the record that perf report's first lines count lost samples by.
    fn append_total(&self, summary: &DataSummary) -> Result<()> {
        let Some(event) = self.events.first() else { return Ok(()) };
        let id = SampleId {
            id: event.ids.first().copied().unwrap_or(0),
            time: summary.times.map_or(0, |(_, last)| last),
            ..SampleId::default()
        };
        self.append(&Record::LostSamples { lost: summary.lost }.to_bytes(&event.attr, &id))
    }

    fn header(&self, data_size: u64, features: [u64; 4]) -> Vec<u8> {
        let ids: usize = self.events.iter().map(|e| e.ids.len() * 8).sum();
        let entry = FILE_ATTR_SIZE + SECTION_SIZE;
        let attrs_at = HEADER_SIZE + ids as u64;
        let attrs_size = (self.events.len() * entry) as u64;
        let mut out = MAGIC.to_vec();
        let words = [HEADER_SIZE, entry as u64, attrs_at, attrs_size, self.data_start, data_size];
        out.extend(words.iter().chain(&[0, 0]).chain(&features).flat_map(|w| w.to_le_bytes()));
        out
    }

    /// Goes through the records from `at` on: times and counts of samples, build ids of mappings.
    /// Gives the place where they end: at the end of the file, before zeros if these shall end
    /// them, or where there is something that is no record.
    fn scan(&self, mut at: u64, zeros_end: bool, found: &mut Found) -> Result<u64> {
        let io = |e| Error::file(&self.path, e);
        let index = EventIndex::new(&self.events).map_err(|e| Error::format(&self.path, e))?;
        // A handle of its own: reading through the writers' would move the position they share.
        let mut file = File::open(&self.path).map_err(io)?;
        let end = file.metadata().map_err(io)?.len();
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut input = BufReader::with_capacity(1 << 20, file);
        let mut body = Vec::new();
        while at < end {
            let mut header = [0; 8];
            input.read_exact(&mut header).map_err(io)?;
            let header = u64::from_le_bytes(header);
            let (kind, misc, size) = (header as u32, (header >> 32) as u16, header >> 48);
            if header == 0 && zeros_end {
                break;
            }
            if size < 8 || at + size > end {
                found.summary.damaged_at = Some(at);
                break;
            }
            body.resize(size as usize - 8, 0);
            input.read_exact(&mut body).map_err(io)?;
            if found.note(&index, kind, misc, &body).is_err() {
                found.summary.damaged_at = Some(at);
                break;
            }
            at += size;
        }
        Ok(at)
    }
}

/// What was found among the records.
#[derive(Debug, Default)]
struct Found {
    summary: DataSummary,
    build_ids: Vec<BuildId>,
    seen: HashSet<BuildId>,
}

impl Found {
    fn note(
        &mut self,
        index: &EventIndex,
        kind: u32,
        misc: u16,
        body: &[u8],
    ) -> Result<(), Truncated> {
        if kind == kind::SAMPLE {
            self.summary.samples += 1;
            if let Some(time) = index.locate(kind, body).1 {
                let (first, last) = self.summary.times.unwrap_or((time, time));
                self.summary.times = Some((first.min(time), last.max(time)));
            }
            return Ok(());
        }
        match Record::decode(kind, misc, body)? {
            Record::Lost { lost, .. } => self.summary.lost += lost,
            Record::Mmap(m) => {
                if let Some(id) = m.file.as_build_id() {
                    let id = BuildId { path: m.name.to_vec(), id: id.to_vec() };
                    if self.seen.insert(id.clone()) {
                        self.build_ids.push(id);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
