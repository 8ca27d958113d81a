//! Signal numbers and sets: Alpha's inside this crate, the host's at its edge.

use std::fmt;

/// A signal, in Alpha's numbering.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(u8);

/// What a signal does to a process that hasn't asked for anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultAction {
    /// Ends it.
    Terminate,
    /// Ends it, and Linux writes a core dump.
    Core,
    /// Stops it.
    Stop,
    /// Nothing (SIGCONT's going on is the host kernel's business).
    Ignore,
}

/// One row a signal that has a name: `NAME = Alpha's number, the host's, default action`.
/// Alpha's EMT, which Linux never sends, is paired with the host's STKFLT, of which the same is
/// true; so the numbering is a permutation and nothing is lost. Signals from 32 on are the same
/// number on both. Source: the kernel's UAPI header `asm/signal.h` for Alpha.
macro_rules! for_each_signal {
    ($m:ident) => {
        $m! {
            HUP = 1, libc::SIGHUP, Terminate;
            INT = 2, libc::SIGINT, Terminate;
            QUIT = 3, libc::SIGQUIT, Core;
            ILL = 4, libc::SIGILL, Core;
            TRAP = 5, libc::SIGTRAP, Core;
            ABRT = 6, libc::SIGABRT, Core;
            EMT = 7, libc::SIGSTKFLT, Core;
            FPE = 8, libc::SIGFPE, Core;
            KILL = 9, libc::SIGKILL, Terminate;
            BUS = 10, libc::SIGBUS, Core;
            SEGV = 11, libc::SIGSEGV, Core;
            SYS = 12, libc::SIGSYS, Core;
            PIPE = 13, libc::SIGPIPE, Terminate;
            ALRM = 14, libc::SIGALRM, Terminate;
            TERM = 15, libc::SIGTERM, Terminate;
            URG = 16, libc::SIGURG, Ignore;
            STOP = 17, libc::SIGSTOP, Stop;
            TSTP = 18, libc::SIGTSTP, Stop;
            CONT = 19, libc::SIGCONT, Ignore;
            CHLD = 20, libc::SIGCHLD, Ignore;
            TTIN = 21, libc::SIGTTIN, Stop;
            TTOU = 22, libc::SIGTTOU, Stop;
            IO = 23, libc::SIGIO, Terminate;
            XCPU = 24, libc::SIGXCPU, Core;
            XFSZ = 25, libc::SIGXFSZ, Core;
            VTALRM = 26, libc::SIGVTALRM, Terminate;
            PROF = 27, libc::SIGPROF, Terminate;
            WINCH = 28, libc::SIGWINCH, Ignore;
            PWR = 29, libc::SIGPWR, Terminate;
            USR1 = 30, libc::SIGUSR1, Terminate;
            USR2 = 31, libc::SIGUSR2, Terminate;
        }
    };
}

macro_rules! define_signals {
    ($($name:ident = $alpha:literal, $host:expr, $default:ident;)*) => {
        impl Signal {
            $(#[doc = concat!("SIG", stringify!($name), ".")]
            pub const $name: Signal = Signal($alpha);)*
        }

        const TO_HOST: [u8; 32] = {
            let mut table = [0; 32];
            $(table[$alpha] = $host as u8;)*
            table
        };

        const FROM_HOST: [u8; 32] = {
            let mut table = [0; 32];
            $(table[$host as usize] = $alpha;)*
            table
        };

        const DEFAULTS: [DefaultAction; 32] = {
            let mut table = [DefaultAction::Terminate; 32];
            $(table[$alpha] = DefaultAction::$default;)*
            table
        };

        const NAMES: [&str; 32] = {
            let mut table = ["0"; 32];
            $(table[$alpha] = concat!("SIG", stringify!($name));)*
            table
        };
    };
}
for_each_signal!(define_signals);

impl Signal {
    /// The last signal.
    pub const MAX: u8 = 64;

    /// The signal with Alpha's number `n`.
    #[must_use]
    pub fn new(n: u64) -> Option<Signal> {
        (1..=u64::from(Signal::MAX)).contains(&n).then_some(Signal(n as u8))
    }

    /// The signal with the host's number `n`.
    #[must_use]
    pub fn from_host(n: i32) -> Option<Signal> {
        let n = u8::try_from(n).ok().filter(|n| (1..=Signal::MAX).contains(n))?;
        Some(Signal(FROM_HOST.get(usize::from(n)).copied().unwrap_or(n)))
    }

    /// Alpha's number.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The host's number.
    #[must_use]
    pub fn host(self) -> i32 {
        i32::from(TO_HOST.get(usize::from(self.0)).copied().unwrap_or(self.0))
    }

    /// What it does by default.
    #[must_use]
    pub fn default_action(self) -> DefaultAction {
        DEFAULTS.get(usize::from(self.0)).copied().unwrap_or(DefaultAction::Terminate)
    }

    /// Whether it ends a process by default.
    #[must_use]
    pub fn ends(self) -> bool {
        matches!(self.default_action(), DefaultAction::Terminate | DefaultAction::Core)
    }

    /// Whether Linux writes a core dump of a process that it ends.
    #[must_use]
    pub fn dumps_core(self) -> bool {
        self.default_action() == DefaultAction::Core
    }

    /// Every signal.
    pub fn all() -> impl Iterator<Item = Signal> {
        (1..=Signal::MAX).map(Signal)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => write!(f, "SIGRT_{}", self.0 - 32),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of signals, as the guest's kernel keeps it: signal n is bit n - 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SigSet(pub u64);

impl SigSet {
    /// No signal.
    pub const EMPTY: SigSet = SigSet(0);
    /// KILL and STOP, which can't be blocked.
    pub const UNBLOCKABLE: SigSet = SigSet(1 << (Signal::KILL.0 - 1) | 1 << (Signal::STOP.0 - 1));

    /// The set of one.
    #[must_use]
    pub fn of(signal: Signal) -> SigSet {
        SigSet(1 << (signal.0 - 1))
    }

    /// Whether `signal` is in it.
    #[must_use]
    pub fn has(self, signal: Signal) -> bool {
        self.0 & SigSet::of(signal).0 != 0
    }

    /// The signals of either.
    #[must_use]
    pub fn with(self, other: SigSet) -> SigSet {
        SigSet(self.0 | other.0)
    }

    /// The signals of this that aren't in `other`.
    #[must_use]
    pub fn without(self, other: SigSet) -> SigSet {
        SigSet(self.0 & !other.0)
    }

    /// The host's kernel's set of the same signals.
    #[must_use]
    pub fn host(self) -> u64 {
        Signal::all().filter(|s| self.has(*s)).fold(0, |set, s| set | 1 << (s.host() - 1))
    }

    /// The same signals as the host's kernel's set.
    #[must_use]
    pub fn from_host(set: u64) -> SigSet {
        Signal::all()
            .filter(|s| set & 1 << (s.host() - 1) != 0)
            .fold(SigSet::EMPTY, |all, s| all.with(SigSet::of(s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbering_is_a_permutation() {
        let mut hosts: Vec<i32> = Signal::all().map(Signal::host).collect();
        for s in Signal::all() {
            assert_eq!(Signal::from_host(s.host()), Some(s));
        }
        hosts.sort_unstable();
        assert_eq!(hosts, (1..=64).collect::<Vec<_>>());
        assert_eq!(Signal::new(0), None);
        assert_eq!(Signal::new(65), None);
        assert_eq!(Signal::from_host(0), None);
    }

    /// Values: `asm/signal.h` of either architecture.
    #[test]
    fn sets_translate() {
        let set = SigSet::of(Signal::CHLD).with(SigSet::of(Signal::USR1));
        assert_eq!(set.0, 1 << 19 | 1 << 29);
        assert_eq!(set.host(), 1 << 16 | 1 << 9);
        assert_eq!(SigSet::from_host(set.host()), set);
        assert_eq!(SigSet(u64::MAX).host(), u64::MAX);
        assert_eq!(Signal::BUS.to_string(), "SIGBUS");
        assert_eq!(Signal::new(34).unwrap().to_string(), "SIGRT_2");
    }
}
