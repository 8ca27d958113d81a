//! What changed of the guest's code, for machines that have decoded it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::machine::bus::{Bus, PAGE_SIZE};

/// Changes that are remembered; a machine that missed more looks at all that it has.
const MOST: usize = 64;

/// A change of the guest's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Other code, or none, is at these addresses.
    Range(Range<u64>),
    /// The guest said that it may have stored code.
    Barrier,
}

/// The changes of an engine's code, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    last: AtomicU64,
    recent: Mutex<VecDeque<Change>>,
}

impl Changes {
    /// The number of the last one.
    #[inline]
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    pub fn add(&self, change: Change) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == MOST {
            recent.pop_front();
        }
        recent.push_back(change);
        self.last.fetch_add(1, Ordering::Release);
    }

    /// Those after number `seen`, and the number of the last; None if that is too long ago.
    pub fn since(&self, seen: u64) -> (u64, Option<Vec<Change>>) {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.last.load(Ordering::Acquire);
        let missed = last.wrapping_sub(seen) as usize;
        let known = missed <= recent.len();
        (last, known.then(|| recent.iter().skip(recent.len() - missed).cloned().collect()))
    }
}

/// The pages whose code some changes may have changed.
pub(crate) struct Pages<'a> {
    bus: &'a dyn Bus,
    /// None: all.
    changes: Option<&'a [Change]>,
    known: HashMap<u64, bool>,
}

impl<'a> Pages<'a> {
    pub fn of(bus: &'a dyn Bus, changes: Option<&'a [Change]>) -> Pages<'a> {
        Pages { bus, changes, known: HashMap::new() }
    }

    /// Whether it is one: the address of a page.
    pub fn has(&mut self, page: u64) -> bool {
        let (bus, Some(changes)) = (self.bus, self.changes) else { return true };
        *self.known.entry(page).or_insert_with(|| {
            changes.iter().any(|c| match c {
                Change::Range(r) => page < r.end && page.saturating_add(PAGE_SIZE) > r.start,
                Change::Barrier => bus.may_change(page),
            })
        })
    }

    /// Whether one of them has an address of `len` bytes from `start` on.
    pub fn have(&mut self, start: u64, len: u64) -> bool {
        let first = start & !(PAGE_SIZE - 1);
        let last = start.saturating_add(len.saturating_sub(1)) & !(PAGE_SIZE - 1);
        (first..=last).step_by(PAGE_SIZE as usize).any(|page| self.has(page))
    }
}

/// Whether memory holds these words, as instructions.
pub(crate) fn holds(bus: &dyn Bus, pc: u64, words: impl ExactSizeIterator<Item = u32>) -> bool {
    let mut buffer = [0u32; 64];
    let (mut at, mut have) = (0, 0);
    let mut next = pc;
    let mut left = words.len();
    for want in words {
        if at == have {
            let most = left.min(buffer.len());
            have = match bus.fetch(next, &mut buffer[..most]) {
                Ok(n) if n > 0 => n.min(most),
                Ok(_) | Err(_) => return false,
            };
            at = 0;
            left -= have;
            next = next.wrapping_add(4 * have as u64);
        }
        if buffer[at] != want {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlatMemory;

    #[test]
    fn changes_are_told_once() {
        let changes = Changes::default();
        assert_eq!(changes.since(0), (0, Some(Vec::new())));
        changes.add(Change::Range(8..16));
        changes.add(Change::Barrier);
        assert_eq!(changes.since(0), (2, Some(vec![Change::Range(8..16), Change::Barrier])));
        assert_eq!(changes.since(1), (2, Some(vec![Change::Barrier])));
        for _ in 0..MOST {
            changes.add(Change::Barrier);
        }
        assert_eq!(changes.since(1), (2 + MOST as u64, None));
        assert_eq!(changes.since(2).1.map(|c| c.len()), Some(MOST));
    }

    #[test]
    fn words_are_compared_to_the_end() {
        let memory = FlatMemory::new(0x1000);
        let words: Vec<u32> = (0..200).collect();
        for (i, w) in words.iter().enumerate() {
            memory.write(0x800 + 4 * i as u64, &w.to_le_bytes()).unwrap();
        }
        assert!(holds(&memory, 0x800, words.iter().copied()));
        for i in [0, 63, 64, 128, 199] {
            let mut other = words.clone();
            other[i] ^= 1;
            assert!(!holds(&memory, 0x800, other.into_iter()), "{i}");
        }
        assert!(holds(&memory, 0xffc, [0].into_iter()));
        assert!(!holds(&memory, 0xffc, [0, 0].into_iter()));
    }
}
