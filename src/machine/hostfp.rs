//! The host's floating-point unit, one operation at a time, in any rounding mode.
//!
//! # Safety
//! Each block of assembly sets the rounding mode, operates on registers, and sets it back, so that
//! no Rust code runs in another mode than the one that it may assume.

#![allow(unsafe_code)]

use std::arch::asm;

/// Rounding modes, as the FPCR's DYN field numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Zero,
    Down,
    Nearest,
    Up,
}

impl Mode {
    /// From FPCR<59:58>.
    pub fn from_fpcr(fpcr: u64) -> Mode {
        match fpcr >> 58 & 3 {
            0 => Mode::Zero,
            1 => Mode::Down,
            2 => Mode::Nearest,
            _ => Mode::Up,
        }
    }
}

/// The exceptions that an operation met, as the host's status register has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u32);

#[cfg(target_arch = "x86_64")]
const OVERFLOW: u32 = 1 << 3;
#[cfg(target_arch = "x86_64")]
const UNDERFLOW: u32 = 1 << 4;
#[cfg(target_arch = "aarch64")]
const OVERFLOW: u32 = 1 << 2;
#[cfg(target_arch = "aarch64")]
const UNDERFLOW: u32 = 1 << 3;

impl Flags {
    /// The rounded result is beyond the format's greatest number.
    pub fn overflow(self) -> bool {
        self.0 & OVERFLOW != 0
    }

    /// The result is below the format's least normal number, and isn't exact.
    pub fn underflow(self) -> bool {
        self.0 & UNDERFLOW != 0
    }
}

/// MXCSR with all exceptions masked and no flag set, in a rounding mode.
#[cfg(target_arch = "x86_64")]
fn control(mode: Mode) -> u32 {
    0x1f80
        | match mode {
            Mode::Nearest => 0,
            Mode::Down => 1 << 13,
            Mode::Up => 2 << 13,
            Mode::Zero => 3 << 13,
        }
}

/// FPCR with all exceptions masked, in a rounding mode.
#[cfg(target_arch = "aarch64")]
fn control(mode: Mode) -> u64 {
    match mode {
        Mode::Nearest => 0,
        Mode::Up => 1 << 22,
        Mode::Down => 2 << 22,
        Mode::Zero => 3 << 22,
    }
}

macro_rules! binary {
    ($name:ident, $ty:ty, $x86:literal, $arm:literal) => {
        /// One operation.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn $name(mode: Mode, a: $ty, b: $ty) -> ($ty, Flags) {
            let (new, old, mut met) = (control(mode), control(Mode::Nearest), 0u32);
            let mut r = a;
            // SAFETY: see the module.
            unsafe {
                asm!("ldmxcsr [{new}]", concat!($x86, " {r}, {b}"),
                    "stmxcsr [{met}]", "ldmxcsr [{old}]",
                    new = in(reg) &raw const new, old = in(reg) &raw const old,
                    met = in(reg) &raw mut met,
                    r = inout(xmm_reg) r, b = in(xmm_reg) b,
                    options(nostack, preserves_flags));
            }
            (r, Flags(met))
        }

        /// One operation.
        #[cfg(target_arch = "aarch64")]
        pub(crate) fn $name(mode: Mode, a: $ty, b: $ty) -> ($ty, Flags) {
            let (r, met): ($ty, u64);
            // SAFETY: see the module.
            unsafe {
                asm!("mrs {old}, fpcr", "msr fpcr, {new}", "msr fpsr, xzr", $arm,
                    "mrs {met}, fpsr", "msr fpcr, {old}",
                    new = in(reg) control(mode), old = out(reg) _, met = out(reg) met,
                    r = out(vreg) r, a = in(vreg) a, b = in(vreg) b,
                    options(nostack, preserves_flags));
            }
            (r, Flags(met as u32))
        }
    };
}

binary!(add64, f64, "addsd", "fadd {r:d}, {a:d}, {b:d}");
binary!(sub64, f64, "subsd", "fsub {r:d}, {a:d}, {b:d}");
binary!(mul64, f64, "mulsd", "fmul {r:d}, {a:d}, {b:d}");
binary!(div64, f64, "divsd", "fdiv {r:d}, {a:d}, {b:d}");
binary!(sqrt64, f64, "sqrtsd", "fsqrt {r:d}, {b:d} // {a:d}");
binary!(add32, f32, "addss", "fadd {r:s}, {a:s}, {b:s}");
binary!(sub32, f32, "subss", "fsub {r:s}, {a:s}, {b:s}");
binary!(mul32, f32, "mulss", "fmul {r:s}, {a:s}, {b:s}");
binary!(div32, f32, "divss", "fdiv {r:s}, {a:s}, {b:s}");
binary!(sqrt32, f32, "sqrtss", "fsqrt {r:s}, {b:s} // {a:s}");

macro_rules! convert {
    ($name:ident, $from:ty, $class:tt, $arm_class:tt, $to:ty, $x86:literal, $arm:literal) => {
        /// One conversion.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn $name(mode: Mode, a: $from) -> ($to, Flags) {
            let (new, old, mut met) = (control(mode), control(Mode::Nearest), 0u32);
            let r: $to;
            // SAFETY: see the module.
            unsafe {
                asm!("ldmxcsr [{new}]", concat!($x86, " {r}, {a}"),
                    "stmxcsr [{met}]", "ldmxcsr [{old}]",
                    new = in(reg) &raw const new, old = in(reg) &raw const old,
                    met = in(reg) &raw mut met,
                    r = out(xmm_reg) r, a = in($class) a,
                    options(nostack, preserves_flags));
            }
            (r, Flags(met))
        }

        /// One conversion.
        #[cfg(target_arch = "aarch64")]
        pub(crate) fn $name(mode: Mode, a: $from) -> ($to, Flags) {
            let (r, met): ($to, u64);
            // SAFETY: see the module.
            unsafe {
                asm!("mrs {old}, fpcr", "msr fpcr, {new}", "msr fpsr, xzr", $arm,
                    "mrs {met}, fpsr", "msr fpcr, {old}",
                    new = in(reg) control(mode), old = out(reg) _, met = out(reg) met,
                    r = out(vreg) r, a = in($arm_class) a,
                    options(nostack, preserves_flags));
            }
            (r, Flags(met as u32))
        }
    };
}

convert!(f64_to_f32, f64, xmm_reg, vreg, f32, "cvtsd2ss", "fcvt {r:s}, {a:d}");
convert!(i64_to_f64, i64, reg, reg, f64, "cvtsi2sd", "scvtf {r:d}, {a:x}");
convert!(i64_to_f32, i64, reg, reg, f32, "cvtsi2ss", "scvtf {r:s}, {a:x}");

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1/3 is 0x3fd5555555555555.55..., -1/3 likewise with the sign.
    #[test]
    fn rounding() {
        for (mode, up, down) in [
            (Mode::Zero, 0x3fd5_5555_5555_5555u64, 0xbfd5_5555_5555_5555u64),
            (Mode::Down, 0x3fd5_5555_5555_5555, 0xbfd5_5555_5555_5556),
            (Mode::Nearest, 0x3fd5_5555_5555_5555, 0xbfd5_5555_5555_5555),
            (Mode::Up, 0x3fd5_5555_5555_5556, 0xbfd5_5555_5555_5555),
        ] {
            assert_eq!(div64(mode, 1.0, 3.0).0.to_bits(), up, "{mode:?}");
            assert_eq!(div64(mode, -1.0, 3.0).0.to_bits(), down, "{mode:?}");
        }
        // 2^24 + 1 lies between two single-precision numbers.
        assert_eq!(i64_to_f32(Mode::Up, 16_777_217).0, 16_777_218.0);
        assert_eq!(i64_to_f32(Mode::Down, 16_777_217).0, 16_777_216.0);
        assert_eq!(sqrt64(Mode::Nearest, 7.0, 4.0).0, 2.0);
    }

    /// Overflow is met in each mode, though only some give infinity; underflow also where the result
    /// is zero; an exact denormal is none.
    #[test]
    fn flags() {
        for (mode, r) in [(Mode::Nearest, f64::INFINITY), (Mode::Zero, f64::MAX)] {
            let (x, flags) = mul64(mode, f64::MAX, 2.0);
            assert_eq!((x, flags.overflow(), flags.underflow()), (r, true, false), "{mode:?}");
        }
        let (x, flags) = mul64(Mode::Nearest, f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        assert_eq!((x, flags.overflow(), flags.underflow()), (0.0, false, true));
        assert!(!mul64(Mode::Nearest, f64::MIN_POSITIVE, 0.5).1.underflow());
        assert!(f64_to_f32(Mode::Up, 1e-60).1.underflow());
        assert!(f64_to_f32(Mode::Zero, 1e60).1.overflow());
        assert!(!add32(Mode::Down, 1.0, f32::EPSILON / 4.0).1.overflow());
    }
}
