//! Reads and writes of several buffers.

use axperf::Bus;

use super::{Result, Ret, is_guest, now};
use crate::errno::Errno;
use crate::flags;
use crate::procfs;
use crate::thread::Thread;

/// The kernel's UIO_MAXIOV.
const MAX: u64 = 1024;

/// The guest's `struct iovec`s, each checked to be the guest's memory. The layout is the host's.
pub(super) fn buffers(t: &Thread, addr: u64, count: u64) -> Result<Vec<[u64; 2]>> {
    if count > MAX {
        return Err(Errno(libc::EINVAL));
    }
    let mut bytes = vec![0; count as usize * 16];
    t.shared.space.read(addr, &mut bytes)?;
    let quad = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
    let list: Vec<[u64; 2]> =
        bytes.chunks_exact(16).map(|b| [quad(&b[..8]), quad(&b[8..])]).collect();
    for [base, len] in &list {
        is_guest(*base, *len)?;
    }
    Ok(list)
}

/// Calls whose descriptor may stand for memory.
fn memory(t: &Thread, fd: u64, list: &[[u64; 2]], at: Option<u64>, write: bool) -> Option<Result> {
    let file = procfs::opened_memory(fd)?;
    let done = if write { file.write(t, list, at) } else { file.read(list, at) };
    Some(done.map(Ret::from))
}

/// write, to any descriptor.
pub(super) fn write(t: &mut Thread, a: &[u64; 6]) -> Result {
    match memory(t, a[0], &[[a[1], a[2]]], None, true) {
        Some(result) => result,
        None => Ok(t.block(libc::SYS_write, a)?.into()),
    }
}

pub(super) fn pread64(t: &mut Thread, a: &[u64; 6]) -> Result {
    match memory(t, a[0], &[[a[1], a[2]]], Some(a[3]), false) {
        Some(result) => result,
        None => Ok(t.block(libc::SYS_pread64, a)?.into()),
    }
}

pub(super) fn pwrite64(t: &mut Thread, a: &[u64; 6]) -> Result {
    match memory(t, a[0], &[[a[1], a[2]]], Some(a[3]), true) {
        Some(result) => result,
        None => Ok(t.block(libc::SYS_pwrite64, a)?.into()),
    }
}

fn transfer(t: &Thread, number: i64, a: &[u64; 6], at: Option<u64>) -> Result {
    let list = buffers(t, a[1], a[2])?;
    let write = [libc::SYS_writev, libc::SYS_pwritev].contains(&number);
    if let Some(result) = memory(t, a[0], &list, at, write) {
        return result;
    }
    let args = [a[0], list.as_ptr() as u64, a[2], at.unwrap_or(0), 0, 0];
    Ok(t.block(number, &args)?.into())
}

pub(super) fn readv(t: &mut Thread, a: &[u64; 6]) -> Result {
    transfer(t, libc::SYS_readv, a, None)
}

pub(super) fn writev(t: &mut Thread, a: &[u64; 6]) -> Result {
    transfer(t, libc::SYS_writev, a, None)
}

/// On 64-bit systems the low half of the offset is all of it.
pub(super) fn preadv(t: &mut Thread, a: &[u64; 6]) -> Result {
    transfer(t, libc::SYS_preadv, a, Some(a[3]))
}

pub(super) fn pwritev(t: &mut Thread, a: &[u64; 6]) -> Result {
    transfer(t, libc::SYS_pwritev, a, Some(a[3]))
}

/// The flags (RWF_...) are the same everywhere.
pub(super) fn preadv2(t: &mut Thread, a: &[u64; 6]) -> Result {
    with_flags(t, libc::SYS_preadv2, a)
}

pub(super) fn pwritev2(t: &mut Thread, a: &[u64; 6]) -> Result {
    with_flags(t, libc::SYS_pwritev2, a)
}

fn with_flags(t: &Thread, number: i64, a: &[u64; 6]) -> Result {
    let list = buffers(t, a[1], a[2])?;
    let args = [a[0], list.as_ptr() as u64, a[2], a[3], 0, a[5]];
    Ok(t.block(number, &args)?.into())
}

pub(super) fn vmsplice(t: &mut Thread, a: &[u64; 6]) -> Result {
    let list = buffers(t, a[1], a[2])?;
    Ok(t.block(libc::SYS_vmsplice, &[a[0], list.as_ptr() as u64, a[2], a[3], 0, 0])?.into())
}

pub(super) fn process_vm_readv(t: &mut Thread, a: &[u64; 6]) -> Result {
    other_process(t, libc::SYS_process_vm_readv, a)
}

pub(super) fn process_vm_writev(t: &mut Thread, a: &[u64; 6]) -> Result {
    other_process(t, libc::SYS_process_vm_writev, a)
}

/// The other process's buffers too are below 2^42: what is above is not a guest's.
fn other_process(t: &Thread, number: i64, a: &[u64; 6]) -> Result {
    let (here, there) = (buffers(t, a[1], a[2])?, buffers(t, a[3], a[4])?);
    let (here, there) = (here.as_ptr() as u64, there.as_ptr() as u64);
    Ok(now(number, &[a[0], here, a[2], there, a[4], a[5]])?.into())
}

/// Advice for another process's memory: the ranges are a guest's there, too.
pub(super) fn process_madvise(t: &mut Thread, a: &[u64; 6]) -> Result {
    let list = buffers(t, a[1], a[2])?;
    let advice = flags::advice(a[3]).ok_or(Errno(libc::EINVAL))? as u64;
    Ok(now(libc::SYS_process_madvise, &[a[0], list.as_ptr() as u64, a[2], advice, a[4], 0])?.into())
}
