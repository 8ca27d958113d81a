//! Signals in gdb's numbering, which is its own.
//!
//! It has Alpha's numbers up to 31, but for SIGPWR; those of Linux's real-time signals aren't in
//! order. Source: the table of the protocol's signal numbers, gdb's `gdb/signals.def`.

use gdbstub::common::Signal as GdbSignal;

use crate::signo::Signal;

/// gdb's number of a signal.
pub(crate) fn to_gdb(signal: Signal) -> GdbSignal {
    match signal.number() {
        29 => GdbSignal::SIGPWR,
        32 => GdbSignal::SIG32,
        64 => GdbSignal::SIG64,
        n @ 33..=63 => GdbSignal(GdbSignal::SIG33.0 + (n - 33)),
        n => GdbSignal(n),
    }
}

/// The signal with gdb's number; None for one that Linux/alpha doesn't have.
pub(crate) fn from_gdb(signal: GdbSignal) -> Option<Signal> {
    Signal::all().find(|s| to_gdb(*s) == signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// gdbstub's constants, by name.
    #[test]
    fn names_agree() {
        for (signal, gdb) in [
            (Signal::TRAP, GdbSignal::SIGTRAP),
            (Signal::BUS, GdbSignal::SIGBUS),
            (Signal::SYS, GdbSignal::SIGSYS),
            (Signal::URG, GdbSignal::SIGURG),
            (Signal::CHLD, GdbSignal::SIGCHLD),
            (Signal::WINCH, GdbSignal::SIGWINCH),
            (Signal::PWR, GdbSignal::SIGPWR),
            (Signal::USR1, GdbSignal::SIGUSR1),
            (Signal::USR2, GdbSignal::SIGUSR2),
        ] {
            assert_eq!(to_gdb(signal), gdb, "{signal}");
        }
        let real_time = Signal::new(40).expect("a signal");
        assert_eq!(to_gdb(real_time), GdbSignal::SIG40);
    }

    #[test]
    fn all_come_back() {
        for signal in Signal::all() {
            assert_eq!(from_gdb(to_gdb(signal)), Some(signal));
        }
        assert_eq!(from_gdb(GdbSignal::SIGLOST), None);
        assert_eq!(from_gdb(GdbSignal(0)), None);
        assert_eq!(from_gdb(GdbSignal(255)), None);
    }
}
