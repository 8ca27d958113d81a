//! An event, as all processes see it.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use axperf::perf::{ATTR_SIZE, Attr, AttrFlags};

/// What an event is up to.
mod state {
    /// The entry is free.
    pub const FREE: u32 = 0;
    /// It counts, if it is enabled.
    pub const LIVE: u32 = 1;
    /// The task that it was opened on has gone.
    pub const EXITED: u32 = 2;
}

/// Words of the attributes.
const ATTR_WORDS: usize = ATTR_SIZE / 8;

/// No ring, no task table entry: beyond every number.
pub(crate) const NONE: u32 = u32::MAX;

/// An event. Who it is stays the same from [`Slot::begin`] on; the rest changes.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Slot {
    state: AtomicU32,
    /// The number of the event that leads its group: its own, without one.
    pub leader: AtomicU32,
    pub id: AtomicU64,
    /// The inode of the descriptor.
    pub inode: AtomicU64,
    /// Where the other end of the descriptor is: a process, and its descriptor.
    pub opener: AtomicI32,
    pub wake_fd: AtomicI32,
    /// The thread that it is about; -1 for all.
    pub target: AtomicI32,
    /// The CPU that it is about; -1 for all.
    pub cpu: AtomicI32,
    enabled: AtomicU32,
    /// Number of its ring, plus 1.
    ring: AtomicU32,
    /// Numbers of changes, by which threads see that there was one.
    pub periods: AtomicU32,
    pub resets: AtomicU32,
    pub refreshes: AtomicU32,
    _unused: AtomicU32,
    /// The period.
    pub period: AtomicU64,
    /// Samples until it is disabled; negative for no limit.
    pub refresh: AtomicI64,
    /// What was counted, as far as threads have told.
    pub count: AtomicU64,
    pub lost: AtomicU64,
    pub time_enabled: AtomicU64,
    pub time_running: AtomicU64,
    /// For an event of all tasks: since when it is enabled, in ns.
    since: AtomicU64,
    attr: [AtomicU64; ATTR_WORDS],
}

/// What an event is opened with.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub attr: &'a Attr,
    pub id: u64,
    pub leader: u32,
    pub inode: u64,
    pub opener: i32,
    pub wake_fd: i32,
    pub target: i32,
    pub cpu: i32,
}

impl Slot {
    /// Whether there is an event.
    pub fn is_live(&self) -> bool {
        self.state.load(Ordering::Acquire) != state::FREE
    }

    /// Whether the task that it was opened on has gone.
    pub fn has_exited(&self) -> bool {
        self.state.load(Ordering::Acquire) == state::EXITED
    }

    /// The task that it was opened on has gone.
    pub fn exit(&self) {
        let (live, exited) = (state::LIVE, state::EXITED);
        // A free entry stays free.
        let _ = self.state.compare_exchange(live, exited, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The entry is free again.
    pub fn end(&self) {
        self.state.store(state::FREE, Ordering::Release);
    }

    /// Makes it this event. The caller holds the arena's lock.
    pub fn begin(&self, o: &Opening<'_>) {
        for (word, bytes) in self.attr.iter().zip(o.attr.to_bytes().as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        for (word, value) in [
            (&self.id, o.id),
            (&self.inode, o.inode),
            (&self.period, o.attr.sample_period),
            (&self.count, 0),
            (&self.lost, 0),
            (&self.time_enabled, 0),
            (&self.time_running, 0),
            (&self.since, 0),
        ] {
            word.store(value, Ordering::Relaxed);
        }
        for (word, value) in [
            (&self.opener, o.opener),
            (&self.wake_fd, o.wake_fd),
            (&self.target, o.target),
            (&self.cpu, o.cpu),
        ] {
            word.store(value, Ordering::Relaxed);
        }
        self.leader.store(o.leader, Ordering::Relaxed);
        self.ring.store(0, Ordering::Relaxed);
        self.periods.store(0, Ordering::Relaxed);
        self.resets.store(0, Ordering::Relaxed);
        self.refreshes.store(0, Ordering::Relaxed);
        self.refresh.store(-1, Ordering::Relaxed);
        self.enabled.store(0, Ordering::Relaxed);
        self.state.store(state::LIVE, Ordering::Release);
        if !o.attr.flags.contains(AttrFlags::DISABLED) {
            self.enable(true);
        }
    }

    /// The attributes.
    pub fn attr(&self) -> Attr {
        let mut block = [0; ATTR_SIZE];
        for (word, bytes) in self.attr.iter().zip(block.as_chunks_mut::<8>().0) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        // They were attributes when they were stored.
        Attr::from_bytes(&block).unwrap_or_default()
    }

    /// Whether it is to count.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire) != 0
    }

    /// Whether it is to count, from now on.
    pub fn enable(&self, on: bool) {
        let was = self.enabled.swap(on.into(), Ordering::AcqRel) != 0;
        if self.target.load(Ordering::Relaxed) == -1 && was != on {
            let now = wall();
            match on {
                true => self.since.store(now, Ordering::Relaxed),
                false => self.pass(now.saturating_sub(self.since.load(Ordering::Relaxed)), true),
            }
        }
    }

    /// Time went by in which it was enabled, and counted if it `ran`.
    pub fn pass(&self, time: u64, ran: bool) {
        self.time_enabled.fetch_add(time, Ordering::Relaxed);
        if ran {
            self.time_running.fetch_add(time, Ordering::Relaxed);
        }
    }

    /// Time enabled and time counting.
    pub fn times(&self) -> (u64, u64) {
        let open = match self.target.load(Ordering::Relaxed) == -1 && self.is_enabled() {
            true => wall().saturating_sub(self.since.load(Ordering::Relaxed)),
            false => 0,
        };
        (
            self.time_enabled.load(Ordering::Relaxed).wrapping_add(open),
            self.time_running.load(Ordering::Relaxed).wrapping_add(open),
        )
    }

    /// Number of the ring that it writes to.
    pub fn ring(&self) -> Option<u32> {
        self.ring.load(Ordering::Acquire).checked_sub(1)
    }

    /// Sets the ring that it writes to.
    pub fn set_ring(&self, ring: Option<u32>) {
        self.ring.store(ring.map_or(0, |r| r + 1), Ordering::Release);
    }
}

/// Nanoseconds of the host's monotonic clock.
fn wall() -> u64 {
    axperf::Clock::Host.now(0)
}
