//! Time: OSF/1's calls with 32-bit time, timers, file times.

use super::arg::Arg;
use super::{DONE, Result, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::signo::Signal;
use crate::stack::CLOCK_TICKS;
use crate::thread::Thread;

const MICRO: i64 = 1_000_000;

/// OSF/1's `struct timeval`: two ints, at `at`.
fn timeval32<const N: usize>(b: &Bytes<N>, at: usize) -> [i64; 2] {
    [i64::from(b.i32(at)), i64::from(b.i32(at + 4))]
}

fn put_timeval32<const N: usize>(b: &mut Bytes<N>, at: usize, [seconds, micro]: [i64; 2]) {
    b.put_i32(at, seconds as i32);
    b.put_i32(at + 4, micro as i32);
}

pub(super) fn osf_gettimeofday(t: &mut Thread, a: &[u64; 6]) -> Result {
    if a[0] != 0 {
        let mut now_is = [0i64; 2];
        now(libc::SYS_gettimeofday, &[now_is.as_mut_ptr() as u64, 0, 0, 0, 0, 0])?;
        let mut b = Bytes::<8>::zeroed();
        put_timeval32(&mut b, 0, now_is);
        b.write(&t.shared.space, a[0])?;
    }
    if a[1] != 0 {
        now(libc::SYS_gettimeofday, &[0, a[1], 0, 0, 0, 0])?;
    }
    DONE
}

pub(super) fn osf_settimeofday(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut time = [0i64; 2];
    if a[0] != 0 {
        time = timeval32(&Bytes::<8>::read(&t.shared.space, a[0])?, 0);
    }
    let at = if a[0] == 0 { 0 } else { time.as_ptr() as u64 };
    now(libc::SYS_settimeofday, &[at, a[1], 0, 0, 0, 0])?;
    DONE
}

/// adjtimex with a `struct timex` in whose middle the time is a `timeval` of two ints.
pub(super) fn old_adjtimex(t: &mut Thread, a: &[u64; 6]) -> Result {
    /// Where the time is, in both structures, and the bytes of either.
    const TIME: usize = 72;
    let mut b = Bytes::<200>::read(&t.shared.space, a[0])?;
    let mut host = Bytes::<208>::zeroed();
    host.0[..TIME].copy_from_slice(&b.0[..TIME]);
    host.0[TIME + 16..].copy_from_slice(&b.0[TIME + 8..]);
    let state = now(libc::SYS_adjtimex, &[host.0.as_mut_ptr() as u64, 0, 0, 0, 0, 0])?;
    b.0[..TIME].copy_from_slice(&host.0[..TIME]);
    b.0[TIME + 8..].copy_from_slice(&host.0[TIME + 16..]);
    put_timeval32(&mut b, TIME, [host.i64(TIME), host.i64(TIME + 8)]);
    b.write(&t.shared.space, a[0])?;
    Ok(state.into())
}

pub(super) fn osf_setitimer(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut new = [[0i64; 2]; 2];
    let mut old = [[0i64; 2]; 2];
    if a[1] != 0 {
        let b = Bytes::<16>::read(&t.shared.space, a[1])?;
        new = [timeval32(&b, 0), timeval32(&b, 8)];
    }
    let (new, old_at) = (new.as_ptr() as u64, old.as_mut_ptr() as u64);
    now(libc::SYS_setitimer, &[a[0], new, old_at, 0, 0, 0])?;
    if a[2] != 0 {
        put_itimer32(t, a[2], old)?;
    }
    DONE
}

pub(super) fn osf_getitimer(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut old = [[0i64; 2]; 2];
    now(libc::SYS_getitimer, &[a[0], old.as_mut_ptr() as u64, 0, 0, 0, 0])?;
    put_itimer32(t, a[1], old)?;
    DONE
}

fn put_itimer32(t: &Thread, addr: u64, value: [[i64; 2]; 2]) -> Result<()> {
    let mut b = Bytes::<16>::zeroed();
    put_timeval32(&mut b, 0, value[0]);
    put_timeval32(&mut b, 8, value[1]);
    b.write(&t.shared.space, addr)
}

/// `struct rusage32`: two 32-bit timevals, then 14 quadwords.
pub(super) fn put_rusage32(t: &Thread, addr: u64, usage: &[u64; 18]) -> Result<()> {
    let mut b = Bytes::<128>::zeroed();
    put_timeval32(&mut b, 0, [usage[0] as i64, usage[1] as i64]);
    put_timeval32(&mut b, 8, [usage[2] as i64, usage[3] as i64]);
    for (i, value) in usage[4..].iter().enumerate() {
        b.put_u64(16 + 8 * i, *value);
    }
    b.write(&t.shared.space, addr)
}

pub(super) fn osf_getrusage(t: &mut Thread, a: &[u64; 6]) -> Result {
    if ![libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].contains(&(a[0] as i32)) {
        return Err(Errno(libc::EINVAL));
    }
    let mut usage = [0u64; 18];
    now(libc::SYS_getrusage, &[a[0], usage.as_mut_ptr() as u64, 0, 0, 0, 0])?;
    put_rusage32(t, a[1], &usage)?;
    DONE
}

pub(super) fn osf_usleep_thread(t: &mut Thread, a: &[u64; 6]) -> Result {
    let b = Bytes::<8>::read(&t.shared.space, a[0])?;
    let [seconds, micro] = timeval32(&b, 0);
    let sleep = [seconds, micro.saturating_mul(1000)];
    let mut left = [0i64; 2];
    let args = [sleep.as_ptr() as u64, left.as_mut_ptr() as u64, 0, 0, 0, 0];
    match t.block(libc::SYS_nanosleep, &args) {
        Ok(_) => {}
        // It succeeds, whatever is left.
        Err(Errno(libc::EINTR)) => {}
        Err(e) => return Err(e),
    }
    if a[1] != 0 {
        let mut b = Bytes::<8>::zeroed();
        put_timeval32(&mut b, 0, [left[0], left[1] / 1000]);
        b.write(&t.shared.space, a[1])?;
    }
    DONE
}

/// times: in ticks of Alpha's clock.
pub(super) fn times(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut host = [0i64; 4];
    // SAFETY: the structure is four longs.
    let now_is = unsafe { libc::syscall(libc::SYS_times, host.as_mut_ptr()) };
    // SAFETY: sysconf has no preconditions.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
    let ticks = |n: i64| (i128::from(n) * i128::from(CLOCK_TICKS) / i128::from(per_second)) as u64;
    if a[0] != 0 {
        let mut b = Bytes::<32>::zeroed();
        for (i, n) in host.into_iter().enumerate() {
            b.put_u64(8 * i, ticks(n));
        }
        b.write(&t.shared.space, a[0])?;
    }
    Ok(ticks(now_is).into())
}

/// Sets a file's times, given as timevals.
fn set_times(t: &Thread, dir: u64, path: u64, times: Option<[[i64; 2]; 2]>) -> Result {
    let path = if path == 0 { None } else { Some(t.path(path, Arg::HostPath)?) };
    let mut host = [[0i64; 2]; 2];
    if let Some(times) = times {
        for (host, [seconds, micro]) in host.iter_mut().zip(times) {
            if !(0..MICRO).contains(&micro) {
                return Err(Errno(libc::EINVAL));
            }
            *host = [seconds, micro * 1000];
        }
    }
    let path = path.as_ref().map_or(0, |p| p.as_ptr() as u64);
    let host = if times.is_some() { host.as_ptr() as u64 } else { 0 };
    now(libc::SYS_utimensat, &[dir, path, host, 0, 0, 0])?;
    DONE
}

pub(super) fn utimes(t: &mut Thread, a: &[u64; 6]) -> Result {
    futimesat(t, &[libc::AT_FDCWD as u64, a[0], a[1], 0, 0, 0])
}

pub(super) fn futimesat(t: &mut Thread, a: &[u64; 6]) -> Result {
    let times = if a[2] == 0 {
        None
    } else {
        let b = Bytes::<32>::read(&t.shared.space, a[2])?;
        Some([[b.i64(0), b.i64(8)], [b.i64(16), b.i64(24)]])
    };
    set_times(t, a[0], a[1], times)
}

pub(super) fn osf_utimes(t: &mut Thread, a: &[u64; 6]) -> Result {
    let times = if a[1] == 0 {
        None
    } else {
        let b = Bytes::<16>::read(&t.shared.space, a[1])?;
        Some([timeval32(&b, 0), timeval32(&b, 8)])
    };
    set_times(t, libc::AT_FDCWD as u64, a[0], times)
}

/// timer_create: `struct sigevent` has the host's layout, but another signal number.
pub(super) fn timer_create(t: &mut Thread, a: &[u64; 6]) -> Result {
    const SIGNO: usize = 8;
    let mut event = None;
    if a[1] != 0 {
        let event = event.insert(Bytes::<64>::read(&t.shared.space, a[1])?);
        // Without a signal (SIGEV_NONE) the number may be anything.
        if let Some(signal) = Signal::new(event.u32(SIGNO).into()) {
            event.put_i32(SIGNO, signal.host());
        }
    }
    let event_at = event.as_ref().map_or(0, |e| e.0.as_ptr() as u64);
    let mut id = 0i32;
    now(libc::SYS_timer_create, &[a[0], event_at, &raw mut id as u64, 0, 0, 0])?;
    t.shared.timers.add(id);
    t.shared.space.write_u32(a[2], id as u32)?;
    DONE
}

pub(super) fn timer_delete(t: &mut Thread, a: &[u64; 6]) -> Result {
    now(libc::SYS_timer_delete, &[a[0], 0, 0, 0, 0, 0])?;
    t.shared.timers.remove(a[0] as i32);
    DONE
}
