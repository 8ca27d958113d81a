//! A file with code: its CFI and its instructions.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gimli::{
    BaseAddresses, CieOrFde, DebugFrame, EhFrame, FrameDescriptionEntry, LittleEndian, Register,
    UnwindContext, UnwindSection,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

use super::code;
use super::rule::{Reg, Row, Rule};
use super::table;
use crate::error::{Error, Result};
use crate::symbols::Segments;

type Slice<'a> = gimli::EndianSlice<'a, LittleEndian>;

/// A section: its bytes in the file, and its address.
#[derive(Clone, Debug)]
struct Section {
    bytes: Range<usize>,
    address: u64,
}

/// A file that can be unwound through.
#[derive(Debug)]
pub struct Module {
    path: PathBuf,
    build_id: Vec<u8>,
    entry: u64,
    bytes: Arc<[u8]>,
    segments: Segments,
    eh_frame: Option<Section>,
    eh_frame_hdr: Option<Section>,
    debug_frame: Option<Section>,
    /// Start, end and place of each FDE of `.eh_frame`, where there is no table of them in the
    /// file; and of `.debug_frame`, which never has one.
    eh_index: OnceLock<Vec<Fde>>,
    debug_index: OnceLock<Vec<Fde>>,
}

/// Bytes of the code that a program starts with, at most.
const START_BYTES: u64 = 128;

#[derive(Clone, Copy, Debug)]
struct Fde {
    start: u64,
    end: u64,
    offset: usize,
}

/// What is known about the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// CFI says this.
    Row(Row),
    /// There is no CFI.
    Nothing,
    /// There is CFI, and it makes no sense.
    Corrupt,
}

impl Module {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// It can't be read, or is no 64-bit little-endian ELF file.
    pub fn open(path: impl AsRef<Path>) -> Result<Module> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::file(path, e))?;
        Module::parse(path, bytes.into())
    }

    /// Reads an ELF file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// They are no 64-bit little-endian ELF file.
    pub fn parse(path: impl Into<PathBuf>, bytes: Arc<[u8]>) -> Result<Module> {
        let path = path.into();
        let file: ElfFile64<'_, object::Endianness> = ElfFile64::parse(&*bytes)
            .map_err(|e| Error::format(&path, format!("it is no 64-bit ELF file: {e}")))?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            let (offset, size) = section.file_range()?;
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(usize::try_from(size).ok()?)?;
            // Compressed ones, which only `.debug_frame` can be, are left out.
            let plain = section
                .compressed_file_range()
                .is_ok_and(|r| r.format == object::CompressionFormat::None);
            (plain && end <= bytes.len())
                .then_some(Section { bytes: start..end, address: section.address() })
        };
        Ok(Module {
            segments: Segments::of(&file),
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            debug_frame: section(".debug_frame"),
            eh_index: OnceLock::new(),
            debug_index: OnceLock::new(),
            // A damaged build id identifies nothing: as good as none.
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
            entry: file.entry(),
            path,
            bytes: Arc::clone(&bytes),
        })
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

    /// The file's own address for an offset in it.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.address_of(offset)
    }

    /// The instruction at an address of the file's.
    pub(super) fn word(&self, address: u64) -> Option<u32> {
        let at = usize::try_from(self.segments.offset_of(address)?).ok()?;
        Some(u32::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// What CFI says about the frame of the code at an address of the file's.
    pub(super) fn find(&self, address: u64, context: &mut UnwindContext<usize>) -> Found {
        match self.find_eh(address, context) {
            Found::Nothing => self.find_debug(address, context),
            found => found,
        }
    }

    /// The same for the next instruction of the innermost frame, where CFI isn't always right.
    pub(super) fn find_next(&self, address: u64, context: &mut UnwindContext<usize>) -> Found {
        match self.find(address, context) {
            Found::Row(row @ Row { cfa: Some((Reg::R15, offset)), .. })
                if code::frame_pointer_is_restored(address, |at| self.word(at)) =>
            {
                Found::Row(Row { cfa: Some((Reg::Sp, offset)), r15: Rule::Reg(Reg::R15), ..row })
            }
            found => found,
        }
    }

    /// A row for code that has no CFI, from its instructions.
    pub(super) fn guess(&self, address: u64) -> Option<Row> {
        code::frame_by_prologue(address, |at| self.word(at))
    }

    /// Whether an address is in the code that a program, or its dynamic linker, starts with.
    pub(super) fn is_start(&self, address: u64) -> bool {
        self.entry != 0 && address.checked_sub(self.entry).is_some_and(|at| at < START_BYTES)
    }

    /// Whether the instruction before an address is a call that leaves it in `$26`.
    pub(super) fn is_after_call(&self, address: u64) -> bool {
        address.checked_sub(4).and_then(|at| self.word(at)).is_some_and(code::is_call)
    }

    fn slice(&self, section: &Section) -> &[u8] {
        &self.bytes[section.bytes.clone()]
    }

    fn bases(&self) -> BaseAddresses {
        let mut bases = BaseAddresses::default();
        if let Some(s) = &self.eh_frame {
            bases = bases.set_eh_frame(s.address);
        }
        bases
    }

    fn find_eh(&self, address: u64, context: &mut UnwindContext<usize>) -> Found {
        let Some(section) = &self.eh_frame else { return Found::Nothing };
        let frame = EhFrame::new(self.slice(section), LittleEndian);
        let bases = self.bases();
        match self.look_up(&frame, &bases, section.address, address) {
            Some(fde) if fde.contains(address) => row(&frame, &bases, &fde, address, context),
            Some(_) => Found::Nothing,
            None => {
                let index = self.eh_index.get_or_init(|| index(&frame, &bases));
                find(&frame, &bases, index, address, context)
            }
        }
    }

    /// The last FDE that starts at or before an address, by the table in the file; None if there is
    /// no table, or it leads nowhere.
    fn look_up<'a>(
        &self,
        frame: &EhFrame<Slice<'a>>,
        bases: &BaseAddresses,
        eh_frame_address: u64,
        address: u64,
    ) -> Option<FrameDescriptionEntry<Slice<'a>>> {
        let hdr = self.eh_frame_hdr.as_ref()?;
        let at = table::look_up(self.slice(hdr), hdr.address, address)?;
        let offset = usize::try_from(at.checked_sub(eh_frame_address)?).ok()?;
        frame.fde_from_offset(bases, offset.into(), EhFrame::cie_from_offset).ok()
    }

    fn find_debug(&self, address: u64, context: &mut UnwindContext<usize>) -> Found {
        let Some(section) = &self.debug_frame else { return Found::Nothing };
        let mut frame = DebugFrame::new(self.slice(section), LittleEndian);
        frame.set_address_size(8);
        let bases = self.bases();
        let index = self.debug_index.get_or_init(|| index(&frame, &bases));
        find(&frame, &bases, index, address, context)
    }
}

/// The FDEs of a section, up to the first that can't be read.
fn index<'a, S: UnwindSection<Slice<'a>>>(section: &S, bases: &BaseAddresses) -> Vec<Fde> {
    let (mut index, mut entries) = (Vec::new(), section.entries(bases));
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(fde) = partial.parse(S::cie_from_offset)
        {
            index.push(Fde {
                start: fde.initial_address(),
                end: fde.end_address(),
                offset: fde.offset(),
            });
        }
    }
    index.sort_by_key(|fde| fde.start);
    index
}

fn find<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    index: &[Fde],
    address: u64,
    context: &mut UnwindContext<usize>,
) -> Found {
    let after = index.partition_point(|fde| fde.start <= address);
    let Some(fde) = after.checked_sub(1).map(|i| index[i]).filter(|fde| address < fde.end) else {
        return Found::Nothing;
    };
    match section.fde_from_offset(bases, fde.offset.into(), S::cie_from_offset) {
        Ok(fde) => row(section, bases, &fde, address, context),
        Err(_) => Found::Corrupt,
    }
}

fn row<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    fde: &FrameDescriptionEntry<Slice<'a>>,
    address: u64,
    context: &mut UnwindContext<usize>,
) -> Found {
    let ra: Register = fde.cie().return_address_register();
    match fde.unwind_info_for_address(section, bases, context, address) {
        Ok(row) => Found::Row(Row::of(row, ra, fde.is_signal_trampoline())),
        Err(_) => Found::Corrupt,
    }
}
