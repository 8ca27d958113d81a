//! What was translated, by the generation of code that it lies in and by the guest's pages.

use std::collections::HashMap;
use std::ops::Range;

use crate::compile::{Relocation, Words};
use crate::faults::Site;
use crate::slots::Slot;
use crate::variant::Mode;

/// Bytes of a page, as translations are found by: any power of two would do.
const PAGE: u64 = 8192;

/// A region that was translated.
#[derive(Debug)]
pub(crate) struct Translation {
    pub slot: Slot,
    pub mode: Mode,
    /// Where its code stands.
    pub code: Range<usize>,
    /// The guest words it was made from.
    pub words: Words,
    /// What may fault, by its offset, ascending.
    pub sites: Vec<(u32, Site)>,
    /// How its code is aligned, and where it has addresses.
    pub align: usize,
    pub relocations: Vec<Relocation>,
    /// It came from disk.
    pub recalled: bool,
    /// The slots that its code names.
    pub exits: Vec<Slot>,
    /// Its slot leads to it.
    pub alive: bool,
}

/// Which translation: generation, and place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Id(u32, u32);

/// All translations whose code is still in memory.
#[derive(Debug)]
pub(crate) struct Translations {
    /// In each generation code stands at ascending addresses.
    generations: Vec<Vec<Translation>>,
    /// By each page that they have a word in.
    pages: HashMap<u64, Vec<Id>>,
}

impl Translations {
    pub fn new(generations: usize) -> Translations {
        Translations {
            generations: (0..generations).map(|_| Vec::new()).collect(),
            pages: HashMap::new(),
        }
    }

    pub fn add(&mut self, generation: usize, translation: Translation) {
        let Some(list) = self.generations.get_mut(generation) else { return };
        let id = Id(generation as u32, list.len() as u32);
        for page in pages(&translation.words) {
            self.pages.entry(page).or_default().push(id);
        }
        list.push(translation);
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Translation> {
        self.generations.iter().flatten()
    }

    /// All of a generation.
    pub fn of(&self, generation: usize) -> &[Translation] {
        self.generations.get(generation).map_or(&[], Vec::as_slice)
    }

    /// All of a generation, to change.
    pub fn of_mut(&mut self, generation: usize) -> &mut [Translation] {
        self.generations.get_mut(generation).map_or(&mut [], Vec::as_mut_slice)
    }

    /// The translation whose code is at a host address.
    pub fn at(&self, generation: usize, address: usize) -> Option<&Translation> {
        let list = self.of(generation);
        let i = list.partition_point(|t| t.code.start <= address).checked_sub(1)?;
        list.get(i).filter(|t| t.code.contains(&address))
    }

    /// Forgets a generation: what was in it.
    pub fn clear(&mut self, generation: usize) -> Vec<Translation> {
        let Some(list) = self.generations.get_mut(generation) else { return Vec::new() };
        let gone = std::mem::take(list);
        for t in &gone {
            for page in pages(&t.words) {
                if let Some(ids) = self.pages.get_mut(&page) {
                    ids.retain(|id| id.0 != generation as u32);
                    if ids.is_empty() {
                        self.pages.remove(&page);
                    }
                }
            }
        }
        gone
    }

    /// Forgets all.
    pub fn clear_all(&mut self) {
        self.generations.iter_mut().for_each(Vec::clear);
        self.pages.clear();
    }

    /// Those that are alive and have words in pages for which `page` holds, called once each.
    pub fn in_pages(&mut self, mut page: impl FnMut(u64) -> bool) -> Vec<&mut Translation> {
        let mut ids: Vec<Id> =
            self.pages.iter().filter(|(p, _)| page(**p)).flat_map(|(_, i)| i).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let mut wanted = ids.into_iter().peekable();
        let mut found = Vec::new();
        for (g, list) in self.generations.iter_mut().enumerate() {
            let mut rest = list.as_mut_slice();
            let mut at = 0;
            while let Some(id) = wanted.next_if(|id| id.0 as usize == g) {
                let (_, tail) = rest.split_at_mut(id.1 as usize - at);
                let Some((t, tail)) = tail.split_first_mut() else { break };
                at = id.1 as usize + 1;
                rest = tail;
                if t.alive {
                    found.push(t);
                }
            }
        }
        found
    }
}

/// The pages that have a word of these, each once.
pub(crate) fn pages(words: &Words) -> Vec<u64> {
    let mut pages: Vec<u64> = words
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .flat_map(|(pc, list)| {
            let last = pc.saturating_add(4 * list.len() as u64 - 1);
            (pc / PAGE..=last / PAGE).map(|n| n * PAGE)
        })
        .collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// Whether a word of these lies in a range.
pub(crate) fn overlaps(words: &Words, range: &Range<u64>) -> bool {
    words
        .iter()
        .any(|(pc, list)| *pc < range.end && pc.saturating_add(4 * list.len() as u64) > range.start)
}

/// Whether a page has an address of a range.
pub(crate) fn touches(page: u64, range: &Range<u64>) -> bool {
    page < range.end && page.saturating_add(PAGE) > range.start
}
