//! The host's floating-point unit: one operation at a time, in any rounding mode, with the exceptions
//! that it raises; and the exceptions that translated code raises from its entry to its return.
//!
//! # Safety
//! Each block of assembly sets the rounding mode, operates on registers, and sets it back, so that
//! no Rust code runs in another mode than the one that it may assume. Sticky exception flags are
//! no Rust code's business.

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

/// How to operate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The rounding mode.
    pub mode: Mode,
    /// The flag for inexact results is set already: to set it anew takes x86 a while.
    pub inexact: bool,
}

impl From<Mode> for Setting {
    fn from(mode: Mode) -> Setting {
        Setting { mode, inexact: false }
    }
}

/// MXCSR with all exceptions masked and no flag set but what the setting says.
#[cfg(target_arch = "x86_64")]
fn control(setting: Setting) -> u32 {
    0x1f80
        | if setting.inexact { 0x20 } else { 0 }
        | match setting.mode {
            Mode::Nearest => 0,
            Mode::Down => 1 << 13,
            Mode::Up => 2 << 13,
            Mode::Zero => 3 << 13,
        }
}

/// FPCR with all exceptions masked, in a rounding mode.
#[cfg(target_arch = "aarch64")]
fn control(setting: Setting) -> u64 {
    match setting.mode {
        Mode::Nearest => 0,
        Mode::Up => 1 << 22,
        Mode::Down => 2 << 22,
        Mode::Zero => 3 << 22,
    }
}

/// MXCSR's flags IE, DE, ZE, OE, UE, PE as status bits of the FPCR.
#[cfg(target_arch = "x86_64")]
fn status(mxcsr: u32) -> u64 {
    let m = u64::from(mxcsr);
    (m & 1) << 52 | (m >> 2 & 0xf) << 53 | (m >> 1 & 1) << 57
}

/// The other way: a register with these flags set, as Rust code has it but for them.
#[cfg(target_arch = "x86_64")]
fn flags(status: u64) -> u32 {
    let s = status;
    control(Mode::Nearest.into()) | (s >> 52 & 1 | (s >> 57 & 1) << 1 | (s >> 53 & 0xf) << 2) as u32
}

/// FPSR's flags IOC, DZC, OFC, UFC, IXC as status bits of the FPCR.
#[cfg(target_arch = "aarch64")]
fn status(fpsr: u64) -> u64 {
    (fpsr & 0x1f) << 52
}

macro_rules! operations {
    ($($name:ident($($operand:ident: $from:ty, $class:tt, $arm_class:tt);*) -> $to:ty = $x86:literal, $arm:literal;)*) => {$(
        /// One operation, and the status bits of what it raised.
        #[cfg(target_arch = "x86_64")]
        pub(crate) fn $name(setting: Setting, $($operand: $from),*) -> ($to, u64) {
            let (mut csr, usual) = (control(setting), control(Mode::Nearest.into()));
            let r: $to;
            // SAFETY: see the module.
            unsafe {
                asm!("ldmxcsr [{csr}]", $x86, "stmxcsr [{csr}]", "ldmxcsr [{usual}]",
                    csr = in(reg) &raw mut csr, usual = in(reg) &raw const usual,
                    r = out(xmm_reg) r, $($operand = in($class) $operand,)*
                    options(nostack));
            }
            (r, status(csr))
        }

        /// One operation, and the status bits of what it raised.
        #[cfg(target_arch = "aarch64")]
        pub(crate) fn $name(setting: Setting, $($operand: $from),*) -> ($to, u64) {
            let r: $to;
            let flags: u64;
            // SAFETY: see the module.
            unsafe {
                asm!("mrs {old}, fpcr", "msr fpcr, {new}", "msr fpsr, xzr", $arm,
                    "mrs {flags}, fpsr", "msr fpcr, {old}",
                    new = in(reg) control(setting), old = out(reg) _, flags = out(reg) flags,
                    r = out(vreg) r, $($operand = in($arm_class) $operand,)*
                    options(nostack));
            }
            (r, status(flags))
        }
    )*};
}

operations! {
    add64(a: f64, xmm_reg, vreg; b: f64, xmm_reg, vreg) -> f64
        = "movaps {r}, {a}\naddsd {r}, {b}", "fadd {r:d}, {a:d}, {b:d}";
    sub64(a: f64, xmm_reg, vreg; b: f64, xmm_reg, vreg) -> f64
        = "movaps {r}, {a}\nsubsd {r}, {b}", "fsub {r:d}, {a:d}, {b:d}";
    mul64(a: f64, xmm_reg, vreg; b: f64, xmm_reg, vreg) -> f64
        = "movaps {r}, {a}\nmulsd {r}, {b}", "fmul {r:d}, {a:d}, {b:d}";
    div64(a: f64, xmm_reg, vreg; b: f64, xmm_reg, vreg) -> f64
        = "movaps {r}, {a}\ndivsd {r}, {b}", "fdiv {r:d}, {a:d}, {b:d}";
    sqrt64(a: f64, xmm_reg, vreg) -> f64 = "sqrtsd {r}, {a}", "fsqrt {r:d}, {a:d}";
    f64_to_f32(a: f64, xmm_reg, vreg) -> f32 = "cvtsd2ss {r}, {a}", "fcvt {r:s}, {a:d}";
    i64_to_f64(a: i64, reg, reg) -> f64 = "cvtsi2sd {r}, {a}", "scvtf {r:d}, {a:x}";
    i64_to_f32(a: i64, reg, reg) -> f32 = "cvtsi2ss {r}, {a}", "scvtf {r:s}, {a:x}";
}

/// The host's flags, while translated code has them.
#[derive(Debug)]
#[must_use]
pub(crate) struct Lent {
    /// What the control register held, if it isn't what translated code wants.
    #[cfg(target_arch = "x86_64")]
    before: Option<u32>,
}

impl Lent {
    /// Sets the flags that an FPCR has, clears the others, and sets the rounding mode that
    /// translated code assumes. A flag that is set already is raised again at no cost.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn new(fpcr: u64) -> Lent {
        let (mut csr, wanted) = (0u32, flags(fpcr));
        // SAFETY: see the module; but for flags these are the settings that Rust code has.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut csr, options(nostack));
            if csr != wanted {
                asm!("ldmxcsr [{}]", in(reg) &raw const wanted, options(nostack));
            }
        }
        Lent { before: (csr & !0x3f != wanted & !0x3f).then_some(csr) }
    }

    /// The status bits of the flags that are set by now.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn raised(self) -> u64 {
        let mut csr = 0u32;
        // SAFETY: see the module.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut csr, options(nostack));
            if let Some(before) = self.before {
                asm!("ldmxcsr [{}]", in(reg) &raw const before, options(nostack));
            }
        }
        status(csr)
    }

    /// Clears the flags.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    pub fn new(_fpcr: u64) -> Lent {
        // SAFETY: see the module.
        unsafe { asm!("msr fpsr, xzr", options(nomem, nostack)) };
        Lent {}
    }

    /// The status bits of what was raised since.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    pub fn raised(self) -> u64 {
        let flags: u64;
        // SAFETY: see the module.
        unsafe { asm!("mrs {}, fpsr", out(reg) flags, options(nomem, nostack)) };
        status(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axperf_isa::fpcr::{DZE, INE, INV, OVF, UNF};

    /// By hand: 1/3 is 0x3fd5555555555555.55..., -1/3 likewise with the sign.
    #[test]
    fn rounding() {
        for (mode, up, down) in [
            (Mode::Zero, 0x3fd5_5555_5555_5555u64, 0xbfd5_5555_5555_5555u64),
            (Mode::Down, 0x3fd5_5555_5555_5555, 0xbfd5_5555_5555_5556),
            (Mode::Nearest, 0x3fd5_5555_5555_5555, 0xbfd5_5555_5555_5555),
            (Mode::Up, 0x3fd5_5555_5555_5556, 0xbfd5_5555_5555_5555),
        ] {
            let exact = |r: (f64, u64)| (r.0.to_bits(), r.1);
            assert_eq!(exact(div64(mode.into(), 1.0, 3.0)), (up, INE), "{mode:?}");
            assert_eq!(exact(div64(mode.into(), -1.0, 3.0)), (down, INE), "{mode:?}");
        }
        // 2^24 + 1 lies between two single-precision numbers.
        assert_eq!(i64_to_f32(Mode::Up.into(), 16_777_217), (16_777_218.0, INE));
        assert_eq!(i64_to_f32(Mode::Down.into(), 16_777_217), (16_777_216.0, INE));
        assert_eq!(sqrt64(Mode::Nearest.into(), 4.0), (2.0, 0));
    }

    #[test]
    fn exceptions() {
        let m = Setting::from(Mode::Nearest);
        assert_eq!(div64(m, 1.0, 0.0), (f64::INFINITY, DZE));
        assert_eq!(div64(m, 0.0, 0.0).1, INV);
        assert_eq!(mul64(m, f64::MAX, 2.0).1, OVF | INE);
        assert_eq!(mul64(m, 1e-200, 1e-200).1, UNF | INE);
        // Exact, if tiny.
        assert_eq!(mul64(m, f64::MIN_POSITIVE, 0.5).1, 0);
        let lent = Lent::new(OVF | INE);
        assert_eq!(std::hint::black_box(1.0) / std::hint::black_box(4.0), 0.25);
        assert_eq!(lent.raised(), OVF | INE);
    }
}
