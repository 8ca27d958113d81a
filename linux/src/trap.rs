//! Traps and signals: what the kernel does when an instruction can't be executed, and when a
//! signal arrives.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axperf::perf::Event;
use axperf::{Exit, FaultKind, Reg, Regs};

use crate::layout::TASK_SIZE;
use crate::process::ExitStatus;
use crate::signal::{AltStack, Disposal, Info, code, frame, host, sa, ss};
use crate::signo::{SigSet, Signal};
use crate::thread::{End, Thread};
use crate::unaligned::{self, Refused};
use crate::{coredump, emulate, ieee, syscall};

/// OSF/1 PALcode functions that come to the kernel as traps.
mod pal {
    pub const BPT: u32 = 0x80;
    pub const BUGCHK: u32 = 0x81;
    pub const GENTRAP: u32 = 0xaa;
    pub const CLRFEN: u32 = 0xae;
}

/// UAC_ bits (`asm/sysinfo.h`).
pub(crate) mod uac {
    pub const NOFIX: u32 = 2;
    pub const SIGBUS: u32 = 4;
    pub const ALL: u32 = 7;
}

impl Thread {
    /// Handles an exit of the machine that isn't a system call.
    pub(crate) fn trap(&mut self, exit: &Exit) {
        match *exit {
            Exit::Fault { addr, kind, .. } => self.fault(addr, kind),
            Exit::Unaligned { pc, addr, word } => self.unaligned_access(pc, addr, word),
            Exit::Arith { pc, summary, .. } => {
                self.post(Info::fault(Signal::FPE, ieee::trap_code(summary), pc, 0));
            }
            Exit::Pal { function } => self.pal(function),
            Exit::Illegal { pc, word } => self.lacking(pc, word),
            Exit::Breakpoint { pc } => {
                self.force(Info::fault(Signal::TRAP, code::BREAKPOINT, pc, 0));
            }
            ref other => {
                // The engines differ, or an exit that this crate doesn't know.
                match self.cpu.divergence() {
                    Some(divergence) => self.shared.log.tell(format_args!("{divergence}")),
                    None => self.shared.log.tell(format_args!("the machine stopped: {other:?}")),
                }
                self.end = Some(End::Process(ExitStatus::Signal(Signal::KILL)));
            }
        }
    }

    fn fault(&mut self, addr: u64, kind: FaultKind) {
        let info = match kind {
            FaultKind::NoObject => Info::fault(Signal::BUS, code::NO_OBJECT, addr, 0),
            FaultKind::Protected => Info::fault(Signal::SEGV, code::NOT_ALLOWED, addr, 0),
            _ => Info::fault(Signal::SEGV, code::NOT_MAPPED, addr, 0),
        };
        self.perf_page_fault(addr);
        self.force(info);
    }

    /// An instruction that the CPU doesn't have.
    fn lacking(&mut self, pc: u64, word: u32) {
        let before = self.cpu.counts(Event::EmulationFaults).then(|| self.cpu.regs().clone());
        let Some(result) = emulate::instruction(&mut self.cpu, word) else {
            return self.illegal(pc);
        };
        self.perf_fault(Event::EmulationFaults, pc, before);
        self.shared.emulated.fetch_add(1, Ordering::Relaxed);
        if let Err(exit) = result {
            self.trap(&exit);
        }
    }

    fn illegal(&mut self, pc: u64) {
        // The 21264 reports the next instruction, and the kernel passes that on.
        let next = pc.wrapping_add(4);
        self.cpu.set_reg(Reg::Pc, next);
        self.post(Info::fault(Signal::ILL, code::ILLEGAL_OPCODE, next, 0));
    }

    fn pal(&mut self, function: u32) {
        let pc = self.cpu.reg(Reg::Pc);
        match function {
            pal::BPT => self.post(Info::fault(Signal::TRAP, code::BREAKPOINT, pc, 0)),
            pal::BUGCHK => self.post(Info::fault(Signal::TRAP, code::TRAP_UNKNOWN, pc, 0)),
            pal::GENTRAP => {
                let reason = self.cpu.reg(Reg::R16);
                let (signal, code) = gentrap(reason as i64);
                self.post(Info::fault(signal, code, pc, reason as u32));
            }
            // At the next floating-point instruction the kernel turns the unit on again.
            pal::CLRFEN => {}
            _ => self.illegal(pc.wrapping_sub(4)),
        }
    }

    fn unaligned_access(&mut self, pc: u64, addr: u64, word: u32) {
        let bus_error = Info::fault(Signal::BUS, code::UNALIGNED, addr, 0);
        if self.unaligned & uac::SIGBUS != 0 {
            return self.post(bus_error);
        }
        let next = pc.wrapping_add(4);
        if self.unaligned & uac::NOFIX != 0 {
            return self.cpu.set_reg(Reg::Pc, next);
        }
        let shared = Arc::clone(&self.shared);
        let mut regs = self.cpu.regs().clone();
        match unaligned::access(&mut regs, &shared.space, addr, word) {
            Ok(()) => {
                self.perf_fault(Event::AlignmentFaults, addr, None);
                shared.unaligned.fetch_add(1, Ordering::Relaxed);
                regs.set_pc(next);
                self.cpu.set_regs(&regs);
            }
            Err(Refused::Instruction) => self.post(bus_error),
            Err(Refused::Fault(_)) => {
                let mapped = addr < TASK_SIZE && shared.space.table().find(addr).is_some();
                let code = if mapped { code::NOT_ALLOWED } else { code::NOT_MAPPED };
                self.post(Info::fault(Signal::SEGV, code, addr, 0));
            }
        }
    }

    /// A signal that the thread caused and can't go on without.
    pub(crate) fn force(&mut self, info: Info) {
        let Some(info) = self.ask(info) else { return };
        let blocked = self.mask.has(info.signal);
        let handled = self.shared.actions().get(info.signal).handler > crate::signal::SIG_IGN;
        if blocked || !handled {
            self.trace_signal(&info);
            self.die(&info);
        } else {
            self.act(info);
        }
    }

    /// Says in the trace that a signal is delivered.
    fn trace_signal(&self, info: &Info) {
        if let Some(strace) = &self.shared.strace {
            strace.signal(self.ids, info);
        }
    }

    /// The signal ends the process.
    fn die(&mut self, info: &Info) {
        let log = &self.shared.log;
        let line = format_args!("{info} at pc {:#x}", self.cpu.reg(Reg::Pc)).to_string();
        if self.shared.config.show_registers {
            log.tell(format_args!("{line}\n{}", registers(self.cpu.regs()).trim_end()));
        } else {
            log.say(format_args!("{line}"));
        }
        coredump::dump(self, info);
        self.end = Some(End::Process(ExitStatus::Signal(info.signal)));
    }

    /// A signal that the thread caused; it waits if it is blocked.
    pub(crate) fn post(&mut self, info: Info) {
        if !self.mask.has(info.signal) {
            return self.deliver(info);
        }
        if host::is_never_blocked(info.signal) {
            self.held.push(info);
            return;
        }
        let host = info.to_host();
        // SAFETY: a siginfo of 128 bytes, for this thread.
        unsafe {
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                self.ids.pid,
                self.ids.tid,
                info.signal.host(),
                host.0.as_ptr(),
            );
        }
    }

    /// Delivers what has arrived and isn't blocked, each on top of the one before.
    pub(crate) fn deliver_signals(&mut self) {
        loop {
            let held = self.held.iter().position(|i| !self.mask.has(i.signal));
            let info = match held {
                Some(i) => self.held.remove(i),
                None => match self.mailbox.take() {
                    Some(info) => info,
                    None => break,
                },
            };
            // What else is blocked has come through the temporary mask of a call.
            if self.mask.has(info.signal) && host::is_never_blocked(info.signal) {
                self.held.push(info);
            } else {
                self.deliver(info);
            }
            if self.end.is_some() {
                return;
            }
            host::set_mask(&self.mailbox, self.mask);
        }
        // No handler ran: the call goes on as if nothing had happened.
        if let Some(restart) = self.restart.take() {
            syscall::again(&mut self.cpu, &restart);
        }
    }

    fn deliver(&mut self, info: Info) {
        if let Some(info) = self.ask(info) {
            self.act(info);
        }
    }

    /// Does what the process has asked for a signal.
    pub(crate) fn act(&mut self, info: Info) {
        let signal = info.signal;
        self.trace_signal(&info);
        let disposal = self.shared.actions().dispose(signal);
        match disposal {
            Disposal::Ignore => {}
            Disposal::Terminate => self.die(&info),
            Disposal::Stop => {
                // SAFETY: no pointers.
                unsafe { libc::kill(self.ids.pid, libc::SIGSTOP) };
            }
            Disposal::Handle(action) => {
                if let Some(restart) = self.restart.take()
                    && restart.with_handler
                    && action.flags & sa::RESTART != 0
                {
                    syscall::again(&mut self.cpu, &restart);
                }
                let mut regs = self.cpu.regs().clone();
                let space = Arc::clone(&self.shared.space);
                let entered =
                    frame::enter(&space, &mut regs, &info, &action, self.mask, &self.stack);
                if entered.is_err() {
                    // No stack to run the handler on.
                    if signal == Signal::SEGV {
                        self.die(&info);
                    } else {
                        self.force(Info::sent(Signal::SEGV));
                    }
                    return;
                }
                self.cpu.set_regs(&regs);
                self.entered_handler();
                if action.restorer == 0 {
                    self.cpu.imb();
                }
                if self.stack.flags & ss::AUTODISARM != 0 {
                    self.stack = AltStack::NONE;
                }
                let mut block = action.mask;
                if action.flags & sa::NODEFER == 0 {
                    block = block.with(SigSet::of(signal));
                }
                self.mask = self.mask.with(block).without(SigSet::UNBLOCKABLE);
            }
        }
    }
}

/// All registers, four to a line.
fn registers(regs: &Regs) -> String {
    let mut text = String::new();
    for (i, &reg) in Reg::ALL.iter().enumerate() {
        let end = if i % 4 == 3 { '\n' } else { ' ' };
        let _ = write!(text, "{:>6} {:016x}{end}", reg.name(), regs.get(reg));
    }
    text
}

/// What a GENTRAP with this reason (`asm/gentrap.h`) is.
fn gentrap(reason: i64) -> (Signal, i32) {
    let code = match reason {
        -1 => code::INTEGER_OVERFLOW,
        -2 => code::INTEGER_DIVIDE,
        -3 => code::FLOAT_OVERFLOW,
        -4 => code::FLOAT_DIVIDE,
        -5 => code::FLOAT_UNDERFLOW,
        -6 => code::FLOAT_INVALID,
        -7 => code::FLOAT_INEXACT,
        -11 => code::FLOAT_UNKNOWN,
        _ => return (Signal::TRAP, code::TRAP_UNKNOWN),
    };
    (Signal::FPE, code)
}
