//! The threads' side: coming and going, stopping, waiting for an order.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use axperf::Regs;

use super::{Event, FAREWELL, Hold, Order, Place, Slot, Still};
use crate::process::ExitStatus;
use crate::signal::host::Mailbox;
use crate::thread::Cpu;
use crate::watch::Watch;

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
        slot.take_order()
    }

    /// Stops the calling thread if threads are to be still, and all for its event if it has one.
    /// Returns when it may go on, with what it was told; None if nobody told it anything.
    pub fn stop(&self, tid: i32, cpu: &mut Cpu, event: Option<Event>) -> Option<Order> {
        let mut event = event;
        let mut state = self.lock();
        // What it was told while it was in a system call.
        let mut order = state.threads.get_mut(&tid).and_then(Slot::take_order);
        loop {
            if event.is_none() && order.is_some() {
                return order;
            }
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
                order = slot.take_order().map(|new| new.after(order.as_ref())).or(order);
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
