//! Keys: the host's, with the same structures everywhere. keyctl's arguments are pointers or not by the
//! command.

use super::{Result, is_guest, now};
use crate::errno::Errno;
use crate::thread::Thread;

/// keyctl(command, ...): which of its arguments are pointers to strings, and which a buffer whose
/// length is the next.
fn pointers(command: u32) -> Result<(&'static [usize], Option<usize>)> {
    Ok(match command {
        // Get id, revoke, change owner or permissions, clear, link, unlink, negate, default keyring,
        // timeout, assume, to the parent, reject, invalidate, persistent, move.
        0 | 3 | 4 | 5 | 7 | 8 | 9 | 13..=16 | 18 | 19 | 21 | 22 | 30 => (&[], None),
        // Join a session.
        1 => (&[1], None),
        // Update, describe, read, instantiate, security.
        2 | 6 | 11 | 12 | 17 => (&[], Some(2)),
        // Search, restrict.
        10 | 29 => (&[2, 3], None),
        // Capabilities.
        31 => (&[], Some(1)),
        // From several buffers, Diffie-Hellman, public keys, watching: as a kernel without them.
        _ => return Err(Errno(libc::EOPNOTSUPP)),
    })
}

pub(super) fn keyctl(_: &mut Thread, a: &[u64; 6]) -> Result {
    let (strings, buffer) = pointers(a[0] as u32)?;
    for i in strings {
        // The guard above the address space ends a string without a NUL.
        is_guest(a[*i], 1)?;
    }
    if let Some(i) = buffer {
        is_guest(a[i], a[i + 1])?;
    }
    Ok(now(libc::SYS_keyctl, a)?.into())
}
