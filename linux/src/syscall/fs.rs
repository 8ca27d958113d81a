//! Files by name.

use std::ffi::CString;
use std::fs::File;
use std::io::{Seek, Write};
use std::ops::RangeInclusive;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use axperf::Bus;

use super::arg::Arg;
use super::{DONE, Result, now};
use crate::errno::Errno;
use crate::layout::PAGE;
use crate::thread::Thread;
use crate::{flags, procfs};

const AT_FDCWD: u64 = libc::AT_FDCWD as u64;

pub(super) fn open(t: &mut Thread, a: &[u64; 6]) -> Result {
    open_in(t, AT_FDCWD, a[0], a[1], How { mode: a[2], resolve: None })
}

pub(super) fn openat(t: &mut Thread, a: &[u64; 6]) -> Result {
    open_in(t, a[0], a[1], a[2], How { mode: a[3], resolve: None })
}

/// openat2: unlike the others it refuses flags that it doesn't know.
pub(super) fn openat2(t: &mut Thread, a: &[u64; 6]) -> Result {
    /// Bytes of `struct open_how` (flags, mode, resolve); later fields must be 0.
    const SIZE: u64 = 24;
    if a[3] < SIZE {
        return Err(Errno(libc::EINVAL));
    }
    if a[3] > PAGE {
        return Err(Errno(libc::E2BIG));
    }
    let mut how = vec![0; a[3] as usize];
    t.shared.space.read(a[2], &mut how)?;
    if how[SIZE as usize..].iter().any(|b| *b != 0) {
        return Err(Errno(libc::E2BIG));
    }
    let field = |i: usize| u64::from_le_bytes(how[8 * i..][..8].try_into().expect("eight bytes"));
    let (guest_flags, mode, resolve) = (field(0), field(1), field(2));
    if flags::OPEN.to_host(guest_flags & !flags::ACCESS_MODE).is_none() {
        return Err(Errno(libc::EINVAL));
    }
    open_in(t, a[0], a[1], guest_flags, How { mode, resolve: Some(resolve) })
}

/// How a file is opened, besides the flags.
struct How {
    mode: u64,
    /// RESOLVE_ flags; None for calls that have none.
    resolve: Option<u64>,
}

fn open_in(t: &Thread, dir: u64, path: u64, guest_flags: u64, how: How) -> Result {
    let name = t.shared.space.read_string(path, libc::PATH_MAX as usize)?;
    let close_on_exec = guest_flags & flags::CLOEXEC != 0;
    let writes = guest_flags & flags::ACCESS_MODE != 0;
    let proc_name = name_in_proc(dir, &name);
    if let Some((whose, b"mem")) = procfs::find(t, &proc_name) {
        let file = procfs::memory_file(t, whose, (guest_flags & flags::ACCESS_MODE) as i32)?;
        return Ok(t.shared.descriptors.give(file, close_on_exec)?.into());
    }
    if let Some(content) = procfs::content(t, &proc_name) {
        if writes {
            return Err(Errno(libc::EACCES));
        }
        let file = content_file(&content)?;
        return Ok(t.shared.descriptors.give(file, close_on_exec)?.into());
    }
    let host_flags = flags::open_to_host(guest_flags);
    // What may change a file isn't for the sysroot's.
    const CHANGES: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    // A path that is to stay below its directory is taken as it is.
    let confined = how.resolve.is_some_and(|r| r != 0);
    let host = if host_flags & CHANGES == libc::O_RDONLY && !confined {
        t.host_path(&name, guest_flags & flags::NOFOLLOW == 0)
    } else {
        name
    };
    let host = CString::new(host).unwrap_or_default();
    let host_flags = host_flags as u64;
    let name = host.as_ptr() as u64;
    let fd = match how.resolve {
        None => t.block(libc::SYS_openat, &[dir, name, host_flags, how.mode, 0, 0])?,
        Some(resolve) => {
            let host_how = [host_flags, how.mode, resolve];
            let at = host_how.as_ptr() as u64;
            t.block(libc::SYS_openat2, &[dir, name, at, size_of_val(&host_how) as u64, 0, 0])?
        }
    };
    Ok(t.shared.descriptors.admit(fd)?.into())
}

/// The name of a file of /proc that is opened by a relative path; other paths as they are.
fn name_in_proc(dir: u64, name: &[u8]) -> Vec<u8> {
    let last = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
    if name.starts_with(b"/") || !procfs::NAMES.contains(&last) {
        return name.to_vec();
    }
    let link = match dir as i32 {
        libc::AT_FDCWD => "/proc/self/cwd".to_owned(),
        fd => format!("/proc/self/fd/{fd}"),
    };
    let mut full = std::fs::read_link(link).unwrap_or_default().into_os_string().into_vec();
    full.push(b'/');
    full.extend_from_slice(name);
    full
}

/// A file with this content, at its start.
fn content_file(content: &[u8]) -> Result<File> {
    // SAFETY: a C string; the descriptor is ours.
    let mut file = unsafe {
        let fd = libc::memfd_create(c"proc".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(Errno::last());
        }
        File::from_raw_fd(fd)
    };
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

pub(super) fn readlink(t: &mut Thread, a: &[u64; 6]) -> Result {
    read_link(t, AT_FDCWD, a[0], a[1], a[2])
}

pub(super) fn readlinkat(t: &mut Thread, a: &[u64; 6]) -> Result {
    read_link(t, a[0], a[1], a[2], a[3])
}

fn read_link(t: &Thread, dir: u64, path: u64, buf: u64, len: u64) -> Result {
    let name = t.shared.space.read_string(path, libc::PATH_MAX as usize)?;
    if len as i32 <= 0 {
        return Err(Errno(libc::EINVAL));
    }
    if t.names_own_exe(&name) {
        let host = t.shared.running().host_path.clone();
        let full = std::fs::canonicalize(std::ffi::OsStr::from_bytes(&host))?.into_os_string();
        let full = full.into_vec();
        let guest = t.shared.config.sysroot.guest(&full);
        let shown = &guest[..guest.len().min(len as usize)];
        t.shared.space.write(buf, shown)?;
        return Ok((shown.len() as u64).into());
    }
    let host = t.path(path, Arg::Link)?;
    Ok(now(libc::SYS_readlinkat, &[dir, host.as_ptr() as u64, buf, len, 0, 0])?.into())
}

/// What is axperf's own isn't listed.
pub(super) fn getdents64(t: &mut Thread, a: &[u64; 6]) -> Result {
    loop {
        let n = now(libc::SYS_getdents64, &[a[0], a[1], a[2], 0, 0, 0])?;
        if n == 0 || !is_proc(a[0] as i32) {
            return Ok(n.into());
        }
        let Some(own) = own_entries(t, a[0] as i32) else { return Ok(n.into()) };
        let mut all = vec![0; n as usize];
        t.shared.space.read(a[1], &mut all)?;
        let shown = without_entries(&all, &own);
        // None would be the end of the directory.
        if !shown.is_empty() {
            t.shared.space.write(a[1], &shown)?;
            return Ok((shown.len() as u64).into());
        }
    }
}

/// The entries of a directory of /proc that are axperf's own: threads that aren't the program's, and
/// descriptors from the guest's limit on. None if it isn't such a directory.
fn own_entries(t: &Thread, fd: i32) -> Option<Vec<RangeInclusive<i32>>> {
    let path = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?.into_os_string().into_vec();
    match procfs::find(t, &path)? {
        (procfs::Whose::Own(_), b"task") => {
            Some(t.shared.own_threads().map(|id| id..=id).collect())
        }
        (procfs::Whose::Own(_), b"fd" | b"fdinfo") => {
            Some(vec![t.shared.descriptors.limit()..=i32::MAX])
        }
        _ => None,
    }
}

fn is_proc(fd: i32) -> bool {
    // SAFETY: zero is a valid statfs, and it is ours.
    unsafe {
        let mut fs: libc::statfs = std::mem::zeroed();
        libc::fstatfs(fd, &mut fs) == 0 && fs.f_type == libc::PROC_SUPER_MAGIC
    }
}

/// The entries of a directory, `struct linux_dirent64`, but for those with these numbers for names:
/// d_reclen is at 16, d_name at 19.
fn without_entries(entries: &[u8], hidden: &[RangeInclusive<i32>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(entries.len());
    let mut rest = entries;
    while let Some(&[low, high]) = rest.get(16..18) {
        let len = usize::from(u16::from_le_bytes([low, high])).clamp(19, rest.len().max(19));
        let Some((entry, tail)) = rest.split_at_checked(len) else { break };
        let name = entry[19..].split(|b| *b == 0).next().unwrap_or_default();
        let number = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
        if !number.is_some_and(|n: i32| hidden.iter().any(|h| h.contains(&n))) {
            kept.extend_from_slice(entry);
        }
        rest = tail;
    }
    kept
}

/// In the sysroot the directory's name is without the sysroot's. Returns the length with the NUL.
pub(super) fn getcwd(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut host = [0u8; libc::PATH_MAX as usize];
    let at = host.as_mut_ptr() as u64;
    let len = now(libc::SYS_getcwd, &[at, host.len() as u64, 0, 0, 0, 0])? as usize;
    let full = &host[..len.saturating_sub(1)];
    let mut guest = match t.shared.config.sysroot.guest(full) {
        b"" => b"/".to_vec(),
        name => name.to_vec(),
    };
    guest.push(0);
    if guest.len() as u64 > a[1] {
        return Err(Errno(libc::ERANGE));
    }
    t.shared.space.write(a[0], &guest)?;
    Ok((guest.len() as u64).into())
}

pub(super) fn link(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (old, new) = (t.path(a[0], Arg::HostPath)?, t.path(a[1], Arg::HostPath)?);
    let (old, new) = (old.as_ptr() as u64, new.as_ptr() as u64);
    now(libc::SYS_linkat, &[AT_FDCWD, old, AT_FDCWD, new, 0, 0])?;
    DONE
}

pub(super) fn rename(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (old, new) = (t.path(a[0], Arg::HostPath)?, t.path(a[1], Arg::HostPath)?);
    let (old, new) = (old.as_ptr() as u64, new.as_ptr() as u64);
    now(libc::SYS_renameat2, &[AT_FDCWD, old, AT_FDCWD, new, 0, 0])?;
    DONE
}

pub(super) fn symlink(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[1], Arg::HostPath)?;
    now(libc::SYS_symlinkat, &[a[0], AT_FDCWD, path.as_ptr() as u64, 0, 0, 0])?;
    DONE
}

pub(super) fn rmdir(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[0], Arg::HostPath)?;
    let flags = libc::AT_REMOVEDIR as u64;
    now(libc::SYS_unlinkat, &[AT_FDCWD, path.as_ptr() as u64, flags, 0, 0, 0])?;
    DONE
}

pub(super) fn lchown(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[0], Arg::HostPath)?;
    let flags = libc::AT_SYMLINK_NOFOLLOW as u64;
    now(libc::SYS_fchownat, &[AT_FDCWD, path.as_ptr() as u64, a[1], a[2], flags, 0])?;
    DONE
}

pub(super) fn open_by_handle_at(_: &mut Thread, a: &[u64; 6]) -> Result {
    let host_flags = flags::open_to_host(a[2]) as u64;
    Ok(now(libc::SYS_open_by_handle_at, &[a[0], a[1], host_flags, 0, 0, 0])?.into())
}

/// getdents: the records of getdents64 are as long, with the type before the name, not at the end.
pub(super) fn getdents(t: &mut Thread, a: &[u64; 6]) -> Result {
    const LENGTH: usize = 16;
    const TYPE: usize = 18;
    /// Fewer than asked for is what a program expects anyway.
    const MOST: u64 = 65536;
    let mut list = vec![0u8; u64::from(a[2] as u32).min(MOST) as usize];
    let at = list.as_mut_ptr() as u64;
    let got = now(libc::SYS_getdents64, &[a[0], at, list.len() as u64, 0, 0, 0])?;
    list.truncate(got as usize);
    let mut rest = list.as_mut_slice();
    while rest.len() > TYPE {
        let len = usize::from(u16::from_le_bytes([rest[LENGTH], rest[LENGTH + 1]]));
        let Some((record, others)) = rest.split_at_mut_checked(len) else { break };
        record[TYPE..].rotate_left(1);
        rest = others;
    }
    t.shared.space.write(a[1], &list)?;
    Ok(got.into())
}

pub(super) fn oldumount(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[0], Arg::HostPath)?;
    now(libc::SYS_umount2, &[path.as_ptr() as u64, 0, 0, 0, 0, 0])?;
    DONE
}
