//! Mappings and the heap.

use std::os::fd::BorrowedFd;

use super::{DONE, Result};
use crate::errno::Errno;
use crate::flags;
use crate::mm::{Advice, Mapping, Placement, Prot};
use crate::thread::Thread;

/// Alpha's mmap flags (`asm/mman.h`).
mod map {
    pub const TYPE: u64 = 0xf;
    pub const SHARED: u64 = 1;
    pub const PRIVATE: u64 = 2;
    pub const SHARED_VALIDATE: u64 = 3;
    pub const ANONYMOUS: u64 = 0x10;
    pub const FIXED: u64 = 0x100;
    pub const HUGETLB: u64 = 0x10_0000;
    pub const FIXED_NOREPLACE: u64 = 0x20_0000;
}

pub(super) fn mmap(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [addr, len, prot, guest_flags, fd, offset] = *a;
    let invalid = Errno(libc::EINVAL);
    let shared = match guest_flags & map::TYPE {
        map::SHARED | map::SHARED_VALIDATE => true,
        map::PRIVATE => false,
        _ => return Err(invalid),
    };
    // Alpha's kernel has no huge pages.
    if guest_flags & map::HUGETLB != 0 {
        return Err(invalid);
    }
    let file = if guest_flags & map::ANONYMOUS == 0 {
        let fd = t.shared.descriptors.check(fd)?;
        if fd < 0 {
            return Err(Errno(libc::EBADF));
        }
        // SAFETY: used for the length of the call; one that isn't open is the host's EBADF.
        Some((unsafe { BorrowedFd::borrow_raw(fd) }, offset))
    } else {
        None
    };
    let place = if guest_flags & map::FIXED_NOREPLACE != 0 {
        Placement::Free(addr)
    } else if guest_flags & map::FIXED != 0 {
        Placement::Fixed(addr)
    } else {
        Placement::Anywhere(addr)
    };
    let start = t.shared.space.map(&Mapping {
        place,
        len,
        prot: Prot::from_bits(prot),
        shared,
        file,
        name: None,
        host_flags: flags::MMAP.to_host_known(guest_flags) as i32,
    })?;
    if t.shared.observer.is_some() {
        // It may be part of a larger mapping by now; the event is about what was asked for.
        let whole = t.shared.space.table().find(start).cloned();
        if let Some(vma) = whole {
            t.shared.observe_map(t.ids, &vma.part(start, len));
        }
    }
    Ok(start.into())
}

pub(super) fn munmap(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.unmap(a[0], a[1])?;
    DONE
}

pub(super) fn mprotect(t: &mut Thread, a: &[u64; 6]) -> Result {
    let changed = t.shared.space.protect(a[0], a[1], Prot::from_bits(a[2]))?;
    for vma in &changed {
        t.shared.observe_map(t.ids, vma);
    }
    DONE
}

pub(super) fn mremap(t: &mut Thread, a: &[u64; 6]) -> Result {
    const MAY_MOVE: u64 = 1;
    const FIXED: u64 = 2;
    let [old, old_len, new_len, flags, new, _] = *a;
    if flags & !(MAY_MOVE | FIXED) != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let fixed = (flags & FIXED != 0).then_some(new);
    let to = t.shared.space.remap(old, old_len, new_len, flags & MAY_MOVE != 0, fixed)?;
    Ok(to.into())
}

pub(super) fn madvise(t: &mut Thread, a: &[u64; 6]) -> Result {
    let advice = flags::advice(a[2]).ok_or(Errno(libc::EINVAL))?;
    t.shared.space.advise(a[0], a[1], Advice(advice))?;
    DONE
}

/// brk: OSF/1's gives an error, but 0 asks for the heap's end.
pub(super) fn brk(t: &mut Thread, a: &[u64; 6]) -> Result {
    let before = t.shared.space.set_break(0);
    let end = t.shared.space.set_break(a[0]);
    if a[0] != 0 && end != a[0] {
        return Err(Errno(libc::ENOMEM));
    }
    if end > before {
        let heap = t.shared.space.table().find(end - 1).cloned();
        if let Some(heap) = heap {
            t.shared.observe_map(t.ids, &heap);
        }
    }
    Ok(end.into())
}
