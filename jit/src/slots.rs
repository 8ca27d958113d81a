//! Which slot stands for which guest address, and which are free.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use crate::variant::Mode;

/// Which slot stands for a guest address in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(crate) u32);

/// A slot in memory, as translated code reads it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct SlotCell {
    pub code: AtomicUsize,
    pub pc: AtomicU64,
}

const _: () = assert!(std::mem::size_of::<SlotCell>() == 16);

/// Slots of a cache at most.
pub(crate) const SLOTS: usize = 1 << 20;

/// Slots by guest address and mode.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    index: HashMap<(u64, Mode), Slot>,
    /// How often code names each, and leads to it: those with 0 can be given to another address,
    /// once machines have forgotten them.
    holds: Vec<u32>,
    free: Vec<Slot>,
}

impl Slots {
    pub fn get(&self, pc: u64, mode: Mode) -> Option<Slot> {
        self.index.get(&(pc, mode)).copied()
    }

    /// A slot for an address that has none; None if there are no more.
    pub fn add(&mut self, pc: u64, mode: Mode) -> Option<Slot> {
        let slot = self.free.pop().or_else(|| {
            (self.holds.len() < SLOTS).then(|| {
                self.holds.push(0);
                Slot(self.holds.len() as u32 - 1)
            })
        })?;
        self.index.insert((pc, mode), slot);
        Some(slot)
    }

    pub fn hold(&mut self, slot: Slot) {
        self.holds[slot.0 as usize] += 1;
    }

    pub fn release(&mut self, slot: Slot) {
        self.holds[slot.0 as usize] -= 1;
    }

    /// Takes their addresses from those that nothing holds and nobody waits for. They are to be
    /// [freed](Slots::free) when machines have forgotten them.
    pub fn sweep(&mut self, waits: impl Fn(Slot) -> bool) -> Vec<Slot> {
        let mut swept = Vec::new();
        let holds = &self.holds;
        self.index.retain(|_, slot| {
            let keep = holds[slot.0 as usize] > 0 || waits(*slot);
            if !keep {
                swept.push(*slot);
            }
            keep
        });
        swept
    }

    pub fn free(&mut self, slots: Vec<Slot>) {
        self.free.extend(slots);
    }

    /// No code holds any slot any more.
    pub fn release_all(&mut self) {
        self.holds.fill(0);
    }

    /// Those that stand for an address, and their modes.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, Mode)> {
        self.index.iter().map(|((_, mode), slot)| (*slot, *mode))
    }
}
