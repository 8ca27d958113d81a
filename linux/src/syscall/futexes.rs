//! futex: the host's, on the guest's memory.

use axperf::Bus;

use super::{NO_RESTART, Result, is_guest};
use crate::errno::Errno;
use crate::thread::Thread;

/// What the fourth argument of an operation is.
enum Fourth {
    Nothing,
    Timeout,
    Number,
}

pub(super) fn futex(t: &mut Thread, a: &[u64; 6]) -> Result {
    const COMMAND: i32 = 0x7f;
    let (fourth, second) = match a[1] as i32 & COMMAND {
        libc::FUTEX_WAKE
        | libc::FUTEX_WAKE_BITSET
        | libc::FUTEX_UNLOCK_PI
        | libc::FUTEX_TRYLOCK_PI => (Fourth::Nothing, false),
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET | libc::FUTEX_LOCK_PI | libc::FUTEX_LOCK_PI2 => {
            (Fourth::Timeout, false)
        }
        libc::FUTEX_WAIT_REQUEUE_PI => (Fourth::Timeout, true),
        libc::FUTEX_REQUEUE
        | libc::FUTEX_CMP_REQUEUE
        | libc::FUTEX_WAKE_OP
        | libc::FUTEX_CMP_REQUEUE_PI => (Fourth::Number, true),
        _ => return Err(Errno(libc::ENOSYS)),
    };
    let mut args = *a;
    let timed = match fourth {
        Fourth::Nothing => {
            args[3] = 0;
            false
        }
        Fourth::Timeout => {
            is_guest(a[3], 16)?;
            a[3] != 0
        }
        Fourth::Number => false,
    };
    if second {
        is_guest(a[4], 4)?;
    } else {
        args[4] = 0;
    }
    match t.block(libc::SYS_futex, &args) {
        // The time already waited isn't waited again.
        Err(Errno(libc::EINTR)) if timed => Err(NO_RESTART),
        other => Ok(other?.into()),
    }
}

/// futex_waitv: `struct futex_waitv`s (value, address, flags), as the host's.
pub(super) fn futex_waitv(t: &mut Thread, a: &[u64; 6]) -> Result {
    const MOST: u64 = 128;
    const EACH: usize = 24;
    if a[1] == 0 || a[1] > MOST || a[0] == 0 {
        return Err(Errno(libc::EINVAL));
    }
    let mut waiters = vec![0; a[1] as usize * EACH];
    t.shared.space.read(a[0], &mut waiters)?;
    for waiter in waiters.chunks_exact(EACH) {
        let addr = u64::from_le_bytes(waiter[8..16].try_into().expect("eight bytes"));
        is_guest(addr, 8)?;
    }
    let host = [waiters.as_ptr() as u64, a[1], a[2], a[3], a[4], 0];
    Ok(t.block(libc::SYS_futex_waitv, &host)?.into())
}
