//! Memory for code: never writable and executable at one address.
//!
//! # Safety
//! Anonymous shared memory is mapped twice: writable here, executable where code runs. Only
//! [`Arena::add`] writes, to bytes of the current generation that no code has been given out for
//! since its turn began. Neither mapping is inherited by `fork`: a shared one would be written by
//! both.

#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Generations at most; fewer where each would have less than [`LEAST`] bytes.
const GENERATIONS: usize = 8;
/// Bytes of a generation at least: several regions fit.
const LEAST: usize = 1 << 16;

/// Code memory of a fixed size, in generations that are filled in turn.
#[derive(Debug)]
pub(crate) struct Arena {
    write: usize,
    execute: usize,
    size: usize,
    generations: usize,
    current: usize,
    /// Bytes used of the current generation.
    used: usize,
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
        let generations = (size / LEAST).clamp(3, GENERATIONS);
        let size = (size / generations / LEAST).max(1) * LEAST * generations;
        // Shared memory that is mapped twice. A file in memory would do, too, but for the user's limit
        // on the size of files, of which a signal tells.
        // SAFETY: plain system calls; every result is checked.
        unsafe {
            let writable = libc::PROT_READ | libc::PROT_WRITE;
            let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let write = libc::mmap(std::ptr::null_mut(), size, writable, shared, -1, 0);
            if write == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            // Of no bytes, this is a second mapping of the same.
            let execute = libc::mremap(write, 0, size, libc::MREMAP_MAYMOVE);
            let executable = libc::PROT_READ | libc::PROT_EXEC;
            let result =
                if execute == libc::MAP_FAILED || libc::mprotect(execute, size, executable) != 0 {
                    Err(io::Error::last_os_error())
                } else {
                    Ok(())
                };
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
                    generations,
                    current: 0,
                    used: 0,
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

    /// Adds code to the current generation; its executable address, or None if there is no room.
    pub fn add(&mut self, code: &[u8], align: usize) -> Option<usize> {
        let at = self.used.next_multiple_of(align.max(16));
        let end = at.checked_add(code.len())?;
        if end > self.room() {
            return None;
        }
        let start = self.current * self.room() + at;
        // SAFETY: the range lies in the writable mapping, in the current generation, and nothing
        // was given out in it since `turn`, whose caller vouches that nobody runs what was before.
        unsafe {
            let to = (self.write + start) as *mut u8;
            std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
        }
        self.used = end;
        synchronize(self.execute + start, code.len());
        Some(self.execute + start)
    }

    /// Code that was added, by its executable addresses.
    pub fn code(&self, range: &Range<usize>) -> &[u8] {
        let start = range.start.saturating_sub(self.execute).min(self.size);
        let len = range.len().min(self.size - start);
        // SAFETY: it lies in the writable mapping, which only `add` writes to, by `&mut self`.
        unsafe { std::slice::from_raw_parts((self.write + start) as *const u8, len) }
    }

    /// Bytes of a generation.
    pub fn room(&self) -> usize {
        self.size / self.generations
    }

    /// How many generations there are.
    pub fn generations(&self) -> usize {
        self.generations
    }

    /// The one that is being filled.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The one after `generation`.
    pub fn next(&self, generation: usize) -> usize {
        (generation + 1) % self.generations
    }

    /// The generation of an executable address.
    pub fn generation_of(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.execute)?;
        (offset < self.size).then(|| offset / self.room())
    }

    /// Fills the next generation from its start.
    ///
    /// # Safety
    /// Nobody runs code in it, or will.
    pub unsafe fn turn(&mut self) {
        self.current = self.next(self.current);
        self.used = 0;
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
