//! The guest's address space: host memory below 2^42 at its own addresses, and the table of what is
//! mapped where.
//!
//! The table is what the guest's kernel would have; the host's own mappings follow it. The host's
//! pages are 4 KiB or 8 KiB, the guest's 8 KiB.

mod debug;
mod map;
mod shm;
mod vma;

pub use map::{Advice, Mapping, Placement};
pub use shm::Segment;
pub use vma::{Backing, MappedFile, Prot, Vma, VmaTable};

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use axperf::isa::Width;
use axperf::{Access, Bus, Engine, Fault, FaultKind, MemoryShape, host};

use crate::errno::Errno;
use crate::layout::{LOWEST, PAGE, TASK_SIZE};

/// Bytes reserved above the address space: an access that starts below its end stays in them.
const GUARD: u64 = 0x10000;

/// Whether the range below 2^42 has an owner: there is one in a host process.
static OWNED: AtomicBool = AtomicBool::new(false);

/// Why a process can't have a guest's address space.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// There is one already.
    #[error("this process has an Alpha address space already")]
    Taken,
    /// Something of the host's lies where the guest's memory goes.
    #[error(
        "the host has {0} mapped below 2^42, where Alpha programs live; axperf must be built as a \
         position-independent executable and without AddressSanitizer"
    )]
    Occupied(String),
    /// The host's pages are larger than Alpha's.
    #[error("the host's pages have {0} bytes; Alpha's 8192 must be a multiple of that")]
    PageSize(u64),
    /// The host refused.
    #[error("the host's address space: {0}")]
    Host(#[from] std::io::Error),
}

/// The address space of a guest process.
#[derive(Debug)]
pub struct Space {
    inner: RwLock<Inner>,
    territory: Territory,
    /// RLIMIT_AS and RLIMIT_DATA, in bytes.
    limit: AtomicU64,
    data_limit: AtomicU64,
    engine: Engine,
}

/// What the lock guards.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    vmas: VmaTable,
    /// Where the heap starts and ends (brk); the end isn't on a page.
    heap: Range<u64>,
    /// Where a debugger wants to stop.
    breakpoints: BTreeSet<u64>,
}

impl Space {
    /// Takes the range below 2^42.
    ///
    /// # Errors
    /// It is taken, or the host has something there.
    pub fn new(engine: Engine) -> Result<Space, SpaceError> {
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        if page == 0 || !PAGE.is_multiple_of(page) {
            return Err(SpaceError::PageSize(page));
        }
        Ok(Space {
            inner: RwLock::default(),
            territory: Territory::take()?,
            limit: AtomicU64::new(u64::MAX),
            data_limit: AtomicU64::new(u64::MAX),
            engine,
        })
    }

    /// Bounds what may be mapped (RLIMIT_AS).
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Bounds the heap (RLIMIT_DATA).
    pub fn set_data_limit(&self, bytes: u64) {
        self.data_limit.store(bytes, Ordering::Relaxed);
    }

    /// The table, to look at.
    pub fn table(&self) -> TableGuard<'_> {
        TableGuard(self.read_inner())
    }

    /// Keeps every other thread from changing the table; for the time of a fork.
    pub(crate) fn freeze(&self) -> RwLockWriteGuard<'_, Inner> {
        self.write_inner()
    }

    // A panic under the lock leaves a table that may be wrong, but the host's MMU still holds.
    fn read_inner(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write_inner(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(|e| e.into_inner())
    }

    /// Fetches instruction words, those before the next breakpoint if breakpoints count. The table
    /// decides what is executable: the host's pages never are.
    fn fetch_words(&self, addr: u64, words: &mut [u32], breaks: bool) -> Result<usize, Fault> {
        let fault = |kind| Fault { addr, access: Access::Execute, kind };
        let mut bytes = [0; 256];
        let count = {
            let inner = self.read_inner();
            let Some(vma) = inner.vmas.find(addr) else {
                return Err(fault(FaultKind::Unmapped));
            };
            if !vma.prot.execute() {
                return Err(fault(FaultKind::Protected));
            }
            let count = words.len().min(bytes.len() / 4).min(((vma.end - addr) / 4) as usize);
            if breaks { inner.unbroken(addr, count)? } else { count }
        };
        let have = match host::copy_in(addr, &mut bytes[..4 * count]) {
            Ok(()) => count,
            Err(f) => ((f.addr - addr) / 4) as usize,
        };
        if have == 0 {
            return Err(fault(FaultKind::NoObject));
        }
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)).take(have) {
            *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        }
        Ok(have)
    }
}

/// The table, held still.
#[derive(Debug)]
pub struct TableGuard<'a>(RwLockReadGuard<'a, Inner>);

impl std::ops::Deref for TableGuard<'_> {
    type Target = VmaTable;

    fn deref(&self) -> &VmaTable {
        &self.0.vmas
    }
}

/// The range below 2^42, and the guard above it: ours until dropped.
#[derive(Debug)]
struct Territory(());

impl Territory {
    fn take() -> Result<Territory, SpaceError> {
        if OWNED.swap(true, Ordering::AcqRel) {
            return Err(SpaceError::Taken);
        }
        let free = || -> Result<(), SpaceError> {
            if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
                if let Some(what) = occupied(&maps) {
                    return Err(SpaceError::Occupied(what));
                }
            } else {
                // Without /proc, in a chroot: what all of it can be reserved in is free.
                map::reserve(LOWEST, TASK_SIZE - LOWEST)
                    .map_err(|e| SpaceError::Occupied(format!("something ({e})")))?;
                map::release(LOWEST, TASK_SIZE - LOWEST);
            }
            Ok(map::reserve(TASK_SIZE, GUARD)?)
        };
        if let Err(e) = free() {
            OWNED.store(false, Ordering::Release);
            return Err(e);
        }
        host::install();
        Ok(Territory(()))
    }
}

impl Drop for Territory {
    fn drop(&mut self) {
        map::release(TASK_SIZE, GUARD);
        OWNED.store(false, Ordering::Release);
    }
}

/// The first mapping of `maps` (the text of /proc/self/maps) that lies where the guest's go.
fn occupied(maps: &str) -> Option<String> {
    maps.lines()
        .find(|line| {
            line.split_once('-')
                .and_then(|(start, _)| u64::from_str_radix(start, 16).ok())
                .is_some_and(|start| start < TASK_SIZE + GUARD)
        })
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Bus for Space {
    fn shape(&self) -> MemoryShape {
        let Territory(()) = self.territory;
        // SAFETY: who has the territory found nothing below 2^42 + GUARD and reserved the guard;
        // everything mapped there since is the guest's; the handlers are installed.
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

    fn fetch(&self, addr: u64, words: &mut [u32]) -> Result<usize, Fault> {
        self.fetch_words(addr, words, true)
    }

    /// What nobody can write to, or only through another mapping of a private file (whether that
    /// shows is unspecified, mmap(2)), stays as it is. Changes of the table are told to the engine.
    fn may_change(&self, addr: u64) -> bool {
        let inner = self.read_inner();
        let range = addr..addr.saturating_add(PAGE);
        inner.vmas.within(range).any(|v| v.prot.write() || v.shared)
    }

    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        host::copy_in(addr, buf)
    }

    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        host::copy_out(addr, bytes)
    }
}

/// Typed access, for system calls.
impl Space {
    /// The longword at `addr`.
    ///
    /// # Errors
    /// EFAULT.
    pub fn read_u32(&self, addr: u64) -> Result<u32, Errno> {
        let mut b = [0; 4];
        host::copy_in(addr, &mut b)?;
        Ok(u32::from_le_bytes(b))
    }

    /// The quadword at `addr`.
    ///
    /// # Errors
    /// EFAULT.
    pub fn read_u64(&self, addr: u64) -> Result<u64, Errno> {
        let mut b = [0; 8];
        host::copy_in(addr, &mut b)?;
        Ok(u64::from_le_bytes(b))
    }

    /// Stores a longword.
    ///
    /// # Errors
    /// EFAULT.
    pub fn write_u32(&self, addr: u64, value: u32) -> Result<(), Errno> {
        Ok(host::copy_out(addr, &value.to_le_bytes())?)
    }

    /// Stores a quadword.
    ///
    /// # Errors
    /// EFAULT.
    pub fn write_u64(&self, addr: u64, value: u64) -> Result<(), Errno> {
        Ok(host::copy_out(addr, &value.to_le_bytes())?)
    }

    /// The string at `addr`, without its NUL.
    ///
    /// # Errors
    /// EFAULT; ENAMETOOLONG if it has no NUL within `max` bytes.
    pub fn read_string(&self, addr: u64, max: usize) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        while text.len() < max {
            // Up to the end of a page at a time: what lies beyond the string may not be mapped.
            let at = addr.wrapping_add(text.len() as u64);
            let room = (PAGE - at % PAGE).min((max - text.len()) as u64).min(256) as usize;
            let mut chunk = [0; 256];
            host::copy_in(at, &mut chunk[..room])?;
            if let Some(n) = chunk[..room].iter().position(|b| *b == 0) {
                text.extend_from_slice(&chunk[..n]);
                return Ok(text);
            }
            text.extend_from_slice(&chunk[..room]);
        }
        Err(Errno(libc::ENAMETOOLONG))
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // Before the territory, which goes with the fields.
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_what_is_in_the_way() {
        let maps = "55eae752f000-55eae7531000 r--p 00000000 fe:00 247030   /usr/bin/cat\n\
                    7ffe507db000-7ffe507fc000 rw-p 00000000 00:00 0        [stack]\n\
                    ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
        assert_eq!(occupied(maps), None);
        let low = "00400000-00401000 r-xp 00000000 08:02 173521      /usr/bin/dbus\n";
        assert_eq!(
            occupied(&(low.to_owned() + maps)).unwrap(),
            "00400000-00401000 r-xp 00000000 08:02 173521 /usr/bin/dbus"
        );
    }
}
