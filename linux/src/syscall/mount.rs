//! Mounts by descriptors. Structures and numbers are the same everywhere, but for O_CLOEXEC.

use super::arg::Arg;
use super::{DONE, Result, is_guest, now};
use crate::errno::Errno;
use crate::flags;
use crate::thread::Thread;

pub(super) fn open_tree(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.path(a[1], Arg::HostPath)?;
    let same = u64::from(a[2] as u32) & !flags::CLOEXEC;
    // The host's close-on-exec is a flag without a meaning on Alpha.
    if same & libc::O_CLOEXEC as u64 != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let close = flags::DESCRIPTOR.to_host_known(a[2]) & libc::O_CLOEXEC as u64;
    Ok(now(libc::SYS_open_tree, &[a[0], path.as_ptr() as u64, same | close, 0, 0, 0])?.into())
}

/// fsconfig(fd, command, key, value, aux): value is a pointer or nothing. A value of so many bytes has
/// their number in aux; others are strings, which the guard above the address space ends.
pub(super) fn fsconfig(_: &mut Thread, a: &[u64; 6]) -> Result {
    const BINARY: u32 = 2;
    if a[3] != 0 {
        let bytes = if a[1] as u32 == BINARY { u64::from(a[4] as u32) } else { 1 };
        is_guest(a[3], bytes)?;
    }
    now(libc::SYS_fsconfig, &[a[0], a[1], a[2], a[3], a[4], 0])?;
    DONE
}
