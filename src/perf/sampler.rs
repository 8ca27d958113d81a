//! A counter that takes samples.

use std::sync::Arc;

use axperf_isa::Reg;

use super::attr::{Attr, AttrError, RegAbi};
use super::bits::{AttrFlags, ReadFormat, SampleType};
use super::buf::{MAX_RECORD, RecordBuf};
use super::chain::{CHAIN_REGS, Stop, Unwind, UnwindRegs};
use super::event::{Event, Source};
use super::frame::{Frame, Stack};
use super::frequency::Frequency;
use super::record::{Record, SampleId};
use super::regs::RegMask;
use super::ring::{Pushed, Ring};
use super::sample::{CONTEXT_KERNEL, CONTEXT_USER, Counted, Format, Values};
use super::throttle::{Throttle, Verdict};

/// What a sampler did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplerStats {
    /// Events counted.
    pub events: u64,
    /// Samples taken, those lost included.
    pub samples: u64,
    /// Samples that found no room in the ring.
    pub lost: u64,
    /// How call chains ended, in the order of [`Stop::ALL`].
    pub chains: [u64; Stop::ALL.len()],
    /// Call chains with a frame that was [guessed](super::ChainEnd::guessed).
    pub guessed: u64,
}

/// A set of perf attributes with its counter: says when a sample is due, and takes it.
///
/// Sample k of period p is due when k * p events are done. Whoever counts asks for
/// [`left`](Sampler::left), counts no further than that, tells it to
/// [`advance`](Sampler::advance), and calls [`take`](Sampler::take) when a sample
/// [is due](Sampler::is_due).
pub struct Sampler {
    format: Format,
    event: Event,
    id: u64,
    stream_id: u64,
    ring: Arc<Ring>,
    buf: RecordBuf,
    period: u64,
    /// Events until the next sample; 0 when it is due.
    left: u64,
    /// Events counted beyond a sample that was due and isn't taken yet.
    over: u64,
    enabled_at: u64,
    /// What a read of the counter gives beyond the events counted here.
    base: u64,
    /// Before this time no sample is taken.
    starts_at: u64,
    /// The period follows a frequency.
    frequency: Option<Frequency>,
    /// Samples until it stops; None for never.
    remaining: Option<u64>,
    throttle: Option<Throttle>,
    /// Id of the event that leads its group.
    group: u64,
    /// What a read of the group gives, as of the last [`set_group`](Sampler::set_group).
    members: Vec<Counted>,
    unwinder: Option<Box<dyn Unwind + Send>>,
    chain: Vec<u64>,
    stats: SamplerStats,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler")
            .field("attr", self.attr())
            .field("id", &self.id)
            .field("left", &self.left)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

/// Most addresses in a call chain whatever the attributes say.
const MAX_CHAIN: usize = 1024;

impl Sampler {
    /// A sampler that writes to `ring`. `id` is the event's, any number that is unique in a file.
    ///
    /// # Errors
    /// Linux would refuse the attributes, or axperf can't do what they ask for.
    pub fn new(attr: Attr, abi: RegAbi, id: u64, ring: Arc<Ring>) -> Result<Sampler, AttrError> {
        attr.check(abi)?;
        let event = attr.event()?;
        Ok(Sampler::of(attr, event, id, id, ring))
    }

    fn of(attr: Attr, event: Event, id: u64, stream_id: u64, ring: Arc<Ring>) -> Sampler {
        let bytes = largest_sample(&attr);
        let frequency = Frequency::of(&attr, event);
        let period = match &frequency {
            Some(frequency) => frequency.first_period(),
            None if counts_each(&attr, event) => 1,
            None => attr.sample_period,
        };
        let period = if period == 0 { u64::MAX } else { period };
        Sampler {
            format: Format::new(attr),
            event,
            id,
            stream_id,
            ring,
            buf: RecordBuf::with_capacity(bytes),
            period,
            left: period,
            over: 0,
            enabled_at: 0,
            base: 0,
            starts_at: 0,
            frequency,
            remaining: None,
            throttle: None,
            group: id,
            members: Vec::new(),
            unwinder: None,
            chain: Vec::new(),
            stats: SamplerStats::default(),
        }
    }

    /// A sampler of the same event for a child: its own counter from zero, the parent's id.
    #[must_use]
    pub fn inherited(&self, stream_id: u64, ring: Arc<Ring>) -> Sampler {
        let attr = self.attr().clone();
        Sampler {
            group: self.group,
            enabled_at: self.enabled_at,
            starts_at: self.starts_at,
            throttle: self.throttle.clone(),
            period: self.period,
            left: self.period,
            ..Sampler::of(attr, self.event, self.id, stream_id, ring)
        }
    }

    /// Sets who follows calls. Without one, call chains hold no addresses, as on Linux/alpha.
    #[must_use]
    pub fn with_unwinder(mut self, unwinder: Box<dyn Unwind + Send>) -> Sampler {
        self.unwinder = Some(unwinder);
        self
    }

    /// Sets the time from which a read of the counter says it was enabled.
    #[must_use]
    pub fn enabled_at(mut self, time: u64) -> Sampler {
        self.set_enabled_at(time);
        self
    }

    /// Sets the time from which a read of the counter says it was enabled.
    pub fn set_enabled_at(&mut self, time: u64) {
        self.enabled_at = time;
    }

    /// Sets the time before which no sample is taken; events count all the same.
    #[must_use]
    pub fn starting_at(mut self, time: u64) -> Sampler {
        self.starts_at = time;
        self
    }

    /// Takes no more samples than so many a second, as Linux does: those beyond it are left out until
    /// the next tick of its clock, and records say so. Without, as many are taken as are due.
    #[must_use]
    pub fn throttled(mut self, rate: u64) -> Sampler {
        self.throttle = Some(Throttle::new(rate));
        self
    }

    /// Makes it a member of the group that the event with this id leads.
    #[must_use]
    pub fn in_group(mut self, leader: u64) -> Sampler {
        self.group = leader;
        self
    }

    /// The event.
    #[must_use]
    pub fn event(&self) -> Event {
        self.event
    }

    /// Id of the event that leads its group: its own, if nothing else was said.
    #[must_use]
    pub fn group(&self) -> u64 {
        self.group
    }

    /// Whether its samples hold the values of its whole group.
    #[must_use]
    pub fn reads_group(&self) -> bool {
        let attr = self.attr();
        attr.sample_type.contains(SampleType::READ) && attr.read_format.contains(ReadFormat::GROUP)
    }

    /// Sets what its next sample holds of its group: the leader's values first.
    pub fn set_group(&mut self, members: impl IntoIterator<Item = Counted>) {
        self.members.clear();
        self.members.extend(members);
    }

    /// What a read of the counter gives.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let value = self.base.wrapping_add(self.stats.events);
        Counted { value, id: self.id, lost: self.stats.lost }
    }

    /// Sets what a read of the counter gives now.
    pub fn set_count(&mut self, value: u64) {
        self.base = value.wrapping_sub(self.stats.events);
    }

    /// Samples until it stops: then none is due any more, and [`has_stopped`](Self::has_stopped)
    /// says so. None for never.
    pub fn set_remaining(&mut self, samples: Option<u64>) {
        self.remaining = samples;
    }

    /// Samples until it stops.
    #[must_use]
    pub fn remaining(&self) -> Option<u64> {
        self.remaining
    }

    /// Whether it has taken as many samples as it was to take.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.remaining == Some(0)
    }

    /// The attributes.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        self.format.attr()
    }

    /// The event's id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// Sets the ring.
    pub fn set_ring(&mut self, ring: Arc<Ring>) {
        self.ring = ring;
    }

    /// What it did so far.
    #[must_use]
    pub fn stats(&self) -> SamplerStats {
        self.stats
    }

    /// The registers that must be exact when a sample is taken.
    #[must_use]
    pub fn registers(&self) -> RegMask {
        let attr = self.attr();
        let has = |field| attr.sample_type.contains(field);
        let mut mask = RegMask::of(&[Reg::Pc]);
        if has(SampleType::REGS_USER) {
            mask = mask.union(attr.sample_regs_user);
        }
        if has(SampleType::REGS_INTR) {
            mask = mask.union(attr.sample_regs_intr);
        }
        if has(SampleType::STACK_USER) {
            mask = mask.union(RegMask::of(&[Reg::Sp]));
        }
        if has(SampleType::CALLCHAIN) && self.unwinder.is_some() {
            mask = mask.union(CHAIN_REGS);
        }
        mask
    }

    /// Events between samples; `u64::MAX` if it only counts.
    #[must_use]
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Sets the period, and starts a new one; 0 only counts. With a frequency, this is the period
    /// until the next sample.
    pub fn set_period(&mut self, period: u64) {
        self.period = if period == 0 { u64::MAX } else { period };
        (self.left, self.over) = (self.period, 0);
    }

    /// Events until the next sample; 0 when it is due.
    #[must_use]
    #[inline]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Counts `n` events. More than are [left](Sampler::left) count towards the sample after the
    /// one that is due; when that too is passed, one sample stands for both.
    #[inline]
    pub fn advance(&mut self, n: u64) {
        self.stats.events = self.stats.events.wrapping_add(n);
        if let Some(left) = self.left.checked_sub(n) {
            self.left = left;
        } else {
            self.over = self.over.saturating_add(n - self.left);
            self.left = 0;
        }
    }

    /// Whether a sample is due.
    #[must_use]
    #[inline]
    pub fn is_due(&self) -> bool {
        self.left == 0
    }

    /// Whether the attributes leave out what happens in the mode of this frame.
    #[must_use]
    pub fn excludes(&self, frame: &Frame) -> bool {
        let mode = match frame.kernel {
            Some(_) => AttrFlags::EXCLUDE_KERNEL,
            None => AttrFlags::EXCLUDE_USER,
        };
        self.attr().flags.contains(mode)
    }

    /// Takes a sample and starts the next period.
    pub fn take(&mut self, frame: &Frame, stack: &dyn Stack) -> Pushed {
        let period = self.period;
        if let Some(frequency) = &mut self.frequency {
            self.period = frequency.next_period(frame.time, self.stats.events, period);
        }
        self.left = self.period - self.over % self.period;
        self.over = 0;
        if self.excludes(frame) || self.has_stopped() || frame.time < self.starts_at {
            return Pushed::Stored;
        }
        if let Some(throttle) = &mut self.throttle {
            let (time, id, stream_id) = (frame.time, self.id, self.stream_id);
            let record = match throttle.sample(time) {
                Verdict::Take => None,
                Verdict::Resume => Some(Record::Unthrottle { time, id, stream_id }),
                Verdict::Last => Some(Record::Throttle { time, id, stream_id }),
                Verdict::Skip => return Pushed::Stored,
            };
            if let Some(record) = record {
                let (pid, tid, cpu) = (frame.pid, frame.tid, frame.cpu);
                self.record(&record, SampleId { pid, tid, time, id, stream_id, cpu });
            }
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= 1;
        }
        let attr = self.format.attr();
        self.stats.samples += 1;
        self.chain.clear();
        if attr.sample_type.contains(SampleType::CALLCHAIN) {
            self.collect_chain(frame, stack);
        }
        let time = frame.time.saturating_sub(self.enabled_at);
        let values = Values {
            id: self.id,
            stream_id: self.stream_id,
            period,
            counted: self.counted(),
            group: &self.members,
            time_enabled: time,
            time_running: time,
            callchain: &self.chain,
        };
        let record = self.format.encode(frame, &values, stack, &mut self.buf);
        let id = SampleId {
            pid: frame.pid,
            tid: frame.tid,
            time: frame.time,
            id: self.id,
            stream_id: self.stream_id,
            cpu: frame.cpu,
        };
        let pushed = self.ring.push(record, |lost| lost_record(self.format.attr(), &id, lost));
        if pushed == Pushed::Lost {
            self.stats.lost += 1;
        }
        if self.has_stopped() {
            self.ring.wake();
            return Pushed::Wake;
        }
        pushed
    }

    /// Writes another record into the ring.
    pub fn record(&mut self, record: &Record, id: SampleId) -> Pushed {
        let id = SampleId { id: self.id, stream_id: self.stream_id, ..id };
        let attr = self.format.attr();
        let mut buf = RecordBuf::with_capacity(SIDE_RECORD);
        let words = record.encode(attr, &id, &mut buf);
        self.ring.push(words, |lost| lost_record(attr, &id, lost))
    }

    /// The chain with its contexts, as Linux orders it.
    fn collect_chain(&mut self, frame: &Frame, stack: &dyn Stack) {
        let attr = self.format.attr();
        let max = attr.max_stack().min(MAX_CHAIN);
        if let Some(kernel) = frame.kernel
            && !attr.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL)
        {
            self.chain.push(CONTEXT_KERNEL);
            if self.unwinder.is_some() {
                self.chain.push(kernel.get(Reg::Pc));
            }
        }
        if let Some(user) = frame.user
            && !attr.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_USER)
        {
            self.chain.push(CONTEXT_USER);
            if let Some(unwinder) = &mut self.unwinder {
                let mut read = |addr| {
                    let mut word = [0; 8];
                    (stack.copy(addr, &mut word) == 8).then(|| u64::from_le_bytes(word))
                };
                let regs = UnwindRegs::from_regs(user);
                let end = unwinder.unwind(&regs, &mut read, max, &mut self.chain);
                self.stats.chains[end.stop as usize] += 1;
                self.stats.guessed += u64::from(end.guessed);
            }
        }
        self.chain.truncate(max + CONTEXTS);
    }
}

/// Members of a group that a sample tells of.
const MAX_GROUP: usize = 64;

/// Words of a chain that are contexts or the kernel's.
const CONTEXTS: usize = 3;

/// Bytes of the longest record that is no sample: an MMAP2 with a name of `PATH_MAX` bytes.
const SIDE_RECORD: usize = 4096 + 256;

/// Whether Linux samples every single event whatever the period is: it does for an event of its own
/// whose samples hold a period.
fn counts_each(attr: &Attr, event: Event) -> bool {
    event.source() == Source::Raised
        && attr.sample_period != 0
        && attr.sample_type.contains(SampleType::PERIOD)
}

/// Bytes that a sample may need: all fields of one word, both register sets, chain and stack.
fn largest_sample(attr: &Attr) -> usize {
    let has = |field| attr.sample_type.contains(field);
    let chain =
        if has(SampleType::CALLCHAIN) { attr.max_stack().min(MAX_CHAIN) + CONTEXTS } else { 0 };
    let stack = if has(SampleType::STACK_USER) { attr.sample_stack_user as usize } else { 0 };
    let members = if has(SampleType::READ) { 3 * MAX_GROUP } else { 0 };
    let fields = (SampleType::ALL.len() + ReadFormat::ALL.len()) as usize + 4 + members;
    ((fields + 2 * 64 + chain) * 8 + stack).min(MAX_RECORD)
}

fn lost_record(attr: &Attr, id: &SampleId, lost: u64) -> Vec<u64> {
    let mut buf = RecordBuf::with_capacity(128);
    Record::Lost { id: id.id, lost }.encode(attr, id, &mut buf).to_vec()
}
