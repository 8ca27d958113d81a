//! What files are: Alpha's `struct stat`, `stat64`, `statfs`, `statfs64`.

use std::ffi::CString;

use super::arg::Arg;
use super::{DONE, Result, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::thread::Thread;

const AT_FDCWD: i32 = libc::AT_FDCWD;

/// The host's stat of a path (or of a descriptor, with an empty path and AT_EMPTY_PATH).
fn host_stat(dir: i32, path: &CString, flags: i32) -> Result<libc::stat> {
    // SAFETY: zero is a valid value of the structure; the path is a string.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstatat(dir, path.as_ptr(), &mut stat, flags) != 0 {
            return Err(Errno::last());
        }
        Ok(stat)
    }
}

pub(super) fn by_fd(fd: u64) -> Result<libc::stat> {
    host_stat(fd as i32, &CString::default(), libc::AT_EMPTY_PATH)
}

pub(super) fn by_path(t: &Thread, addr: u64, follow: bool) -> Result<libc::stat> {
    let (kind, flags) =
        if follow { (Arg::Path, 0) } else { (Arg::Link, libc::AT_SYMLINK_NOFOLLOW) };
    host_stat(AT_FDCWD, &t.path(addr, kind)?, flags)
}

/// Stores a `struct stat`, of 80 bytes.
fn put_stat(t: &Thread, addr: u64, s: &libc::stat) -> Result {
    let small = |n: u64| u32::try_from(n).map_err(|_| Errno(libc::EOVERFLOW));
    let mut b = Bytes::<80>::zeroed();
    b.put_u32(0, small(s.st_dev)?);
    // Inode numbers are cut, as the kernel does where they don't fit.
    b.put_u32(4, s.st_ino as u32);
    b.put_u32(8, s.st_mode);
    b.put_u32(12, s.st_nlink as u32);
    b.put_u32(16, s.st_uid);
    b.put_u32(20, s.st_gid);
    b.put_u32(24, small(s.st_rdev)?);
    b.put_i64(32, s.st_size);
    b.put_i64(40, s.st_atime);
    b.put_i64(48, s.st_mtime);
    b.put_i64(56, s.st_ctime);
    b.put_u32(64, s.st_blksize as u32);
    b.put_u32(68, s.st_blocks as u32);
    b.write(&t.shared.space, addr)?;
    DONE
}

/// Stores a `struct stat64`, of 136 bytes.
fn put_stat64(t: &Thread, addr: u64, s: &libc::stat) -> Result {
    let mut b = Bytes::<136>::zeroed();
    b.put_u64(0, s.st_dev);
    b.put_u64(8, s.st_ino);
    b.put_u64(16, s.st_rdev);
    b.put_i64(24, s.st_size);
    b.put_i64(32, s.st_blocks);
    b.put_u32(40, s.st_mode);
    b.put_u32(44, s.st_uid);
    b.put_u32(48, s.st_gid);
    b.put_u32(52, s.st_blksize as u32);
    b.put_u32(56, s.st_nlink as u32);
    b.put_i64(64, s.st_atime);
    b.put_i64(72, s.st_atime_nsec);
    b.put_i64(80, s.st_mtime);
    b.put_i64(88, s.st_mtime_nsec);
    b.put_i64(96, s.st_ctime);
    b.put_i64(104, s.st_ctime_nsec);
    b.write(&t.shared.space, addr)?;
    DONE
}

pub(super) fn stat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &by_path(t, a[0], true)?)
}

pub(super) fn lstat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &by_path(t, a[0], false)?)
}

pub(super) fn fstat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &by_fd(a[0])?)
}

pub(super) fn stat64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat64(t, a[1], &by_path(t, a[0], true)?)
}

pub(super) fn lstat64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat64(t, a[1], &by_path(t, a[0], false)?)
}

pub(super) fn fstat64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat64(t, a[1], &by_fd(a[0])?)
}

/// Whether a call's AT_ flags, the same everywhere, let it follow a symbolic link.
fn kind_for(flags: u64) -> Arg {
    if flags as i32 & libc::AT_SYMLINK_NOFOLLOW != 0 { Arg::Link } else { Arg::Path }
}

pub(super) fn fstatat64(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[1], kind_for(a[3]))?;
    put_stat64(t, a[2], &host_stat(a[0] as i32, &path, a[3] as i32)?)
}

/// statx has one layout for all architectures.
pub(super) fn statx(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[1], kind_for(a[2]))?;
    now(libc::SYS_statx, &[a[0], path.as_ptr() as u64, a[2], a[3], a[4], 0])?;
    DONE
}

fn host_statfs(call: impl FnOnce(*mut libc::statfs64) -> i32) -> Result<libc::statfs64> {
    // SAFETY: zero is a valid value of the structure.
    let mut s: libc::statfs64 = unsafe { std::mem::zeroed() };
    if call(&mut s) != 0 { Err(Errno::last()) } else { Ok(s) }
}

pub(super) fn path_statfs(t: &Thread, addr: u64) -> Result<libc::statfs64> {
    let path = t.path(addr, Arg::Path)?;
    // SAFETY: a string and a structure.
    host_statfs(|s| unsafe { libc::statfs64(path.as_ptr(), s) })
}

pub(super) fn fd_statfs(fd: u64) -> Result<libc::statfs64> {
    // SAFETY: the structure is valid.
    host_statfs(|s| unsafe { libc::fstatfs64(fd as i32, s) })
}

pub(super) fn fsid(s: &libc::statfs64) -> u64 {
    // SAFETY: the kernel's type is two ints; libc hides them.
    unsafe { std::mem::transmute_copy(&s.f_fsid) }
}

/// Stores a `struct statfs`: Alpha's has 32-bit words, and EOVERFLOW for what doesn't fit.
fn put_statfs(t: &Thread, addr: u64, s: &libc::statfs64) -> Result {
    let mut b = Bytes::<64>::zeroed();
    let words = [
        s.f_type as u64,
        s.f_bsize as u64,
        s.f_blocks,
        s.f_bfree,
        s.f_bavail,
        s.f_files,
        s.f_ffree,
    ];
    for (i, word) in words.into_iter().enumerate() {
        // A file system without a number of files says so with all ones.
        let word = if word == u64::MAX { u64::from(u32::MAX) } else { word };
        b.put_u32(4 * i, u32::try_from(word).map_err(|_| Errno(libc::EOVERFLOW))?);
    }
    b.put_u64(28, fsid(s));
    b.put_u32(36, s.f_namelen as u32);
    b.put_u32(40, s.f_frsize as u32);
    b.put_u32(44, s.f_flags as u32);
    b.write(&t.shared.space, addr)?;
    DONE
}

/// Stores a `struct statfs64`, of 88 bytes.
fn put_statfs64(t: &Thread, size: u64, addr: u64, s: &libc::statfs64) -> Result {
    if size != 88 {
        return Err(Errno(libc::EINVAL));
    }
    let mut b = Bytes::<88>::zeroed();
    b.put_u32(0, s.f_type as u32);
    b.put_u32(4, s.f_bsize as u32);
    for (i, quad) in
        [s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree].into_iter().enumerate()
    {
        b.put_u64(8 + 8 * i, quad);
    }
    b.put_u64(48, fsid(s));
    b.put_u32(56, s.f_namelen as u32);
    b.put_u32(60, s.f_frsize as u32);
    b.put_u32(64, s.f_flags as u32);
    b.write(&t.shared.space, addr)?;
    DONE
}

pub(super) fn statfs(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs(t, a[1], &path_statfs(t, a[0])?)
}

pub(super) fn fstatfs(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs(t, a[1], &fd_statfs(a[0])?)
}

pub(super) fn statfs64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs64(t, a[1], a[2], &path_statfs(t, a[0])?)
}

pub(super) fn fstatfs64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs64(t, a[1], a[2], &fd_statfs(a[0])?)
}
