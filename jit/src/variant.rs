//! Which variants of a region there are, and how a counted one counts.

use crate::loops::depths;
use crate::region::{Edge, Region};

/// When translated code looks whether it should leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Poll {
    /// Never.
    Free,
    /// A flag, at entries and back-edges.
    Flag,
    /// A budget of instructions, counted exactly.
    Counted,
}

/// Which registers are exact where translated code leaves at a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Those that the program can still see.
    Live,
    /// Those, and the unwind set: sp, $15, $23, $26, $16.
    Unwind,
    /// All.
    Full,
}

impl Class {
    /// The registers that it keeps exact beside the live ones, a bit each: integer registers low,
    /// floating-point registers high.
    pub(crate) const fn registers(self) -> u64 {
        match self {
            Class::Live => 0,
            Class::Unwind => 1 << 15 | 1 << 16 | 1 << 23 | 1 << 26 | 1 << 30,
            Class::Full => u64::MAX,
        }
    }
}

/// How translated code reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A guest address is a host address, below 2^42.
    Identity,
    /// One bounded block.
    Flat,
    /// A soft TLB.
    Tlb,
}

/// The variant of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Memory.
    pub shape: Shape,
    /// Polls.
    pub poll: Poll,
    /// Registers at polls.
    pub class: Class,
    /// Registers are exact at every host memory fault.
    pub precise: bool,
    /// No IEEE exception of an instruction with /S traps, and denormals are numbers: the FPCR's trap
    /// disable bits are set, DNZ and UNDZ are clear. The FPCR stays so until translated code leaves.
    pub trapless: bool,
}

/// How a region counts: a poll leaves if the budget doesn't cover the longest way to the next one,
/// and charges the likely way; other ways charge the difference where they part.
///
/// The charge of a block is that of the likely way from its start to the next poll or exit; after
/// k of its instructions, what isn't used up yet is the charge less k.
#[derive(Debug)]
pub(crate) struct Charges {
    /// By block.
    pub charge: Vec<i64>,
    /// By block, the longest way from its start to the next poll or exit.
    pub longest: Vec<i64>,
    /// Blocks that poll: the entry, and targets of back-edges.
    pub polls: Vec<bool>,
}

impl Charges {
    pub fn of(region: &Region) -> Charges {
        let n = region.blocks.len();
        let mut polls = vec![false; n];
        polls[0] = true;
        // Blocks stand in reverse postorder: an edge that doesn't go forward is a back-edge.
        for (b, block) in region.blocks.iter().enumerate() {
            for edge in &block.edges {
                if let Edge::Inside(t) = *edge
                    && t <= b
                {
                    polls[t] = true;
                }
            }
        }
        let depth = depths(region);
        let mut charge = vec![0; n];
        let mut longest = vec![0; n];
        for (b, block) in region.blocks.iter().enumerate().rev() {
            let len = block.insns.len() as i64;
            let ways = block.edges.iter().filter_map(|e| match *e {
                Edge::Inside(t) if !polls[t] => Some((depth[t], charge[t], longest[t])),
                Edge::Inside(t) => Some((depth[t], 0, 0)),
                Edge::Outside => None,
            });
            let ways: Vec<(u32, i64, i64)> = ways.collect();
            // A loop goes on more often than it ends.
            charge[b] = len + ways.iter().max().map_or(0, |way| way.1);
            longest[b] = len + ways.iter().map(|way| way.2).max().unwrap_or(0);
        }
        Charges { charge, longest, polls }
    }
}
