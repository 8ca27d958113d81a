//! File descriptors: the guest's below a limit, axperf's own above it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::errno::Errno;

/// Descriptors that axperf keeps for itself.
const OWN: u64 = 64;
/// The guest's share at least: with fewer a C library can't load a program.
const LEAST: u64 = 8;
/// More than this the guest doesn't get: the host's table is as long as the highest descriptor.
const MOST: u64 = 65536;

/// The hard limit of open files that a process needs to run a program.
pub(crate) const NEEDED: u64 = OWN + LEAST;

/// The first descriptor that isn't the guest's; decided once for a host process and its children.
fn limit() -> Result<i32, Errno> {
    static LIMIT: OnceLock<Result<i32, Errno>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        // SAFETY: plain data, valid for the calls.
        unsafe {
            let mut now: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(libc::RLIMIT_NOFILE, &mut now) != 0 {
                return Err(Errno::last());
            }
            if now.rlim_max < OWN + LEAST {
                return Err(Errno(libc::EMFILE));
            }
            let guest = now.rlim_cur.min(MOST).min(now.rlim_max - OWN);
            now.rlim_cur = now.rlim_cur.max(guest + OWN);
            if libc::setrlimit(libc::RLIMIT_NOFILE, &now) != 0 {
                return Err(Errno::last());
            }
            Ok(guest as i32)
        }
    })
}

/// Moves a descriptor of axperf's own to where the guest can't see it.
///
/// # Errors
/// The host has no more.
pub fn lift(fd: OwnedFd) -> io::Result<OwnedFd> {
    let limit = limit().map_err(|e| io::Error::from_raw_os_error(e.0))?;
    // SAFETY: the new descriptor is ours alone.
    unsafe {
        let up = libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, limit);
        if up < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(up)) }
    }
}

/// The guest's share of the descriptors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptors {
    limit: i32,
}

impl Descriptors {
    pub fn new() -> Result<Descriptors, Errno> {
        Ok(Descriptors { limit: limit()? })
    }

    /// The first descriptor that isn't the guest's.
    pub fn limit(self) -> i32 {
        self.limit
    }

    /// A system call's argument as a descriptor of the guest's.
    pub fn check(self, raw: u64) -> Result<i32, Errno> {
        let fd = raw as i32;
        if fd < self.limit { Ok(fd) } else { Err(Errno(libc::EBADF)) }
    }

    /// A new descriptor: the guest's if it is below its limit, else closed.
    pub fn admit(self, new: u64) -> Result<u64, Errno> {
        if new < self.limit as u64 {
            return Ok(new);
        }
        // SAFETY: the host has just made it for this call.
        unsafe { libc::close(new as i32) };
        Err(Errno(libc::EMFILE))
    }

    /// Gives the guest a file, at the lowest number that is free.
    pub fn give(self, file: File, close_on_exec: bool) -> Result<u64, Errno> {
        let own = OwnedFd::from(file);
        // SAFETY: duplicates a descriptor that is open; the new one is ours.
        let other = unsafe {
            match libc::fcntl(own.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 0) {
                fd if fd < 0 => return Err(Errno::last()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        let lower = if own.as_raw_fd() < other.as_raw_fd() { own } else { other };
        if !close_on_exec {
            // SAFETY: no pointers.
            unsafe { libc::fcntl(lower.as_raw_fd(), libc::F_SETFD, 0) };
        }
        self.admit(lower.into_raw_fd() as u64)
    }

    /// Closes what exec closes.
    pub fn close_on_exec(self) {
        let listed = std::fs::read_dir("/proc/self/fd").map(|list| {
            list.flatten()
                .filter_map(|e| e.file_name().to_str()?.parse().ok())
                .collect::<Vec<i32>>()
        });
        // Without /proc, all that there can be.
        let fds = listed.unwrap_or_else(|_| (0..self.limit).collect());
        for fd in fds.into_iter().filter(|fd| *fd < self.limit) {
            // SAFETY: descriptors below the limit are the guest's.
            unsafe {
                if libc::fcntl(fd, libc::F_GETFD) & libc::FD_CLOEXEC != 0 {
                    libc::close(fd);
                }
            }
        }
    }
}
