//! What is translated together: the blocks that a guest address reaches by branches and calls, as
//! far as they ran, up to a limit.
//!
//! A call stays inside: it is a jump to the callee, and the callee's returns compare with that
//! callee's own return points before they go through the indirect-target cache. Computed jumps and
//! calls likewise compare with the targets that they were seen to have.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use axperf_isa::{Flags, Insn, Shape as Body};

/// Instructions in a region at most. Larger ones gain little, and cost their translation.
const MOST_INSTRUCTIONS: usize = 140;
/// Instructions at most that belong to other translations, to close loops.
const MOST_KNOWN: usize = 40;
/// Return points that a return compares with at most.
const MOST_RETURNS: usize = 4;
/// Targets that a computed call compares with at most.
const MOST_CALLEES: usize = 4;
/// Targets that another computed jump compares with at most.
const MOST_CASES: usize = 16;

/// The guest's code, and what is known of how it runs.
pub trait Guest {
    /// The instruction at an address, if one is there that this CPU has.
    fn insn(&mut self, pc: u64) -> Option<Insn>;

    /// Whether the code at an address ran. What never did is left out of translations.
    fn ran(&self, pc: u64) -> bool;

    /// Where the computed jump at an address went, what is most likely first.
    fn targets(&self, pc: u64) -> Vec<u64>;
}

/// Instructions of which nothing else is known: all may have run.
impl<F: FnMut(u64) -> Option<Insn>> Guest for F {
    fn insn(&mut self, pc: u64) -> Option<Insn> {
        self(pc)
    }

    fn ran(&self, _pc: u64) -> bool {
        true
    }

    fn targets(&self, _pc: u64) -> Vec<u64> {
        Vec::new()
    }
}

/// Where a block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// To a block of the region.
    Inside(usize),
    /// Out of it.
    Outside,
}

/// Instructions that run one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub pc: u64,
    pub insns: Vec<Insn>,
    /// All ways on.
    pub edges: Vec<Edge>,
    /// For a computed jump: the blocks that its target is compared with, by address.
    pub guards: Vec<usize>,
}

/// Blocks in reverse postorder; the first is the entry.
#[derive(Debug)]
pub(crate) struct Region {
    pub blocks: Vec<Block>,
    index: BTreeMap<u64, usize>,
}

/// What ends a block.
enum End {
    /// A conditional branch.
    Branch(u64),
    /// A branch.
    Goto(u64),
    /// A direct call.
    Call(u64),
    /// A return.
    Return,
    /// A computed call.
    CallTo,
    /// Another computed jump.
    Jump,
    /// An instruction that stops.
    Stop,
}

fn end_of(insn: &Insn, pc: u64) -> Option<End> {
    if !insn.ends_block() {
        return None;
    }
    let (flags, jumps) = (insn.desc().flags, insn.desc().shape == Body::Jump);
    Some(match insn.branch_target(pc) {
        Some(t) if flags.contains(Flags::CONDITIONAL) => End::Branch(t),
        Some(t) if insn.ra != 31 && t != pc.wrapping_add(4) => End::Call(t),
        Some(t) => End::Goto(t),
        None if jumps && flags.contains(Flags::RETURN) => End::Return,
        None if jumps && flags.contains(Flags::CALL) => End::CallTo,
        None if jumps => End::Jump,
        None => End::Stop,
    })
}

/// A region being cut: its blocks by address, and where their computed jumps went.
struct Cut {
    blocks: BTreeMap<u64, Vec<Insn>>,
    /// By the address of the jump.
    targets: BTreeMap<u64, Vec<u64>>,
}

impl Region {
    /// The region at `entry`; None if there is no instruction.
    ///
    /// Where a translation starts already, according to `translated`, the region ends, so that code
    /// is not translated again and again for each way into it; but not inside a callee, nor in a
    /// loop that the entry is in, where it is worth it.
    pub fn find(
        entry: u64,
        most_blocks: usize,
        guest: &mut dyn Guest,
        translated: &dyn Fn(u64) -> bool,
    ) -> Option<Region> {
        let mut insns = BTreeMap::new();
        let mut targets = BTreeMap::new();
        let mut leaders = BTreeSet::from([entry]);
        let mut queue = VecDeque::from([(entry, false)]);
        // Where translations start, which is looked at last.
        let mut known = VecDeque::new();
        let mut ends = BTreeSet::new();
        let mut most = MOST_INSTRUCTIONS;
        loop {
            let next = queue.pop_front().or_else(|| {
                // From the first of these on, everything is another translation's.
                most = most.min(insns.len() + MOST_KNOWN);
                known.pop_front()
            });
            let Some((start, in_callee)) = next else { break };
            let mut pc = start;
            // A leader too many is a way out; one that stands in code that is known is a block.
            if leaders.len() > most_blocks && start != entry {
                break;
            }
            loop {
                if insns.len() >= most || insns.contains_key(&pc) {
                    break;
                }
                if !in_callee && pc != entry && translated(pc) && ends.insert(pc) {
                    leaders.insert(pc);
                    known.push_back((pc, in_callee));
                    break;
                }
                let Some(insn) = guest.insn(pc) else { break };
                insns.insert(pc, insn);
                let next = pc.wrapping_add(4);
                let Some(end) = end_of(&insn, pc) else {
                    pc = next;
                    continue;
                };
                let here = in_callee;
                // What is likely is explored first: loops go back, calls come back.
                let mut ways = Vec::new();
                match end {
                    End::Branch(t) if t <= pc => ways.extend([(t, here), (next, here)]),
                    End::Branch(t) => ways.extend([(next, here), (t, here)]),
                    End::Call(t) => ways.extend([(t, true), (next, here)]),
                    End::Goto(t) => ways.push((t, here)),
                    End::CallTo | End::Jump => {
                        let call = matches!(end, End::CallTo);
                        let cases = if call { MOST_CALLEES } else { MOST_CASES };
                        let mut seen = guest.targets(pc);
                        seen.truncate(cases);
                        ways.extend(seen.iter().map(|&t| (t, call || here)));
                        if call && !seen.is_empty() {
                            ways.push((next, here));
                        }
                        targets.insert(pc, seen);
                    }
                    End::Return | End::Stop => {}
                }
                for (t, in_callee) in ways {
                    if guest.ran(t) && leaders.insert(t) {
                        queue.push_back((t, in_callee));
                    }
                }
                break;
            }
        }
        if !insns.contains_key(&entry) {
            return None;
        }
        if most_blocks == 1 {
            leaders = BTreeSet::from([entry]);
        }
        let mut cut = Cut::new(&insns, &leaders, targets);
        let around = cut.reaching(entry);
        ends.retain(|pc| !around.contains(pc));
        cut.blocks.retain(|pc, _| !ends.contains(pc));
        Some(Region::of(entry, &cut))
    }

    fn of(entry: u64, cut: &Cut) -> Region {
        let returns = cut.returns();
        let guards = |pc: u64| cut.guards(pc, &returns);
        let ways = |pc: u64| cut.ways(pc, &returns);
        let others = cut.blocks.keys().copied().filter(|&pc| pc != entry);
        let order: Vec<u64> = std::iter::once(entry).chain(others).collect();
        let index: BTreeMap<u64, usize> = order.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let block = |&pc: &u64| {
            let inside = |t: &u64| index.get(t).map_or(Edge::Outside, |&i| Edge::Inside(i));
            let edges = ways(pc).iter().map(inside).collect();
            let guards = guards(pc).iter().filter_map(|p| index.get(p).copied()).collect();
            Block { pc, insns: cut.blocks[&pc].clone(), edges, guards }
        };
        Region::ordered(&order.iter().map(block).collect::<Vec<_>>())
    }

    /// The region of these blocks, whose first is the entry, in reverse postorder.
    pub fn ordered(blocks: &[Block]) -> Region {
        // A depth-first walk with its own stack.
        let mut order = Vec::new();
        let mut seen = vec![false; blocks.len()];
        seen[0] = true;
        let mut stack = vec![(0, blocks[0].edges.iter())];
        while let Some((b, ways)) = stack.last_mut() {
            match ways.next() {
                Some(&Edge::Inside(t)) if !seen[t] => {
                    seen[t] = true;
                    stack.push((t, blocks[t].edges.iter()));
                }
                Some(_) => {}
                None => {
                    order.push(*b);
                    stack.pop();
                }
            }
        }
        order.reverse();
        let mut place = vec![None; blocks.len()];
        for (i, &b) in order.iter().enumerate() {
            place[b] = Some(i);
        }
        let inside = |edge: &Edge| match *edge {
            Edge::Inside(t) => place[t].map_or(Edge::Outside, Edge::Inside),
            Edge::Outside => Edge::Outside,
        };
        let moved = |&b: &usize| Block {
            edges: blocks[b].edges.iter().map(inside).collect(),
            guards: blocks[b].guards.iter().filter_map(|&g| place[g]).collect(),
            ..blocks[b].clone()
        };
        let blocks: Vec<Block> = order.iter().map(moved).collect();
        let mut index = BTreeMap::new();
        for (i, block) in blocks.iter().enumerate() {
            index.entry(block.pc).or_insert(i);
        }
        Region { blocks, index }
    }

    /// The block that block `b` goes to when it goes on at an address, if that is inside.
    pub fn inside(&self, b: usize, target: u64) -> Option<usize> {
        self.blocks[b].edges.iter().find_map(|edge| match *edge {
            Edge::Inside(t) if self.blocks[t].pc == target => Some(t),
            Edge::Inside(_) | Edge::Outside => None,
        })
    }

    /// The block at an address; the first, if it was unrolled.
    pub fn at(&self, pc: u64) -> Option<usize> {
        self.index.get(&pc).copied()
    }

    /// Instructions in it.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|b| b.insns.len()).sum()
    }
}

impl Cut {
    fn new(
        insns: &BTreeMap<u64, Insn>,
        leaders: &BTreeSet<u64>,
        targets: BTreeMap<u64, Vec<u64>>,
    ) -> Cut {
        let mut blocks = BTreeMap::new();
        for &leader in leaders {
            let mut pc = leader;
            let mut list = Vec::new();
            while let Some(insn) = insns.get(&pc) {
                list.push(*insn);
                if insn.ends_block() {
                    break;
                }
                pc = pc.wrapping_add(4);
                if leaders.contains(&pc) {
                    break;
                }
            }
            if !list.is_empty() {
                blocks.insert(leader, list);
            }
        }
        Cut { blocks, targets }
    }

    /// The addresses that a block's computed jump is compared with.
    fn guards<'a>(&'a self, pc: u64, returns: &'a BTreeMap<u64, Vec<u64>>) -> &'a [u64] {
        match returns.get(&pc) {
            Some(points) => points,
            None => self.targets_of(pc),
        }
    }

    /// Where a block goes.
    fn ways(&self, pc: u64, returns: &BTreeMap<u64, Vec<u64>>) -> Vec<u64> {
        let mut ways = self.successors(pc);
        ways.extend(self.guards(pc, returns));
        ways
    }

    /// The blocks from which there is a way to `entry`.
    fn reaching(&self, entry: u64) -> BTreeSet<u64> {
        let returns = self.returns();
        let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for &pc in self.blocks.keys() {
            for t in self.ways(pc, &returns) {
                before.entry(t).or_default().push(pc);
            }
        }
        let mut seen = BTreeSet::from([entry]);
        let mut stack = vec![entry];
        while let Some(pc) = stack.pop() {
            for &b in before.get(&pc).into_iter().flatten() {
                if seen.insert(b) {
                    stack.push(b);
                }
            }
        }
        seen
    }

    /// Address of a block's last instruction, and how it ends the block.
    fn end(&self, pc: u64) -> (u64, Option<End>) {
        let Some((last, before)) = self.blocks.get(&pc).and_then(|b| b.split_last()) else {
            return (pc, None);
        };
        let at = pc.wrapping_add(4 * before.len() as u64);
        (at, end_of(last, at))
    }

    /// The targets of a block's computed jump that are blocks.
    fn targets_of(&self, pc: u64) -> &[u64] {
        match self.end(pc) {
            (at, Some(End::CallTo | End::Jump)) => self.targets.get(&at).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// Where a block goes, computed jumps aside.
    fn successors(&self, pc: u64) -> Vec<u64> {
        let (at, end) = self.end(pc);
        let next = at.wrapping_add(4);
        match end {
            None => vec![next],
            Some(End::Branch(t)) => vec![t, next],
            Some(End::Goto(t) | End::Call(t)) => vec![t],
            Some(End::Return | End::CallTo | End::Jump | End::Stop) => Vec::new(),
        }
    }

    /// For each block that ends in a return: the return points of the calls to the functions that
    /// it belongs to.
    fn returns(&self) -> BTreeMap<u64, Vec<u64>> {
        let mut points: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for &pc in self.blocks.keys() {
            let (at, end) = self.end(pc);
            let next = at.wrapping_add(4);
            let callees = match &end {
                Some(End::Call(t)) => std::slice::from_ref(t),
                Some(End::CallTo) => self.targets_of(pc),
                _ => &[],
            };
            if self.blocks.contains_key(&next) {
                for t in callees.iter().filter(|t| self.blocks.contains_key(t)) {
                    points.entry(*t).or_default().push(next);
                }
            }
        }
        let mut returns: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (&function, points) in &points {
            // The function's own blocks: a call inside goes on at its return point.
            let mut seen = BTreeSet::from([function]);
            let mut stack = vec![function];
            while let Some(pc) = stack.pop() {
                if !self.blocks.contains_key(&pc) {
                    continue;
                }
                let (at, end) = self.end(pc);
                let ways = match end {
                    Some(End::Call(_) | End::CallTo) => vec![at.wrapping_add(4)],
                    Some(End::Return) => {
                        let list = returns.entry(pc).or_default();
                        for p in points {
                            if !list.contains(p) && list.len() < MOST_RETURNS {
                                list.push(*p);
                            }
                        }
                        Vec::new()
                    }
                    Some(End::Jump) => self.targets_of(pc).to_vec(),
                    Some(End::Branch(_) | End::Goto(_) | End::Stop) | None => self.successors(pc),
                };
                for t in ways {
                    if seen.insert(t) {
                        stack.push(t);
                    }
                }
            }
        }
        returns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1000;

    /// Words from `BASE` on, all of which ran but those listed.
    struct Program {
        words: &'static [u32],
        cold: &'static [u64],
        targets: &'static [(u64, &'static [u64])],
    }

    impl Guest for Program {
        fn insn(&mut self, pc: u64) -> Option<Insn> {
            let i = usize::try_from(pc.checked_sub(BASE)? / 4).ok()?;
            axperf_isa::decode(*self.words.get(i)?)
        }

        fn ran(&self, pc: u64) -> bool {
            !self.cold.contains(&pc)
        }

        fn targets(&self, pc: u64) -> Vec<u64> {
            self.targets.iter().find(|t| t.0 == pc).map_or(Vec::new(), |t| t.1.to_vec())
        }
    }

    fn heads(region: &Region) -> Vec<u64> {
        let mut pcs: Vec<u64> = region.blocks.iter().map(|b| b.pc).collect();
        pcs.sort_unstable();
        pcs
    }

    fn guards(region: &Region, pc: u64) -> Vec<u64> {
        let block = &region.blocks[region.at(pc).unwrap()];
        block.guards.iter().map(|&g| region.blocks[g].pc).collect()
    }

    fn find(program: &mut Program) -> Region {
        Region::find(BASE, usize::MAX, program, &|_| false).unwrap()
    }

    // Words as binutils' assembler gives them.
    const NOP: u32 = 0x47ff_041f;
    const RET: u32 = 0x6bfa_8001;
    const JMP: u32 = 0x6be1_0000; // jmp $31,($1)
    const JSR: u32 = 0x6b5b_4000; // jsr $26,($27)
    const BEQ_2: u32 = 0xe420_0002; // beq $1,.+12

    #[test]
    fn what_never_ran_stays_out() {
        let words = &[BEQ_2, NOP, RET, NOP, RET];
        let mut program = Program { words, cold: &[BASE + 12], targets: &[] };
        assert_eq!(heads(&find(&mut program)), [BASE, BASE + 4]);
        program.cold = &[];
        assert_eq!(heads(&find(&mut program)), [BASE, BASE + 4, BASE + 12]);
    }

    #[test]
    fn computed_jumps_compare_with_what_they_were_seen_to_do() {
        let words = &[JMP, RET, NOP, RET];
        let targets: &[(u64, &[u64])] = &[(BASE, &[BASE + 8, BASE + 4])];
        let mut program = Program { words, cold: &[], targets };
        let region = find(&mut program);
        assert_eq!(heads(&region), [BASE, BASE + 4, BASE + 8]);
        assert_eq!(guards(&region, BASE), [BASE + 8, BASE + 4]);
        program.targets = &[];
        assert_eq!(heads(&find(&mut program)), [BASE]);
    }

    /// A callee's return compares with where the call goes on, and with nothing else.
    #[test]
    fn computed_calls_come_back() {
        let words = &[JSR, NOP, RET, NOP, RET];
        let targets: &[(u64, &[u64])] = &[(BASE, &[BASE + 12])];
        let region = find(&mut Program { words, cold: &[], targets });
        assert_eq!(heads(&region), [BASE, BASE + 4, BASE + 12]);
        assert_eq!(guards(&region, BASE), [BASE + 12]);
        assert_eq!(guards(&region, BASE + 12), [BASE + 4]);
        assert_eq!(guards(&region, BASE + 4), [0u64; 0]);
    }
}
