//! A static Linux/alpha executable: one segment, readable, writable and executable.

const EM_ALPHA: u16 = 0x9026;
const HEADERS: u64 = 64 + 56;

/// The file of a segment that stands at `base` (which a page begins at) and is entered at `entry`.
pub fn executable(base: u64, image: &[u8], entry: u64) -> Vec<u8> {
    // The segment's bytes stand a page into the file, so that offset and address are congruent.
    let offset = 0x2000u64;
    assert!(HEADERS <= offset && base.is_multiple_of(offset));
    let mut f = Vec::with_capacity(offset as usize + image.len());
    // e_ident: 64 bits, little-endian, version 1.
    f.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // e_type ET_EXEC, e_machine.
    f.extend(2u16.to_le_bytes());
    f.extend(EM_ALPHA.to_le_bytes());
    f.extend(1u32.to_le_bytes());
    // e_entry, e_phoff, e_shoff.
    f.extend([entry, 64, 0].map(u64::to_le_bytes).concat());
    f.extend(0u32.to_le_bytes());
    // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx.
    f.extend([64u16, 56, 1, 64, 0, 0].map(u16::to_le_bytes).concat());
    // p_type PT_LOAD, p_flags RWX.
    f.extend([1u32, 7].map(u32::to_le_bytes).concat());
    // p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align.
    let len = image.len() as u64;
    f.extend([offset, base, base, len, len, offset].map(u64::to_le_bytes).concat());
    f.resize(offset as usize, 0);
    f.extend(image);
    f
}
