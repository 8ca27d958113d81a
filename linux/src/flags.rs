//! Flags whose bits differ between Alpha and the host.

/// A set of flags: rows of a guest's bits and the host's.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    rows: &'static [(u64, u64)],
}

impl Flags {
    /// The host's bits for a guest's; None if there is one that no row has.
    #[must_use]
    pub fn to_host(self, guest: u64) -> Option<u64> {
        translate(guest, self.rows.iter().copied())
    }

    /// The guest's bits for the host's; bits that the guest has no name for are dropped.
    #[must_use]
    pub fn to_guest(self, host: u64) -> u64 {
        self.rows.iter().filter(|r| host & r.1 != 0).fold(0, |g, r| g | r.0)
    }

    /// The host's bits for those of a guest's that a row has.
    #[must_use]
    pub fn to_host_known(self, guest: u64) -> u64 {
        self.rows.iter().filter(|r| guest & r.0 != 0).fold(0, |h, r| h | r.1)
    }
}

fn translate(from: u64, rows: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let (mut left, mut to) = (from, 0);
    for (a, b) in rows {
        if from & a != 0 {
            to |= b;
            left &= !a;
        }
    }
    (left == 0).then_some(to)
}

/// What the host's kernel calls O_LARGEFILE, which libc defines as 0.
#[cfg(target_arch = "x86_64")]
const HOST_LARGEFILE: u64 = 0o100000;
#[cfg(target_arch = "aarch64")]
const HOST_LARGEFILE: u64 = 0o400000;

/// `open` flags besides the access mode, which is the same. Source: Alpha's `asm/fcntl.h`.
pub const OPEN: Flags = Flags {
    rows: &[
        (0x4, libc::O_NONBLOCK as u64),
        (0x8, libc::O_APPEND as u64),
        (0x200, libc::O_CREAT as u64),
        (0x400, libc::O_TRUNC as u64),
        (0x800, libc::O_EXCL as u64),
        (0x1000, libc::O_NOCTTY as u64),
        (0x2000, libc::O_ASYNC as u64),
        (0x4000, libc::O_DSYNC as u64),
        (0x8000, libc::O_DIRECTORY as u64),
        (0x10000, libc::O_NOFOLLOW as u64),
        (0x20000, HOST_LARGEFILE),
        (0x80000, libc::O_DIRECT as u64),
        (0x10_0000, libc::O_NOATIME as u64),
        (0x20_0000, libc::O_CLOEXEC as u64),
        (0x40_0000, (libc::O_SYNC & !libc::O_DSYNC) as u64),
        (0x80_0000, libc::O_PATH as u64),
        (0x100_0000, (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64),
    ],
};

/// O_ACCMODE.
pub const ACCESS_MODE: u64 = 3;
/// Alpha's O_CLOEXEC, which is also EPOLL_CLOEXEC, EFD_CLOEXEC, SOCK_CLOEXEC...
pub const CLOEXEC: u64 = 0x20_0000;
/// Alpha's O_NOFOLLOW.
pub const NOFOLLOW: u64 = 0x10000;

/// The host's `open` flags for a guest's; flags that Linux doesn't know are ignored, as by it.
#[must_use]
pub fn open_to_host(guest: u64) -> i32 {
    (guest & ACCESS_MODE | OPEN.to_host_known(guest)) as i32
}

/// The guest's `open` flags for the host's.
#[must_use]
pub fn open_to_guest(host: u64) -> u64 {
    host & ACCESS_MODE | OPEN.to_guest(host)
}

/// Flags of calls that make a descriptor: close on exec, non-blocking.
pub const DESCRIPTOR: Flags =
    Flags { rows: &[(CLOEXEC, libc::O_CLOEXEC as u64), (0x4, libc::O_NONBLOCK as u64)] };

/// Flags in a socket's type.
pub const SOCKET: Flags = Flags {
    rows: &[(CLOEXEC, libc::SOCK_CLOEXEC as u64), (0x4000_0000, libc::SOCK_NONBLOCK as u64)],
};

/// mmap flags that the host is told of too, besides the type. Source: Alpha's `asm/mman.h`.
/// MAP_LOCKED isn't among them: the host's limit on locked memory is axperf's.
pub const MMAP: Flags = Flags {
    rows: &[
        (0x10000, libc::MAP_NORESERVE as u64),
        (0x20000, libc::MAP_POPULATE as u64),
        (0x40000, libc::MAP_NONBLOCK as u64),
        (0x80000, libc::MAP_STACK as u64),
    ],
};

/// A request of the host's madvise, if there is one for a guest's. Source: Alpha's `asm/mman.h`,
/// where only MADV_DONTNEED differs.
#[must_use]
pub fn advice(guest: u64) -> Option<i32> {
    match guest as i32 {
        6 => Some(libc::MADV_DONTNEED),
        n @ (0..=3 | 8..=23) => Some(n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guest's values are octal in its header; the host's are its own libc's.
    #[test]
    fn open_flags() {
        let guest = 0o1 | 0o1000 | 0o2000 | 0o10000000;
        let host = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
        assert_eq!(open_to_host(guest), host);
        assert_eq!(open_to_guest(host as u64), guest);
        assert_eq!(open_to_host(0o20040000), libc::O_SYNC);
        assert_eq!(open_to_host(0o100100000 | 2), libc::O_TMPFILE | libc::O_RDWR);
        assert_eq!(DESCRIPTOR.to_host(0x200004), Some((libc::O_CLOEXEC | libc::O_NONBLOCK) as u64));
        assert_eq!(DESCRIPTOR.to_host(0x80000), None);
        assert_eq!(advice(6), Some(4));
        assert_eq!(advice(4), None);
    }
}
