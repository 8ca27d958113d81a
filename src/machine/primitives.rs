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
            let mut r = 0;
            for (i, (x, y)) in a.to_le_bytes().into_iter().zip(b.to_le_bytes()).enumerate() {
                r |= u64::from(x >= y) << i;
            }
            r
        }
        #[inline(always)]
        fn byte_mask(&mut self, a: u64) -> u64 {
            let mut r = 0;
            for i in 0..8 {
                r |= (0xffu64 * (a >> i & 1)) << (8 * i);
            }
            r
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
            if c { a } else { b }
        }
        #[inline(always)]
        fn fselect(&mut self, c: bool, a: u64, b: u64) -> u64 {
            if c { a } else { b }
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
