//! Who is inside translated code: old code is reused only when nobody can be in it.
//!
//! Time is counted in epochs. Before code or slots are to be reused, all ways to them are cut and a
//! new epoch begins; whoever enters after that finds none of them. So they are free when nobody is
//! inside who entered in an older epoch.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};

use crate::cache::Cache;

/// A machine, as the cache sees it.
pub trait Presence: Send + Sync {
    /// The epoch in which it entered; 0 while it is outside. Written by [`Pass`] only.
    fn inside(&self) -> &AtomicU64;

    /// Asks it to come out of translated code, where that looks for it.
    fn call_out(&self);
}

/// A machine's right to enter translated code.
///
/// What it knows of slots is valid for the epoch in which it learned it: [`Pass::enter`] says if
/// that is over.
pub struct Pass {
    presence: Arc<dyn Presence>,
    /// The epoch whose slots the machine knows.
    seen: u64,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl Pass {
    pub(crate) fn new(presence: Arc<dyn Presence>, epoch: u64) -> Pass {
        Pass { presence, seen: epoch }
    }

    /// From here until [`leave`](Pass::leave) no code is reused that a slot leads to. False if
    /// slots may stand for other addresses by now: then the machine is still outside, and must
    /// forget all of them and look them up again.
    #[must_use]
    #[inline]
    pub fn enter(&mut self, cache: &Cache) -> bool {
        self.presence.inside().store(self.seen, Ordering::Relaxed);
        // Either who begins an epoch sees us inside, or we see the new epoch.
        fence(Ordering::SeqCst);
        let epoch = cache.epoch().load(Ordering::Relaxed);
        if epoch == self.seen {
            return true;
        }
        self.leave();
        self.seen = epoch;
        false
    }

    /// Outside again.
    #[inline]
    pub fn leave(&self) {
        self.presence.inside().store(0, Ordering::Release);
    }
}

/// All machines of a cache.
#[derive(Default)]
pub(crate) struct Everyone(Vec<Weak<dyn Presence>>);

impl Everyone {
    pub fn add(&mut self, presence: &Arc<dyn Presence>) {
        self.0.retain(|p| p.strong_count() > 0);
        self.0.push(Arc::downgrade(presence));
    }

    /// Whether nobody is inside who entered before an epoch began; calls those out who are.
    pub fn left_before(&self, epoch: u64) -> bool {
        fence(Ordering::SeqCst);
        let mut all = true;
        for p in self.0.iter().filter_map(Weak::upgrade) {
            let entered = p.inside().load(Ordering::Acquire);
            if entered != 0 && entered < epoch {
                p.call_out();
                all = false;
            }
        }
        all
    }

    /// Calls out everyone who is inside: those who enter from now on see what was done before.
    pub fn call_out(&self) {
        self.left_before(u64::MAX);
    }

    /// In the child of a fork nobody is inside: the one who forked is outside, and the others
    /// aren't there.
    pub fn forget_after_fork(&self) {
        for p in self.0.iter().filter_map(Weak::upgrade) {
            p.inside().store(0, Ordering::Release);
        }
    }
}
