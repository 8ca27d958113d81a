//! A thread's events: samplers on its machine, kept as the shared tables say.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axperf::SamplerId;
use axperf::perf::{
    AttrFlags, Event, Full, MAX_SAMPLE_RATE, RegAbi, Ring, Sampler, Source, Wakeup,
};

use super::arena::Arena;
use super::slot::{NONE, Slot};
use crate::descriptors;
use crate::errno::Errno;
use crate::signal::host;
use crate::thread::{Cpu, Thread};

/// What a thread knows of its events.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// The generation of the tables that it has seen.
    seen: u64,
    /// Its entry in the table of tasks.
    task: Option<usize>,
    /// The CPU that it was last seen on.
    pub cpu: u32,
    pub events: Vec<Attached>,
    /// Signals that end the process come to its threads first, so that they tell what they counted.
    last_word: bool,
    pub clock: super::clock::TaskClock,
}

/// An event of a thread's.
#[derive(Debug)]
pub(crate) struct Attached {
    /// Its number and id in the tables.
    pub slot: u32,
    id: u64,
    /// Inherited: the thread isn't the one that it was opened on.
    inherited: bool,
    place: Place,
    /// The ring that its sampler writes to.
    ring: Option<u32>,
    periods: u32,
    resets: u32,
    refreshes: u32,
    told: Told,
    /// It was enabled when it was last looked at.
    enabled: bool,
    /// Where a byte wakes the reader: the ring that it is for, and the descriptor.
    wake: Option<(u64, OwnedFd)>,
}

/// Where a sampler is.
#[derive(Debug)]
enum Place {
    /// Nowhere yet.
    Unmade,
    /// It counts.
    Machine(SamplerId),
    /// It doesn't.
    Aside(Box<Sampler>),
}

/// What was told of a sampler already.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    events: u64,
    lost: u64,
    /// The thread's CPU time.
    time: u64,
}

impl Attached {
    fn new(slot: u32, id: u64, inherited: bool) -> Attached {
        Attached {
            slot,
            id,
            inherited,
            place: Place::Unmade,
            ring: None,
            periods: 0,
            resets: 0,
            refreshes: 0,
            told: Told::default(),
            enabled: false,
            wake: None,
        }
    }

    /// Its sampler, wherever it is.
    pub fn sampler<'a>(&'a mut self, cpu: &'a mut Cpu) -> Option<&'a mut Sampler> {
        match &mut self.place {
            Place::Unmade => None,
            Place::Machine(id) => cpu.sampler_mut(*id),
            Place::Aside(sampler) => Some(sampler),
        }
    }

    /// Whether it counts.
    pub fn is_active(&self) -> bool {
        matches!(self.place, Place::Machine(_))
    }

    fn make(&mut self, arena: &Arena, slot: &Slot, exact: bool) -> Result<(), axperf::Error> {
        let ring = Arc::new(Ring::discarding()?);
        let mut sampler = Sampler::new(slot.attr(), RegAbi::Kernel, self.id, Arc::clone(&ring))?;
        if exact && sampler.event().source() != Source::Raised {
            sampler = sampler.throttled(MAX_SAMPLE_RATE);
        }
        if self.inherited {
            sampler = sampler.inherited(arena.new_id(), ring);
        }
        let leader = arena.slot(slot.leader.load(Ordering::Relaxed));
        let sampler = sampler.in_group(leader.id.load(Ordering::Relaxed));
        self.place = Place::Aside(Box::new(sampler));
        Ok(())
    }

    /// Adds what was counted since it was last told.
    fn tell(&mut self, slot: &Slot, cpu: &mut Cpu, time: u64) {
        let active = self.is_active();
        let mut told = self.told;
        if let Some(sampler) = self.sampler(cpu) {
            let stats = sampler.stats();
            let events = match sampler.event().source() {
                Source::Time if active => time.saturating_sub(told.time),
                Source::Time => 0,
                _ => stats.events.wrapping_sub(told.events),
            };
            slot.count.fetch_add(events, Ordering::Relaxed);
            slot.lost.fetch_add(stats.lost.wrapping_sub(told.lost), Ordering::Relaxed);
            (told.events, told.lost) = (stats.events, stats.lost);
        }
        if slot.target.load(Ordering::Relaxed) != -1 && self.enabled {
            slot.pass(time.saturating_sub(told.time), active);
        }
        told.time = time;
        self.told = told;
    }

    /// Starts or stops counting.
    fn activate(&mut self, on: bool, cpu: &mut Cpu) {
        self.place = match (std::mem::replace(&mut self.place, Place::Unmade), on) {
            (Place::Aside(sampler), true) => Place::Machine(cpu.attach(*sampler)),
            (Place::Machine(id), false) => match cpu.detach(id) {
                Some(sampler) => Place::Aside(Box::new(sampler)),
                None => Place::Unmade,
            },
            (same, _) => same,
        };
    }

    /// Follows the changes that were made to the event.
    fn follow(&mut self, arena: &Arena, slot: &Slot, cpu: &mut Cpu) -> Result<(), Errno> {
        let ring = slot.ring();
        if ring != self.ring {
            let new = match ring.filter(|r| has_data(arena, *r)) {
                Some(number) => Arc::new(configure(arena, number, slot)?),
                None => Arc::new(Ring::discarding().map_err(|_| Errno(libc::ENOMEM))?),
            };
            if let Some(sampler) = self.sampler(cpu) {
                sampler.set_ring(new);
            }
            (self.ring, self.wake) = (ring, None);
        }
        let periods = slot.periods.load(Ordering::Acquire);
        if std::mem::replace(&mut self.periods, periods) != periods
            && let Some(sampler) = self.sampler(cpu)
        {
            sampler.set_period(slot.period.load(Ordering::Relaxed));
        }
        let refreshes = slot.refreshes.load(Ordering::Acquire);
        if std::mem::replace(&mut self.refreshes, refreshes) != refreshes {
            let left = u64::try_from(slot.refresh.load(Ordering::Relaxed)).ok();
            if let Some(sampler) = self.sampler(cpu) {
                sampler.set_remaining(left);
            }
        }
        let resets = slot.resets.load(Ordering::Acquire);
        if std::mem::replace(&mut self.resets, resets) != resets
            && let Some(sampler) = self.sampler(cpu)
        {
            // Nothing to tell of what came before.
            sampler.set_count(0);
            self.told.events = self.sampler(cpu).map_or(0, |s| s.stats().events);
        }
        Ok(())
    }
}

fn has_data(arena: &Arena, ring: u32) -> bool {
    arena.ring_slot(ring).pages.load(Ordering::Relaxed) > 0
}

/// The ring with this number, as an event uses it.
fn configure(arena: &Arena, number: u32, slot: &Slot) -> Result<Ring, Errno> {
    let attr = slot.attr();
    let overwrite = arena.ring_slot(number).overwrite.load(Ordering::Relaxed) != 0;
    let full = match (overwrite, attr.flags.contains(AttrFlags::WRITE_BACKWARD)) {
        (true, true) => Full::OverwriteBackward,
        (true, false) => Full::Overwrite,
        (false, _) => Full::Lose,
    };
    let wakeup = match attr.flags.contains(AttrFlags::WATERMARK) {
        true => Wakeup::Bytes(attr.wakeup.into()),
        false => Wakeup::Samples(attr.wakeup),
    };
    Ok(arena.ring(number, false)?.with_full(full).with_wakeup(wakeup))
}

impl Own {
    /// The thread looks at its events again before it runs on.
    pub fn look_again(&mut self) {
        self.seen = self.seen.wrapping_sub(1);
    }

    /// What a new thread or process inherits.
    pub fn for_child(&self, arena: Option<&Arena>, thread: bool) -> Own {
        let Some(arena) = arena else { return Own::default() };
        let inherits = |a: &&Attached| {
            let slot = arena.slot(a.slot);
            let flags = slot.attr().flags;
            slot.id.load(Ordering::Relaxed) == a.id
                && flags.contains(AttrFlags::INHERIT)
                && (thread || !flags.contains(AttrFlags::INHERIT_THREAD))
        };
        let events = self.events.iter().filter(inherits);
        Own {
            events: events.map(|a| Attached::new(a.slot, a.id, true)).collect(),
            ..Own::default()
        }
    }
}

impl Thread {
    /// The thread can have events from now on.
    pub(crate) fn enter_perf(&mut self) {
        let shared = Arc::clone(&self.shared);
        if let Some(arena) = &shared.perf {
            self.perf.task = arena.enter(self.ids.pid, self.ids.tid);
            self.cpu.set_task(self.ids.pid as u32, self.ids.tid as u32);
            self.cpu.set_clock(axperf::Clock::Host);
        }
    }

    /// In a forked child: its events are what it inherited.
    pub(crate) fn fork_perf(&mut self) {
        let shared = Arc::clone(&self.shared);
        let child = self.perf.for_child(shared.perf.as_ref(), false);
        for mut attached in std::mem::replace(&mut self.perf, child).events {
            attached.activate(false, &mut self.cpu);
        }
        self.enter_perf();
    }

    /// The thread ends: its events have counted all that they will.
    pub(crate) fn leave_perf(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(arena) = &shared.perf else { return };
        self.tell_events();
        let mut gone = Vec::new();
        for (i, attached) in self.perf.events.iter_mut().enumerate() {
            let slot = arena.slot(attached.slot);
            if slot.target.load(Ordering::Relaxed) == self.ids.tid {
                slot.exit();
                gone.push(i);
            }
            attached.activate(false, &mut self.cpu);
        }
        // Who wakes finds them all gone.
        for i in gone {
            self.wake_reader(i);
        }
        self.perf.events.clear();
        if let Some(task) = self.perf.task.take() {
            arena.leave(task);
        }
    }

    /// Looks whether anything was changed about the thread's events.
    #[inline]
    pub(crate) fn see_events(&mut self) {
        if let Some(arena) = &self.shared.perf
            && arena.generation() != self.perf.seen
        {
            self.look_at_events();
        }
    }

    #[cold]
    fn look_at_events(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(arena) = &shared.perf else { return };
        let generation = arena.generation();
        self.perf.cpu = current_cpu();
        self.cpu.set_cpu_number(self.perf.cpu);
        self.find_events(arena);
        self.tell_events();
        let mut any = false;
        let now = self.cpu.time();
        for i in 0..self.perf.events.len() {
            let attached = &mut self.perf.events[i];
            let slot = arena.slot(attached.slot);
            if matches!(attached.place, Place::Unmade)
                && let Err(e) = attached.make(arena, slot, shared.config.kernel_exact)
            {
                shared.log.say(format_args!("perf event {}: {e}", attached.id));
            }
            if let Err(e) = attached.follow(arena, slot, &mut self.cpu) {
                shared.log.say(format_args!("ring of perf event {}: {e}", attached.id));
            }
            let leader = arena.slot(slot.leader.load(Ordering::Relaxed));
            let cpu = slot.cpu.load(Ordering::Relaxed);
            let here = cpu == -1 || cpu as u32 == self.perf.cpu;
            let on = here && slot.is_enabled() && leader.is_enabled() && !slot.has_exited();
            if on
                && !attached.is_active()
                && let Some(sampler) = attached.sampler(&mut self.cpu)
            {
                sampler.set_enabled_at(now.saturating_sub(slot.times().0));
            }
            attached.activate(on, &mut self.cpu);
            attached.enabled = slot.is_enabled() && !slot.has_exited();
            any |= on;
        }
        self.perf.clock.set_running(any);
        if self.cpu.counts(Event::PageFaults) {
            // Their samples show registers.
            shared.engine.set_precise_faults(true);
        }
        if any && !std::mem::replace(&mut self.perf.last_word, true) {
            shared.catch_fatal_signals();
        }
        self.perf.seen = generation;
        if let Some(task) = self.perf.task {
            arena.saw(task, generation);
        }
        self.update_async();
    }

    /// Takes in events that were opened on this thread, lets go those that have gone.
    fn find_events(&mut self, arena: &Arena) {
        for i in (0..self.perf.events.len()).rev() {
            let attached = &self.perf.events[i];
            let slot = arena.slot(attached.slot);
            if !slot.is_live() || slot.id.load(Ordering::Relaxed) != attached.id {
                let mut gone = self.perf.events.remove(i);
                gone.activate(false, &mut self.cpu);
            }
        }
        for (number, slot) in arena.slots() {
            let target = slot.target.load(Ordering::Relaxed);
            let id = slot.id.load(Ordering::Relaxed);
            let known = self.perf.events.iter().any(|a| a.slot == number && a.id == id);
            if !known && !slot.has_exited() && (target == self.ids.tid || target == -1) {
                let mut attached = Attached::new(number, id, false);
                attached.told.time = cpu_time();
                self.perf.events.push(attached);
            }
        }
        self.perf.events.sort_by_key(|a| a.id);
    }

    /// Adds to the shared counters what was counted.
    pub(crate) fn tell_events(&mut self) {
        let Some(arena) = &self.shared.perf else { return };
        if self.perf.events.is_empty() {
            return;
        }
        let time = cpu_time();
        for attached in &mut self.perf.events {
            let slot = arena.slot(attached.slot);
            if slot.id.load(Ordering::Relaxed) == attached.id {
                attached.tell(slot, &mut self.cpu, time);
            }
        }
    }

    /// Wakes the readers of the rings that want it, and ends what has taken its last sample.
    pub(crate) fn wake_readers(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(arena) = &shared.perf else { return };
        for i in 0..self.perf.events.len() {
            let attached = &mut self.perf.events[i];
            let slot = arena.slot(attached.slot);
            let Some(sampler) = attached.sampler(&mut self.cpu) else { continue };
            let woken = sampler.ring().take_wake();
            if sampler.has_stopped() {
                sampler.set_remaining(None);
                slot.refresh.store(-1, Ordering::Relaxed);
                self.tell_events();
                slot.enable(false);
                arena.change();
            }
            if woken {
                self.wake_reader(i);
            }
        }
    }

    /// Writes a byte to the descriptor that the ring of an event is read by, and to its own.
    fn wake_reader(&mut self, i: usize) {
        let shared = Arc::clone(&self.shared);
        let Some(arena) = &shared.perf else { return };
        let attached = &mut self.perf.events[i];
        let owner =
            attached.ring.map_or(NONE, |r| arena.ring_slot(r).owner.load(Ordering::Relaxed));
        let own = arena.slot(attached.slot);
        let slot = if owner == NONE || own.has_exited() { own } else { arena.slot(owner) };
        let id = slot.id.load(Ordering::Relaxed);
        if attached.wake.as_ref().is_none_or(|w| w.0 != id) {
            attached.wake = open_wake(slot).map(|fd| (id, fd));
        }
        if let Some((_, fd)) = &attached.wake {
            notify(fd.as_raw_fd());
        }
    }
}

/// The other end of an event's descriptor, for this process to write to.
fn open_wake(slot: &Slot) -> Option<OwnedFd> {
    let opener = slot.opener.load(Ordering::Relaxed);
    let fd = slot.wake_fd.load(Ordering::Relaxed);
    let path = format!("/proc/{opener}/fd/{fd}\0");
    let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: a C string.
    let fd = unsafe { libc::open(path.as_ptr().cast(), flags) };
    if fd < 0 {
        return None;
    }
    // SAFETY: it was opened here.
    descriptors::lift(unsafe { OwnedFd::from_raw_fd(fd) }).ok()
}

/// Writes a byte to a pipe that may have no reader any more: the guest gets no SIGPIPE for it.
fn notify(fd: RawFd) {
    let mask = host::block_all();
    let byte = 1u8;
    // SAFETY: one byte.
    let written = unsafe { libc::write(fd, (&raw const byte).cast(), 1) };
    if written < 0 && Errno::last() == Errno(libc::EPIPE) {
        let set = 1u64 << (libc::SIGPIPE - 1);
        let now = [0i64; 2];
        // SAFETY: a set and a time of the kernel's, valid for the call.
        unsafe { libc::syscall(libc::SYS_rt_sigtimedwait, &set, 0usize, &now, 8) };
    }
    host::host_mask(Some(mask));
}

/// The CPU that the calling thread is on.
pub(crate) fn current_cpu() -> u32 {
    // SAFETY: no arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// Nanoseconds that the calling thread has run.
pub(crate) fn cpu_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a timespec. Every Linux has that clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
