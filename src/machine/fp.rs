//! IEEE floating point as the interpreter computes it.
//!
//! Results are those of the host's IEEE arithmetic where operands and result are ordinary; the rest
//! of the Alpha's rules (which operands trap, which NaN results, where a result is flushed) is said
//! here. The translator emits the ordinary case and leaves the rest to the interpreter.
//!
//! Source: Alpha Architecture Reference Manual, section 4.7.

use axperf_isa::sem::{ArithTrap, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Rounding};

use crate::machine::hostfp::{self, Flags, Mode};

/// An arithmetic trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trap {
    pub kind: ArithTrap,
    /// What is written all the same; None where the manual says UNPREDICTABLE, and nothing is.
    pub result: Option<u64>,
}

impl From<ArithTrap> for Trap {
    fn from(kind: ArithTrap) -> Trap {
        Trap { kind, result: None }
    }
}

const QUIET: u64 = 1 << 51;
const SIGN: u64 = 1 << 63;
/// The NaN that an invalid operation gives: quiet, sign set.
const DEFAULT_NAN: u64 = 0xfff8_0000_0000_0000;
const TWO: u64 = 0x4000_0000_0000_0000;

fn exponent(x: u64) -> u64 {
    x >> 52 & 0x7ff
}

fn is_nan(x: u64) -> bool {
    exponent(x) == 0x7ff && x << 12 != 0
}

fn is_denormal(x: u64) -> bool {
    exponent(x) == 0 && x << 12 != 0
}

/// S_floating in memory to its register image: the exponent is widened, the fraction moved.
pub(crate) fn s_to_register(s: u64) -> u64 {
    let s = s & 0xffff_ffff;
    let exponent = s >> 23 & 0xff;
    let wide = match exponent {
        0 => 0,
        0xff => 0x7ff,
        e => e + (1023 - 127),
    };
    (s >> 31) << 63 | wide << 52 | (s & 0x7f_ffff) << 29
}

/// A register image to S_floating in memory: bits are picked, nothing is rounded.
pub(crate) fn register_to_s(t: u64) -> u64 {
    (t >> 32 & 0xc000_0000) | (t >> 29 & 0x3fff_ffff)
}

/// The rounding mode.
fn mode(q: Qualifiers, fpcr: u64) -> Mode {
    match q.rounding {
        Rounding::Nearest => Mode::Nearest,
        Rounding::Dynamic => Mode::from_fpcr(fpcr),
        Rounding::Chopped => Mode::Zero,
        Rounding::MinusInfinity => Mode::Down,
    }
}

/// Operands that only software completion accepts.
fn check_operands(q: Qualifiers, operands: &[u64]) -> Result<(), Trap> {
    if !q.software && operands.iter().any(|&x| exponent(x) == 0x7ff || is_denormal(x)) {
        return Err(ArithTrap::InvalidOperation.into());
    }
    Ok(())
}

/// The NaN among the operands that becomes the result: Fb's, else Fa's, made quiet.
fn nan_operand(a: u64, b: u64) -> Option<u64> {
    if is_nan(b) {
        Some(b | QUIET)
    } else if is_nan(a) {
        Some(a | QUIET)
    } else {
        None
    }
}

pub(crate) fn arith(
    op: FpOp,
    format: FpFormat,
    q: Qualifiers,
    fpcr: u64,
    a: u64,
    b: u64,
) -> Result<u64, Trap> {
    let mode = mode(q, fpcr);
    let a = if op == FpOp::Sqrt { 0 } else { a };
    check_operands(q, &[a, b])?;
    if let Some(nan) = nan_operand(a, b) {
        return Ok(nan);
    }
    let (r, flags) = match format {
        FpFormat::T => {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let (r, flags) = match op {
                FpOp::Add => hostfp::add64(mode, x, y),
                FpOp::Sub => hostfp::sub64(mode, x, y),
                FpOp::Mul => hostfp::mul64(mode, x, y),
                FpOp::Div => hostfp::div64(mode, x, y),
                FpOp::Sqrt => hostfp::sqrt64(mode, x, y),
            };
            (r.to_bits(), flags)
        }
        FpFormat::S => {
            let x = f32::from_bits(register_to_s(a) as u32);
            let y = f32::from_bits(register_to_s(b) as u32);
            let (r, flags) = match op {
                FpOp::Add => hostfp::add32(mode, x, y),
                FpOp::Sub => hostfp::sub32(mode, x, y),
                FpOp::Mul => hostfp::mul32(mode, x, y),
                FpOp::Div => hostfp::div32(mode, x, y),
                FpOp::Sqrt => hostfp::sqrt32(mode, x, y),
            };
            (s_to_register(u64::from(r.to_bits())), flags)
        }
    };
    if is_nan(r) {
        return if q.software { Ok(DEFAULT_NAN) } else { Err(ArithTrap::InvalidOperation.into()) };
    }
    if op == FpOp::Div && b << 1 == 0 && !q.software {
        return Err(ArithTrap::DivisionByZero.into());
    }
    finish(q, r, flags)
}

/// The result of an operation on ordinary operands, or its trap. With software completion it is
/// what it is; else a result that is too small for a normal number becomes zero.
fn finish(q: Qualifiers, r: u64, flags: Flags) -> Result<u64, Trap> {
    if q.software {
        return Ok(r);
    }
    if flags.overflow() {
        return Err(ArithTrap::Overflow.into());
    }
    if !is_denormal(r) && !flags.underflow() {
        return Ok(r);
    }
    if q.underflow {
        return Err(Trap { kind: ArithTrap::Underflow, result: Some(0) });
    }
    Ok(0)
}

pub(crate) fn compare(relation: FpRelation, q: Qualifiers, a: u64, b: u64) -> Result<u64, Trap> {
    // Compares take infinities without trap, and nothing else that isn't finite.
    let traps = |x| is_nan(x) || is_denormal(x);
    if !q.software && (traps(a) || traps(b)) {
        return Err(ArithTrap::InvalidOperation.into());
    }
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let holds = match relation {
        FpRelation::Eq => x == y,
        FpRelation::Lt => x < y,
        FpRelation::Le => x <= y,
        FpRelation::Un => x.is_nan() || y.is_nan(),
    };
    Ok(if holds { TWO } else { 0 })
}

pub(crate) fn convert(
    conversion: FpConversion,
    q: Qualifiers,
    fpcr: u64,
    b: u64,
) -> Result<u64, Trap> {
    match conversion {
        FpConversion::QtoT => Ok(hostfp::i64_to_f64(mode(q, fpcr), b as i64).0.to_bits()),
        FpConversion::QtoS => {
            let (r, _) = hostfp::i64_to_f32(mode(q, fpcr), b as i64);
            Ok(f64::from(r).to_bits())
        }
        FpConversion::StoT => {
            check_operands(q, &[b])?;
            if is_nan(b) {
                return Ok(b | QUIET);
            }
            Ok(f64::from(f32::from_bits(register_to_s(b) as u32)).to_bits())
        }
        FpConversion::TtoS => {
            check_operands(q, &[b])?;
            if is_nan(b) {
                // The register image of an S NaN has no fraction bits below S_floating's.
                return Ok((b | QUIET) & !0x1fff_ffff);
            }
            let (r, flags) = hostfp::f64_to_f32(mode(q, fpcr), f64::from_bits(b));
            finish(q, s_to_register(u64::from(r.to_bits())), flags)
        }
        FpConversion::QtoL => {
            let r = (b & 0xc000_0000) << 32 | (b & 0x3fff_ffff) << 29;
            if q.underflow && !q.software && b as i64 != i64::from(b as i32) {
                return Err(Trap { kind: ArithTrap::IntegerOverflow, result: Some(r) });
            }
            Ok(r)
        }
        FpConversion::TtoQ => {
            check_operands(q, &[b])?;
            let x = f64::from_bits(b);
            let rounded = match mode(q, fpcr) {
                Mode::Nearest => x.round_ties_even(),
                Mode::Zero => x.trunc(),
                Mode::Down => x.floor(),
                Mode::Up => x.ceil(),
            };
            let r = to_quad(rounded);
            if q.underflow && !q.software && !LIMITS.contains(&rounded) {
                return Err(Trap { kind: ArithTrap::IntegerOverflow, result: Some(r) });
            }
            Ok(r)
        }
    }
}

/// What fits in a quadword.
const LIMITS: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;

/// An integral value modulo 2^64; not-a-number and infinity give 0.
fn to_quad(x: f64) -> u64 {
    if LIMITS.contains(&x) {
        return x as i64 as u64;
    }
    let bits = x.to_bits();
    let e = exponent(bits);
    if e == 0x7ff {
        return 0;
    }
    // |x| ≥ 2^63: the fraction stands e - 1075 places to the left, more than 63 leave nothing.
    let shift = e - 1075;
    let magnitude = if shift > 63 { 0 } else { (bits & ((1 << 52) - 1) | 1 << 52) << shift };
    if bits & SIGN != 0 { magnitude.wrapping_neg() } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn su() -> Qualifiers {
        Qualifiers { rounding: Rounding::Nearest, underflow: true, software: true, inexact: false }
    }
    fn plain() -> Qualifiers {
        Qualifiers {
            rounding: Rounding::Nearest,
            underflow: false,
            software: false,
            inexact: false,
        }
    }

    /// Values: by hand from the S_floating and T_floating layouts of the Architecture Reference
    /// Manual (1.5 is 3fc00000 and 3ff8000000000000).
    #[test]
    fn s_images() {
        assert_eq!(s_to_register(0x3fc0_0000), 0x3ff8_0000_0000_0000);
        assert_eq!(register_to_s(0x3ff8_0000_0000_0000), 0x3fc0_0000);
        assert_eq!(s_to_register(0x7f80_0000), 0x7ff0_0000_0000_0000);
        for s in [0u64, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0x8000_0001, 0xffc0_0000] {
            assert_eq!(register_to_s(s_to_register(s)), s, "{s:#x}");
        }
    }

    /// The rows of qemu's report on CVTTQ/SVIC (values by hand: low 64 bits of the true result).
    #[test]
    fn cvttq_wraps() {
        let c = Qualifiers { rounding: Rounding::Chopped, ..su() };
        for (x, want) in [
            (9_223_372_036_854_775_808.0, 1 << 63),
            (18_446_744_073_709_551_616.0, 0),
            (27_670_116_110_564_327_424.0, 1 << 63),
            (-1.5, u64::MAX),
            (f64::INFINITY, 0),
            (f64::NAN, 0),
        ] {
            assert_eq!(convert(FpConversion::TtoQ, c, 0, f64::to_bits(x)), Ok(want), "{x}");
        }
    }

    /// 0/0 without software completion traps (SIGFPE on Linux), with it gives the default NaN.
    #[test]
    fn invalid() {
        let zero = 0f64.to_bits();
        assert_eq!(
            arith(FpOp::Div, FpFormat::T, plain(), 2 << 58, zero, zero),
            Err(ArithTrap::InvalidOperation.into())
        );
        assert_eq!(
            arith(FpOp::Div, FpFormat::T, su(), 2 << 58, zero, zero),
            Ok(0xfff8_0000_0000_0000)
        );
        let one = 1f64.to_bits();
        assert_eq!(
            arith(FpOp::Div, FpFormat::T, plain(), 2 << 58, one, zero),
            Err(ArithTrap::DivisionByZero.into())
        );
        assert_eq!(
            arith(FpOp::Div, FpFormat::T, su(), 2 << 58, one, zero),
            Ok(f64::INFINITY.to_bits())
        );
    }

    /// Overflow and underflow without software completion. Values: 4.7.7.6 and 4.7.7.7 of the manual,
    /// also for roundings that stop at the greatest number, and for results that round to zero.
    #[test]
    fn beyond_the_format() {
        let plain = plain();
        let traps = Qualifiers { underflow: true, ..plain };
        let chopped = Qualifiers { rounding: Rounding::Chopped, ..plain };
        let mult =
            |q, a: f64, b: f64| arith(FpOp::Mul, FpFormat::T, q, 2 << 58, a.to_bits(), b.to_bits());
        for q in [plain, chopped] {
            assert_eq!(mult(q, -1e300, 1e300), Err(ArithTrap::Overflow.into()));
            assert_eq!(mult(q, -1e-300, 1e-300), Ok(0));
            assert_eq!(mult(q, -1e-300, 0.0), Ok(1 << 63));
        }
        let underflow = Err(Trap { kind: ArithTrap::Underflow, result: Some(0) });
        assert_eq!(mult(traps, -1e-300, 1e-300), underflow);
        assert_eq!(mult(traps, f64::MIN_POSITIVE, 0.5), underflow);
        assert_eq!(convert(FpConversion::TtoS, traps, 0, 1e-60f64.to_bits()), underflow);
        assert_eq!(convert(FpConversion::TtoS, plain, 0, (-1e-60f64).to_bits()), Ok(0));
        let overflow = Trap { kind: ArithTrap::IntegerOverflow, result: Some(1 << 63) };
        let limit = 9_223_372_036_854_775_808.0f64.to_bits();
        assert_eq!(convert(FpConversion::TtoQ, traps, 0, limit), Err(overflow));
    }

    /// A quiet NaN is an invalid operand of every compare, infinity of none (4.7.7.4).
    #[test]
    fn compares_without_completion() {
        let (nan, inf, one) = (f64::NAN.to_bits(), f64::INFINITY.to_bits(), 1f64.to_bits());
        for relation in [FpRelation::Eq, FpRelation::Lt, FpRelation::Le, FpRelation::Un] {
            let invalid = Err(ArithTrap::InvalidOperation.into());
            assert_eq!(compare(relation, plain(), one, nan), invalid);
            assert!(compare(relation, plain(), inf, one).is_ok());
            assert!(compare(relation, su(), one, nan).is_ok());
        }
    }

    /// A float denormal to double: 2^-149 is 36a0000000000000.
    #[test]
    fn cvtst_of_a_denormal() {
        let image = s_to_register(1);
        assert_eq!(convert(FpConversion::StoT, su(), 2 << 58, image), Ok(0x36a0_0000_0000_0000));
    }
}
