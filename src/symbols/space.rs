//! The mappings of one process.

use std::collections::BTreeMap;

/// A piece of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping<T> {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Offset in the file of the first byte.
    pub pgoff: u64,
    /// What is mapped.
    pub what: T,
}

impl<T> Mapping<T> {
    /// Offset in the file of an address in the mapping.
    #[must_use]
    pub fn file_offset(&self, addr: u64) -> u64 {
        addr.wrapping_sub(self.start).wrapping_add(self.pgoff)
    }
}

/// The mappings of one process; a new one replaces what it covers.
#[derive(Clone, Debug)]
pub struct AddressSpace<T> {
    by_start: BTreeMap<u64, Mapping<T>>,
}

impl<T> Default for AddressSpace<T> {
    fn default() -> Self {
        AddressSpace { by_start: BTreeMap::new() }
    }
}

impl<T: Clone> AddressSpace<T> {
    /// Adds a mapping; one of no length changes nothing.
    pub fn insert(&mut self, new: Mapping<T>) {
        if new.start >= new.end {
            return;
        }
        self.remove(new.start, new.end);
        self.by_start.insert(new.start, new);
    }

    /// Removes what is mapped from `start` to before `end`.
    pub fn remove(&mut self, start: u64, end: u64) {
        let overlapping: Vec<u64> = self
            .by_start
            .range(..end)
            .rev()
            .take_while(|(_, m)| m.end > start)
            .map(|(&start, _)| start)
            .collect();
        for key in overlapping {
            let Some(old) = self.by_start.remove(&key) else { continue };
            if old.end > end {
                let pgoff = old.file_offset(end);
                self.by_start.insert(end, Mapping { start: end, pgoff, ..old.clone() });
            }
            if old.start < start {
                self.by_start.insert(old.start, Mapping { end: start, ..old });
            }
        }
    }

    /// The mapping that an address lies in.
    #[must_use]
    pub fn find(&self, addr: u64) -> Option<&Mapping<T>> {
        self.by_start.range(..=addr).next_back().map(|(_, m)| m).filter(|m| addr < m.end)
    }

    /// All mappings, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Mapping<T>> {
        self.by_start.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(start: u64, end: u64, what: char) -> Mapping<char> {
        Mapping { start, end, pgoff: start * 100, what }
    }

    fn text(space: &AddressSpace<char>) -> String {
        (0..12).map(|a| space.find(a).map_or('.', |m| m.what)).collect()
    }

    #[test]
    fn new_mappings_replace_what_they_cover() {
        let mut space = AddressSpace::default();
        space.insert(map(2, 10, 'a'));
        assert_eq!(text(&space), "..aaaaaaaa..");
        space.insert(map(4, 6, 'b'));
        assert_eq!(text(&space), "..aabbaaaa..");
        // The rest of `a` still knows its place in the file: it began at 200 for address 2.
        assert_eq!(space.find(7).unwrap().file_offset(7), 205);
        space.insert(map(5, 11, 'c'));
        assert_eq!(text(&space), "..aabcccccc.");
        space.insert(map(0, 12, 'd'));
        assert_eq!(text(&space), "dddddddddddd");
        space.insert(map(3, 3, 'e'));
        space.remove(0, 4);
        assert_eq!(text(&space), "....dddddddd");
        assert_eq!(space.iter().count(), 1);
    }

    /// Against an array with a cell for each address.
    #[test]
    fn any_sequence_agrees_with_an_array() {
        let (mut space, mut cells) = (AddressSpace::default(), ['.'; 12]);
        let mut seed = 7u32;
        for i in 0..5000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (start, end) = (u64::from(seed >> 8) % 12, u64::from(seed >> 20) % 13);
            let what = (b'a' + (i % 26) as u8) as char;
            space.insert(map(start, end, what));
            cells.iter_mut().take(end as usize).skip(start as usize).for_each(|c| *c = what);
            assert_eq!(text(&space), cells.iter().collect::<String>());
        }
    }
}
