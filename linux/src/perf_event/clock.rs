//! Samples by time: when to look at the thread's clock.
//!
//! A timer's signal would be seen where translated code looks, at the heads of regions. Instead the
//! thread runs as many instructions as fit into the time that is left, by the rate so far, and
//! looks at its clock then. So a sample's place is a matter of how many instructions were executed,
//! and an instruction is hit as often as it is executed.

use super::attach::cpu_time;
use axperf::UNLIMITED;

/// Fewest and most instructions between two looks at the clock.
const FEWEST: u64 = 256;
const MOST: u64 = 1 << 16;

/// A thread's clock.
#[derive(Debug, Default)]
pub(crate) struct TaskClock {
    /// Some event counts.
    running: bool,
    /// CPU time when it was last looked at.
    seen: u64,
    /// Nanoseconds for 65536 instructions, as of late; 0 if it isn't known.
    pace: u64,
    /// Instructions run since the last look.
    stretch: u64,
    /// State of the generator that keeps looks from falling into step with the program.
    random: u64,
}

impl TaskClock {
    /// Events begin or cease to count.
    pub fn set_running(&mut self, on: bool) {
        if on && !self.running {
            self.seen = cpu_time();
        }
        self.running = on;
    }

    /// Instructions until the clock is to be looked at, with a sample due in `left` nanoseconds.
    pub fn fuel(&mut self, left: Option<u64>) -> u64 {
        let Some(left) = left else { return UNLIMITED };
        let fit = match self.pace {
            0 => FEWEST,
            pace => left.min(1 << 40) * MOST / pace,
        };
        let fit = fit.clamp(FEWEST, MOST);
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.stretch = fit + (self.random >> 40) % (fit / 4);
        self.stretch
    }

    /// Nanoseconds since the last look; `whole` if all instructions of the stretch were executed.
    pub fn look(&mut self, whole: bool) -> u64 {
        let now = cpu_time();
        let passed = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        if whole && self.stretch > 0 {
            self.pace = (passed * MOST / self.stretch).max(1);
        }
        passed
    }
}
