//! The code of an ELF file, to be disassembled.

use std::path::PathBuf;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, SectionFlags, elf};

use super::dso::Dso;
use crate::error::{Error, Result};

/// A section with code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeSection {
    /// Its name.
    pub name: String,
    /// Its address, as the file has it.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The sections with code of an Alpha ELF file, and its symbols.
///
/// # Errors
/// It can't be read, isn't ELF, or is for another machine.
pub fn read_code(path: impl Into<PathBuf>) -> Result<(Vec<CodeSection>, Dso)> {
    let path = path.into();
    let bytes = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
    let dso = Dso::parse(&path, &bytes)?;
    let file: ElfFile64<'_, object::Endianness> = ElfFile64::parse(&*bytes)
        .map_err(|e| Error::format(&path, format!("it is no 64-bit ELF file: {e}")))?;
    if file.architecture() != object::Architecture::Alpha {
        return Err(Error::format(path, "it is not for Alpha"));
    }
    let mut sections = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(elf::SHF_EXECINSTR) {
            continue;
        }
        let bad = |e: object::Error| Error::format(&path, format!("a section can't be read: {e}"));
        sections.push(CodeSection {
            name: section.name().map_err(bad)?.to_owned(),
            address: section.address(),
            bytes: section.data().map_err(bad)?.to_vec(),
        });
    }
    Ok((sections, dso))
}
