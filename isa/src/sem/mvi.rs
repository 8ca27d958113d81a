//! Motion video: minimum, maximum, pack, unpack, and pixel error.

use super::{Sem, Width};

const EVEN_BYTES: u64 = 0x00ff_00ff_00ff_00ff;
const EVEN_WORDS: u64 = 0x0000_ffff_0000_ffff;
const BYTE_SIGNS: u64 = 0x8080_8080_8080_8080;
const WORD_SIGNS: u64 = 0x8000_8000_8000_8000;

/// Bytes of ones where the byte of a is at least that of b.
#[inline(always)]
fn bytes_ge<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let bits = s.cmp_bytes_ge(a, b);
    s.byte_mask(bits)
}

/// Words of ones where the word of a is at least that of b.
#[inline(always)]
fn words_ge<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let ge = s.cmp_bytes_ge(a, b);
    let le = s.cmp_bytes_ge(b, a);
    // The high byte is greater, or it is equal and the low byte is at least b's.
    let one = s.imm(1);
    let low_ge = s.shl(ge, one);
    let decides = s.or_not(low_ge, le);
    let words = s.and(ge, decides);
    let high_bytes = s.imm(0b1010_1010);
    let high = s.and(words, high_bytes);
    let low = s.shr(high, one);
    let bits = s.or(high, low);
    s.byte_mask(bits)
}

#[inline(always)]
fn signed_bytes_ge<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let signs = s.imm(BYTE_SIGNS);
    let (a, b) = (s.xor(a, signs), s.xor(b, signs));
    bytes_ge(s, a, b)
}

#[inline(always)]
fn signed_words_ge<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let signs = s.imm(WORD_SIGNS);
    let (a, b) = (s.xor(a, signs), s.xor(b, signs));
    words_ge(s, a, b)
}

/// a where the mask has ones, b elsewhere.
#[inline(always)]
fn pick<S: Sem>(s: &mut S, mask: S::I, a: S::I, b: S::I) -> S::I {
    let (a, b) = (s.and(a, mask), s.and_not(b, mask));
    s.or(a, b)
}

/// (a | a << count) & mask
#[inline(always)]
fn spread<S: Sem>(s: &mut S, a: S::I, count: u64, mask: u64) -> S::I {
    let (count, mask) = (s.imm(count), s.imm(mask));
    let up = s.shl(a, count);
    let both = s.or(a, up);
    s.and(both, mask)
}

/// (a | a >> count) & mask
#[inline(always)]
fn gather<S: Sem>(s: &mut S, a: S::I, count: u64, mask: u64) -> S::I {
    let (count, mask) = (s.imm(count), s.imm(mask));
    let down = s.shr(a, count);
    let both = s.or(a, down);
    s.and(both, mask)
}

/// Pixel error: the sum of the absolute differences of bytes.
pub fn perr<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let high = maxub8(s, a, b);
    let low = minub8(s, a, b);
    let difference = s.sub(high, low);
    let even = s.imm(EVEN_BYTES);
    let count = s.imm(8);
    let x = s.and(difference, even);
    let y = s.shr(difference, count);
    let y = s.and(y, even);
    let pairs = s.add(x, y);
    // The multiplication sums the four words into the top one.
    let ones = s.imm(0x0001_0001_0001_0001);
    let sum = s.mul(pairs, ones);
    let count = s.imm(48);
    s.shr(sum, count)
}

/// Unpack bytes to words.
pub fn unpkbw<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    let low = s.zext(b, Width::Long);
    let words = spread(s, low, 16, EVEN_WORDS);
    spread(s, words, 8, EVEN_BYTES)
}

/// Unpack bytes to longwords.
pub fn unpkbl<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    let low = s.zext(b, Width::Word);
    spread(s, low, 24, 0x0000_00ff_0000_00ff)
}

/// Pack words to bytes.
pub fn pkwb<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    let mask = s.imm(EVEN_BYTES);
    let bytes = s.and(b, mask);
    let words = gather(s, bytes, 8, EVEN_WORDS);
    gather(s, words, 16, 0xffff_ffff)
}

/// Pack longwords to bytes.
pub fn pklb<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    let mask = s.imm(0x0000_00ff_0000_00ff);
    let bytes = s.and(b, mask);
    gather(s, bytes, 24, 0xffff)
}

/// Minimum of signed bytes.
pub fn minsb8<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = signed_bytes_ge(s, b, a);
    pick(s, m, a, b)
}

/// Minimum of signed words.
pub fn minsw4<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = signed_words_ge(s, b, a);
    pick(s, m, a, b)
}

/// Minimum of unsigned bytes.
pub fn minub8<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = bytes_ge(s, b, a);
    pick(s, m, a, b)
}

/// Minimum of unsigned words.
pub fn minuw4<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = words_ge(s, b, a);
    pick(s, m, a, b)
}

/// Maximum of unsigned bytes.
pub fn maxub8<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = bytes_ge(s, a, b);
    pick(s, m, a, b)
}

/// Maximum of unsigned words.
pub fn maxuw4<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = words_ge(s, a, b);
    pick(s, m, a, b)
}

/// Maximum of signed bytes.
pub fn maxsb8<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = signed_bytes_ge(s, a, b);
    pick(s, m, a, b)
}

/// Maximum of signed words.
pub fn maxsw4<S: Sem>(s: &mut S, a: S::I, b: S::I) -> S::I {
    let m = signed_words_ge(s, a, b);
    pick(s, m, a, b)
}
