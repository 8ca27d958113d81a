//! The table of mappings: what is mapped where, and how. Pure data.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::layout::page_up;

/// What a mapping may be used for: PROT_READ, PROT_WRITE and PROT_EXEC, the same on host and guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prot(u8);

impl Prot {
    /// Nothing.
    pub const NONE: Prot = Prot(0);
    /// Read and write.
    pub const RW: Prot = Prot(3);
    /// Read, write and execute.
    pub const RWX: Prot = Prot(7);

    /// The bits of a system call's argument; others than the three are ignored, as Linux does.
    #[must_use]
    pub fn from_bits(bits: u64) -> Prot {
        Prot(bits as u8 & 7)
    }

    /// The three bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// PROT_READ.
    #[must_use]
    pub fn read(self) -> bool {
        self.0 & 1 != 0
    }

    /// PROT_WRITE.
    #[must_use]
    pub fn write(self) -> bool {
        self.0 & 2 != 0
    }

    /// PROT_EXEC.
    #[must_use]
    pub fn execute(self) -> bool {
        self.0 & 4 != 0
    }

    /// The host's protection. The host never executes guest code, it reads it.
    #[must_use]
    pub fn host(self) -> i32 {
        let read = if self.read() || self.execute() { libc::PROT_READ } else { 0 };
        read | if self.write() { libc::PROT_WRITE } else { 0 }
    }
}

/// A file that is mapped.
#[derive(Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// Its path, as the guest sees it.
    pub path: Vec<u8>,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
}

/// What is behind a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Zeros.
    Anonymous,
    /// Zeros, with the name that `/proc/PID/maps` gives: `[heap]`, `[stack]`.
    Named(&'static str),
    /// A file from this offset on.
    File(Arc<MappedFile>, u64),
    /// The segment of System V's shared memory with this id, from this offset on.
    Shm(i32, u64),
}

impl Backing {
    /// What is behind the part of the mapping that starts `by` bytes later.
    fn advanced(&self, by: u64) -> Backing {
        match self {
            Backing::File(file, offset) => Backing::File(file.clone(), offset + by),
            Backing::Shm(id, offset) => Backing::Shm(*id, offset + by),
            Backing::Anonymous | Backing::Named(_) => self.clone(),
        }
    }
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vma {
    /// First address.
    pub start: u64,
    /// End.
    pub end: u64,
    /// What it may be used for.
    pub prot: Prot,
    /// Whether stores go to the object (MAP_SHARED).
    pub shared: bool,
    /// What is behind it.
    pub backing: Backing,
}

impl Vma {
    /// The part of it inside `range`, if any.
    fn clip(&self, range: &Range<u64>) -> Option<Vma> {
        let (start, end) = (self.start.max(range.start), self.end.min(range.end));
        (start < end).then(|| Vma {
            start,
            end,
            backing: self.backing.advanced(start - self.start),
            ..self.clone()
        })
    }

    /// The part of it of `len` bytes at `start`.
    #[must_use]
    pub fn part(&self, start: u64, len: u64) -> Vma {
        let end = page_up(start.saturating_add(len)).unwrap_or(self.end);
        self.clip(&(start..end)).unwrap_or_else(|| self.clone())
    }

    /// Whether `next` goes on where this ends, in every respect.
    fn goes_on(&self, next: &Vma) -> bool {
        self.end == next.start
            && self.prot == next.prot
            && self.shared == next.shared
            && (!self.shared || matches!(self.backing, Backing::File(..)))
            && self.backing.advanced(self.end - self.start) == next.backing
    }
}

/// The mappings of an address space, disjoint, in order.
#[derive(Debug, Default)]
pub struct VmaTable {
    map: BTreeMap<u64, Vma>,
}

impl VmaTable {
    /// The mapping that `addr` is in.
    #[must_use]
    pub fn find(&self, addr: u64) -> Option<&Vma> {
        self.map.range(..=addr).next_back().map(|(_, v)| v).filter(|v| addr < v.end)
    }

    /// The mappings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Vma> {
        self.map.values()
    }

    /// The mappings that touch `range`, in order.
    pub fn within(&self, range: Range<u64>) -> impl Iterator<Item = &Vma> {
        let first = self.find(range.start).map_or(range.start, |v| v.start);
        self.map.range(first..range.end.max(first)).map(|(_, v)| v)
    }

    /// Whether nothing is mapped in `range`.
    #[must_use]
    pub fn is_free(&self, range: Range<u64>) -> bool {
        self.within(range).next().is_none()
    }

    /// Where what is mapped without a gap from `range.start` on ends, at most `range.end`.
    #[must_use]
    pub fn covered_to(&self, range: Range<u64>) -> u64 {
        let mut at = range.start;
        for v in self.within(range.clone()) {
            if v.start > at {
                break;
            }
            at = v.end;
        }
        at.min(range.end)
    }

    /// Bytes mapped.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|v| v.end - v.start).sum()
    }

    /// Takes `range` out; returns the parts that were mapped.
    pub fn remove(&mut self, range: Range<u64>) -> Vec<Vma> {
        let touched: Vec<Vma> = self.within(range.clone()).cloned().collect();
        let mut removed = Vec::new();
        for v in touched {
            self.map.remove(&v.start);
            for rest in [v.start..range.start, range.end..v.end] {
                if let Some(rest) = v.clip(&rest) {
                    self.map.insert(rest.start, rest);
                }
            }
            removed.extend(v.clip(&range));
        }
        removed
    }

    /// Puts `vma` in, in place of what was there; returns the parts that were mapped.
    pub fn insert(&mut self, mut vma: Vma) -> Vec<Vma> {
        let removed = self.remove(vma.start..vma.end);
        if let Some(before) = vma.start.checked_sub(1).and_then(|a| self.find(a))
            && before.goes_on(&vma)
        {
            let before = before.clone();
            self.map.remove(&before.start);
            vma = Vma { end: vma.end, ..before };
        }
        if let Some(after) = self.map.get(&vma.end)
            && vma.goes_on(after)
        {
            let end = after.end;
            self.map.remove(&vma.end);
            vma.end = end;
        }
        self.map.insert(vma.start, vma);
        removed
    }

    /// Changes the protection of what is mapped in `range`; returns the parts as they were.
    pub fn protect(&mut self, range: Range<u64>, prot: Prot) -> Vec<Vma> {
        let parts = self.remove(range);
        for part in &parts {
            self.insert(Vma { prot, ..part.clone() });
        }
        parts
    }

    /// The first free range of `len` bytes from `from` on that ends at `limit` or before.
    #[must_use]
    pub fn first_fit(&self, len: u64, from: u64, limit: u64) -> Option<u64> {
        let mut at = from;
        for v in self.within(from..limit) {
            if at.checked_add(len)? <= v.start {
                break;
            }
            at = at.max(v.end);
        }
        (at.checked_add(len)? <= limit).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anon(start: u64, end: u64, prot: Prot) -> Vma {
        Vma { start, end, prot, shared: false, backing: Backing::Anonymous }
    }

    fn ranges(t: &VmaTable) -> Vec<(u64, u64)> {
        t.iter().map(|v| (v.start, v.end)).collect()
    }

    #[test]
    fn neighbours_merge_and_split() {
        let mut t = VmaTable::default();
        t.insert(anon(0x2000, 0x4000, Prot::RW));
        t.insert(anon(0x6000, 0x8000, Prot::RW));
        t.insert(anon(0x4000, 0x6000, Prot::RW));
        assert_eq!(ranges(&t), [(0x2000, 0x8000)]);
        let old = t.protect(0x4000..0x6000, Prot::NONE);
        assert_eq!(old, [anon(0x4000, 0x6000, Prot::RW)]);
        assert_eq!(ranges(&t), [(0x2000, 0x4000), (0x4000, 0x6000), (0x6000, 0x8000)]);
        t.protect(0x2000..0x8000, Prot::RW);
        assert_eq!(ranges(&t), [(0x2000, 0x8000)]);
        let gone = t.remove(0x4000..0x6000);
        assert_eq!(gone, [anon(0x4000, 0x6000, Prot::RW)]);
        assert_eq!(ranges(&t), [(0x2000, 0x4000), (0x6000, 0x8000)]);
        assert_eq!(t.total(), 0x4000);
        assert!(t.is_free(0x4000..0x6000) && !t.is_free(0x3000..0x6000));
        assert_eq!(t.covered_to(0x2000..0x8000), 0x4000);
        assert_eq!(t.covered_to(0x6000..0x7000), 0x7000);
        assert!(t.find(0x1fff).is_none() && t.find(0x4000).is_none());
        assert_eq!(t.find(0x3fff).unwrap().start, 0x2000);
    }

    #[test]
    fn file_offsets_follow() {
        let file = Arc::new(MappedFile { path: b"/lib/x".to_vec(), device: 1, inode: 2 });
        let map = |start, end, offset| Vma {
            start,
            end,
            prot: Prot::from_bits(5),
            shared: false,
            backing: Backing::File(file.clone(), offset),
        };
        let mut t = VmaTable::default();
        t.insert(map(0x10000, 0x20000, 0x4000));
        t.remove(0x12000..0x14000);
        assert_eq!(t.find(0x14000), Some(&map(0x14000, 0x20000, 0x8000)));
        t.insert(map(0x12000, 0x14000, 0x6000));
        assert_eq!(ranges(&t), [(0x10000, 0x20000)]);
        t.insert(map(0x20000, 0x22000, 0));
        assert_eq!(ranges(&t), [(0x10000, 0x20000), (0x20000, 0x22000)]);
    }

    #[test]
    fn first_fit_finds_gaps() {
        let mut t = VmaTable::default();
        assert_eq!(t.first_fit(0x2000, 0x10000, 0x20000), Some(0x10000));
        t.insert(anon(0x10000, 0x12000, Prot::RW));
        t.insert(anon(0x14000, 0x18000, Prot::RW));
        assert_eq!(t.first_fit(0x2000, 0x10000, 0x20000), Some(0x12000));
        assert_eq!(t.first_fit(0x4000, 0x10000, 0x20000), Some(0x18000));
        assert_eq!(t.first_fit(0x2000, 0x16000, 0x20000), Some(0x18000));
        assert_eq!(t.first_fit(0xa000, 0x10000, 0x20000), None);
        assert_eq!(t.first_fit(u64::MAX, 0x10000, 0x20000), None);
    }
}
