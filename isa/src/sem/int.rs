//! Integer arithmetic, logic, shifts, comparisons, conditional moves, counts.

use super::{Sem, Width};

/// The low longword, sign-extended.
#[inline(always)]
fn long<S: Sem>(s: &mut S, a: S::I) -> S::I {
    s.sext(a, Width::Long)
}

#[inline(always)]
fn negative<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.slt(a, zero)
}

#[inline(always)]
fn low_bit<S: Sem>(s: &mut S, a: S::I) -> S::I {
    let one = s.imm(1);
    s.and(a, one)
}

#[inline(always)]
fn odd<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let (bit, zero) = (low_bit(s, a), s.imm(0));
    s.ne(bit, zero)
}

#[inline(always)]
fn even<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let (bit, zero) = (low_bit(s, a), s.imm(0));
    s.eq(bit, zero)
}

/// Add longword: Rc <- SEXT((Rav + Rbv)<31:0>).
pub fn addl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s.add(a, b);
    long(s, r)
}

/// Scaled add longword by 4: Rc <- SEXT((Rav * 4 + Rbv)<31:0>).
pub fn s4addl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s4addq(s, a, b);
    long(s, r)
}

/// Subtract longword: Rc <- SEXT((Rav - Rbv)<31:0>).
pub fn subl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s.sub(a, b);
    long(s, r)
}

/// Scaled subtract longword by 4: Rc <- SEXT((Rav * 4 - Rbv)<31:0>).
pub fn s4subl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s4subq(s, a, b);
    long(s, r)
}

/// Scaled add longword by 8: Rc <- SEXT((Rav * 8 + Rbv)<31:0>).
pub fn s8addl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s8addq(s, a, b);
    long(s, r)
}

/// Scaled subtract longword by 8: Rc <- SEXT((Rav * 8 - Rbv)<31:0>).
pub fn s8subl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s8subq(s, a, b);
    long(s, r)
}

/// Compare unsigned quadword less than.
pub fn cmpult<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let c = s.ult(a, b);
    s.truth(c)
}

/// Add quadword.
pub fn addq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.add(a, b)
}

/// Scaled add quadword by 4.
#[inline(always)]
pub fn s4addq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let count = s.imm(2);
    let scaled = s.shl(a, count);
    s.add(scaled, b)
}

/// Subtract quadword.
pub fn subq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.sub(a, b)
}

/// Scaled subtract quadword by 4.
#[inline(always)]
pub fn s4subq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let count = s.imm(2);
    let scaled = s.shl(a, count);
    s.sub(scaled, b)
}

/// Compare quadword equal.
pub fn cmpeq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let c = s.eq(a, b);
    s.truth(c)
}

/// Scaled add quadword by 8.
#[inline(always)]
pub fn s8addq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let count = s.imm(3);
    let scaled = s.shl(a, count);
    s.add(scaled, b)
}

/// Scaled subtract quadword by 8.
#[inline(always)]
pub fn s8subq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let count = s.imm(3);
    let scaled = s.shl(a, count);
    s.sub(scaled, b)
}

/// Compare unsigned quadword less than or equal.
pub fn cmpule<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let c = s.ule(a, b);
    s.truth(c)
}

/// Add longword, trapping on overflow.
#[inline(always)]
pub fn addl_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let (a, b) = (long(s, a), long(s, b));
    let exact = s.add(a, b);
    let r = long(s, exact);
    (r, s.ne(r, exact))
}

/// Subtract longword, trapping on overflow.
#[inline(always)]
pub fn subl_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let (a, b) = (long(s, a), long(s, b));
    let exact = s.sub(a, b);
    let r = long(s, exact);
    (r, s.ne(r, exact))
}

/// Compare signed quadword less than.
pub fn cmplt<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let c = s.slt(a, b);
    s.truth(c)
}

/// Add quadword, trapping on overflow.
#[inline(always)]
pub fn addq_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let r = s.add(a, b);
    // The operands have the same sign, the sum the other.
    let x = s.xor(a, r);
    let y = s.xor(b, r);
    let both = s.and(x, y);
    (r, negative(s, both))
}

/// Subtract quadword, trapping on overflow.
#[inline(always)]
pub fn subq_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let r = s.sub(a, b);
    // The operands differ in sign, and the difference has that of b.
    let x = s.xor(a, b);
    let y = s.xor(a, r);
    let both = s.and(x, y);
    (r, negative(s, both))
}

/// Compare signed quadword less than or equal.
pub fn cmple<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let c = s.sle(a, b);
    s.truth(c)
}

/// Multiply longword.
pub fn mull<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let r = s.mul(a, b);
    long(s, r)
}

/// Multiply quadword.
pub fn mulq<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.mul(a, b)
}

/// Unsigned multiply quadword high.
pub fn umulh<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.umulh(a, b)
}

/// Multiply longword, trapping on overflow.
#[inline(always)]
pub fn mull_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let (a, b) = (long(s, a), long(s, b));
    let exact = s.mul(a, b);
    let r = long(s, exact);
    (r, s.ne(r, exact))
}

/// Multiply quadword, trapping on overflow.
#[inline(always)]
pub fn mulq_v<S: Sem>(s: &mut S, a: S::I, b: S::I) -> (S::I, S::B) {
    let r = s.mul(a, b);
    let high = s.smulh(a, b);
    let count = s.imm(63);
    let sign = s.sar(r, count);
    (r, s.ne(high, sign))
}

/// Logical product.
pub fn and<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.and(a, b)
}

/// Logical product with complement (bit clear).
pub fn bic<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.and_not(a, b)
}

/// Move if the low bit of Ra is set.
pub fn cmovlbs<S: Sem>(s: &mut S, a: S::I) -> S::B {
    odd(s, a)
}

/// Move if the low bit of Ra is clear.
pub fn cmovlbc<S: Sem>(s: &mut S, a: S::I) -> S::B {
    even(s, a)
}

/// Logical sum (bit set).
pub fn bis<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.or(a, b)
}

/// Move if Ra is zero.
pub fn cmoveq<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.eq(a, zero)
}

/// Move if Ra is not zero.
pub fn cmovne<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.ne(a, zero)
}

/// Logical sum with complement.
pub fn ornot<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.or_not(a, b)
}

/// Logical difference.
pub fn xor<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.xor(a, b)
}

/// Move if Ra is less than zero.
pub fn cmovlt<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.slt(a, zero)
}

/// Move if Ra is greater than or equal to zero.
pub fn cmovge<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.sle(zero, a)
}

/// Logical equivalence: Rc <- Rav XOR NOT Rbv.
pub fn eqv<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.xor_not(a, b)
}

/// Move if Ra is less than or equal to zero.
pub fn cmovle<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.sle(a, zero)
}

/// Move if Ra is greater than zero.
pub fn cmovgt<S: Sem>(s: &mut S, a: S::I) -> S::B {
    let zero = s.imm(0);
    s.slt(zero, a)
}

/// Shift right logical.
pub fn srl<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.shr(a, b)
}

/// Shift left logical.
pub fn sll<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.shl(a, b)
}

/// Shift right arithmetic.
pub fn sra<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    s.sar(a, b)
}

/// Sign extend byte.
pub fn sextb<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.sext(b, Width::Byte)
}

/// Sign extend word.
pub fn sextw<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.sext(b, Width::Word)
}

/// Count population: the ones of Rbv.
pub fn ctpop<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.popcnt(b)
}

/// Count leading zeros.
pub fn ctlz<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.clz(b)
}

/// Count trailing zeros.
pub fn cttz<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.ctz(b)
}
