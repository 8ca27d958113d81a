//! Numbers that are random enough, and the same in every run.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = self.0;
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// True `n` times in a thousand.
    pub fn chance(&mut self, n: u64) -> bool {
        self.below(1000) < n
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// A quadword that is often a special integer, address or floating-point value.
    pub fn quad(&mut self) -> u64 {
        match self.below(4) {
            0 => self.pick(&SPECIAL),
            1 => self.pick(&SPECIAL).wrapping_add(self.range(-9, 9) as u64),
            2 => (self.range(-70_000, 70_000) as f64 / 64.0).to_bits(),
            _ => self.next(),
        }
    }

    /// An image of a floating-point register: of every kind, and often of an S_floating value.
    pub fn float(&mut self) -> u64 {
        match self.below(8) {
            0 => self.pick(&FLOATS),
            1 => self.next(),
            2 => self.quad(),
            3 => self.range(-1_000_000, 1_000_000) as u64,
            4 => f64::from(f32::from_bits(self.next() as u32)).to_bits(),
            5 => (self.range(-1_000_000, 1_000_000) as f64).to_bits(),
            _ => f64::from(self.range(-70_000, 70_000) as f32 / 64.0).to_bits(),
        }
    }
}

const SPECIAL: [u64; 24] = [
    0,
    1,
    0xff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0xffff_ffff_8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x0101_0101_0101_0101,
    0x8080_8080_8080_8080,
    0x00ff_00ff_00ff_00ff,
    0x3ff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    // The end of Linux/alpha's address space, below, at and above it.
    0x3ff_ffff_fff8,
    0x400_0000_0000,
    0x400_0000_0100,
    0x1_2000_0000,
    63,
    64,
    8,
    0xffff_0000_ffff_0000,
];

/// Zeros, infinities, quiet and signalling NaNs, denormals and their neighbours in both formats, and
/// where conversions to integers overflow.
const FLOATS: [u64; 26] = [
    0,
    1 << 63,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7ff7_ffff_e000_0000,
    0xfff4_0000_2000_0000,
    1,
    0x000f_ffff_ffff_ffff,
    0x800f_ffff_e000_0000,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0001,
    0x7fef_ffff_ffff_ffff,
    // The least normal and the greatest S_floating, and what lies beyond.
    0x3810_0000_0000_0000,
    0xb810_0000_0000_0000,
    0x380f_ffff_e000_0000,
    0x36a0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0xc7f0_0000_0000_0000,
    // 2^63, -2^63, and 2^63 less its last bit.
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43df_ffff_ffff_ffff,
    0x3ff0_0000_2000_0000,
];
