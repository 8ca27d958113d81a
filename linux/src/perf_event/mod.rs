//! perf_event_open(2) for the guest: events on itself, its threads and its children.
//!
//! The samplers and rings are those of [`axperf::perf`], the same that `axperf record` attaches. What
//! all processes of the guest have in common is in the [`arena`]; each thread keeps samplers on its
//! machine as the tables there say ([`attach`]). The guest's descriptor is a pipe's end, so that
//! duplicates, polls and signals are the host kernel's business; reads, mappings and ioctls of it
//! come here ([`calls`]).

pub(crate) mod arena;
mod attach;
pub(crate) mod calls;
mod clock;
mod files;
mod kernel;
mod open;
mod pmu;
mod raise;
mod side;
mod slot;

use std::sync::atomic::Ordering;

use arena::{Arena, is_alive};
pub(crate) use attach::Own;
pub(crate) use files::content;
pub(crate) use open::open;
pub use pmu::Pmu;

/// perf_event_paranoid: an unprivileged user sees nothing of the kernel's.
const PARANOID: i32 = 2;

/// perf_event_mlock_kb: memory for rings, for each CPU.
const MLOCK_KB: u64 = 520;

/// The event whose descriptor this is.
pub(crate) fn of_fd(arena: &Arena, fd: i32) -> Option<u32> {
    if !arena.is_used() {
        return None;
    }
    // SAFETY: zero is a valid value of the structure, which fstat fills.
    let stat = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut stat) != 0 {
            return None;
        }
        stat
    };
    if stat.st_mode & libc::S_IFMT != libc::S_IFIFO {
        return None;
    }
    arena.slots().find(|(_, s)| s.inode.load(Ordering::Relaxed) == stat.st_ino).map(|(i, _)| i)
}

/// Ends the events whose descriptors are closed everywhere, as far as this process can tell: those
/// that it opened, and those whose opener is gone. True if there were any.
fn reap(arena: &Arena) -> bool {
    let me = std::process::id() as i32;
    let mut any = false;
    for (number, slot) in arena.slots() {
        let opener = slot.opener.load(Ordering::Relaxed);
        let wake = slot.wake_fd.load(Ordering::Relaxed);
        let gone = if opener == me { has_no_reader(wake) } else { !is_alive(opener) };
        if !gone {
            continue;
        }
        let members = arena.slots().filter(|(_, s)| s.leader.load(Ordering::Relaxed) == number);
        for (member, other) in members {
            // Without a leader each is one of its own.
            other.leader.store(member, Ordering::Relaxed);
        }
        if let Some(ring) = slot.ring() {
            slot.set_ring(None);
            arena.drop_ring(ring);
        }
        slot.end();
        if opener == me {
            // SAFETY: the descriptor was kept for this event.
            unsafe { libc::close(wake) };
        }
        any = true;
    }
    if any {
        arena.change();
    }
    any
}

/// Whether nobody has the guest's end of a pipe open.
fn has_no_reader(fd: i32) -> bool {
    let mut poll = libc::pollfd { fd, events: 0, revents: 0 };
    // SAFETY: one descriptor.
    unsafe { libc::poll(&mut poll, 1, 0) };
    poll.revents & (libc::POLLERR | libc::POLLNVAL) != 0
}
