//! The fields of PALmode instructions, by family.

use super::{Family, Ipr, PalAccess, PalInsn, PalReturn, ReturnHint};
use crate::encode::{EncodeError, register, signed, unsigned};
use crate::format::ZERO;
use crate::sem::Width;

/// Opcodes.
mod opcode {
    pub const MFPR: u32 = 0x19;
    pub const LOAD: u32 = 0x1b;
    pub const MTPR: u32 = 0x1d;
    pub const RETURN: u32 = 0x1e;
    pub const STORE: u32 = 0x1f;
}

/// The properties of an access as bits.
pub(super) mod mode {
    pub const PHYSICAL: u8 = 1;
    pub const ALTERNATE: u8 = 2;
    pub const WRITE_CHECK: u8 = 4;
    pub const VPTE: u8 = 8;
    pub const LOCKED: u8 = 16;
}

use mode::{ALTERNATE, LOCKED, PHYSICAL, VPTE, WRITE_CHECK};

/// Word bits of the properties, in loads and in stores.
type ModeBits = &'static [(u32, u8)];
const EV4_ACCESS: ModeBits = &[(15, PHYSICAL), (14, ALTERNATE), (13, WRITE_CHECK)];
const EV5_LOAD: ModeBits =
    &[(15, PHYSICAL), (14, ALTERNATE), (13, WRITE_CHECK), (11, VPTE), (10, LOCKED)];
const EV5_STORE: ModeBits = &[(15, PHYSICAL), (14, ALTERNATE), (11, VPTE), (10, LOCKED)];

/// EV6 has a type instead, in bits 15 to 13: the properties of each.
type ModeTypes = &'static [Option<u8>; 8];
const EV6_LOAD: ModeTypes = &[
    Some(PHYSICAL),
    Some(PHYSICAL | LOCKED),
    Some(VPTE),
    None,
    Some(0),
    Some(WRITE_CHECK),
    Some(ALTERNATE),
    Some(WRITE_CHECK | ALTERNATE),
];
const EV6_STORE: ModeTypes =
    &[Some(PHYSICAL), Some(PHYSICAL | LOCKED), Some(0), None, None, None, Some(ALTERNATE), None];

/// How a family lays out its accesses.
enum Modes {
    /// A bit a property. Other bits above the displacement are zero.
    Bits(ModeBits),
    /// A number that stands for several.
    Types(ModeTypes),
}

impl Family {
    fn modes(self, store: bool) -> Modes {
        match (self, store) {
            (Family::Ev4, _) => Modes::Bits(EV4_ACCESS),
            (Family::Ev5, false) => Modes::Bits(EV5_LOAD),
            (Family::Ev5, true) => Modes::Bits(EV5_STORE),
            (Family::Ev6, false) => Modes::Types(EV6_LOAD),
            (Family::Ev6, true) => Modes::Types(EV6_STORE),
        }
    }

    /// Bits of an access's displacement.
    const fn disp_bits(self) -> u32 {
        match self {
            Family::Ev4 | Family::Ev6 => 12,
            Family::Ev5 => 10,
        }
    }
}

/// The low `bits` with their sign.
const fn sign_extend(word: u32, bits: u32) -> i16 {
    ((word << (32 - bits)) as i32 >> (32 - bits)) as i16
}

fn field_a(word: u32) -> u8 {
    (word >> 21 & 31) as u8
}

fn field_b(word: u32) -> u8 {
    (word >> 16 & 31) as u8
}

/// Bit 12 of an access: a quadword.
const QUAD: u32 = 1 << 12;
/// Bit 13 of HW_RET.
const STALL: u32 = 1 << 13;

impl PalInsn {
    /// Decodes a word for a family; None if it is no well-formed PALmode instruction there.
    #[must_use]
    pub fn decode(word: u32, family: Family) -> Option<PalInsn> {
        match word >> 26 {
            opcode::MFPR => {
                let (ra, ipr) = ipr(word, family)?;
                Some(PalInsn::Mfpr { ra, ipr })
            }
            opcode::MTPR => {
                let (rb, ipr) = ipr(word, family)?;
                Some(PalInsn::Mtpr { rb, ipr })
            }
            opcode::LOAD => Some(PalInsn::Load(access(word, family, false)?)),
            opcode::STORE => Some(PalInsn::Store(access(word, family, true)?)),
            opcode::RETURN => Some(PalInsn::Return(going(word, family)?)),
            _ => None,
        }
    }

    /// Its word in a family.
    ///
    /// # Errors
    /// The family has no such instruction, or a field holds what it can't.
    pub fn encode(&self, family: Family) -> Result<u32, EncodeError> {
        match *self {
            PalInsn::Mfpr { ra, ipr } => {
                let b = if family == Family::Ev6 { ZERO } else { ra };
                Ok(opcode::MFPR << 26 | register(ra, 21)? | register(b, 16)? | ipr.bits(family)?)
            }
            PalInsn::Mtpr { rb, ipr } => {
                let a = if family == Family::Ev6 { ZERO } else { rb };
                Ok(opcode::MTPR << 26 | register(a, 21)? | register(rb, 16)? | ipr.bits(family)?)
            }
            PalInsn::Load(access) => Ok(opcode::LOAD << 26 | access.bits(family, false)?),
            PalInsn::Store(access) => Ok(opcode::STORE << 26 | access.bits(family, true)?),
            PalInsn::Return(to) => Ok(opcode::RETURN << 26 | to.bits(family)?),
        }
    }
}

/// The integer register and the internal register of HW_MFPR or HW_MTPR.
fn ipr(word: u32, family: Family) -> Option<(u8, Ipr)> {
    let (a, b) = (field_a(word), field_b(word));
    match family {
        Family::Ev4 => {
            // Bits 15 to 13 are ignored, 12 to 8 are zero.
            let ipr = Ipr { index: (word & 31) as u16, select: (word >> 5 & 7) as u8 };
            (a == b && word >> 8 & 31 == 0).then_some((a, ipr))
        }
        Family::Ev5 => {
            let ipr = Ipr { index: word as u16, select: 0 };
            (a == b).then_some((a, ipr))
        }
        Family::Ev6 => {
            let ipr = Ipr { index: (word >> 8 & 0xff) as u16, select: word as u8 };
            let (used, unused) = if word >> 26 == opcode::MFPR { (a, b) } else { (b, a) };
            (unused == ZERO).then_some((used, ipr))
        }
    }
}

impl Ipr {
    fn bits(self, family: Family) -> Result<u32, EncodeError> {
        let (index_bits, select_bits) = match family {
            Family::Ev4 => (5, 3),
            Family::Ev5 => (16, 0),
            Family::Ev6 => (8, 8),
        };
        let index = unsigned(self.index.into(), index_bits)?;
        let select = unsigned(self.select.into(), select_bits)?;
        Ok(match family {
            Family::Ev4 | Family::Ev5 => index | select << 5,
            Family::Ev6 => index << 8 | select,
        })
    }
}

fn access(word: u32, family: Family, store: bool) -> Option<PalAccess> {
    let modes = match family.modes(store) {
        Modes::Bits(bits) => {
            let mut modes = 0;
            let mut named = QUAD | ((1 << family.disp_bits()) - 1);
            for &(bit, property) in bits {
                named |= 1 << bit;
                modes |= if word >> bit & 1 == 0 { 0 } else { property };
            }
            if word & 0xffff & !named != 0 {
                return None;
            }
            modes
        }
        Modes::Types(types) => types[(word >> 13 & 7) as usize]?,
    };
    let has = |property| modes & property != 0;
    Some(PalAccess {
        ra: field_a(word),
        rb: field_b(word),
        disp: sign_extend(word, family.disp_bits()),
        width: if word & QUAD == 0 { Width::Long } else { Width::Quad },
        physical: has(PHYSICAL),
        alternate: has(ALTERNATE),
        write_check: has(WRITE_CHECK),
        vpte: has(VPTE),
        locked: has(LOCKED),
    })
}

impl PalAccess {
    /// Its properties as bits.
    pub(super) fn modes(&self) -> u8 {
        [
            (self.physical, PHYSICAL),
            (self.alternate, ALTERNATE),
            (self.write_check, WRITE_CHECK),
            (self.vpte, VPTE),
            (self.locked, LOCKED),
        ]
        .into_iter()
        .fold(0, |modes, (on, property)| if on { modes | property } else { modes })
    }

    fn bits(&self, family: Family, store: bool) -> Result<u32, EncodeError> {
        let mut left = self.modes();
        let modes = match family.modes(store) {
            Modes::Bits(bits) => {
                let mut word = 0;
                for &(bit, property) in bits {
                    word |= u32::from(left & property != 0) << bit;
                    left &= !property;
                }
                if left != 0 {
                    return Err(EncodeError::Qualifiers);
                }
                word
            }
            Modes::Types(types) => {
                let number = types.iter().position(|modes| *modes == Some(left));
                (number.ok_or(EncodeError::Qualifiers)? as u32) << 13
            }
        };
        let quad = match self.width {
            Width::Quad => QUAD,
            Width::Long => 0,
            Width::Byte | Width::Word => return Err(EncodeError::Range),
        };
        let disp = signed(self.disp.into(), family.disp_bits())?;
        Ok(register(self.ra, 21)? | register(self.rb, 16)? | modes | quad | disp)
    }
}

fn going(word: u32, family: Family) -> Option<PalReturn> {
    let (a, b, kind) = (field_a(word), field_b(word), word >> 14 & 3);
    let ret = PalReturn { rb: None, hint: ReturnHint::Ret, disp: 0, stall: kind == 3 };
    match family {
        Family::Ev4 | Family::Ev5 => {
            let known = kind == 2 || kind == 3 && family == Family::Ev5;
            (known && a == ZERO && b == ZERO && word & 0x3fff == 0).then_some(ret)
        }
        Family::Ev6 => {
            let hint = match kind {
                0 => ReturnHint::Jmp,
                1 => ReturnHint::Jsr,
                2 => ReturnHint::Ret,
                _ => ReturnHint::Coroutine,
            };
            // A return is predicted by the stack; its displacement is ignored.
            let disp = if kind < 2 { sign_extend(word, 13) } else { 0 };
            let stall = word & STALL != 0;
            (a == ZERO).then_some(PalReturn { rb: Some(b), hint, disp, stall })
        }
    }
}

impl PalReturn {
    fn bits(&self, family: Family) -> Result<u32, EncodeError> {
        let none = register(ZERO, 21)?;
        let plain = self.rb.is_none() && self.hint == ReturnHint::Ret && self.disp == 0;
        match (family, self.rb) {
            (Family::Ev4, _) if plain && !self.stall => Ok(none | register(ZERO, 16)? | 2 << 14),
            (Family::Ev5, _) if plain => {
                let kind = if self.stall { 3 } else { 2 };
                Ok(none | register(ZERO, 16)? | kind << 14)
            }
            (Family::Ev6, Some(rb)) => {
                let (kind, disp) = match self.hint {
                    ReturnHint::Jmp => (0, signed(self.disp.into(), 13)?),
                    ReturnHint::Jsr => (1, signed(self.disp.into(), 13)?),
                    ReturnHint::Ret => (2, 0),
                    ReturnHint::Coroutine => (3, 0),
                };
                let stall = if self.stall { STALL } else { 0 };
                Ok(none | register(rb, 16)? | kind << 14 | stall | disp)
            }
            (Family::Ev4 | Family::Ev5 | Family::Ev6, _) => Err(EncodeError::Qualifiers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: PalAccess = PalAccess {
        ra: 1,
        rb: 2,
        disp: 8,
        width: Width::Quad,
        physical: false,
        alternate: false,
        write_check: false,
        vpte: false,
        locked: false,
    };

    /// Words that GNU as makes for each CPU (`-m21064`, `-m21164`, `-m21264`).
    #[test]
    fn fields() {
        let mfpr = |ra, index, select| PalInsn::Mfpr { ra, ipr: Ipr { index, select } };
        let mtpr = |rb, index, select| PalInsn::Mtpr { rb, ipr: Ipr { index, select } };
        let going = |rb, hint, stall| PalInsn::Return(PalReturn { rb, hint, disp: 0, stall });
        for (family, word, insn) in [
            (Family::Ev4, 0x6421_00e3, mfpr(1, 3, 7)),
            (Family::Ev4, 0x7421_0005, mtpr(1, 5, 0)),
            (Family::Ev5, 0x6421_ffff, mfpr(1, 0xffff, 0)),
            (Family::Ev6, 0x643f_1a05, mfpr(1, 0x1a, 5)),
            (Family::Ev6, 0x77e1_1a05, mtpr(1, 0x1a, 5)),
            (Family::Ev4, 0x6c22_9008, PalInsn::Load(PalAccess { physical: true, ..ACCESS })),
            (Family::Ev4, 0x7c22_5008, PalInsn::Store(PalAccess { alternate: true, ..ACCESS })),
            (
                Family::Ev5,
                0x7c22_9c08,
                PalInsn::Store(PalAccess { physical: true, vpte: true, locked: true, ..ACCESS }),
            ),
            (Family::Ev5, 0x6c22_13f8, PalInsn::Load(PalAccess { disp: -8, ..ACCESS })),
            (
                Family::Ev6,
                0x6c22_3008,
                PalInsn::Load(PalAccess { physical: true, locked: true, ..ACCESS }),
            ),
            (Family::Ev6, 0x6c22_9008, PalInsn::Load(ACCESS)),
            (Family::Ev6, 0x7c22_5008, PalInsn::Store(ACCESS)),
            (Family::Ev4, 0x7bff_8000, going(None, ReturnHint::Ret, false)),
            (Family::Ev5, 0x7bff_c000, going(None, ReturnHint::Ret, true)),
            (Family::Ev6, 0x7bf7_a000, going(Some(23), ReturnHint::Ret, true)),
            (Family::Ev6, 0x7be3_6000, going(Some(3), ReturnHint::Jsr, true)),
        ] {
            assert_eq!(PalInsn::decode(word, family), Some(insn), "{family:?} {word:#x}");
            assert_eq!(insn.encode(family), Ok(word), "{family:?} {insn:?}");
        }
    }

    /// What the families don't have, and fields that overflow.
    #[test]
    fn refusals() {
        let mfpr = |index, select| PalInsn::Mfpr { ra: 1, ipr: Ipr { index, select } };
        for (family, insn, error) in [
            (Family::Ev4, mfpr(32, 0), EncodeError::Range),
            (Family::Ev5, mfpr(0, 1), EncodeError::Range),
            (Family::Ev6, mfpr(0x100, 0), EncodeError::Range),
            (
                Family::Ev6,
                PalInsn::Mtpr { rb: 32, ipr: Ipr { index: 0, select: 0 } },
                EncodeError::Register,
            ),
            (
                Family::Ev4,
                PalInsn::Load(PalAccess { vpte: true, ..ACCESS }),
                EncodeError::Qualifiers,
            ),
            (
                Family::Ev5,
                PalInsn::Store(PalAccess { write_check: true, ..ACCESS }),
                EncodeError::Qualifiers,
            ),
            (
                Family::Ev6,
                PalInsn::Load(PalAccess { locked: true, ..ACCESS }),
                EncodeError::Qualifiers,
            ),
            (Family::Ev5, PalInsn::Load(PalAccess { disp: 512, ..ACCESS }), EncodeError::Range),
            (
                Family::Ev6,
                PalInsn::Load(PalAccess { width: Width::Byte, ..ACCESS }),
                EncodeError::Range,
            ),
            (
                Family::Ev5,
                PalInsn::Return(PalReturn {
                    rb: Some(1),
                    hint: ReturnHint::Ret,
                    disp: 0,
                    stall: false,
                }),
                EncodeError::Qualifiers,
            ),
            (
                Family::Ev6,
                PalInsn::Return(PalReturn {
                    rb: None,
                    hint: ReturnHint::Ret,
                    disp: 0,
                    stall: false,
                }),
                EncodeError::Qualifiers,
            ),
        ] {
            assert_eq!(insn.encode(family), Err(error), "{family:?} {insn:?}");
        }
        assert_eq!(PalInsn::decode(0x4022_0403, Family::Ev6), None);
    }
}
