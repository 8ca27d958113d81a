//! Which code ran: what never did isn't worth translating.

use std::collections::HashMap;

/// Bytes of a page of the map: a bit an instruction.
const PAGE: u64 = 8192;
/// Words of a page's bits.
const WORDS: usize = (PAGE / 4 / 64) as usize;
/// Pages at most; with hostile code that is everywhere, nothing more is noted.
const MOST: usize = 1 << 14;

/// Addresses of instructions that ran.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pages: HashMap<u64, Box<[u64; WORDS]>>,
}

impl Footprint {
    /// Notes `n` instructions from `pc` on.
    pub fn note(&mut self, pc: u64, n: u64) {
        for i in 0..n {
            let (page, bit) = place(pc.wrapping_add(4 * i));
            if self.pages.len() >= MOST && !self.pages.contains_key(&page) {
                return;
            }
            let bits = self.pages.entry(page).or_insert_with(|| Box::new([0; WORDS]));
            bits[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether the instruction at `pc` was noted.
    pub fn has(&self, pc: u64) -> bool {
        let (page, bit) = place(pc);
        self.pages.get(&page).is_some_and(|bits| bits[bit / 64] >> (bit % 64) & 1 != 0)
    }
}

fn place(pc: u64) -> (u64, usize) {
    (pc / PAGE, (pc % PAGE / 4) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_has_a_bit() {
        let mut footprint = Footprint::default();
        footprint.note(PAGE - 8, 3);
        let ran: Vec<u64> = (0..4 * PAGE).step_by(4).filter(|&pc| footprint.has(pc)).collect();
        assert_eq!(ran, [PAGE - 8, PAGE - 4, PAGE]);
        footprint.note(u64::MAX - 3, 2);
        assert!(footprint.has(u64::MAX - 3) && footprint.has(0));
    }

    #[test]
    fn code_everywhere_takes_bounded_memory() {
        let mut footprint = Footprint::default();
        for i in 0..2 * MOST as u64 {
            footprint.note(i * PAGE, 1);
        }
        assert_eq!(footprint.pages.len(), MOST);
    }
}
