//! IEEE floating point as the interpreter computes it.
//!
//! Values are those of the host's IEEE arithmetic; the rest of the Alpha's rules is said here. An
//! instruction without /S does what the 21264 does: operands that aren't finite trap, tiny results
//! become zero. One with /S does what a program sees on Linux: hardware and software completion
//! together give the IEEE result, and it traps only if an exception is enabled. The translator emits
//! the ordinary cases and leaves the rest to the interpreter.
//!
//! Sources: Alpha Architecture Handbook, sections 4.7.7 to 4.7.10 and appendix B; 21264/EV67 Hardware
//! Reference Manual, appendix A.8; Linux `arch/alpha/math-emu`.

use crate::machine::hostfp::{self, Mode, Setting};
use axperf_isa::fpcr::{self, DNO, DNZ, DZE, INE, INV, IOV, OVF, UNDZ, UNF, UNFD};
use axperf_isa::sem::{FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Rounding};

const QUIET: u64 = 1 << 51;
const SIGN: u64 = 1 << 63;
/// The NaN that an invalid operation gives: quiet, sign set.
const CANONICAL_NAN: u64 = 0xfff8_0000_0000_0000;
const TWO: u64 = 0x4000_0000_0000_0000;
/// SWC in the exception summary.
const SOFTWARE: u64 = 1;

/// What came of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// What is written to the destination.
    pub value: u64,
    /// Status bits to set in the FPCR.
    pub status: u64,
    /// The exception summary of the trap that is taken afterwards; 0 for none.
    pub trap: u64,
}

/// What IEEE 754 says of an operation: result, and exceptions as status bits.
#[derive(Clone, Copy, Debug)]
struct Ieee {
    value: u64,
    raised: u64,
}

fn exponent(x: u64) -> u64 {
    x >> 52 & 0x7ff
}

fn is_nan(x: u64) -> bool {
    exponent(x) == 0x7ff && x << 12 != 0
}

fn is_signaling(x: u64) -> bool {
    is_nan(x) && x & QUIET == 0
}

fn is_denormal(x: u64) -> bool {
    exponent(x) == 0 && x << 12 != 0
}

/// Neither infinity nor NaN nor denormal.
fn is_finite(x: u64) -> bool {
    exponent(x) != 0x7ff && !is_denormal(x)
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

/// How the host operates: whether an inexact result is one can be left out if that is known to the
/// FPCR, and no trap depends on it.
fn setting(q: Qualifiers, fpcr: u64) -> Setting {
    Setting { mode: mode(q, fpcr), inexact: fpcr & INE != 0 && fpcr::enabled(fpcr) & INE == 0 }
}

/// Operands of an instruction, and whether a denormal one asks for software completion.
struct Operands {
    a: u64,
    b: u64,
    denormal: bool,
}

impl Operands {
    fn new(q: Qualifiers, fpcr: u64, a: u64, b: u64) -> Operands {
        let denormal = is_denormal(a) || is_denormal(b);
        if denormal && q.software && fpcr & DNZ != 0 {
            let zero = |x| if is_denormal(x) { x & SIGN } else { x };
            return Operands { a: zero(a), b: zero(b), denormal: false };
        }
        Operands { a, b, denormal }
    }

    /// One without /S refuses it.
    fn refused(&self, q: Qualifiers) -> bool {
        !(q.software || is_finite(self.a) && is_finite(self.b))
    }
}

/// The value of a register image in an S_floating instruction.
///
/// Only denormals mean another value than in T_floating. What isn't an image of S_floating at all,
/// where the manual says UNPREDICTABLE, is taken for the T_floating value that it is.
fn single(x: u64) -> f64 {
    if is_denormal(x) {
        f64::from(f32::from_bits(register_to_s(x) as u32))
    } else {
        f64::from_bits(x)
    }
}

/// The NaN among the operands that becomes the result: Fb's, else Fa's, made quiet.
fn nan_operand(a: u64, b: u64) -> Option<Ieee> {
    let nan = if is_nan(b) {
        b
    } else if is_nan(a) {
        a
    } else {
        return None;
    };
    let raised = if is_signaling(a) || is_signaling(b) { INV } else { 0 };
    Some(Ieee { value: nan | QUIET, raised })
}

fn compute(op: FpOp, format: FpFormat, setting: Setting, a: u64, b: u64) -> Ieee {
    if let Some(nan) = nan_operand(a, b) {
        return nan;
    }
    let t = format == FpFormat::T;
    let (x, y) = if t { (f64::from_bits(a), f64::from_bits(b)) } else { (single(a), single(b)) };
    let (wide, mut raised) = match op {
        FpOp::Add => hostfp::add64(setting, x, y),
        FpOp::Sub => hostfp::sub64(setting, x, y),
        FpOp::Mul => hostfp::mul64(setting, x, y),
        FpOp::Div => hostfp::div64(setting, x, y),
        FpOp::Sqrt => hostfp::sqrt64(setting, y),
    };
    let value = if t {
        wide.to_bits()
    } else {
        // To round twice is to round once: double precision has more than twice the bits of single.
        let (r, narrowed) = hostfp::f64_to_f32(setting, wide);
        raised |= narrowed;
        s_to_register(u64::from(r.to_bits()))
    };
    // A denormal operand is for `finish` to see.
    Ieee { value: if is_nan(value) { CANONICAL_NAN } else { value }, raised: raised & !DNO }
}

/// The part of hardware and software completion in an operation whose IEEE result is known.
fn finish(q: Qualifiers, fpcr: u64, ieee: Ieee, operands: &Operands) -> Done {
    let Ieee { value, raised } = ieee;
    let tiny = is_denormal(value) || raised & UNF != 0;
    let zero = Ieee { value: 0, raised: raised | UNF | INE };
    if !q.software {
        let Ieee { value, raised } = if tiny { zero } else { ieee };
        let raised = if operands.refused(q) { INV } else { raised };
        let enabled = INV | DZE | OVF | if q.underflow { UNF } else { 0 };
        return Done { value, status: raised, trap: fpcr::summary(raised & enabled) };
    }
    let enabled = fpcr::enabled(fpcr);
    let flushed = fpcr & (UNFD | UNDZ) == UNFD | UNDZ;
    let traps = raised & enabled & !(if q.inexact { 0 } else { INE }) & !UNF;
    if !operands.denormal && traps == 0 && (!tiny || flushed) {
        // The hardware can do it.
        let Ieee { value, raised } = if tiny { zero } else { ieee };
        return Done { value, status: raised, trap: 0 };
    }
    let raised = raised | if operands.denormal { DNO } else { 0 };
    let value = if raised & UNF != 0 && fpcr & UNDZ != 0 { 0 } else { value };
    Done { value, status: raised, trap: completed(raised & enabled) }
}

/// The exception summary after software completion; a denormal operand is told by SWC alone.
fn completed(traps: u64) -> u64 {
    if traps == 0 { 0 } else { fpcr::summary(traps & !DNO) | SOFTWARE }
}

/// Zero, or well away from what is denormal or not finite.
#[inline(always)]
fn is_ordinary(x: u64) -> bool {
    x << 1 == 0 || exponent(x).wrapping_sub(2) < 0x7fd
}

/// Arithmetic that raises nothing that the FPCR doesn't know yet, on operands and with a result that
/// need no care, rounded to nearest: its result. None where it isn't known to be so.
#[inline(always)]
pub(crate) fn ordinary(
    op: FpOp,
    format: FpFormat,
    q: Qualifiers,
    fpcr: u64,
    a: u64,
    b: u64,
) -> Option<u64> {
    let to_nearest = q.rounding == Rounding::Nearest
        || q.rounding == Rounding::Dynamic && Mode::from_fpcr(fpcr) == Mode::Nearest;
    if !to_nearest || !is_ordinary(a) || !is_ordinary(b) {
        return None;
    }
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let wide = match op {
        FpOp::Add => x + y,
        FpOp::Sub => x - y,
        FpOp::Mul => x * y,
        FpOp::Div if b << 1 != 0 => x / y,
        FpOp::Div | FpOp::Sqrt => return None,
    };
    let r = match format {
        FpFormat::T => wide,
        // To round twice is to round once: double precision has more than twice the bits of single.
        FpFormat::S => {
            let narrow = wide as f32;
            let exponent = narrow.to_bits() >> 23 & 0xff;
            if wide != 0.0 && exponent.wrapping_sub(2) >= 0xfd {
                return None;
            }
            f64::from(narrow)
        }
    };
    // A product or quotient is zero by underflow, or of a zero.
    let zero = |x: u64| x << 1 == 0;
    let lost = zero(r.to_bits()) && matches!(op, FpOp::Mul | FpOp::Div) && !zero(a) && !zero(b);
    if !is_ordinary(r.to_bits()) || lost {
        return None;
    }
    let known = fpcr & INE != 0 && fpcr::enabled(fpcr) & INE == 0;
    (known || r == wide && is_exact(op, x, y, wide)).then_some(r.to_bits())
}

/// Whether a result, rounded to nearest, is known to be exact; operands and result are ordinary.
fn is_exact(op: FpOp, x: f64, y: f64, r: f64) -> bool {
    let sum_is_exact = |x: f64, y: f64| {
        // What rounding took from a sum is a number, which this finds without rounding (Knuth's
        // TwoSum).
        let of_y = r - x;
        (x - (r - of_y)) + (y - of_y) == 0.0
    };
    match op {
        FpOp::Add => sum_is_exact(x, y),
        FpOp::Sub => sum_is_exact(x, -y),
        FpOp::Mul => {
            // A product has as many low zeros as its factors together: if that leaves 53 bits, then
            // none was rounded away.
            let zeros = |x: f64| (x.to_bits() | 1 << 52).trailing_zeros();
            x == 0.0 || y == 0.0 || zeros(x) + zeros(y) >= 53
        }
        FpOp::Div | FpOp::Sqrt => false,
    }
}

/// Arithmetic; [`FpOp::Sqrt`] takes `b`.
pub(crate) fn arith(op: FpOp, format: FpFormat, q: Qualifiers, fpcr: u64, a: u64, b: u64) -> Done {
    if let Some(value) = ordinary(op, format, q, fpcr, a, b) {
        return Done { value, status: 0, trap: 0 };
    }
    unusual(op, format, q, fpcr, a, b)
}

/// Arithmetic on anything.
fn unusual(op: FpOp, format: FpFormat, q: Qualifiers, fpcr: u64, a: u64, b: u64) -> Done {
    let a = if op == FpOp::Sqrt { 0 } else { a };
    let operands = Operands::new(q, fpcr, a, b);
    let ieee = compute(op, format, setting(q, fpcr), operands.a, operands.b);
    finish(q, fpcr, ieee, &operands)
}

/// Compares: 2.0 if the relation holds, else 0.
pub(crate) fn compare(relation: FpRelation, q: Qualifiers, fpcr: u64, a: u64, b: u64) -> Done {
    let operands = Operands::new(q, fpcr, a, b);
    let (a, b) = (operands.a, operands.b);
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let holds = match relation {
        FpRelation::Eq => x == y,
        FpRelation::Lt => x < y,
        FpRelation::Le => x <= y,
        FpRelation::Un => x.is_nan() || y.is_nan(),
    };
    let invalid = match relation {
        FpRelation::Eq | FpRelation::Un => is_signaling(a) || is_signaling(b),
        FpRelation::Lt | FpRelation::Le => is_nan(a) || is_nan(b),
    };
    let ieee = Ieee { value: if holds { TWO } else { 0 }, raised: if invalid { INV } else { 0 } };
    if q.software {
        return finish(q, fpcr, ieee, &operands);
    }
    // Infinity is the one value that isn't finite and no reason to trap.
    let status = if is_nan(a) || is_nan(b) || operands.denormal { INV } else { 0 };
    Done { value: ieee.value, status, trap: fpcr::summary(status) }
}

/// Converts.
pub(crate) fn convert(conversion: FpConversion, q: Qualifiers, fpcr: u64, b: u64) -> Done {
    let setting = setting(q, fpcr);
    let operands = match conversion {
        FpConversion::TtoS | FpConversion::StoT | FpConversion::TtoQ => {
            Operands::new(q, fpcr, 0, b)
        }
        FpConversion::QtoS | FpConversion::QtoT | FpConversion::QtoL => {
            Operands { a: 0, b: 0, denormal: false }
        }
    };
    let ieee = match conversion {
        FpConversion::QtoT => {
            let (r, raised) = hostfp::i64_to_f64(setting, b as i64);
            Ieee { value: r.to_bits(), raised }
        }
        FpConversion::QtoS => {
            let (r, raised) = hostfp::i64_to_f32(setting, b as i64);
            Ieee { value: s_to_register(u64::from(r.to_bits())), raised }
        }
        FpConversion::StoT => {
            let b = operands.b;
            nan_operand(0, b).unwrap_or_else(|| Ieee { value: single(b).to_bits(), raised: 0 })
        }
        FpConversion::TtoS => match nan_operand(0, operands.b) {
            // The register image of an S NaN has no fraction bits below S_floating's.
            Some(nan) => Ieee { value: nan.value & !0x1fff_ffff, ..nan },
            None => {
                let (r, raised) = hostfp::f64_to_f32(setting, f64::from_bits(operands.b));
                Ieee { value: s_to_register(u64::from(r.to_bits())), raised: raised & !DNO }
            }
        },
        FpConversion::QtoL => return to_long(q, fpcr, b),
        FpConversion::TtoQ => return to_quad(q, fpcr, setting.mode, &operands),
    };
    finish(q, fpcr, ieee, &operands)
}

/// CVTQL/V: to the longword in register format.
fn to_long(q: Qualifiers, fpcr: u64, b: u64) -> Done {
    let value = (b & 0xc000_0000) << 32 | (b & 0x3fff_ffff) << 29;
    let overflow = b as i64 != i64::from(b as i32);
    let status = if overflow { IOV } else { 0 };
    if !q.software {
        return Done { value, status, trap: fpcr::summary(status) };
    }
    // Completion calls it an invalid operation.
    if overflow && fpcr::enabled(fpcr) & INV != 0 {
        return Done { value, status: status | INV, trap: completed(INV) };
    }
    Done { value, status, trap: 0 }
}

/// CVTTQ.
fn to_quad(q: Qualifiers, fpcr: u64, mode: Mode, operands: &Operands) -> Done {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let b = operands.b;
    let x = f64::from_bits(b);
    let rounded = match mode {
        Mode::Nearest => x.round_ties_even(),
        Mode::Zero => x.trunc(),
        Mode::Down => x.floor(),
        Mode::Up => x.ceil(),
    };
    let value = low_quad(rounded);
    let special = exponent(b) == 0x7ff;
    let overflow = !special && !(-LIMIT..LIMIT).contains(&rounded);
    let inexact = !special && rounded != x;
    let status = if special {
        INV
    } else if overflow {
        IOV | INE
    } else if inexact {
        INE
    } else {
        0
    };
    if !q.software {
        let status = if operands.refused(q) { INV } else { status };
        let enabled = INV | if q.underflow { IOV } else { 0 };
        return Done { value, status, trap: fpcr::summary(status & enabled) };
    }
    let enabled = fpcr::enabled(fpcr);
    let invalid = enabled & INV != 0;
    let traps = operands.denormal
        || special && invalid
        || overflow && q.underflow && invalid
        || status & INE & enabled != 0 && q.inexact;
    if !traps {
        return Done { value, status, trap: 0 };
    }
    // Completion calls integer overflow an invalid operation, but a quiet NaN none.
    let invalid = overflow || special && (!is_nan(b) || is_signaling(b));
    let completion = if invalid { INV } else { 0 }
        | if inexact { INE } else { 0 }
        | if operands.denormal { DNO } else { 0 };
    Done { value, status: status | completion, trap: completed(completion & enabled) }
}

/// An integral value modulo 2^64; not-a-number and infinity give 0.
fn low_quad(x: f64) -> u64 {
    let bits = x.to_bits();
    let e = exponent(bits);
    if e == 0x7ff {
        return 0;
    }
    if e < 1023 + 63 {
        return x as i64 as u64;
    }
    // |x| ≥ 2^63: the fraction stands e - 1075 places to the left, more than 63 leave nothing.
    let shift = e - 1075;
    let magnitude = if shift > 63 { 0 } else { (bits & ((1 << 52) - 1) | 1 << 52) << shift };
    if bits & SIGN != 0 { magnitude.wrapping_neg() } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The FPCR of a Linux program, and one that disables no trap.
    const START: u64 = 0x680e_8000_0000_0000;
    const ALL: u64 = 2 << 58;

    fn su() -> Qualifiers {
        Qualifiers { rounding: Rounding::Nearest, underflow: true, software: true, inexact: false }
    }
    fn plain() -> Qualifiers {
        Qualifiers { underflow: false, software: false, ..su() }
    }
    fn done(value: u64, status: u64, trap: u64) -> Done {
        Done { value, status, trap }
    }
    fn divide(q: Qualifiers, fpcr: u64, a: f64, b: f64) -> Done {
        arith(FpOp::Div, FpFormat::T, q, fpcr, a.to_bits(), b.to_bits())
    }
    fn multiply(q: Qualifiers, fpcr: u64, a: f64, b: f64) -> Done {
        arith(FpOp::Mul, FpFormat::T, q, fpcr, a.to_bits(), b.to_bits())
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

    /// The rows of qemu's own test of CVTTQ/SVIC: value and FPCR status.
    #[test]
    fn cvttq_wraps() {
        let c = Qualifiers { rounding: Rounding::Chopped, inexact: true, ..su() };
        for (x, want, status) in [
            (1.0, 1, 0),
            (-1.0, u64::MAX, 0),
            (1.5, 1, INE),
            (4_294_967_296.0, 1 << 32, 0),
            (-9_223_372_036_854_775_808.0, 1 << 63, 0),
            (9_223_372_036_854_775_808.0, 1 << 63, IOV | INE),
            (18_446_744_073_709_551_616.0, 0, IOV | INE),
            // 1.cccp64
            (f64::from_bits(0x43fc_cc00_0000_0000), 0xccc0_0000_0000_0000, IOV | INE),
            (f64::INFINITY, 0, INV),
            (f64::NAN, 0, INV),
        ] {
            let got = convert(FpConversion::TtoQ, c, START, f64::to_bits(x));
            assert_eq!(got, done(want, status, 0), "{x}");
        }
    }

    /// Without /S, division traps (SIGFPE on Linux); with it, it gives what IEEE 754 says, and traps
    /// only if the FPCR lets it.
    #[test]
    fn division() {
        let infinity = f64::INFINITY.to_bits();
        assert_eq!(divide(plain(), START, 0.0, 0.0), done(CANONICAL_NAN, INV, 1 << 1));
        assert_eq!(divide(su(), START, 0.0, 0.0), done(CANONICAL_NAN, INV, 0));
        assert_eq!(divide(su(), ALL, 0.0, 0.0), done(CANONICAL_NAN, INV, 1 << 1 | 1));
        assert_eq!(divide(plain(), START, 1.0, 0.0), done(infinity, DZE, 1 << 2));
        assert_eq!(divide(su(), START, 1.0, 0.0), done(infinity, DZE, 0));
        assert_eq!(divide(su(), ALL, 1.0, 0.0), done(infinity, DZE, 1 << 2 | 1));
        // An enabled trap of another exception is none.
        let others = START & !(1 << 49 | 1 << 51);
        assert_eq!(divide(su(), others, 1.0, 0.0), done(infinity, DZE, 0));
    }

    /// Handbook 4.7.7.7: without /S a true zero, even where IEEE's result is -0.
    #[test]
    fn underflow() {
        let least = 1u64;
        let q = su();
        assert_eq!(multiply(plain(), START, -1e-200, 1e-200), done(0, UNF | INE, 0));
        let u = Qualifiers { underflow: true, ..plain() };
        assert_eq!(multiply(u, START, -1e-200, 1e-200), done(0, UNF | INE, 1 << 4));
        assert_eq!(multiply(q, START, -1e-200, 1e-200), done(SIGN, UNF | INE, 0));
        assert_eq!(multiply(q, START | UNDZ, -1e-200, 1e-200), done(0, UNF | INE, 0));
        assert_eq!(multiply(q, START & !UNFD, -1e-200, 1e-200).trap, 1 << 4 | 1);
        // Exact ones are no exception, but no number without /S either.
        let half = f64::MIN_POSITIVE / 2.0;
        assert_eq!(multiply(q, START, f64::MIN_POSITIVE, 0.5), done(half.to_bits(), 0, 0));
        assert_eq!(multiply(q, ALL, f64::MIN_POSITIVE, 0.5), done(half.to_bits(), 0, 0));
        assert_eq!(multiply(plain(), START, f64::MIN_POSITIVE, 0.5), done(0, UNF | INE, 0));
        // A denormal operand: Linux's status for it, and the bit by which it can trap.
        let one = 1f64.to_bits();
        let product = |fpcr| arith(FpOp::Mul, FpFormat::T, q, fpcr, least, one);
        assert_eq!(product(START), done(least, DNO, 0));
        assert_eq!(product(START & !(1 << 47)), done(least, DNO, 1));
        assert_eq!(product(START | DNZ), done(0, 0, 0));
        assert_eq!(arith(FpOp::Mul, FpFormat::T, plain(), START, least, one).trap, 1 << 1);
    }

    /// Linux completes an instruction for one exception and reports any that is enabled: inexact
    /// alone doesn't trap without /I, inexact after a denormal operand does.
    #[test]
    fn completion_sees_every_exception() {
        let inexact = START & !(1 << 62);
        assert_eq!(divide(su(), inexact, 1.0, 3.0).trap, 0);
        let sui = Qualifiers { inexact: true, ..su() };
        assert_eq!(divide(sui, inexact, 1.0, 3.0).trap, 1 << 5 | 1);
        assert_eq!(divide(su(), inexact, f64::from_bits(7), 3.0).trap, 1 << 5 | 1);
    }

    /// Handbook 4.7.10.4: the NaN in Fb comes first, then the one in Fa; made quiet.
    #[test]
    fn nans_propagate() {
        let (a, b) = (0x7ff0_0000_0000_0001u64, 0xfff8_0000_0000_0002u64);
        let sum = |a, b| arith(FpOp::Add, FpFormat::T, su(), START, a, b);
        assert_eq!(sum(a, b), done(b, INV, 0));
        assert_eq!(sum(b, a), done(a | QUIET, INV, 0));
        assert_eq!(sum(b, 0), done(b, 0, 0));
        assert_eq!(sum(0x7ff8_0000_0000_0003, b), done(b, 0, 0));
    }

    /// A float denormal to double: 2^-149 is 36a0000000000000.
    #[test]
    fn cvtst_of_a_denormal() {
        let image = s_to_register(1);
        let got = convert(FpConversion::StoT, su(), START, image);
        assert_eq!(got, done(0x36a0_0000_0000_0000, DNO, 0));
    }
}
