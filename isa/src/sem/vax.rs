//! VAX floating point.
//!
//! In registers F_floating has G_floating's layout, as S has T's; D_floating has its own.

use super::{FpOp, FpRelation, Qualifiers, Sem, VaxConversion, VaxFormat, Width};

/// From the exponent of F_floating to that of G_floating.
const BIAS: u64 = (1024 - 128) << 52;

/// A longword whose 16-bit words change places.
fn swap_words<S: Sem>(s: &mut S, a: S::I) -> S::I {
    let (word, low) = (s.imm(16), s.imm(0xffff));
    let down = s.shr(a, word);
    let down = s.and(down, low);
    let up = s.and(a, low);
    let up = s.shl(up, word);
    s.or(up, down)
}

/// A quadword whose 16-bit words stand in the other order.
fn reverse_words<S: Sem>(s: &mut S, a: S::I) -> S::I {
    let half = s.imm(32);
    let low = swap_words(s, a);
    let up = s.shl(low, half);
    let high = s.shr(a, half);
    let down = swap_words(s, high);
    s.or(up, down)
}

/// F_floating, its words in order of significance, to its register image.
fn f_to_register<S: Sem>(s: &mut S, a: S::I) -> S::F {
    let a = s.zext(a, Width::Long);
    let count = s.imm(31);
    let sign = s.shr(a, count);
    let count = s.imm(63);
    let sign = s.shl(sign, count);
    let rest = s.imm(0x7fff_ffff);
    let rest = s.and(a, rest);
    let count = s.imm(29);
    let moved = s.shl(rest, count);
    let count = s.imm(23);
    let exponent = s.shr(rest, count);
    let (zero, bias) = (s.imm(0), s.imm(BIAS));
    let none = s.eq(exponent, zero);
    let wider = s.select(none, zero, bias);
    let image = s.add(moved, wider);
    let image = s.or(image, sign);
    s.from_bits(image)
}

/// Load F_floating.
pub fn ldf<S: Sem>(s: &mut S, addr: S::I) -> Result<S::F, S::Stop> {
    let r = s.load(addr, Width::Long)?;
    let r = swap_words(s, r);
    Ok(f_to_register(s, r))
}

/// Load G_floating.
pub fn ldg<S: Sem>(s: &mut S, addr: S::I) -> Result<S::F, S::Stop> {
    let r = s.load(addr, Width::Quad)?;
    let r = reverse_words(s, r);
    Ok(s.from_bits(r))
}

/// Store F_floating.
pub fn stf<S: Sem>(s: &mut S, addr: S::I, value: S::F) -> Result<(), S::Stop> {
    let v = s.register_to_s(value);
    let v = swap_words(s, v);
    s.store(addr, Width::Long, v)
}

/// Store G_floating.
pub fn stg<S: Sem>(s: &mut S, addr: S::I, value: S::F) -> Result<(), S::Stop> {
    let v = s.bits(value);
    let v = reverse_words(s, v);
    s.store(addr, Width::Quad, v)
}

/// Integer register to floating-point register, as F_floating whose words stay where they are.
pub fn itoff<S: Sem>(s: &mut S, a: S::I) -> S::F {
    f_to_register(s, a)
}

macro_rules! arithmetic {
    ($($(#[doc = $doc:literal])* $id:ident = $op:ident $format:ident;)*) => {$(
        $(#[doc = $doc])*
        pub fn $id<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
            s.vax_arith(FpOp::$op, VaxFormat::$format, q, a, b)
        }
    )*};
}

arithmetic! {
    /// Add F_floating.
    addf = Add F;
    /// Subtract F_floating.
    subf = Sub F;
    /// Multiply F_floating.
    mulf = Mul F;
    /// Divide F_floating.
    divf = Div F;
    /// Add G_floating.
    addg = Add G;
    /// Subtract G_floating.
    subg = Sub G;
    /// Multiply G_floating.
    mulg = Mul G;
    /// Divide G_floating.
    divg = Div G;
}

/// Square root of F_floating.
pub fn sqrtf<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    let zero = s.imm(0);
    let zero = s.from_bits(zero);
    s.vax_arith(FpOp::Sqrt, VaxFormat::F, q, zero, b)
}

/// Square root of G_floating.
pub fn sqrtg<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
    let zero = s.imm(0);
    let zero = s.from_bits(zero);
    s.vax_arith(FpOp::Sqrt, VaxFormat::G, q, zero, b)
}

/// Compare G_floating equal.
pub fn cmpgeq<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.vax_compare(FpRelation::Eq, q, a, b)
}

/// Compare G_floating less than.
pub fn cmpglt<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.vax_compare(FpRelation::Lt, q, a, b)
}

/// Compare G_floating less than or equal.
pub fn cmpgle<S: Sem>(s: &mut S, q: Qualifiers, a: S::F, b: S::F) -> Result<S::F, S::Stop> {
    s.vax_compare(FpRelation::Le, q, a, b)
}

macro_rules! conversions {
    ($($(#[doc = $doc:literal])* $id:ident = $conversion:ident;)*) => {$(
        $(#[doc = $doc])*
        pub fn $id<S: Sem>(s: &mut S, q: Qualifiers, b: S::F) -> Result<S::F, S::Stop> {
            s.vax_convert(VaxConversion::$conversion, q, b)
        }
    )*};
}

conversions! {
    /// Convert D_floating to G_floating.
    cvtdg = DtoG;
    /// Convert G_floating to F_floating.
    cvtgf = GtoF;
    /// Convert G_floating to D_floating.
    cvtgd = GtoD;
    /// Convert G_floating to quadword.
    cvtgq = GtoQ;
    /// Convert quadword to F_floating.
    cvtqf = QtoF;
    /// Convert quadword to G_floating.
    cvtqg = QtoG;
}
