//! The memory that the embedder gives a machine.

// Its unsafe functions only wrap what the caller vouches for.
#![allow(unsafe_code)]

use std::fmt;
use std::sync::Arc;

use axperf_isa::Width;

use crate::machine::host;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Nothing is there (SEGV_MAPERR).
    Unmapped,
    /// The access isn't allowed there (SEGV_ACCERR).
    Protected,
    /// The object behind the mapping has no such byte (BUS_ADRERR).
    NoObject,
}

/// An access that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The address accessed: of a copy, the first that failed.
    pub addr: u64,
    /// What was tried.
    pub access: Access,
    /// Why it failed.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Execute => "fetch",
        };
        let why = match self.kind {
            FaultKind::Unmapped => "nothing is mapped there",
            FaultKind::Protected => "not allowed there",
            FaultKind::NoObject => "beyond the end of the mapped object",
        };
        write!(f, "{what} at {:#x}: {why}", self.addr)
    }
}

impl std::error::Error for Fault {}

/// How translated code reaches memory.
///
/// The shapes other than [`MemoryShape::TLB`] give it direct access, so whoever makes one vouches
/// for the memory behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryShape(pub(crate) Shape);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Identity,
    Flat { base: usize, len: u64 },
    Tlb,
}

impl MemoryShape {
    /// Pages that [`Bus::page`] hands out, through a soft TLB; what it keeps goes through
    /// [`Bus::load`] and [`Bus::store`].
    pub const TLB: MemoryShape = MemoryShape(Shape::Tlb);

    /// One block of `len` bytes at host address `base`, both multiples of 16; guest addresses start
    /// at 0.
    ///
    /// # Safety
    /// The block is readable and writable for as long as a machine holds the bus, and holds nothing
    /// that Rust code reaches by reference.
    #[must_use]
    pub unsafe fn flat(base: *mut u8, len: u64) -> MemoryShape {
        MemoryShape(Shape::Flat { base: base as usize, len: len & !15 })
    }

    /// A guest address is a host address. Those below 2^42 belong to the guest.
    ///
    /// # Safety
    /// Below 2^42 + 64 KiB lies nothing but what was mapped for the guest, and
    /// [`host::install`] has run.
    #[must_use]
    pub unsafe fn identity() -> MemoryShape {
        MemoryShape(Shape::Identity)
    }
}

/// Size of the pages that [`Bus::page`] hands out.
pub const PAGE_SIZE: u64 = 8192;

/// Host memory behind one guest page.
#[derive(Clone, Copy, Debug)]
pub struct HostPage(pub(crate) *mut u8);

impl HostPage {
    /// The page of [`PAGE_SIZE`] bytes at `host`, a multiple of 16.
    ///
    /// # Safety
    /// It is readable (and writable, if handed out for writing) until the machines that got it have
    /// had their `flush_pages` called, and holds nothing that Rust code reaches by reference.
    #[must_use]
    pub unsafe fn new(host: *mut u8) -> HostPage {
        HostPage(host)
    }
}

/// The memory of a machine.
///
/// Methods take `&self`: several machines may share one bus (`Arc<B>` is a bus), and then it is
/// `Sync` and its accesses are as atomic as the guest expects: an aligned access of up to eight
/// bytes is one access.
pub trait Bus {
    /// How translated code reaches this memory.
    fn shape(&self) -> MemoryShape {
        MemoryShape::TLB
    }

    /// Loads `width` bytes, zero-extended; `addr` is a multiple of it.
    ///
    /// # Errors
    /// The fault.
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault>;

    /// Stores the low `width` bytes of `value`; `addr` is a multiple of it.
    ///
    /// # Errors
    /// The fault; then nothing was stored.
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault>;

    /// Stores `new` if the location holds `old`, atomically; true if it was stored.
    ///
    /// # Errors
    /// The fault; then nothing was stored.
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault>;

    /// Stores `new` to the aligned block of 16 bytes at `addr` if it holds `old`, atomically; true if
    /// it was stored. They differ in one quadword at most. This is STx_C.
    ///
    /// Memory that translated code reaches directly is exchanged there, in one step. What the bus
    /// keeps to itself is compared by [`load`](Bus::load), and then the quadword that changes is
    /// stored by [`compare_exchange`](Bus::compare_exchange), which is two steps: where other
    /// machines may store to such memory meanwhile, a bus does it itself.
    ///
    /// # Errors
    /// The fault; then nothing was stored.
    fn compare_exchange_block(
        &self,
        addr: u64,
        old: [u64; 2],
        new: [u64; 2],
    ) -> Result<bool, Fault> {
        let direct = match self.shape().0 {
            Shape::Identity => return host::compare_exchange_block(addr, old, new),
            Shape::Flat { base, len } => (addr < len).then(|| base as u64 + addr),
            Shape::Tlb => {
                let page = self.page(addr & !(PAGE_SIZE - 1), Access::Write);
                page.map(|page| page.0 as u64 + addr % PAGE_SIZE)
            }
        };
        if let Some(at) = direct {
            // SAFETY: whoever made the shape or the page vouches for the memory.
            return unsafe { host::swap_block(at, old, new) };
        }
        for (i, old) in old.into_iter().enumerate() {
            if self.load(addr + 8 * i as u64, Width::Quad)? != old {
                return Ok(false);
            }
        }
        let changed = usize::from(old[0] == new[0] && old[1] != new[1]);
        let addr = addr + 8 * changed as u64;
        self.compare_exchange(addr, Width::Quad, old[changed], new[changed])
    }

    /// Fetches instruction words from `addr` on, as many as are at hand: at least one.
    ///
    /// # Errors
    /// The fault, if the first can't be fetched.
    fn fetch(&self, addr: u64, words: &mut [u32]) -> Result<usize, Fault> {
        for (i, w) in words.iter_mut().enumerate() {
            match self.load(addr.wrapping_add(4 * i as u64), Width::Long) {
                Ok(v) => *w = v as u32,
                Err(f) if i == 0 => return Err(Fault { access: Access::Execute, ..f }),
                Err(_) => return Ok(i),
            }
        }
        Ok(words.len())
    }

    /// Whether code in the page at `addr` (a multiple of [`PAGE_SIZE`]) may have changed since the
    /// guest's last instruction memory barrier, or that of another machine, without the engine
    /// [being told](crate::Engine::invalidate). False spares comparing it.
    fn may_change(&self, addr: u64) -> bool {
        let _ = addr;
        true
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// The fault; the bytes before it were read.
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        for (i, b) in buf.iter_mut().enumerate() {
            *b = self.load(addr.wrapping_add(i as u64), Width::Byte)? as u8;
        }
        Ok(())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// The fault; the bytes before it were written.
    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        for (i, b) in bytes.iter().enumerate() {
            self.store(addr.wrapping_add(i as u64), Width::Byte, u64::from(*b))?;
        }
        Ok(())
    }

    /// The host memory behind the page at `addr` (a multiple of [`PAGE_SIZE`]), for direct access
    /// of this kind; None where every access is to come to [`load`](Bus::load) and
    /// [`store`](Bus::store).
    fn page(&self, addr: u64, access: Access) -> Option<HostPage> {
        let _ = (addr, access);
        None
    }
}

impl<B: Bus + ?Sized> Bus for Arc<B> {
    fn shape(&self) -> MemoryShape {
        (**self).shape()
    }
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        (**self).load(addr, width)
    }
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        (**self).store(addr, width, value)
    }
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        (**self).compare_exchange(addr, width, old, new)
    }
    fn compare_exchange_block(
        &self,
        addr: u64,
        old: [u64; 2],
        new: [u64; 2],
    ) -> Result<bool, Fault> {
        (**self).compare_exchange_block(addr, old, new)
    }
    fn fetch(&self, addr: u64, words: &mut [u32]) -> Result<usize, Fault> {
        (**self).fetch(addr, words)
    }
    fn may_change(&self, addr: u64) -> bool {
        (**self).may_change(addr)
    }
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        (**self).read(addr, buf)
    }
    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        (**self).write(addr, bytes)
    }
    fn page(&self, addr: u64, access: Access) -> Option<HostPage> {
        (**self).page(addr, access)
    }
}
