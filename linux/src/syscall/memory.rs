//! Mappings and the heap.

use std::os::fd::BorrowedFd;

use axperf::Bus;

use super::{DONE, Result, is_guest, now};
use crate::errno::Errno;
use crate::flags;
use crate::layout::{PAGE, page_down, page_up};
use crate::mm::{Advice, Mapping, Placement, Prot};
use crate::perf_event::calls as perf_event;
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
    if file.is_some() {
        let wanted = perf_event::Wanted { place, len, prot: Prot::from_bits(prot), shared, offset };
        if let Some(mapped) = perf_event::mmap(t, fd, wanted) {
            return Ok(mapped?.into());
        }
    }
    let start = t.shared.space.map(&Mapping {
        place,
        len,
        prot: Prot::from_bits(prot),
        shared,
        file,
        name: None,
        host_flags: flags::MMAP.to_host_known(guest_flags) as i32,
    })?;
    if t.shared.observer.is_some() || t.has_events() {
        // It may be part of a larger mapping by now; the event is about what was asked for.
        let whole = t.shared.space.table().find(start).cloned();
        if let Some(vma) = whole {
            t.has_mapped(&vma.part(start, len));
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
        t.has_mapped(vma);
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

/// remap_file_pages: part of a shared mapping of a file shows another part of the file.
pub(super) fn remap_file_pages(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [addr, len, prot, page, ..] = *a;
    let invalid = Errno(libc::EINVAL);
    let (start, len) = (page_down(addr), page_down(len));
    let end = start.checked_add(len).filter(|end| *end > start).ok_or(invalid)?;
    let offset = page.checked_mul(PAGE).filter(|o| o.checked_add(len).is_some()).ok_or(invalid)?;
    if prot != 0 {
        return Err(invalid);
    }
    t.shared.space.show_other_part(start..end, offset)?;
    DONE
}

/// mincore: a byte for each of Alpha's pages, resident if all of the host's in it are.
pub(super) fn mincore(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [addr, len, vec, ..] = *a;
    if !addr.is_multiple_of(PAGE) {
        return Err(Errno(libc::EINVAL));
    }
    let no_memory = Errno(libc::ENOMEM);
    let end = page_up(len).and_then(|l| addr.checked_add(l)).ok_or(no_memory)?;
    is_guest(addr, end - addr).map_err(|_| no_memory)?;
    is_guest(vec, (end - addr) / PAGE)?;
    /// Pages asked about at a time.
    const STEP: u64 = 1024 * PAGE;
    let mut at = addr;
    while at < end {
        let step = STEP.min(end - at);
        // Up to the first gap.
        let resident = t.shared.space.resident(at, step)?;
        t.shared.space.write(vec + (at - addr) / PAGE, &resident)?;
        if (resident.len() as u64) < step / PAGE {
            return Err(no_memory);
        }
        at += step;
    }
    DONE
}

/// mlockall's flags (`asm/mman.h`).
mod mcl {
    pub const CURRENT: u64 = 0x2000;
    pub const FUTURE: u64 = 0x4000;
    pub const ONFAULT: u64 = 0x8000;
}

/// mlockall: what is mapped now is locked. What is mapped later is not: the host's flag for that
/// would lock axperf's memory too.
pub(super) fn mlockall(t: &mut Thread, a: &[u64; 6]) -> Result {
    let known = mcl::CURRENT | mcl::FUTURE | mcl::ONFAULT;
    if a[0] & !known != 0 || a[0] & (mcl::CURRENT | mcl::FUTURE) == 0 {
        return Err(Errno(libc::EINVAL));
    }
    if a[0] & mcl::CURRENT != 0 {
        let flags = if a[0] & mcl::ONFAULT != 0 { libc::MLOCK_ONFAULT as u64 } else { 0 };
        for vma in t.shared.space.table().iter() {
            match now(libc::SYS_mlock2, &[vma.start, vma.end - vma.start, flags, 0, 0, 0]) {
                // Memory without access can't be read in; it is locked all the same.
                Ok(_) | Err(Errno(libc::ENOMEM)) if vma.prot == Prot::NONE => {}
                Ok(_) => {}
                Err(e) => return Err(e),
            }
        }
    }
    DONE
}

pub(super) fn munlockall(t: &mut Thread, _: &[u64; 6]) -> Result {
    for vma in t.shared.space.table().iter() {
        now(libc::SYS_munlock, &[vma.start, vma.end - vma.start, 0, 0, 0, 0])?;
    }
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
            t.has_mapped(&heap);
        }
    }
    Ok(end.into())
}
