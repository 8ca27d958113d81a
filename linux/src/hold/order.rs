//! Why a thread stops the process, and what it is told then.

use std::ops::Range;

use axperf::Access;

use crate::signo::Signal;

/// Why a thread stops the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It came to a breakpoint.
    Breakpoint,
    /// It has done the step that it was told to do.
    Step,
    /// It accessed what is watched at this address.
    Watch(u64, Access),
    /// A signal is about to be delivered.
    Signal(Signal),
    /// Another program has begun.
    Exec,
    /// The debugger lets no thread run, or the one that it let run has gone.
    Alone,
}

impl Event {
    /// Whether it is lost if another thread's comes first. The others come again by themselves.
    pub fn is_kept(self) -> bool {
        matches!(self, Event::Watch(..) | Event::Signal(_) | Event::Exec)
    }
}

/// How a thread is to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Go {
    /// Until something happens.
    #[default]
    On,
    /// One instruction, and more while the pc is in this range.
    Step(Range<u64>),
    /// Not at all.
    Stay,
}

/// What becomes of the signal that a thread stopped for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pass {
    /// It is delivered.
    #[default]
    AsItCame,
    /// It is dropped.
    Nothing,
    /// This one is delivered, whether there was one or not.
    Instead(Signal),
}

/// What a thread is told when it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub go: Go,
    pub pass: Pass,
}

impl Order {
    /// This order, given before the earlier one was carried out: its signal is still to be delivered.
    pub fn after(self, earlier: Option<&Order>) -> Order {
        match earlier {
            Some(earlier) if self.pass == Pass::Nothing => Order { pass: earlier.pass, ..self },
            Some(_) | None => self,
        }
    }
}
