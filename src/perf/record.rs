//! The records of a perf stream other than samples, both ways.

use super::attr::Attr;
use super::bits::{AttrFlags, SampleType};
use super::buf::{RecordBuf, append_words};
use super::cursor::{Cursor, Truncated};

/// `PERF_RECORD_*`: types of records.
pub mod kind {
    /// A mapping.
    pub const MMAP: u32 = 1;
    /// Records were lost.
    pub const LOST: u32 = 2;
    /// A thread's name.
    pub const COMM: u32 = 3;
    /// A thread ended.
    pub const EXIT: u32 = 4;
    /// Sampling paused: too many samples.
    pub const THROTTLE: u32 = 5;
    /// Sampling goes on.
    pub const UNTHROTTLE: u32 = 6;
    /// A thread started.
    pub const FORK: u32 = 7;
    /// A sample.
    pub const SAMPLE: u32 = 9;
    /// A mapping, with more about the file.
    pub const MMAP2: u32 = 10;
    /// Samples were lost.
    pub const LOST_SAMPLES: u32 = 13;
    /// A task left or entered the CPU.
    pub const SWITCH: u32 = 14;
    /// First type that a tool writes, not the kernel.
    pub const USER_START: u32 = 64;
    /// All records before the last but one of these are in the file.
    pub const FINISHED_ROUND: u32 = 68;
}

/// `PERF_RECORD_MISC_*`: the bits of a record's misc word.
pub mod misc {
    /// Where the event struck.
    pub const CPUMODE_MASK: u16 = 7;
    /// In the kernel.
    pub const KERNEL: u16 = 1;
    /// In the user's program.
    pub const USER: u16 = 2;
    /// MMAP, MMAP2: not executable.
    pub const MMAP_DATA: u16 = 1 << 13;
    /// COMM: an exec did it.
    pub const COMM_EXEC: u16 = 1 << 13;
    /// SWITCH: the task left the CPU.
    pub const SWITCH_OUT: u16 = 1 << 13;
    /// SAMPLE: the address is exact.
    pub const EXACT_IP: u16 = 1 << 14;
    /// MMAP2: has a build id in place of the inode.
    pub const MMAP_BUILD_ID: u16 = 1 << 14;
    /// SWITCH: the task could have gone on.
    pub const SWITCH_OUT_PREEMPT: u16 = 1 << 14;
}

/// `PROT_EXEC`, the same on Alpha as elsewhere.
const PROT_EXEC: u32 = 4;

/// Bytes of a name that a record holds at most, its zero not counted: Linux's `PATH_MAX`.
const NAME_MAX: usize = 4095;

/// What identifies the file behind a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileId {
    /// Device and inode.
    Inode {
        /// Device, major number.
        major: u32,
        /// Device, minor number.
        minor: u32,
        /// Inode.
        inode: u64,
        /// Its generation.
        generation: u64,
    },
    /// The ELF file's build id: this many of the bytes, at most 20.
    BuildId {
        /// How many bytes count.
        len: u8,
        /// The bytes.
        bytes: [u8; 20],
    },
}

impl FileId {
    /// No file.
    pub const NONE: FileId = FileId::Inode { major: 0, minor: 0, inode: 0, generation: 0 };

    /// A build id, cut to 20 bytes as perf cuts it.
    #[must_use]
    pub fn build_id(id: &[u8]) -> FileId {
        let len = id.len().min(20);
        let mut bytes = [0; 20];
        bytes[..len].copy_from_slice(&id[..len]);
        FileId::BuildId { len: len as u8, bytes }
    }

    /// The build id, if it is one.
    #[must_use]
    pub fn as_build_id(&self) -> Option<&[u8]> {
        match self {
            FileId::BuildId { len, bytes } => Some(&bytes[..usize::from(*len).min(20)]),
            FileId::Inode { .. } => None,
        }
    }
}

/// A mapping came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mmap<'a> {
    /// Process.
    pub pid: u32,
    /// Thread that mapped it.
    pub tid: u32,
    /// First address.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// Offset in the file of the first byte.
    pub pgoff: u64,
    /// The file.
    pub file: FileId,
    /// `PROT_*`.
    pub prot: u32,
    /// `MAP_*`.
    pub flags: u32,
    /// Path, or `//anon`, `[heap]`, `[stack]`.
    pub name: &'a [u8],
}

/// A thread started or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Process.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Thread.
    pub tid: u32,
    /// Thread of the parent.
    pub ptid: u32,
    /// When.
    pub time: u64,
}

/// A record that is no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A mapping, as MMAP2; an old MMAP reads as one without a file id.
    Mmap(Mmap<'a>),
    /// Records were lost here.
    Lost {
        /// Event whose they were.
        id: u64,
        /// How many.
        lost: u64,
    },
    /// Samples were lost, here or earlier.
    LostSamples {
        /// How many.
        lost: u64,
    },
    /// A thread has a new name.
    Comm {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// Whether an exec gave it.
        exec: bool,
        /// The name.
        name: &'a [u8],
    },
    /// A thread started.
    Fork(Task),
    /// A thread ended.
    Exit(Task),
    /// Sampling paused.
    Throttle {
        /// When.
        time: u64,
        /// Event.
        id: u64,
        /// Very event.
        stream_id: u64,
    },
    /// Sampling goes on.
    Unthrottle {
        /// When.
        time: u64,
        /// Event.
        id: u64,
        /// Very event.
        stream_id: u64,
    },
    /// The task left or entered the CPU.
    Switch {
        /// It left.
        out: bool,
        /// It could have gone on.
        preempted: bool,
    },
    /// All records before the last but one of these are in the file.
    FinishedRound,
    /// Some other record, skipped.
    Other {
        /// Its type.
        kind: u32,
    },
}

/// What identifies a record that is no sample: written after it with `sample_id_all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SampleId {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// When.
    pub time: u64,
    /// Event; for an inherited one, its parent's.
    pub id: u64,
    /// Very event.
    pub stream_id: u64,
    /// CPU.
    pub cpu: u32,
}

/// The fields of a trailer, in order.
const TRAILER: [SampleType; 6] = [
    SampleType::TID,
    SampleType::TIME,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::IDENTIFIER,
];

/// Fields of the trailer of `attr`'s records; empty without `sample_id_all`.
fn trailer(attr: &Attr) -> impl DoubleEndedIterator<Item = SampleType> {
    let fields = match attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
        true => attr.sample_type,
        false => SampleType::EMPTY,
    };
    TRAILER.into_iter().filter(move |&f| fields.contains(f))
}

impl SampleId {
    fn encode(&self, attr: &Attr, out: &mut RecordBuf) {
        for field in trailer(attr) {
            match field {
                SampleType::TID => out.halves(self.pid, self.tid),
                SampleType::TIME => out.word(self.time),
                SampleType::STREAM_ID => out.word(self.stream_id),
                SampleType::CPU => out.word(u64::from(self.cpu)),
                _ => out.word(self.id),
            }
        }
    }

    /// Reads the trailer at the end of a record's body; what isn't in it is zero.
    pub fn decode(attr: &Attr, body: &[u8]) -> Result<SampleId, Truncated> {
        let bytes = trailer(attr).count() * 8;
        let start = body.len().checked_sub(bytes).ok_or(Truncated)?;
        let (mut at, mut id) = (Cursor::new(&body[start..]), SampleId::default());
        for field in trailer(attr) {
            match field {
                SampleType::TID => (id.pid, id.tid) = at.halves()?,
                SampleType::TIME => id.time = at.word()?,
                SampleType::STREAM_ID => id.stream_id = at.word()?,
                SampleType::CPU => id.cpu = at.halves()?.0,
                _ => id.id = at.word()?,
            }
        }
        Ok(id)
    }
}

impl<'a> Record<'a> {
    /// Encodes the record, with the trailer that `attr` asks for.
    pub fn encode<'b>(&self, attr: &Attr, id: &SampleId, out: &'b mut RecordBuf) -> &'b [u64] {
        let short = |name: &'a [u8]| &name[..name.len().min(NAME_MAX)];
        match *self {
            Record::Mmap(m) => {
                let mut bits = misc::USER;
                if m.prot & PROT_EXEC == 0 {
                    bits |= misc::MMAP_DATA;
                }
                if m.file.as_build_id().is_some() {
                    bits |= misc::MMAP_BUILD_ID;
                }
                out.start(kind::MMAP2, bits);
                out.halves(m.pid, m.tid);
                out.extend(&[m.addr, m.len, m.pgoff]);
                match m.file {
                    FileId::Inode { major, minor, inode, generation } => {
                        out.halves(major, minor);
                        out.extend(&[inode, generation]);
                    }
                    FileId::BuildId { len, bytes } => {
                        out.fill(24, |to| {
                            to[..4].copy_from_slice(&[len, 0, 0, 0]);
                            to[4..24].copy_from_slice(&bytes);
                            24
                        });
                    }
                }
                out.halves(m.prot, m.flags);
                out.string(short(m.name));
            }
            Record::Lost { id, lost } => {
                out.start(kind::LOST, 0);
                out.extend(&[id, lost]);
            }
            Record::LostSamples { lost } => {
                out.start(kind::LOST_SAMPLES, 0);
                out.word(lost);
            }
            Record::Comm { pid, tid, exec, name } => {
                out.start(kind::COMM, if exec { misc::COMM_EXEC } else { 0 });
                out.halves(pid, tid);
                out.string(short(name));
            }
            Record::Fork(t) => encode_task(kind::FORK, t, out),
            Record::Exit(t) => encode_task(kind::EXIT, t, out),
            Record::Throttle { time, id, stream_id } => {
                out.start(kind::THROTTLE, 0);
                out.extend(&[time, id, stream_id]);
            }
            Record::Unthrottle { time, id, stream_id } => {
                out.start(kind::UNTHROTTLE, 0);
                out.extend(&[time, id, stream_id]);
            }
            Record::Switch { out: left, preempted } => {
                let mut bits = 0;
                if left {
                    bits |= misc::SWITCH_OUT;
                }
                if preempted {
                    bits |= misc::SWITCH_OUT_PREEMPT;
                }
                out.start(kind::SWITCH, bits);
            }
            Record::FinishedRound => {
                out.start(kind::FINISHED_ROUND, 0);
                return out.finish();
            }
            Record::Other { kind } => out.start(kind, 0),
        }
        id.encode(attr, out);
        out.finish()
    }

    /// The record's bytes, for a file.
    #[must_use]
    pub fn to_bytes(&self, attr: &Attr, id: &SampleId) -> Vec<u8> {
        let mut buf = RecordBuf::with_capacity(NAME_MAX + 256);
        let mut bytes = Vec::new();
        append_words(&mut bytes, self.encode(attr, id, &mut buf));
        bytes
    }

    /// Decodes a record that isn't a sample from its type, misc word and body.
    pub fn decode(kind: u32, misc: u16, body: &'a [u8]) -> Result<Record<'a>, Truncated> {
        let mut at = Cursor::new(body);
        Ok(match kind {
            kind::MMAP => {
                let (pid, tid) = at.halves()?;
                Record::Mmap(Mmap {
                    pid,
                    tid,
                    addr: at.word()?,
                    len: at.word()?,
                    pgoff: at.word()?,
                    file: FileId::NONE,
                    prot: if misc & misc::MMAP_DATA == 0 { PROT_EXEC } else { 0 },
                    flags: 0,
                    name: at.string()?,
                })
            }
            kind::MMAP2 => {
                let (pid, tid) = at.halves()?;
                let (addr, len, pgoff) = (at.word()?, at.word()?, at.word()?);
                let file = if misc & misc::MMAP_BUILD_ID != 0 {
                    let id = at.bytes(24)?;
                    FileId::build_id(&id[4..4 + usize::from(id[0]).min(20)])
                } else {
                    let (major, minor) = at.halves()?;
                    FileId::Inode { major, minor, inode: at.word()?, generation: at.word()? }
                };
                let (prot, flags) = at.halves()?;
                Record::Mmap(Mmap {
                    pid,
                    tid,
                    addr,
                    len,
                    pgoff,
                    file,
                    prot,
                    flags,
                    name: at.string()?,
                })
            }
            kind::LOST => Record::Lost { id: at.word()?, lost: at.word()? },
            kind::LOST_SAMPLES => Record::LostSamples { lost: at.word()? },
            kind::COMM => {
                let (pid, tid) = at.halves()?;
                Record::Comm { pid, tid, exec: misc & misc::COMM_EXEC != 0, name: at.string()? }
            }
            kind::FORK => Record::Fork(decode_task(&mut at)?),
            kind::EXIT => Record::Exit(decode_task(&mut at)?),
            kind::THROTTLE => {
                Record::Throttle { time: at.word()?, id: at.word()?, stream_id: at.word()? }
            }
            kind::UNTHROTTLE => {
                Record::Unthrottle { time: at.word()?, id: at.word()?, stream_id: at.word()? }
            }
            kind::SWITCH => Record::Switch {
                out: misc & misc::SWITCH_OUT != 0,
                preempted: misc & misc::SWITCH_OUT_PREEMPT != 0,
            },
            kind::FINISHED_ROUND => Record::FinishedRound,
            other => Record::Other { kind: other },
        })
    }
}

fn encode_task(kind: u32, t: Task, out: &mut RecordBuf) {
    out.start(kind, 0);
    out.halves(t.pid, t.ppid);
    out.halves(t.tid, t.ptid);
    out.word(t.time);
}

fn decode_task(at: &mut Cursor) -> Result<Task, Truncated> {
    let ((pid, ppid), (tid, ptid)) = (at.halves()?, at.halves()?);
    Ok(Task { pid, ppid, tid, ptid, time: at.word()? })
}
