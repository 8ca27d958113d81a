//! What the kernel counts: faults, switches, time.

use axperf::perf::{Event, Frame};
use axperf::{Reg, Regs};

use super::attach::current_cpu;
use super::kernel;
use crate::thread::Thread;

/// The user's registers at a system call's entry, and how often the thread had left its CPU.
pub(crate) struct Entry {
    regs: Regs,
    switches: u64,
}

impl Thread {
    /// Instructions to run until the clock is to be looked at.
    #[inline]
    pub(crate) fn perf_fuel(&mut self) -> u64 {
        let left = self.cpu.time_left();
        self.perf.clock.fuel(left)
    }

    /// Counts the time since the last look at the clock; in the kernel, if `kernel` has its registers
    /// and the user's.
    pub(crate) fn perf_tick(&mut self, kernel: Option<(&Regs, &Regs)>, whole: bool) {
        if self.cpu.time_left().is_none() {
            return;
        }
        let passed = self.perf.clock.look(whole);
        let user = match kernel {
            Some((_, user)) => user.clone(),
            None => self.cpu.regs().clone(),
        };
        let frame = match kernel {
            Some((kernel, _)) => Frame::kernel(kernel, Some(&user)),
            None => Frame::user(&user),
        };
        for event in [Event::CpuClock, Event::TaskClock] {
            self.cpu.raise(event, passed, &frame);
        }
    }

    /// An instruction, in user mode, wanted the kernel's help; its registers are `before`, if they
    /// aren't those that the machine has. Linux/alpha doesn't count this.
    pub(crate) fn perf_fault(&mut self, event: Event, addr: u64, before: Option<Regs>) {
        if self.cpu.counts(event) && !self.shared.config.kernel_exact {
            let regs = before.unwrap_or_else(|| self.cpu.regs().clone());
            self.cpu.raise(event, 1, &Frame::user(&regs).about(addr));
        }
    }

    /// A page fault that becomes a signal; the instruction hasn't been executed.
    pub(crate) fn perf_page_fault(&mut self, addr: u64) {
        if self.cpu.counts(Event::PageFaults) {
            let regs = self.cpu.regs().clone();
            self.cpu.raise(Event::PageFaults, 1, &Frame::user(&regs).about(addr));
        }
    }

    /// What a system call begins with, if someone will want to know; the registers are as the
    /// kernel's entry code left them.
    pub(crate) fn perf_enter(&mut self) -> Option<Entry> {
        let cpu = &self.cpu;
        let wanted = [Event::ContextSwitches, Event::CpuMigrations].iter().any(|e| cpu.counts(*e));
        if !wanted && cpu.time_left().is_none() {
            return None;
        }
        self.perf_tick(None, false);
        Some(Entry { regs: self.cpu.regs().clone(), switches: switches() })
    }

    /// What happened in a system call; `blocks` if the program can have waited in it.
    pub(crate) fn perf_leave(&mut self, entry: &Entry, blocks: bool) {
        let switches = switches().saturating_sub(entry.switches);
        let exact = self.shared.config.kernel_exact;
        if blocks && switches > 0 {
            let kernel = match exact {
                true => kernel::unfilled(self.perf.cpu),
                false => kernel::at_switch(self.ids.tid),
            };
            let frame = Frame::kernel(&kernel, Some(&entry.regs));
            self.cpu.raise(Event::ContextSwitches, switches, &frame);
        }
        let cpu = current_cpu();
        if cpu != self.perf.cpu {
            self.perf.cpu = cpu;
            let kernel = match exact {
                true => kernel::unfilled(cpu),
                false => kernel::at_switch(self.ids.tid),
            };
            self.cpu.set_cpu_number(cpu);
            let frame = Frame::kernel(&kernel, Some(&entry.regs));
            self.cpu.raise(Event::CpuMigrations, 1, &frame);
            self.perf.look_again();
        }
        let kernel = kernel::in_syscall(self.ids.tid, entry.regs.get(Reg::R0));
        self.perf_tick(Some((&kernel, &entry.regs)), false);
    }
}

/// Times that the calling thread gave up its CPU to wait.
fn switches() -> u64 {
    // SAFETY: zero is a valid value of the structure, which getrusage fills.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_nvcsw as u64
    }
}
