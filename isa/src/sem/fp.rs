//! IEEE floating point, and what moves and converts bits.

use super::{FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Sem, Width};

pub(super) const SIGN: u64 = 1 << 63;
const SIGN_AND_EXPONENT: u64 = 0xfff << 52;

#[inline(always)]
fn zero<S: Sem>(s: &mut S) -> S::F {
    let zero = s.imm(0);
    s.from_bits(zero)
}

/// The bits without the sign, one up.
#[inline(always)]
fn magnitude<S: Sem>(s: &mut S, a: S::F) -> S::I {
    let (a, one) = (s.bits(a), s.imm(1));
    s.shl(a, one)
}

/// a, complemented if so wished, where the mask has ones, b elsewhere.
#[inline(always)]
pub(super) fn combine<S: Sem + ?Sized>(
    s: &mut S,
    a: S::F,
    b: S::F,
    mask: u64,
    negate: bool,
) -> S::F {
    let (a, b, mask) = (s.bits(a), s.bits(b), s.imm(mask));
    let taken = if negate { s.and_not(mask, a) } else { s.and(mask, a) };
    let kept = s.and_not(b, mask);
    let r = s.or(taken, kept);
    s.from_bits(r)
}

/// Floating-point register to integer register, as T_floating.
pub fn ftoit<S: Sem>(s: &mut S, a: S::F) -> S::I {
    s.bits(a)
}

/// Floating-point register to integer register, as S_floating in memory.
pub fn ftois<S: Sem>(s: &mut S, a: S::F) -> S::I {
    let r = s.register_to_s(a);
    s.sext(r, Width::Long)
}

/// Integer register to floating-point register, as S_floating in memory.
pub fn itofs<S: Sem>(s: &mut S, a: S::I) -> S::F {
    s.s_to_register(a)
}

/// Integer register to floating-point register, as T_floating.
pub fn itoft<S: Sem>(s: &mut S, a: S::I) -> S::F {
    s.from_bits(a)
}

/// Add S_floating.
pub fn adds<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Add, FpFormat::S, q, a, b)
}

/// Subtract S_floating.
pub fn subs<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Sub, FpFormat::S, q, a, b)
}

/// Multiply S_floating.
pub fn muls<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Mul, FpFormat::S, q, a, b)
}

/// Divide S_floating.
pub fn divs<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Div, FpFormat::S, q, a, b)
}

/// Add T_floating.
pub fn addt<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Add, FpFormat::T, q, a, b)
}

/// Subtract T_floating.
pub fn subt<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Sub, FpFormat::T, q, a, b)
}

/// Multiply T_floating.
pub fn mult<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Mul, FpFormat::T, q, a, b)
}

/// Divide T_floating.
pub fn divt<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_arith(FpOp::Div, FpFormat::T, q, a, b)
}

/// Compare T_floating unordered.
pub fn cmptun<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_compare(FpRelation::Un, q, a, b)
}

/// Compare T_floating equal.
pub fn cmpteq<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_compare(FpRelation::Eq, q, a, b)
}

/// Compare T_floating less than.
pub fn cmptlt<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_compare(FpRelation::Lt, q, a, b)
}

/// Compare T_floating less than or equal.
pub fn cmptle<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_compare(FpRelation::Le, q, a, b)
}

/// Convert T_floating to S_floating.
pub fn cvtts<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_convert(FpConversion::TtoS, q, b)
}

/// Convert S_floating to T_floating.
pub fn cvtst<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_convert(FpConversion::StoT, q, b)
}

/// Convert T_floating to quadword.
pub fn cvttq<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_convert(FpConversion::TtoQ, q, b)
}

/// Convert quadword to S_floating.
pub fn cvtqs<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_convert(FpConversion::QtoS, q, b)
}

/// Convert quadword to T_floating.
pub fn cvtqt<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    s.fp_convert(FpConversion::QtoT, q, b)
}

/// Square root of S_floating.
pub fn sqrts<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    let zero = zero(s);
    s.fp_arith(FpOp::Sqrt, FpFormat::S, q, zero, b)
}

/// Square root of T_floating.
pub fn sqrtt<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    let zero = zero(s);
    s.fp_arith(FpOp::Sqrt, FpFormat::T, q, zero, b)
}

/// Convert longword to quadword.
#[inline(always)]
pub fn cvtlq<S: Sem>(s: &mut S, _q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    // The longword lies in bits 63:62 and 58:29.
    let b = s.bits(b);
    let count = s.imm(32);
    let high = s.sar(b, count);
    let top = s.imm(0xffff_ffff_c000_0000);
    let high = s.and(high, top);
    let count = s.imm(29);
    let low = s.shr(b, count);
    let rest = s.imm(0x3fff_ffff);
    let low = s.and(low, rest);
    let r = s.or(high, low);
    Ok(s.from_bits(r))
}

/// Copy sign.
pub fn cpys<S: Sem>(s: &mut S, _q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    Ok(s.copy_sign(a, b, false))
}

/// Copy sign negated.
pub fn cpysn<S: Sem>(s: &mut S, _q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    Ok(s.copy_sign(a, b, true))
}

/// Copy sign and exponent.
pub fn cpyse<S: Sem>(s: &mut S, _q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    Ok(combine(s, a, b, SIGN_AND_EXPONENT, false))
}

/// Move to FPCR.
pub fn mt_fpcr<S: Sem>(s: &mut S, a: S::F) -> Result<(), S::Stop> {
    let a = s.bits(a);
    s.set_fpcr(a)
}

/// Move from FPCR.
pub fn mf_fpcr<S: Sem>(s: &mut S) -> Result<S::F, S::Stop> {
    let r = s.fpcr()?;
    Ok(s.from_bits(r))
}

/// Move if Fa is zero.
#[inline(always)]
pub fn fcmoveq<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let m = magnitude(s, a);
    let zero = s.imm(0);
    s.eq(m, zero)
}

/// Move if Fa is not zero.
#[inline(always)]
pub fn fcmovne<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let m = magnitude(s, a);
    let zero = s.imm(0);
    s.ne(m, zero)
}

/// Move if Fa is less than zero.
#[inline(always)]
pub fn fcmovlt<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let a = s.bits(a);
    let minus_zero = s.imm(SIGN);
    s.ult(minus_zero, a)
}

/// Move if Fa is greater than or equal to zero.
#[inline(always)]
pub fn fcmovge<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let a = s.bits(a);
    let minus_zero = s.imm(SIGN);
    s.ule(a, minus_zero)
}

/// Move if Fa is less than or equal to zero.
#[inline(always)]
pub fn fcmovle<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let a = s.bits(a);
    let zero = s.imm(0);
    s.sle(a, zero)
}

/// Move if Fa is greater than zero.
#[inline(always)]
pub fn fcmovgt<S: Sem>(s: &mut S, a: S::F) -> S::B {
    let a = s.bits(a);
    let zero = s.imm(0);
    s.slt(zero, a)
}

/// Convert quadword to longword.
#[inline(always)]
pub fn cvtql<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    if q.underflow {
        return s.fp_convert(FpConversion::QtoL, q, b);
    }
    let b = s.bits(b);
    let top = s.imm(0xc000_0000);
    let high = s.and(b, top);
    let count = s.imm(32);
    let high = s.shl(high, count);
    let rest = s.imm(0x3fff_ffff);
    let low = s.and(b, rest);
    let count = s.imm(29);
    let low = s.shl(low, count);
    let r = s.or(high, low);
    Ok(s.from_bits(r))
}
