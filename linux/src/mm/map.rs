//! Mapping and unmapping, as Linux/alpha's system calls do it.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Backing, Inner, MappedFile, Prot, Space, Vma};
use crate::errno::Errno;
use crate::layout::{LOWEST, MMAP_BASE, PAGE, STACK_TOP, TASK_SIZE, page_up};

/// Where a mapping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In the first free range, from this address on if it isn't 0.
    Anywhere(u64),
    /// There, in place of what is there (MAP_FIXED).
    Fixed(u64),
    /// There, if nothing is there (MAP_FIXED_NOREPLACE).
    Free(u64),
}

/// A mapping to be made.
#[derive(Clone, Debug)]
pub struct Mapping<'a> {
    /// Where.
    pub place: Placement,
    /// Bytes.
    pub len: u64,
    /// What it may be used for.
    pub prot: Prot,
    /// MAP_SHARED.
    pub shared: bool,
    /// The file and offset; None for zeros.
    pub file: Option<(BorrowedFd<'a>, u64)>,
    /// Name of anonymous memory.
    pub name: Option<&'static str>,
    /// More of the host's MAP_ flags.
    pub host_flags: i32,
}

/// What the host is told with madvise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice(pub i32);

impl Space {
    /// Makes a mapping; returns its address.
    ///
    /// # Errors
    /// What mmap gives.
    pub fn map(&self, m: &Mapping<'_>) -> Result<u64, Errno> {
        let len = page_up(m.len).filter(|l| *l <= TASK_SIZE).ok_or(Errno(libc::ENOMEM))?;
        if len == 0 {
            return Err(Errno(libc::EINVAL));
        }
        let file = m.file.map(|(fd, offset)| File::of(fd, offset, len)).transpose()?;
        let mut inner = self.write_inner();
        let (start, replace) = inner.place(m.place, len)?;
        let range = start..start + len;
        let new = len - if replace { inner.mapped_bytes(&range) } else { 0 };
        self.check_limit(&inner, new)?;

        let kind = if m.shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        let how = if replace { libc::MAP_FIXED } else { libc::MAP_FIXED_NOREPLACE };
        let (anonymous, fd, offset) = match &file {
            Some(f) => (0, f.fd, f.offset),
            None => (libc::MAP_ANONYMOUS, -1, 0),
        };
        let flags = kind | how | anonymous | m.host_flags;
        host_map(&range, m.prot, flags, fd, offset)?;
        if let Some(tail) = file.as_ref().and_then(|f| f.tail(&range)) {
            host_zeros(&tail, m.prot)?;
        }
        let backing = match (file, m.name) {
            (Some(f), _) => Backing::File(f.identity, f.offset),
            (None, Some(name)) => Backing::Named(name),
            (None, None) => Backing::Anonymous,
        };
        let removed = inner.vmas.insert(Vma {
            start,
            end: range.end,
            prot: m.prot,
            shared: m.shared,
            backing,
        });
        drop(inner);
        self.forget_code(&removed);
        Ok(start)
    }

    /// Unmaps.
    ///
    /// # Errors
    /// What munmap gives.
    pub fn unmap(&self, addr: u64, len: u64) -> Result<(), Errno> {
        let range = checked_range(addr, len).ok_or(Errno(libc::EINVAL))?;
        if range.is_empty() {
            return Err(Errno(libc::EINVAL));
        }
        let mut inner = self.write_inner();
        // Only what the table has: between mappings may lie what the host keeps for itself.
        let parts: Vec<_> = inner.vmas.within(range.clone()).map(|v| v.start..v.end).collect();
        for part in parts {
            release(
                part.start.max(range.start),
                part.end.min(range.end) - part.start.max(range.start),
            );
        }
        let removed = inner.vmas.remove(range);
        drop(inner);
        self.forget_code(&removed);
        Ok(())
    }

    /// Changes the protection; returns what is mapped there now.
    ///
    /// # Errors
    /// What mprotect gives. Up to the first gap the protection has changed then too.
    pub fn protect(&self, addr: u64, len: u64, prot: Prot) -> Result<Vec<Vma>, Errno> {
        if !addr.is_multiple_of(PAGE) {
            return Err(Errno(libc::EINVAL));
        }
        let range = checked_range(addr, len).ok_or(Errno(libc::ENOMEM))?;
        let mut inner = self.write_inner();
        let end = inner.vmas.covered_to(range.clone());
        let covered = range.start..end;
        if !covered.is_empty() {
            // SAFETY: the range is the guest's.
            let done = unsafe {
                libc::mprotect(covered.start as *mut _, (end - covered.start) as usize, prot.host())
            };
            if done != 0 {
                return Err(Errno::last());
            }
        }
        let before = inner.vmas.protect(covered.clone(), prot);
        let after = inner.vmas.within(covered).cloned().collect();
        drop(inner);
        if !prot.execute() {
            self.forget_code(&before);
        } else if !prot.write() {
            // An instruction memory barrier looks only at what can be written then.
            let written: Vec<_> = before.into_iter().filter(|v| v.prot.write()).collect();
            self.forget_code(&written);
        }
        if end < range.end { Err(Errno(libc::ENOMEM)) } else { Ok(after) }
    }

    /// Moves or resizes a mapping; returns its address.
    ///
    /// # Errors
    /// What mremap gives.
    pub fn remap(
        &self,
        old: u64,
        old_len: u64,
        new_len: u64,
        may_move: bool,
        fixed: Option<u64>,
    ) -> Result<u64, Errno> {
        let invalid = Errno(libc::EINVAL);
        let old_range = checked_range(old, old_len).ok_or(invalid)?;
        let new_len = page_up(new_len).filter(|l| *l != 0 && *l <= TASK_SIZE).ok_or(invalid)?;
        if old_range.is_empty() || (fixed.is_some() && !may_move) {
            return Err(invalid);
        }
        let old_len = old_range.end - old_range.start;
        if fixed.is_none() && new_len <= old_len {
            if new_len < old_len {
                self.unmap(old + new_len, old_len - new_len)?;
            }
            return Ok(old);
        }
        let mut inner = self.write_inner();
        let vma = inner.vmas.find(old).ok_or(Errno(libc::EFAULT))?.clone();
        if vma.end < old_range.end {
            return Err(Errno(libc::EFAULT));
        }
        self.check_limit(&inner, new_len.saturating_sub(old_len))?;
        let grown = old_range.end..old + new_len;
        let to = match fixed {
            Some(to) => {
                let target = checked_range(to, new_len).ok_or(invalid)?;
                if target.start < old_range.end && old_range.start < target.end {
                    return Err(invalid);
                }
                inner.place(Placement::Fixed(to), new_len)?.0
            }
            None if grown.end <= TASK_SIZE && inner.vmas.is_free(grown) => old,
            None if may_move => inner.place(Placement::Anywhere(0), new_len)?.0,
            None => return Err(Errno(libc::ENOMEM)),
        };
        let flags = if to == old { 0 } else { libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED };
        let shrunk = old_len.min(new_len);
        // SAFETY: both ranges are the guest's: the table has the old one, `place` found the new.
        let done = unsafe {
            libc::mremap(
                old as *mut _,
                shrunk as usize,
                new_len as usize,
                flags,
                to as *mut libc::c_void,
            )
        };
        if done == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        if shrunk < old_len {
            release(old + shrunk, old_len - shrunk);
        }
        let mut removed = inner.vmas.remove(old_range);
        let backing = match vma.backing {
            Backing::File(file, offset) => Backing::File(file, offset + (old - vma.start)),
            Backing::Shm(id, offset) => Backing::Shm(id, offset + (old - vma.start)),
            other => other,
        };
        removed.extend(inner.vmas.insert(Vma { start: to, end: to + new_len, backing, ..vma }));
        drop(inner);
        self.forget_code(&removed);
        Ok(to)
    }

    /// Sets where the heap starts, for a program just loaded.
    pub fn set_heap(&self, start: u64) {
        self.write_inner().heap = start..start;
    }

    /// Where the heap is.
    pub fn heap(&self) -> Range<u64> {
        self.read_inner().heap.clone()
    }

    /// Moves the end of the heap; returns where it is then. The heap is executable, as Alpha's is.
    pub fn set_break(&self, to: u64) -> u64 {
        let heap = self.read_inner().heap.clone();
        let (Some(old), Some(new)) = (page_up(heap.end), page_up(to)) else { return heap.end };
        if to < heap.start || to - heap.start > self.data_limit.load(Ordering::Relaxed) {
            return heap.end;
        }
        let done = if new > old {
            self.map(&Mapping {
                place: Placement::Free(old),
                len: new - old,
                prot: Prot::RWX,
                shared: false,
                file: None,
                name: Some("[heap]"),
                host_flags: 0,
            })
            .is_ok()
        } else {
            new == old || self.unmap(new, old - new).is_ok()
        };
        if !done {
            return heap.end;
        }
        self.write_inner().heap.end = to;
        to
    }

    /// Tells the host what will become of a range.
    ///
    /// # Errors
    /// What madvise gives.
    pub fn advise(&self, addr: u64, len: u64, advice: Advice) -> Result<(), Errno> {
        if !addr.is_multiple_of(PAGE) {
            return Err(Errno(libc::EINVAL));
        }
        let range = checked_range(addr, len).ok_or(Errno(libc::EINVAL))?;
        let inner = self.read_inner();
        let end = inner.vmas.covered_to(range.clone());
        let mut advised = Vec::new();
        if end > range.start {
            // Some advice empties pages that can't be written.
            advised.extend(inner.vmas.within(range.start..end).cloned());
            // SAFETY: the range is the guest's.
            let done = unsafe {
                libc::madvise(range.start as *mut _, (end - range.start) as usize, advice.0)
            };
            if done != 0 {
                return Err(Errno::last());
            }
        }
        drop(inner);
        self.forget_code(&advised);
        if end < range.end { Err(Errno(libc::ENOMEM)) } else { Ok(()) }
    }

    /// Which pages of a range, up to the first gap, are in memory: 1 or 0 for each.
    ///
    /// # Errors
    /// What mincore gives.
    pub fn resident(&self, addr: u64, len: u64) -> Result<Vec<u8>, Errno> {
        let range = checked_range(addr, len).ok_or(Errno(libc::ENOMEM))?;
        let inner = self.read_inner();
        let bytes = inner.vmas.covered_to(range).saturating_sub(addr);
        // SAFETY: sysconf has no preconditions.
        let host_page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let mut pages = vec![0u8; (bytes / host_page) as usize];
        if pages.is_empty() {
            return Ok(pages);
        }
        // SAFETY: there is a byte for each of the host's pages of the range.
        if unsafe { libc::mincore(addr as *mut _, bytes as usize, pages.as_mut_ptr()) } != 0 {
            return Err(Errno::last());
        }
        let each = (PAGE / host_page) as usize;
        Ok(pages.chunks(each).map(|p| p.iter().fold(1, |all, one| all & one)).collect())
    }

    /// Lets a range of a shared mapping of a file show the file from another offset on.
    ///
    /// # Errors
    /// EINVAL if it isn't part of one; the host's.
    pub fn show_other_part(&self, range: Range<u64>, offset: u64) -> Result<(), Errno> {
        let mut inner = self.write_inner();
        let (whole, file) = match inner.vmas.find(range.start) {
            Some(v) if v.shared && range.end <= v.end => match &v.backing {
                Backing::File(file, _) => (v.clone(), file.clone()),
                _ => return Err(Errno(libc::EINVAL)),
            },
            _ => return Err(Errno(libc::EINVAL)),
        };
        // SAFETY: sysconf has no preconditions.
        let host_page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        // SAFETY: the range is the guest's.
        let done = unsafe {
            libc::syscall(
                libc::SYS_remap_file_pages,
                range.start,
                range.end - range.start,
                0,
                offset / host_page,
                0,
            )
        };
        if done != 0 {
            return Err(Errno::last());
        }
        let backing = Backing::File(file, offset);
        let removed =
            inner.vmas.insert(Vma { start: range.start, end: range.end, backing, ..whole });
        drop(inner);
        self.forget_code(&removed);
        Ok(())
    }

    /// Unmaps everything.
    pub fn clear(&self) {
        let mut inner = self.write_inner();
        for v in inner.vmas.iter() {
            release(v.start, v.end - v.start);
        }
        *inner = Inner::default();
        drop(inner);
        self.engine.invalidate_all();
    }

    pub(super) fn check_limit(&self, inner: &Inner, more: u64) -> Result<(), Errno> {
        let limit = self.limit.load(Ordering::Relaxed);
        if limit != u64::MAX && inner.vmas.total().saturating_add(more) > limit {
            return Err(Errno(libc::ENOMEM));
        }
        Ok(())
    }

    /// Drops translations of what was executable in `parts`. Not under the lock: the translator
    /// holds its own while it fetches.
    pub(super) fn forget_code(&self, parts: &[Vma]) {
        for part in parts.iter().filter(|p| p.prot.execute()) {
            self.engine.invalidate(part.start..part.end);
        }
    }
}

impl Inner {
    /// Where a mapping of `len` bytes goes, and whether it may replace what is there.
    pub(super) fn place(&self, place: Placement, len: u64) -> Result<(u64, bool), Errno> {
        let no_memory = Errno(libc::ENOMEM);
        match place {
            Placement::Anywhere(hint) => {
                let hint = page_up(hint).filter(|h| *h >= LOWEST);
                // Below the stack's top is the last resort: the program and its heap are above.
                [hint, Some(MMAP_BASE), Some(LOWEST)]
                    .into_iter()
                    .flatten()
                    .find_map(|from| self.vmas.first_fit(len, from, TASK_SIZE))
                    .map(|start| (start, false))
                    .ok_or(no_memory)
            }
            Placement::Fixed(start) | Placement::Free(start) => {
                if !start.is_multiple_of(PAGE) {
                    return Err(Errno(libc::EINVAL));
                }
                if start.checked_add(len).is_none_or(|end| end > TASK_SIZE) {
                    return Err(no_memory);
                }
                if start < LOWEST {
                    return Err(Errno(libc::EPERM));
                }
                let free = self.vmas.is_free(start..start + len);
                if !free && matches!(place, Placement::Free(_)) {
                    return Err(Errno(libc::EEXIST));
                }
                Ok((start, !free))
            }
        }
    }

    fn mapped_bytes(&self, range: &Range<u64>) -> u64 {
        self.vmas
            .within(range.clone())
            .map(|v| v.end.min(range.end) - v.start.max(range.start))
            .sum()
    }
}

/// The pages that a system call's address and length mean; None if they aren't the guest's.
fn checked_range(addr: u64, len: u64) -> Option<Range<u64>> {
    let end = addr.checked_add(page_up(len)?)?;
    (addr.is_multiple_of(PAGE) && end <= TASK_SIZE).then_some(addr..end)
}

/// A file to be mapped.
struct File {
    fd: i32,
    offset: u64,
    identity: Arc<MappedFile>,
    /// Its size, if it is a regular file.
    size: Option<u64>,
}

impl File {
    fn of(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<File, Errno> {
        if !offset.is_multiple_of(PAGE)
            || offset.checked_add(len).is_none_or(|e| e > i64::MAX as u64)
        {
            return Err(Errno(libc::EINVAL));
        }
        let fd = fd.as_raw_fd();
        // SAFETY: zero is a valid value of the structure, which fstat fills.
        let stat = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(fd, &mut stat) != 0 {
                return Err(Errno::last());
            }
            stat
        };
        let path = std::fs::read_link(format!("/proc/self/fd/{fd}"))
            .map(|p| std::os::unix::ffi::OsStringExt::into_vec(p.into_os_string()))
            .unwrap_or_default();
        Ok(File {
            fd,
            offset,
            identity: Arc::new(MappedFile { path, device: stat.st_dev, inode: stat.st_ino }),
            size: (stat.st_mode & libc::S_IFMT == libc::S_IFREG).then_some(stat.st_size as u64),
        })
    }

    /// The part of the guest's page with the file's last byte that is beyond the host's: the
    /// guest sees zeros there, the host would give SIGBUS.
    fn tail(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let size = self.size?;
        // SAFETY: sysconf has no preconditions.
        let host_page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let host_end = size.checked_next_multiple_of(host_page)?;
        let guest_end = page_up(size)?;
        let start = range.start + host_end.checked_sub(self.offset)?;
        let end = range.start + guest_end.checked_sub(self.offset)?;
        (start < end && end <= range.end).then_some(start..end)
    }
}

fn host_map(range: &Range<u64>, prot: Prot, flags: i32, fd: i32, offset: u64) -> Result<(), Errno> {
    // SAFETY: the range is the guest's: callers pass what lies below 2^42, and `Space::new` made
    // sure that the host has nothing there.
    let at = unsafe {
        libc::mmap(
            range.start as *mut _,
            (range.end - range.start) as usize,
            prot.host(),
            flags,
            fd,
            offset as i64,
        )
    };
    if at == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(()) }
}

/// Maps zeros in place of what is there.
pub(super) fn host_zeros(range: &Range<u64>, prot: Prot) -> Result<(), Errno> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    host_map(range, prot, flags, -1, 0)
}

/// Takes a range that nothing is to be in.
pub(super) fn reserve(start: u64, len: u64) -> std::io::Result<()> {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    host_map(&(start..start + len), Prot::NONE, flags, -1, 0)
        .map_err(|e| std::io::Error::from_raw_os_error(e.0))
}

/// Unmaps a range of the guest's on the host.
pub(super) fn release(start: u64, len: u64) {
    // SAFETY: callers pass ranges that the table has, or the guard. munmap of whole pages below
    // the host's own fails only for want of memory to split a mapping; it stays then, unreachable
    // for the table, until something is mapped over it.
    unsafe { libc::munmap(start as *mut _, len as usize) };
}

const _: () = assert!(STACK_TOP.is_multiple_of(PAGE) && MMAP_BASE.is_multiple_of(PAGE));
