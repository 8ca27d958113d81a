//! The loops of a region.

use crate::region::{Edge, Region};

/// A loop: what lies on the ways from its head back to it.
#[derive(Debug)]
pub(crate) struct Loop {
    pub head: usize,
    /// Ascending; the head is the first.
    pub body: Vec<usize>,
}

/// All loops, by their heads.
pub(crate) fn loops(region: &Region) -> Vec<Loop> {
    let n = region.blocks.len();
    let mut before = vec![Vec::new(); n];
    for (b, block) in region.blocks.iter().enumerate() {
        for edge in &block.edges {
            if let Edge::Inside(t) = *edge {
                before[t].push(b);
            }
        }
    }
    let of = |head: usize| {
        // Blocks stand in reverse postorder: an edge that doesn't go forward is a back-edge.
        let mut stack: Vec<usize> = before[head].iter().copied().filter(|&b| b >= head).collect();
        if stack.is_empty() {
            return None;
        }
        let mut inside = vec![false; n];
        inside[head] = true;
        while let Some(b) = stack.pop() {
            if !inside[b] {
                inside[b] = true;
                // What lies before the head isn't of the loop, even if a second way leads in.
                stack.extend(before[b].iter().copied().filter(|&p| p > head));
            }
        }
        let body = (0..n).filter(|&b| inside[b]).collect();
        Some(Loop { head, body })
    };
    (0..n).filter_map(of).collect()
}

/// How many loops each block is in.
pub(crate) fn depths(region: &Region) -> Vec<u32> {
    let mut depth = vec![0; region.blocks.len()];
    for b in loops(region).iter().flat_map(|l| &l.body) {
        depth[*b] += 1;
    }
    depth
}
