//! Memories of every shape, with the same layout: code, four pages of data and one of stack.
//!
//! # Safety
//! The unsafe code vouches for memory that these types own and never hand out references to.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axperf::isa::Width;
use axperf::{Access, Bus, Fault, FaultKind, FlatMemory, HostPage, MemoryShape, PAGE_SIZE, host};

/// Offsets of the parts from where memory begins.
pub const CODE: u64 = 0x10000;
pub const DATA: u64 = 0x20000;
pub const DATA_LEN: u64 = 4 * PAGE_SIZE;
pub const STACK: u64 = 0x30000;
pub const STACK_LEN: u64 = PAGE_SIZE;
pub const LEN: u64 = 0x40000;

/// A memory that random programs run in.
pub trait Arena: Bus {
    /// Where it begins.
    fn origin(&self) -> u64;
    /// Puts bytes in it, whatever a guest may do there.
    fn fill(&self, offset: u64, bytes: &[u8]);
    /// A quadword of it, likewise.
    fn quad(&self, offset: u64) -> u64;
    /// An address that the guest must not reach.
    fn forbidden(&self) -> u64 {
        0x7ff8_1234_5678
    }
}

impl<B: Arena> Arena for Arc<B> {
    fn origin(&self) -> u64 {
        (**self).origin()
    }
    fn fill(&self, offset: u64, bytes: &[u8]) {
        (**self).fill(offset, bytes);
    }
    fn quad(&self, offset: u64) -> u64 {
        (**self).quad(offset)
    }
    fn forbidden(&self) -> u64 {
        (**self).forbidden()
    }
}

impl Arena for FlatMemory {
    fn origin(&self) -> u64 {
        0
    }
    fn fill(&self, offset: u64, bytes: &[u8]) {
        self.write(offset, bytes).unwrap();
    }
    fn quad(&self, offset: u64) -> u64 {
        self.load(offset, Width::Quad).unwrap()
    }
}

/// A bus of shape TLB. Code may be executed and read alone, and nothing else may be executed.
///
/// With pages, it hands out the first and third page of the data, keeps the second to itself, and
/// the fourth may only be read. Without, every access comes to it.
#[derive(Debug)]
pub struct Paged {
    words: Box<[AtomicU64]>,
    pages: bool,
}

impl Paged {
    pub fn new(pages: bool) -> Paged {
        Paged { words: (0..LEN / 8).map(|_| AtomicU64::new(0)).collect(), pages }
    }

    fn word(&self, addr: u64, access: Access) -> Result<&AtomicU64, Fault> {
        let fault = |kind| Fault { addr, access, kind };
        let word = self.words.get((addr / 8) as usize).ok_or(fault(FaultKind::Unmapped))?;
        if access == Access::Write && self.is_read_only(addr) {
            return Err(fault(FaultKind::Protected));
        }
        Ok(word)
    }

    fn is_read_only(&self, addr: u64) -> bool {
        addr < DATA || self.pages && (DATA + 3 * PAGE_SIZE..DATA + DATA_LEN).contains(&addr)
    }

    fn mask(width: Width) -> u64 {
        !0 >> (64 - 8 * width.bytes())
    }
}

impl Bus for Paged {
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        let word = self.word(addr, Access::Read)?.load(Ordering::Acquire);
        Ok(word >> (8 * (addr % 8)) & Paged::mask(width))
    }

    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        let word = self.word(addr, Access::Write)?;
        let (shift, mask) = (8 * (addr % 8), Paged::mask(width));
        let new = |old: u64| old & !(mask << shift) | (value & mask) << shift;
        word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(new(old))).unwrap();
        Ok(())
    }

    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let word = self.word(addr, Access::Write)?;
        let (shift, mask) = (8 * (addr % 8), Paged::mask(width));
        let swap = |word: u64| {
            let same = (word >> shift ^ old) & mask == 0;
            same.then_some(word & !(mask << shift) | (new & mask) << shift)
        };
        Ok(word.fetch_update(Ordering::AcqRel, Ordering::Acquire, swap).is_ok())
    }

    fn fetch(&self, addr: u64, words: &mut [u32]) -> Result<usize, Fault> {
        let mut n = 0;
        while n < words.len() && addr.wrapping_add(4 * n as u64) < DATA {
            words[n] = self.load(addr + 4 * n as u64, Width::Long)? as u32;
            n += 1;
        }
        let (access, kind) = (Access::Execute, FaultKind::Protected);
        if n > 0 { Ok(n) } else { Err(Fault { addr, access, kind }) }
    }

    fn page(&self, addr: u64, access: Access) -> Option<HostPage> {
        let kept = addr == DATA + PAGE_SIZE;
        if !self.pages || kept || addr >= LEN || access == Access::Write && self.is_read_only(addr)
        {
            return None;
        }
        let first = &self.words[(addr / 8) as usize];
        // SAFETY: the page lies in `words`, which machines outlive only after they gave up the bus;
        // its words are atomics.
        Some(unsafe { HostPage::new(first.as_ptr().cast()) })
    }
}

impl Arena for Paged {
    fn origin(&self) -> u64 {
        0
    }
    fn fill(&self, offset: u64, bytes: &[u8]) {
        for (i, chunk) in bytes.chunks(8).enumerate() {
            let mut quad = [0; 8];
            quad[..chunk.len()].copy_from_slice(chunk);
            let word = &self.words[offset as usize / 8 + i];
            word.store(u64::from_le_bytes(quad), Ordering::Relaxed);
        }
    }
    fn quad(&self, offset: u64) -> u64 {
        self.words[offset as usize / 8].load(Ordering::Relaxed)
    }
}

/// Memory that the host's MMU protects: only code, data and stack are there, and the fourth page of
/// the data may only be read.
#[derive(Debug)]
pub struct Identity {
    origin: u64,
}

impl Identity {
    /// A place of its own for as long as it lives.
    pub fn origin() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0x100_0000_0000);
        NEXT.fetch_add(0x100_0000, Ordering::Relaxed)
    }

    pub fn new(origin: u64) -> Identity {
        host::install();
        for (at, len) in [(CODE, DATA - CODE), (DATA, DATA_LEN), (STACK, STACK_LEN)] {
            let want = (origin + at) as *mut libc::c_void;
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: MAP_FIXED_NOREPLACE takes only what is free.
            let got = unsafe { libc::mmap(want, len as usize, prot, flags, -1, 0) };
            assert_eq!(got, want, "{}", std::io::Error::last_os_error());
        }
        Identity { origin }
    }

    /// The middle of memory that is the host's.
    fn secret() -> u64 {
        static SECRET: OnceLock<u64> = OnceLock::new();
        const LEN: usize = 1 << 20;
        *SECRET.get_or_init(|| {
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new mapping, which stays.
            let at = unsafe { libc::mmap(std::ptr::null_mut(), LEN, prot, flags, -1, 0) };
            assert_ne!(at, libc::MAP_FAILED);
            at as u64 + LEN as u64 / 2
        })
    }

    fn protect(&self, prot: i32) {
        let at = self.origin + DATA + 3 * PAGE_SIZE;
        // SAFETY: the page is ours.
        assert_eq!(0, unsafe { libc::mprotect(at as *mut _, PAGE_SIZE as usize, prot) });
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        // SAFETY: ours, and no machine is left that runs in it.
        unsafe { libc::munmap(self.origin as *mut _, LEN as usize) };
    }
}

impl Bus for Identity {
    fn shape(&self) -> MemoryShape {
        // SAFETY: tests are position-independent programs, far above; `new` has called `install`.
        unsafe { MemoryShape::identity() }
    }
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        host::load(addr, width)
    }
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        host::store(addr, width, value)
    }
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        host::compare_exchange(addr, width, old, new)
    }
}

impl Arena for Identity {
    fn origin(&self) -> u64 {
        self.origin
    }
    fn fill(&self, offset: u64, bytes: &[u8]) {
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
        host::copy_out(self.origin + offset, bytes).unwrap();
        self.protect(libc::PROT_READ);
    }
    fn quad(&self, offset: u64) -> u64 {
        host::load(self.origin + offset, Width::Quad).unwrap()
    }
    fn forbidden(&self) -> u64 {
        Identity::secret()
    }
}
