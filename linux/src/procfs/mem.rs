//! /proc/PID/mem: a guest's memory as a file.
//!
//! The host's file would be all of the host process. So the guest gets an empty file in memory,
//! whose name says whose memory it stands for; what is read and written through it goes to the
//! host's file, below 2^42. Name and offset are the host's to keep: they outlive dup, fork and exec.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Whose, is_guest};
use crate::errno::Errno;
use crate::layout::TASK_SIZE;
use crate::thread::Thread;

/// Whether the guest ever opened one: before that no read needs to ask.
static ANY: AtomicBool = AtomicBool::new(false);

const NAME: &str = "axperf-mem-";

/// An open descriptor that stands for memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryFile {
    fd: i32,
    pid: i32,
}

/// A file that stands for a process's memory, opened with this access mode. Another's can only be
/// read.
pub(crate) fn memory_file(t: &Thread, whose: Whose, mode: i32) -> Result<File, Errno> {
    let writes = mode != libc::O_RDONLY;
    let pid = match whose {
        Whose::Own(_) => t.ids.pid,
        Whose::Other(pid) if is_guest(pid) && !writes => pid,
        Whose::Other(_) => return Err(Errno(libc::EACCES)),
    };
    // Whether it may be looked at is the host's to say.
    host_file(pid, writes)?;
    let name = format!("{NAME}{pid}\0");
    // SAFETY: a C string; the descriptor is ours.
    let file = unsafe {
        let fd =
            libc::memfd_create(name.as_ptr().cast(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(Errno::last());
        }
        File::from_raw_fd(fd)
    };
    // Whatever goes round the calls below finds an empty file that stays empty.
    // SAFETY: no pointers.
    unsafe {
        libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_GROW | libc::F_SEAL_SEAL)
    };
    ANY.store(true, Ordering::Relaxed);
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(OpenOptions::new().read(mode != libc::O_WRONLY).write(writes).open(again)?)
}

fn host_file(pid: i32, writes: bool) -> Result<File, Errno> {
    Ok(OpenOptions::new().read(true).write(writes).open(format!("/proc/{pid}/mem"))?)
}

/// The memory that a descriptor stands for, if it does.
pub(crate) fn opened_memory(fd: u64) -> Option<MemoryFile> {
    if !ANY.load(Ordering::Relaxed) {
        return None;
    }
    let fd = fd as i32;
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    let name = link.to_str()?.strip_prefix("/memfd:")?.strip_prefix(NAME)?;
    Some(MemoryFile { fd, pid: name.split(' ').next()?.parse().ok()? })
}

impl MemoryFile {
    /// Reads into buffers of the guest's, which have been checked: address and length of each. Without
    /// an offset it goes on where the descriptor is.
    pub fn read(self, buffers: &[[u64; 2]], offset: Option<u64>) -> Result<u64, Errno> {
        self.may(libc::O_WRONLY)?;
        self.transfer(buffers, offset, libc::SYS_pread64, &host_file(self.guest()?, false)?)
    }

    /// Writes, whatever the protection of what is there.
    pub fn write(
        self,
        t: &Thread,
        buffers: &[[u64; 2]],
        offset: Option<u64>,
    ) -> Result<u64, Errno> {
        self.may(libc::O_RDONLY)?;
        if self.pid != t.ids.pid {
            return Err(Errno(libc::EIO));
        }
        let start = self.position(offset)?;
        let file = host_file(self.pid, true)?;
        let done = self.transfer(buffers, offset, libc::SYS_pwrite64, &file)?;
        // It may be code that nobody else could change.
        t.shared.engine.invalidate(start..start.saturating_add(done));
        Ok(done)
    }

    /// EBADF if the descriptor was opened with this access mode.
    fn may(self, not: i32) -> Result<(), Errno> {
        // SAFETY: no pointers.
        match unsafe { libc::fcntl(self.fd, libc::F_GETFL) } {
            flags if flags >= 0 && flags & libc::O_ACCMODE != not => Ok(()),
            _ => Err(Errno(libc::EBADF)),
        }
    }

    /// The process, if there is still a guest in it.
    fn guest(self) -> Result<i32, Errno> {
        let own = self.pid == std::process::id() as i32;
        if own || is_guest(self.pid) { Ok(self.pid) } else { Err(Errno(libc::EIO)) }
    }

    fn position(self, offset: Option<u64>) -> Result<u64, Errno> {
        if let Some(offset) = offset {
            return Ok(offset);
        }
        // SAFETY: no pointers.
        let at = unsafe { libc::lseek(self.fd, 0, libc::SEEK_CUR) };
        u64::try_from(at).map_err(|_| Errno::last())
    }

    fn transfer(
        self,
        buffers: &[[u64; 2]],
        offset: Option<u64>,
        call: i64,
        file: &File,
    ) -> Result<u64, Errno> {
        let start = self.position(offset)?;
        let mut at = start;
        for [buffer, len] in buffers {
            let len = (*len).min(TASK_SIZE.saturating_sub(at));
            // SAFETY: the buffer is the guest's; the kernel finds out whether it is mapped.
            let done = unsafe { libc::syscall(call, file.as_raw_fd(), *buffer, len, at) };
            match u64::try_from(done) {
                // The first address that can't be had ends it, and is an error if it is the first.
                Ok(0) if at == start && len > 0 => return Err(Errno(libc::EIO)),
                Ok(done) => {
                    at += done;
                    if done < len {
                        break;
                    }
                }
                Err(_) if at > start => break,
                Err(_) => return Err(Errno::last()),
            }
        }
        if at == start && start >= TASK_SIZE && buffers.iter().any(|b| b[1] > 0) {
            return Err(Errno(libc::EIO));
        }
        if offset.is_none() {
            // SAFETY: no pointers. The descriptor may be gone, which is its owner's business.
            unsafe { libc::lseek(self.fd, at as i64, libc::SEEK_SET) };
        }
        Ok(at - start)
    }
}
