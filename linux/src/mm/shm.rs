//! Segments of System V's shared memory in the address space.

use super::map::{host_zeros, release};
use super::{Backing, Placement, Prot, Space, Vma};
use crate::errno::Errno;
use crate::layout::{PAGE, page_up};

/// A segment to be attached.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The host's id of it, which is the guest's too.
    pub id: i32,
    /// Where; 0 for anywhere.
    pub addr: u64,
    /// Its size in bytes.
    pub len: u64,
    /// What it may be used for.
    pub prot: Prot,
    /// Whether it replaces what is there (SHM_REMAP).
    pub replace: bool,
}

impl Space {
    /// Attaches a segment; returns its address.
    ///
    /// The rest of the guest's last page, if the host's segment ends before it, is zeros of the
    /// process's own.
    ///
    /// # Errors
    /// What shmat gives.
    pub fn attach(&self, s: &Segment) -> Result<u64, Errno> {
        let len = page_up(s.len).ok_or(Errno(libc::ENOMEM))?;
        let mut inner = self.write_inner();
        let place = match s.addr {
            0 => Placement::Anywhere(0),
            addr if s.replace => Placement::Fixed(addr),
            addr => Placement::Free(addr),
        };
        // Something in the way is EINVAL, where mmap has EEXIST.
        let (start, replace) = inner.place(place, len).map_err(|e| match e {
            Errno(libc::EEXIST) => Errno(libc::EINVAL),
            e => e,
        })?;
        self.check_limit(&inner, len)?;
        let flags = if s.prot.write() { 0 } else { libc::SHM_RDONLY }
            | if replace { libc::SHM_REMAP } else { 0 };
        // SAFETY: the range is the guest's: `place` found it.
        let at = unsafe { libc::shmat(s.id, start as *const _, flags) };
        if at as isize == -1 {
            return Err(Errno::last());
        }
        // SAFETY: sysconf has no preconditions.
        let host_page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let tail = start + s.len.next_multiple_of(host_page)..start + len;
        if !tail.is_empty()
            && let Err(e) = host_zeros(&tail, s.prot)
        {
            release(start, tail.start - start);
            return Err(e);
        }
        let removed = inner.vmas.insert(Vma {
            start,
            end: start + len,
            prot: s.prot,
            shared: true,
            backing: Backing::Shm(s.id, 0),
        });
        drop(inner);
        self.forget_code(&removed);
        Ok(start)
    }

    /// Detaches what was attached at `addr`: what is left of it, wherever it is.
    ///
    /// # Errors
    /// EINVAL: nothing was.
    pub fn detach(&self, addr: u64) -> Result<(), Errno> {
        let parts: Vec<_> = self
            .table()
            .iter()
            .filter(|v| {
                addr.is_multiple_of(PAGE)
                    && matches!(v.backing, Backing::Shm(_, offset)
                        if v.start.checked_sub(offset) == Some(addr))
            })
            .map(|v| (v.start, v.end - v.start))
            .collect();
        if parts.is_empty() {
            return Err(Errno(libc::EINVAL));
        }
        for (start, len) in parts {
            self.unmap(start, len)?;
        }
        Ok(())
    }
}
