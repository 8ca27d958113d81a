//! The Alpha CPUs: what AMASK and IMPLVER tell of each, and which instructions it lacks.

use std::fmt;
use std::str::FromStr;

use axperf_isa::palmode::Family;
use axperf_isa::sem::Rounding;
use axperf_isa::{Extension, Flags, Insn, decode};

/// AMASK bit 9: arithmetic traps are precise. It comes with no instruction.
const PRECISE: u64 = 1 << 9;
/// AMASK bit 12: a prefetch can say that the block will be modified. It comes with no instruction
/// of its own; Linux on an EV67 was seen to report it (AT_HWCAP 0x1307).
const MODIFY_INTENT: u64 = 1 << 12;

/// One row a CPU: `Id = "name", major implementation, AMASK bits;`.
///
/// Source: Alpha Architecture Reference Manual, appendix D.
macro_rules! for_each_cpu {
    ($m:ident) => {
        $m! {
            /// 21064: IMPLVER is 0.
            Ev4 = "ev4", 0, [];
            /// 21164: IMPLVER is 1.
            Ev5 = "ev5", 1, [];
            /// 21164A: bytes and words.
            Ev56 = "ev56", 1, [BWX];
            /// 21164PC: motion video, too.
            Pca56 = "pca56", 1, [BWX, MVI];
            /// 21264: square root and moves between register files, too. IMPLVER is 2.
            Ev6 = "ev6", 2, [BWX, FIX, MVI] | PRECISE;
            /// 21264A: counts, too.
            #[default]
            Ev67 = "ev67", 2, [BWX, FIX, CIX, MVI] | PRECISE | MODIFY_INTENT;
        }
    };
}

macro_rules! define_cpus {
    ($($(#[$attribute:meta])* $id:ident = $name:literal, $implver:literal,
     [$($extension:ident),*] $(| $more:ident)*;)*) => {
        /// A CPU, by the name that compilers have for it.
        ///
        /// An instruction that it lacks is [`Exit::Illegal`](crate::Exit::Illegal), as the OPCDEC
        /// fault is on the hardware.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        pub enum Cpu { $($(#[$attribute])* $id),* }

        impl Cpu {
            /// Every CPU, oldest first.
            pub const ALL: &'static [Cpu] = &[$(Cpu::$id),*];

            /// Its name: `ev4` to `ev67`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Cpu::$id => $name),* }
            }

            /// What IMPLVER answers: the major implementation.
            #[must_use]
            pub const fn implver(self) -> u64 {
                match self { $(Cpu::$id => $implver),* }
            }

            /// The bits that AMASK clears: the features that it has.
            #[must_use]
            pub const fn amask(self) -> u64 {
                match self { $(Cpu::$id => 0 $(| Extension::$extension.amask())* $(| $more)*),* }
            }
        }
    };
}
for_each_cpu!(define_cpus);

impl Cpu {
    /// Whether it has the instructions of an extension.
    #[must_use]
    #[inline]
    pub const fn has(self, extension: Extension) -> bool {
        extension.amask() & !self.amask() == 0
    }

    /// The CPUs whose PALmode instructions are like its.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Cpu::Ev4 => Family::Ev4,
            Cpu::Ev5 | Cpu::Ev56 | Cpu::Pca56 => Family::Ev5,
            Cpu::Ev6 | Cpu::Ev67 => Family::Ev6,
        }
    }

    /// The instruction that a word is on it; None for an OPCDEC fault.
    #[must_use]
    pub fn decode(self, word: u32) -> Option<Insn> {
        decode(word).filter(|insn| {
            self.has(insn.desc().extension) && !(self == Cpu::Ev4 && rounds_to_infinity(insn))
        })
    }
}

/// Whether an IEEE instruction rounds to minus infinity, or as the FPCR says. The 21064 rounds to
/// nearest and toward zero only (Alpha Architecture Handbook, B.1, lets it), and leaves others to
/// software (Linux `arch/alpha/kernel/traps.c`).
fn rounds_to_infinity(insn: &Insn) -> bool {
    insn.desc().is(Flags::FP)
        && matches!(insn.qualifiers().rounding, Rounding::MinusInfinity | Rounding::Dynamic)
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No CPU has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCpu(String);

impl fmt::Display for UnknownCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no CPU is called {:?}; there are", self.0)?;
        for (i, cpu) in Cpu::ALL.iter().enumerate() {
            write!(f, "{}{cpu}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownCpu {}

impl FromStr for Cpu {
    type Err = UnknownCpu;

    fn from_str(name: &str) -> Result<Cpu, UnknownCpu> {
        let named = Cpu::ALL.iter().copied().find(|cpu| cpu.name() == name);
        named.ok_or_else(|| UnknownCpu(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers are the tables' of appendix D of the Architecture Reference Manual.
    #[test]
    fn answers() {
        let answers: Vec<_> =
            Cpu::ALL.iter().map(|cpu| (cpu.name(), cpu.implver(), cpu.amask())).collect();
        assert_eq!(
            answers,
            [
                ("ev4", 0, 0),
                ("ev5", 1, 0),
                ("ev56", 1, 0x001),
                ("pca56", 1, 0x101),
                ("ev6", 2, 0x303),
                ("ev67", 2, 0x1307),
            ]
        );
    }

    #[test]
    fn names() {
        for cpu in Cpu::ALL {
            assert_eq!(cpu.name().parse(), Ok(*cpu));
        }
        let error = "ev8".parse::<Cpu>().unwrap_err();
        let said = "no CPU is called \"ev8\"; there are ev4, ev5, ev56, pca56, ev6, ev67";
        assert_eq!(error.to_string(), said);
    }
}
