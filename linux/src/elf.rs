//! Reads the headers of an Alpha ELF program. The file is hostile: whatever it says is checked.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::layout::{TASK_SIZE, page_down, page_up};

/// The ELF machine number of Alpha.
pub const EM_ALPHA: u16 = 0x9026;

const PHDR_SIZE: u64 = 56;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const PT_GNU_STACK: u32 = 0x6474_e551;
/// What the kernel accepts: 64 KiB of program headers.
const MAX_PHDRS: u64 = 65536 / PHDR_SIZE;
/// The kernel's PATH_MAX.
const MAX_INTERP: u64 = 4096;

/// What is loaded of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Whether it can be loaded anywhere (ET_DYN).
    pub relocatable: bool,
    /// Where it starts, before relocation.
    pub entry: u64,
    /// Its segments, in order of address, disjoint.
    pub segments: Vec<Segment>,
    /// The dynamic linker's path.
    pub interpreter: Option<Vec<u8>>,
    /// Address of the program headers in memory, before relocation; 0 if they aren't loaded.
    pub headers: u64,
    /// Their number.
    pub header_count: u64,
    /// Whether the stack is to be executable: what PT_GNU_STACK says, or yes without it.
    pub executable_stack: bool,
    /// Largest alignment of a segment.
    pub align: u64,
}

/// A PT_LOAD segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its address, before relocation.
    pub addr: u64,
    /// Its offset in the file, congruent to `addr` modulo the page size.
    pub offset: u64,
    /// Bytes in the file.
    pub file_len: u64,
    /// Bytes in memory, at least as many.
    pub mem_len: u64,
    /// Readable, writable, executable.
    pub flags: Access,
}

/// The permissions of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// PF_R.
    pub read: bool,
    /// PF_W.
    pub write: bool,
    /// PF_X.
    pub execute: bool,
}

/// Why a file can't be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
    /// Another kind of file; the text completes "it is ...".
    #[error("it is {0}, not an Alpha ELF program")]
    NotAlpha(String),
    /// An Alpha ELF file whose headers contradict themselves or reach beyond the file.
    #[error("its ELF headers are broken: {0}")]
    Broken(&'static str),
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Io(#[from] std::io::Error),
}

impl Image {
    /// Reads the headers of `file`.
    ///
    /// # Errors
    /// It isn't an Alpha ELF program, is broken, or can't be read.
    pub fn read(file: &File) -> Result<Image, ElfError> {
        let mut head = [0; 256];
        let have = read_up_to(file, &mut head, 0)?;
        let head = &head[..have];
        if let Some(what) = foreign(head) {
            return Err(ElfError::NotAlpha(what));
        }
        let relocatable = match half(head, 16) {
            2 => false,
            3 => true,
            _ => unreachable!("foreign() names every other type"),
        };
        if u64::from(half(head, 54)) != PHDR_SIZE {
            return Err(ElfError::Broken("program headers of a wrong size"));
        }
        let count = u64::from(half(head, 56));
        if count == 0 || count > MAX_PHDRS {
            return Err(ElfError::Broken("no program headers, or too many"));
        }
        let phoff = quad(head, 32);
        let mut table = vec![0; (count * PHDR_SIZE) as usize];
        if read_up_to(file, &mut table, phoff)? != table.len() {
            return Err(ElfError::Broken("program headers beyond the end of the file"));
        }
        let mut image = Image {
            relocatable,
            entry: quad(head, 24),
            segments: Vec::new(),
            interpreter: None,
            headers: 0,
            header_count: count,
            executable_stack: true,
            align: 1,
        };
        for p in table.chunks_exact(PHDR_SIZE as usize) {
            image.add(p, phoff, file)?;
        }
        image.check()?;
        Ok(image)
    }

    /// Takes in one program header.
    fn add(&mut self, p: &[u8], phoff: u64, file: &File) -> Result<(), ElfError> {
        let flags = word(p, 4);
        let (offset, addr) = (quad(p, 8), quad(p, 16));
        let (file_len, mem_len) = (quad(p, 32), quad(p, 40));
        match word(p, 0) {
            PT_LOAD => {
                let align = quad(p, 48);
                if align.is_power_of_two() {
                    self.align = self.align.max(align);
                }
                if mem_len == 0 {
                    return Ok(());
                }
                let flags =
                    Access { read: flags & 4 != 0, write: flags & 2 != 0, execute: flags & 1 != 0 };
                self.segments.push(Segment { addr, offset, file_len, mem_len, flags });
                // Where no PT_PHDR says it, the headers are in the segment that holds them.
                if self.headers == 0
                    && let Some(at) = phoff.checked_sub(offset)
                    && at < file_len
                {
                    self.headers = addr.wrapping_add(at);
                }
            }
            PT_INTERP if self.interpreter.is_none() => {
                if !(2..=MAX_INTERP).contains(&file_len) {
                    return Err(ElfError::Broken(
                        "the interpreter's path is too short or too long",
                    ));
                }
                let mut path = vec![0; file_len as usize];
                if read_up_to(file, &mut path, offset)? != path.len() {
                    return Err(ElfError::Broken("the interpreter's path lies beyond the file"));
                }
                if path.pop() != Some(0) || path.contains(&0) {
                    return Err(ElfError::Broken("the interpreter's path isn't a string"));
                }
                self.interpreter = Some(path);
            }
            PT_PHDR => self.headers = addr,
            PT_GNU_STACK => self.executable_stack = flags & 1 != 0,
            // Notes, dynamic section, TLS, RELRO: the dynamic linker's business.
            _ => {}
        }
        Ok(())
    }

    /// Checks the segments as a whole.
    fn check(&mut self) -> Result<(), ElfError> {
        if self.segments.is_empty() {
            return Err(ElfError::Broken("no loadable segment"));
        }
        self.segments.sort_by_key(|s| s.addr);
        let mut end = 0;
        for s in &self.segments {
            if s.file_len > s.mem_len {
                return Err(ElfError::Broken(
                    "a segment has more bytes in the file than in memory",
                ));
            }
            if page_offset(s.addr) != page_offset(s.offset) {
                return Err(ElfError::Broken("a segment's address and offset don't match"));
            }
            if s.offset.checked_add(s.file_len).is_none_or(|e| e > i64::MAX as u64) {
                return Err(ElfError::Broken("a segment's file range wraps around"));
            }
            if s.addr < end {
                return Err(ElfError::Broken("segments overlap"));
            }
            end = match s.addr.checked_add(s.mem_len) {
                Some(e) if e <= TASK_SIZE => e,
                _ => return Err(ElfError::Broken("a segment beyond the address space")),
            };
        }
        Ok(())
    }

    /// First and last address, to pages.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<u64> {
        let start = self.segments.first().map_or(0, |s| page_down(s.addr));
        let end = self.segments.last().and_then(|s| page_up(s.addr + s.mem_len)).unwrap_or(start);
        start..end
    }
}

fn page_offset(addr: u64) -> u64 {
    addr - page_down(addr)
}

/// What a file that isn't an Alpha ELF program is, by its first bytes.
fn foreign(head: &[u8]) -> Option<String> {
    let is = |magic: &[u8]| head.starts_with(magic);
    if head.is_empty() {
        return Some("an empty file".into());
    }
    if !is(b"\x7fELF") {
        let what = if is(b"#!") {
            "a script"
        } else if is(b"MZ") {
            "a DOS or Windows program"
        } else if is(&[0x83, 0x01]) || is(&[0x88, 0x01]) {
            "an Alpha ECOFF (OSF/1) program"
        } else if is(&[0xcf, 0xfa, 0xed, 0xfe]) || is(&[0xca, 0xfe, 0xba, 0xbe]) {
            "a Mach-O program or a Java class"
        } else if is(b"!<arch>") {
            "a library archive"
        } else if is(b"PERFILE2") {
            "a perf.data recording"
        } else if head.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
            "a text file"
        } else {
            "a file of unknown format"
        };
        return Some(what.into());
    }
    if head.len() < 64 {
        return Some("a truncated ELF file".into());
    }
    let little = match head[5] {
        1 => true,
        2 => false,
        _ => return Some("an ELF file of unknown byte order".into()),
    };
    let wide = head[4] == 2;
    let number = |at: usize| {
        let bytes = [head[at], head[at + 1]];
        if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    };
    let kind = match number(16) {
        1 => "object file",
        2 => "program",
        3 => "program or shared library",
        4 => "core file",
        _ => "file of unknown type",
    };
    let machine = number(18);
    if machine != EM_ALPHA || !little || !wide {
        let name = match machine {
            2 | 18 | 43 => "a SPARC",
            3 => "an i386",
            8 => "a MIPS",
            20 => "a PowerPC",
            21 => "a PowerPC64",
            22 => "an S/390",
            40 => "an ARM",
            42 => "a SuperH",
            50 => "an IA-64",
            62 => "an x86-64",
            183 => "an AArch64",
            243 => "a RISC-V",
            258 => "a LoongArch",
            EM_ALPHA => "a malformed Alpha",
            other => return Some(format!("an ELF {kind} for machine {other:#x}")),
        };
        return Some(format!("{name} ELF {kind}"));
    }
    match number(16) {
        2 | 3 => None,
        _ => Some(format!("an Alpha ELF {kind}")),
    }
}

fn half(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

fn word(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(b[at..at + 4].try_into().expect("four bytes"))
}

fn quad(b: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(b[at..at + 8].try_into().expect("eight bytes"))
}

/// Reads until `buf` is full or the file ends; returns the bytes read.
fn read_up_to(file: &File, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
    if offset > i64::MAX as u64 {
        return Ok(0);
    }
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        // SAFETY: a C string; the descriptor is ours.
        let mut f: File = unsafe {
            let fd = libc::memfd_create(c"elf".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0);
            std::os::fd::FromRawFd::from_raw_fd(fd)
        };
        f.write_all(bytes).unwrap();
        f
    }

    /// A minimal program: two segments, with the values at which real ones stand.
    fn program() -> Vec<u8> {
        let mut b = vec![0; 64 + 3 * 56];
        b[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
        put(16, &2u16.to_le_bytes());
        put(18, &EM_ALPHA.to_le_bytes());
        put(24, &0x1_2000_0440u64.to_le_bytes());
        put(32, &64u64.to_le_bytes());
        put(54, &56u16.to_le_bytes());
        put(56, &3u16.to_le_bytes());
        let segments: [[u64; 7]; 3] = [
            [1 | 5 << 32, 0, 0x1_2000_0000, 0, 0x6ec, 0x6ec, 0x10000],
            [1 | 6 << 32, 0xfe10, 0x1_2001_fe10, 0, 0x228, 0x9000, 0x10000],
            [0x6474_e551 | 6 << 32, 0, 0, 0, 0, 0, 16],
        ];
        for (i, s) in segments.iter().enumerate() {
            for (j, v) in s.iter().enumerate() {
                put(64 + i * 56 + j * 8, &v.to_le_bytes());
            }
        }
        b
    }

    #[test]
    fn reads_a_program() {
        let image = Image::read(&file(&program())).unwrap();
        assert_eq!(image.entry, 0x1_2000_0440);
        assert_eq!(image.headers, 0x1_2000_0040);
        assert_eq!(image.header_count, 3);
        assert!(!image.relocatable && !image.executable_stack);
        assert_eq!(image.range(), 0x1_2000_0000..0x1_2002_a000);
        assert_eq!(image.segments[1].flags, Access { read: true, write: true, execute: false });
    }

    /// Every one-byte change and every cut of the headers is accepted or an error, never a panic.
    #[test]
    fn broken_headers_are_errors() {
        let good = program();
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                drop(Image::read(&file(&bad)).map(|i| i.range()));
            }
            assert!(Image::read(&file(&good[..at])).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn says_what_a_file_is() {
        let name = |bytes: &[u8]| Image::read(&file(bytes)).unwrap_err().to_string();
        assert_eq!(name(b""), "it is an empty file, not an Alpha ELF program");
        assert_eq!(name(b"#!/bin/sh\n"), "it is a script, not an Alpha ELF program");
        assert_eq!(name(b"hello\n"), "it is a text file, not an Alpha ELF program");
        let mut x = program();
        x[18..20].copy_from_slice(&62u16.to_le_bytes());
        assert_eq!(name(&x), "it is an x86-64 ELF program, not an Alpha ELF program");
        x[18..20].copy_from_slice(&21u16.to_le_bytes());
        x[5] = 2;
        x[16..20].copy_from_slice(&[0, 3, 0, 21]);
        assert_eq!(
            name(&x),
            "it is a PowerPC64 ELF program or shared library, not an Alpha ELF program"
        );
        let mut object = program();
        object[16] = 1;
        assert_eq!(name(&object), "it is an Alpha ELF object file, not an Alpha ELF program");
    }
}
