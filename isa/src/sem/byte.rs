//! Bytes of a register: EXT, INS, MSK, ZAP, CMPBGE.
//!
//! `offset` is where a datum lies in its quadword, in bits: eight times the low three bits of an
//! address, for which `b << 3` will do, as shift counts are taken modulo 64. The high forms move by
//! 64 - offset, in two steps so that offset 0 moves everything out.

use super::{Sem, Width};

/// Ones where a datum of this width at offset 0 lies.
const fn ones(width: Width) -> u64 {
    u64::MAX >> (64 - 8 * width.bytes())
}

#[inline(always)]
fn offset<S: Sem>(s: &mut S, b: S::I) -> S::I {
    let three = s.imm(3);
    s.shl(b, three)
}

/// a >> (64 - offset), 0 for offset 0.
#[inline(always)]
fn move_out<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let offset = offset(s, b);
    let zero = s.imm(0);
    // 63 - offset, modulo 64.
    let count = s.or_not(zero, offset);
    let most = s.shr(a, count);
    let one = s.imm(1);
    s.shr(most, one)
}

#[inline(always)]
fn extract_low<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let offset = offset(s, b);
    let r = s.shr(a, offset);
    s.zext(r, width)
}

#[inline(always)]
fn extract_high<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let offset = offset(s, b);
    let zero = s.imm(0);
    // 64 - offset, modulo 64: offset 0 leaves everything in place.
    let count = s.sub(zero, offset);
    let r = s.shl(a, count);
    s.zext(r, width)
}

#[inline(always)]
fn insert_low<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let offset = offset(s, b);
    let datum = s.zext(a, width);
    s.shl(datum, offset)
}

#[inline(always)]
fn insert_high<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let datum = s.zext(a, width);
    move_out(s, datum, b)
}

#[inline(always)]
fn mask_low<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let offset = offset(s, b);
    let ones = s.imm(ones(width));
    let m = s.shl(ones, offset);
    s.and_not(a, m)
}

#[inline(always)]
fn mask_high<S: Sem>(s: &mut S, a: S::I, b: S::I, width: Width) -> S::I {
    let ones = s.imm(ones(width));
    let m = move_out(s, ones, b);
    s.and_not(a, m)
}

/// Compare bytes: bit i of Rc <- whether byte i of Rav is at least byte i of Rbv, unsigned.
pub fn cmpbge<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.cmp_bytes_ge(a, b)
}

/// Mask byte low.
pub fn mskbl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_low(s, a, b, Width::Byte)
}

/// Extract byte low.
pub fn extbl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_low(s, a, b, Width::Byte)
}

/// Insert byte low.
pub fn insbl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_low(s, a, b, Width::Byte)
}

/// Mask word low.
pub fn mskwl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_low(s, a, b, Width::Word)
}

/// Extract word low.
pub fn extwl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_low(s, a, b, Width::Word)
}

/// Insert word low.
pub fn inswl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_low(s, a, b, Width::Word)
}

/// Mask longword low.
pub fn mskll<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_low(s, a, b, Width::Long)
}

/// Extract longword low.
pub fn extll<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_low(s, a, b, Width::Long)
}

/// Insert longword low.
pub fn insll<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_low(s, a, b, Width::Long)
}

/// Zero the bytes that Rbv<7:0> names.
pub fn zap<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = s.byte_mask(b);
    s.and_not(a, m)
}

/// Zero the bytes that Rbv<7:0> does not name.
pub fn zapnot<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = s.byte_mask(b);
    s.and(a, m)
}

/// Mask quadword low.
pub fn mskql<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_low(s, a, b, Width::Quad)
}

/// Extract quadword low.
pub fn extql<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_low(s, a, b, Width::Quad)
}

/// Insert quadword low.
pub fn insql<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_low(s, a, b, Width::Quad)
}

/// Mask word high.
pub fn mskwh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_high(s, a, b, Width::Word)
}

/// Insert word high.
pub fn inswh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_high(s, a, b, Width::Word)
}

/// Extract word high.
pub fn extwh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_high(s, a, b, Width::Word)
}

/// Mask longword high.
pub fn msklh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_high(s, a, b, Width::Long)
}

/// Insert longword high.
pub fn inslh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_high(s, a, b, Width::Long)
}

/// Extract longword high.
pub fn extlh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_high(s, a, b, Width::Long)
}

/// Mask quadword high.
pub fn mskqh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    mask_high(s, a, b, Width::Quad)
}

/// Insert quadword high.
pub fn insqh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    insert_high(s, a, b, Width::Quad)
}

/// Extract quadword high.
pub fn extqh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    extract_high(s, a, b, Width::Quad)
}
