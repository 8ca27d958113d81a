//! Which memory goes into the dump: what Linux dumps by default, which is what no file has.
//!
//! That is anonymous memory that was touched, pages of private mappings that were written to, and
//! the first page of a mapped ELF file, which says which file it is.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::layout::{page_down, page_up};
use crate::mm::{Backing, Vma};
use crate::process::Shared;

/// A part of memory, with its content or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub range: Range<u64>,
    /// PROT_ bits.
    pub prot: u32,
    /// Whether the file has its content.
    pub dumped: bool,
}

/// Pages closer together than this are dumped with what is between them.
const NEAR: u64 = 64 << 10;
/// Entries of the page map that are read at once.
const ENTRIES: usize = 1 << 15;

/// Bits of an entry of `/proc/PID/pagemap`.
mod page {
    pub const PRESENT: u64 = 1 << 63;
    pub const SWAPPED: u64 = 1 << 62;
    /// The page is a file's, or shared.
    pub const FILE: u64 = 1 << 61;
}

/// The memory of the process, in order.
pub(super) fn segments(shared: &Shared) -> io::Result<Vec<Segment>> {
    let map = File::open("/proc/self/pagemap")?;
    let memory = File::open("/proc/self/mem")?;
    // SAFETY: sysconf has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let vmas: Vec<Vma> = shared.space.table().iter().cloned().collect();
    let mut segments = Vec::new();
    for vma in &vmas {
        let mut parts = Parts::of(vma);
        if is_elf_file(vma, &memory) {
            parts.dump(vma.start..vma.start + page);
        }
        let of_files = matches!(vma.backing, Backing::File(..));
        if vma.prot.bits() != 0 && !(vma.shared && of_files) {
            touched(&map, page, vma, &mut parts)?;
        }
        segments.extend(parts.finish());
    }
    Ok(segments)
}

fn is_elf_file(vma: &Vma, memory: &File) -> bool {
    let mut magic = [0; 4];
    matches!(vma.backing, Backing::File(_, 0))
        && memory.read_exact_at(&mut magic, vma.start).is_ok()
        && &magic == b"\x7fELF"
}

/// Dumps the pages of a mapping that memory or swap space has and no file.
fn touched(map: &File, page: u64, vma: &Vma, parts: &mut Parts) -> io::Result<()> {
    let mut bytes = vec![0; 8 * ENTRIES];
    let mut at = vma.start;
    while at < vma.end {
        let count = ((vma.end - at) / page).min(ENTRIES as u64) as usize;
        let bytes = &mut bytes[..8 * count];
        map.read_exact_at(bytes, at / page * 8)?;
        for entry in bytes.chunks_exact(8) {
            let entry = u64::from_le_bytes(entry.try_into().expect("eight bytes"));
            let there = entry & (page::PRESENT | page::SWAPPED) != 0;
            if there && (vma.shared || entry & page::FILE == 0) {
                parts.dump(at..at + page);
            }
            at += page;
        }
    }
    Ok(())
}

/// A mapping, cut into what is dumped and what isn't.
struct Parts {
    whole: Segment,
    dumped: Vec<Range<u64>>,
}

impl Parts {
    fn of(vma: &Vma) -> Parts {
        let whole = Segment { range: vma.start..vma.end, prot: vma.prot.bits(), dumped: false };
        Parts { whole, dumped: Vec::new() }
    }

    /// Dumps the guest's pages that a range is in. It isn't before those that were dumped.
    fn dump(&mut self, range: Range<u64>) {
        let range = page_down(range.start)..page_up(range.end).unwrap_or(range.end);
        match self.dumped.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(NEAR) => {
                last.end = last.end.max(range.end);
            }
            Some(_) | None => self.dumped.push(range),
        }
    }

    fn finish(self) -> Vec<Segment> {
        let Segment { range: Range { start: mut at, end }, prot, .. } = self.whole;
        let mut segments = Vec::new();
        for range in self.dumped {
            if at < range.start {
                segments.push(Segment { range: at..range.start, prot, dumped: false });
            }
            at = range.end;
            segments.push(Segment { range, prot, dumped: true });
        }
        if at < end {
            segments.push(Segment { range: at..end, prot, dumped: false });
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_cut() {
        let whole = Segment { range: 0x100_0000..0x200_0000, prot: 3, dumped: false };
        let cut = |ranges: &[Range<u64>]| {
            let mut parts = Parts { whole: whole.clone(), dumped: Vec::new() };
            ranges.iter().for_each(|r| parts.dump(r.clone()));
            let segments = parts.finish();
            segments.into_iter().map(|s| (s.range, s.dumped)).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[]), [(whole.range.clone(), false)]);
        assert_eq!(
            cut(&[0x100_1000..0x100_2000, 0x101_0000..0x101_1000, 0x1ff_f000..0x200_0000]),
            [
                (0x100_0000..0x101_2000, true),
                (0x101_2000..0x1ff_e000, false),
                (0x1ff_e000..0x200_0000, true)
            ]
        );
    }
}
