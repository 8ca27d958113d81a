//! The state of a machine that others reach too: translated code by address, other threads and
//! signal handlers through the poll flag.
//!
//! # Safety
//! The registers are in an `UnsafeCell`, reached only by the machine that owns them (and by
//! translated code that it has entered); others touch the atomic words beside them alone.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axperf_isa::Regs;
use axperf_jit::Presence;

/// Registers, and the flag that translated code polls right after them.
#[repr(C, align(64))]
pub(crate) struct Cpu {
    regs: UnsafeCell<Regs>,
    /// Bits: why to come back.
    poll: AtomicU64,
    inside: AtomicU64,
}

/// Someone wants an exit.
const KICK: u64 = 1;
/// Old code is to be reused: nobody may be in it.
const OUT: u64 = 2;

impl Presence for Cpu {
    fn inside(&self) -> &AtomicU64 {
        &self.inside
    }

    fn call_out(&self) {
        self.poll.fetch_or(OUT, Ordering::Release);
    }
}

const _: () = assert!(std::mem::offset_of!(Cpu, poll) == axperf_jit::POLL_OFFSET);

// SAFETY: see the module: other threads reach the atomic words only.
unsafe impl Sync for Cpu {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Cpu {}

/// The owner's handle on a [`Cpu`]: one for each, so `&mut` on it is `&mut` on the registers.
pub(crate) struct CpuBox(Arc<Cpu>);

impl CpuBox {
    pub fn new(regs: Regs) -> CpuBox {
        CpuBox(Arc::new(Cpu {
            regs: UnsafeCell::new(regs),
            poll: AtomicU64::new(0),
            inside: AtomicU64::new(0),
        }))
    }

    #[inline(always)]
    pub fn regs(&self) -> &Regs {
        // SAFETY: only `regs_mut` gives a mutable reference, and it borrows `self` mutably.
        unsafe { &*self.0.regs.get() }
    }

    #[inline(always)]
    pub fn regs_mut(&mut self) -> &mut Regs {
        // SAFETY: as above; there is one CpuBox for a Cpu.
        unsafe { &mut *self.0.regs.get() }
    }

    /// The address that translated code gets.
    pub fn address(&self) -> *mut u64 {
        self.0.regs.get().cast()
    }

    /// True if translated code was asked to come back.
    #[inline(always)]
    pub fn kicked(&self) -> bool {
        self.0.poll.load(Ordering::Relaxed) != 0
    }

    /// Takes the kick, if that is what it was.
    pub fn take_kick(&self) -> bool {
        self.0.poll.swap(0, Ordering::AcqRel) & KICK != 0
    }

    /// The machine, as the cache sees it.
    pub fn presence(&self) -> Arc<dyn Presence> {
        Arc::<Cpu>::clone(&self.0)
    }

    pub fn kick(&self) -> Kick {
        Kick(Arc::clone(&self.0))
    }
}

impl std::fmt::Debug for CpuBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.regs().fmt(f)
    }
}

/// Makes a running machine come back with [`Exit::Interrupted`](crate::Exit::Interrupted).
///
/// It may be used from any thread and from a signal handler. Translated code looks only where
/// [`Machine::set_async`](crate::Machine::set_async) said that a kick can come, or where fuel or a
/// sampler makes it count.
#[derive(Clone)]
pub struct Kick(Arc<Cpu>);

impl Kick {
    /// Kicks: the machine comes back before it executes much more, or at once when it is next run.
    pub fn now(&self) {
        self.0.poll.fetch_or(KICK, Ordering::Release);
    }
}

impl std::fmt::Debug for Kick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kick")
    }
}
