//! Calls on an event's descriptor: read, ioctl, mmap, poll.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axperf::Bus;
use axperf::perf::{AttrFlags, Counted, MAX_SAMPLE_RATE, ReadFormat, read_words};

use super::arena::Arena;
use super::open::{is_privileged, tell_threads};
use super::slot::Slot;
use super::{MLOCK_KB, PARANOID, of_fd, reap};
use crate::errno::Errno;
use crate::layout::PAGE;
use crate::mm::{Backing, Mapping, Placement, Prot};
use crate::thread::Thread;

const EINVAL: Errno = Errno(libc::EINVAL);

/// perf's ioctls, in Alpha's encoding (`linux/perf_event.h`, `asm/ioctl.h`).
mod cmd {
    pub const ENABLE: u32 = 0x2000_2400;
    pub const DISABLE: u32 = 0x2000_2401;
    pub const REFRESH: u32 = 0x2000_2402;
    pub const RESET: u32 = 0x2000_2403;
    pub const PERIOD: u32 = 0x8008_2404;
    pub const SET_OUTPUT: u32 = 0x2000_2405;
    pub const SET_FILTER: u32 = 0x8008_2406;
    pub const ID: u32 = 0x4008_2407;
    pub const SET_BPF: u32 = 0x8004_2408;
    pub const PAUSE_OUTPUT: u32 = 0x8004_2409;
    pub const QUERY_BPF: u32 = 0xc008_240a;
    pub const MODIFY_ATTRIBUTES: u32 = 0x8008_240b;
}

/// `PERF_IOC_FLAG_GROUP`: the whole group is meant.
const GROUP: u64 = 1;

/// The event that a call's descriptor is of; None if it is another descriptor, or there are no
/// events.
fn event_of(t: &Thread, fd: u64) -> Option<u32> {
    let arena = t.shared.perf.as_ref().filter(|a| a.is_used())?;
    of_fd(arena, t.shared.descriptors.check(fd).ok()?)
}

/// read(2), if the descriptor is an event's.
pub(crate) fn read(t: &mut Thread, a: &[u64; 6]) -> Option<Result<u64, Errno>> {
    let number = event_of(t, a[0])?;
    Some(read_event(t, number, a[1], a[2]))
}

fn read_event(t: &mut Thread, number: u32, at: u64, room: u64) -> Result<u64, Errno> {
    let shared = Arc::clone(&t.shared);
    let arena = shared.perf.as_ref().ok_or(Errno(libc::EBADF))?;
    let slot = arena.slot(number);
    let format = slot.attr().read_format;
    t.tell_events();
    let (first, members) = match format.contains(ReadFormat::GROUP) {
        true => group(arena, slot.leader.load(Ordering::Relaxed)),
        false => (slot, vec![slot]),
    };
    wait_for_counts(t, arena, &members);
    let counted = |s: &Slot| Counted {
        value: s.count.load(Ordering::Relaxed),
        id: s.id.load(Ordering::Relaxed),
        lost: s.lost.load(Ordering::Relaxed),
    };
    let (enabled, running) = first.times();
    let all: Vec<Counted> = members.iter().map(|s| counted(s)).collect();
    let words = read_words(format, counted(slot), &all, enabled, running);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if room < bytes.len() as u64 {
        return Err(Errno(libc::ENOSPC));
    }
    t.shared.space.write(at, &bytes)?;
    Ok(bytes.len() as u64)
}

/// A group's leader, and all its events, the leader first.
fn group(arena: &Arena, leader: u32) -> (&Slot, Vec<&Slot>) {
    let leads = |s: &Slot| s.leader.load(Ordering::Relaxed) == leader;
    let mut members: Vec<(u32, &Slot)> = arena.slots().filter(|(_, s)| leads(s)).collect();
    members.sort_by_key(|(i, s)| (*i != leader, s.id.load(Ordering::Relaxed)));
    (arena.slot(leader), members.into_iter().map(|(_, s)| s).collect())
}

/// Has other threads tell what they counted, and gives them a moment for it.
fn wait_for_counts(t: &Thread, arena: &Arena, members: &[&Slot]) {
    /// A thread that doesn't poll tells when it next comes out of its code.
    const PATIENCE: Duration = Duration::from_millis(200);
    let own = |s: &Slot| {
        s.target.load(Ordering::Relaxed) == t.ids.tid
            && !s.attr().flags.contains(AttrFlags::INHERIT)
    };
    let Some(slot) = members.iter().find(|s| !own(s) && !s.has_exited()) else { return };
    tell_threads(t, arena, slot);
    let wanted = arena.generation();
    let start = Instant::now();
    while !arena.has_seen(t.ids.tid, wanted) && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// ioctl(2), if the descriptor is an event's.
pub(crate) fn ioctl(t: &mut Thread, a: &[u64; 6]) -> Option<Result<u64, Errno>> {
    let number = event_of(t, a[0])?;
    Some(control(t, number, a[1] as u32, a[2]))
}

fn control(t: &mut Thread, number: u32, command: u32, arg: u64) -> Result<u64, Errno> {
    let shared = Arc::clone(&t.shared);
    let arena = shared.perf.as_ref().ok_or(Errno(libc::EBADF))?;
    let slot = arena.slot(number);
    let attr = slot.attr();
    let samples = attr.sample_period != 0;
    match command {
        cmd::ENABLE | cmd::DISABLE | cmd::RESET => {
            t.tell_events();
            let members = match arg & GROUP != 0 {
                true => group(arena, slot.leader.load(Ordering::Relaxed)).1,
                false => vec![slot],
            };
            for one in members {
                match command {
                    cmd::RESET => {
                        one.count.store(0, Ordering::Relaxed);
                        one.resets.fetch_add(1, Ordering::AcqRel);
                    }
                    _ => one.enable(command == cmd::ENABLE),
                }
            }
        }
        cmd::REFRESH => {
            // It bounds samples, which an inherited event would take in several places.
            if !samples || attr.flags.contains(AttrFlags::INHERIT) {
                return Err(EINVAL);
            }
            let left = slot.refresh.load(Ordering::Relaxed).max(0);
            slot.refresh.store(left.saturating_add((arg as i32).into()), Ordering::Relaxed);
            slot.refreshes.fetch_add(1, Ordering::AcqRel);
            t.tell_events();
            slot.enable(true);
        }
        cmd::PERIOD => {
            let period = t.shared.space.read_u64(arg)?;
            let most =
                if attr.flags.contains(AttrFlags::FREQ) { MAX_SAMPLE_RATE } else { (1 << 63) - 1 };
            if !samples || period == 0 || period > most {
                return Err(EINVAL);
            }
            slot.period.store(period, Ordering::Relaxed);
            slot.periods.fetch_add(1, Ordering::AcqRel);
        }
        cmd::SET_OUTPUT => {
            let other = match arg as i32 {
                -1 => None,
                fd => Some(of_fd(arena, fd).ok_or(Errno(libc::EBADF))?),
            };
            set_output(arena, number, other)?;
        }
        cmd::ID => {
            t.shared.space.write_u64(arg, slot.id.load(Ordering::Relaxed))?;
            return Ok(0);
        }
        cmd::PAUSE_OUTPUT => {
            let ring = slot.ring().ok_or(EINVAL)?;
            arena.ring(ring, false)?.pause(arg as u32 != 0);
            return Ok(0);
        }
        cmd::SET_FILTER | cmd::MODIFY_ATTRIBUTES => return Err(EINVAL),
        cmd::SET_BPF => {
            return Err(Errno(if (arg as i32) < 0 { libc::EBADF } else { libc::EINVAL }));
        }
        cmd::QUERY_BPF => return Err(Errno(libc::EOPNOTSUPP)),
        _ => return Err(Errno(libc::ENOTTY)),
    }
    tell_threads(t, arena, slot);
    Ok(0)
}

/// Sends an event's records to another's ring.
pub(super) fn set_output(arena: &Arena, number: u32, other: Option<u32>) -> Result<(), Errno> {
    let slot = arena.slot(number);
    let ring = match other {
        None => None,
        Some(other) => {
            let with = arena.slot(other);
            let cpu = slot.cpu.load(Ordering::Relaxed);
            let same_cpu = cpu == with.cpu.load(Ordering::Relaxed);
            let same_task = cpu != -1
                || slot.target.load(Ordering::Relaxed) == with.target.load(Ordering::Relaxed);
            let backward = |s: &Slot| s.attr().flags.contains(AttrFlags::WRITE_BACKWARD);
            let clock = |s: &Slot| {
                let attr = s.attr();
                (attr.flags.contains(AttrFlags::USE_CLOCKID), attr.clockid)
            };
            if other == number
                || !same_cpu
                || !same_task
                || backward(slot) != backward(with)
                || clock(slot) != clock(with)
            {
                return Err(EINVAL);
            }
            with.ring()
        }
    };
    let old = slot.ring();
    // One that is mapped for this very event stays.
    if old.is_some_and(|r| arena.ring_slot(r).owner.load(Ordering::Relaxed) == number) {
        return Err(EINVAL);
    }
    if let Some(ring) = ring {
        arena.ring_slot(ring).users.fetch_add(1, Ordering::AcqRel);
    }
    slot.set_ring(ring);
    if let Some(old) = old {
        arena.drop_ring(old);
    }
    Ok(())
}

/// What a mapping is asked for with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub place: Placement,
    pub len: u64,
    pub prot: Prot,
    pub shared: bool,
    pub offset: u64,
}

/// mmap(2), if the descriptor is an event's.
pub(crate) fn mmap(t: &Thread, fd: u64, w: Wanted) -> Option<Result<u64, Errno>> {
    let number = event_of(t, fd)?;
    let arena = t.shared.perf.as_ref()?;
    Some(map_ring(t, arena, number, w))
}

fn map_ring(t: &Thread, arena: &Arena, number: u32, w: Wanted) -> Result<u64, Errno> {
    let slot = arena.slot(number);
    let flags = slot.attr().flags;
    if slot.cpu.load(Ordering::Relaxed) == -1 && flags.contains(AttrFlags::INHERIT) || !w.shared {
        return Err(EINVAL);
    }
    let pages = w.len.div_ceil(PAGE);
    let data = pages.checked_sub(1).ok_or(EINVAL)?;
    if data != 0 && !data.is_power_of_two() || w.offset != 0 || data >= 1 << 30 {
        return Err(EINVAL);
    }
    let mut mapped = slot.ring();
    if let Some(ring) = mapped
        && arena.ring_slot(ring).owner.load(Ordering::Relaxed) == number
        && !is_mapped(t, arena, ring)
    {
        // It was unmapped: another may take its place.
        slot.set_ring(None);
        arena.drop_ring(ring);
        mapped = None;
    }
    let ring = match mapped {
        Some(ring) if u64::from(arena.ring_slot(ring).pages.load(Ordering::Relaxed)) == data => {
            ring
        }
        Some(_) => return Err(EINVAL),
        None => {
            check_memory(arena, pages)?;
            let ring = arena.new_ring(number, data as u32, !w.prot.write())?;
            if data > 0 {
                arena.ring(ring, true)?;
            }
            ring
        }
    };
    let offset = arena.ring_offset(ring);
    let start = t.shared.space.map(&Mapping {
        place: w.place,
        len: w.len,
        prot: w.prot,
        shared: true,
        file: Some((arena.memory(), offset)),
        name: None,
        host_flags: 0,
    });
    if mapped.is_none() {
        match start {
            Ok(_) => slot.set_ring(Some(ring)),
            Err(_) => arena.drop_ring(ring),
        }
    }
    tell_threads(t, arena, slot);
    start
}

/// Whether this process has a ring mapped.
fn is_mapped(t: &Thread, arena: &Arena, ring: u32) -> bool {
    let offset = arena.ring_offset(ring);
    let inode = arena.inode();
    let table = t.shared.space.table();
    table.iter().any(|v| match &v.backing {
        Backing::File(file, at) => file.inode == inode && *at == offset,
        _ => false,
    })
}

/// Whether there may be so many pages more: EPERM.
fn check_memory(arena: &Arena, pages: u64) -> Result<(), Errno> {
    if is_privileged() || PARANOID < 0 {
        return Ok(());
    }
    // SAFETY: zero is a valid value of the structure, which getrlimit fills.
    let (cpus, locked) = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit);
        (libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1) as u64, limit.rlim_cur)
    };
    let most = (MLOCK_KB * 1024 * cpus).saturating_add(locked) / PAGE;
    if arena.ring_pages() + pages > most { Err(Errno(libc::EPERM)) } else { Ok(()) }
}

/// What poll(2) makes of the descriptors that are events'.
#[derive(Debug, Default)]
pub(crate) struct Polled {
    /// Index in the list, event.
    events: Vec<(usize, u32)>,
    /// Some have hung up: the call isn't to wait.
    pub at_once: bool,
}

/// Bytes of a `struct pollfd`, and where its result is.
const POLLFD: u64 = 8;
const REVENTS: u64 = 6;

/// Looks at the descriptors before a poll of them.
pub(crate) fn before_poll(t: &Thread, fds: u64, count: u64) -> Polled {
    let mut polled = Polled::default();
    let Some(arena) = t.shared.perf.as_ref().filter(|a| a.is_used()) else { return polled };
    for i in 0..count.min(65536) {
        let Ok(fd) = t.shared.space.read_u32(fds + i * POLLFD) else { break };
        if let Some(number) = of_fd(arena, fd as i32) {
            polled.at_once |= hangs(arena, number);
            polled.events.push((i as usize, number));
        }
    }
    polled
}

/// Whether an event's descriptor is in the state POLLHUP.
fn hangs(arena: &Arena, number: u32) -> bool {
    let slot = arena.slot(number);
    slot.ring().is_none() || slot.has_exited()
}

/// Corrects the result of a poll: a wake-up is told once, and who has hung up says only that.
pub(crate) fn after_poll(t: &Thread, fds: u64, polled: &Polled, ready: u64) -> Result<u64, Errno> {
    let Some(arena) = &t.shared.perf else { return Ok(ready) };
    let mut ready = ready;
    for (i, number) in &polled.events {
        let at = fds + *i as u64 * POLLFD;
        let mut fd = [0; POLLFD as usize];
        t.shared.space.read(at, &mut fd)?;
        let number_of = i32::from_le_bytes([fd[0], fd[1], fd[2], fd[3]]);
        let before = i16::from_le_bytes([fd[6], fd[7]]);
        // The pipe can always be written to; an event can't.
        let mut now = before & !(libc::POLLOUT | libc::POLLWRNORM);
        if hangs(arena, *number) {
            now = libc::POLLHUP;
        } else if before & libc::POLLIN != 0 {
            drain(number_of);
        }
        if now != before {
            t.shared.space.write(at + REVENTS, &now.to_le_bytes())?;
            ready = ready + u64::from(now != 0) - u64::from(before != 0);
        }
    }
    Ok(ready)
}

/// Takes the bytes out of an event's pipe.
fn drain(fd: i32) {
    // The guest's descriptor may block: no more is taken than is there.
    let mut waiting = 0i32;
    // SAFETY: an int, and a buffer of the size given.
    unsafe {
        if libc::ioctl(fd, libc::FIONREAD, &mut waiting) == 0 && waiting > 0 {
            let mut bytes = [0u8; 4096];
            libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len().min(waiting as usize));
        }
    }
}

/// Descriptors were closed: ends the events that have none any more.
pub(crate) fn closed(t: &Thread) {
    if let Some(arena) = t.shared.perf.as_ref().filter(|a| a.is_used()) {
        let _guard = arena.lock();
        reap(arena);
    }
}
