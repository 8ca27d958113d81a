//! Waiting for descriptors: select, poll, epoll; and descriptors that are events.

use axperf::Bus;

use super::signals::guest_mask;
use super::{DONE, Result, is_guest, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::flags;
use crate::perf_event::calls as perf_event;
use crate::signal::host::mask_for;
use crate::thread::Thread;

/// Bytes of a descriptor set of `n` descriptors: whole quadwords.
fn set_bytes(n: i32) -> Result<u64> {
    let n = u64::try_from(n).map_err(|_| Errno(libc::EINVAL))?;
    Ok(n.div_ceil(64) * 8)
}

/// A temporary mask for a call of the host's: the set, and what the sixth argument points to.
struct Mask {
    set: u64,
    given: bool,
}

impl Mask {
    fn of(t: &Thread, addr: u64, size: u64) -> Result<Mask> {
        if addr == 0 {
            return Ok(Mask { set: 0, given: false });
        }
        if size != 8 {
            return Err(Errno(libc::EINVAL));
        }
        Ok(Mask { set: mask_for(guest_mask(t.shared.space.read_u64(addr)?)), given: true })
    }

    /// The set's address, or 0.
    fn address(&self) -> u64 {
        if self.given { &raw const self.set as u64 } else { 0 }
    }
}

/// pselect of the host's, on the guest's sets; `timeout` is a timespec of ours or the guest's.
fn select_host(t: &Thread, a: &[u64; 6], timeout: u64, mask: &Mask) -> Result<u64> {
    let n = a[0] as i32;
    let bytes = set_bytes(n)?;
    for set in &a[1..4] {
        is_guest(*set, bytes)?;
    }
    // Descriptors above the limit aren't open, for the guest.
    let n = n.min(t.shared.descriptors.limit()) as u64;
    let sixth = [mask.address(), 8u64];
    t.block(libc::SYS_pselect6, &[n, a[1], a[2], a[3], timeout, sixth.as_ptr() as u64])
}

pub(super) fn select(t: &mut Thread, a: &[u64; 6]) -> Result {
    let none = Mask { set: 0, given: false };
    if a[4] == 0 {
        return Ok(select_host(t, a, 0, &none)?.into());
    }
    let tv = Bytes::<16>::read(&t.shared.space, a[4])?;
    let mut timeout = timespec(tv.i64(0), tv.i64(8))?;
    let result = select_host(t, a, timeout.as_mut_ptr() as u64, &none);
    // Linux stores the time that is left.
    let mut left = Bytes::<16>::zeroed();
    left.put_i64(0, timeout[0]);
    left.put_i64(8, timeout[1] / 1000);
    left.write(&t.shared.space, a[4])?;
    Ok(result?.into())
}

/// OSF/1's: a 32-bit timeval, which isn't written.
pub(super) fn osf_select(t: &mut Thread, a: &[u64; 6]) -> Result {
    let none = Mask { set: 0, given: false };
    if a[4] == 0 {
        return Ok(select_host(t, a, 0, &none)?.into());
    }
    let tv = Bytes::<8>::read(&t.shared.space, a[4])?;
    let mut timeout = timespec(i64::from(tv.i32(0)), i64::from(tv.i32(4)))?;
    Ok(select_host(t, a, timeout.as_mut_ptr() as u64, &none)?.into())
}

fn timespec(seconds: i64, micro: i64) -> Result<[i64; 2]> {
    if seconds < 0 || micro < 0 {
        return Err(Errno(libc::EINVAL));
    }
    Ok([seconds.saturating_add(micro / 1_000_000), micro % 1_000_000 * 1000])
}

pub(super) fn pselect6(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mask = if a[5] == 0 {
        Mask { set: 0, given: false }
    } else {
        let sixth = Bytes::<16>::read(&t.shared.space, a[5])?;
        Mask::of(t, sixth.u64(0), sixth.u64(8))?
    };
    Ok(select_host(t, a, a[4], &mask)?.into())
}

pub(super) fn poll(t: &mut Thread, a: &[u64; 6]) -> Result {
    let milli = i64::from(a[2] as i32);
    let mut timeout = [milli / 1000, milli % 1000 * 1_000_000];
    let timeout = if milli < 0 { 0 } else { timeout.as_mut_ptr() as u64 };
    poll_host(t, &[a[0], a[1], timeout, 0, 8, 0])
}

pub(super) fn ppoll(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mask = Mask::of(t, a[3], a[4])?;
    poll_host(t, &[a[0], a[1], a[2], mask.address(), 8, 0])
}

/// ppoll of the host's; events of perf's have something to say to it.
fn poll_host(t: &Thread, host: &[u64; 6]) -> Result {
    let events = perf_event::before_poll(t, host[0], host[1]);
    let now = [0i64; 2];
    let mut host = *host;
    if events.at_once {
        host[2] = now.as_ptr() as u64;
    }
    let ready = t.block(libc::SYS_ppoll, &host)?;
    Ok(perf_event::after_poll(t, host[0], &events, ready)?.into())
}

fn descriptor_flags(guest: u64) -> Result<u64> {
    flags::DESCRIPTOR.to_host(guest).ok_or(Errno(libc::EINVAL))
}

pub(super) fn epoll_create(_: &mut Thread, a: &[u64; 6]) -> Result {
    if a[0] as i32 <= 0 {
        return Err(Errno(libc::EINVAL));
    }
    Ok(now(libc::SYS_epoll_create1, &[0; 6])?.into())
}

pub(super) fn epoll_create1(_: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(now(libc::SYS_epoll_create1, &[descriptor_flags(a[0])?, 0, 0, 0, 0, 0])?.into())
}

/// Alpha's `struct epoll_event`: events at 0, data at 8.
pub(super) fn epoll_ctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    if a[1] as i32 != libc::EPOLL_CTL_DEL {
        let guest = Bytes::<16>::read(&t.shared.space, a[3])?;
        event = libc::epoll_event { events: guest.u32(0), u64: guest.u64(8) };
    }
    now(libc::SYS_epoll_ctl, &[a[0], a[1], a[2], &raw mut event as u64, 0, 0])?;
    DONE
}

pub(super) fn epoll_wait(t: &mut Thread, a: &[u64; 6]) -> Result {
    epoll_pwait(t, &[a[0], a[1], a[2], a[3], 0, 0])
}

pub(super) fn epoll_pwait(t: &mut Thread, a: &[u64; 6]) -> Result {
    wait_for_events(t, libc::SYS_epoll_pwait, a)
}

/// The timeout is a timespec, which is as the host's.
pub(super) fn epoll_pwait2(t: &mut Thread, a: &[u64; 6]) -> Result {
    wait_for_events(t, libc::SYS_epoll_pwait2, a)
}

fn wait_for_events(t: &Thread, number: i64, a: &[u64; 6]) -> Result {
    /// Fewer events than asked for is what a program expects anyway.
    const MOST: i32 = 1024;
    let mask = Mask::of(t, a[4], a[5])?;
    let count = a[2] as i32;
    if count <= 0 {
        return Err(Errno(libc::EINVAL));
    }
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; count.min(MOST) as usize];
    let host = [a[0], events.as_mut_ptr() as u64, events.len() as u64, a[3], mask.address(), 8];
    let got = t.block(number, &host)?;
    let mut bytes = Vec::with_capacity(got as usize * 16);
    for event in &events[..got as usize] {
        let mut guest = Bytes::<16>::zeroed();
        guest.put_u32(0, event.events);
        guest.put_u64(8, event.u64);
        bytes.extend_from_slice(&guest.0);
    }
    t.shared.space.write(a[1], &bytes)?;
    Ok(got.into())
}

pub(super) fn eventfd(_: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(now(libc::SYS_eventfd2, &[a[0], 0, 0, 0, 0, 0])?.into())
}

pub(super) fn eventfd2(_: &mut Thread, a: &[u64; 6]) -> Result {
    /// EFD_SEMAPHORE, the same everywhere.
    const SEMAPHORE: u64 = 1;
    let flags = descriptor_flags(a[1] & !SEMAPHORE)? | a[1] & SEMAPHORE;
    Ok(now(libc::SYS_eventfd2, &[a[0], flags, 0, 0, 0, 0])?.into())
}

pub(super) fn timerfd_create(_: &mut Thread, a: &[u64; 6]) -> Result {
    let flags = descriptor_flags(a[1])?;
    Ok(now(libc::SYS_timerfd_create, &[a[0], flags, 0, 0, 0, 0])?.into())
}

pub(super) fn inotify_init1(_: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(now(libc::SYS_inotify_init1, &[descriptor_flags(a[0])?, 0, 0, 0, 0, 0])?.into())
}

/// FAN_CLOEXEC and its like are the same everywhere; the flags of the descriptors in its events
/// are those of `open`.
pub(super) fn fanotify_init(_: &mut Thread, a: &[u64; 6]) -> Result {
    let opened = flags::open_to_host(a[1]) as u64;
    Ok(now(libc::SYS_fanotify_init, &[a[0], opened, 0, 0, 0, 0])?.into())
}
