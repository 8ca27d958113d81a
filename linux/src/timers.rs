//! POSIX timers that the guest has: exec deletes them, fork doesn't inherit them.

use std::sync::{Mutex, PoisonError};

/// The host's ids of a process's timers.
#[derive(Debug, Default)]
pub(crate) struct Timers(Mutex<Vec<i32>>);

impl Timers {
    fn ids(&self) -> std::sync::MutexGuard<'_, Vec<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A timer was made.
    pub fn add(&self, id: i32) {
        self.ids().push(id);
    }

    /// A timer was deleted.
    pub fn remove(&self, id: i32) {
        self.ids().retain(|i| *i != id);
    }

    /// Deletes all.
    pub fn delete_all(&self) {
        for id in self.ids().drain(..) {
            // SAFETY: no pointers; the timer is the guest's.
            unsafe { libc::syscall(libc::SYS_timer_delete, id) };
        }
    }

    /// A child of fork has none.
    pub fn forget(&self) {
        self.ids().clear();
    }
}
