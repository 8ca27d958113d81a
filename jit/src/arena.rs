//! Memory for code: never writable and executable at one address.
//!
//! # Safety
//! One anonymous file is mapped twice: writable here, executable where code runs. Only
//! [`Arena::add`] writes, to bytes that no code has been given out for yet. Neither mapping is
//! inherited by `fork`: a shared one would be written by both.

#![allow(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Code memory of a fixed size, filled from the start.
#[derive(Debug)]
pub(crate) struct Arena {
    write: usize,
    execute: usize,
    size: usize,
    used: usize,
    full: bool,
    range: &'static LiveRange,
}

/// Executable ranges that are alive, for the signal handler.
#[derive(Debug)]
struct LiveRange {
    start: AtomicUsize,
    end: AtomicUsize,
}

const MOST: usize = 1024;
static LIVE: [LiveRange; MOST] =
    [const { LiveRange { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; MOST];
/// Entries of `LIVE` that were ever in use.
static HIGH: AtomicUsize = AtomicUsize::new(0);

/// Whether `pc` is an address in translated code. Async-signal-safe.
#[must_use]
pub fn is_translated(pc: usize) -> bool {
    LIVE[..HIGH.load(Ordering::Acquire)]
        .iter()
        .any(|r| r.start.load(Ordering::Acquire) <= pc && pc < r.end.load(Ordering::Acquire))
}

fn claim(start: usize, end: usize) -> io::Result<&'static LiveRange> {
    for (i, r) in LIVE.iter().enumerate() {
        if r.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            r.end.store(end, Ordering::Release);
            HIGH.fetch_max(i + 1, Ordering::AcqRel);
            return Ok(r);
        }
    }
    Err(io::Error::other(format!("more than {MOST} code caches in one process")))
}

impl Arena {
    pub fn new(size: usize) -> io::Result<Arena> {
        let size = size.max(1 << 16).next_multiple_of(1 << 16);
        // SAFETY: plain system calls; every result is checked, and the file is closed on each path.
        unsafe {
            let fd = libc::memfd_create(c"axperf-code".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let map = |prot| libc::mmap(std::ptr::null_mut(), size, prot, libc::MAP_SHARED, fd, 0);
            let mut result = Ok(());
            let (mut write, mut execute) = (libc::MAP_FAILED, libc::MAP_FAILED);
            if libc::ftruncate(fd, size as libc::off_t) == 0 {
                write = map(libc::PROT_READ | libc::PROT_WRITE);
                execute = map(libc::PROT_READ | libc::PROT_EXEC);
            }
            if write == libc::MAP_FAILED || execute == libc::MAP_FAILED {
                result = Err(io::Error::last_os_error());
            }
            libc::close(fd);
            let range = result.and_then(|()| {
                libc::madvise(write, size, libc::MADV_DONTFORK);
                libc::madvise(execute, size, libc::MADV_DONTFORK);
                claim(execute as usize, execute as usize + size)
            });
            match range {
                Ok(range) => Ok(Arena {
                    write: write as usize,
                    execute: execute as usize,
                    size,
                    used: 0,
                    full: false,
                    range,
                }),
                Err(e) => {
                    for p in [write, execute] {
                        if p != libc::MAP_FAILED {
                            libc::munmap(p, size);
                        }
                    }
                    Err(e)
                }
            }
        }
    }

    /// Adds code; its executable address, or None if there is no room.
    pub fn add(&mut self, code: &[u8], align: usize) -> Option<usize> {
        let at = self.used.next_multiple_of(align.max(16));
        let end = at.checked_add(code.len())?;
        if end > self.size {
            self.full = true;
            return None;
        }
        // SAFETY: the range lies in the writable mapping, and nothing was given out in it.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), (self.write + at) as *mut u8, code.len());
        }
        self.used = end;
        synchronize(self.execute + at, code.len());
        Some(self.execute + at)
    }

    /// Whether something had no room.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used
    }

    /// After `fork` the mappings are the parent's alone: there is nothing to unmap.
    pub fn forget_after_fork(self) {
        self.range.end.store(0, Ordering::Release);
        self.range.start.store(0, Ordering::Release);
        std::mem::forget(self);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.range.end.store(0, Ordering::Release);
        self.range.start.store(0, Ordering::Release);
        // SAFETY: both mappings are ours; whoever entered the code holds the cache that owns us.
        unsafe {
            libc::munmap(self.write as *mut _, self.size);
            libc::munmap(self.execute as *mut _, self.size);
        }
    }
}

/// Makes the instruction stream see new code.
#[cfg(target_arch = "x86_64")]
fn synchronize(_at: usize, _len: usize) {}

/// Makes the instruction stream see new code.
#[cfg(target_arch = "aarch64")]
fn synchronize(at: usize, len: usize) {
    // Cache lines are 16 bytes at least.
    let lines = (at & !15..at + len).step_by(16);
    // SAFETY: cache maintenance by address on memory that is mapped.
    unsafe {
        for line in lines.clone() {
            std::arch::asm!("dc cvau, {}", in(reg) line);
        }
        std::arch::asm!("dsb ish");
        for line in lines {
            std::arch::asm!("ic ivau, {}", in(reg) line);
        }
        std::arch::asm!("dsb ish", "isb");
    }
}
