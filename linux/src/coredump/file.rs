//! The ELF file of a core dump.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::memory::Segment;
use crate::bytes::Bytes;
use crate::layout::PAGE;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;

const ET_CORE: u16 = 4;
const EM_ALPHA: u16 = 0x9026;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
/// Stands for a number of program headers that doesn't fit: the first section header has it.
const PN_XNUM: u16 = 0xffff;

/// Bytes that are copied at once.
const CHUNK: usize = 1 << 16;

/// Writes a core dump: its notes, and the memory of this process.
pub(super) fn write(file: &File, notes: &[u8], segments: &[Segment]) -> io::Result<()> {
    let count = segments.len() + 1;
    let notes_at = HEADER + count * PROGRAM_HEADER + SECTION_HEADER;
    let mut headers = Vec::with_capacity(notes_at);
    headers.extend_from_slice(&elf_header(count).0);
    let notes_len = notes.len() as u64;
    headers.extend_from_slice(&program_header(PT_NOTE, 0, notes_at as u64, 0..0, notes_len, 4).0);
    let first = (notes_at as u64 + notes_len).next_multiple_of(PAGE);
    let mut at = first;
    for s in segments {
        // PROT_READ and PROT_EXEC are PF_R and PF_X the other way round.
        let flags = (s.prot & 1) << 2 | s.prot & 2 | s.prot >> 2 & 1;
        let len = if s.dumped { s.range.end - s.range.start } else { 0 };
        headers
            .extend_from_slice(&program_header(PT_LOAD, flags, at, s.range.clone(), len, PAGE).0);
        at += len;
    }
    let mut section = Bytes::<SECTION_HEADER>::zeroed();
    section.put_u32(44, count as u32);
    headers.extend_from_slice(&section.0);
    file.write_all_at(&headers, 0)?;
    file.write_all_at(notes, notes_at as u64)?;
    let memory = File::open("/proc/self/mem")?;
    let mut to = first;
    for s in segments.iter().filter(|s| s.dumped) {
        copy(&memory, s, file, to)?;
        to += s.range.end - s.range.start;
    }
    file.set_len(to)
}

fn elf_header(count: usize) -> Bytes<HEADER> {
    let mut h = Bytes::<HEADER>::zeroed();
    // 64 bits, little-endian, version 1.
    h.0[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    h.put_u16(16, ET_CORE);
    h.put_u16(18, EM_ALPHA);
    h.put_u32(20, 1);
    h.put_u64(32, HEADER as u64);
    h.put_u16(52, HEADER as u16);
    h.put_u16(54, PROGRAM_HEADER as u16);
    let fits = u16::try_from(count).ok().filter(|n| *n < PN_XNUM);
    h.put_u16(56, fits.unwrap_or(PN_XNUM));
    if fits.is_none() {
        h.put_u64(40, (HEADER + count * PROGRAM_HEADER) as u64);
        h.put_u16(58, SECTION_HEADER as u16);
        h.put_u16(60, 1);
    }
    h
}

fn program_header(
    kind: u32,
    flags: u32,
    offset: u64,
    range: std::ops::Range<u64>,
    file_size: u64,
    align: u64,
) -> Bytes<PROGRAM_HEADER> {
    let mut h = Bytes::zeroed();
    h.put_u32(0, kind);
    h.put_u32(4, flags);
    h.put_u64(8, offset);
    h.put_u64(16, range.start);
    h.put_u64(32, file_size);
    h.put_u64(40, range.end - range.start);
    h.put_u64(48, align);
    h
}

/// Copies memory into the file. Zeros, and what can't be read, are holes.
fn copy(memory: &File, segment: &Segment, file: &File, to: u64) -> io::Result<()> {
    let mut bytes = vec![0; CHUNK];
    let mut from = segment.range.start;
    while from < segment.range.end {
        let n = (segment.range.end - from).min(CHUNK as u64) as usize;
        let bytes = &mut bytes[..n];
        let read = memory.read_exact_at(bytes, from).is_ok();
        if read && bytes.iter().any(|b| *b != 0) {
            file.write_all_at(bytes, to + (from - segment.range.start))?;
        }
        from += n as u64;
    }
    Ok(())
}
