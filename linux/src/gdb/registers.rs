//! The registers as gdb sees them: 67 words, by the numbers of gdb's Alpha target.

use std::num::NonZeroUsize;

use axperf::Reg;
use gdbstub::arch::{Arch, RegId, Registers};

/// Registers that gdb has: 31 is `$31`, and 65 is none.
const COUNT: usize = 67;
const BYTES: usize = 8;

/// Alpha, as gdb knows it.
#[derive(Debug)]
pub(crate) enum Alpha {}

impl Arch for Alpha {
    type Usize = u64;
    type Registers = GdbRegisters;
    type BreakpointKind = usize;
    type RegId = GdbRegister;

    /// gdb's Alpha target has its registers built in, and takes no others from a description.
    fn target_description_xml() -> Option<&'static str> {
        Some(concat!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n",
            "<target version=\"1.0\"><architecture>alpha</architecture>",
            "<osabi>GNU/Linux</osabi></target>\n",
        ))
    }
}

/// A register by gdb's number; None for those that hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GdbRegister(pub Option<Reg>);

impl RegId for GdbRegister {
    fn from_raw_id(id: usize) -> Option<(GdbRegister, Option<NonZeroUsize>)> {
        (id < COUNT).then(|| (GdbRegister(numbered(id)), NonZeroUsize::new(BYTES)))
    }
}

/// The register with gdb's number `n`.
fn numbered(n: usize) -> Option<Reg> {
    Reg::ALL.iter().copied().find(|r| r.gdb().is_some_and(|g| usize::from(g) == n))
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GdbRegisters(pub axperf::Regs);

impl Registers for GdbRegisters {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.0.pc()
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        for n in 0..COUNT {
            let value = numbered(n).map_or(0, |reg| self.0.get(reg));
            value.to_le_bytes().into_iter().for_each(|b| write_byte(Some(b)));
        }
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if bytes.len() != COUNT * BYTES {
            return Err(());
        }
        for (n, value) in bytes.chunks_exact(BYTES).enumerate() {
            if let Some(reg) = numbered(n) {
                self.0.set(reg, u64::from_le_bytes(value.try_into().expect("eight bytes")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers: `maint print registers` of gdb 13 for its Alpha target.
    #[test]
    fn numbers() {
        for (n, want) in [
            (0, Some(Reg::R0)),
            (26, Some(Reg::R26)),
            (30, Some(Reg::Sp)),
            (31, None),
            (32, Some(Reg::F0)),
            (62, Some(Reg::F30)),
            (63, Some(Reg::Fpcr)),
            (64, Some(Reg::Pc)),
            (65, None),
            (66, Some(Reg::Unique)),
        ] {
            assert_eq!(
                GdbRegister::from_raw_id(n),
                Some((GdbRegister(want), NonZeroUsize::new(8)))
            );
        }
        assert_eq!(GdbRegister::from_raw_id(67), None);
    }

    #[test]
    fn a_packet_and_back() {
        let mut regs = GdbRegisters::default();
        for (i, &reg) in Reg::ALL.iter().enumerate() {
            regs.0.set(reg, 0x100 + i as u64);
        }
        let mut bytes = Vec::new();
        regs.gdb_serialize(|b| bytes.extend(b));
        assert_eq!(bytes.len(), 67 * 8);
        assert_eq!(bytes[31 * 8..32 * 8], [0; 8]);
        let mut back = GdbRegisters::default();
        assert!(back.gdb_deserialize(&bytes).is_ok());
        assert_eq!(back, regs);
        assert!(back.gdb_deserialize(&bytes[1..]).is_err());
    }
}
