//! Linux perf's sampling: attributes, samples, records and the ring buffer, byte for byte.
//!
//! This module knows registers and frames and nothing of a machine. [`Attr`] is
//! `struct perf_event_attr`; a [`Sampler`] counts and takes samples of [`Frame`]s; a [`Ring`] holds
//! the records as perf's mmap page does; [`Record`] and [`Sample`] decode them again.
//!
//! The register ABI is that of "alpha: add HAVE_PERF_REGS and HAVE_PERF_USER_STACK_DUMP support":
//! see [`RegMask`].

mod attr;
mod bits;
mod buf;
mod chain;
mod cursor;
mod event;
mod frame;
mod frequency;
mod record;
mod regs;
mod ring;
mod sample;
mod sampler;
mod spec;
#[cfg(test)]
mod tests;
mod throttle;

pub use attr::{
    ATTR_SIZE, ATTR_SIZE_MAX, ATTR_SIZE_VER0, Attr, AttrError, DEFAULT_MAX_STACK, MAX_SAMPLE_RATE,
};
pub use attr::{Errno, RegAbi};
pub use bits::{AttrFlags, ReadFormat, SampleType};
pub use buf::{MAX_RECORD, RecordBuf, append_words};
pub use chain::{ChainEnd, Stop, Unwind, UnwindRegs};
pub use cursor::{Truncated, Words};
pub use event::{Event, EventError, Source};
pub use frame::{Frame, NoStack, Stack, TASK_SIZE};
pub use record::{FileId, Mmap, Record, SampleId, Task, kind, misc};
pub use regs::{COPY_SLACK, CopyPlan, RegMask, UnknownReg};
pub use ring::{ALPHA_PAGE, Full, Pushed, Ring, Wakeup};
pub use sample::{
    CONTEXT_KERNEL, CONTEXT_MAX, CONTEXT_USER, Counted, Sample, SampleRegs, read_words,
};
pub use sampler::{Sampler, SamplerStats};
pub use spec::{EventList, EventSpec};

pub(crate) use cursor::Cursor;
