//! Register masks, and copying the registers of a mask.

use std::fmt;
use std::str::FromStr;

use axperf_isa::state::PT_REGS_SIZE;
use axperf_isa::{Reg, Regs};

use super::attr::{AttrError, Errno};

/// A set of registers by perf's index: `sample_regs_user` and `sample_regs_intr`.
///
/// perf writes the registers of a mask in ascending order of their index, one `u64` each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RegMask(u64);

impl RegMask {
    /// No register.
    pub const EMPTY: RegMask = RegMask(0);

    /// What Linux allows: the registers that `struct pt_regs` holds, 0xffff01ff. `all` on the
    /// command line.
    pub const KERNEL: RegMask = RegMask(kernel_mask());

    /// Every register that has an index, an extension of axperf's: `$9`..`$15` too, the
    /// floating-point registers at 32..=62 and the FPCR at 63. `ext` on the command line.
    pub const EXTENDED: RegMask = RegMask(u64::MAX);

    /// What unwinding needs: pc, sp, `$15`, `$16`, `$23`, `$26`.
    pub const UNWIND: RegMask =
        RegMask::of(&[Reg::Pc, Reg::Sp, Reg::R15, Reg::R16, Reg::R23, Reg::R26]);

    /// The mask with these bits.
    #[must_use]
    pub const fn from_bits(bits: u64) -> RegMask {
        RegMask(bits)
    }

    /// The mask of these registers. One that has no index in perf adds nothing.
    #[must_use]
    pub const fn of(regs: &[Reg]) -> RegMask {
        let (mut bits, mut i) = (0, 0);
        while i < regs.len() {
            if let Some(index) = regs[i].perf_index() {
                bits |= 1 << index;
            }
            i += 1;
        }
        RegMask(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Number of registers.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the mask has no register.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the mask has this register.
    #[must_use]
    pub const fn contains(self, reg: Reg) -> bool {
        match reg.perf_index() {
            Some(index) => self.0 & 1 << index != 0,
            None => false,
        }
    }

    /// Registers of either mask.
    #[must_use]
    pub const fn union(self, other: RegMask) -> RegMask {
        RegMask(self.0 | other.0)
    }

    /// Registers of this mask that `other` lacks.
    #[must_use]
    pub const fn without(self, other: RegMask) -> RegMask {
        RegMask(self.0 & !other.0)
    }

    /// The registers in the order of their index, which is the order in a sample.
    pub fn regs(self) -> impl Iterator<Item = Reg> {
        (0..64).filter(move |i| self.0 & 1 << i != 0).filter_map(Reg::from_perf_index)
    }

    /// Where the value of `reg` stands among those of a sample with this mask.
    #[must_use]
    pub fn position(self, reg: Reg) -> Option<usize> {
        let index = reg.perf_index()?;
        self.contains(reg).then(|| (self.0 & ((1 << index) - 1)).count_ones() as usize)
    }

    /// Refuses what Linux refuses (EINVAL): an empty mask, and registers that `struct pt_regs`
    /// lacks.
    pub fn check_kernel(self, field: &'static str) -> Result<(), AttrError> {
        if self.is_empty() {
            return Err(AttrError::new(Errno::Einval, field, "no register is selected"));
        }
        match self.without(RegMask::KERNEL) {
            RegMask::EMPTY => Ok(()),
            extra => Err(AttrError::new(
                Errno::Einval,
                field,
                format!("Linux can't sample {extra} on Alpha: its mask is {:#x}", Self::KERNEL.0),
            )),
        }
    }
}

/// Indices up to the pc's whose register lies in `struct pt_regs`.
const fn kernel_mask() -> u64 {
    let (mut bits, mut i) = (0, 0);
    while i < Reg::ALL.len() {
        if let Some(index) = Reg::ALL[i].perf_index()
            && Reg::ALL[i].offset() < PT_REGS_SIZE
        {
            bits |= 1 << index;
        }
        i += 1;
    }
    bits
}

impl fmt::Debug for RegMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RegMask({:#x})", self.0)
    }
}

impl fmt::Display for RegMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RegMask::KERNEL => f.write_str("all"),
            RegMask::EXTENDED => f.write_str("ext"),
            _ => {
                for (i, reg) in self.regs().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { "," }, reg.name())?;
                }
                Ok(())
            }
        }
    }
}

/// A name in a list of registers that is no register.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no register that can be sampled: give `all`, `ext`, or names like sp,pc,ra,r9,f2"
)]
pub struct UnknownReg(String);

impl FromStr for RegMask {
    type Err = UnknownReg;

    /// Reads `all`, `ext`, or a list of register names with commas between them.
    fn from_str(text: &str) -> Result<RegMask, UnknownReg> {
        match text.trim() {
            "all" => Ok(RegMask::KERNEL),
            "ext" => Ok(RegMask::EXTENDED),
            list => list.split(',').try_fold(RegMask::EMPTY, |mask, name| {
                match Reg::from_name(name).map(|r| RegMask::of(&[r])) {
                    Some(one) if !one.is_empty() => Ok(mask.union(one)),
                    _ => Err(UnknownReg(name.trim().to_owned())),
                }
            }),
        }
    }
}

/// Words that a copy's destination must have beyond the mask's own.
///
/// Copies go block by block; what is too much is overwritten by the next block, and after the last
/// one by what follows in the sample.
pub const COPY_SLACK: usize = BLOCK - 1;

/// Words in a block.
const BLOCK: usize = 4;

/// `words` words from `from` on in the state are the words from `to` on in the sample.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    to: usize,
    words: usize,
}

/// The runs of a mask, and how many of them are used. A run is as long as adjacent words of the
/// sample are adjacent in the state too.
const fn runs(mask: RegMask) -> ([Run; 64], usize) {
    let mut runs = [Run { from: 0, to: 0, words: 0 }; 64];
    let (mut used, mut to, mut index) = (0, 0, 0);
    while index < 64 {
        if mask.0 & 1 << index != 0
            && let Some(reg) = Reg::from_perf_index(index)
        {
            let from = reg.offset() / 8;
            if used > 0 && runs[used - 1].from + runs[used - 1].words == from {
                runs[used - 1].words += 1;
            } else {
                runs[used] = Run { from, to, words: 1 };
                used += 1;
            }
            to += 1;
        }
        index += 1;
    }
    (runs, used)
}

/// A register mask, compiled into the blocks of words that copy its registers.
#[derive(Clone, Debug)]
pub struct CopyPlan {
    mask: RegMask,
    blocks: [Block; 64],
    used: usize,
}

/// `BLOCK` words from `from` on in the state go to `to` in the sample.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: u8,
    to: u8,
}

impl CopyPlan {
    /// Compiles a mask.
    #[must_use]
    pub const fn new(mask: RegMask) -> CopyPlan {
        let (runs, runs_used) = runs(mask);
        let mut blocks = [Block { from: 0, to: 0 }; 64];
        let (mut used, mut i) = (0, 0);
        while i < runs_used {
            let mut at = 0;
            while at < runs[i].words {
                blocks[used] =
                    Block { from: (runs[i].from + at) as u8, to: (runs[i].to + at) as u8 };
                used += 1;
                at += BLOCK;
            }
            i += 1;
        }
        CopyPlan { mask, blocks, used }
    }

    /// The mask.
    #[must_use]
    pub const fn mask(&self) -> RegMask {
        self.mask
    }

    /// Copies the registers of the mask to the start of `out`, which must be [`COPY_SLACK`] words
    /// longer than the mask; what the words after the mask's hold afterwards is unspecified.
    ///
    /// # Panics
    /// When `out` is shorter than that.
    #[inline]
    pub fn copy(&self, regs: &Regs, out: &mut [u64]) {
        match self.mask {
            RegMask::KERNEL => copy_const::<{ RegMask::KERNEL.0 }>(regs, out),
            RegMask::EXTENDED => copy_extended(regs, out),
            RegMask::UNWIND => copy_const::<{ RegMask::UNWIND.0 }>(regs, out),
            _ => {
                let words = regs.words();
                for block in &self.blocks[..self.used] {
                    let (from, to) = (block.from as usize, block.to as usize);
                    out[to..to + BLOCK].copy_from_slice(&words[from..from + BLOCK]);
                }
            }
        }
    }
}

/// Out of line: it calls `memcpy`, and the others shall not save registers for that.
#[inline(never)]
fn copy_extended(regs: &Regs, out: &mut [u64]) {
    copy_const::<{ RegMask::EXTENDED.0 }>(regs, out);
}

/// For the masks that matter most, known at compile time: each run one copy, and no loop.
#[inline(always)]
fn copy_const<const MASK: u64>(regs: &Regs, out: &mut [u64]) {
    let out = &mut out[..const { RegMask(MASK).len() + COPY_SLACK }];
    let words = regs.words();
    const { assert!(runs(RegMask(MASK)).1 <= 8, "the list below is too short") };
    macro_rules! copy_runs {
        ($($i:literal)*) => {$(
            let (from, to, n) = const {
                let run = runs(RegMask(MASK)).0[$i];
                (run.from, run.to, run.words)
            };
            out[to..to + n].copy_from_slice(&words[from..from + n]);
        )*};
    }
    copy_runs!(0 1 2 3 4 5 6 7);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mask of "alpha: add HAVE_PERF_REGS and HAVE_PERF_USER_STACK_DUMP support".
    #[test]
    fn kernel_mask_is_the_patch_s() {
        assert_eq!(RegMask::KERNEL.bits(), 0xffff_01ff);
        assert_eq!(RegMask::KERNEL.len(), 25);
    }

    /// Seen on Linux 7.2 with that patch: of the 64 masks of one bit, those of 0xffff01ff are
    /// accepted, the others EINVAL; so are 0 and masks that mix.
    #[test]
    fn check_refuses_what_linux_refuses() {
        for bit in 0..64 {
            let allowed = 0xffff_01ff_u64 >> bit & 1 == 1;
            let got = RegMask::from_bits(1 << bit).check_kernel("sample_regs_user");
            assert_eq!(got.is_ok(), allowed, "bit {bit}");
        }
        for mask in [0, u64::MAX, 0xffff_ffff, 1 << 32, 1 << 9 | 1] {
            let e = RegMask::from_bits(mask).check_kernel("sample_regs_user").unwrap_err();
            assert_eq!(e.errno, Errno::Einval, "{mask:#x}");
        }
        for mask in [0xc000_0000, 0x1ff, 1, 1 << 31, 0xffff_01ff] {
            assert_eq!(RegMask::from_bits(mask).check_kernel("sample_regs_user"), Ok(()));
        }
        let e = RegMask::of(&[Reg::R9, Reg::F2]).check_kernel("sample_regs_intr").unwrap_err();
        assert_eq!(
            e.to_string(),
            "EINVAL: sample_regs_intr: Linux can't sample r9,f2 on Alpha: its mask is 0xffff01ff"
        );
    }

    #[test]
    fn masks_parse_and_print() {
        for (text, bits) in [
            ("all", 0xffff_01ff),
            ("ext", u64::MAX),
            ("sp,pc,r26", 0xc400_0000),
            ("$30, PC ,ra", 0xc400_0000),
            ("f0,fpcr", 1 << 32 | 1 << 63),
        ] {
            let mask: RegMask = text.parse().unwrap();
            assert_eq!(mask.bits(), bits, "{text}");
            assert_eq!(mask.to_string().parse(), Ok(mask), "{text}");
        }
        for text in ["", "sp,,pc", "unique", "r31", "rax"] {
            assert!(text.parse::<RegMask>().is_err(), "{text}");
        }
    }

    fn numbered() -> Regs {
        let mut regs = Regs::default();
        for &r in Reg::ALL {
            regs.set(r, 0x1000 + r.offset() as u64);
        }
        regs
    }

    /// Every mask of one or two registers, the named ones, and some of each size: the copy is what
    /// reading register by register gives, in ascending order of perf's index.
    #[test]
    fn copies_are_in_perf_s_order() {
        let regs = numbered();
        let mut masks: Vec<u64> = vec![0xffff_01ff, u64::MAX, 0, RegMask::UNWIND.bits()];
        masks.extend((0..64).flat_map(|a| (0..64).map(move |b| 1 << a | 1 << b)));
        let mut seed = 1u64;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            masks.push(seed);
            masks.push(seed & seed.rotate_left(17));
        }
        for bits in masks {
            let mask = RegMask::from_bits(bits);
            let want: Vec<u64> = mask.regs().map(|r| regs.get(r)).collect();
            let mut out = vec![u64::MAX; want.len() + COPY_SLACK];
            CopyPlan::new(mask).copy(&regs, &mut out);
            assert_eq!(out[..want.len()], want, "{bits:#x}");
            for (i, r) in mask.regs().enumerate() {
                assert_eq!(mask.position(r), Some(i));
            }
        }
    }

    /// The neighbours in `struct pt_regs`: r0..r8, r16..r18, r19..r28, gp, sp, pc.
    #[test]
    fn neighbours_are_one_run() {
        let (runs, used) = runs(RegMask::KERNEL);
        assert_eq!(runs[..used].iter().map(|r| r.words).collect::<Vec<_>>(), [9, 3, 10, 1, 1, 1]);
    }
}
