//! perf_event_open(2): what it refuses, and the event that it makes.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axperf::Bus;
use axperf::perf::{self, ATTR_SIZE, Attr, AttrFlags, Event, RegAbi, SampleType};

use super::arena::{Arena, is_alive};
use super::pmu::Pmu;
use super::slot::{Opening, Slot};
use super::{PARANOID, of_fd};
use crate::descriptors;
use crate::errno::Errno;
use crate::signal::host::STOP;
use crate::thread::Thread;

/// `PERF_FLAG_*`.
mod flag {
    pub const NO_GROUP: u64 = 1;
    pub const OUTPUT: u64 = 2;
    pub const CGROUP: u64 = 4;
    pub const CLOEXEC: u64 = 8;
    pub const ALL: u64 = NO_GROUP | OUTPUT | CGROUP | CLOEXEC;
}

const EINVAL: Errno = Errno(libc::EINVAL);
const EACCES: Errno = Errno(libc::EACCES);

/// perf's error by the host's number.
impl From<perf::AttrError> for Errno {
    fn from(e: perf::AttrError) -> Errno {
        Errno(match e.errno {
            perf::Errno::E2big => libc::E2BIG,
            perf::Errno::Eperm => libc::EPERM,
            perf::Errno::Enoent => libc::ENOENT,
            perf::Errno::Eopnotsupp => libc::EOPNOTSUPP,
            _ => libc::EINVAL,
        })
    }
}

/// perf_event_open(attr, pid, cpu, group, flags).
pub(crate) fn open(t: &mut Thread, a: &[u64; 6]) -> Result<u64, Errno> {
    let [at, pid, cpu, group, flags, _] = *a;
    let (pid, cpu, group) = (pid as i32, cpu as i32, group as i32);
    let shared = Arc::clone(&t.shared);
    let arena = shared.perf.as_ref().ok_or(Errno(libc::ENOSYS))?;
    if flags & !flag::ALL != 0 {
        return Err(EINVAL);
    }
    let attr = read_attr(t, at)?;
    // A user of no privilege.
    let common = !is_privileged();
    if common && PARANOID > 2 {
        return Err(EACCES);
    }
    let kernel = !common || PARANOID < 2;
    attr.check(RegAbi::Kernel).map_err(|e| match e.field {
        // Whether a kernel's sample may be had is asked before how many.
        "sample_freq" | "sample_period" if !kernel && sees_kernel(&attr) => EACCES,
        _ => Errno::from(e),
    })?;
    if !kernel && sees_kernel(&attr) {
        return Err(EACCES);
    }
    if common && attr.flags.contains(AttrFlags::NAMESPACES) {
        return Err(EACCES);
    }
    // Cgroups would need a descriptor of one in place of the process.
    if flags & flag::CGROUP != 0 {
        return Err(EINVAL);
    }
    let leader = match group {
        -1 => None,
        fd => Some(of_fd(arena, fd).ok_or(Errno(libc::EBADF))?),
    };
    let sibling_of = leader.filter(|_| flags & flag::NO_GROUP == 0);
    let target = target(t, arena, pid)?;
    if let Some(leader) = sibling_of
        && target != -1
        && arena.slot(leader).attr().flags.contains(AttrFlags::INHERIT)
            != attr.flags.contains(AttrFlags::INHERIT)
    {
        return Err(EINVAL);
    }
    if cpu != -1 && !is_cpu(cpu) || cpu == -1 && target == -1 {
        return Err(EINVAL);
    }
    let event = shared.config.pmu.event(&attr)?;
    if target == -1 && common && PARANOID > 0 {
        return Err(EACCES);
    }
    if let Some(leader) = sibling_of {
        check_group(arena, leader, &attr, target, cpu, event, shared.config.pmu)?;
    }
    let descriptor = Descriptor::new(t, flags & flag::CLOEXEC != 0)?;
    let output = leader.filter(|_| flags & flag::OUTPUT != 0);
    let number = {
        let _guard = arena.lock();
        super::reap(arena);
        let number = arena.free_slot().ok_or(Errno(libc::EMFILE))?;
        let slot = arena.slot(number);
        slot.begin(&Opening {
            attr: &attr,
            id: arena.new_id(),
            leader: sibling_of.unwrap_or(number),
            inode: descriptor.inode,
            opener: std::process::id() as i32,
            wake_fd: descriptor.wake.as_raw_fd(),
            target,
            cpu,
        });
        number
    };
    // It is closed when the event has gone.
    let _ = descriptor.wake.into_raw_fd();
    if let Some(other) = output {
        let _ = super::calls::set_output(arena, number, Some(other));
    }
    tell_threads(t, arena, arena.slot(number));
    Ok(descriptor.guest.into_raw_fd() as u64)
}

/// Has threads look at an event that was changed.
pub(super) fn tell_threads(t: &Thread, arena: &Arena, slot: &Slot) {
    arena.change();
    let target = slot.target.load(Ordering::Relaxed);
    let inherits = slot.attr().flags.contains(AttrFlags::INHERIT);
    for (pid, tid) in arena.tasks() {
        if tid != t.ids.tid && (target == -1 || tid == target || inherits && target != t.ids.tid) {
            // SAFETY: no pointers. It fails if the thread is gone, which is as well.
            unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, STOP) };
        }
    }
}

/// Whether samples or counts would show something of the kernel's.
fn sees_kernel(attr: &Attr) -> bool {
    let has = |f| attr.flags.contains(f);
    !has(AttrFlags::EXCLUDE_KERNEL)
        || attr.sample_type.contains(SampleType::PHYS_ADDR)
        || (attr.sample_type.contains(SampleType::CALLCHAIN)
            && !has(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL))
}

/// Whether the guest is who may see everything.
pub(super) fn is_privileged() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// Reads the attributes; says which size there could be, if it is wrong.
fn read_attr(t: &Thread, at: u64) -> Result<Attr, Errno> {
    let space = &t.shared.space;
    let mut head = [0; 8];
    space.read(at, &mut head)?;
    let refuse = |e: perf::AttrError| {
        if e.errno == perf::Errno::E2big {
            // As for a bad address: there is nothing else to be said.
            let _ = space.write_u32(at.wrapping_add(4), ATTR_SIZE as u32);
        }
        Errno::from(e)
    };
    let size = Attr::declared_size(&head).map_err(refuse)?;
    let mut block = vec![0; size];
    space.read(at, &mut block)?;
    Attr::from_bytes(&block).map_err(refuse)
}

/// The thread that `pid` is; -1 for all.
fn target(t: &Thread, arena: &Arena, pid: i32) -> Result<i32, Errno> {
    match pid {
        -1 => Ok(-1),
        0 => Ok(t.ids.tid),
        own if own == t.ids.tid => Ok(own),
        other => {
            if arena.tasks().any(|(_, tid)| tid == other) && is_alive(other) {
                return match may_look_at(other) {
                    true => Ok(other),
                    false => Err(EACCES),
                };
            }
            // One that isn't a guest's can't be looked into.
            Err(if other > 0 && is_alive(other) && !is_privileged() {
                EACCES
            } else {
                Errno(libc::ESRCH)
            })
        }
    }
}

/// Whether a thread is the user's own.
fn may_look_at(tid: i32) -> bool {
    // SAFETY: no arguments.
    let uid = unsafe { libc::geteuid() };
    is_privileged() || std::fs::metadata(format!("/proc/{tid}")).is_ok_and(|m| m.uid() == uid)
}

/// Whether there is such a CPU.
fn is_cpu(cpu: i32) -> bool {
    // SAFETY: no pointers.
    let there_are = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    cpu >= 0 && i64::from(cpu) < there_are
}

/// What a member of a group must have in common with its leader.
fn check_group(
    arena: &Arena,
    leader: u32,
    attr: &Attr,
    target: i32,
    cpu: i32,
    event: Event,
    pmu: Pmu,
) -> Result<(), Errno> {
    let slot = arena.slot(leader);
    let same = slot.leader.load(Ordering::Relaxed) == leader
        && slot.target.load(Ordering::Relaxed) == target
        && slot.cpu.load(Ordering::Relaxed) == cpu
        && slot.attr().clockid == attr.clockid;
    if !same || attr.flags.intersects(AttrFlags::EXCLUSIVE | AttrFlags::PINNED) {
        return Err(EINVAL);
    }
    let members = arena.slots().filter(|(_, s)| s.leader.load(Ordering::Relaxed) == leader);
    let events: Vec<Event> = members.filter_map(|(_, s)| s.attr().event().ok()).collect();
    if pmu.fits(&events, event) { Ok(()) } else { Err(EINVAL) }
}

/// The two ends of an event's descriptor: a pipe, which the guest has to wait on and to tell it by,
/// and whose other end wakes it. The guest's end is for reading and writing, as the kernel's is.
struct Descriptor {
    guest: OwnedFd,
    wake: OwnedFd,
    inode: u64,
}

impl Descriptor {
    fn new(t: &Thread, close_on_exec: bool) -> Result<Descriptor, Errno> {
        let mut both = [0i32; 2];
        // SAFETY: two descriptors fit, and are ours.
        let (read, write) = unsafe {
            if libc::pipe2(both.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
                return Err(Errno::last());
            }
            (OwnedFd::from_raw_fd(both[0]), OwnedFd::from_raw_fd(both[1]))
        };
        let wake = descriptors::lift(write)?;
        let again = File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{}", read.as_raw_fd()))?;
        let inode = again.metadata()?.ino();
        drop(read);
        let number = t.shared.descriptors.give(again, close_on_exec)?;
        // SAFETY: it was made for the guest, which gets it if all goes well.
        let guest = unsafe { OwnedFd::from_raw_fd(number as i32) };
        Ok(Descriptor { guest, wake, inode })
    }
}
