//! Sampling by frequency: the period that gives so many samples a second.

use super::attr::Attr;
use super::bits::AttrFlags;
use super::event::{Event, Source};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Instructions a second that the first period of a counter of the CPU's assumes.
const GUESSED_RATE: u64 = 100_000_000;

/// A frequency, and how often events came of late.
#[derive(Clone, Debug)]
pub(crate) struct Frequency {
    /// Samples a second.
    wanted: u64,
    source: Source,
    /// Time of the last sample, and the events counted by then.
    last: Option<(u64, u64)>,
}

impl Frequency {
    /// What the attributes ask for, if it is a frequency.
    pub fn of(attr: &Attr, event: Event) -> Option<Frequency> {
        let asked = attr.flags.contains(AttrFlags::FREQ) && attr.sample_period > 0;
        asked.then(|| Frequency { wanted: attr.sample_period, source: event.source(), last: None })
    }

    /// The period to begin with.
    pub fn first_period(&self) -> u64 {
        match self.source {
            Source::Time => (SECOND / self.wanted).max(1),
            Source::Retired => (GUESSED_RATE / self.wanted).max(1),
            Source::Raised | Source::Never => 1,
        }
    }

    /// The period after a sample at `time`, when `events` were counted, with this period before.
    /// It goes an eighth of the way to the one that would have been right since the last sample; a
    /// clock's never changes.
    pub fn next_period(&mut self, time: u64, events: u64, period: u64) -> u64 {
        let last = self.last.replace((time, events));
        let (Some((then, before)), false) = (last, self.source == Source::Time) else {
            return period;
        };
        let passed = u128::from(time.saturating_sub(then).max(1)) * u128::from(self.wanted);
        let counted = u128::from(events.wrapping_sub(before)) * u128::from(SECOND);
        let right = i128::try_from(counted / passed).unwrap_or(i128::MAX);
        let delta = right - i128::from(period);
        let step = (delta + 7 * delta.signum()) / 8;
        (i128::from(period) + step).clamp(1, i128::from(i64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequency(event: Event, wanted: u64) -> Frequency {
        Frequency::of(&Attr::new(event, wanted).with_flags(AttrFlags::FREQ), event).unwrap()
    }

    /// Seen on Linux: 100 samples a second are one in 10000000 ns from the first on, 4000 one in
    /// 250000.
    #[test]
    fn clocks_have_a_constant_period() {
        for (wanted, period) in [(100, 10_000_000), (4000, 250_000)] {
            let mut f = frequency(Event::CpuClock, wanted);
            assert_eq!(f.first_period(), period);
            assert_eq!(f.next_period(5, 1, period), period);
            assert_eq!(f.next_period(6, 2, period), period);
        }
    }

    /// At a steady rate the period comes to what the frequency needs.
    #[test]
    fn period_follows_the_rate() {
        for (rate, wanted) in [(1_000_000_000u64, 1000), (5_000, 1000), (300_000_000, 1)] {
            let mut f = frequency(Event::Instructions, wanted);
            let (mut period, mut time, mut events) = (f.first_period(), 0u64, 0u64);
            for _ in 0..200 {
                events += period;
                time += (u128::from(period) * u128::from(SECOND) / u128::from(rate)) as u64;
                period = f.next_period(time, events, period);
            }
            let right = rate / wanted;
            assert!(period.abs_diff(right) <= 8.max(right / 100), "{rate} {wanted}: {period}");
        }
    }

    /// Whatever the clock does, a period is at least 1.
    #[test]
    fn wild_clocks_are_harmless() {
        let mut f = frequency(Event::Instructions, 1);
        let mut period = 1;
        for time in [0, u64::MAX, 0, 1, u64::MAX, u64::MAX] {
            period = f.next_period(time, time.wrapping_mul(3), period);
            assert!((1..=i64::MAX as u64).contains(&period));
        }
        assert!(Frequency::of(&Attr::new(Event::Cycles, 5), Event::Cycles).is_none());
    }
}
