//! Signals, as the guest's kernel keeps them: actions, masks, alternate stacks, siginfo.

pub mod frame;
pub mod host;

use crate::bytes::Bytes;
use crate::signo::{DefaultAction, SigSet, Signal};

/// Flags of an action: Alpha's values (`asm/signal.h`).
pub mod sa {
    /// SA_ONSTACK.
    pub const ONSTACK: u64 = 0x1;
    /// SA_RESTART.
    pub const RESTART: u64 = 0x2;
    /// SA_NODEFER.
    pub const NODEFER: u64 = 0x8;
    /// SA_RESETHAND.
    pub const RESETHAND: u64 = 0x10;
    /// SA_SIGINFO.
    pub const SIGINFO: u64 = 0x40;
}

/// `si_code`s, the same on every architecture.
pub mod code {
    /// ILL_ILLOPC.
    pub const ILLEGAL_OPCODE: i32 = 1;
    /// FPE_INTDIV.
    pub const INTEGER_DIVIDE: i32 = 1;
    /// FPE_INTOVF.
    pub const INTEGER_OVERFLOW: i32 = 2;
    /// FPE_FLTDIV.
    pub const FLOAT_DIVIDE: i32 = 3;
    /// FPE_FLTOVF.
    pub const FLOAT_OVERFLOW: i32 = 4;
    /// FPE_FLTUND.
    pub const FLOAT_UNDERFLOW: i32 = 5;
    /// FPE_FLTRES.
    pub const FLOAT_INEXACT: i32 = 6;
    /// FPE_FLTINV.
    pub const FLOAT_INVALID: i32 = 7;
    /// FPE_FLTUNK.
    pub const FLOAT_UNKNOWN: i32 = 14;
    /// SEGV_MAPERR.
    pub const NOT_MAPPED: i32 = 1;
    /// SEGV_ACCERR.
    pub const NOT_ALLOWED: i32 = 2;
    /// BUS_ADRALN.
    pub const UNALIGNED: i32 = 1;
    /// BUS_ADRERR.
    pub const NO_OBJECT: i32 = 2;
    /// TRAP_BRKPT.
    pub const BREAKPOINT: i32 = 1;
    /// TRAP_UNK.
    pub const TRAP_UNKNOWN: i32 = 5;
}

/// What a process has asked for a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The handler's address, SIG_DFL (0) or SIG_IGN (1).
    pub handler: u64,
    /// SA_ flags.
    pub flags: u64,
    /// Signals blocked while it runs.
    pub mask: SigSet,
    /// Where it returns to; 0 for code on its stack.
    pub restorer: u64,
}

/// SIG_IGN.
pub const SIG_IGN: u64 = 1;

/// What is to be done with a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposal {
    /// Nothing.
    Ignore,
    /// The process ends.
    Terminate,
    /// The process stops.
    Stop,
    /// This handler runs.
    Handle(Action),
}

/// The actions of a process.
#[derive(Debug)]
pub struct Actions([Action; Signal::MAX as usize + 1]);

impl Default for Actions {
    fn default() -> Actions {
        Actions([Action::default(); Signal::MAX as usize + 1])
    }
}

impl Actions {
    /// The action of a signal.
    #[must_use]
    pub fn get(&self, signal: Signal) -> Action {
        self.0[usize::from(signal.number())]
    }

    /// Sets the action of a signal.
    pub fn set(&mut self, signal: Signal, action: Action) {
        self.0[usize::from(signal.number())] = action;
    }

    /// What is to be done with a signal now; SA_RESETHAND resets its action.
    pub fn dispose(&mut self, signal: Signal) -> Disposal {
        let action = self.get(signal);
        match action.handler {
            SIG_IGN => Disposal::Ignore,
            0 => match signal.default_action() {
                DefaultAction::Ignore => Disposal::Ignore,
                DefaultAction::Stop => Disposal::Stop,
                DefaultAction::Terminate | DefaultAction::Core => Disposal::Terminate,
            },
            _ => {
                if action.flags & sa::RESETHAND != 0 {
                    self.set(signal, Action { handler: 0, ..action });
                }
                Disposal::Handle(action)
            }
        }
    }

    /// What exec leaves of them: what is ignored.
    pub fn reset(&mut self) {
        for action in &mut self.0 {
            let handler = if action.handler == SIG_IGN { SIG_IGN } else { 0 };
            *action = Action { handler, ..Action::default() };
        }
    }

    /// Whether any signal has a handler.
    #[must_use]
    pub fn any_handler(&self) -> bool {
        self.0.iter().any(|a| a.handler > SIG_IGN)
    }
}

/// A signal, and what is known of it: the guest's `siginfo_t`.
///
/// Its layout is the same on every 64-bit Linux; signal numbers in it are Alpha's here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The signal.
    pub signal: Signal,
    /// The structure.
    pub bytes: Bytes<128>,
}

const SI_SIGNO: usize = 0;
const SI_CODE: usize = 8;
/// `si_code` of a signal from the kernel that has no more to say.
const SI_KERNEL: i32 = 0x80;
const SI_ADDR: usize = 16;
const SI_TRAPNO: usize = 24;
const SI_STATUS: usize = 24;
/// `si_code`s of SIGCHLD from 2 on have a signal for a status.
const CLD_KILLED: i32 = 2;
const CLD_CONTINUED: i32 = 6;

/// Whether the status in SIGCHLD's siginfo is a signal's number, by `si_code`.
#[must_use]
pub fn has_status(code: i32) -> bool {
    (CLD_KILLED..=CLD_CONTINUED).contains(&code)
}

/// Alpha's number for such a status.
#[must_use]
pub fn signal_of_status(host: i32) -> u32 {
    Signal::from_host(host).map_or(0, |s| u32::from(s.number()))
}

impl Info {
    /// Whether a POSIX timer sent it.
    pub fn is_timers(&self) -> bool {
        self.bytes.i32(SI_CODE) == libc::SI_TIMER
    }

    /// A signal that the guest caused by what it did at an address.
    #[must_use]
    pub fn fault(signal: Signal, code: i32, addr: u64, trapno: u32) -> Info {
        let mut info = Info::sent(signal);
        info.bytes.put_i32(SI_CODE, code);
        info.bytes.put_u64(SI_ADDR, addr);
        info.bytes.put_u32(SI_TRAPNO, trapno);
        info
    }

    /// A signal that somebody sent.
    #[must_use]
    pub fn sent(signal: Signal) -> Info {
        let mut bytes = Bytes::zeroed();
        bytes.put_u32(SI_SIGNO, u32::from(signal.number()));
        Info { signal, bytes }
    }

    /// From the host's structure.
    #[must_use]
    pub fn from_host(host: &[u8; 128]) -> Info {
        let mut bytes = Bytes(*host);
        // The kernel gives no other than its own signals.
        let signal = Signal::from_host(bytes.i32(SI_SIGNO)).unwrap_or(Signal::KILL);
        bytes.put_u32(SI_SIGNO, u32::from(signal.number()));
        if signal == Signal::CHLD && has_status(bytes.i32(SI_CODE)) {
            bytes.put_u32(SI_STATUS, signal_of_status(bytes.i32(SI_STATUS)));
        }
        Info { signal, bytes }
    }

    /// The host's structure.
    #[must_use]
    pub fn to_host(self) -> Bytes<128> {
        let mut bytes = self.bytes;
        bytes.put_i32(SI_SIGNO, self.signal.host());
        bytes
    }
}

impl std::fmt::Display for Info {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.bytes.i32(SI_CODE);
        if code > 0 && code != SI_KERNEL {
            write!(f, "{} (code {code}, address {:#x})", self.signal, self.bytes.u64(SI_ADDR))
        } else {
            write!(f, "{}", self.signal)
        }
    }
}

/// An alternate signal stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AltStack {
    /// Its lowest address.
    pub sp: u64,
    /// SS_AUTODISARM, or 0.
    pub flags: u32,
    /// Its size; 0 if there is none.
    pub size: u64,
}

/// Flags of `stack_t`.
pub mod ss {
    /// SS_ONSTACK.
    pub const ONSTACK: u32 = 1;
    /// SS_DISABLE.
    pub const DISABLE: u32 = 2;
    /// SS_AUTODISARM.
    pub const AUTODISARM: u32 = 1 << 31;
}

impl AltStack {
    /// None.
    pub const NONE: AltStack = AltStack { sp: 0, flags: 0, size: 0 };

    /// Whether a stack pointer is on it.
    #[must_use]
    pub fn holds(&self, sp: u64) -> bool {
        self.flags & ss::AUTODISARM == 0 && sp > self.sp && sp - self.sp <= self.size
    }

    /// The state that sigaltstack gives for a stack pointer.
    #[must_use]
    pub fn state(&self, sp: u64) -> u32 {
        let on = if self.size == 0 {
            ss::DISABLE
        } else if self.holds(sp) {
            ss::ONSTACK
        } else {
            0
        };
        on | self.flags & ss::AUTODISARM
    }

    /// The guest's `stack_t`.
    #[must_use]
    pub fn to_bytes(self, sp: u64) -> Bytes<24> {
        let mut b = Bytes::zeroed();
        b.put_u64(0, self.sp);
        b.put_u32(8, self.state(sp));
        b.put_u64(16, self.size);
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child that SIGBUS (7 on the host, 10 on Alpha) ended. Layout: `struct siginfo`.
    #[test]
    fn siginfo_is_translated() {
        let mut host = Bytes::<128>::zeroed();
        host.put_i32(0, libc::SIGCHLD);
        host.put_i32(8, libc::CLD_DUMPED);
        host.put_i32(24, libc::SIGBUS);
        let info = Info::from_host(&host.0);
        assert_eq!(info.signal, Signal::CHLD);
        assert_eq!((info.bytes.i32(0), info.bytes.i32(8), info.bytes.i32(24)), (20, 3, 10));
    }

    #[test]
    fn handlers_are_reset() {
        let mut actions = Actions::default();
        let action = Action { handler: 0x1000, flags: sa::RESETHAND, ..Action::default() };
        actions.set(Signal::USR1, action);
        actions.set(Signal::INT, Action { handler: SIG_IGN, ..Action::default() });
        assert!(actions.any_handler());
        assert_eq!(actions.dispose(Signal::USR1), Disposal::Handle(action));
        assert_eq!(actions.dispose(Signal::USR1), Disposal::Terminate);
        assert_eq!(actions.dispose(Signal::INT), Disposal::Ignore);
        assert_eq!(actions.dispose(Signal::CHLD), Disposal::Ignore);
        assert_eq!(actions.dispose(Signal::TSTP), Disposal::Stop);
        actions.set(Signal::USR2, action);
        actions.reset();
        assert!(!actions.any_handler());
        assert_eq!(actions.get(Signal::INT).handler, SIG_IGN);
    }

    #[test]
    fn alternate_stack_state() {
        let stack = AltStack { sp: 0x1000, flags: 0, size: 0x100 };
        assert_eq!(AltStack::NONE.state(0x1080), ss::DISABLE);
        assert_eq!(stack.state(0x1080), ss::ONSTACK);
        assert_eq!(stack.state(0x1100), ss::ONSTACK);
        assert_eq!(stack.state(0x1000), 0);
        assert_eq!(stack.state(0x1101), 0);
    }
}
