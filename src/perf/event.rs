//! The events that can be counted and sampled: a row each, all else derived.

use std::fmt;
use std::str::FromStr;

/// `PERF_TYPE_HARDWARE`.
const HARDWARE: u32 = 0;

/// Calls `$m!` with one row per event: `ID = "perf's name" ("other names")* type, config;`.
#[macro_export]
macro_rules! for_each_event {
    ($m:ident) => {
        $m! {
            /// Retired instructions.
            Instructions = "instructions" () HARDWARE, 1;
        }
    };
}

/// Names that perf knows and axperf can't count yet: they get an answer of their own.
const NOT_YET: &[&str] = &[
    "cycles",
    "cpu-cycles",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "cpu-clock",
    "task-clock",
    "page-faults",
    "faults",
    "minor-faults",
    "major-faults",
    "context-switches",
    "cs",
    "cpu-migrations",
    "migrations",
    "alignment-faults",
    "emulation-faults",
    "dummy",
];

macro_rules! define_events {
    ($($(#[$doc:meta])* $id:ident = $name:literal ($($other:literal)*) $kind:ident, $config:literal;)*) => {
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
        Event::ALL.iter().copied().find(|e| e.kind_config() == (kind, config))
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
    /// perf has it, axperf doesn't yet.
    #[error("event `{0}` isn't supported yet: use {list}", list = supported())]
    NotYet(String),
    /// Nobody has it.
    #[error("there is no event `{0}`: use {list}", list = supported())]
    Unknown(String),
}

fn supported() -> String {
    Event::ALL.iter().map(|e| format!("`{e}`")).collect::<Vec<_>>().join(", ")
}

impl FromStr for Event {
    type Err = EventError;

    fn from_str(name: &str) -> Result<Event, EventError> {
        if let Some(&event) = Event::ALL.iter().find(|e| e.is_named(name)) {
            return Ok(event);
        }
        let base = name.split(':').next().unwrap_or(name);
        if NOT_YET.contains(&base) || Event::ALL.iter().any(|e| e.is_named(base)) {
            return Err(EventError::NotYet(name.to_owned()));
        }
        Err(EventError::Unknown(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve() {
        assert_eq!("instructions".parse(), Ok(Event::Instructions));
        for &e in Event::ALL {
            assert_eq!(e.name().parse(), Ok(e));
            let (kind, config) = e.kind_config();
            assert_eq!(Event::from_kind_config(kind, config), Some(e));
        }
    }

    #[test]
    fn unknown_names_say_what_there_is() {
        let say = |name: &str| name.parse::<Event>().unwrap_err().to_string();
        assert_eq!(say("cycles"), "event `cycles` isn't supported yet: use `instructions`");
        assert_eq!(say("cycles:u"), "event `cycles:u` isn't supported yet: use `instructions`");
        assert_eq!(say("instrs"), "there is no event `instrs`: use `instructions`");
    }
}
