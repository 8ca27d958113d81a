//! Files by name.

use std::ffi::CString;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use axperf::Bus;

use super::{Arg, DONE, Result, now};
use crate::errno::Errno;
use crate::thread::Thread;
use crate::{flags, procfs};

const AT_FDCWD: u64 = libc::AT_FDCWD as u64;

pub(super) fn open(t: &mut Thread, a: &[u64; 6]) -> Result {
    open_in(t, AT_FDCWD, a[0], a[1], a[2])
}

pub(super) fn openat(t: &mut Thread, a: &[u64; 6]) -> Result {
    open_in(t, a[0], a[1], a[2], a[3])
}

fn open_in(t: &Thread, dir: u64, path: u64, guest_flags: u64, mode: u64) -> Result {
    let name = t.shared.space.read_string(path, libc::PATH_MAX as usize)?;
    let close_on_exec = guest_flags & flags::CLOEXEC != 0;
    if t.own_proc_file(&name) == Some(b"mem") {
        // It would be all of this process, axperf's part too.
        return Err(Errno(libc::EACCES));
    }
    if let Some(content) = procfs::content(t, &name) {
        if guest_flags & flags::ACCESS_MODE != 0 {
            return Err(Errno(libc::EACCES));
        }
        let file = memory_file(&content)?;
        return Ok(t.shared.descriptors.give(file, close_on_exec)?.into());
    }
    let host_flags = flags::open_to_host(guest_flags);
    // What may change a file isn't for the sysroot's.
    const CHANGES: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    let host = if host_flags & CHANGES == libc::O_RDONLY {
        t.host_path(&name, guest_flags & flags::NOFOLLOW == 0)
    } else {
        name
    };
    let host = CString::new(host).unwrap_or_default();
    let host_flags = host_flags as u64;
    let fd = t.block(libc::SYS_openat, &[dir, host.as_ptr() as u64, host_flags, mode, 0, 0])?;
    Ok(t.shared.descriptors.admit(fd)?.into())
}

/// A file with this content, at its start.
fn memory_file(content: &[u8]) -> Result<File> {
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
