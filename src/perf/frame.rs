//! What a sample is taken from.

use axperf_isa::{Reg, Regs};

/// First address above Linux/alpha's user space.
pub const TASK_SIZE: u64 = 1 << 42;

/// The moment that a sample shows.
///
/// An embedder with a kernel of its own fills in both frames, as Linux does: the user's registers
/// are those of the task's trap frame, wherever the event struck.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The task's user registers; None for a kernel thread, which has none.
    pub user: Option<&'a Regs>,
    /// Registers where the event struck, if that was in the kernel.
    pub kernel: Option<&'a Regs>,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// CPU.
    pub cpu: u32,
    /// When, in nanoseconds.
    pub time: u64,
    /// Address that belongs to the event; 0 if none does.
    pub addr: u64,
}

impl<'a> Frame<'a> {
    /// An event that struck in user mode.
    #[must_use]
    pub fn user(regs: &'a Regs) -> Frame<'a> {
        Frame { user: Some(regs), kernel: None, pid: 0, tid: 0, cpu: 0, time: 0, addr: 0 }
    }

    /// An event that struck in the kernel; `user` are the registers of the task's trap frame.
    #[must_use]
    pub fn kernel(kernel: &'a Regs, user: Option<&'a Regs>) -> Frame<'a> {
        Frame { user, kernel: Some(kernel), pid: 0, tid: 0, cpu: 0, time: 0, addr: 0 }
    }

    /// Sets the address that belongs to the event.
    #[must_use]
    pub fn about(mut self, addr: u64) -> Self {
        self.addr = addr;
        self
    }

    /// Sets process and thread.
    #[must_use]
    pub fn task(mut self, pid: u32, tid: u32) -> Self {
        (self.pid, self.tid) = (pid, tid);
        self
    }

    /// Sets the time, in nanoseconds.
    #[must_use]
    pub fn at(mut self, time: u64) -> Self {
        self.time = time;
        self
    }

    /// Sets the CPU.
    #[must_use]
    pub fn on_cpu(mut self, cpu: u32) -> Self {
        self.cpu = cpu;
        self
    }

    /// The registers where the event struck.
    #[must_use]
    pub fn intr(&self) -> Option<&'a Regs> {
        self.kernel.or(self.user)
    }

    /// The address of the sample.
    #[must_use]
    pub fn ip(&self) -> u64 {
        self.intr().map_or(0, |r| r.get(Reg::Pc))
    }
}

/// The memory that stacks lie in.
pub trait Stack {
    /// Copies bytes from `addr` on, up to the first that isn't mapped; says how many.
    fn copy(&self, addr: u64, buf: &mut [u8]) -> usize;
}

/// No memory: stack copies and call chains end at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStack;

impl Stack for NoStack {
    fn copy(&self, _: u64, _: &mut [u8]) -> usize {
        0
    }
}
