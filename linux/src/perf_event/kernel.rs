//! The kernel's side of a sample: there is no kernel here, but its frames have places.
//!
//! Each thread has a kernel stack of 16 KiB, with the `struct pt_regs` of the user's registers at its
//! top, as Linux/alpha lays it out. Code in a system call has an address of its own for each call.
//! So a sample taken in the kernel has a pc and an sp that say where it was, and never an address of
//! the host's.

use axperf::{Reg, Regs};

/// Where kernel stacks are: in the kernel's direct mapping, one a thread.
const STACKS: u64 = 0xffff_fc01_0000_0000;
/// Bytes of a kernel stack.
const STACK: u64 = 2 * 8192;
/// Bytes of `struct pt_regs`.
const PT_REGS: u64 = 240;

/// Where system calls have their code, and bytes between two of them.
pub(crate) const SYSCALLS: u64 = 0xffff_fc00_0100_0000;
pub(crate) const SYSCALL_BYTES: u64 = 0x100;
/// Where a task leaves its CPU for another.
pub(crate) const SCHEDULE: u64 = 0xffff_fc00_0110_0000;
/// The kernel's global pointer.
const GP: u64 = 0xffff_fc00_0180_0000;

/// Bytes between the frame at the top of the stack and the kernel's own when it takes an interrupt
/// in a system call (the trap's `pt_regs` among them), and when it switches tasks.
const DEPTH_INTERRUPT: u64 = 0x80;
const DEPTH_SWITCH: u64 = 0xa0;

/// What Linux with the posted patch shows for a switch of tasks: registers that were never filled
/// in, and for an sp the end of where they are.
const UNFILLED: u64 = 0xffff_fc00_0002_bb80;
const UNFILLED_STRIDE: u64 = 0x10000;

/// The end of the user's frame: the top of the thread's kernel stack.
fn top(tid: i32) -> u64 {
    STACKS + (u64::from(tid as u32) + 1) * STACK
}

fn frame(pc: u64, sp: u64) -> Regs {
    let mut regs = Regs::default();
    regs.set(Reg::Pc, pc);
    regs.set(Reg::Sp, sp);
    regs.set(Reg::Gp, GP);
    regs
}

/// Registers where an interrupt struck in a system call.
pub(crate) fn in_syscall(tid: i32, number: u64) -> Regs {
    let pc = SYSCALLS + number.min(0xfff) * SYSCALL_BYTES + 0x40;
    frame(pc, top(tid) - PT_REGS - DEPTH_INTERRUPT)
}

/// Registers where the task left its CPU.
pub(crate) fn at_switch(tid: i32) -> Regs {
    frame(SCHEDULE + 0x40, top(tid) - PT_REGS - DEPTH_SWITCH)
}

/// The same as the posted patch has it, on a CPU.
pub(crate) fn unfilled(cpu: u32) -> Regs {
    let mut regs = Regs::default();
    regs.set(Reg::Sp, UNFILLED + u64::from(cpu) * UNFILLED_STRIDE);
    regs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads' stacks don't overlap, and an sp lies in its thread's.
    #[test]
    fn stacks_are_apart() {
        for tid in [1, 2, 4_194_304] {
            let base = top(tid) - STACK;
            assert_eq!(base, top(tid - 1));
            for regs in [in_syscall(tid, 3), at_switch(tid)] {
                let sp = regs.get(Reg::Sp);
                assert!(sp > base && sp < top(tid) - PT_REGS && sp.is_multiple_of(16));
                assert!(regs.get(Reg::Pc) >= SYSCALLS);
            }
        }
        assert_ne!(in_syscall(1, 3).get(Reg::Pc), in_syscall(1, 4).get(Reg::Pc));
    }

    /// Seen on Linux with the posted patch: pc 0, sp 0xfffffc000002bb80 on CPU 0.
    #[test]
    fn unfilled_registers_are_the_patch_s() {
        let regs = unfilled(0);
        assert_eq!((regs.get(Reg::Pc), regs.get(Reg::Sp)), (0, 0xffff_fc00_0002_bb80));
    }
}
