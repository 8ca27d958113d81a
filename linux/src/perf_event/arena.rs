//! What the guest's processes share of perf: one mapping, made before the first fork.
//!
//! It holds a table of tasks, a table of events, and the memory of rings. All words are atomics, for
//! several processes reach them; whoever changes what others act on begins a new *generation*, and
//! every thread looks at that before it runs on. Memory of rings that a thread may still write to is
//! not used again before that thread has seen a later generation.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use axperf::perf::{ALPHA_PAGE, Ring};

use super::slot::Slot;
use crate::descriptors;
use crate::errno::Errno;

/// Tasks, events and rings that there can be.
const TASKS: usize = 2048;
const SLOTS: usize = 1024;
const RINGS: usize = 512;

/// Bytes for all rings together.
const RING_BYTES: usize = 1 << 30;

/// A guest thread that events can be opened on.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Task {
    /// Its id; 0 if the entry is free.
    pub tid: AtomicI32,
    pub pid: AtomicI32,
    /// The last generation that it has seen.
    seen: AtomicU64,
}

/// A ring of the guest's.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RingSlot {
    /// Events that write to it; 0 if the entry is free.
    pub users: AtomicU32,
    /// The event that it was mapped for.
    pub owner: AtomicU32,
    /// Where it is in the memory of rings, and its data's size, in pages.
    start: AtomicU32,
    pub pages: AtomicU32,
    /// The reader's mapping can't be written: old records are overwritten.
    pub overwrite: AtomicU32,
    _unused: AtomicU32,
    /// The generation in which it was given back.
    freed: AtomicU64,
    control: [AtomicU64; Ring::CONTROL_SIZE / 8],
}

#[repr(C)]
struct Tables {
    generation: AtomicU64,
    ids: AtomicU64,
    /// The thread that changes tables, or 0.
    lock: AtomicU32,
    /// Whether there ever was an event.
    used: AtomicU32,
    inode: AtomicU64,
    tasks: [Task; TASKS],
    slots: [Slot; SLOTS],
    rings: [RingSlot; RINGS],
}

const TABLES: usize = size_of::<Tables>().next_multiple_of(65536);

/// The mapping.
#[derive(Debug)]
pub(crate) struct Arena {
    memory: OwnedFd,
    at: NonNull<u8>,
}

// SAFETY: the mapping lives as long as the arena, and all in it are atomics, but for the rings' data,
// which `Ring` guards.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// An arena for this process and those forked from it.
    pub fn new() -> Result<Arena, Errno> {
        // SAFETY: a C string; the descriptor is ours.
        let memory = unsafe {
            let fd = libc::memfd_create(c"perf_event".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(Errno::last());
            }
            File::from_raw_fd(fd)
        };
        set_len(&memory, (TABLES + RING_BYTES) as u64)?;
        let inode = memory.metadata()?.ino();
        let memory = descriptors::lift(memory.into())?;
        let arena = Arena { at: map(memory.as_fd())?, memory };
        arena.tables().inode.store(inode, Ordering::Relaxed);
        Ok(arena)
    }

    fn tables(&self) -> &Tables {
        // SAFETY: the mapping begins with them; they were zero, and are atomics.
        unsafe { self.at.cast().as_ref() }
    }

    /// The memory, for a mapping of the guest's.
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    /// Whether there ever was an event.
    pub fn is_used(&self) -> bool {
        self.tables().used.load(Ordering::Relaxed) != 0
    }

    /// The current generation.
    pub fn generation(&self) -> u64 {
        self.tables().generation.load(Ordering::Acquire)
    }

    /// Begins another generation: threads look at their events again.
    pub fn change(&self) {
        self.tables().generation.fetch_add(1, Ordering::AcqRel);
    }

    /// A new event's id.
    pub fn new_id(&self) -> u64 {
        self.tables().ids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// An event by its number.
    pub fn slot(&self, index: u32) -> &Slot {
        &self.tables().slots[index as usize % SLOTS]
    }

    /// The events that there are, with their numbers.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let slots = self.is_used().then_some(&self.tables().slots);
        slots.into_iter().flatten().zip(0..).filter(|(s, _)| s.is_live()).map(|(s, i)| (i, s))
    }

    /// Takes a free entry for an event; the caller holds the lock.
    pub fn free_slot(&self) -> Option<u32> {
        self.tables().used.store(1, Ordering::Release);
        self.tables().slots.iter().position(|s| !s.is_live()).map(|i| i as u32)
    }

    /// Keeps others from changing the tables.
    pub fn lock(&self) -> Guard<'_> {
        let lock = &self.tables().lock;
        // SAFETY: no arguments.
        let me = unsafe { libc::gettid() } as u32;
        let mut tries = 0u32;
        while let Err(owner) = lock.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            tries += 1;
            if tries.is_multiple_of(1000) && owner != 0 && !is_alive(owner as i32) {
                // It was killed meanwhile.
                let _ = lock.compare_exchange(owner, 0, Ordering::AcqRel, Ordering::Relaxed);
            }
            std::thread::yield_now();
        }
        Guard(lock)
    }

    /// Takes in a thread, if it isn't in; None if there is no room: then no event can be opened on it.
    pub fn enter(&self, pid: i32, tid: i32) -> Option<usize> {
        let _guard = self.lock();
        let tasks = &self.tables().tasks;
        let is_it =
            |t: &Task| (t.pid.load(Ordering::Relaxed), t.tid.load(Ordering::Relaxed)) == (pid, tid);
        if let Some(i) = tasks.iter().position(is_it) {
            return Some(i);
        }
        let tid_of = |t: &Task| t.tid.load(Ordering::Relaxed);
        let free = tasks.iter().position(|t| tid_of(t) == 0);
        // Those that were killed didn't leave.
        let i = free.or_else(|| tasks.iter().position(|t| !is_alive(tid_of(t))))?;
        tasks[i].pid.store(pid, Ordering::Relaxed);
        tasks[i].seen.store(self.generation(), Ordering::Relaxed);
        tasks[i].tid.store(tid, Ordering::Release);
        Some(i)
    }

    /// Lets a thread go.
    pub fn leave(&self, task: usize) {
        self.tables().tasks[task].tid.store(0, Ordering::Release);
    }

    /// The thread has seen this generation.
    pub fn saw(&self, task: usize, generation: u64) {
        self.tables().tasks[task].seen.store(generation, Ordering::Release);
    }

    /// The guest's threads, of all its processes: process and thread.
    pub fn tasks(&self) -> impl Iterator<Item = (i32, i32)> {
        let tasks = self.tables().tasks.iter();
        tasks
            .map(|t| (t.pid.load(Ordering::Relaxed), t.tid.load(Ordering::Acquire)))
            .filter(|(_, tid)| *tid != 0)
    }

    /// Makes a ring of `pages` data pages for an event; its number.
    pub fn new_ring(&self, owner: u32, pages: u32, overwrite: bool) -> Result<u32, Errno> {
        let _guard = self.lock();
        let rings = &self.tables().rings;
        let seen = self.seen_by_all();
        let is_usable = |r: &RingSlot| {
            r.users.load(Ordering::Relaxed) == 0 && r.freed.load(Ordering::Relaxed) <= seen
        };
        let i = rings.iter().position(is_usable).ok_or(Errno(libc::ENOMEM))?;
        // What is taken, or may still be written to.
        let mut taken: Vec<(u32, u32)> = rings
            .iter()
            .filter(|r| !is_usable(r))
            .map(|r| (r.start.load(Ordering::Relaxed), r.pages.load(Ordering::Relaxed) + 1))
            .collect();
        taken.sort_unstable();
        let mut start = 0;
        for (at, len) in taken {
            if at > start + pages {
                break;
            }
            start = start.max(at + len);
        }
        let end = (u64::from(start) + u64::from(pages) + 1) * ALPHA_PAGE as u64;
        if end > RING_BYTES as u64 {
            return Err(Errno(libc::ENOMEM));
        }
        let ring = &rings[i];
        self.empty(start, pages + 1);
        for word in &ring.control {
            word.store(0, Ordering::Relaxed);
        }
        ring.start.store(start, Ordering::Relaxed);
        ring.pages.store(pages, Ordering::Relaxed);
        ring.owner.store(owner, Ordering::Relaxed);
        ring.overwrite.store(overwrite.into(), Ordering::Relaxed);
        ring.users.store(1, Ordering::Release);
        Ok(i as u32)
    }

    /// A ring's entry.
    pub fn ring_slot(&self, ring: u32) -> &RingSlot {
        &self.tables().rings[ring as usize % RINGS]
    }

    /// A ring, to write to from this process.
    pub fn ring(&self, ring: u32, first: bool) -> Result<Ring, Errno> {
        let entry = self.ring_slot(ring);
        let bytes = entry.pages.load(Ordering::Relaxed) as usize * ALPHA_PAGE;
        let start = self.ring_offset(ring) as usize;
        if start + ALPHA_PAGE + bytes > TABLES + RING_BYTES {
            return Err(Errno(libc::ENOMEM));
        }
        let control = NonNull::from(&entry.control).cast();
        // SAFETY: the range lies in the mapping, whose memory is zero at first, and is no other
        // ring's as long as a thread may write to it; so are the words.
        unsafe { Ring::join(control, self.at.add(start), ALPHA_PAGE, bytes, first) }
            .map_err(|_| Errno(libc::EINVAL))
    }

    /// Where a ring is in the memory.
    pub fn ring_offset(&self, ring: u32) -> u64 {
        let start = self.ring_slot(ring).start.load(Ordering::Relaxed);
        TABLES as u64 + u64::from(start) * ALPHA_PAGE as u64
    }

    /// One event less writes to a ring.
    pub fn drop_ring(&self, ring: u32) {
        let entry = self.ring_slot(ring);
        if entry.users.load(Ordering::Relaxed) == 1 {
            entry.freed.store(self.generation() + 1, Ordering::Relaxed);
        }
        let less = |n: u32| n.checked_sub(1);
        // It never is 0 here, but shared memory may hold anything.
        let _ = entry.users.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);
    }

    /// Inode of the memory.
    pub fn inode(&self) -> u64 {
        self.tables().inode.load(Ordering::Relaxed)
    }

    /// Pages of all rings.
    pub fn ring_pages(&self) -> u64 {
        let rings = self.tables().rings.iter();
        let used = rings.filter(|r| r.users.load(Ordering::Relaxed) != 0);
        used.map(|r| u64::from(r.pages.load(Ordering::Relaxed)) + 1).sum()
    }

    /// Whether every thread but `me` has seen a generation.
    pub fn has_seen(&self, me: i32, generation: u64) -> bool {
        let tasks = self.tables().tasks.iter();
        let others = tasks.filter(|t| {
            let tid = t.tid.load(Ordering::Relaxed);
            tid != 0 && tid != me && is_alive(tid)
        });
        others.map(|t| t.seen.load(Ordering::Acquire)).all(|seen| seen >= generation)
    }

    /// The generation that every thread has seen.
    fn seen_by_all(&self) -> u64 {
        let tasks = self.tables().tasks.iter();
        tasks
            .filter(|t| {
                let tid = t.tid.load(Ordering::Relaxed);
                tid != 0 && is_alive(tid)
            })
            .map(|t| t.seen.load(Ordering::Acquire))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Zeros in place of what was in these pages.
    fn empty(&self, start: u32, pages: u32) {
        let at = TABLES as u64 + u64::from(start) * ALPHA_PAGE as u64;
        let len = u64::from(pages) * ALPHA_PAGE as u64;
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: no pointers. Should it fail, a reader finds old records where none are.
        unsafe { libc::fallocate(self.memory.as_raw_fd(), how, at as i64, len as i64) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is the arena's, and whoever has a ring in it has the arena.
        unsafe { libc::munmap(self.at.as_ptr().cast(), TABLES + RING_BYTES) };
    }
}

/// The right to change the tables.
pub(crate) struct Guard<'a>(&'a AtomicU32);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Sets the size of a file in memory: the user's limit on files isn't meant for it, and would be told
/// by a signal.
fn set_len(file: &File, len: u64) -> Result<(), Errno> {
    // SAFETY: zero is a valid value of the structure, which getrlimit fills.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) != 0 {
            return Err(Errno::last());
        }
        limit
    };
    if limit.rlim_cur >= len {
        return Ok(file.set_len(len)?);
    }
    if limit.rlim_max < len {
        return Err(Errno(libc::EFBIG));
    }
    let raised = libc::rlimit { rlim_cur: len, ..limit };
    // SAFETY: both are limits, valid for the calls.
    unsafe {
        if libc::setrlimit(libc::RLIMIT_FSIZE, &raised) != 0 {
            return Err(Errno::last());
        }
        let set = file.set_len(len);
        libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
        Ok(set?)
    }
}

fn map(memory: BorrowedFd<'_>) -> Result<NonNull<u8>, Errno> {
    // SAFETY: a fresh mapping wherever the host likes touches nothing else.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            TABLES + RING_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE,
            memory.as_raw_fd(),
            0,
        )
    };
    match NonNull::new(at.cast()) {
        Some(start) if at != libc::MAP_FAILED => Ok(start),
        _ => Err(Errno::last()),
    }
}

/// Whether there is a process or thread with this id.
pub(crate) fn is_alive(id: i32) -> bool {
    // SAFETY: signal 0 only checks.
    let sent = unsafe { libc::kill(id, 0) };
    sent == 0 || Errno::last() != Errno(libc::ESRCH)
}
