//! The guest's registers in memory, in the order of Linux/alpha's `struct pt_regs`.

use crate::Reg;

/// The state of one Alpha CPU.
///
/// The first 240 bytes are Linux/alpha `struct pt_regs` (7.x: with the word at 184, which holds
/// `$30` here); then what the kernel keeps elsewhere; then the engine's own words, which generated
/// code reaches through the same pointer. Every offset is asserted below.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Regs {
    /// `$0`..`$8`.
    pub r0_8: [u64; 9],
    /// `$19`..`$28`.
    pub r19_28: [u64; 10],
    /// The kernel's copy of the HAE register: 0 for a user program.
    pub hae: u64,
    /// What PALcode passed at the last trap.
    pub trap_a: [u64; 3],
    /// `$30`.
    pub usp: u64,
    /// Processor status: 8 in user mode.
    pub ps: u64,
    /// Address of the next instruction.
    pub pc: u64,
    /// `$29`.
    pub gp: u64,
    /// `$16`..`$18`.
    pub r16_18: [u64; 3],
    /// `$9`..`$15` (the kernel's `switch_stack`).
    pub r9_15: [u64; 7],
    /// `$f0`..`$f30`, as 64-bit register images.
    pub f: [u64; 31],
    /// Floating-point control register.
    pub fpcr: u64,
    /// The thread pointer (PALcode's `unique`).
    pub unique: u64,
    /// Address of the LL/SC reservation, or [`NO_RESERVATION`].
    pub lock_addr: u64,
    /// What the load-locked read.
    pub lock_value: u64,
    /// Always zero: the storage behind a read of `$31`.
    pub zero: u64,
    /// Never read: the storage behind a write of `$31`.
    pub sink: u64,
    /// The words that generated code and the engine exchange.
    pub engine: EngineWords,
}

/// No LL/SC reservation is held: no access has an address with all bits set.
pub const NO_RESERVATION: u64 = u64::MAX;

/// Words that generated code reaches through the state pointer.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct EngineWords {
    /// Why generated code came back.
    pub exit: u64,
    /// What belongs to it: a slot's address for an unresolved exit, a host pc for a fault.
    pub exit_arg: u64,
    /// Guest address of a host memory fault.
    pub fault_addr: u64,
    /// Host stack pointer at the entry of generated code.
    pub host_sp: u64,
    /// Indirect-target cache.
    pub itc: u64,
    /// Host address of guest address 0 (flat memory).
    pub mem_base: u64,
    /// Size of flat memory in bytes.
    pub mem_len: u64,
    /// Soft TLB.
    pub tlb: u64,
    /// Not zero: leave generated code at the next poll.
    pub poll: u64,
    /// Instructions retired by regions of more than one block, where it is counted.
    pub multi_block: u64,
    /// Shadow stack of calls, where it is kept.
    pub shadow: u64,
}

macro_rules! assert_offsets {
    ($($id:ident = $name:literal $abi:literal @ $off:literal, $perf:tt, $dwarf:tt, $gdb:tt;)*) => {
        const REG_OFFSETS_IN_RANGE: () = { $(assert!($off < core::mem::offset_of!(Regs, lock_addr));)* };
    };
}
crate::for_each_reg!(assert_offsets);
const _: () = REG_OFFSETS_IN_RANGE;

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(Regs, r0_8) == Reg::R0.offset());
    assert!(offset_of!(Regs, r19_28) == Reg::R19.offset() && Reg::R28.offset() == 144);
    assert!(offset_of!(Regs, hae) == 152);
    assert!(offset_of!(Regs, trap_a) == 160);
    assert!(offset_of!(Regs, usp) == Reg::Sp.offset());
    assert!(offset_of!(Regs, ps) == 192);
    assert!(offset_of!(Regs, pc) == Reg::Pc.offset());
    assert!(offset_of!(Regs, gp) == Reg::Gp.offset());
    assert!(offset_of!(Regs, r16_18) == Reg::R16.offset() && Reg::R18.offset() == 232);
    assert!(offset_of!(Regs, r9_15) == 240 && Reg::R9.offset() == 240);
    assert!(offset_of!(Regs, f) == Reg::F0.offset());
    assert!(offset_of!(Regs, fpcr) == Reg::Fpcr.offset());
    assert!(offset_of!(Regs, unique) == Reg::Unique.offset());
};

/// Bytes of `struct pt_regs` at the start of [`Regs`].
pub const PT_REGS_SIZE: usize = 240;

const WORDS: usize = core::mem::offset_of!(Regs, lock_addr) / 8;

impl Default for Regs {
    fn default() -> Self {
        Regs {
            r0_8: [0; 9],
            r19_28: [0; 10],
            hae: 0,
            trap_a: [0; 3],
            usp: 0,
            ps: 8,
            pc: 0,
            gp: 0,
            r16_18: [0; 3],
            r9_15: [0; 7],
            f: [0; 31],
            fpcr: FPCR_DYN_NORMAL,
            unique: 0,
            lock_addr: NO_RESERVATION,
            lock_value: 0,
            zero: 0,
            sink: 0,
            engine: EngineWords::default(),
        }
    }
}

/// FPCR with dynamic rounding to nearest and nothing else: what this CPU starts with.
pub const FPCR_DYN_NORMAL: u64 = 2 << 58;

impl Regs {
    /// Value of a register.
    #[must_use]
    #[inline]
    pub fn get(&self, reg: Reg) -> u64 {
        match reg {
            Reg::R0 | Reg::R1 | Reg::R2 | Reg::R3 | Reg::R4 | Reg::R5 | Reg::R6 | Reg::R7
            | Reg::R8 => self.r0_8[reg.offset() / 8],
            Reg::R9 | Reg::R10 | Reg::R11 | Reg::R12 | Reg::R13 | Reg::R14 | Reg::R15 => {
                self.r9_15[(reg.offset() - 240) / 8]
            }
            Reg::R16 | Reg::R17 | Reg::R18 => self.r16_18[(reg.offset() - 216) / 8],
            Reg::Gp => self.gp,
            Reg::Sp => self.usp,
            Reg::Pc => self.pc,
            Reg::Fpcr => self.fpcr,
            Reg::Unique => self.unique,
            r if r.offset() < 152 => self.r19_28[(r.offset() - 72) / 8],
            r => self.f[(r.offset() - 296) / 8],
        }
    }

    /// Sets a register.
    #[inline]
    pub fn set(&mut self, reg: Reg, value: u64) {
        let slot = match reg {
            Reg::R0 | Reg::R1 | Reg::R2 | Reg::R3 | Reg::R4 | Reg::R5 | Reg::R6 | Reg::R7
            | Reg::R8 => &mut self.r0_8[reg.offset() / 8],
            Reg::R9 | Reg::R10 | Reg::R11 | Reg::R12 | Reg::R13 | Reg::R14 | Reg::R15 => {
                &mut self.r9_15[(reg.offset() - 240) / 8]
            }
            Reg::R16 | Reg::R17 | Reg::R18 => &mut self.r16_18[(reg.offset() - 216) / 8],
            Reg::Gp => &mut self.gp,
            Reg::Sp => &mut self.usp,
            Reg::Pc => &mut self.pc,
            Reg::Fpcr => &mut self.fpcr,
            Reg::Unique => &mut self.unique,
            r if r.offset() < 152 => &mut self.r19_28[(r.offset() - 72) / 8],
            r => &mut self.f[(r.offset() - 296) / 8],
        };
        *slot = value;
    }

    /// Integer register `n` (0 to 31; `$31` reads as zero).
    #[must_use]
    pub fn int(&self, n: u8) -> u64 {
        Reg::int(n).map_or(0, |r| self.get(r))
    }

    /// Floating-point register `n` (0 to 31; `$f31` reads as zero).
    #[must_use]
    pub fn fp(&self, n: u8) -> u64 {
        Reg::fp(n).map_or(0, |r| self.get(r))
    }
}

/// Number of 8-byte words that hold guest registers at the start of [`Regs`].
pub const REG_WORDS: usize = WORDS;
