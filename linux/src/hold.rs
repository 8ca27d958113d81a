//! Holding the threads of a process still, so that somebody can look at it: a debugger, or who
//! writes a core dump.
//!
//! A thread that has something to tell, or is wanted, comes to [`Hold::stop`], leaves a copy of its
//! registers, and waits there for an order. One that is in a system call has left its registers
//! before it; if it doesn't come out of the call soon, it counts as still, and comes to a stop when
//! the call returns.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axperf::{Access, Regs};

use crate::descriptors::lift;
use crate::process::ExitStatus;
use crate::signal::host::Mailbox;
use crate::signo::Signal;
use crate::thread::Cpu;
use crate::watch::Watch;

/// How long a thread that was called may stay in a system call until it counts as still.
const IN_CALL: Duration = Duration::from_millis(100);
/// How long any thread may run on until its process is looked at without it.
const RUNNING: Duration = Duration::from_secs(5);
/// Threads are called again after so long.
const AGAIN: Duration = Duration::from_millis(10);
/// How long the end of the process waits until the debugger was told.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why a thread stops the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It came to a breakpoint.
    Breakpoint,
    /// It has done the step that it was told to do.
    Step,
    /// It accessed what is watched at this address.
    Watch(u64, Access),
    /// A signal is about to be delivered.
    Signal(Signal),
    /// Another program has begun.
    Exec,
    /// The debugger lets no thread run, or the one that it let run has gone.
    Alone,
}

impl Event {
    /// Whether it is lost if another thread's comes first. The others come again by themselves.
    fn is_kept(self) -> bool {
        matches!(self, Event::Watch(..) | Event::Signal(_) | Event::Exec)
    }
}

/// How a thread is to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Go {
    /// Until something happens.
    #[default]
    On,
    /// One instruction, and more while the pc is in this range.
    Step(Range<u64>),
    /// Not at all.
    Stay,
}

/// What becomes of the signal that a thread stopped for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pass {
    /// It is delivered.
    #[default]
    AsItCame,
    /// It is dropped.
    Nothing,
    /// This one is delivered, whether there was one or not.
    Instead(Signal),
}

/// What a thread is told when it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub go: Go,
    pub pass: Pass,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Running,
    /// In a system call: the registers are those before it.
    InCall,
    Still,
}

#[derive(Debug)]
struct Slot {
    mailbox: Arc<Mailbox>,
    place: Place,
    regs: Regs,
    /// The debugger has changed the registers.
    changed: bool,
    /// To be taken by the thread when it next looks.
    order: Option<Order>,
    stay: bool,
}

#[derive(Debug, Default)]
struct State {
    /// A debugger is connected, or the process waits for one.
    attached: bool,
    /// All threads are to stop.
    stopping: bool,
    /// All but this one are to stop for good: it dumps the process.
    frozen: Option<i32>,
    /// The process ends or executes another program: nobody waits any more.
    ending: bool,
    threads: BTreeMap<i32, Slot>,
    event: Option<(i32, Event)>,
    ended: Option<ExitStatus>,
    /// What is watched.
    watches: Arc<[Watch]>,
    /// The debugger knows of the end.
    told: bool,
}

impl State {
    /// Whether a thread has to wait.
    fn holds(&self, tid: i32) -> bool {
        let stays = || self.threads.get(&tid).is_some_and(|slot| slot.stay);
        if self.ending || self.frozen == Some(tid) {
            return false;
        }
        self.frozen.is_some() || self.attached && (self.stopping || stays())
    }

    fn call_others(&self, but: Option<i32>) {
        for (tid, slot) in &self.threads {
            if Some(*tid) != but && slot.place != Place::Still {
                slot.mailbox.call(*tid);
            }
        }
    }
}

/// Holds the threads of a process.
#[derive(Debug)]
pub(crate) struct Hold {
    state: Mutex<State>,
    changed: Condvar,
    /// Threads have to look whether they are held.
    wanted: AtomicBool,
    /// Readable when there is something to tell the debugger.
    bell: File,
    /// Descriptors that a forked child closes.
    own: [AtomicI32; 2],
}

impl Hold {
    /// Holds nobody, or, to `wait` for a debugger, everybody.
    pub fn new(wait: bool) -> std::io::Result<Hold> {
        // SAFETY: no pointers; the descriptor is ours.
        let bell = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(std::io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let state = State { attached: wait, stopping: wait, ..State::default() };
        Ok(Hold {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wanted: AtomicBool::new(wait),
            bell: File::from(lift(bell)?),
            own: [AtomicI32::new(-1), AtomicI32::new(-1)],
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    fn ring(&self) {
        // Full, it rings already.
        let _ = (&self.bell).write(&1u64.to_ne_bytes());
    }
}

/// The threads' side.
impl Hold {
    /// A thread is about to run, if it isn't known yet.
    pub fn enter(&self, tid: i32, mailbox: &Arc<Mailbox>, regs: &Regs) {
        self.lock().threads.entry(tid).or_insert_with(|| Slot {
            mailbox: Arc::clone(mailbox),
            place: Place::Running,
            regs: regs.clone(),
            changed: false,
            order: None,
            stay: false,
        });
    }

    /// A thread runs no more.
    pub fn leave(&self, tid: i32) {
        let mut state = self.lock();
        state.threads.remove(&tid);
        self.look_whether_any_runs(&mut state);
        self.changed.notify_all();
    }

    /// Tells the debugger if it lets no thread run.
    fn look_whether_any_runs(&self, state: &mut State) {
        if let Some(&first) = state.threads.keys().next()
            && state.threads.values().all(|slot| slot.stay)
            && state.attached
            && !state.stopping
        {
            state.stopping = true;
            state.event = Some((first, Event::Alone));
            self.ring();
        }
    }

    /// Whether a thread has to come to [`stop`](Hold::stop).
    pub fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// What is watched.
    pub fn watches(&self) -> Arc<[Watch]> {
        Arc::clone(&self.lock().watches)
    }

    /// A thread makes a system call.
    pub fn call(&self, tid: i32, regs: &Regs) {
        if let Some(slot) = self.lock().threads.get_mut(&tid) {
            slot.place = Place::InCall;
            slot.regs = regs.clone();
        }
    }

    /// A thread has made its system call; what it was told meanwhile.
    pub fn back(&self, tid: i32) -> Option<Order> {
        let mut state = self.lock();
        let slot = state.threads.get_mut(&tid)?;
        slot.place = Place::Running;
        slot.order.take()
    }

    /// Stops the calling thread if threads are to be still, and all for its event if it has one.
    /// Returns when it may go on, with what it was told; None if nobody told it anything.
    pub fn stop(&self, tid: i32, cpu: &mut Cpu, event: Option<Event>) -> Option<Order> {
        let mut event = event;
        let mut order = None;
        let mut state = self.lock();
        loop {
            if let Some(e) = event
                && state.attached
                && !state.ending
                && !state.stopping
            {
                event = None;
                state.stopping = true;
                state.event = Some((tid, e));
                self.wanted.store(true, Ordering::Release);
                state.call_others(Some(tid));
                self.ring();
            }
            if !state.holds(tid) {
                return order;
            }
            event = event.filter(|e| e.is_kept());
            if let Some(slot) = state.threads.get_mut(&tid) {
                slot.place = Place::Still;
                slot.regs = cpu.regs().clone();
            }
            self.changed.notify_all();
            while state.holds(tid) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(slot) = state.threads.get_mut(&tid) {
                slot.place = Place::Running;
                if std::mem::take(&mut slot.changed) {
                    cpu.set_regs(&slot.regs);
                }
                order = slot.order.take().or(order);
            }
        }
    }

    /// Whether the process ends or executes another program: then nobody waits.
    pub fn set_ending(&self, ending: bool) {
        self.lock().ending = ending;
        self.changed.notify_all();
    }

    /// The process has ended: returns when the debugger knows.
    pub fn ended(&self, status: ExitStatus) {
        let mut state = self.lock();
        state.ended = Some(status);
        state.ending = true;
        self.ring();
        let start = Instant::now();
        while state.attached && !state.told && start.elapsed() < FAREWELL {
            state = self.wait(state, FAREWELL);
        }
    }

    /// Stops every other thread until the process ends; the registers of all, this one's first. None
    /// if another thread did so before.
    pub fn freeze(&self, tid: i32, regs: &Regs) -> Option<Vec<(i32, Regs)>> {
        let mut state = self.lock();
        if state.frozen.is_some() {
            while !state.ending {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            return None;
        }
        state.frozen = Some(tid);
        self.wanted.store(true, Ordering::Release);
        if let Some(slot) = state.threads.get_mut(&tid) {
            slot.place = Place::Still;
            slot.regs = regs.clone();
        }
        let state = self.gather(state);
        let mut all = vec![(tid, regs.clone())];
        let others = state.threads.iter().filter(|(other, _)| **other != tid);
        all.extend(others.map(|(tid, slot)| (*tid, slot.regs.clone())));
        Some(all)
    }

    /// Keeps every other thread from changing anything, for the time of a fork.
    pub fn still(&self) -> Still<'_> {
        Still { hold: self, state: self.lock() }
    }
}

/// A [`Hold`] that nobody else changes.
pub(crate) struct Still<'a> {
    hold: &'a Hold,
    state: MutexGuard<'a, State>,
}

impl Still<'_> {
    /// In a forked child: there is no thread yet, and no debugger.
    pub fn become_child(mut self) {
        *self.state = State::default();
        self.hold.wanted.store(false, Ordering::Release);
        for fd in &self.hold.own {
            let fd = fd.swap(-1, Ordering::AcqRel);
            if fd >= 0 {
                // SAFETY: the child's copy, whose owner is a thread that the child doesn't have.
                unsafe { libc::close(fd) };
            }
        }
    }
}

/// The debugger's side.
impl Hold {
    /// The descriptor that is readable when [`event`](Hold::event) or [`end`](Hold::end) has
    /// something.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell.
    pub fn heard(&self) {
        // Not ringing, there is nothing to silence.
        let _ = (&self.bell).read(&mut [0; 8]);
    }

    /// A forked child is to close this descriptor, the `n`th of two; None if it is closed.
    pub fn own(&self, n: usize, fd: Option<BorrowedFd<'_>>) {
        self.own[n].store(fd.map_or(-1, |fd| fd.as_raw_fd()), Ordering::Release);
    }

    /// Waits until all threads are still.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let start = Instant::now();
        loop {
            let waited = start.elapsed();
            let still = |slot: &Slot| match slot.place {
                Place::Still => true,
                Place::InCall => waited >= IN_CALL,
                Place::Running => waited >= RUNNING,
            };
            if state.ending || state.threads.values().all(still) {
                return state;
            }
            state.call_others(None);
            state = self.wait(state, AGAIN);
        }
    }

    /// Stops all threads, for a debugger.
    pub fn stop_all(&self) {
        let mut state = self.lock();
        state.attached = true;
        state.stopping = true;
        self.wanted.store(true, Ordering::Release);
        drop(self.gather(state));
    }

    /// What has stopped the process, if something has; all threads are still then.
    pub fn event(&self) -> Option<(i32, Event)> {
        let mut state = self.lock();
        let event = state.event.take()?;
        drop(self.gather(state));
        Some(event)
    }

    /// How the process has ended, if it has.
    pub fn end(&self) -> Option<ExitStatus> {
        self.lock().ended
    }

    /// The debugger knows of the end, or there is none to know.
    pub fn told(&self) {
        self.lock().told = true;
        self.changed.notify_all();
    }

    /// Lets the threads go, each as it is told.
    pub fn resume(&self, order: impl Fn(i32) -> Order) {
        let mut state = self.lock();
        state.stopping = false;
        state.event = None;
        let mut some_stay = false;
        for (tid, slot) in &mut state.threads {
            let order = order(*tid);
            slot.stay = order.go == Go::Stay;
            some_stay |= slot.stay;
            slot.order = Some(order);
        }
        self.wanted.store(some_stay || state.frozen.is_some(), Ordering::Release);
        self.look_whether_any_runs(&mut state);
        self.changed.notify_all();
    }

    /// The debugger has gone: the process goes on without.
    pub fn detach(&self) {
        self.lock().attached = false;
        self.set_watches(&[]);
        self.resume(|_| Order::default());
    }

    /// Sets what is watched.
    pub fn set_watches(&self, watches: &[Watch]) {
        self.lock().watches = watches.into();
    }

    /// The threads.
    pub fn threads(&self) -> Vec<i32> {
        self.lock().threads.keys().copied().collect()
    }

    /// The registers of a thread, if they are known.
    pub fn regs(&self, tid: i32) -> Option<Regs> {
        let state = self.lock();
        let slot = state.threads.get(&tid)?;
        (slot.place != Place::Running).then(|| slot.regs.clone())
    }

    /// Changes the registers of a thread; false if that can't be, since it isn't still.
    pub fn set_regs(&self, tid: i32, regs: &Regs) -> bool {
        let mut state = self.lock();
        match state.threads.get_mut(&tid) {
            Some(slot) if slot.place == Place::Still => {
                slot.regs = regs.clone();
                slot.changed = true;
                true
            }
            Some(_) | None => false,
        }
    }
}
