//! What a debugger does to an address space: breakpoints, and writing where the program can't.
//!
//! A breakpoint is an address that no instruction is fetched from. So code ends before it, decoded or
//! translated, and memory holds what the program put there.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use axperf::{Access, Bus, Fault, FaultKind};

use super::{Inner, Space};
use crate::errno::Errno;
use crate::layout::TASK_SIZE;

/// Breakpoints at most.
const MOST: usize = 1 << 16;

impl Space {
    /// Sets a breakpoint; false if there are too many, or no instruction can be there.
    pub(crate) fn set_breakpoint(&self, addr: u64) -> bool {
        if !addr.is_multiple_of(4) || addr >= TASK_SIZE {
            return false;
        }
        let mut inner = self.write_inner();
        if inner.breakpoints.len() >= MOST {
            return false;
        }
        inner.breakpoints.insert(addr);
        drop(inner);
        self.engine.invalidate(addr..addr + 4);
        true
    }

    /// Removes a breakpoint, if there is one.
    pub(crate) fn clear_breakpoint(&self, addr: u64) {
        let removed = self.write_inner().breakpoints.remove(&addr);
        if removed {
            self.engine.invalidate(addr..addr + 4);
        }
    }

    /// Removes all breakpoints.
    pub(crate) fn clear_breakpoints(&self) {
        let removed = std::mem::take(&mut self.write_inner().breakpoints);
        for addr in removed {
            self.engine.invalidate(addr..addr + 4);
        }
    }

    /// In a forked child: there are no breakpoints. The engine has no code that ends at one.
    pub(crate) fn forget_breakpoints(&self) {
        self.write_inner().breakpoints.clear();
    }

    /// Whether there is a breakpoint at an address.
    pub(crate) fn has_breakpoint(&self, addr: u64) -> bool {
        self.read_inner().breakpoints.contains(&addr)
    }

    /// The instruction word at an address, whether there is a breakpoint or not.
    pub(crate) fn word(&self, addr: u64) -> Result<u32, Fault> {
        let mut word = [0];
        self.fetch_words(addr, &mut word, false)?;
        Ok(word[0])
    }

    /// Writes to memory, also where the program may only read; code changes at once.
    pub(crate) fn poke(&self, addr: u64, bytes: &[u8]) -> Result<(), Errno> {
        let efault = Errno(libc::EFAULT);
        let end = addr.checked_add(bytes.len() as u64).filter(|e| *e <= TASK_SIZE).ok_or(efault)?;
        if self.write(addr, bytes).is_err() {
            // The host lets a process write to its own memory like this whatever the protection.
            let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
            memory.write_all_at(bytes, addr).map_err(|_| efault)?;
        }
        self.engine.invalidate(addr..end);
        Ok(())
    }
}

impl Inner {
    /// How many of `count` words from `addr` on come before a breakpoint.
    pub(super) fn unbroken(&self, addr: u64, count: usize) -> Result<usize, Fault> {
        match self.breakpoints.range(addr..).next() {
            None => Ok(count),
            Some(&at) if at == addr => {
                Err(Fault { addr, access: Access::Execute, kind: FaultKind::Protected })
            }
            Some(&at) => Ok(count.min(((at - addr) / 4) as usize)),
        }
    }
}
