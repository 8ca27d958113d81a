//! Which events there are: those of the kernel, and those of a performance monitor.

use axperf::perf::{Attr, AttrFlags, Event, Source};

use crate::errno::Errno;

/// `PERF_TYPE_*` of a performance monitor's events.
mod kind {
    pub const HARDWARE: u32 = 0;
    pub const HW_CACHE: u32 = 3;
    pub const RAW: u32 = 4;
}

/// The performance monitor that a guest finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Pmu {
    /// What axperf can count, with everything that can be asked of it: modes can be excluded, and
    /// addresses are exact.
    #[default]
    Full,
    /// That of an EV67, with what Linux's driver refuses.
    Ev67,
    /// None.
    None,
}

/// What the driver for the EV67 doesn't know how to leave out.
const EXCLUDES: AttrFlags = AttrFlags::EXCLUDE_USER
    .union(AttrFlags::EXCLUDE_KERNEL)
    .union(AttrFlags::EXCLUDE_HV)
    .union(AttrFlags::EXCLUDE_IDLE)
    .union(AttrFlags::EXCLUDE_HOST)
    .union(AttrFlags::EXCLUDE_GUEST);

/// `PERF_COUNT_HW_CACHE_REFERENCES`: the driver's table says that it is not supported, by -1, which
/// comes out as EPERM.
const CACHE_REFERENCES: u64 = 2;

impl Pmu {
    /// Every one.
    pub const ALL: [Pmu; 3] = [Pmu::Full, Pmu::Ev67, Pmu::None];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Pmu::Full => "full",
            Pmu::Ev67 => "ev67",
            Pmu::None => "none",
        }
    }

    /// The event that attributes mean.
    pub(crate) fn event(self, attr: &Attr) -> Result<Event, Errno> {
        let event = attr.event();
        if ![kind::HARDWARE, kind::HW_CACHE, kind::RAW].contains(&attr.kind) {
            return Ok(event?);
        }
        match self {
            Pmu::None => Err(Errno(libc::ENOENT)),
            Pmu::Full => match event? {
                event if event.source() == Source::Never => Err(Errno(libc::ENOENT)),
                event => Ok(event),
            },
            Pmu::Ev67 if attr.kind == kind::HW_CACHE => Err(Errno(libc::EOPNOTSUPP)),
            Pmu::Ev67 if (attr.kind, attr.config) == (kind::HARDWARE, CACHE_REFERENCES) => {
                Err(Errno(libc::EPERM))
            }
            Pmu::Ev67 => match event {
                Ok(event) if !attr.flags.intersects(EXCLUDES) => Ok(event),
                _ => Err(Errno(libc::EINVAL)),
            },
        }
    }

    /// Whether one more event fits into a group. An EV67 has two counters, which don't count every
    /// pair.
    pub(crate) fn fits(self, group: &[Event], one_more: Event) -> bool {
        let mut counted: Vec<Event> =
            group.iter().copied().chain([one_more]).filter(|e| e.is_hardware()).collect();
        if self != Pmu::Ev67 || counted.len() < 2 {
            return true;
        }
        counted.sort_by_key(|e| e.raw());
        const PAIRS: [[Event; 2]; 3] = [
            [Event::Cycles, Event::Instructions],
            [Event::Instructions, Event::CacheMisses],
            [Event::Cycles, Event::MboxReplays],
        ];
        PAIRS.iter().any(|pair| *pair == counted[..])
    }
}

impl std::str::FromStr for Pmu {
    type Err = String;

    fn from_str(name: &str) -> Result<Pmu, String> {
        let found = Pmu::ALL.into_iter().find(|p| p.name() == name);
        found.ok_or_else(|| format!("there is no PMU `{name}`: use `full`, `ev67` or `none`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs: `arch/alpha/kernel/perf_event.c`.
    #[test]
    fn an_ev67_counts_some_pairs() {
        use Event::{CacheMisses, CpuClock, Cycles, Instructions, MboxReplays};
        let fits = |group: &[Event], more| Pmu::Ev67.fits(group, more);
        assert!(fits(&[Cycles], Instructions) && fits(&[Instructions], Cycles));
        assert!(fits(&[CacheMisses], Instructions) && fits(&[MboxReplays], Cycles));
        assert!(!fits(&[CacheMisses], Cycles) && !fits(&[Instructions], MboxReplays));
        assert!(!fits(&[Cycles, Instructions], CacheMisses));
        assert!(fits(&[Cycles, CpuClock], Instructions));
        assert!(Pmu::Full.fits(&[Cycles, Instructions], Cycles));
    }
}
