//! Which registers a region must load, store at its exits, and keep.
//!
//! Registers are bits: integer registers low, floating-point registers high.

use axperf_isa::{Flags, Insn, Shape};

use crate::homes;
use crate::region::{Block, Edge, Region};
use crate::variant::Mode;

pub(crate) fn reads(insn: &Insn) -> u64 {
    u64::from(insn.int_reads()) | u64::from(insn.fp_reads()) << 32
}

pub(crate) fn writes(insn: &Insn) -> u64 {
    u64::from(insn.int_writes()) | u64::from(insn.fp_writes()) << 32
}

/// Whether it is a load or a store.
pub(crate) fn touches_memory(insn: &Insn) -> bool {
    let flags = insn.desc().flags;
    flags.contains(Flags::LOAD) || flags.contains(Flags::STORE)
}

/// Whether it is never left to the interpreter.
pub(crate) fn stays(insn: &Insn) -> bool {
    use Shape::{Br, Branch, Cmov, FBranch, FCmov, FToI, IToF, Int, Jump, Lda};
    matches!(
        insn.desc().shape,
        Int | Cmov | Lda | Branch | FBranch | Br | Jump | FCmov | FToI | IToF
    )
}

/// Facts of each block's head.
#[derive(Debug)]
pub(crate) struct Registers {
    /// Those whose value the state may not have.
    pub dirty: Vec<u64>,
    /// Those that the program can still see.
    pub live: Vec<u64>,
    /// Those that live in values; the others are read from the state and written to it each time.
    pub values: u64,
}

impl Registers {
    pub fn of(region: &Region, mode: Mode) -> Registers {
        let n = region.blocks.len();
        let values = homes::values(region);
        let mut dirty = vec![0u64; n];
        let mut changed = true;
        while changed {
            changed = false;
            for (b, block) in region.blocks.iter().enumerate() {
                let mut d = dirty[b];
                for insn in &block.insns {
                    d = dirty_after(d, insn, mode, values);
                }
                for edge in &block.edges {
                    if let Edge::Inside(t) = *edge
                        && dirty[t] | d != dirty[t]
                    {
                        dirty[t] |= d;
                        changed = true;
                    }
                }
            }
        }
        let mut live = vec![0u64; n];
        changed = true;
        while changed {
            changed = false;
            for (b, block) in region.blocks.iter().enumerate().rev() {
                let mut l = live_at_end(region, b, &live);
                for insn in block.insns.iter().rev() {
                    l = live_before(l, insn);
                }
                if l != live[b] {
                    live[b] = l;
                    changed = true;
                }
            }
        }
        Registers { dirty, live, values }
    }
}

/// What the state may not have after an instruction, given which registers live in values.
pub(crate) fn dirty_after(dirty: u64, insn: &Insn, mode: Mode, values: u64) -> u64 {
    let kept = if mode.precise && touches_memory(insn) { 0 } else { dirty };
    kept | writes(insn) & values
}

/// Everything is seen by whoever comes after the region.
pub(crate) fn live_at_end(region: &Region, block: usize, live: &[u64]) -> u64 {
    let block = &region.blocks[block];
    let mut l = if leaves(block) { u64::MAX } else { 0 };
    for edge in &block.edges {
        if let Edge::Inside(t) = *edge {
            l |= live[t];
        }
    }
    l
}

/// Whether a way out of the region is at the block's end.
pub(crate) fn leaves(block: &Block) -> bool {
    block.edges.is_empty() || !block.guards.is_empty() || block.edges.contains(&Edge::Outside)
}

/// What is seen before an instruction, given what is after it.
pub(crate) fn live_before(live: u64, insn: &Insn) -> u64 {
    if insn.desc().shape == Shape::Stop || insn.desc().shape == Shape::Pal {
        return u64::MAX;
    }
    live & !writes(insn) | reads(insn)
}
