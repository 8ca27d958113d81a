//! Functions that have no symbol: a stripped file still says where they are, for unwinding.

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

/// Start and end of each function with call frame information.
pub(super) fn functions(file: &ElfFile64<'_, object::Endianness>) -> Vec<(u64, u64)> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(bytes) = section.data() else { return Vec::new() };
    let frame = EhFrame::new(bytes, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let (mut found, mut entries) = (Vec::new(), frame.entries(&bases));
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(fde) = partial.parse(EhFrame::cie_from_offset)
        {
            found.push((fde.initial_address(), fde.end_address()));
        }
    }
    found
}
