//! What becomes of futexes when a thread exits.
//!
//! The guest's futexes are the host's: addresses are the same. Only the end of a thread is done
//! here, because the host thread lives a little longer than the guest's.

use axperf::isa::Width;
use axperf::{Bus, Fault};

use crate::mm::Space;
use crate::thread::Thread;

const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;
const TID_MASK: u32 = 0x3fff_ffff;
/// Entries of a robust list that are looked at: the kernel's bound.
const MAX_ROBUST: usize = 2048;

/// Wakes up to `count` threads that wait at `addr`.
pub fn wake(addr: u64, count: u32) {
    // SAFETY: FUTEX_WAKE doesn't touch memory; a bad address is an error, and nobody waits there.
    unsafe { libc::syscall(libc::SYS_futex, addr, libc::FUTEX_WAKE, count, 0, 0, 0) };
}

/// Marks the robust futexes that a thread holds as its owner's death leaves them, and wakes one
/// waiter of each; what the kernel does with the list given to set_robust_list.
pub fn release_robust_list(thread: &mut Thread) {
    let head = std::mem::take(&mut thread.robust_list);
    if head == 0 {
        return;
    }
    // The host's kernel isn't to walk the list too, when the memory may be another's.
    // SAFETY: no list.
    unsafe { libc::syscall(libc::SYS_set_robust_list, 0, 24) };
    // A list that can't be read ends there, as the kernel has it.
    let _ = walk(&thread.shared.space, head, thread.ids.tid as u32);
}

fn walk(space: &Space, head: u64, tid: u32) -> Result<(), Fault> {
    let quad = |at: u64| space.load(at & !7, Width::Quad);
    let offset = quad(head.wrapping_add(8))?;
    let pending = quad(head.wrapping_add(16))? & !1;
    let mut entry = quad(head)?;
    for _ in 0..MAX_ROBUST {
        if entry & !1 == head {
            break;
        }
        let this = entry & !1;
        // The next first: its word may be freed by whoever is woken.
        let next = quad(this);
        if this != pending {
            mark(space, this.wrapping_add(offset), tid)?;
        }
        entry = next?;
    }
    if pending != 0 {
        mark(space, pending.wrapping_add(offset), tid)?;
    }
    Ok(())
}

fn mark(space: &Space, addr: u64, tid: u32) -> Result<(), Fault> {
    if !addr.is_multiple_of(4) {
        return Ok(());
    }
    loop {
        let word = space.load(addr, Width::Long)? as u32;
        if word & TID_MASK != tid {
            return Ok(());
        }
        let dead = word & WAITERS | OWNER_DIED;
        if space.compare_exchange(addr, Width::Long, u64::from(word), u64::from(dead))? {
            if word & WAITERS != 0 {
                wake(addr, 1);
            }
            return Ok(());
        }
    }
}
