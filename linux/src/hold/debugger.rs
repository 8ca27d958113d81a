//! The debugger's side: stopping all threads, looking at them, letting them go.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::Ordering;

use axperf::Regs;

use super::{Event, Go, Hold, Order, Place};
use crate::process::ExitStatus;
use crate::watch::Watch;

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

    /// The calling thread serves debuggers.
    pub fn serve(&self) {
        // SAFETY: no pointers.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
        self.server.store(tid, Ordering::Release);
    }

    /// The thread that serves debuggers, if there is one.
    pub fn server(&self) -> Option<i32> {
        Some(self.server.load(Ordering::Acquire)).filter(|tid| *tid != 0)
    }

    /// A forked child is to close this descriptor, the `n`th of two; None if it is closed.
    pub fn own(&self, n: usize, fd: Option<BorrowedFd<'_>>) {
        self.own[n].store(fd.map_or(-1, |fd| fd.as_raw_fd()), Ordering::Release);
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
            slot.order = Some(order.after(slot.order.as_ref()));
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
