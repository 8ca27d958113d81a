//! OSF/1's calls that Linux/alpha has beside its own, with structures of their own.
//!
//! Layouts and behaviour: Linux `arch/alpha/kernel/osf_sys.c`.

use axperf::Bus;

use super::arg::Arg;
use super::{DONE, Result, now, stat};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::thread::Thread;

const EINVAL: Errno = Errno(libc::EINVAL);

/// Mounts by number: 1 is UFS, for which Linux takes ext2, 6 a CD, 9 /proc. The arguments begin with a
/// pointer to the device's name.
pub(super) fn osf_mount(t: &mut Thread, a: &[u64; 6]) -> Result {
    let kind = match a[0] {
        1 => c"ext2",
        6 => c"iso9660",
        9 => c"proc",
        _ => return Err(EINVAL),
    };
    let args = Bytes::<16>::read(&t.shared.space, a[3])?;
    let device = if a[0] == 9 { None } else { Some(t.path(args.u64(0), Arg::HostPath)?) };
    let device = device.as_deref().unwrap_or_default().as_ptr() as u64;
    let directory = t.path(a[1], Arg::HostPath)?;
    let (at, kind) = (directory.as_ptr() as u64, kind.as_ptr() as u64);
    now(libc::SYS_mount, &[device, at, kind, u64::from(a[2] as u32), 0, 0])?;
    DONE
}

/// Says where the program's zeroed data is; the heap begins after it.
pub(super) fn osf_set_program_attributes(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.set_heap(a[2].wrapping_add(a[3]));
    DONE
}

/// Entries of a directory: d_ino (4 bytes), d_reclen, d_namlen (2 each), d_name; of those of
/// getdents64 d_ino is at 0, d_off at 8, d_reclen at 16, d_name at 19.
pub(super) fn osf_getdirentries(t: &mut Thread, a: &[u64; 6]) -> Result {
    /// Fewer than asked for is what a program expects anyway.
    const MOST: u32 = 65536;
    let [fd, out, count, base, ..] = *a;
    let seek = |to: u64| now(libc::SYS_lseek, &[fd, to, libc::SEEK_SET as u64, 0, 0, 0]);
    let start = now(libc::SYS_lseek, &[fd, 0, libc::SEEK_CUR as u64, 0, 0, 0])?;
    let count = (count as u32).min(MOST) as usize;
    // One that fits there may be longer here.
    let mut list = vec![0u8; count + 512];
    let at = list.as_mut_ptr() as u64;
    let got = now(libc::SYS_getdents64, &[fd, at, list.len() as u64, 0, 0, 0])?;
    list.truncate(got as usize);
    let mut text = Vec::new();
    let (mut rest, mut next) = (list.as_slice(), start);
    let mut refused = None;
    while rest.len() > 19 {
        let quad = |i: usize| u64::from_le_bytes(rest[i..i + 8].try_into().expect("eight bytes"));
        let len = usize::from(u16::from_le_bytes([rest[16], rest[17]]));
        let Some((record, others)) = rest.split_at_checked(len) else { break };
        let name = record.get(19..).unwrap_or_default();
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        let size = (8 + name.len() + 1).next_multiple_of(4);
        if text.len() + size > count {
            refused = Some(EINVAL);
            break;
        }
        let Ok(inode) = u32::try_from(quad(0)) else {
            refused = Some(Errno(libc::EOVERFLOW));
            break;
        };
        let end = text.len() + size;
        text.extend_from_slice(&inode.to_le_bytes());
        text.extend_from_slice(&(size as u16).to_le_bytes());
        text.extend_from_slice(&(name.len() as u16).to_le_bytes());
        text.extend_from_slice(name);
        text.resize(end, 0);
        next = quad(8);
        rest = others;
    }
    // What didn't fit comes again.
    seek(next)?;
    if let (true, Some(e)) = (text.is_empty(), refused) {
        return Err(e);
    }
    if !text.is_empty() && base != 0 {
        t.shared.space.write_u64(base, start)?;
    }
    t.shared.space.write(out, &text)?;
    Ok((text.len() as u64).into())
}

/// `struct osf_stat`, of 160 bytes.
fn put_stat(t: &Thread, addr: u64, s: &libc::stat) -> Result {
    let mut b = Bytes::<160>::zeroed();
    b.put_u32(0, s.st_dev as u32);
    b.put_u32(8, s.st_mode);
    b.put_u16(12, s.st_nlink as u16);
    b.put_u32(16, s.st_uid);
    b.put_u32(20, s.st_gid);
    b.put_u32(24, s.st_rdev as u32);
    b.put_u32(28, s.st_rdev as u32);
    b.put_i64(32, s.st_size);
    b.put_u32(112, s.st_ino as u32);
    let times = [
        (s.st_atime, s.st_atime_nsec),
        (s.st_mtime, s.st_mtime_nsec),
        (s.st_ctime, s.st_ctime_nsec),
    ];
    for (i, (seconds, nano)) in times.into_iter().enumerate() {
        b.put_i32(44 + 8 * i, (nano / 1000) as i32);
        b.put_i32(120 + 8 * i, seconds as i32);
    }
    b.put_u64(144, s.st_blksize as u64);
    b.put_i64(152, s.st_blocks);
    b.write(&t.shared.space, addr)?;
    DONE
}

pub(super) fn osf_stat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &stat::by_path(t, a[0], true)?)
}

pub(super) fn osf_lstat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &stat::by_path(t, a[0], false)?)
}

pub(super) fn osf_fstat(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_stat(t, a[1], &stat::by_fd(a[0])?)
}

/// What both forms of statfs have: sizes, then numbers of blocks and files.
fn counts(s: &libc::statfs64) -> [u64; 7] {
    let sizes = [s.f_frsize as u64, s.f_bsize as u64];
    let [fsize, bsize] = sizes;
    [fsize, bsize, s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree]
}

/// As much of a structure as the program has room for.
fn put(t: &Thread, addr: u64, room: u64, bytes: &[u8]) -> Result {
    t.shared.space.write(addr, &bytes[..bytes.len().min(room as usize)])?;
    DONE
}

/// `struct osf_statfs`, of 40 bytes.
fn put_statfs(t: &Thread, addr: u64, room: u64, s: &libc::statfs64) -> Result {
    let mut b = Bytes::<40>::zeroed();
    b.put_u16(0, s.f_type as u16);
    for (i, n) in counts(s).into_iter().enumerate() {
        b.put_u32(4 + 4 * i, n as u32);
    }
    b.put_u64(32, stat::fsid(s));
    put(t, addr, room, &b.0)
}

/// `struct osf_statfs64`, of 512 bytes.
fn put_statfs64(t: &Thread, addr: u64, room: u64, s: &libc::statfs64) -> Result {
    let mut b = Bytes::<512>::zeroed();
    b.put_u16(0, s.f_type as u16);
    b.put_u64(32, stat::fsid(s));
    for (i, n) in counts(s).into_iter().enumerate() {
        b.put_u64(456 + 8 * i, n);
    }
    put(t, addr, room, &b.0)
}

pub(super) fn osf_statfs(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs(t, a[1], a[2], &stat::path_statfs(t, a[0])?)
}

pub(super) fn osf_fstatfs(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs(t, a[1], a[2], &stat::fd_statfs(a[0])?)
}

pub(super) fn osf_statfs64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs64(t, a[1], a[2], &stat::path_statfs(t, a[0])?)
}

pub(super) fn osf_fstatfs64(t: &mut Thread, a: &[u64; 6]) -> Result {
    put_statfs64(t, a[1], a[2], &stat::fd_statfs(a[0])?)
}

/// Lists of properties, of which files have none: setting them succeeds, and asking finds nothing.
pub(super) fn osf_proplist_syscall(t: &mut Thread, a: &[u64; 6]) -> Result {
    let space = &t.shared.space;
    let field = |at: u64| space.read_u64(a[1].wrapping_add(at));
    match a[0] as u32 {
        // PL_SET and PL_FSET: as many bytes as were given.
        1 => Ok(field(16)?.into()),
        2 => Ok(field(8)?.into()),
        // PL_GET and PL_FGET: nothing, for which no room is needed.
        3 => space.write_u32(field(40)?, 0).and(DONE),
        4 => space.write_u32(field(32)?, 0).and(DONE),
        // PL_DEL and PL_FDEL.
        5 | 6 => DONE,
        _ => Err(Errno(libc::EOPNOTSUPP)),
    }
}

#[cfg(test)]
mod tests {
    /// Offsets, by structures with the kernel's fields.
    #[test]
    fn layouts() {
        let stat = "__builtin_offsetof(struct { int dev, pad1; unsigned mode; unsigned short nlink; \
                    short nlink_reserved; unsigned uid, gid; int rdev, ldev; long size; int pad2, uatime, \
                    pad3, umtime, pad4, uctime, pad5, pad6; unsigned flags, gen; long spare[4]; unsigned \
                    ino; int ino_reserved, atime, atime_reserved, mtime, mtime_reserved, ctime, \
                    ctime_reserved; long blksize, blocks; }";
        let statfs64 = "__builtin_offsetof(struct { short type, flags; int pad[7]; int fsid[2]; unsigned \
                        short namemax; short reserved1; int spare[8]; char pad8[90], pad9[90]; long \
                        mount_info[10]; unsigned long flags2; long spare2[14]; long fsize, bsize, blocks; }";
        let of = |structure: &str, field: &str, at| (format!("{structure}, {field})"), at);
        let facts = [
            of(stat, "nlink", 12),
            of(stat, "size", 32),
            of(stat, "uatime", 44),
            of(stat, "uctime", 60),
            of(stat, "ino", 112),
            of(stat, "atime", 120),
            of(stat, "ctime", 136),
            of(stat, "blocks", 152),
            of(statfs64, "fsid", 32),
            of(statfs64, "fsize", 456),
            of(statfs64, "blocks", 472),
        ];
        crate::abi::check(&[], facts);
    }
}
