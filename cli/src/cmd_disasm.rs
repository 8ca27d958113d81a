//! `axperf disasm`.

use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use axperf::Cpu;
use axperf::isa::{Disasm, disasm, palmode};
use axperf::symbols::{CodeSection, Dso, read_code};

use crate::failure::Failure;

/// What to disassemble.
#[derive(Debug)]
pub struct Options {
    pub what: Vec<OsString>,
    /// Whose PALmode instructions are known.
    pub cpu: Option<Cpu>,
}

impl Options {
    fn text(&self, word: u32, pc: u64) -> Disasm {
        match self.cpu {
            Some(cpu) => palmode::disasm(word, pc, cpu.family()),
            None => disasm(word, pc),
        }
    }

    fn write_section(
        &self,
        section: &CodeSection,
        symbols: &Dso,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        writeln!(out, "\n{}:", section.name)?;
        for (i, bytes) in section.bytes.as_chunks::<4>().0.iter().enumerate() {
            let pc = section.address + 4 * i as u64;
            let symbol = symbols.find(pc).map(|s| &symbols.symbols()[s]);
            if let Some(symbol) = symbol.filter(|s| s.start == pc) {
                writeln!(out, "\n{pc:016x} <{}>:", symbol.name())?;
            }
            let word = u32::from_le_bytes(*bytes);
            writeln!(out, "{pc:12x}:\t{word:08x}\t{}", self.text(word, pc))?;
        }
        Ok(())
    }
}

/// Disassembles files and words.
pub fn run(options: Options) -> Result<(), Failure> {
    let mut out = BufWriter::new(stdout().lock());
    for what in &options.what {
        match word(what) {
            Some(word) if !Path::new(what).exists() => {
                writeln!(out, "{word:08x}\t{}", options.text(word, 0))?;
            }
            _ => {
                let (sections, symbols) = read_code(Path::new(what))?;
                for section in &sections {
                    options.write_section(section, &symbols, &mut out)?;
                }
            }
        }
    }
    Ok(out.flush()?)
}

/// A hexadecimal number of up to 32 bits, with 0x or of just eight digits.
fn word(text: &OsStr) -> Option<u32> {
    let text = text.to_str()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() == 8 => u32::from_str_radix(text, 16).ok(),
        None => None,
    }
}
