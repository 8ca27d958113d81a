//! Throttling: no more than so many samples in a tick of the kernel's clock.

/// Nanoseconds of a tick: Linux/alpha has 1024 a second.
const TICK: u64 = 1_000_000_000 / 1024;

/// What becomes of a sample that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is taken.
    Take,
    /// It is taken, after a record that there were none for a while.
    Resume,
    /// It is taken, after a record that there will be none until the next tick.
    Last,
    /// It isn't.
    Skip,
}

/// Counts the samples of a tick.
#[derive(Clone, Debug)]
pub(crate) struct Throttle {
    most: u64,
    tick: u64,
    samples: u64,
    stopped: bool,
}

impl Throttle {
    /// At most so many samples a second, on average over a tick.
    pub fn new(rate: u64) -> Throttle {
        Throttle { most: rate.div_ceil(1024).max(1), tick: 0, samples: 0, stopped: false }
    }

    /// A sample is due.
    pub fn sample(&mut self, time: u64) -> Verdict {
        let mut verdict = Verdict::Take;
        let tick = time / TICK;
        if tick != self.tick {
            (self.tick, self.samples) = (tick, 0);
            if std::mem::take(&mut self.stopped) {
                verdict = Verdict::Resume;
            }
        }
        if self.stopped {
            return Verdict::Skip;
        }
        self.samples += 1;
        if self.samples < self.most {
            return verdict;
        }
        self.stopped = true;
        Verdict::Last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `perf_event_max_sample_rate` 100000 and HZ 1024: 98 samples a tick (`kernel/events/core.c`,
    /// `max_samples_per_tick`).
    #[test]
    fn ninety_eight_a_tick() {
        let mut t = Throttle::new(100_000);
        for tick in 0..3 {
            let at = |i: u64| tick * TICK + i * 1000;
            let verdicts: Vec<_> = (1..=200).map(|i| t.sample(at(i))).collect();
            assert_eq!(verdicts[0], if tick == 0 { Verdict::Take } else { Verdict::Resume });
            assert!(verdicts[1..97].iter().all(|v| *v == Verdict::Take));
            assert_eq!(verdicts[97], Verdict::Last);
            assert!(verdicts[98..].iter().all(|v| *v == Verdict::Skip));
        }
    }
}
