//! Holding the threads of a process still, so that somebody can look at it: a debugger, or who
//! writes a core dump.
//!
//! A thread that has something to tell, or is wanted, comes to [`Hold::stop`], leaves a copy of its
//! registers, and waits there for an order. One that is in a system call has left its registers
//! before it; if it doesn't come out of the call soon, it counts as still, and comes to a stop when
//! the call returns.

mod debugger;
mod order;
mod threads;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axperf::Regs;

use crate::descriptors::lift;
use crate::process::ExitStatus;
use crate::signal::host::Mailbox;
use crate::watch::Watch;

pub(crate) use order::{Event, Go, Order, Pass};

/// How long a thread that was called may stay in a system call until it counts as still.
const IN_CALL: Duration = Duration::from_millis(100);
/// How long any thread may run on until its process is looked at without it.
const RUNNING: Duration = Duration::from_secs(5);
/// Threads are called again after so long.
const AGAIN: Duration = Duration::from_millis(10);
/// How long the end of the process waits until the debugger was told.
const FAREWELL: Duration = Duration::from_secs(5);

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

impl Slot {
    /// What the thread is told, unless that is to stay.
    fn take_order(&mut self) -> Option<Order> {
        if self.stay { None } else { self.order.take() }
    }
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
    /// Whether a thread has to wait. One that was told to go on goes, if only to stop again: what it
    /// was told of a signal must not be lost.
    fn holds(&self, tid: i32) -> bool {
        if self.ending || self.frozen == Some(tid) {
            return false;
        }
        let slot = self.threads.get(&tid);
        let stays = slot.is_some_and(|slot| slot.stay);
        let told = slot.is_some_and(|slot| slot.order.is_some());
        self.frozen.is_some() || self.attached && (stays || self.stopping && !told)
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
    /// The thread that serves debuggers, or 0.
    server: AtomicI32,
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
            server: AtomicI32::new(0),
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

    /// Waits until all threads are still.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let start = Instant::now();
        loop {
            let waited = start.elapsed();
            let frozen = state.frozen.is_some();
            let still = |slot: &Slot| match slot.place {
                // Told to go on, it goes first.
                Place::Still => frozen || slot.stay || slot.order.is_none(),
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
        self.hold.server.store(0, Ordering::Release);
        for fd in &self.hold.own {
            let fd = fd.swap(-1, Ordering::AcqRel);
            if fd >= 0 {
                // SAFETY: the child's copy, whose owner is a thread that the child doesn't have.
                unsafe { libc::close(fd) };
            }
        }
    }
}
