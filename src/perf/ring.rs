//! perf's ring buffer: the mmap page's protocol.
//!
//! One page of control words, then 2^n pages of data. `data_head` and `data_tail` run freely and
//! count bytes; a record stands at its head modulo the data's size and may wrap. The writer
//! publishes `data_head` after a record's bytes; the reader publishes `data_tail` after it read
//! them. A record that doesn't fit is lost and counted, and a LOST record comes right before the
//! next one that fits.
//!
//! What the writer itself relies on stands in memory of its own, not in the page: whoever maps the
//! page may write anything there and spoils only what it reads itself.
#![allow(unsafe_code)]

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::record::kind;
use crate::error::Error;

/// Alpha's page, which perf's ring is made of there.
pub const ALPHA_PAGE: usize = 8192;

/// Offsets in the control page, as in `struct perf_event_mmap_page`.
mod page {
    pub const SIZE: usize = 72;
    pub const CAPABILITIES: usize = 40;
    pub const DATA_HEAD: usize = 1024;
    pub const DATA_TAIL: usize = 1032;
    pub const DATA_OFFSET: usize = 1040;
    pub const DATA_SIZE: usize = 1048;

    /// Bytes up to the reserved part: what the word `size` says.
    pub const KNOWN: u32 = 96;
    /// `cap_bit0_is_deprecated`: the page says what it can, which is nothing.
    pub const NO_CAPABILITY: u64 = 2;
}

/// When a reader is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// After so many samples.
    Samples(u32),
    /// When so many bytes were written.
    Bytes(u64),
}

/// What becomes of a record that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Full {
    /// It is lost and counted.
    #[default]
    Lose,
    /// It overwrites the oldest ones: the mode of a read-only mapping.
    Overwrite,
    /// The same, from the end of the buffer to its start: `write_backward`.
    OverwriteBackward,
    /// There is no reader: no record goes in, and none counts as lost.
    Discard,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is in the ring.
    Stored,
    /// It is in the ring, and it is time to read.
    Wake,
    /// It is lost.
    Lost,
}

/// The writer's own words.
#[repr(C)]
struct Control {
    /// 0, or who writes.
    lock: AtomicU32,
    paused: AtomicU32,
    head: AtomicU64,
    /// Records lost since the last LOST record.
    lost: AtomicU64,
    /// Samples since the last wake-up.
    samples: AtomicU64,
    /// Head at the last wake-up by bytes.
    woken_at: AtomicU64,
    /// A reader is to be woken.
    woken: AtomicU32,
}

/// A ring. Any number of threads may write; one may read.
pub struct Ring {
    control: NonNull<Control>,
    page: NonNull<u8>,
    data: NonNull<u8>,
    /// Bytes of data, a power of two.
    size: u64,
    full: Full,
    wakeup: Wakeup,
    /// Whether several processes write.
    shared: bool,
    /// What `drop` unmaps, if it is the ring's own.
    mapping: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the pointers are to mappings that live as long as the ring; the words in them are
// atomics, and the bytes of data are written under the lock and read by the one reader only.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("size", &self.size)
            .field("unread", &self.unread())
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

/// Bytes set apart for [`Control`]: a page of any host.
const CONTROL_BYTES: usize = 65536;

const _: () = assert!(size_of::<Control>() <= CONTROL_BYTES);

const _: () = assert!(size_of::<Control>() <= Ring::CONTROL_SIZE);

impl Ring {
    /// A ring with `bytes` bytes of data, for the threads of this process. After a fork the child
    /// has a copy of its own.
    ///
    /// # Errors
    /// `bytes` isn't a power of two of at least a page, or the host has no memory.
    pub fn new(bytes: usize) -> Result<Ring, Error> {
        Ring::allocate(bytes, false)
    }

    /// A ring with `bytes` bytes of data that processes forked from this one write to as well.
    ///
    /// # Errors
    /// As for [`Ring::new`].
    pub fn shared(bytes: usize) -> Result<Ring, Error> {
        Ring::allocate(bytes, true)
    }

    fn allocate(bytes: usize, shared: bool) -> Result<Ring, Error> {
        check_size(bytes)?;
        let mapping = map(CONTROL_BYTES + ALPHA_PAGE + bytes, shared)?;
        // SAFETY: the mapping is that long.
        let page = unsafe { mapping.0.add(CONTROL_BYTES) };
        // SAFETY: the page and the data are the rest of the mapping, which is zeroed.
        let ring = unsafe { Ring::at(mapping.0, page, ALPHA_PAGE, bytes, shared) };
        ring.begin();
        Ok(Ring { mapping: Some(mapping), ..ring })
    }

    /// A ring without a reader, for events whose records nobody wants.
    ///
    /// # Errors
    /// The host has no memory.
    pub fn discarding() -> Result<Ring, Error> {
        Ok(Ring::new(4096)?.with_full(Full::Discard))
    }

    /// A ring over memory of the caller's: a control page of `page_size` bytes, then `bytes` bytes
    /// of data.
    ///
    /// # Errors
    /// As for [`Ring::new`].
    ///
    /// # Safety
    /// The memory must be aligned to 8 bytes and stay mapped and writable as long as the ring
    /// lives, `page_size + bytes` bytes of it, and nobody may hold a Rust reference to it. Others
    /// may write to it at any time.
    pub unsafe fn over(
        memory: NonNull<u8>,
        page_size: usize,
        bytes: usize,
        shared: bool,
    ) -> Result<Ring, Error> {
        check_size(bytes)?;
        let mapping = map(CONTROL_BYTES, shared)?;
        // SAFETY: the caller vouches for the memory.
        let ring = unsafe { Ring::at(mapping.0, memory, page_size, bytes, shared) };
        ring.begin();
        Ok(Ring { mapping: Some(mapping), ..ring })
    }

    /// Bytes that [`Ring::join`] needs for the writers' own words.
    pub const CONTROL_SIZE: usize = 128;

    /// A ring over memory that several processes have mapped, `control` for the writers' own words
    /// apart from the ring itself. Each process joins it for itself; the one that is `first` makes
    /// the page what it is.
    ///
    /// # Errors
    /// `bytes` isn't a power of two of at least a page.
    ///
    /// # Safety
    /// As for [`Ring::over`]; `control` has [`CONTROL_SIZE`](Ring::CONTROL_SIZE) bytes, aligned to 8
    /// and zeroed before the first joins, which only rings over the same memory touch.
    pub unsafe fn join(
        control: NonNull<u8>,
        memory: NonNull<u8>,
        page_size: usize,
        bytes: usize,
        first: bool,
    ) -> Result<Ring, Error> {
        check_size(bytes)?;
        // SAFETY: the caller vouches for both.
        let ring = unsafe { Ring::at(control, memory, page_size, bytes, true) };
        if first {
            ring.begin();
        }
        Ok(ring)
    }

    /// # Safety
    /// `control` is room for `Control`, zeroed at first; `page` as in [`Ring::over`].
    unsafe fn at(
        control: NonNull<u8>,
        page: NonNull<u8>,
        page_size: usize,
        bytes: usize,
        shared: bool,
    ) -> Ring {
        Ring {
            control: control.cast(),
            page,
            // SAFETY: the data follows the page.
            data: unsafe { page.add(page_size) },
            size: bytes as u64,
            full: Full::Lose,
            wakeup: Wakeup::Bytes(bytes as u64 / 2),
            shared,
            mapping: None,
        }
    }

    /// Makes the control page what a reader finds at first.
    fn begin(&self) {
        let offset = self.data.as_ptr() as u64 - self.page.as_ptr() as u64;
        self.page_half(page::SIZE).store(page::KNOWN, Ordering::Relaxed);
        for (at, value) in [
            (page::CAPABILITIES, page::NO_CAPABILITY),
            (page::DATA_OFFSET, offset),
            (page::DATA_SIZE, self.size),
            (page::DATA_HEAD, 0),
            (page::DATA_TAIL, 0),
        ] {
            self.page_word(at).store(value, Ordering::Relaxed);
        }
    }

    /// Sets what becomes of records that find no room.
    #[must_use]
    pub fn with_full(mut self, full: Full) -> Ring {
        self.full = full;
        self
    }

    /// Sets when a reader is woken; at first that is when half the ring was written. 0 of either
    /// stands for that too.
    #[must_use]
    pub fn with_wakeup(mut self, wakeup: Wakeup) -> Ring {
        self.wakeup = match wakeup {
            Wakeup::Samples(0) | Wakeup::Bytes(0) => Wakeup::Bytes(self.size / 2),
            w => w,
        };
        self
    }

    /// Bytes of data.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes written and not yet read.
    #[must_use]
    pub fn unread(&self) -> u64 {
        let head = self.control().head.load(Ordering::Acquire);
        head.wrapping_sub(self.page_word(page::DATA_TAIL).load(Ordering::Relaxed))
    }

    /// Records lost that no LOST record told of yet.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.control().lost.load(Ordering::Relaxed)
    }

    /// While it is paused, every record is lost.
    pub fn pause(&self, paused: bool) {
        self.control().paused.store(u32::from(paused), Ordering::Relaxed);
    }

    /// Has the reader woken, whatever was written.
    pub fn wake(&self) {
        self.control().woken.store(1, Ordering::Release);
    }

    /// Whether the reader is to be woken; asked once.
    pub fn take_wake(&self) -> bool {
        let woken = &self.control().woken;
        woken.load(Ordering::Relaxed) != 0 && woken.swap(0, Ordering::AcqRel) != 0
    }

    /// Writes a record. `lost_record` gives the LOST record for a number of lost records; it is
    /// asked when there are any.
    pub fn push(&self, record: &[u64], lost_record: impl FnOnce(u64) -> Vec<u64>) -> Pushed {
        if self.full == Full::Discard {
            return Pushed::Stored;
        }
        let control = self.control();
        let _guard = self.lock();
        if control.paused.load(Ordering::Relaxed) != 0 {
            control.lost.fetch_add(1, Ordering::Relaxed);
            return Pushed::Lost;
        }
        let lost = control.lost.load(Ordering::Relaxed);
        let notice = if lost > 0 { lost_record(lost) } else { Vec::new() };
        let bytes = (notice.len() + record.len()) as u64 * 8;
        let head = control.head.load(Ordering::Relaxed);
        let Some(start) = self.reserve(head, bytes) else {
            control.lost.fetch_add(1, Ordering::Relaxed);
            return Pushed::Lost;
        };
        self.write(start, &notice);
        self.write(start.wrapping_add(notice.len() as u64 * 8), record);
        if lost > 0 {
            control.lost.fetch_sub(lost, Ordering::Relaxed);
        }
        let new_head = match self.full {
            Full::OverwriteBackward => start,
            Full::Lose | Full::Overwrite | Full::Discard => start.wrapping_add(bytes),
        };
        control.head.store(new_head, Ordering::Release);
        self.page_word(page::DATA_HEAD).store(new_head, Ordering::Release);
        match self.wakes(control, record, new_head) {
            true => {
                self.wake();
                Pushed::Wake
            }
            false => Pushed::Stored,
        }
    }

    /// Where `bytes` bytes go. One byte always stays free, as in the kernel.
    fn reserve(&self, head: u64, bytes: u64) -> Option<u64> {
        match self.full {
            Full::Lose => {
                let tail = self.page_word(page::DATA_TAIL).load(Ordering::Acquire);
                let room = tail.wrapping_sub(head).wrapping_sub(1) & (self.size - 1);
                (bytes <= room).then_some(head)
            }
            Full::Overwrite => (bytes < self.size).then_some(head),
            Full::OverwriteBackward => (bytes < self.size).then(|| head.wrapping_sub(bytes)),
            Full::Discard => None,
        }
    }

    fn write(&self, at: u64, words: &[u64]) {
        let bytes = size_of_val(words);
        let start = (at & (self.size - 1)) as usize;
        let first = bytes.min(self.size as usize - start);
        let from = words.as_ptr().cast::<u8>();
        // SAFETY: `start + first` is at most the data's size, and what is left over is less than
        // it, as `reserve` saw; the words are `bytes` long. Nobody has a reference to the data.
        unsafe {
            ptr::copy_nonoverlapping(from, self.data.as_ptr().add(start), first);
            ptr::copy_nonoverlapping(from.add(first), self.data.as_ptr(), bytes - first);
        }
    }

    fn wakes(&self, control: &Control, record: &[u64], head: u64) -> bool {
        match self.wakeup {
            Wakeup::Samples(n) => {
                if record.first().is_none_or(|w| *w as u32 != kind::SAMPLE) {
                    return false;
                }
                let samples = control.samples.load(Ordering::Relaxed) + 1;
                let wake = samples >= u64::from(n);
                control.samples.store(if wake { 0 } else { samples }, Ordering::Relaxed);
                wake
            }
            Wakeup::Bytes(n) => {
                let since = head.wrapping_sub(control.woken_at.load(Ordering::Relaxed));
                let since =
                    if self.full == Full::OverwriteBackward { since.wrapping_neg() } else { since };
                let wake = since >= n;
                if wake {
                    control.woken_at.store(head, Ordering::Relaxed);
                }
                wake
            }
        }
    }

    /// Appends all that is unread to `out` and marks it read; says how many bytes. Only the one
    /// reader may call it, and only for a ring that [loses](Full::Lose) records when full.
    pub fn drain(&self, out: &mut Vec<u8>) -> usize {
        let head = self.control().head.load(Ordering::Acquire);
        let tail = self.page_word(page::DATA_TAIL).load(Ordering::Relaxed);
        let unread = head.wrapping_sub(tail).min(self.size);
        let start = (tail & (self.size - 1)) as usize;
        let unread = unread as usize;
        let first = unread.min(self.size as usize - start);
        out.reserve(unread);
        // SAFETY: both pieces lie in the data, and the vector has room for both. The writer leaves
        // these bytes alone until the tail has moved; somebody else may change them, which is
        // harmless: bytes have no invalid values.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            ptr::copy_nonoverlapping(self.data.as_ptr().add(start), to, first);
            ptr::copy_nonoverlapping(self.data.as_ptr(), to.add(first), unread - first);
            out.set_len(out.len() + unread);
        }
        self.page_word(page::DATA_TAIL).store(tail.wrapping_add(unread as u64), Ordering::Release);
        unread
    }

    fn control(&self) -> &Control {
        // SAFETY: there is a `Control`, zeroed at first, whose words are atomics.
        unsafe { self.control.as_ref() }
    }

    fn page_word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the page is mapped and aligned, `at` is a multiple of 8 inside of it, and all
        // that this process does there is atomic.
        unsafe { AtomicU64::from_ptr(self.page.add(at).cast().as_ptr()) }
    }

    fn page_half(&self, at: usize) -> &AtomicU32 {
        // SAFETY: as for `page_word`, with a multiple of 4.
        unsafe { AtomicU32::from_ptr(self.page.add(at).cast().as_ptr()) }
    }

    /// Takes the write lock. In a shared ring it holds the thread's id, so that the lock of a
    /// process that was killed while it wrote can be taken over: what it wrote was never published.
    fn lock(&self) -> Guard<'_> {
        let lock = &self.control().lock;
        let me = if self.shared { thread_id() } else { 1 };
        let mut tries = 0u32;
        while let Err(owner) =
            lock.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed)
        {
            tries += 1;
            if tries.is_multiple_of(64) {
                std::thread::yield_now();
            }
            if self.shared && owner != 0 && tries.is_multiple_of(4096) && !is_alive(owner) {
                let taken = lock.compare_exchange(owner, me, Ordering::Acquire, Ordering::Relaxed);
                if taken.is_ok() {
                    break;
                }
            }
            std::hint::spin_loop();
        }
        Guard(lock)
    }
}

struct Guard<'a>(&'a AtomicU32);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Some((start, len)) = self.mapping {
            // SAFETY: the mapping is the ring's own, and nothing points into it any more.
            unsafe { libc::munmap(start.as_ptr().cast(), len) };
        }
    }
}

fn check_size(bytes: usize) -> Result<(), Error> {
    if bytes.is_power_of_two() && bytes >= 4096 {
        return Ok(());
    }
    Err(Error::RingSize { bytes })
}

fn map(len: usize, shared: bool) -> Result<(NonNull<u8>, usize), Error> {
    let flags = libc::MAP_ANONYMOUS | if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    // SAFETY: a fresh mapping wherever the host likes touches nothing else.
    let at = unsafe {
        libc::mmap(ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    match NonNull::new(at.cast::<u8>()) {
        Some(start) if at != libc::MAP_FAILED => Ok((start, len)),
        _ => Err(Error::os("map memory for a ring", std::io::Error::last_os_error())),
    }
}

fn thread_id() -> u32 {
    // SAFETY: has no arguments and can't fail.
    unsafe { libc::gettid() as u32 }
}

fn is_alive(thread: u32) -> bool {
    // SAFETY: signal 0 only checks that the thread exists.
    let sent = unsafe { libc::kill(thread as libc::pid_t, 0) };
    sent == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of `words` words, all but the header `fill`.
    fn record(words: usize, fill: u64) -> Vec<u64> {
        let mut r = vec![fill; words];
        r[0] = u64::from(kind::SAMPLE) | (words as u64 * 8) << 48;
        r
    }

    /// A LOST record as {header, id 7, count}.
    fn lost(count: u64) -> Vec<u64> {
        vec![u64::from(kind::LOST) | 24 << 48, 7, count]
    }

    fn words(bytes: &[u8]) -> Vec<u64> {
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
    }

    /// The control page as Linux 7.2 shows it for a software event on Alpha: version 0, size 96,
    /// capabilities 2, data_offset 8192.
    #[test]
    fn control_page_is_linux_s() {
        let ring = Ring::new(16384).unwrap();
        assert_eq!(ring.page_half(0).load(Ordering::Relaxed), 0);
        assert_eq!(ring.page_half(72).load(Ordering::Relaxed), 96);
        assert_eq!(ring.page_word(40).load(Ordering::Relaxed), 2);
        assert_eq!(ring.page_word(1040).load(Ordering::Relaxed), 8192);
        assert_eq!(ring.page_word(1048).load(Ordering::Relaxed), 16384);
    }

    #[test]
    fn records_come_out_as_they_went_in_across_the_wrap() {
        let ring = Ring::new(4096).unwrap();
        let mut got = Vec::new();
        for i in 0..1000 {
            let r = record(2 + (i % 60) as usize, i);
            assert_ne!(ring.push(&r, lost), Pushed::Lost);
            got.clear();
            assert_eq!(ring.drain(&mut got), r.len() * 8);
            assert_eq!(words(&got), r);
        }
        assert_eq!(ring.drain(&mut got), 0);
        assert_eq!(ring.unread(), 0);
    }

    /// Seen on Linux: a full ring drops new records, data_head stays; after draining, the next
    /// record is preceded by LOST {id, lost}.
    #[test]
    fn full_ring_loses_and_tells() {
        let ring = Ring::new(4096).unwrap();
        let r = record(3, 1);
        let stored = (0..200).filter(|_| ring.push(&r, lost) != Pushed::Lost).count();
        // 24-byte records, of which one byte less than 4096 can hold 170.
        assert_eq!(stored, 170);
        assert_eq!(ring.lost(), 30);
        let head = ring.page_word(page::DATA_HEAD).load(Ordering::Relaxed);
        assert_eq!(head, 170 * 24);
        let mut got = Vec::new();
        ring.drain(&mut got);
        assert_eq!(words(&got), [&r[..]; 170].concat());
        assert_ne!(ring.push(&r, lost), Pushed::Lost);
        got.clear();
        ring.drain(&mut got);
        assert_eq!(words(&got), [lost(30), r].concat());
        assert_eq!(ring.lost(), 0);
    }

    /// The LOST record and the one after it go in together or not at all.
    #[test]
    fn a_record_that_fits_only_alone_is_lost_too() {
        let ring = Ring::new(4096).unwrap();
        let r = record(256, 1);
        assert_ne!(ring.push(&r, lost), Pushed::Lost);
        assert_eq!(ring.push(&r, lost), Pushed::Lost);
        // 2047 bytes are free now: 2024 would fit, but not with a LOST record of 24 before them.
        assert_eq!(ring.push(&record(254, 2), lost), Pushed::Lost);
        assert_ne!(ring.push(&record(252, 3), lost), Pushed::Lost);
        let mut got = Vec::new();
        ring.drain(&mut got);
        assert_eq!(words(&got), [r, lost(2), record(252, 3)].concat());
    }

    /// Seen on Linux: while output is paused, records count as lost.
    #[test]
    fn pause_loses() {
        let ring = Ring::new(4096).unwrap();
        ring.pause(true);
        assert_eq!(ring.push(&record(3, 1), lost), Pushed::Lost);
        ring.pause(false);
        ring.push(&record(3, 2), lost);
        let mut got = Vec::new();
        ring.drain(&mut got);
        assert_eq!(words(&got), [lost(1), record(3, 2)].concat());
    }

    /// Seen on Linux: an overwritten ring's head runs on (48000 after 2000 records of 24 bytes),
    /// and backwards it is negative with the newest record at it.
    #[test]
    fn overwriting_rings_never_fill() {
        let ring = Ring::new(8192).unwrap().with_full(Full::Overwrite);
        let back = Ring::new(8192).unwrap().with_full(Full::OverwriteBackward);
        for i in 0..2000 {
            assert_ne!(ring.push(&record(3, i), lost), Pushed::Lost);
            assert_ne!(back.push(&record(3, i), lost), Pushed::Lost);
        }
        let head = |r: &Ring| r.page_word(page::DATA_HEAD).load(Ordering::Relaxed) as i64;
        assert_eq!((head(&ring), head(&back)), (48000, -48000));
        let at = (head(&back) as u64 & 8191) as usize;
        // SAFETY: 24 bytes from `at` on don't wrap here, and lie in the data.
        let newest = unsafe { std::slice::from_raw_parts(back.data.as_ptr().add(at), 24) };
        assert_eq!(words(newest), record(3, 1999));
    }

    #[test]
    fn wakes_by_samples_and_by_bytes() {
        let ring = Ring::new(4096).unwrap().with_wakeup(Wakeup::Samples(3));
        let pushed: Vec<_> = (0..6).map(|_| ring.push(&record(3, 0), lost)).collect();
        use Pushed::{Stored, Wake};
        assert_eq!(pushed, [Stored, Stored, Wake, Stored, Stored, Wake]);
        let ring = Ring::new(4096).unwrap();
        let woke = (0..170).filter(|_| ring.push(&record(3, 0), lost) == Wake).count();
        assert_eq!(woke, 1, "once half of the ring is written");
    }

    /// Whatever a reader writes into the page, the writer stays inside its data.
    #[test]
    fn hostile_control_page_is_harmless() {
        let ring = Ring::new(4096).unwrap();
        for tail in [u64::MAX, 1 << 63, 12345, 1, 4096 * 9 + 1] {
            ring.page_word(page::DATA_TAIL).store(tail, Ordering::Relaxed);
            ring.page_word(page::DATA_HEAD).store(tail.wrapping_mul(3), Ordering::Relaxed);
            ring.page_word(page::DATA_SIZE).store(u64::MAX, Ordering::Relaxed);
            for _ in 0..300 {
                ring.push(&record(100, 0), lost);
            }
            let mut got = Vec::new();
            assert!(ring.drain(&mut got) <= 4096);
        }
    }

    #[test]
    fn threads_share_a_ring() {
        let ring = Ring::new(1 << 20).unwrap();
        std::thread::scope(|s| {
            for t in 0..4u64 {
                let ring = &ring;
                s.spawn(move || {
                    for i in 0..1000 {
                        let r = record(4 + t as usize, t << 32 | i);
                        assert_ne!(ring.push(&r, lost), Pushed::Lost);
                    }
                });
            }
        });
        let mut got = Vec::new();
        ring.drain(&mut got);
        let got = words(&got);
        let (mut at, mut next) = (0, [0u64; 4]);
        while at < got.len() {
            let len = (got[at] >> 51) as usize;
            let (thread, i) = ((got[at + 1] >> 32) as usize, got[at + 1] & 0xffff_ffff);
            assert!(got[at + 1..at + len].iter().all(|&w| w == got[at + 1]), "a torn record");
            assert_eq!((len, i), (4 + thread, next[thread]));
            next[thread] += 1;
            at += len;
        }
        assert_eq!(next, [1000; 4]);
    }

    /// A child that is killed while it holds the lock doesn't stop the others.
    #[test]
    fn lock_of_a_dead_process_is_taken_over() {
        let ring = Ring::shared(4096).unwrap();
        // SAFETY: the child only stores to shared memory and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            ring.control().lock.store(thread_id(), Ordering::Relaxed);
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: waits for the child above.
        unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
        assert_ne!(ring.control().lock.load(Ordering::Relaxed), 0);
        assert_eq!(ring.push(&record(3, 1), lost), Pushed::Stored);
    }

    #[test]
    fn sizes_are_powers_of_two() {
        for bytes in [0, 1, 4095, 12288] {
            let e = Ring::new(bytes).unwrap_err().to_string();
            assert!(e.contains(&format!("{bytes} bytes")), "{e}");
        }
    }
}
