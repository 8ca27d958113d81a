//! perf's syntax of events: names, modifiers, groups, several of them.
//!
//! `cycles,{instructions:u,task-clock}:k` are three events, the last two a group. A name is one of
//! [`Event`]'s, or `r` and a number in hexadecimal, an event of the CPU's performance monitor.

use std::str::FromStr;

use super::bits::AttrFlags;
use super::event::{Event, EventError};

/// `PERF_TYPE_RAW`.
const RAW: u32 = 4;

/// An event as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSpec {
    /// The event.
    pub event: Event,
    /// What it was called, modifiers included.
    pub name: String,
    /// What the modifiers mean: modes that are excluded, and how precise an address is to be.
    pub flags: AttrFlags,
    /// Number of the group that it belongs to, of those in the list; its first member leads it.
    pub group: Option<usize>,
    /// Whether the modifiers say which modes count.
    pub has_modes: bool,
}

/// Events, from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventList(pub Vec<EventSpec>);

impl FromStr for EventList {
    type Err = EventError;

    fn from_str(text: &str) -> Result<EventList, EventError> {
        let mut specs = Vec::new();
        let (mut rest, mut groups) = (text, 0);
        loop {
            if let Some(inner) = rest.strip_prefix('{') {
                let (members, after) = inner.split_once('}').ok_or(EventError::Group)?;
                let end = after.find(',').unwrap_or(after.len());
                let modifiers = match &after[..end] {
                    "" => "",
                    m => m.strip_prefix(':').ok_or(EventError::Group)?,
                };
                for name in members.split(',') {
                    specs.push(spec(name, modifiers, Some(groups))?);
                }
                groups += 1;
                rest = &after[end..];
            } else {
                let end = rest.find(',').unwrap_or(rest.len());
                specs.push(spec(&rest[..end], "", None)?);
                rest = &rest[end..];
            }
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return Ok(EventList(specs)),
            }
        }
    }
}

/// One event; `more` are the modifiers of its group.
fn spec(text: &str, more: &str, group: Option<usize>) -> Result<EventSpec, EventError> {
    let text = text.trim();
    if text.contains(['{', '}']) {
        return Err(EventError::Group);
    }
    let (name, modifiers) = text.split_once(':').unwrap_or((text, ""));
    let raw = name.strip_prefix('r').and_then(|n| u64::from_str_radix(n, 16).ok());
    let event = match raw {
        Some(config) => Event::from_kind_config(RAW, config)
            .ok_or_else(|| EventError::Unknown(name.to_owned()))?,
        None => name.parse()?,
    };
    let mut flags = AttrFlags::EMPTY;
    let (mut modes, mut precise) = (AttrFlags::EMPTY, 0u64);
    for letter in modifiers.chars().chain(more.chars()) {
        match letter {
            'u' => modes |= AttrFlags::EXCLUDE_USER,
            'k' => modes |= AttrFlags::EXCLUDE_KERNEL,
            'h' => modes |= AttrFlags::EXCLUDE_HV,
            'p' => precise = (precise + 1).min(3),
            'P' => precise = 3,
            'D' => flags |= AttrFlags::PINNED,
            'e' => flags |= AttrFlags::EXCLUSIVE,
            'H' => flags |= AttrFlags::EXCLUDE_GUEST,
            'G' => flags |= AttrFlags::EXCLUDE_HOST,
            'I' => flags |= AttrFlags::EXCLUDE_IDLE,
            other => return Err(EventError::Modifier(other)),
        }
    }
    let all = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
    let has_modes = !modes.is_empty();
    if has_modes {
        flags |= all.without(modes);
    }
    flags |= AttrFlags::from_bits(precise << 15);
    let name = match (modifiers, more) {
        (_, "") => text.to_owned(),
        ("", more) => format!("{name}:{more}"),
        (own, more) => format!("{name}:{own}{more}"),
    };
    Ok(EventSpec { event, name, flags, group, has_modes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<EventSpec> {
        text.parse::<EventList>().unwrap().0
    }

    /// What perf 6.1 opens for these, by `perf record -vv`: `u` excludes kernel and hypervisor, `k`
    /// user and hypervisor, `uk` the hypervisor, `pp` is precise_ip 2.
    #[test]
    fn modifiers_are_perf_s() {
        use AttrFlags as F;
        for (text, flags) in [
            ("cycles", F::EMPTY),
            ("cycles:u", F::EXCLUDE_KERNEL | F::EXCLUDE_HV),
            ("cycles:k", F::EXCLUDE_USER | F::EXCLUDE_HV),
            ("cycles:uk", F::EXCLUDE_HV),
            ("cycles:pp", F::PRECISE_IP_HI),
            ("cycles:upp", F::EXCLUDE_KERNEL | F::EXCLUDE_HV | F::PRECISE_IP_HI),
            ("cycles:P", F::PRECISE_IP_LO | F::PRECISE_IP_HI),
            ("cycles:D", F::PINNED),
        ] {
            assert_eq!(list(text)[0].flags, flags, "{text}");
            assert_eq!(list(text)[0].name, text);
        }
    }

    #[test]
    fn lists_and_groups() {
        let specs = list("cs,{instructions:u,task-clock}:k, r1,{dummy}");
        let shown: Vec<_> = specs.iter().map(|s| (s.event, s.name.as_str(), s.group)).collect();
        assert_eq!(
            shown,
            [
                (Event::ContextSwitches, "cs", None),
                (Event::Instructions, "instructions:uk", Some(0)),
                (Event::TaskClock, "task-clock:k", Some(0)),
                (Event::Cycles, "r1", None),
                (Event::Dummy, "dummy", Some(1)),
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bad = |text: &str| text.parse::<EventList>().unwrap_err();
        assert_eq!(bad("cycles:x"), EventError::Modifier('x'));
        for text in ["{cycles", "cycles}", "{cycles,{cs}}", "{cycles}k"] {
            assert_eq!(bad(text), EventError::Group, "{text}");
        }
        assert_eq!(bad("r99"), EventError::Unknown("r99".into()));
        assert_eq!(bad("cycles,"), EventError::Unknown(String::new()));
    }
}
