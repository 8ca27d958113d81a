//! What the processes of a trace share: whose line is open, how many threads there are.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// Three words that forked children have in common with their parents.
#[derive(Debug)]
pub(super) struct Board {
    words: &'static [AtomicI32; 3],
}

/// The thread that may write; 0 for none.
const LOCK: usize = 0;
/// The thread whose line isn't ended; 0 for none.
const OPEN: usize = 1;
/// Threads that are traced.
const COUNT: usize = 2;

/// Tries before a thread that holds the lock is looked for: it may have been killed.
const PATIENCE: u32 = 1000;

impl Board {
    pub fn new() -> io::Result<Board> {
        // SAFETY: a new mapping; it is never unmapped, zero is valid, and all access is atomic.
        unsafe {
            let at = libc::mmap(
                std::ptr::null_mut(),
                size_of::<[AtomicI32; 3]>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if at == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            Ok(Board { words: &*at.cast() })
        }
    }

    /// Takes the lock.
    pub fn hold(&self, tid: i32) -> Held<'_> {
        let lock = &self.words[LOCK];
        let mut tries = 0u32;
        while let Err(holder) = lock.compare_exchange(0, tid, Ordering::Acquire, Ordering::Relaxed)
        {
            tries += 1;
            if tries.is_multiple_of(PATIENCE) && is_gone(holder) {
                // Whoever sees the same may come first; then this fails and that one has it.
                let _ = lock.compare_exchange(holder, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
            std::thread::yield_now();
        }
        Held(lock)
    }

    pub fn open(&self) -> i32 {
        self.words[OPEN].load(Ordering::Relaxed)
    }

    /// Says whose line is open; the lock is held.
    pub fn set_open(&self, tid: i32) {
        self.words[OPEN].store(tid, Ordering::Relaxed);
    }

    /// More threads, or fewer.
    pub fn count(&self, by: i32) {
        self.words[COUNT].fetch_add(by, Ordering::Relaxed);
    }

    /// Whether there is one thread.
    pub fn is_alone(&self) -> bool {
        self.words[COUNT].load(Ordering::Relaxed) <= 1
    }
}

fn is_gone(tid: i32) -> bool {
    // SAFETY: no pointers; signal 0 is only a question.
    let r = unsafe { libc::syscall(libc::SYS_tkill, tid, 0) };
    r == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// The lock, until it is dropped.
pub(super) struct Held<'a>(&'a AtomicI32);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}
