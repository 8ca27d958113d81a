//! The guest's registers in memory, in the order of Linux/alpha's `struct pt_regs`.

use crate::{Reg, fpcr};

/// The state of one Alpha CPU: 128 words of 64 bits.
///
/// The first 240 bytes are Linux/alpha `struct pt_regs` (7.x; the word at 184 is `$30`), then comes
/// what the kernel keeps elsewhere, then the [words](word) that generated code and the engine
/// exchange. Registers stand at [`Reg::offset`].
#[repr(C, align(64))]
#[derive(Clone)]
pub struct Regs {
    words: [u64; WORDS],
}

const WORDS: usize = 128;

/// Bytes of `struct pt_regs` at the start of [`Regs`].
pub const PT_REGS_SIZE: usize = 240;

/// Indices of the words that are no registers of the table.
pub mod word {
    /// `pt_regs.hae`: 0 in a user program.
    pub const HAE: usize = 19;
    /// `pt_regs.trap_a0`..`trap_a2`.
    pub const TRAP_A0: usize = 20;
    /// `pt_regs.ps`: 8 in user mode.
    pub const PS: usize = 24;
    /// Address of the LL/SC reservation, which covers an aligned block of 16 bytes, or
    /// [`NO_RESERVATION`](super::NO_RESERVATION).
    pub const LOCK_ADDR: usize = 70;
    /// What the block held when it was reserved: two words.
    pub const LOCK_BLOCK: usize = 71;
    /// The flag of RC and RS.
    pub const INTERRUPT_FLAG: usize = 73;
    /// Number of guest words: those below are the guest's, those from here on the engine's.
    pub const GUEST_END: usize = 74;
    /// Always zero: the storage behind a read of `$31`.
    pub const ZERO: usize = 74;
    /// Never read: the storage behind a write of `$31`.
    pub const SINK: usize = 75;
    /// Why generated code came back.
    pub const EXIT: usize = 76;
    /// What belongs to the exit: a slot's address, a host pc.
    pub const EXIT_ARG: usize = 77;
    /// Guest address of a host memory fault.
    pub const FAULT_ADDR: usize = 78;
    /// Kind of the host memory fault.
    pub const FAULT_KIND: usize = 79;
    /// Host stack pointer at the entry of generated code.
    pub const HOST_SP: usize = 80;
    /// Address of the indirect-target cache.
    pub const TARGETS: usize = 81;
    /// Host address of guest address 0 (flat memory).
    pub const MEM_BASE: usize = 82;
    /// Size of flat memory in bytes.
    pub const MEM_LEN: usize = 83;
    /// Address of the soft TLB.
    pub const TLB: usize = 84;
    /// Not zero: leave generated code at the next poll.
    pub const POLL: usize = 85;
    /// Instructions retired by regions of more than one block, where that is counted.
    pub const MULTI_BLOCK: usize = 86;
    /// What is left of the budget of translated code, where a fault finds it in no register.
    pub const RETIRED: usize = 87;
    /// What AMASK clears: the features that the CPU has.
    pub const AMASK: usize = 88;
    /// What IMPLVER answers.
    pub const IMPLVER: usize = 89;
    /// A value on its way through memory, for a moment.
    pub const PASSAGE: usize = 90;
    /// The host's floating-point flags, as translated code reads and writes them.
    pub const HOST_FLAGS: usize = 91;
    /// The divisor where translated code divides with the help of a stub.
    pub const DIVISOR: usize = 92;
    /// Not 0: every CALL_PAL is left to whoever plays PALcode, the thread pointer's too.
    pub const ALL_PAL_CALLS: usize = 93;
}

/// No LL/SC reservation is held: no block has an address with all bits set.
pub const NO_RESERVATION: u64 = u64::MAX;

const READ_INT: [u8; 32] = indices(0, word::ZERO as u8);
const WRITE_INT: [u8; 32] = indices(0, word::SINK as u8);
const READ_FP: [u8; 32] = indices(32, word::ZERO as u8);
const WRITE_FP: [u8; 32] = indices(32, word::SINK as u8);

const fn indices(first: usize, r31: u8) -> [u8; 32] {
    let mut t = [r31; 32];
    let mut i = 0;
    while i < 31 {
        t[i] = (Reg::ALL[first + i].offset() / 8) as u8;
        i += 1;
    }
    t
}

impl Default for Regs {
    fn default() -> Self {
        let mut words = [0; WORDS];
        words[word::PS] = 8;
        words[word::LOCK_ADDR] = NO_RESERVATION;
        words[Reg::Fpcr.offset() / 8] = fpcr::START;
        Regs { words }
    }
}

impl core::fmt::Debug for Regs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut map = f.debug_map();
        for &r in Reg::ALL {
            map.entry(&r.name(), &format_args!("{:#x}", self.get(r)));
        }
        map.finish()
    }
}

/// Two states are equal when the guest's part of them is: registers, PS, reservation.
impl PartialEq for Regs {
    fn eq(&self, other: &Self) -> bool {
        self.words[..word::GUEST_END] == other.words[..word::GUEST_END]
    }
}

impl Eq for Regs {}

impl Regs {
    /// Value of a register.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, reg: Reg) -> u64 {
        self.words[reg.offset() / 8 % WORDS]
    }

    /// Sets a register.
    #[inline(always)]
    pub fn set(&mut self, reg: Reg, value: u64) {
        self.words[reg.offset() / 8 % WORDS] = value;
    }

    /// A word by its index, for those that are no registers: see [`word`].
    #[must_use]
    #[inline(always)]
    pub fn word(&self, index: usize) -> u64 {
        self.words[index % WORDS]
    }

    /// Sets a word by its index.
    #[inline(always)]
    pub fn set_word(&mut self, index: usize, value: u64) {
        self.words[index % WORDS] = value;
    }

    /// All words, those of `struct pt_regs` first.
    #[must_use]
    #[inline(always)]
    pub fn words(&self) -> &[u64; 128] {
        &self.words
    }

    /// Integer register `n` (modulo 32; `$31` reads as zero).
    #[must_use]
    #[inline(always)]
    pub fn int(&self, n: u8) -> u64 {
        self.words[READ_INT[n as usize % 32] as usize % WORDS]
    }

    /// Sets integer register `n` (modulo 32; a write of `$31` is dropped).
    #[inline(always)]
    pub fn set_int(&mut self, n: u8, value: u64) {
        self.words[WRITE_INT[n as usize % 32] as usize % WORDS] = value;
    }

    /// Floating-point register `n` (modulo 32; `$f31` reads as zero).
    #[must_use]
    #[inline(always)]
    pub fn fp(&self, n: u8) -> u64 {
        self.words[READ_FP[n as usize % 32] as usize % WORDS]
    }

    /// Sets floating-point register `n` (modulo 32; a write of `$f31` is dropped).
    #[inline(always)]
    pub fn set_fp(&mut self, n: u8, value: u64) {
        self.words[WRITE_FP[n as usize % 32] as usize % WORDS] = value;
    }

    /// Index of the word that a read of integer register `n` finds.
    #[must_use]
    pub const fn int_source(n: u8) -> u8 {
        READ_INT[n as usize % 32]
    }

    /// Index of the word that a write of integer register `n` goes to.
    #[must_use]
    pub const fn int_sink(n: u8) -> u8 {
        WRITE_INT[n as usize % 32]
    }

    /// Index of the word that a read of floating-point register `n` finds.
    #[must_use]
    pub const fn fp_source(n: u8) -> u8 {
        READ_FP[n as usize % 32]
    }

    /// Index of the word that a write of floating-point register `n` goes to.
    #[must_use]
    pub const fn fp_sink(n: u8) -> u8 {
        WRITE_FP[n as usize % 32]
    }

    /// Address of the next instruction.
    #[must_use]
    #[inline(always)]
    pub fn pc(&self) -> u64 {
        self.get(Reg::Pc)
    }

    /// Sets the address of the next instruction.
    #[inline(always)]
    pub fn set_pc(&mut self, pc: u64) {
        self.set(Reg::Pc, pc);
    }
}

macro_rules! assert_offsets {
    ($($id:ident = $name:literal $abi:literal @ $off:literal, $perf:tt, $dwarf:tt, $gdb:tt;)*) => {
        const _: () = { $(assert!($off / 8 < word::LOCK_ADDR && $off % 8 == 0);)* };
    };
}
crate::for_each_reg!(assert_offsets);

// `struct pt_regs` of Linux 7.x for Alpha, word by word.
const _: () = {
    let layout = [
        (Reg::R0, 0),
        (Reg::R8, 64),
        (Reg::R19, 72),
        (Reg::R20, 80),
        (Reg::R21, 88),
        (Reg::R25, 120),
        (Reg::R26, 128),
        (Reg::R27, 136),
        (Reg::R28, 144),
        (Reg::Sp, 184),
        (Reg::Pc, 200),
        (Reg::Gp, 208),
        (Reg::R16, 216),
        (Reg::R17, 224),
        (Reg::R18, 232),
        (Reg::R9, 240),
        (Reg::R15, 288),
        (Reg::F0, 296),
        (Reg::F30, 536),
        (Reg::Fpcr, 544),
        (Reg::Unique, 552),
    ];
    let mut i = 0;
    while i < layout.len() {
        assert!(layout[i].0.offset() == layout[i].1);
        i += 1;
    }
    assert!(word::HAE * 8 == 152 && word::TRAP_A0 * 8 == 160 && word::PS * 8 == 192);
    assert!(core::mem::size_of::<Regs>() == WORDS * 8);
};
