//! Where a guest register lives in a region: in a value of the function's, which the register
//! allocator places, or in the state, from which it is read and to which it is written each time.
//!
//! Every register that a region writes must be in the state at its exits, so its value is alive up
//! to there, dead or not for the program. More of them than the host has registers would be spilled
//! by the allocator wherever it sees fit, in loops too; those that are used least stay in the state,
//! which costs what a spill does, and nothing at the entry and the exits.

use crate::flow::{reads, writes};
use crate::loops::depths;
use crate::region::Region;

/// Integer registers of the guest that live in values at most: the host has 13, some of which hold
/// what is computed meanwhile.
const INTS: usize = 11;
/// The same for floating-point registers.
const FPS: usize = 14;
/// A register of that weight is as well off in the state: what it would cost is at the entry and the
/// exits.
const LEAST: u64 = 2;
/// Loops within loops that count.
const DEEPEST: u32 = 4;

/// The registers that live in values, a bit each, integer registers low.
pub(crate) fn values(region: &Region) -> u64 {
    let depth = depths(region);
    let mut weight = [0u64; 64];
    for (b, block) in region.blocks.iter().enumerate() {
        let times = 8u64.pow(depth[b].min(DEEPEST));
        for insn in &block.insns {
            for r in bits_of(reads(insn)).chain(bits_of(writes(insn))) {
                weight[r] += times;
            }
        }
    }
    let chosen = |registers: std::ops::Range<usize>, most: usize| {
        let mut list: Vec<usize> = registers.filter(|&r| weight[r] > LEAST).collect();
        list.sort_by_key(|&r| (std::cmp::Reverse(weight[r]), r));
        list.iter().take(most).fold(0u64, |bits, r| bits | 1 << r)
    };
    chosen(0..31, INTS) | chosen(32..63, FPS)
}

fn bits_of(bits: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |r| bits >> r & 1 != 0)
}
