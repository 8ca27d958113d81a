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
        pub(crate) fn $name(mode: Mode, a: $ty, b: $ty) -> $ty {
            let (new, old) = (control(mode), control(Mode::Nearest));
            let mut r = a;
            // SAFETY: see the module.
            unsafe {
                asm!("ldmxcsr [{new}]", concat!($x86, " {r}, {b}"), "ldmxcsr [{old}]",
                    new = in(reg) &raw const new, old = in(reg) &raw const old,
                    r = inout(xmm_reg) r, b = in(xmm_reg) b,
                    options(nostack, preserves_flags));
            }
            r
        }

        /// One operation.
        #[cfg(target_arch = "aarch64")]
        pub(crate) fn $name(mode: Mode, a: $ty, b: $ty) -> $ty {
            let r: $ty;
            // SAFETY: see the module.
            unsafe {
                asm!("mrs {old}, fpcr", "msr fpcr, {new}", $arm, "msr fpcr, {old}",
                    new = in(reg) control(mode), old = out(reg) _,
                    r = out(vreg) r, a = in(vreg) a, b = in(vreg) b,
                    options(nostack, preserves_flags));
            }
            r
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
        pub(crate) fn $name(mode: Mode, a: $from) -> $to {
            let (new, old) = (control(mode), control(Mode::Nearest));
            let r: $to;
            // SAFETY: see the module.
            unsafe {
                asm!("ldmxcsr [{new}]", concat!($x86, " {r}, {a}"), "ldmxcsr [{old}]",
                    new = in(reg) &raw const new, old = in(reg) &raw const old,
                    r = out(xmm_reg) r, a = in($class) a,
                    options(nostack, preserves_flags));
            }
            r
        }

        /// One conversion.
        #[cfg(target_arch = "aarch64")]
        pub(crate) fn $name(mode: Mode, a: $from) -> $to {
            let r: $to;
            // SAFETY: see the module.
            unsafe {
                asm!("mrs {old}, fpcr", "msr fpcr, {new}", $arm, "msr fpcr, {old}",
                    new = in(reg) control(mode), old = out(reg) _,
                    r = out(vreg) r, a = in($arm_class) a,
                    options(nostack, preserves_flags));
            }
            r
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
            assert_eq!(div64(mode, 1.0, 3.0).to_bits(), up, "{mode:?}");
            assert_eq!(div64(mode, -1.0, 3.0).to_bits(), down, "{mode:?}");
        }
        // 2^24 + 1 lies between two single-precision numbers.
        assert_eq!(i64_to_f32(Mode::Up, 16_777_217), 16_777_218.0);
        assert_eq!(i64_to_f32(Mode::Down, 16_777_217), 16_777_216.0);
        assert_eq!(sqrt64(Mode::Nearest, 7.0, 4.0), 2.0);
    }
}
