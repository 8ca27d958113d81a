//! What is translated together: the blocks that a guest address reaches by branches, and the
//! functions that it calls directly, up to a limit.
//!
//! A direct call stays inside: it is a jump to the callee, and the callee's returns compare with
//! that callee's own return points before they go through the indirect-target cache.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use axperf_isa::{Flags, Insn, Shape as Body};

/// Instructions in a region at most. Larger ones gain little, and cost their translation.
const MOST_INSTRUCTIONS: usize = 80;
/// Return points that a return compares with at most.
const MOST_RETURNS: usize = 4;

/// Where a block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// To a block of the region.
    Inside(usize),
    /// Out of it.
    Outside,
}

/// Instructions that run one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    pub pc: u64,
    pub insns: Vec<Insn>,
    /// All ways on.
    pub edges: Vec<Edge>,
    /// For a return: the return points it is compared with.
    pub returns: Vec<usize>,
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
    /// Another computed jump, or an instruction that stops.
    Leave,
}

fn end_of(insn: &Insn, pc: u64) -> Option<End> {
    if !insn.ends_block() {
        return None;
    }
    let flags = insn.desc().flags;
    Some(match insn.branch_target(pc) {
        Some(t) if flags.contains(Flags::CONDITIONAL) => End::Branch(t),
        Some(t) if insn.ra != 31 && t != pc.wrapping_add(4) => End::Call(t),
        Some(t) => End::Goto(t),
        None if insn.desc().shape == Body::Jump && flags.contains(Flags::RETURN) => End::Return,
        None => End::Leave,
    })
}

impl Region {
    /// The region at `entry`; None if there is no instruction. `find` gives those that there are.
    ///
    /// Where a translation starts already, according to `translated`, the region ends, so that code
    /// is not translated again and again for each way into it; but not inside a callee, where it
    /// is worth it.
    pub fn find(
        entry: u64,
        most_blocks: usize,
        find: &mut dyn FnMut(u64) -> Option<Insn>,
        translated: &dyn Fn(u64) -> bool,
    ) -> Option<Region> {
        let mut insns = BTreeMap::new();
        let mut leaders = BTreeSet::from([entry]);
        let mut queue = VecDeque::from([(entry, false)]);
        while let Some((start, in_callee)) = queue.pop_front() {
            let mut pc = start;
            // A leader too many is a way out; one that stands in code that is known is a block.
            if leaders.len() > most_blocks && start != entry {
                break;
            }
            loop {
                let full = insns.len() >= MOST_INSTRUCTIONS;
                if full || insns.contains_key(&pc) || (!in_callee && pc != entry && translated(pc))
                {
                    break;
                }
                let Some(insn) = find(pc) else { break };
                insns.insert(pc, insn);
                let next = pc.wrapping_add(4);
                let Some(end) = end_of(&insn, pc) else {
                    pc = next;
                    continue;
                };
                let here = in_callee;
                let targets: &[(u64, bool)] = match end {
                    // What is likely is explored first: loops go back, calls come back.
                    End::Branch(t) if t <= pc => &[(t, here), (next, here)],
                    End::Branch(t) => &[(next, here), (t, here)],
                    End::Call(t) => &[(t, true), (next, here)],
                    End::Goto(t) => &[(t, here)],
                    End::Return | End::Leave => &[],
                };
                for &(t, in_callee) in targets {
                    if leaders.insert(t) {
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
        Some(Region::cut(entry, &insns, &leaders))
    }

    fn cut(entry: u64, insns: &BTreeMap<u64, Insn>, leaders: &BTreeSet<u64>) -> Region {
        let mut by_pc = BTreeMap::new();
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
                by_pc.insert(leader, list);
            }
        }
        let returns = returns_of(&by_pc);
        let ways = |pc: u64| -> Vec<u64> {
            let mut ways = successors(pc, &by_pc[&pc]);
            if let Some(points) = returns.get(&pc) {
                ways.extend(points);
            }
            ways
        };
        // Reverse postorder, by a depth-first walk with its own stack.
        let mut order = Vec::new();
        let mut seen = BTreeSet::from([entry]);
        let mut stack = vec![(entry, ways(entry), 0)];
        while let Some((pc, next, i)) = stack.last_mut() {
            if let Some(&t) = next.get(*i) {
                *i += 1;
                if by_pc.contains_key(&t) && seen.insert(t) {
                    stack.push((t, ways(t), 0));
                }
            } else {
                order.push(*pc);
                stack.pop();
            }
        }
        order.reverse();
        let index: BTreeMap<u64, usize> = order.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let blocks = order
            .iter()
            .map(|&pc| {
                let edges = ways(pc)
                    .iter()
                    .map(|t| index.get(t).map_or(Edge::Outside, |&i| Edge::Inside(i)))
                    .collect();
                let returns = returns
                    .get(&pc)
                    .map(|points| points.iter().filter_map(|p| index.get(p).copied()).collect())
                    .unwrap_or_default();
                Block { pc, insns: by_pc[&pc].clone(), edges, returns }
            })
            .collect();
        Region { blocks, index }
    }

    /// The block at an address.
    pub fn at(&self, pc: u64) -> Option<usize> {
        self.index.get(&pc).copied()
    }

    /// Instructions in it.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|b| b.insns.len()).sum()
    }
}

/// Where a block goes, its returns aside.
fn successors(pc: u64, insns: &[Insn]) -> Vec<u64> {
    let Some(last) = insns.last() else { return Vec::new() };
    let at = pc.wrapping_add(4 * (insns.len() as u64 - 1));
    let next = at.wrapping_add(4);
    match end_of(last, at) {
        None => vec![next],
        Some(End::Branch(t)) => vec![t, next],
        Some(End::Goto(t) | End::Call(t)) => vec![t],
        Some(End::Return | End::Leave) => Vec::new(),
    }
}

/// For each block that ends in a return: the return points of the calls to the functions that it
/// belongs to.
fn returns_of(blocks: &BTreeMap<u64, Vec<Insn>>) -> BTreeMap<u64, Vec<u64>> {
    let mut points: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (&pc, insns) in blocks {
        let at = pc.wrapping_add(4 * (insns.len() as u64 - 1));
        if let Some(End::Call(t)) = insns.last().and_then(|i| end_of(i, at))
            && blocks.contains_key(&t)
            && blocks.contains_key(&at.wrapping_add(4))
        {
            points.entry(t).or_default().push(at.wrapping_add(4));
        }
    }
    let mut returns: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (&function, points) in &points {
        // The function's own blocks: a call inside goes on at its return point.
        let mut seen = BTreeSet::from([function]);
        let mut stack = vec![function];
        while let Some(pc) = stack.pop() {
            let Some(insns) = blocks.get(&pc) else { continue };
            let at = pc.wrapping_add(4 * (insns.len() as u64 - 1));
            let ways = match insns.last().and_then(|i| end_of(i, at)) {
                Some(End::Call(_)) => vec![at.wrapping_add(4)],
                Some(End::Return) => {
                    let list = returns.entry(pc).or_default();
                    for p in points {
                        if !list.contains(p) && list.len() < MOST_RETURNS {
                            list.push(*p);
                        }
                    }
                    Vec::new()
                }
                _ => successors(pc, insns),
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
