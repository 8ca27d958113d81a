//! IPC of System V: shared memory, semaphores, message queues.
//!
//! The structures of IPC_64 (`asm-generic/*buf.h`) are the host's, but for `semid64_ds` on x86-64.
//! glibc on Alpha always asks for them; the older ones are refused with EINVAL.

use super::{DONE, Result, is_guest, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::mm::{Prot, Segment};
use crate::thread::Thread;

/// The flag of the newer structures in a command.
const IPC_64: u64 = 0x100;
const IPC_RMID: i32 = 0;
const IPC_SET: i32 = 1;
const IPC_STAT: i32 = 2;
const IPC_INFO: i32 = 3;

/// A command without IPC_64, and whether it had it.
fn command(raw: u64) -> (i32, bool) {
    ((raw & 0xffff_ffff & !IPC_64) as i32, raw & IPC_64 != 0)
}

/// Carries out a command whose argument is a structure with the host's layout.
fn control(t: &Thread, number: i64, a: &[u64; 6], bytes: u64) -> Result {
    let (command, newer) = command(a[1]);
    if !newer && command != IPC_RMID && bytes != 0 {
        t.shared.log.say(format_args!("System V IPC with the structures before IPC_64"));
        return Err(Errno(libc::EINVAL));
    }
    is_guest(a[2], bytes)?;
    Ok(now(number, &[a[0], command as u64, a[2], 0, 0, 0])?.into())
}

pub(super) fn msgctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    /// Bytes of `struct msqid64_ds`, which is larger than `struct msginfo`.
    const SIZE: u64 = 120;
    control(t, libc::SYS_msgctl, a, SIZE)
}

/// The type, a quadword, is before the text.
pub(super) fn msgsnd(t: &mut Thread, a: &[u64; 6]) -> Result {
    is_guest(a[1], a[2].saturating_add(8))?;
    Ok(t.block(libc::SYS_msgsnd, a)?.into())
}

pub(super) fn msgrcv(t: &mut Thread, a: &[u64; 6]) -> Result {
    is_guest(a[1], a[2].saturating_add(8))?;
    Ok(t.block(libc::SYS_msgrcv, a)?.into())
}

pub(super) fn semop(t: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(t.block(libc::SYS_semtimedop, &[a[0], a[1], a[2], 0, 0, 0])?.into())
}

/// Offsets in Alpha's `struct semid64_ds`, after a `struct ipc64_perm`.
mod sem {
    pub const PERM: usize = 48;
    pub const OTIME: usize = 48;
    pub const CTIME: usize = 56;
    pub const NSEMS: usize = 64;
    pub const SIZE: usize = 88;
}

/// The host's structure by a command that gives it.
fn semaphores(id: u64, command: i32) -> Result<(u64, libc::semid_ds)> {
    // SAFETY: zero is a valid value of the structure, which the kernel fills.
    let mut host: libc::semid_ds = unsafe { std::mem::zeroed() };
    let value = now(libc::SYS_semctl, &[id, 0, command as u64, &raw mut host as u64, 0, 0])?;
    Ok((value, host))
}

pub(super) fn semctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    const GETALL: i32 = 13;
    const SETALL: i32 = 17;
    const SEM_STAT: i32 = 18;
    const SEM_INFO: i32 = 19;
    const SEM_STAT_ANY: i32 = 20;
    /// Bytes of `struct seminfo`.
    const INFO: u64 = 40;
    let (command, newer) = command(a[2]);
    let space = &t.shared.space;
    let structured = [IPC_SET, IPC_STAT, SEM_STAT, SEM_STAT_ANY].contains(&command);
    if structured && !newer {
        t.shared.log.say(format_args!("System V IPC with the structures before IPC_64"));
        return Err(Errno(libc::EINVAL));
    }
    match command {
        IPC_STAT | SEM_STAT | SEM_STAT_ANY => {
            let (value, host) = semaphores(a[0], command)?;
            let mut b = Bytes::<{ sem::SIZE }>::zeroed();
            // SAFETY: the structure starts with the 48 bytes of its permissions.
            let perm = unsafe { &*(&raw const host).cast::<[u8; sem::PERM]>() };
            b.0[..sem::PERM].copy_from_slice(perm);
            b.put_i64(sem::OTIME, host.sem_otime);
            b.put_i64(sem::CTIME, host.sem_ctime);
            b.put_u64(sem::NSEMS, host.sem_nsems);
            b.write(space, a[3])?;
            return Ok(value.into());
        }
        // The permissions, which are at the start, are all that is looked at.
        IPC_SET => is_guest(a[3], sem::SIZE as u64)?,
        IPC_INFO | SEM_INFO => is_guest(a[3], INFO)?,
        GETALL | SETALL => {
            // Who may write but not read isn't told how many: as many as there can be.
            const MOST: u64 = 1 << 16;
            let count = semaphores(a[0], IPC_STAT).map_or(MOST, |(_, host)| host.sem_nsems);
            is_guest(a[3], count.saturating_mul(2))?;
        }
        // The argument is a number, or nothing.
        _ => {}
    }
    Ok(now(libc::SYS_semctl, &[a[0], a[1], command as u64, a[3], 0, 0])?.into())
}

pub(super) fn shmctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    const SHM_LOCK: i32 = 11;
    const SHM_UNLOCK: i32 = 12;
    /// Bytes of `struct shmid64_ds`, which is larger than `struct shminfo64` and `shm_info`.
    const SIZE: u64 = 112;
    let bytes = match command(a[1]).0 {
        IPC_RMID | SHM_LOCK | SHM_UNLOCK => 0,
        _ => SIZE,
    };
    control(t, libc::SYS_shmctl, a, bytes)
}

/// shmat: the address is in `$0`, however large.
pub(super) fn shmat(t: &mut Thread, a: &[u64; 6]) -> Result {
    const RDONLY: u64 = 0o10000;
    const RND: u64 = 0o20000;
    const REMAP: u64 = 0o40000;
    const EXEC: u64 = 0o100000;
    let [id, addr, flags, ..] = *a;
    // SAFETY: zero is a valid value of the structure, which the kernel fills.
    let mut host: libc::shmid_ds = unsafe { std::mem::zeroed() };
    now(libc::SYS_shmctl, &[id, IPC_STAT as u64, &raw mut host as u64, 0, 0, 0])?;
    let addr = if flags & RND != 0 { addr & !(crate::layout::PAGE - 1) } else { addr };
    if addr == 0 && flags & REMAP != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let bits = if flags & RDONLY != 0 { 1 } else { 3 } | if flags & EXEC != 0 { 4 } else { 0 };
    let start = t.shared.space.attach(&Segment {
        id: id as i32,
        addr,
        len: host.shm_segsz as u64,
        prot: Prot::from_bits(bits),
        replace: flags & REMAP != 0,
    })?;
    Ok(start.into())
}

pub(super) fn shmdt(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.detach(a[0])?;
    DONE
}
