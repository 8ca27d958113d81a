//! Samplers on a machine: when the next sample is due, and what it is taken from.

use std::time::{SystemTime, UNIX_EPOCH};

use axperf_isa::{Reg, Regs};
use axperf_jit::Class;

use crate::machine::bus::Bus;
use crate::perf::{AttrFlags, Counted, Event, Frame, Pushed, RegMask, Sampler, Source, Stack};

/// Names a sampler of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerId(u32);

/// Where the times of samples come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A retired instruction is a nanosecond after this time: the same run gives the same times.
    Instructions {
        /// The time at count 0, in nanoseconds.
        base: u64,
    },
    /// The host's monotonic clock.
    Host,
}

impl Clock {
    /// The time after `retired` instructions, in nanoseconds.
    #[must_use]
    pub fn now(self, retired: u64) -> u64 {
        match self {
            Clock::Instructions { base } => base.wrapping_add(retired),
            Clock::Host => monotonic(),
        }
    }
}

/// The host's monotonic clock in nanoseconds, as `perf record` stamps its records.
fn monotonic() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a timespec.
    #[allow(unsafe_code)]
    let ok = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) } == 0;
    if ok {
        return t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64;
    }
    // Every Linux has that clock; should one not, any clock is better than none.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

/// The samplers of one machine.
#[derive(Debug)]
pub(crate) struct Samplers {
    list: Vec<(SamplerId, Sampler)>,
    next: u32,
    pub pid: u32,
    pub tid: u32,
    pub cpu: u32,
    pub clock: Clock,
    /// A ring wants to be read.
    wake: bool,
}

impl Samplers {
    pub fn new() -> Samplers {
        Samplers {
            list: Vec::new(),
            next: 0,
            pid: 0,
            tid: 0,
            cpu: 0,
            clock: Clock::Instructions { base: 0 },
            wake: false,
        }
    }

    pub fn attach(&mut self, sampler: Sampler) -> SamplerId {
        let id = SamplerId(self.next);
        self.next += 1;
        self.list.push((id, sampler));
        id
    }

    pub fn detach(&mut self, id: SamplerId) -> Option<Sampler> {
        let i = self.list.iter().position(|(i, _)| *i == id)?;
        Some(self.list.remove(i).1)
    }

    pub fn get(&self, id: SamplerId) -> Option<&Sampler> {
        self.list.iter().find(|(i, _)| *i == id).map(|(_, s)| s)
    }

    pub fn get_mut(&mut self, id: SamplerId) -> Option<&mut Sampler> {
        self.list.iter_mut().find(|(i, _)| *i == id).map(|(_, s)| s)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Instructions until the next sample.
    pub fn left(&self) -> u64 {
        let retired = self.list.iter().filter(|(_, s)| s.event().source() == Source::Retired);
        retired.map(|(_, s)| s.left()).min().unwrap_or(u64::MAX)
    }

    /// Nanoseconds until the next sample by time; None if there are no such samplers.
    pub fn time_left(&self) -> Option<u64> {
        let timed = self.list.iter().filter(|(_, s)| s.event().source() == Source::Time);
        timed.map(|(_, s)| s.left()).min()
    }

    /// Whether a sampler counts this event.
    pub fn counts(&self, event: Event) -> bool {
        self.list.iter().any(|(_, s)| s.event() == event)
    }

    /// The registers that translated code keeps exact for samples.
    pub fn class(&self) -> Class {
        let mask = self.list.iter().fold(RegMask::EMPTY, |m, (_, s)| m.union(s.registers()));
        if mask.without(RegMask::of(&[Reg::Pc])).is_empty() {
            Class::Live
        } else if mask.without(RegMask::UNWIND).is_empty() {
            Class::Unwind
        } else {
            Class::Full
        }
    }

    /// Counts `n` instructions; takes the samples that are due after them.
    pub fn advance<B: Bus>(&mut self, n: u64, retired: u64, regs: &Regs, bus: &B) {
        let counts = |s: &Sampler| {
            s.event().source() == Source::Retired
                && !s.attr().flags.contains(AttrFlags::EXCLUDE_USER)
        };
        // All before any: a sample may hold what the others of its group counted.
        for (_, sampler) in self.list.iter_mut().filter(|(_, s)| counts(s)) {
            sampler.advance(n);
        }
        for i in 0..self.list.len() {
            let sampler = &mut self.list[i].1;
            if counts(sampler) && sampler.is_due() {
                let frame = self.place(&Frame::user(regs), retired);
                self.take(i, &frame, bus);
            }
        }
    }

    /// Counts `n` times the event; takes the samples that are due then.
    pub fn raise<B: Bus>(&mut self, event: Event, n: u64, frame: &Frame, retired: u64, bus: &B) {
        let frame = self.place(frame, retired);
        for i in 0..self.list.len() {
            let sampler = &mut self.list[i].1;
            // Linux counts the time in an excluded mode all the same.
            if sampler.event() != event
                || (event.source() != Source::Time && sampler.excludes(&frame))
            {
                continue;
            }
            let mut left = n;
            while left > 0 {
                // Each that happened is a sample of its own; of time passed, one is enough.
                let sampler = &mut self.list[i].1;
                let most = if event.source() == Source::Time { u64::MAX } else { sampler.left() };
                let step = left.min(most);
                sampler.advance(step);
                left -= step;
                if sampler.is_due() {
                    self.take(i, &frame, bus);
                }
            }
        }
    }

    /// The frame, as of this machine's task, CPU and clock.
    fn place<'a>(&self, frame: &Frame<'a>, retired: u64) -> Frame<'a> {
        frame.task(self.pid, self.tid).on_cpu(self.cpu).at(self.clock.now(retired))
    }

    /// Takes a sample with one of the samplers.
    fn take<B: Bus>(&mut self, i: usize, frame: &Frame, bus: &B) {
        if self.list[i].1.reads_group() {
            let leader = self.list[i].1.group();
            let members: Vec<Counted> = (self.list.iter())
                .filter(|(_, s)| s.group() == leader)
                .map(|(_, s)| s.counted())
                .collect();
            self.list[i].1.set_group(members);
        }
        self.wake |= match self.list[i].1.take(frame, &BusStack(bus)) {
            Pushed::Stored => false,
            Pushed::Wake | Pushed::Lost => true,
        };
    }

    /// Whether a ring wants to be read; asked once.
    pub fn take_wake(&mut self) -> bool {
        std::mem::take(&mut self.wake)
    }
}

/// Stacks lie in the bus's memory.
struct BusStack<'a, B>(&'a B);

impl<B: Bus> Stack for BusStack<'_, B> {
    fn copy(&self, addr: u64, buf: &mut [u8]) -> usize {
        match self.0.read(addr, buf) {
            Ok(()) => buf.len(),
            Err(fault) => (fault.addr.wrapping_sub(addr) as usize).min(buf.len()),
        }
    }
}
