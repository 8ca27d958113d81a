//! Resource limits: Alpha's numbers, and the limits that bound the guest but not axperf.

use std::sync::{Mutex, PoisonError};

use crate::errno::Errno;
use crate::mm::Space;

/// Alpha's RLIM_INFINITY.
const GUEST_INFINITY: u64 = i64::MAX as u64;

/// A limit: the soft and the hard value; `u64::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub soft: u64,
    pub hard: u64,
}

/// A resource, in Alpha's numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The host keeps it, under this number.
    Host(u32),
    /// Kept here: it would bound axperf itself.
    Own(usize),
}

const STACK: usize = 0;
const DATA: usize = 1;
const SPACE: usize = 2;
const FILES: usize = 3;

impl Resource {
    /// Source: Alpha's `asm/resource.h` for 6 to 9, the generic header for the others.
    pub fn new(guest: u64) -> Result<Resource, Errno> {
        Ok(match guest as u32 {
            0 => Resource::Host(libc::RLIMIT_CPU),
            1 => Resource::Host(libc::RLIMIT_FSIZE),
            2 => Resource::Own(DATA),
            3 => Resource::Own(STACK),
            4 => Resource::Host(libc::RLIMIT_CORE),
            5 => Resource::Host(libc::RLIMIT_RSS),
            6 => Resource::Own(FILES),
            7 => Resource::Own(SPACE),
            8 => Resource::Host(libc::RLIMIT_NPROC),
            9 => Resource::Host(libc::RLIMIT_MEMLOCK),
            10 => Resource::Host(libc::RLIMIT_LOCKS),
            11 => Resource::Host(libc::RLIMIT_SIGPENDING),
            12 => Resource::Host(libc::RLIMIT_MSGQUEUE),
            13 => Resource::Host(libc::RLIMIT_NICE),
            14 => Resource::Host(libc::RLIMIT_RTPRIO),
            15 => Resource::Host(libc::RLIMIT_RTTIME),
            _ => return Err(Errno(libc::EINVAL)),
        })
    }
}

/// The limits that are kept here.
#[derive(Debug)]
pub(crate) struct Limits(Mutex<[Limit; 4]>);

impl Limits {
    pub fn new(stack: u64, files: u64) -> Limits {
        let none = Limit { soft: u64::MAX, hard: u64::MAX };
        Limits(Mutex::new([
            Limit { soft: stack, hard: u64::MAX },
            none,
            none,
            Limit { soft: files, hard: files },
        ]))
    }

    /// Gets a limit of this process, and sets it.
    pub fn change(
        &self,
        space: &Space,
        resource: Resource,
        new: Option<Limit>,
    ) -> Result<Limit, Errno> {
        match resource {
            Resource::Host(n) => host(0, n, new),
            Resource::Own(n) => {
                let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let old = all[n];
                if let Some(new) = new {
                    if new.soft > new.hard {
                        return Err(Errno(libc::EINVAL));
                    }
                    // SAFETY: geteuid has no preconditions.
                    let privileged = unsafe { libc::geteuid() } == 0 && n != FILES;
                    if new.hard > old.hard && !privileged {
                        return Err(Errno(libc::EPERM));
                    }
                    all[n] = new;
                    match n {
                        SPACE => space.set_limit(new.soft),
                        DATA => space.set_data_limit(new.soft),
                        // The stack is mapped whole when a program starts; the descriptors' hard
                        // limit doesn't rise.
                        _ => {}
                    }
                }
                Ok(old)
            }
        }
    }

    /// Gives the limit of descriptors to a program of the host's, without those that axperf keeps for
    /// itself; it is as before when the result is dropped.
    pub fn give_back_files(&self) -> Result<FilesBefore, Errno> {
        let guests = self.0.lock().unwrap_or_else(PoisonError::into_inner)[FILES].soft;
        let before = host(0, libc::RLIMIT_NOFILE, None)?;
        let soft = guests.min(before.soft);
        host(0, libc::RLIMIT_NOFILE, Some(Limit { soft, hard: before.hard }))?;
        Ok(FilesBefore(before))
    }

    /// The stack of the next program.
    pub fn stack(&self) -> u64 {
        let stack = self.0.lock().unwrap_or_else(PoisonError::into_inner)[STACK];
        stack.soft.min(64 << 20)
    }
}

/// A limit of descriptors that comes back.
#[derive(Debug)]
pub(crate) struct FilesBefore(Limit);

impl Drop for FilesBefore {
    fn drop(&mut self) {
        // It was the limit a moment ago.
        let _ = host(0, libc::RLIMIT_NOFILE, Some(self.0));
    }
}

/// Gets a limit that the host keeps for a process, and sets it.
pub(crate) fn host(pid: i32, resource: u32, new: Option<Limit>) -> Result<Limit, Errno> {
    let new = new.map(|l| [l.soft, l.hard]);
    let mut old = [0u64; 2];
    let new = new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both are the kernel's struct rlimit64, valid for the call.
    let done = unsafe { libc::syscall(libc::SYS_prlimit64, pid, resource, new, &mut old) };
    if done < 0 { Err(Errno::last()) } else { Ok(Limit { soft: old[0], hard: old[1] }) }
}

/// A value of getrlimit's as Alpha's programs know it.
pub(crate) fn to_guest(value: u64) -> u64 {
    value.min(GUEST_INFINITY)
}

/// A value of setrlimit's.
pub(crate) fn from_guest(value: u64) -> u64 {
    if value >= GUEST_INFINITY { u64::MAX } else { value }
}
