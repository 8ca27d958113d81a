//! Words that reach every encoding: each opcode with each value of its function field and with
//! registers that make a difference to someone.

/// Register fields: distinct, equal, and 31 in each place.
const REGISTERS: [(u32, u32, u32); 12] = [
    (1, 2, 3),
    (31, 2, 3),
    (1, 31, 3),
    (31, 31, 3),
    (1, 2, 31),
    (31, 2, 31),
    (31, 31, 31),
    (7, 7, 3),
    (7, 7, 7),
    (26, 27, 15),
    (30, 29, 16),
    (31, 0, 0),
];

/// 16-bit displacements; their low 14 bits serve as hints.
const DISPLACEMENTS: [u32; 8] = [0, 1, 2, 8, 0x7fff, 0x8000, 0xbfff, 0xffff];

/// All of them, some more than once.
pub fn sweep() -> Vec<u32> {
    let mut words = Vec::new();
    for opcode in 0..64u32 {
        let top = opcode << 26;
        for (a, b, c) in REGISTERS {
            let registers = top | a << 21 | b << 16;
            match opcode {
                // 11 bits: function, qualifiers, literal bit, the bits that should be zero.
                0x10..=0x17 | 0x1c => words.extend((0..0x800).map(|f| registers | f << 5 | c)),
                0x1a => words.extend((0..4).flat_map(|kind| {
                    DISPLACEMENTS.map(|hint| registers | kind << 14 | hint & 0x3fff)
                })),
                0x18 => words.extend((0..0x10000).step_by(0x80).map(|f| registers | f)),
                _ => {
                    words.extend(DISPLACEMENTS.map(|disp| registers | disp));
                    words.push(top | a << 21 | 0xf_ffff);
                    words.push(top | a << 21 | 0x10_0000);
                }
            }
        }
    }
    // All 16 bits of the memory-format functions, once.
    words.extend((0..0x10000).map(|f| 0x18 << 26 | 31 << 21 | 2 << 16 | f));
    // PALcode functions: the assigned ones and their neighbours, then some of 26 bits.
    words.extend(0..0x400);
    words.extend((0..26).map(|bit| 1 << bit));
    words.extend((0..0x400_0000).step_by(0x1_0001));
    words
}

/// The opcodes that are reserved to PALcode, with each value of their low 16 bits and with registers
/// that make a difference to some CPU.
#[allow(dead_code)]
pub fn palmode() -> impl Iterator<Item = u32> {
    let registers = [(1u32, 1u32), (1, 2), (1, 31), (31, 1), (31, 31)];
    [0x19u32, 0x1b, 0x1d, 0x1e, 0x1f].into_iter().flat_map(move |opcode| {
        registers.into_iter().flat_map(move |(a, b)| {
            (0..0x10000).map(move |low| opcode << 26 | a << 21 | b << 16 | low)
        })
    })
}
