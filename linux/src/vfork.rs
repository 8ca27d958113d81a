//! vfork: a child that its parent waits for, and that changes the parent's stack.
//!
//! The child has a copy of the memory, not the memory itself. What it changes in the part of the
//! stack that its parent uses (posix_spawn's child says there why it failed) goes to the parent when
//! the child executes a program or exits.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};

use axperf::Bus;

use crate::descriptors::lift;
use crate::errno::Errno;
use crate::mm::Space;

/// Bytes above the stack pointer that are watched: some frames.
const WATCHED: u64 = 16 << 10;

/// The child's side.
#[derive(Debug)]
pub(crate) struct Child {
    pipe: File,
    start: u64,
    before: Vec<u8>,
}

/// The parent's side.
#[derive(Debug)]
pub(crate) struct Parent {
    pipe: File,
    start: u64,
}

/// Both sides, before the fork; `sp` is the parent's stack pointer.
pub(crate) fn prepare(space: &Space, sp: u64) -> Result<(Parent, Child), Errno> {
    let mut both = [0i32; 2];
    // SAFETY: two descriptors fit; they are ours.
    let (read, write) = unsafe {
        if libc::pipe2(both.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(Errno::last());
        }
        (OwnedFd::from_raw_fd(both[0]), OwnedFd::from_raw_fd(both[1]))
    };
    let (read, write) = (lift(read)?.into(), lift(write)?.into());
    let before = watched(space, sp);
    Ok((Parent { pipe: read, start: sp }, Child { pipe: write, start: sp, before }))
}

/// What is mapped of the watched range.
fn watched(space: &Space, start: u64) -> Vec<u8> {
    let mut bytes = vec![0; WATCHED as usize];
    if let Err(fault) = space.read(start, &mut bytes) {
        bytes.truncate(fault.addr.saturating_sub(start) as usize);
    }
    bytes
}

impl Child {
    /// The child executes a program or exits: its parent learns what it changed, and goes on.
    pub fn done(mut self, space: &Space) {
        let after = watched(space, self.start);
        let mut message = Vec::new();
        for (i, (old, new)) in self.before.iter().zip(&after).enumerate() {
            if old != new {
                message.extend_from_slice(&(i as u16).to_le_bytes());
                message.push(*new);
            }
        }
        // A parent that is gone doesn't care.
        let _ = self.pipe.write_all(&message);
    }
}

impl Parent {
    /// Waits until the child is done, or `stop` says to wait no longer.
    pub fn wait(mut self, space: &Space, stop: impl Fn() -> bool) {
        let mut message = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match self.pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => message.extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted && !stop() => {}
                Err(_) => break,
            }
        }
        for change in message.chunks_exact(3) {
            let at = self.start + u64::from(u16::from_le_bytes([change[0], change[1]]));
            // Unmapped by another thread meanwhile: then nobody will look.
            let _ = space.write(at, &change[2..]);
        }
    }
}

const _: () = assert!(WATCHED <= 1 << 16);
