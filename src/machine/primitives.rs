//! The primitives that only compute: the same for every way to interpret.

/// The methods of [`Sem`](axperf_isa::Sem) that only compute, where integers, floating-point images
/// and truth values are `u64`, `u64` and `bool`.
macro_rules! pure_primitives {
    () => {
        #[inline(always)]
        fn imm(&mut self, value: u64) -> u64 {
            value
        }
        #[inline(always)]
        fn add(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_add(b)
        }
        #[inline(always)]
        fn sub(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_sub(b)
        }
        #[inline(always)]
        fn mul(&mut self, a: u64, b: u64) -> u64 {
            a.wrapping_mul(b)
        }
        #[inline(always)]
        fn umulh(&mut self, a: u64, b: u64) -> u64 {
            ((u128::from(a) * u128::from(b)) >> 64) as u64
        }
        #[inline(always)]
        fn smulh(&mut self, a: u64, b: u64) -> u64 {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }
        #[inline(always)]
        fn and(&mut self, a: u64, b: u64) -> u64 {
            a & b
        }
        #[inline(always)]
        fn or(&mut self, a: u64, b: u64) -> u64 {
            a | b
        }
        #[inline(always)]
        fn xor(&mut self, a: u64, b: u64) -> u64 {
            a ^ b
        }
        #[inline(always)]
        fn and_not(&mut self, a: u64, b: u64) -> u64 {
            a & !b
        }
        #[inline(always)]
        fn or_not(&mut self, a: u64, b: u64) -> u64 {
            a | !b
        }
        #[inline(always)]
        fn xor_not(&mut self, a: u64, b: u64) -> u64 {
            a ^ !b
        }
        #[inline(always)]
        fn shl(&mut self, a: u64, b: u64) -> u64 {
            a << (b & 63)
        }
        #[inline(always)]
        fn shr(&mut self, a: u64, b: u64) -> u64 {
            a >> (b & 63)
        }
        #[inline(always)]
        fn sar(&mut self, a: u64, b: u64) -> u64 {
            (a as i64 >> (b & 63)) as u64
        }
        #[inline(always)]
        fn sext(&mut self, a: u64, width: Width) -> u64 {
            match width {
                Width::Byte => a as i8 as u64,
                Width::Word => a as i16 as u64,
                Width::Long => a as i32 as u64,
                Width::Quad => a,
            }
        }
        #[inline(always)]
        fn zext(&mut self, a: u64, width: Width) -> u64 {
            match width {
                Width::Byte => a & 0xff,
                Width::Word => a & 0xffff,
                Width::Long => a & 0xffff_ffff,
                Width::Quad => a,
            }
        }
        #[inline(always)]
        fn clz(&mut self, a: u64) -> u64 {
            u64::from(a.leading_zeros())
        }
        #[inline(always)]
        fn ctz(&mut self, a: u64) -> u64 {
            u64::from(a.trailing_zeros())
        }
        #[inline(always)]
        fn popcnt(&mut self, a: u64) -> u64 {
            u64::from(a.count_ones())
        }
        #[inline(always)]
        fn cmp_bytes_ge(&mut self, a: u64, b: u64) -> u64 {
            $crate::machine::primitives::bytes_ge(a, b)
        }
        #[inline(always)]
        fn byte_mask(&mut self, a: u64) -> u64 {
            $crate::machine::primitives::BYTE_MASKS[(a & 0xff) as usize]
        }

        #[inline(always)]
        fn eq(&mut self, a: u64, b: u64) -> bool {
            a == b
        }
        #[inline(always)]
        fn ne(&mut self, a: u64, b: u64) -> bool {
            a != b
        }
        #[inline(always)]
        fn slt(&mut self, a: u64, b: u64) -> bool {
            (a as i64) < b as i64
        }
        #[inline(always)]
        fn sle(&mut self, a: u64, b: u64) -> bool {
            a as i64 <= b as i64
        }
        #[inline(always)]
        fn ult(&mut self, a: u64, b: u64) -> bool {
            a < b
        }
        #[inline(always)]
        fn ule(&mut self, a: u64, b: u64) -> bool {
            a <= b
        }
        #[inline(always)]
        fn truth(&mut self, a: bool) -> u64 {
            u64::from(a)
        }
        #[inline(always)]
        fn select(&mut self, c: bool, a: u64, b: u64) -> u64 {
            std::hint::select_unpredictable(c, a, b)
        }
        #[inline(always)]
        fn fselect(&mut self, c: bool, a: u64, b: u64) -> u64 {
            std::hint::select_unpredictable(c, a, b)
        }

        #[inline(always)]
        fn bits(&mut self, a: u64) -> u64 {
            a
        }
        #[inline(always)]
        fn from_bits(&mut self, a: u64) -> u64 {
            a
        }
        #[inline(always)]
        fn s_to_register(&mut self, a: u64) -> u64 {
            $crate::machine::fp::s_to_register(a)
        }
        #[inline(always)]
        fn register_to_s(&mut self, a: u64) -> u64 {
            $crate::machine::fp::register_to_s(a)
        }
    };
}

pub(crate) use pure_primitives;

/// For each byte the mask of the bytes that its bits name.
pub(crate) static BYTE_MASKS: [u64; 256] = {
    let mut masks = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut i = 0;
        while i < 8 {
            if bits >> i & 1 != 0 {
                masks[bits] |= 0xff << (8 * i);
            }
            i += 1;
        }
        bits += 1;
    }
    masks
};

/// Bit i: whether byte i of `a` is at least byte i of `b`.
#[inline(always)]
pub(crate) fn bytes_ge(a: u64, b: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Seven bits of each byte, with the eighth to borrow from; then the eighth.
    let low = (a | HIGH) - (b & !HIGH);
    let ge = (a & !b | !(a ^ b) & low) & HIGH;
    // Gathers the high bits: bit 7 + 8i goes to 56 + i, and no two of the product's terms meet.
    ge.wrapping_mul(0x0002_0408_1020_4081) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of bytes at every place, between others.
    #[test]
    fn bytes_compare() {
        for x in 0..=255u8 {
            for y in 0..=255u8 {
                for i in 0..8 {
                    let put =
                        |v: u8, others: u64| others & !(0xff << (8 * i)) | u64::from(v) << (8 * i);
                    let got =
                        bytes_ge(put(x, 0x00ff_7f80_0181_fe7f), put(y, 0x7f80_8001_ff00_fe80));
                    assert_eq!(got >> i & 1 != 0, x >= y, "{x} {y} {i}");
                }
            }
        }
    }
}
