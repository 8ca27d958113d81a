//! Samples, both ways: the fields in the order in which Linux writes them.

use axperf_isa::{Reg, Regs};

use super::attr::Attr;
use super::bits::{ReadFormat, SampleType};
use super::buf::{MAX_RECORD, RecordBuf};
use super::cursor::{Cursor, Truncated, Words};
use super::frame::{Frame, Stack, TASK_SIZE};
use super::record::{kind, misc};
use super::regs::{CopyPlan, RegMask};

/// What stands before the kernel's addresses in a call chain.
pub const CONTEXT_KERNEL: u64 = -128_i64 as u64;

/// What stands before the user's addresses in a call chain.
pub const CONTEXT_USER: u64 = -512_i64 as u64;

/// Words from here on are [contexts](CONTEXT_USER), not addresses.
pub const CONTEXT_MAX: u64 = -4095_i64 as u64;

/// `PERF_SAMPLE_REGS_ABI_NONE`: no registers.
const ABI_NONE: u64 = 0;

/// `PERF_SAMPLE_REGS_ABI_64`.
const ABI_64: u64 = 2;

/// `PERF_MEM_NA`: nothing is known about where data came from.
const DATA_SRC_NONE: u64 = 0x1e_0508_0021;

/// What a sample of one event is made by: its attributes, compiled.
#[derive(Debug)]
pub(crate) struct Format {
    attr: Attr,
    user: CopyPlan,
    intr: CopyPlan,
}

/// What a sample tells beside its frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Values<'a> {
    pub id: u64,
    pub stream_id: u64,
    pub period: u64,
    /// The counter.
    pub counted: Counted,
    /// Those of its group.
    pub group: &'a [Counted],
    pub time_enabled: u64,
    pub time_running: u64,
    pub callchain: &'a [u64],
}

/// What a read of a counter gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Events.
    pub value: u64,
    /// The event's id.
    pub id: u64,
    /// Samples lost.
    pub lost: u64,
}

/// What `read` gives of a counter, in this format: `group` holds the whole group's, the leader's
/// first, and counts only where the format asks for a group.
#[must_use]
pub fn read_words(
    format: ReadFormat,
    counted: Counted,
    group: &[Counted],
    time_enabled: u64,
    time_running: u64,
) -> Vec<u64> {
    let has = |bit| format.contains(bit);
    let of_group = has(ReadFormat::GROUP);
    let mut words = vec![if of_group { group.len() as u64 } else { counted.value }];
    words.extend(has(ReadFormat::TOTAL_TIME_ENABLED).then_some(time_enabled));
    words.extend(has(ReadFormat::TOTAL_TIME_RUNNING).then_some(time_running));
    for one in if of_group { group } else { std::slice::from_ref(&counted) } {
        words.extend(of_group.then_some(one.value));
        words.extend(has(ReadFormat::ID).then_some(one.id));
        words.extend(has(ReadFormat::LOST).then_some(one.lost));
    }
    words
}

impl Format {
    pub(crate) fn new(attr: Attr) -> Format {
        let plan = |field, mask| {
            CopyPlan::new(if attr.sample_type.contains(field) { mask } else { RegMask::EMPTY })
        };
        Format {
            user: plan(SampleType::REGS_USER, attr.sample_regs_user),
            intr: plan(SampleType::REGS_INTR, attr.sample_regs_intr),
            attr,
        }
    }

    pub(crate) fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Writes a sample and gives its words.
    pub(crate) fn encode<'b>(
        &self,
        frame: &Frame,
        values: &Values,
        stack: &dyn Stack,
        out: &'b mut RecordBuf,
    ) -> &'b [u64] {
        let fields = self.attr.sample_type;
        let has = |field| fields.contains(field);
        let mode = if frame.kernel.is_some() { misc::KERNEL } else { misc::USER };
        let exact = if self.attr.precise_ip() > 0 { misc::EXACT_IP } else { 0 };
        out.start(kind::SAMPLE, mode | exact);
        if has(SampleType::IDENTIFIER) {
            out.word(values.id);
        }
        if has(SampleType::IP) {
            out.word(frame.ip());
        }
        if has(SampleType::TID) {
            out.halves(frame.pid, frame.tid);
        }
        if has(SampleType::TIME) {
            out.word(frame.time);
        }
        if has(SampleType::ADDR) {
            out.word(frame.addr);
        }
        if has(SampleType::ID) {
            out.word(values.id);
        }
        if has(SampleType::STREAM_ID) {
            out.word(values.stream_id);
        }
        if has(SampleType::CPU) {
            out.halves(frame.cpu, 0);
        }
        if has(SampleType::PERIOD) {
            out.word(values.period);
        }
        if has(SampleType::READ) {
            let (enabled, running) = (values.time_enabled, values.time_running);
            let format = self.attr.read_format;
            out.extend(&read_words(format, values.counted, values.group, enabled, running));
        }
        if has(SampleType::CALLCHAIN) {
            out.word(values.callchain.len() as u64);
            out.extend(values.callchain);
        }
        if has(SampleType::RAW) {
            // No event here has raw data: its size is that of the padding.
            out.word(4);
        }
        if has(SampleType::REGS_USER) {
            encode_regs(&self.user, frame.user, out);
        }
        if has(SampleType::STACK_USER) {
            self.encode_stack(frame, stack, out);
        }
        for (field, word) in [
            (SampleType::WEIGHT, 0),
            (SampleType::WEIGHT_STRUCT, 0),
            (SampleType::DATA_SRC, DATA_SRC_NONE),
            (SampleType::TRANSACTION, 0),
        ] {
            if has(field) {
                out.word(word);
            }
        }
        if has(SampleType::REGS_INTR) {
            encode_regs(&self.intr, frame.intr(), out);
        }
        // Physical address, control group, page sizes aren't known here; an AUX piece is empty.
        out.extend(
            &[0; LAST_FIELDS.len() as usize][..fields.intersection(LAST_FIELDS).len() as usize],
        );
        out.finish()
    }

    /// Bytes of the fields after the user stack, for which room must stay: Linux forgets them, and
    /// such a record's size wraps.
    fn bytes_after_stack(&self, frame: &Frame) -> usize {
        let words = self.attr.sample_type.intersection(AFTER_STACK).len() as usize;
        let regs = if frame.intr().is_some() { self.intr.mask().len() } else { 0 };
        (words + regs) * 8
    }

    fn encode_stack(&self, frame: &Frame, stack: &dyn Stack, out: &mut RecordBuf) {
        let sp = frame.user.map_or(0, |r| r.get(Reg::Sp));
        let room = TASK_SIZE.checked_sub(sp).filter(|_| sp != 0).unwrap_or(0).min(65535) as usize;
        let asked = self.attr.sample_stack_user as usize;
        let fits = MAX_RECORD
            .saturating_sub(out.bytes_so_far() + STACK_SIZES + self.bytes_after_stack(frame));
        let size = asked.min(room).next_multiple_of(8).min(fits);
        out.word(size as u64);
        if size > 0 {
            let copied = out.fill(size, |buf| stack.copy(sp, buf));
            out.word(copied as u64);
        }
    }
}

/// The size before a stack copy and the one after it.
const STACK_SIZES: usize = 16;

/// Fields after the registers where the event struck: a zero word each.
const LAST_FIELDS: SampleType = SampleType::PHYS_ADDR
    .union(SampleType::CGROUP)
    .union(SampleType::DATA_PAGE_SIZE)
    .union(SampleType::CODE_PAGE_SIZE)
    .union(SampleType::AUX);

/// Fields after the user stack.
const AFTER_STACK: SampleType = LAST_FIELDS
    .union(SampleType::WEIGHT)
    .union(SampleType::WEIGHT_STRUCT)
    .union(SampleType::DATA_SRC)
    .union(SampleType::TRANSACTION)
    .union(SampleType::REGS_INTR);

fn encode_regs(plan: &CopyPlan, regs: Option<&Regs>, out: &mut RecordBuf) {
    match regs {
        Some(regs) => {
            out.word(ABI_64);
            out.regs(plan, regs);
        }
        None => out.word(ABI_NONE),
    }
}

/// Registers in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRegs<'a> {
    mask: RegMask,
    words: Words<'a>,
}

impl SampleRegs<'_> {
    /// Which registers there are.
    #[must_use]
    pub fn mask(&self) -> RegMask {
        self.mask
    }

    /// The value of a register, if it is there.
    #[must_use]
    pub fn get(&self, reg: Reg) -> Option<u64> {
        self.words.get(self.mask.position(reg)?)
    }

    /// All registers that are there, in the order of perf's index.
    pub fn iter(&self) -> impl Iterator<Item = (Reg, u64)> {
        self.mask.regs().zip(self.words.iter())
    }
}

/// A sample as it stands in a file or a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// Whether the event struck in the kernel.
    pub kernel: bool,
    /// Event.
    pub id: Option<u64>,
    /// Address of the next instruction.
    pub ip: Option<u64>,
    /// Process and thread.
    pub task: Option<(u32, u32)>,
    /// When, in nanoseconds.
    pub time: Option<u64>,
    /// Address that belongs to the event.
    pub addr: Option<u64>,
    /// Very event.
    pub stream_id: Option<u64>,
    /// CPU.
    pub cpu: Option<u32>,
    /// Events that the sample stands for.
    pub period: Option<u64>,
    /// The counter's value.
    pub count: Option<u64>,
    /// Addresses, innermost first, with [contexts](CONTEXT_USER) among them.
    pub callchain: Option<Words<'a>>,
    /// User registers.
    pub user_regs: Option<SampleRegs<'a>>,
    /// The part of the user stack copy that holds data.
    pub user_stack: Option<&'a [u8]>,
    /// Registers where the event struck.
    pub intr_regs: Option<SampleRegs<'a>>,
}

impl<'a> Sample<'a> {
    /// Decodes a sample's body. `attr` is that of its event.
    pub fn decode(attr: &Attr, misc: u16, body: &'a [u8]) -> Result<Sample<'a>, Truncated> {
        let has = |field| attr.sample_type.contains(field);
        let mut at = Cursor::new(body);
        let mut sample =
            Sample { kernel: misc & misc::CPUMODE_MASK == misc::KERNEL, ..Sample::default() };
        if has(SampleType::IDENTIFIER) {
            sample.id = Some(at.word()?);
        }
        if has(SampleType::IP) {
            sample.ip = Some(at.word()?);
        }
        if has(SampleType::TID) {
            sample.task = Some(at.halves()?);
        }
        if has(SampleType::TIME) {
            sample.time = Some(at.word()?);
        }
        if has(SampleType::ADDR) {
            sample.addr = Some(at.word()?);
        }
        if has(SampleType::ID) {
            sample.id = Some(at.word()?);
        }
        if has(SampleType::STREAM_ID) {
            sample.stream_id = Some(at.word()?);
        }
        if has(SampleType::CPU) {
            sample.cpu = Some(at.halves()?.0);
        }
        if has(SampleType::PERIOD) {
            sample.period = Some(at.word()?);
        }
        if has(SampleType::READ) {
            sample.count = decode_read(attr.read_format, &mut at)?;
        }
        if has(SampleType::CALLCHAIN) {
            let words = at.word()?;
            sample.callchain = Some(at.words(words)?);
        }
        if has(SampleType::RAW) {
            let size = at.half()? as usize;
            at.bytes(size)?;
        }
        if has(SampleType::BRANCH_STACK) {
            let entries = at.word()?;
            if attr.branch_sample_type & BRANCH_HW_INDEX != 0 {
                at.word()?;
            }
            at.words(entries.checked_mul(3).ok_or(Truncated)?)?;
        }
        if has(SampleType::REGS_USER) {
            sample.user_regs = decode_regs(attr.sample_regs_user, &mut at)?;
        }
        if has(SampleType::STACK_USER) {
            let size = usize::try_from(at.word()?).map_err(|_| Truncated)?;
            let copy = at.bytes(size)?;
            let valid = if size > 0 { at.word()? } else { 0 };
            sample.user_stack = Some(&copy[..usize::try_from(valid).unwrap_or(size).min(size)]);
        }
        for field in [
            SampleType::WEIGHT,
            SampleType::WEIGHT_STRUCT,
            SampleType::DATA_SRC,
            SampleType::TRANSACTION,
        ] {
            if has(field) {
                at.word()?;
            }
        }
        if has(SampleType::REGS_INTR) {
            sample.intr_regs = decode_regs(attr.sample_regs_intr, &mut at)?;
        }
        Ok(sample)
    }
}

/// `PERF_SAMPLE_BRANCH_HW_INDEX`.
const BRANCH_HW_INDEX: u64 = 1 << 17;

fn decode_regs<'a>(
    mask: RegMask,
    at: &mut Cursor<'a>,
) -> Result<Option<SampleRegs<'a>>, Truncated> {
    match at.word()? {
        ABI_NONE => Ok(None),
        _ => Ok(Some(SampleRegs { mask, words: at.words(mask.len() as u64)? })),
    }
}

/// The counter's value; None where the read is of a group.
fn decode_read(format: ReadFormat, at: &mut Cursor) -> Result<Option<u64>, Truncated> {
    let first = at.word()?;
    let times =
        format.intersection(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
    let marks = format.intersection(ReadFormat::ID | ReadFormat::LOST);
    at.words(u64::from(times.len()))?;
    if format.contains(ReadFormat::GROUP) {
        at.words(first.checked_mul(u64::from(1 + marks.len())).ok_or(Truncated)?)?;
        return Ok(None);
    }
    at.words(u64::from(marks.len()))?;
    Ok(Some(first))
}
