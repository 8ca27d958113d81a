//! Where the segments of an ELF file lie, in it and in memory.

use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader as _};

/// The loaded segments of an ELF file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Vec<Segment>);

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    file_size: u64,
    address: u64,
    executable: bool,
}

/// Alpha's largest page, which its segments are aligned to.
const PAGE_MAX: u64 = 0x10000;

impl Segments {
    pub(crate) fn of(file: &ElfFile64<'_, object::Endianness>) -> Segments {
        let endian = file.endian();
        let loaded = file.elf_program_headers().iter().filter(|h| h.p_type(endian) == elf::PT_LOAD);
        Segments(
            loaded
                .map(|h| Segment {
                    offset: h.p_offset(endian),
                    file_size: h.p_filesz(endian),
                    address: h.p_vaddr(endian),
                    executable: h.p_flags(endian).contains(elf::PF_X),
                })
                .collect(),
        )
    }

    /// The file's own address for an offset in it. Segments are mapped by whole pages, so that an
    /// offset a little before a segment belongs to it too; code comes first, since addresses that
    /// are looked up are those of code.
    pub(crate) fn address_of(&self, offset: u64) -> Option<u64> {
        let holds = |s: &&Segment| {
            let first = s.offset & !(PAGE_MAX - 1);
            offset >= first && offset - first < s.file_size.saturating_add(s.offset - first)
        };
        let exact = |s: &&Segment| offset >= s.offset && holds(s);
        let code = |s: &&Segment| s.executable;
        let mut all = self.0.iter();
        let found = all.clone().filter(code).find(exact);
        let found = found.or_else(|| all.clone().filter(code).find(holds));
        let found = found.or_else(|| all.clone().find(exact)).or_else(|| all.find(holds))?;
        Some(offset.wrapping_sub(found.offset).wrapping_add(found.address))
    }

    /// Offset in the file of an address of its own.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        let found = self
            .0
            .iter()
            .find(|s| address.checked_sub(s.address).is_some_and(|at| at < s.file_size))?;
        (address - found.address).checked_add(found.offset)
    }
}
