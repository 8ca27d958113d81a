//! Small inner loops, several rounds in a row: a variant that polls does so once in all of them.
//!
//! A round is a copy of the loop's blocks. Its ways back to the head lead to the next round, those of
//! the last to the first, where the poll is. Ways out of the loop are the same from each.

use crate::loops::{Loop, loops};
use crate::region::{Block, Edge, Region};

/// Rounds in a row at most.
const MOST_ROUNDS: usize = 4;
/// Blocks that a loop has at most. Larger ones were measured to lose by it: their rounds compete for
/// the host's registers.
const MOST_BLOCKS: usize = 2;
/// Instructions that all rounds of a loop have at most.
const MOST_IN_LOOP: usize = 32;
/// Instructions that a region gains at most.
const MOST_GAINED: usize = 64;

/// The region with its inner loops unrolled.
pub(crate) fn unrolled(region: &Region) -> Region {
    let loops = loops(region);
    let mut blocks = region.blocks.clone();
    let mut gained = 0;
    let is_inner = |l: &&Loop| {
        l.body.len() <= MOST_BLOCKS
            && !loops.iter().any(|m| m.head != l.head && l.body.contains(&m.head))
    };
    for Loop { head, body } in loops.iter().filter(is_inner) {
        let size: usize = body.iter().map(|&b| region.blocks[b].insns.len()).sum();
        let rounds = MOST_ROUNDS.min(MOST_IN_LOOP / size.max(1));
        let more = size * rounds.saturating_sub(1);
        if more > 0 && gained + more <= MOST_GAINED {
            gained += more;
            add_rounds(&mut blocks, *head, body, rounds);
        }
    }
    Region::ordered(&blocks)
}

/// Adds rounds of a loop, up to that many.
fn add_rounds(blocks: &mut Vec<Block>, head: usize, body: &[usize], rounds: usize) {
    let first = blocks.len();
    // Where a block of the loop is in a round, which may be the one after the last.
    let place = |round: usize, b: usize| match (round % rounds, body.binary_search(&b)) {
        (0, _) | (_, Err(_)) => b,
        (round, Ok(i)) => first + (round - 1) * body.len() + i,
    };
    let copies: Vec<Block> = body.iter().map(|&b| blocks[b].clone()).collect();
    blocks.extend((1..rounds).flat_map(|_| copies.iter().cloned()));
    for round in 0..rounds {
        let moved = |t: usize| place(if t == head { round + 1 } else { round }, t);
        for &b in body {
            let block = &mut blocks[place(round, b)];
            for edge in &mut block.edges {
                if let Edge::Inside(t) = *edge {
                    *edge = Edge::Inside(moved(t));
                }
            }
            for guard in &mut block.guards {
                *guard = moved(*guard);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Words as binutils' assembler gives them.
    const NOP: u32 = 0x47ff_041f;
    const RET: u32 = 0x6bfa_8001;
    const BNE_BACK: u32 = 0xf43f_fffe; // bne $1,.-4

    fn region(words: &'static [u32]) -> Region {
        let mut insn = |pc: u64| axperf_isa::decode(*words.get((pc / 4) as usize)?);
        Region::find(0, usize::MAX, &mut insn, &|_| false).unwrap()
    }

    /// The guest's addresses on a walk that takes these ways.
    fn walk(region: &Region, ways: &[usize]) -> Vec<u64> {
        let mut at = 0;
        let mut seen = vec![region.blocks[0].pc];
        for &way in ways {
            let edges = &region.blocks[at].edges;
            let Some(&Edge::Inside(t)) = edges.get(way).or(edges.last()) else { break };
            at = t;
            seen.push(region.blocks[at].pc);
        }
        seen
    }

    #[test]
    fn rounds_follow_one_another() {
        let before = region(&[NOP, NOP, BNE_BACK, RET]);
        let after = unrolled(&before);
        // The way in, the loop four times, the return.
        assert_eq!(after.blocks.iter().filter(|b| b.pc == 4).count(), 4);
        assert_eq!(after.blocks.len(), before.blocks.len() + 3);
        // Whatever ways are taken, the guest's addresses are the same.
        for taken in 0..12 {
            let ways: Vec<usize> = (0..14).map(|i| usize::from(i > taken)).collect();
            assert_eq!(walk(&before, &ways), walk(&after, &ways), "{taken}");
        }
        // One block polls beside the entry.
        assert_eq!(crate::variant::Charges::of(&after).polls.iter().filter(|p| **p).count(), 2);
    }

    #[test]
    fn each_round_has_the_ways_out() {
        // nop; nop; beq $2,20; nop; bne $1,4; ret
        let before = region(&[NOP, NOP, 0xe440_0002, NOP, 0xf43f_fffc, RET]);
        let after = unrolled(&before);
        assert_eq!(after.len(), before.len() + 3 * 4);
        for pattern in 0u32..1 << 10 {
            let ways: Vec<usize> = (0..10).map(|i| (pattern >> i & 1) as usize).collect();
            assert_eq!(walk(&before, &ways), walk(&after, &ways), "{pattern:b}");
        }
        assert_eq!(crate::variant::Charges::of(&after).polls.iter().filter(|p| **p).count(), 2);
    }

    #[test]
    fn what_is_large_stays_as_it_is() {
        let mut words = vec![NOP; 60];
        words.push(0xf43f_ffc3); // bne $1,0
        words.push(RET);
        let before = region(words.leak());
        assert_eq!(unrolled(&before).blocks.len(), before.blocks.len());
    }
}
