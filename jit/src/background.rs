//! The translator's own thread, and what it is asked for.
//!
//! # Safety
//! Signal masks are changed by system calls on values of this module's own.

#![allow(unsafe_code)]

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::cache::{Shared, State, Ticket};
use crate::region::Region;
use crate::slots::Slot;
use crate::variant::Mode;

/// Requests that wait at most: more are as good as forgotten, and asked for again.
const MOST: usize = 1024;

/// A translation that is wanted.
#[derive(Debug)]
pub(crate) struct Request {
    pub slot: Slot,
    pub mode: Mode,
    pub ticket: Ticket,
    pub region: Region,
    /// How often it was come by; the hottest is first.
    pub heat: u32,
}

/// What the thread is asked for, and the thread.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The older first.
    waiting: Vec<Request>,
    thread: Thread,
    /// The host's number of it, while it runs.
    id: Option<i32>,
    /// It is at work.
    busy: bool,
    ends: bool,
}

#[derive(Debug, Default)]
enum Thread {
    /// Nothing was asked for yet.
    #[default]
    None,
    Runs(JoinHandle<()>),
    /// The host gives no thread.
    Refused,
}

impl Queue {
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= MOST
    }

    /// Whether something is asked for, or at work.
    pub fn is_busy(&self) -> bool {
        self.busy || !self.waiting.is_empty()
    }

    /// The host's number of the thread, if there is one.
    pub fn thread_id(&self) -> Option<i32> {
        self.id
    }

    pub fn add(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// What is asked for has become hotter.
    pub fn heat(&mut self, slot: Slot, heat: u32) {
        if let Some(r) = self.waiting.iter_mut().find(|r| r.slot == slot) {
            r.heat = r.heat.max(heat);
        }
    }

    /// Takes the hottest, and of those the oldest.
    fn take(&mut self) -> Option<Request> {
        let heats = self.waiting.iter().enumerate().rev();
        let (i, _) = heats.max_by_key(|(_, r)| r.heat)?;
        Some(self.waiting.remove(i))
    }

    /// In the child of a fork the thread isn't there.
    pub fn forget_after_fork(&mut self) {
        self.waiting.clear();
        self.busy = false;
        self.id = None;
        // There is no such thread to detach, either.
        std::mem::forget(std::mem::take(&mut self.thread));
    }
}

/// Starts the thread if it doesn't run yet; false if there is none to be had.
pub(crate) fn start(shared: &Arc<Shared>, state: &mut State) -> bool {
    match state.queue.thread {
        Thread::Runs(_) => true,
        Thread::Refused => false,
        Thread::None => {
            let shared = Arc::clone(shared);
            let spawned = without_signals(|| {
                let name = std::thread::Builder::new().name("axperf-jit".into());
                name.spawn(move || work(&shared))
            });
            let (thread, runs) = match spawned {
                Ok(handle) => (Thread::Runs(handle), true),
                // Whoever asks translates on its own thread, then.
                Err(_) => (Thread::Refused, false),
            };
            state.queue.thread = thread;
            runs
        }
    }
}

/// Ends the thread, if there is one, and waits for it.
pub(crate) fn stop(shared: &Shared) {
    let thread = {
        let mut state = shared.lock();
        state.queue.ends = true;
        std::mem::take(&mut state.queue.thread)
    };
    shared.work.notify_all();
    if let Thread::Runs(handle) = thread {
        // A panic was reported when it happened.
        let _ = handle.join();
    }
}

/// Calls `f` with all signals blocked: a thread that it starts never gets one.
fn without_signals<T>(f: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    // SAFETY: zero is a valid signal set, and both are ours.
    unsafe {
        let (mut all, mut old): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        result
    }
}

/// What the thread does.
fn work(shared: &Shared) {
    let mut compiler = shared.compiler();
    let mut state = shared.lock();
    // SAFETY: gettid has no preconditions and doesn't fail.
    state.queue.id = Some(unsafe { libc::gettid() });
    while !state.queue.ends {
        let Some(request) = state.queue.take() else {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        if !state.wants(request.slot, request.ticket) {
            continue;
        }
        state.queue.busy = true;
        drop(state);
        let start = Instant::now();
        let compile = AssertUnwindSafe(|| compiler.compile(&request.region, request.mode));
        let object = match catch_unwind(compile) {
            Ok(object) => object,
            Err(_) => {
                // The panic hook has told of it. The region is left to the interpreter, and
                // nothing of the compiler is used again.
                compiler = shared.compiler();
                None
            }
        };
        state = shared.lock();
        state.queue.busy = false;
        shared.publish(&mut state, &request, object);
        state.spent(start.elapsed(), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::requests;

    /// The hottest first, of those the oldest.
    #[test]
    fn order() {
        let mut queue = Queue::default();
        let all = requests(&[5, 7, 7, 1]);
        let slots: Vec<Slot> = all.iter().map(|r| r.slot).collect();
        for r in all {
            queue.add(r);
        }
        assert_eq!(queue.take().unwrap().slot, slots[1]);
        queue.heat(slots[3], 8);
        assert_eq!(queue.take().unwrap().slot, slots[3]);
        assert_eq!(queue.take().unwrap().slot, slots[2]);
        assert_eq!(queue.take().unwrap().slot, slots[0]);
        assert!(queue.take().is_none());
    }
}
