//! Blocks by address, direct-mapped.

use std::cell::Cell;

use crate::machine::block::{Block, Link};

/// Entries of the direct-mapped table of blocks.
const FRONT: usize = 4096;

/// The table: address and block.
pub(crate) type Table = [(Cell<u64>, Link); FRONT];

/// Where the block at an address is, if it is here.
#[inline(always)]
pub(crate) fn entry(table: &Table, pc: u64) -> &(Cell<u64>, Link) {
    &table[(pc >> 2) as usize % FRONT]
}

/// Blocks by address, direct-mapped: where computed jumps look.
#[derive(Debug)]
pub(crate) struct Front {
    entries: Box<Table>,
}

impl Front {
    /// No block's address.
    const NOWHERE: u64 = u64::MAX;

    /// Without blocks; `nothing` stands for none.
    pub fn new(nothing: *const Block) -> Front {
        let entry = |_| (Cell::new(Front::NOWHERE), Cell::new(nothing));
        let entries: Box<[_]> = (0..FRONT).map(entry).collect();
        Front { entries: entries.try_into().expect("as many as it has") }
    }

    pub fn table(&self) -> &Table {
        &self.entries
    }

    /// The block at an address, if it is here.
    #[inline(always)]
    pub fn find(&self, pc: u64) -> Option<*const Block> {
        let (at, block) = entry(&self.entries, pc);
        (at.get() == pc).then(|| block.get())
    }

    /// Puts a block here.
    pub fn put(&self, pc: u64, block: *const Block) {
        let (at, link) = entry(&self.entries, pc);
        at.set(pc);
        link.set(block);
    }

    /// Forgets all.
    pub fn clear(&self) {
        for (at, _) in self.entries.iter() {
            at.set(Front::NOWHERE);
        }
    }
}
