//! An ELF file: its symbols, its build id, and where its segments lie.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::elf;
use object::read::elf::{ElfFile64, Sym as _};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SectionFlags};

use super::segments::Segments;
use super::{demangle, nameless};
use crate::error::{Error, Result};

/// A function of an ELF file.
#[derive(Debug)]
pub struct Symbol {
    /// Its first address, as the file has it.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    raw: Box<str>,
    plain: OnceLock<Box<str>>,
}

impl Symbol {
    /// Its name as it stands in the file; `[0x...]`, its address, if it has none.
    #[must_use]
    pub fn raw_name(&self) -> &str {
        &self.raw
    }

    /// Its name as it stands in the source.
    #[must_use]
    pub fn name(&self) -> &str {
        self.plain.get_or_init(|| demangle(&self.raw).into_boxed_str())
    }
}

/// An ELF file's symbols, sorted.
#[derive(Debug, Default)]
pub struct Dso {
    path: PathBuf,
    build_id: Vec<u8>,
    segments: Segments,
    symbols: Vec<Symbol>,
}

/// What stands between symbols of one start when one has to be chosen: greater is better.
type Rank = (bool, u8, std::cmp::Reverse<usize>);

struct Candidate<'a> {
    start: u64,
    size: u64,
    rank: Rank,
    name: &'a [u8],
    /// End of its section, where a symbol without a size ends at the latest.
    limit: u64,
}

impl Dso {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// It can't be read, or is no 64-bit little-endian ELF file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Dso> {
        let path = path.into();
        let bytes = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
        Dso::parse(path, &bytes)
    }

    /// Reads an ELF file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// They are no 64-bit little-endian ELF file.
    pub fn parse(path: impl Into<PathBuf>, bytes: &[u8]) -> Result<Dso> {
        let path = path.into();
        let file: ElfFile64<'_, object::Endianness> = ElfFile64::parse(bytes)
            .map_err(|e| Error::format(&path, format!("it is no 64-bit ELF file: {e}")))?;
        let segments = Segments::of(&file);
        // A damaged build id identifies nothing: as good as none.
        let build_id = file.build_id().ok().flatten().unwrap_or_default().to_vec();
        let mut found = candidates(&file);
        found.sort_by_key(|c| (c.start, std::cmp::Reverse(c.rank)));
        found.dedup_by_key(|c| c.start);
        let mut symbols = sized(&found);
        add_plt(&file, &mut symbols);
        add_nameless(&file, &mut symbols);
        Ok(Dso { path, build_id, segments, symbols })
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The build id; empty if it has none.
    #[must_use]
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }

    /// The functions, in ascending order.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Index of the function that an address of the file's lies in.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self.symbols.partition_point(|s| s.start <= address);
        let index = after.checked_sub(1)?;
        (address < self.symbols[index].end).then_some(index)
    }

    /// The file's own address for an offset in it.
    #[must_use]
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.address_of(offset)
    }
}

type Elf<'a> = ElfFile64<'a, object::Endianness>;

/// The functions in the symbol table, and in the dynamic one.
fn candidates<'a>(file: &Elf<'a>) -> Vec<Candidate<'a>> {
    let endian = file.endian();
    let code: Vec<_> = file
        .sections()
        .map(|s| match s.flags() {
            SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR) => {
                Some(s.address().saturating_add(s.size()))
            }
            _ => None,
        })
        .collect();
    let tables = [file.symbol_table(), file.dynamic_symbol_table()];
    let mut found = Vec::new();
    for symbol in tables.into_iter().flatten().flat_map(|t| t.symbols()) {
        let raw = symbol.elf_symbol();
        let function = matches!(raw.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
        if !function && raw.st_type() != elf::STT_NOTYPE {
            continue;
        }
        let Some(section) = symbol.section_index() else { continue };
        // Section 0 is none, and not in the list.
        let Some(&Some(limit)) = section.0.checked_sub(1).and_then(|i| code.get(i)) else {
            continue;
        };
        let Ok(name) = symbol.name_bytes() else { continue };
        if name.is_empty() {
            continue;
        }
        let binding = match raw.st_bind() {
            elf::STB_GLOBAL => 2,
            elf::STB_WEAK => 1,
            _ => 0,
        };
        let underscores = name.iter().take_while(|&&b| b == b'_').count();
        found.push(Candidate {
            start: raw.st_value(endian),
            size: raw.st_size(endian),
            rank: (function && raw.st_size(endian) > 0, binding, std::cmp::Reverse(underscores)),
            name,
            limit,
        });
    }
    found
}

/// Gives each an end: a symbol without a size goes on to the next one.
fn sized(found: &[Candidate]) -> Vec<Symbol> {
    let symbol = |(i, c): (usize, &Candidate)| {
        let next = found.get(i + 1).map_or(c.limit, |n| n.start);
        let end = match c.size {
            0 => next.min(c.limit.max(c.start)),
            size => c.start.saturating_add(size),
        };
        Symbol {
            start: c.start,
            end,
            raw: String::from_utf8_lossy(c.name).into(),
            plain: OnceLock::new(),
        }
    };
    found.iter().enumerate().map(symbol).collect()
}

/// Adds the functions that have no symbol, by their addresses: they can be told apart that way.
fn add_nameless(file: &Elf, symbols: &mut Vec<Symbol>) {
    let named = symbols.len();
    for (start, end) in nameless::functions(file) {
        let after = symbols[..named].partition_point(|s| s.start <= start);
        let covered = after > 0 && start < symbols[after - 1].end;
        // A function whose symbol starts a little later is that symbol's.
        let next = symbols[..named].get(after).map_or(u64::MAX, |s| s.start);
        if !covered && end <= next && start < end {
            let raw = format!("[{start:#x}]").into();
            symbols.push(Symbol { start, end, raw, plain: OnceLock::new() });
        }
    }
    symbols.sort_by_key(|s| s.start);
    symbols.dedup_by_key(|s| s.start);
    add_start(file, symbols);
}

/// Names the code that a stripped program starts with as the language's start-up files do.
fn add_start(file: &Elf, symbols: &mut Vec<Symbol>) {
    let start = file.entry();
    let after = symbols.partition_point(|s| s.start <= start);
    if start == 0 || (after > 0 && start < symbols[after - 1].end) {
        return;
    }
    let next = symbols.get(after).map_or(u64::MAX, |s| s.start);
    let end = start.saturating_add(START_BYTES).min(next);
    symbols.insert(after, Symbol { start, end, raw: "_start".into(), plain: OnceLock::new() });
}

/// Bytes of the code that a program starts with, at most.
const START_BYTES: u64 = 128;

/// Bytes of the start of a read-only `.plt`, before its entries.
const PLT_HEADER: u64 = 36;

/// Bytes of an entry: one branch.
const PLT_ENTRY: u64 = 4;

/// Adds a name for each entry of the `.plt`, which has no symbols: its relocations, which are in
/// the same order, have them.
fn add_plt(file: &Elf, symbols: &mut Vec<Symbol>) {
    let Some(plt) = file.section_by_name(".plt") else { return };
    let (Some(relocations), Some(dynamic)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return;
    };
    let slots: Vec<_> = relocations
        .filter_map(|(_, r)| match (r.flags(), r.target()) {
            (
                object::RelocationFlags::Elf { r_type: elf::R_ALPHA_JMP_SLOT },
                object::RelocationTarget::Symbol(index),
            ) => Some(index),
            _ => None,
        })
        .collect();
    if plt.size() != PLT_HEADER + PLT_ENTRY * slots.len() as u64 {
        return;
    }
    symbols.retain(|s| s.raw_name() != "_PROCEDURE_LINKAGE_TABLE_");
    for (i, slot) in slots.into_iter().enumerate() {
        let Ok(name) = dynamic.symbol_by_index(slot).and_then(|s| s.name().map(str::to_owned))
        else {
            continue;
        };
        let start = plt.address() + PLT_HEADER + PLT_ENTRY * i as u64;
        symbols.push(Symbol {
            start,
            end: start + PLT_ENTRY,
            raw: format!("{name}@plt").into(),
            plain: OnceLock::new(),
        });
    }
    symbols.sort_by_key(|s| s.start);
}
