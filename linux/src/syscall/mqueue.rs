//! POSIX message queues. `struct mq_attr` has the host's layout; its flag is O_NONBLOCK.

use super::{DONE, Result, is_guest, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::flags;
use crate::signo::Signal;
use crate::thread::Thread;

/// Alpha's O_NONBLOCK, which is all that `mq_flags` can have.
const NONBLOCK: u64 = 4;

/// The queue's flags in its attributes are ignored: those of the descriptor count.
pub(super) fn mq_open(t: &mut Thread, a: &[u64; 6]) -> Result {
    let attr = match a[3] {
        0 => None,
        at => Some(Bytes::<64>::read(&t.shared.space, at)?),
    };
    let attr = attr.as_ref().map_or(0, |b| b.0.as_ptr() as u64);
    let host_flags = flags::open_to_host(a[1]) as u64;
    Ok(now(libc::SYS_mq_open, &[a[0], host_flags, a[2], attr, 0, 0])?.into())
}

pub(super) fn mq_getsetattr(t: &mut Thread, a: &[u64; 6]) -> Result {
    let space = &t.shared.space;
    let mut new = None;
    if a[1] != 0 {
        let new = new.insert(Bytes::<64>::read(space, a[1])?);
        if new.u64(0) & !NONBLOCK != 0 {
            return Err(Errno(libc::EINVAL));
        }
        new.put_u64(0, flags::open_to_host(new.u64(0)) as u64);
    }
    let new = new.as_ref().map_or(0, |b| b.0.as_ptr() as u64);
    let mut old = Bytes::<64>::zeroed();
    now(libc::SYS_mq_getsetattr, &[a[0], new, old.0.as_mut_ptr() as u64, 0, 0, 0])?;
    if a[2] != 0 {
        old.put_u64(0, flags::open_to_guest(old.u64(0)));
        old.write(space, a[2])?;
    }
    DONE
}

/// mq_notify: `struct sigevent` has the host's layout. With SIGEV_THREAD the number is a socket's
/// descriptor, and the value points to what is sent there.
pub(super) fn mq_notify(t: &mut Thread, a: &[u64; 6]) -> Result {
    const VALUE: usize = 0;
    const SIGNO: usize = 8;
    const NOTIFY: usize = 12;
    /// Bytes that are sent to the socket.
    const COOKIE: u64 = 32;
    let mut event = None;
    if a[1] != 0 {
        let event = event.insert(Bytes::<64>::read(&t.shared.space, a[1])?);
        if event.i32(NOTIFY) == libc::SIGEV_THREAD {
            is_guest(event.u64(VALUE), COOKIE)?;
            t.shared.descriptors.check(event.u32(SIGNO).into())?;
        } else if let Some(signal) = Signal::new(event.u32(SIGNO).into()) {
            event.put_i32(SIGNO, signal.host());
        } else if event.i32(NOTIFY) == libc::SIGEV_SIGNAL {
            return Err(Errno(libc::EINVAL));
        }
    }
    let event = event.as_ref().map_or(0, |e| e.0.as_ptr() as u64);
    now(libc::SYS_mq_notify, &[a[0], event, 0, 0, 0, 0])?;
    DONE
}
