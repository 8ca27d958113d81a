//! Core dumps: what Linux/alpha writes of a process that a signal ends.
//!
//! The file is the kernel's: notes of the threads' registers and of the process, and the memory that
//! isn't in files. Debuggers that run on another machine know Alpha's registers only in a note of
//! FreeBSD's, so that is there as well ([`notes`]).

mod file;
mod memory;
mod notes;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use axperf::Regs;

use crate::process::Shared;
use crate::signal::{Info, host};
use crate::thread::Thread;

/// Writes a core dump of the process that the signal ends, if that is wanted.
pub(crate) fn dump(thread: &Thread, info: &Info) {
    let shared = &thread.shared;
    let (Some(name), Some(hold)) = (&shared.config.core, &shared.hold) else { return };
    // SAFETY: no pointers.
    let dumpable = unsafe { libc::prctl(libc::PR_GET_DUMPABLE) } == 1;
    if !info.signal.dumps_core() || !dumpable {
        return;
    }
    // Nothing else ends the process meanwhile; a file that is too long is an error, no signal.
    host::block_all();
    let Some(threads) = hold.freeze(thread.ids.tid, thread.cpu.regs()) else { return };
    let path = expand(name, thread.ids.pid);
    match write(shared, &path, info, &threads) {
        Ok(()) => shared.log.tell(format_args!("core dumped to {}", path.display())),
        Err(e) => shared.log.tell(format_args!("core dump to {}: {e}", path.display())),
    }
}

/// The file's name, with the process's number for `%p`.
fn expand(name: &Path, pid: i32) -> PathBuf {
    let mut rest = name.as_os_str().as_bytes();
    let mut expanded = Vec::new();
    while let Some(at) = rest.windows(2).position(|w| w == b"%p") {
        expanded.extend_from_slice(&rest[..at]);
        expanded.extend_from_slice(pid.to_string().as_bytes());
        rest = &rest[at + 2..];
    }
    expanded.extend_from_slice(rest);
    std::ffi::OsString::from_vec(expanded).into()
}

fn write(shared: &Shared, path: &Path, info: &Info, threads: &[(i32, Regs)]) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let segments = memory::segments(shared)?;
    let notes = notes::all(shared, info, threads);
    file::write(&file, &notes, &segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, want) in
            [("core", "core"), ("core.%p", "core.42"), ("/%p/%p%", "/42/42%"), ("%x", "%x")]
        {
            assert_eq!(expand(Path::new(name), 42), Path::new(want));
        }
    }
}
