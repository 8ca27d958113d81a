//! The events that can be counted and sampled: a row each, all else derived.

use std::fmt;
use std::str::FromStr;

/// `PERF_TYPE_HARDWARE`.
const HARDWARE: u32 = 0;

/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;

/// `PERF_TYPE_RAW`: an event by the number that the PMU has for it.
const RAW: u32 = 4;

/// Who counts an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The machine, by retired instructions.
    Retired,
    /// A clock, in nanoseconds: whoever runs the machine says how much time passed.
    Time,
    /// Whoever runs the machine, each time it happens.
    Raised,
    /// Nobody: it never happens here.
    Never,
}

/// Calls `$m!` with one row per event:
/// `ID = "perf's name" ("other names")* type, config, raw config of an EV67, who counts;`.
#[macro_export]
macro_rules! for_each_event {
    ($m:ident) => {
        $m! {
            /// Retired instructions.
            Instructions = "instructions" () HARDWARE, 1, Some(2), Retired;
            /// Cycles. There is no model of cycles: a retired instruction is one.
            Cycles = "cycles" ("cpu-cycles") HARDWARE, 0, Some(1), Retired;
            /// Misses of the board's cache, which isn't modelled.
            CacheMisses = "cache-misses" () HARDWARE, 3, Some(3), Never;
            /// Replay traps of the memory unit, which isn't modelled.
            MboxReplays = "mbox-replays" () RAW, 4, Some(4), Never;
            /// Time on a CPU.
            CpuClock = "cpu-clock" () SOFTWARE, 0, None, Time;
            /// Time that the task ran.
            TaskClock = "task-clock" () SOFTWARE, 1, None, Time;
            /// Page faults.
            PageFaults = "page-faults" ("faults") SOFTWARE, 2, None, Raised;
            /// The task left its CPU.
            ContextSwitches = "context-switches" ("cs") SOFTWARE, 3, None, Raised;
            /// The task came to another CPU.
            CpuMigrations = "cpu-migrations" ("migrations") SOFTWARE, 4, None, Raised;
            /// Page faults without I/O.
            MinorFaults = "minor-faults" () SOFTWARE, 5, None, Raised;
            /// Page faults with I/O.
            MajorFaults = "major-faults" () SOFTWARE, 6, None, Raised;
            /// Accesses that weren't aligned and were made for the program.
            AlignmentFaults = "alignment-faults" () SOFTWARE, 7, None, Raised;
            /// Instructions that the CPU lacks and that were executed for the program.
            EmulationFaults = "emulation-faults" () SOFTWARE, 8, None, Raised;
            /// Nothing: carries the other records.
            Dummy = "dummy" () SOFTWARE, 9, None, Never;
            /// Output of BPF programs.
            BpfOutput = "bpf-output" () SOFTWARE, 10, None, Never;
            /// The CPU went on to a task of another control group.
            CgroupSwitches = "cgroup-switches" () SOFTWARE, 11, None, Never;
        }
    };
}

macro_rules! define_events {
    ($($(#[$doc:meta])* $id:ident = $name:literal ($($other:literal)*) $kind:ident, $config:literal, $raw:expr, $source:ident;)*) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Event { $($(#[$doc])* $id),* }

        impl Event {
            /// Every event.
            pub const ALL: &'static [Event] = &[$(Event::$id),*];

            /// perf's name.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Event::$id => $name),* } }

            /// Type and config in `struct perf_event_attr`.
            #[must_use]
            pub const fn kind_config(self) -> (u32, u64) { match self { $(Event::$id => ($kind, $config)),* } }

            /// Its number in the performance monitor of an EV67.
            #[must_use]
            pub const fn raw(self) -> Option<u64> { match self { $(Event::$id => $raw),* } }

            /// Who counts it.
            #[must_use]
            pub const fn source(self) -> Source { match self { $(Event::$id => Source::$source),* } }

            fn is_named(self, name: &str) -> bool {
                match self { $(Event::$id => name == $name $(|| name == $other)*),* }
            }
        }
    };
}
for_each_event!(define_events);

impl Event {
    /// The event with this type and config.
    #[must_use]
    pub fn from_kind_config(kind: u32, config: u64) -> Option<Event> {
        let is = |e: &Event| e.kind_config() == (kind, config);
        let is_raw = |e: &Event| kind == RAW && e.raw() == Some(config);
        Event::ALL.iter().copied().find(|e| is(e) || is_raw(e))
    }

    /// Whether the CPU's performance monitor counts it, not the kernel.
    #[must_use]
    pub const fn is_hardware(self) -> bool {
        self.raw().is_some()
    }

    /// Whether a command can ask for it: it happens here, or exists for not happening.
    fn is_offered(self) -> bool {
        match self {
            // Those that are no signal nobody counts yet.
            Event::PageFaults | Event::MinorFaults | Event::MajorFaults => false,
            Event::Dummy => true,
            other => other.source() != Source::Never,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no event here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// Nothing here counts it.
    #[error("nothing here counts `{0}`: use {list}", list = supported())]
    NeverCounted(String),
    /// Nobody has it.
    #[error("there is no event `{0}`: use {list}", list = supported())]
    Unknown(String),
    /// A letter after the colon.
    #[error("`{0}` is no modifier of an event: use `u`, `k`, `h`, `H`, `G`, `p`, `P` or `D`")]
    Modifier(char),
    /// `{` without `}`, or the other way.
    #[error("a group of events is `{{EVENT,...}}`, one level deep")]
    Group,
}

fn supported() -> String {
    let offered = Event::ALL.iter().filter(|e| e.is_offered());
    offered.map(|e| format!("`{e}`")).collect::<Vec<_>>().join(", ")
}

impl FromStr for Event {
    type Err = EventError;

    fn from_str(name: &str) -> Result<Event, EventError> {
        match Event::ALL.iter().find(|e| e.is_named(name)) {
            Some(&event) if event.is_offered() => Ok(event),
            Some(_) => Err(EventError::NeverCounted(name.to_owned())),
            None => Err(EventError::Unknown(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers: `linux/perf_event.h`; raw ones: `arch/alpha/kernel/perf_event.c`.
    #[test]
    fn names_and_numbers_resolve() {
        assert_eq!("instructions".parse(), Ok(Event::Instructions));
        assert_eq!("cs".parse(), Ok(Event::ContextSwitches));
        for &e in Event::ALL {
            let (kind, config) = e.kind_config();
            assert_eq!(Event::from_kind_config(kind, config), Some(e));
            assert_eq!(e.name().parse::<Event>().is_ok(), e.is_offered());
        }
        assert_eq!(Event::from_kind_config(4, 1), Some(Event::Cycles));
        assert_eq!(Event::from_kind_config(4, 2), Some(Event::Instructions));
        assert_eq!(Event::from_kind_config(4, 5), None);
        assert_eq!(Event::from_kind_config(1, 12), None);
        for config in 0..12 {
            assert!(Event::from_kind_config(1, config).is_some());
        }
    }

    #[test]
    fn unknown_names_say_what_there_is() {
        let say = |name: &str| name.parse::<Event>().unwrap_err().to_string();
        let list = supported();
        assert_eq!(say("cache-misses"), format!("nothing here counts `cache-misses`: use {list}"));
        assert_eq!(say("instrs"), format!("there is no event `instrs`: use {list}"));
        assert!(list.starts_with("`instructions`, `cycles`, `cpu-clock`, "));
    }
}
