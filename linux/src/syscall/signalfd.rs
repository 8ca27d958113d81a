//! Descriptors that signals are read from.

use std::sync::atomic::{AtomicBool, Ordering};

use axperf::Bus;

use super::{Result, now};
use crate::errno::Errno;
use crate::flags;
use crate::perf_event;
use crate::procfs;
use crate::signal::host::STOP;
use crate::signal::{has_status, signal_of_status};
use crate::signo::{SigSet, Signal};
use crate::thread::Thread;

/// Bytes of a `struct signalfd_siginfo`.
const RECORD: usize = 128;

/// Whether the guest ever made one: before that no read needs to ask.
static ANY: AtomicBool = AtomicBool::new(false);

pub(super) fn signalfd(t: &mut Thread, a: &[u64; 6]) -> Result {
    signalfd4(t, &[a[0], a[1], a[2], 0, 0, 0])
}

pub(super) fn signalfd4(t: &mut Thread, a: &[u64; 6]) -> Result {
    let host_flags = flags::DESCRIPTOR.to_host(a[3]).ok_or(Errno(libc::EINVAL))?;
    if a[2] != 8 {
        return Err(Errno(libc::EINVAL));
    }
    let set = SigSet(t.shared.space.read_u64(a[1])?).without(SigSet::UNBLOCKABLE);
    let set = set.host() & !(1 << (STOP - 1));
    let fd = now(libc::SYS_signalfd4, &[a[0], &raw const set as u64, 8, host_flags, 0, 0])?;
    ANY.store(true, Ordering::Relaxed);
    Ok(fd.into())
}

/// Whether reads of a descriptor give signals.
fn is_signalfd(fd: u64) -> bool {
    ANY.load(Ordering::Relaxed)
        && std::fs::read_link(format!("/proc/self/fd/{}", fd as i32))
            .is_ok_and(|name| name.as_os_str() == "anon_inode:[signalfd]")
}

/// read, of any descriptor.
pub(super) fn read(t: &mut Thread, a: &[u64; 6]) -> Result {
    if let Some(read) = perf_event::calls::read(t, a) {
        return Ok(read?.into());
    }
    if let Some(memory) = procfs::opened_memory(a[0]) {
        return Ok(memory.read(&[[a[1], a[2]]], None)?.into());
    }
    if !is_signalfd(a[0]) {
        return Ok(t.block(libc::SYS_read, a)?.into());
    }
    /// Fewer than asked for is what a program expects anyway.
    const MOST: u64 = 64;
    let mut records = vec![0; a[2].min(MOST * RECORD as u64) as usize];
    let args = [a[0], records.as_mut_ptr() as u64, records.len() as u64, 0, 0, 0];
    let got = t.block(libc::SYS_read, &args)?;
    records.truncate(got as usize);
    for record in records.chunks_exact_mut(RECORD) {
        translate(record);
    }
    t.shared.space.write(a[1], &records)?;
    Ok(got.into())
}

/// Gives a record Alpha's numbers of signals.
fn translate(record: &mut [u8]) {
    const SIGNO: usize = 0;
    const CODE: usize = 8;
    const STATUS: usize = 40;
    let get = |r: &[u8], at: usize| i32::from_le_bytes(r[at..at + 4].try_into().expect("a word"));
    let signal = Signal::from_host(get(record, SIGNO));
    let number = signal.map_or(0, |s| u32::from(s.number()));
    record[SIGNO..SIGNO + 4].copy_from_slice(&number.to_le_bytes());
    if signal == Some(Signal::CHLD) && has_status(get(record, CODE)) {
        let status = signal_of_status(get(record, STATUS));
        record[STATUS..STATUS + 4].copy_from_slice(&status.to_le_bytes());
    }
}
