//! File descriptors: duplicates, pipes, fcntl.

use axperf::{Bus, Reg};

use super::{DONE, Result, is_guest, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::flags;
use crate::perf_event;
use crate::signo::Signal;
use crate::thread::Thread;

pub(super) fn perf_event_open(t: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(perf_event::open(t, a)?.into())
}

pub(super) fn close(t: &mut Thread, a: &[u64; 6]) -> Result {
    now(libc::SYS_close, &[a[0], 0, 0, 0, 0, 0])?;
    perf_event::calls::closed(t);
    DONE
}

/// pipe: the second descriptor is in `$20`.
pub(super) fn pipe(t: &mut Thread, _: &[u64; 6]) -> Result {
    let [read, write] = make_pipe(t, 0)?;
    t.cpu.set_reg(Reg::R20, write);
    Ok(read.into())
}

pub(super) fn pipe2(t: &mut Thread, a: &[u64; 6]) -> Result {
    const DIRECT: u64 = 0x80000;
    let direct = if a[1] & DIRECT != 0 { libc::O_DIRECT } else { 0 };
    let flags = flags::DESCRIPTOR.to_host(a[1] & !DIRECT).ok_or(Errno(libc::EINVAL))?;
    let [read, write] = make_pipe(t, flags as i32 | direct)?;
    let mut both = Bytes::<8>::zeroed();
    both.put_u32(0, read as u32);
    both.put_u32(4, write as u32);
    both.write(&t.shared.space, a[0]).inspect_err(|_| close_all(&[read, write]))?;
    DONE
}

fn make_pipe(t: &Thread, flags: i32) -> Result<[u64; 2]> {
    let mut both = [0i32; 2];
    // SAFETY: two descriptors fit.
    if unsafe { libc::pipe2(both.as_mut_ptr(), flags) } != 0 {
        return Err(Errno::last());
    }
    admit_both(t, both)
}

/// Lets the guest have two new descriptors, or neither.
pub(super) fn admit_both(t: &Thread, both: [i32; 2]) -> Result<[u64; 2]> {
    let both = both.map(|fd| fd as u64);
    if both.iter().any(|fd| *fd >= t.shared.descriptors.limit() as u64) {
        close_all(&both);
        return Err(Errno(libc::EMFILE));
    }
    Ok(both)
}

fn close_all(fds: &[u64]) {
    for fd in fds {
        // SAFETY: the caller has just made them.
        unsafe { libc::close(*fd as i32) };
    }
}

pub(super) fn dup2(t: &mut Thread, a: &[u64; 6]) -> Result {
    let new = t.shared.descriptors.check(a[1])?;
    if a[0] as i32 == new {
        // It has to be open.
        now(libc::SYS_fcntl, &[a[0], libc::F_GETFD as u64, 0, 0, 0, 0])?;
        return Ok((new as u64).into());
    }
    let new = now(libc::SYS_dup3, &[a[0], a[1], 0, 0, 0, 0])?;
    perf_event::calls::closed(t);
    Ok(new.into())
}

pub(super) fn dup3(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.descriptors.check(a[1])?;
    let flags = flags::DESCRIPTOR.to_host(a[2]).ok_or(Errno(libc::EINVAL))?;
    let new = now(libc::SYS_dup3, &[a[0], a[1], flags, 0, 0, 0])?;
    perf_event::calls::closed(t);
    Ok(new.into())
}

pub(super) fn getdtablesize(t: &mut Thread, _: &[u64; 6]) -> Result {
    Ok((t.shared.descriptors.limit() as u64).into())
}

pub(super) fn close_range(t: &mut Thread, a: &[u64; 6]) -> Result {
    let last = (t.shared.descriptors.limit() - 1) as u64;
    if a[0] as u32 > a[1] as u32 {
        return Err(Errno(libc::EINVAL));
    }
    if a[0] as u32 as u64 > last {
        return DONE;
    }
    // Flags: UNSHARE and CLOEXEC have their own numbers, the same everywhere.
    let end = (a[1] as u32 as u64).min(last);
    let done = now(libc::SYS_close_range, &[a[0], end, a[2], 0, 0, 0])?;
    perf_event::calls::closed(t);
    Ok(done.into())
}

/// PIDFD_NONBLOCK is O_NONBLOCK, PIDFD_THREAD is O_EXCL.
pub(super) fn pidfd_open(_: &mut Thread, a: &[u64; 6]) -> Result {
    const EXCL: u64 = 0x800;
    let thread = if a[1] & EXCL != 0 { libc::O_EXCL as u64 } else { 0 };
    let flags = flags::DESCRIPTOR.to_host(a[1] & 0xffff_ffff & !EXCL).ok_or(Errno(libc::EINVAL))?;
    Ok(now(libc::SYS_pidfd_open, &[a[0], flags | thread, 0, 0, 0, 0])?.into())
}

/// Alpha's commands of fcntl that differ from the host's, or need their argument translated.
mod f {
    pub const DUPFD: i32 = 0;
    pub const GETFD: i32 = 1;
    pub const SETFD: i32 = 2;
    pub const GETFL: i32 = 3;
    pub const SETFL: i32 = 4;
    pub const SETOWN: i32 = 5;
    pub const GETOWN: i32 = 6;
    pub const GETLK: i32 = 7;
    pub const SETLK: i32 = 8;
    pub const SETLKW: i32 = 9;
    pub const SETSIG: i32 = 10;
    pub const GETSIG: i32 = 11;
    pub const SETOWN_EX: i32 = 15;
    pub const GETOWN_EX: i32 = 16;
    pub const GETOWNER_UIDS: i32 = 17;
    pub const OFD_GETLK: i32 = 36;
    pub const OFD_SETLK: i32 = 37;
    pub const OFD_SETLKW: i32 = 38;
    pub const SETLEASE: i32 = 1024;
    pub const GETLEASE: i32 = 1025;
    pub const DUPFD_CLOEXEC: i32 = 1030;
    pub const SETPIPE_SZ: i32 = 1031;
    pub const GETPIPE_SZ: i32 = 1032;
    pub const ADD_SEALS: i32 = 1033;
    pub const GET_SEALS: i32 = 1034;
    pub const GET_RW_HINT: i32 = 1035;
    pub const SET_FILE_RW_HINT: i32 = 1038;
}

pub(super) fn fcntl(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (fd, command, arg) = (a[0], a[1] as i32, a[2]);
    let host = |command: i32, arg: u64| now(libc::SYS_fcntl, &[fd, command as u64, arg, 0, 0, 0]);
    let value = match command {
        f::DUPFD | f::DUPFD_CLOEXEC => {
            if arg as i32 >= t.shared.descriptors.limit() {
                return Err(Errno(libc::EINVAL));
            }
            t.shared.descriptors.admit(host(command, arg)?)?
        }
        f::GETFL => flags::open_to_guest(host(libc::F_GETFL, 0)?),
        f::SETFL => host(libc::F_SETFL, flags::open_to_host(arg) as u64)?,
        f::SETOWN => host(libc::F_SETOWN, arg)?,
        f::GETOWN => host(libc::F_GETOWN, 0)?,
        f::SETSIG => {
            let signal = match arg {
                0 => 0,
                n => Signal::new(n).ok_or(Errno(libc::EINVAL))?.host(),
            };
            host(f::SETSIG, signal as u64)?
        }
        f::GETSIG => {
            let signal = host(f::GETSIG, 0)?;
            Signal::from_host(signal as i32).map_or(0, |s| u64::from(s.number()))
        }
        f::GETLK => return lock(t, fd, libc::F_GETLK, arg),
        f::SETLK => return lock(t, fd, libc::F_SETLK, arg),
        f::SETLKW => return lock(t, fd, libc::F_SETLKW, arg),
        f::OFD_GETLK => return lock(t, fd, libc::F_OFD_GETLK, arg),
        f::OFD_SETLK => return lock(t, fd, libc::F_OFD_SETLK, arg),
        f::OFD_SETLKW => return lock(t, fd, libc::F_OFD_SETLKW, arg),
        f::SETOWN_EX | f::GETOWN_EX | f::GETOWNER_UIDS | f::GET_RW_HINT..=f::SET_FILE_RW_HINT => {
            is_guest(arg, 8)?;
            host(command, arg)?
        }
        f::SETLEASE => host(command, u64::from(lock_to_host(arg as u16)?))?,
        f::GETLEASE => u64::from(lock_to_guest(host(command, 0)? as u16)),
        f::GETFD | f::SETFD | f::SETPIPE_SZ | f::GETPIPE_SZ | f::ADD_SEALS | f::GET_SEALS => {
            host(command, arg)?
        }
        _ => return Err(Errno(libc::EINVAL)),
    };
    Ok(value.into())
}

/// Record locks: `struct flock` has the host's layout, but its types are others.
fn lock(t: &Thread, fd: u64, command: i32, addr: u64) -> Result {
    let space = &t.shared.space;
    let mut flock = Bytes::<32>::read(space, addr)?;
    flock.put_u16(0, lock_to_host(flock.u16(0))?);
    let host = [fd, command as u64, flock.0.as_mut_ptr() as u64, 0, 0, 0];
    if [libc::F_SETLKW, libc::F_OFD_SETLKW].contains(&command) {
        t.block(libc::SYS_fcntl, &host)?;
    } else {
        now(libc::SYS_fcntl, &host)?;
    }
    if [libc::F_GETLK, libc::F_OFD_GETLK].contains(&command) {
        flock.put_u16(0, lock_to_guest(flock.u16(0)));
        space.write(addr, &flock.0)?;
    }
    DONE
}

/// Alpha's F_RDLCK, F_WRLCK, F_UNLCK and the host's.
const LOCKS: [(u16, u16); 3] =
    [(1, libc::F_RDLCK as u16), (2, libc::F_WRLCK as u16), (8, libc::F_UNLCK as u16)];

fn lock_to_host(guest: u16) -> Result<u16> {
    LOCKS.iter().find(|l| l.0 == guest).map(|l| l.1).ok_or(Errno(libc::EINVAL))
}

fn lock_to_guest(host: u16) -> u16 {
    LOCKS.iter().find(|l| l.1 == host).map_or(host, |l| l.0)
}

/// A descriptor, or the version of the interface if a flag asks for that.
pub(super) fn landlock_create_ruleset(t: &mut Thread, a: &[u64; 6]) -> Result {
    let made = now(libc::SYS_landlock_create_ruleset, &[a[0], a[1], a[2], 0, 0, 0])?;
    if a[2] as u32 != 0 { Ok(made.into()) } else { Ok(t.shared.descriptors.admit(made)?.into()) }
}
