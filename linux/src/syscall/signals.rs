//! Signals: actions, masks, sending, waiting, returning from handlers.

use axperf::{Bus, Regs};

use super::{DONE, Result, Ret, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::process::ExitStatus;
use crate::signal::frame::{self, Restored};
use crate::signal::host::{self, STOP, mask_for};
use crate::signal::{Action, AltStack, Info, SIG_IGN, ss};
use crate::signo::{SigSet, Signal};
use crate::thread::{End, Thread};

const EINVAL: Errno = Errno(libc::EINVAL);

/// A signal of the guest's; axperf's own isn't.
fn signal(number: u64) -> Result<Signal> {
    Signal::new(number & 0xffff_ffff).filter(|s| s.host() != STOP).ok_or(EINVAL)
}

/// The host's number of a signal to be sent; 0 sends none.
fn to_send(number: u64) -> Result<u64> {
    if number as u32 == 0 { Ok(0) } else { Ok(signal(number)?.host() as u64) }
}

/// A set of the guest's, without what can't be blocked.
pub(super) fn guest_mask(set: u64) -> SigSet {
    SigSet(set).without(SigSet::UNBLOCKABLE)
}

pub(super) fn kill(_: &mut Thread, a: &[u64; 6]) -> Result {
    now(libc::SYS_kill, &[a[0], to_send(a[1])?, 0, 0, 0, 0])?;
    DONE
}

pub(super) fn tkill(_: &mut Thread, a: &[u64; 6]) -> Result {
    now(libc::SYS_tkill, &[a[0], to_send(a[1])?, 0, 0, 0, 0])?;
    DONE
}

pub(super) fn tgkill(_: &mut Thread, a: &[u64; 6]) -> Result {
    now(libc::SYS_tgkill, &[a[0], a[1], to_send(a[2])?, 0, 0, 0])?;
    DONE
}

fn queued(t: &Thread, number: u64, addr: u64) -> Result<(u64, Bytes<128>)> {
    let signal = signal(number)?;
    let info = Info { signal, bytes: Bytes::read(&t.shared.space, addr)? };
    Ok((signal.host() as u64, info.to_host()))
}

pub(super) fn rt_sigqueueinfo(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (signal, info) = queued(t, a[1], a[2])?;
    now(libc::SYS_rt_sigqueueinfo, &[a[0], signal, info.0.as_ptr() as u64, 0, 0, 0])?;
    DONE
}

pub(super) fn rt_tgsigqueueinfo(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (signal, info) = queued(t, a[2], a[3])?;
    now(libc::SYS_rt_tgsigqueueinfo, &[a[0], a[1], signal, info.0.as_ptr() as u64, 0, 0])?;
    DONE
}

/// Sets an action, if there is a new one; returns the old one.
fn change_action(t: &mut Thread, number: u64, new: Option<Action>) -> Result<Action> {
    let signal = signal(number)?;
    if new.is_some() && SigSet::UNBLOCKABLE.has(signal) {
        return Err(EINVAL);
    }
    let old = {
        let mut actions = t.shared.actions();
        let old = actions.get(signal);
        if let Some(new) = new {
            let mask = new.mask.without(SigSet::UNBLOCKABLE);
            actions.set(signal, Action { mask, ..new });
            t.shared.tell_host(signal, new);
        }
        old
    };
    if let Some(new) = new {
        if [Signal::SEGV, Signal::BUS].contains(&signal) && new.handler > SIG_IGN {
            // Its handler sees the registers.
            t.shared.engine.set_precise_faults(true);
        }
        t.update_async();
    }
    Ok(old)
}

/// `struct sigaction`: handler, flags, mask, eight bytes each; the restorer is an argument.
pub(super) fn rt_sigaction(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [number, new, old, size, restorer, _] = *a;
    if size != 8 {
        return Err(EINVAL);
    }
    let new = if new == 0 {
        None
    } else {
        let b = Bytes::<24>::read(&t.shared.space, new)?;
        let mask = SigSet(b.u64(16));
        Some(Action { handler: b.u64(0), flags: b.u64(8), mask, restorer })
    };
    let before = change_action(t, number, new)?;
    if old != 0 {
        let mut b = Bytes::<24>::zeroed();
        b.put_u64(0, before.handler);
        b.put_u64(8, before.flags);
        b.put_u64(16, before.mask.0);
        b.write(&t.shared.space, old)?;
    }
    DONE
}

/// OSF/1's `struct sigaction`: handler, mask, and flags of four bytes.
pub(super) fn osf_sigaction(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [number, new, old, ..] = *a;
    let new = if new == 0 {
        None
    } else {
        let b = Bytes::<24>::read(&t.shared.space, new)?;
        let (mask, flags) = (SigSet(b.u64(8)), u64::from(b.u32(16)));
        Some(Action { handler: b.u64(0), flags, mask, restorer: 0 })
    };
    let before = change_action(t, number, new)?;
    if old != 0 {
        let space = &t.shared.space;
        space.write_u64(old, before.handler)?;
        space.write_u64(old.wrapping_add(8), before.mask.0)?;
        space.write_u32(old.wrapping_add(16), before.flags as u32)?;
    }
    DONE
}

/// What sigprocmask does with a set: Alpha's SIG_BLOCK is 1, SIG_UNBLOCK 2, SIG_SETMASK 3.
fn change_mask(t: &mut Thread, how: u64, set: SigSet) -> Result<()> {
    let set = set.without(SigSet::UNBLOCKABLE);
    let new = match how {
        1 => t.mask.with(set),
        2 => t.mask.without(set),
        3 => set,
        _ => return Err(EINVAL),
    };
    t.mask = new;
    host::set_mask(&t.mailbox, new);
    Ok(())
}

pub(super) fn rt_sigprocmask(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [how, new, old, size, ..] = *a;
    if size != 8 {
        return Err(EINVAL);
    }
    let before = t.mask;
    if new != 0 {
        let set = SigSet(t.shared.space.read_u64(new)?);
        change_mask(t, how, set)?;
    }
    if old != 0 {
        t.shared.space.write_u64(old, before.0)?;
    }
    DONE
}

/// OSF/1's: the new mask is an argument, the old one the result.
pub(super) fn osf_sigprocmask(t: &mut Thread, a: &[u64; 6]) -> Result {
    let before = t.mask;
    change_mask(t, a[0], SigSet(a[1]))?;
    Ok(before.0.into())
}

fn pending(t: &Thread) -> Result<SigSet> {
    let mut host = 0u64;
    now(libc::SYS_rt_sigpending, &[&raw mut host as u64, 8, 0, 0, 0, 0])?;
    let held = t.held.iter().fold(SigSet::EMPTY, |set, i| set.with(SigSet::of(i.signal)));
    Ok(SigSet::from_host(host).with(held))
}

pub(super) fn sigpending(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.write_u64(a[0], pending(t)?.0)?;
    DONE
}

pub(super) fn rt_sigpending(t: &mut Thread, a: &[u64; 6]) -> Result {
    if a[1] > 8 {
        return Err(EINVAL);
    }
    let set = pending(t)?.0.to_le_bytes();
    t.shared.space.write(a[0], &set[..a[1] as usize])?;
    DONE
}

fn suspend(t: &Thread, set: SigSet) -> Result {
    let host = mask_for(set.without(SigSet::UNBLOCKABLE));
    Ok(t.block(libc::SYS_rt_sigsuspend, &[&raw const host as u64, 8, 0, 0, 0, 0])?.into())
}

pub(super) fn sigsuspend(t: &mut Thread, a: &[u64; 6]) -> Result {
    suspend(t, SigSet(a[0]))
}

pub(super) fn rt_sigsuspend(t: &mut Thread, a: &[u64; 6]) -> Result {
    if a[1] != 8 {
        return Err(EINVAL);
    }
    let set = SigSet(t.shared.space.read_u64(a[0])?);
    suspend(t, set)
}

/// Returns the signal, with Alpha's number and siginfo.
pub(super) fn rt_sigtimedwait(t: &mut Thread, a: &[u64; 6]) -> Result {
    if a[3] != 8 {
        return Err(EINVAL);
    }
    let set = SigSet(t.shared.space.read_u64(a[0])?);
    if let Some(i) = t.held.iter().position(|i| set.has(i.signal)) {
        let info = t.held.remove(i);
        return waited(t, a[1], &info);
    }
    let host_set = set.without(SigSet::UNBLOCKABLE).host() & !(1 << (STOP - 1));
    let mut info = [0u8; 128];
    let (set_at, info_at) = (&raw const host_set as u64, info.as_mut_ptr() as u64);
    t.block(libc::SYS_rt_sigtimedwait, &[set_at, info_at, a[2], 8, 0, 0])?;
    waited(t, a[1], &Info::from_host(&info))
}

fn waited(t: &Thread, info_at: u64, info: &Info) -> Result {
    if info_at != 0 {
        info.bytes.write(&t.shared.space, info_at)?;
    }
    Ok(u64::from(info.signal.number()).into())
}

pub(super) fn sigaltstack(t: &mut Thread, a: &[u64; 6]) -> Result {
    let sp = t.cpu.reg(axperf::Reg::Sp);
    let old = t.stack.to_bytes(sp);
    if a[0] != 0 {
        let b = Bytes::<24>::read(&t.shared.space, a[0])?;
        set_stack(t, &b, sp)?;
    }
    if a[1] != 0 {
        old.write(&t.shared.space, a[1])?;
    }
    DONE
}

fn set_stack(t: &mut Thread, b: &Bytes<24>, sp: u64) -> Result<()> {
    /// MINSIGSTKSZ.
    const MIN: u64 = 4096;
    let (at, flags, size) = (b.u64(0), b.u32(8), b.u64(16));
    if t.stack.holds(sp) {
        return Err(Errno(libc::EPERM));
    }
    let disarm = flags & ss::AUTODISARM;
    t.stack = match flags & !ss::AUTODISARM {
        ss::DISABLE => AltStack { flags: disarm, ..AltStack::NONE },
        0 | ss::ONSTACK if size < MIN => return Err(Errno(libc::ENOMEM)),
        0 | ss::ONSTACK => AltStack { sp: at, flags: disarm, size },
        _ => return Err(EINVAL),
    };
    Ok(())
}

pub(super) fn sigreturn(t: &mut Thread, a: &[u64; 6]) -> Result {
    leave(t, |t, regs| frame::leave(&t.shared.space, regs, a[0]))
}

pub(super) fn rt_sigreturn(t: &mut Thread, a: &[u64; 6]) -> Result {
    leave(t, |t, regs| frame::leave_rt(&t.shared.space, regs, a[0]))
}

/// A frame that can't be read ends the process, unless it handles SIGSEGV.
fn leave(t: &mut Thread, f: impl FnOnce(&Thread, &mut Regs) -> Result<Restored>) -> Result {
    let mut regs = t.cpu.regs().clone();
    match f(t, &mut regs) {
        Ok(restored) => {
            t.cpu.set_regs(&regs);
            t.mask = restored.mask.without(SigSet::UNBLOCKABLE);
            host::set_mask(&t.mailbox, t.mask);
        }
        Err(_) if t.mask.has(Signal::SEGV) => {
            t.end = Some(End::Process(ExitStatus::Signal(Signal::SEGV)));
        }
        Err(_) => t.force(Info::sent(Signal::SEGV)),
    }
    Ok(Ret::Kept)
}

/// pidfd_send_signal: the siginfo may be left out.
pub(super) fn pidfd_send_signal(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (signal, info) = match a[2] {
        0 => (to_send(a[1])?, None),
        at => queued(t, a[1], at).map(|(signal, info)| (signal, Some(info)))?,
    };
    let info = info.as_ref().map_or(0, |i| i.0.as_ptr() as u64);
    now(libc::SYS_pidfd_send_signal, &[a[0], signal, info, a[3], 0, 0])?;
    DONE
}
