//! VAX floating point as the interpreter computes it: in integers.
//!
//! A result that traps is UNPREDICTABLE but for underflow, which gives zero, and integer overflow,
//! which gives the low bits; here it is zero. The FPCR isn't touched.
//!
//! Source: Alpha Architecture Handbook, sections 2.2.5, 4.7.4 to 4.7.7 and 4.10.

use axperf_isa::fpcr;
use axperf_isa::sem::{FpOp, FpRelation, Qualifiers, Rounding, VaxConversion, VaxFormat};

use crate::machine::fp::Done;

/// True, for a compare: 0.5.
const HALF: u64 = 0x4000_0000_0000_0000;
/// Bits that a fraction is moved up before it is added to or divided, so that what is beyond them
/// can't change how the result rounds.
const GUARD: u32 = 64;

/// The layout of a format in a register, and its range.
#[derive(Clone, Copy)]
struct Layout {
    /// Bits of the exponent field.
    exponent: u32,
    /// Bits of a fraction, the hidden one included.
    precision: u32,
    /// What the exponent field has more than the exponent of a number 1.fraction.
    bias: i32,
    /// The largest exponent; the least one is the negative of this, less 2.
    most: i32,
}

const F: Layout = Layout { exponent: 11, precision: 24, bias: 1025, most: 126 };
const G: Layout = Layout { exponent: 11, precision: 53, bias: 1025, most: 1022 };
const D: Layout = Layout { exponent: 8, precision: 56, bias: 129, most: 126 };

impl Layout {
    /// Bits below the exponent field, of which F_floating uses those at the top.
    fn below(self) -> u32 {
        63 - self.exponent
    }
}

fn layout(format: VaxFormat) -> Layout {
    match format {
        VaxFormat::F => F,
        VaxFormat::G => G,
    }
}

/// A number: the fraction, an integer, times two to the exponent. The fraction of zero is zero.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    exponent: i32,
    fraction: u64,
}

/// What traps, as a status bit of the FPCR.
type Raised = u64;

/// A result, or what an instruction traps for and what it writes all the same.
type Outcome = Result<u64, (Raised, u64)>;

fn finish(q: Qualifiers, outcome: Outcome) -> Done {
    match outcome {
        Ok(value) => Done { value, status: 0, trap: 0 },
        Err((raised, value)) => {
            Done { value, status: 0, trap: fpcr::summary(raised) | u64::from(q.software) }
        }
    }
}

/// An operand. A reserved one is invalid, and so is a dirty zero without /S.
fn operand(q: Qualifiers, l: Layout, x: u64) -> Result<Number, (Raised, u64)> {
    let field = x << 1 >> (64 - l.exponent);
    let negative = x >> 63 != 0;
    let rest = x & ((1 << l.below()) - 1);
    if field != 0 {
        let exponent = field as i32 - l.bias - l.below() as i32;
        return Ok(Number { negative, exponent, fraction: rest | 1 << l.below() });
    }
    if x == 0 || !negative && q.software {
        return Ok(Number { negative: false, exponent: 0, fraction: 0 });
    }
    Err((fpcr::INV, 0))
}

/// Rounds to the format: a half goes away from zero, or all goes toward it. What the magnitude lacks
/// is less than its last place, and none if it has as many bits as the format or fewer.
fn round(q: Qualifiers, l: Layout, negative: bool, magnitude: u128, exponent: i32) -> Outcome {
    if magnitude == 0 {
        return Ok(0);
    }
    let bits = 128 - magnitude.leading_zeros();
    let mut exponent = exponent + bits as i32 - 1;
    let fraction = if bits <= l.precision {
        magnitude << (l.precision - bits)
    } else {
        let dropped = bits - l.precision;
        let half = magnitude >> (dropped - 1) & 1;
        let up = if q.rounding == Rounding::Chopped { 0 } else { half };
        (magnitude >> dropped) + up
    };
    let mut fraction = fraction as u64;
    if fraction >> l.precision != 0 {
        fraction >>= 1;
        exponent += 1;
    }
    if exponent > l.most {
        return Err((fpcr::OVF, 0));
    }
    if exponent < -l.most - 2 {
        return if q.underflow { Err((fpcr::UNF, 0)) } else { Ok(0) };
    }
    let hidden = 1 << (l.precision - 1);
    let field = (exponent + l.bias) as u64;
    let rest = (fraction & (hidden - 1)) << (l.below() + 1 - l.precision);
    Ok(u64::from(negative) << 63 | field << l.below() | rest)
}

/// Arithmetic; [`FpOp::Sqrt`] takes `b`.
pub(crate) fn arith(op: FpOp, format: VaxFormat, q: Qualifiers, a: u64, b: u64) -> Done {
    let l = layout(format);
    let compute = || {
        // A square root has one operand: it stands for both.
        let a = operand(q, G, if op == FpOp::Sqrt { b } else { a })?;
        let b = operand(q, G, b)?;
        match op {
            FpOp::Add => sum(q, l, a, b),
            FpOp::Sub => sum(q, l, a, Number { negative: !b.negative, ..b }),
            FpOp::Mul => {
                let product = u128::from(a.fraction) * u128::from(b.fraction);
                round(q, l, a.negative != b.negative, product, a.exponent + b.exponent)
            }
            FpOp::Div if b.fraction == 0 => Err((fpcr::DZE, 0)),
            FpOp::Div => {
                let quotient = (u128::from(a.fraction) << GUARD) / u128::from(b.fraction);
                let exponent = a.exponent - b.exponent - GUARD as i32;
                round(q, l, a.negative != b.negative, quotient, exponent)
            }
            FpOp::Sqrt => root(q, l, b),
        }
    };
    finish(q, compute())
}

fn sum(q: Qualifiers, l: Layout, a: Number, b: Number) -> Outcome {
    let (large, small) = if b.fraction == 0 || a.fraction != 0 && a.exponent >= b.exponent {
        (a, b)
    } else {
        (b, a)
    };
    let exponent = large.exponent - GUARD as i32;
    let (x, y) = (u128::from(large.fraction) << GUARD, u128::from(small.fraction) << GUARD);
    let distance = if small.fraction == 0 { 0 } else { large.exponent.abs_diff(small.exponent) };
    let (y, lost) =
        if distance < 128 { (y >> distance, y >> distance << distance != y) } else { (0, true) };
    if large.negative == small.negative {
        return round(q, l, large.negative, x + y, exponent);
    }
    // What is lost of the smaller one takes a little more away.
    let y = y + u128::from(lost);
    let negative = if x < y { small.negative } else { large.negative };
    round(q, l, negative, x.abs_diff(y), exponent)
}

fn root(q: Qualifiers, l: Layout, b: Number) -> Outcome {
    if b.fraction == 0 {
        return Ok(0);
    }
    if b.negative {
        return Err((fpcr::INV, 0));
    }
    // An even exponent, and a root of more bits than any format has.
    let up = GUARD + b.exponent.rem_euclid(2) as u32;
    let square = u128::from(b.fraction) << up;
    round(q, l, false, square.isqrt(), (b.exponent - up as i32) / 2)
}

/// Compares: 0.5 if the relation holds, else 0.
pub(crate) fn compare(relation: FpRelation, q: Qualifiers, a: u64, b: u64) -> Done {
    let compute = || {
        operand(q, G, a)?;
        operand(q, G, b)?;
        // Sign and magnitude: a dirty zero has no exponent.
        let order = |x: u64| {
            let x = if x << 1 >> (1 + G.below()) == 0 { 0 } else { x as i64 };
            if x < 0 { i64::MIN - x } else { x }
        };
        let (x, y) = (order(a), order(b));
        let holds = match relation {
            FpRelation::Eq => x == y,
            FpRelation::Lt => x < y,
            FpRelation::Le => x <= y,
            FpRelation::Un => false,
        };
        Ok(if holds { HALF } else { 0 })
    };
    finish(q, compute())
}

/// Converts.
pub(crate) fn convert(conversion: VaxConversion, q: Qualifiers, b: u64) -> Done {
    let between = |from, to| {
        let b: Number = operand(q, from, b)?;
        round(q, to, b.negative, b.fraction.into(), b.exponent)
    };
    let n = b as i64;
    let integer = |to| round(q, to, n < 0, n.unsigned_abs().into(), 0);
    let outcome = match conversion {
        VaxConversion::DtoG => between(D, G),
        VaxConversion::GtoD => between(G, D),
        VaxConversion::GtoF => between(G, F),
        VaxConversion::QtoF => integer(F),
        VaxConversion::QtoG => integer(G),
        VaxConversion::GtoQ => to_quad(q, b),
    };
    finish(q, outcome)
}

fn to_quad(q: Qualifiers, b: u64) -> Outcome {
    let Number { negative, exponent, fraction } = operand(q, G, b)?;
    let fraction = u128::from(fraction);
    // Beyond these nothing is left: of the low bits, or of the number.
    let magnitude = match exponent {
        64.. => 0,
        0..64 => fraction << exponent,
        -64..0 => {
            let down = exponent.unsigned_abs();
            let up = if q.rounding == Rounding::Chopped { 0 } else { fraction >> (down - 1) & 1 };
            (fraction >> down) + up
        }
        _ => 0,
    };
    let low = magnitude as u64;
    let value = if negative { low.wrapping_neg() } else { low };
    let limit = (1 << 63) - u128::from(!negative);
    let overflow = exponent >= 64 || magnitude > limit;
    if overflow && q.underflow { Err((fpcr::IOV, value)) } else { Ok(value) }
}
