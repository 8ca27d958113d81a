//! Instruction formats: which bits of a word are what.

use crate::sem::{Qualifiers, Rounding};

/// The layout of an instruction word.
///
/// Registers are named by their field; `31` means that the field must name register 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Opcode, 26-bit PALcode function.
    Pal(u8),
    /// Memory: `ra, disp(rb)`.
    Mem(u8),
    /// Memory: `fa, disp(rb)`.
    FMem(u8),
    /// Memory with a function: no operands, the register fields are ignored.
    Misc(u8, u16),
    /// Memory with a function: `ra`, the other register field is ignored.
    MiscA(u8, u16),
    /// Memory with a function: `(rb)`, ra is 31.
    MiscB(u8, u16),
    /// Memory with a function: `ra, rb`.
    MiscAB(u8, u16),
    /// Memory with a 2-bit kind and a 14-bit hint: `ra, (rb), hint`.
    Jmp(u8, u8),
    /// Branch: `ra, target`.
    Bra(u8),
    /// Branch: `fa, target`.
    FBra(u8),
    /// Operate: `ra, rb or literal, rc`.
    Opr(u8, u8),
    /// Operate: `rb or literal, rc`, ra is 31.
    OprB(u8, u8),
    /// Operate: `rc`, ra is 31, the literal is 1.
    OprC(u8, u8),
    /// Operate without a literal: `ra, rb, rc`.
    Opr3(u8, u8),
    /// Operate without a literal: `rb, rc`, ra is 31.
    Opr2(u8, u8),
    /// Floating-point operate: `fa, fb, fc`; the plain function, trap and rounding qualifiers.
    Fp(u8, u16, &'static str, &'static str),
    /// Floating-point operate: `fb, fc`, fa is 31; likewise.
    FpB(u8, u16, &'static str, &'static str),
    /// Floating-point operate: `fa` thrice.
    Fpcr(u8, u16),
    /// Operate: `fa, rc`, rb is 31.
    FToI(u8, u8),
    /// Floating-point operate: `ra, fc`, rb is 31.
    IToF(u8, u16),
}

/// Register number that reads as zero.
pub const ZERO: u8 = 31;

const OPCODE: u32 = 0x3f << 26;
const RA: u32 = 31 << 21;
const RB: u32 = 31 << 16;
const LITERAL: u32 = 1 << 12;
const LITERAL_VALUE: u32 = 0xff << 13;

/// Where the function field of a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its lowest bit.
    pub shift: u32,
    /// Its mask, shifted down.
    pub mask: u32,
}

impl Form {
    /// The opcode: bits 31 to 26.
    #[must_use]
    pub const fn opcode(self) -> u8 {
        match self {
            Form::Pal(op) | Form::Mem(op) | Form::FMem(op) | Form::Bra(op) | Form::FBra(op) => op,
            Form::Misc(op, _) | Form::MiscA(op, _) | Form::MiscB(op, _) | Form::MiscAB(op, _) => op,
            Form::Jmp(op, _) | Form::Fpcr(op, _) | Form::FToI(op, _) | Form::IToF(op, _) => op,
            Form::Opr(op, _) | Form::OprB(op, _) | Form::OprC(op, _) => op,
            Form::Opr3(op, _) | Form::Opr2(op, _) => op,
            Form::Fp(op, ..) | Form::FpB(op, ..) => op,
        }
    }

    /// The part of the function field that the decoder looks up. The rest of a 16-bit function is
    /// told apart by [`Form::mask`].
    pub(crate) const fn function(self) -> Field {
        match self {
            Form::Pal(_) | Form::Mem(_) | Form::FMem(_) | Form::Bra(_) | Form::FBra(_) => {
                Field { shift: 0, mask: 0 }
            }
            Form::Misc(..) | Form::MiscA(..) | Form::MiscB(..) | Form::MiscAB(..) => {
                Field { shift: 10, mask: 0x3f }
            }
            Form::Jmp(..) => Field { shift: 14, mask: 3 },
            Form::Opr(..)
            | Form::OprB(..)
            | Form::OprC(..)
            | Form::Opr3(..)
            | Form::Opr2(..)
            | Form::FToI(..) => Field { shift: 5, mask: 0x7f },
            Form::Fp(..) | Form::FpB(..) | Form::Fpcr(..) | Form::IToF(..) => {
                Field { shift: 5, mask: 0x7ff }
            }
        }
    }

    /// The bits that are the same in all words of the instruction, but for qualifiers.
    #[must_use]
    pub const fn mask(self) -> u32 {
        OPCODE
            | match self {
                Form::Pal(_) | Form::Mem(_) | Form::FMem(_) | Form::Bra(_) | Form::FBra(_) => 0,
                Form::Misc(..) | Form::MiscA(..) | Form::MiscAB(..) => 0xffff,
                Form::MiscB(..) => 0xffff | RA,
                Form::Jmp(..) => 3 << 14,
                Form::Opr(..) => 0x7f << 5,
                Form::OprB(..) => 0x7f << 5 | RA,
                Form::OprC(..) => 0x7f << 5 | RA | LITERAL | LITERAL_VALUE,
                Form::Opr3(..) => 0x7f << 5 | LITERAL,
                Form::Opr2(..) => 0x7f << 5 | LITERAL | RA,
                // The lookup has looked at all eleven bits.
                Form::Fp(..) | Form::Fpcr(..) => 0,
                Form::FpB(..) => RA,
                Form::FToI(..) => 0x7ff << 5 | RB,
                Form::IToF(..) => 0x7ff << 5 | RB,
            }
    }

    /// The plain instruction: all operands zero where they are free, 31 where they must be.
    #[must_use]
    pub const fn word(self) -> u32 {
        (self.opcode() as u32) << 26
            | match self {
                Form::Pal(_) | Form::Mem(_) | Form::FMem(_) | Form::Bra(_) | Form::FBra(_) => 0,
                Form::Misc(_, f) | Form::MiscA(_, f) | Form::MiscAB(_, f) => f as u32,
                Form::MiscB(_, f) => f as u32 | RA,
                Form::Jmp(_, k) => (k as u32) << 14,
                Form::Opr(_, f) | Form::Opr3(_, f) => (f as u32) << 5,
                Form::OprB(_, f) | Form::Opr2(_, f) => (f as u32) << 5 | RA,
                Form::OprC(_, f) => (f as u32) << 5 | RA | LITERAL | 1 << 13,
                Form::Fp(_, f, ..) | Form::Fpcr(_, f) => (f as u32) << 5,
                Form::FpB(_, f, ..) => (f as u32) << 5 | RA,
                Form::FToI(_, f) => (f as u32) << 5 | RB,
                Form::IToF(_, f) => (f as u32) << 5 | RB,
            }
    }

    /// The qualifiers that exist.
    #[must_use]
    pub const fn qualifiers(self) -> QualifierSet {
        match self {
            Form::Fp(_, f, traps, roundings) | Form::FpB(_, f, traps, roundings) => {
                QualifierSet::parse(f, traps, roundings)
            }
            _ => QualifierSet::NONE,
        }
    }
}

/// The function codes of a floating-point operation: which qualifiers go with it.
///
/// Of the function's eleven bits, 10 to 8 are the trap qualifiers (/S, /I, and /U or /V), 7 and 6
/// the rounding mode; they stand at word bits 15 to 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QualifierSet {
    /// The plain function.
    plain: u16,
    /// A bit for each combination of trap qualifiers.
    traps: u8,
    /// A bit for each rounding mode; 0 if the operation doesn't round by qualifier.
    roundings: u8,
    /// The low trap qualifier is /V, not /U.
    integer: bool,
}

/// /S in the trap qualifiers.
pub(crate) const SOFTWARE: u8 = 4;
/// /I in the trap qualifiers.
pub(crate) const INEXACT: u8 = 2;
/// /U or /V in the trap qualifiers.
pub(crate) const UNDERFLOW: u8 = 1;

impl QualifierSet {
    const NONE: QualifierSet = QualifierSet { plain: 0, traps: 1, roundings: 0, integer: false };

    /// Reads the strings of a row.
    const fn parse(plain: u16, traps: &str, roundings: &str) -> QualifierSet {
        let mut set = QualifierSet { plain, ..QualifierSet::NONE };
        let (text, mut i, mut code) = (traps.as_bytes(), 0, 0);
        while i < text.len() {
            match text[i] {
                b's' => code |= SOFTWARE,
                b'i' => code |= INEXACT,
                b'u' => code |= UNDERFLOW,
                b'v' => {
                    code |= UNDERFLOW;
                    set.integer = true;
                }
                b' ' => code = 0,
                _ => panic!("trap qualifiers are made of s, i, u, v"),
            }
            if i + 1 == text.len() || text[i + 1] == b' ' {
                set.traps |= 1 << code;
            }
            i += 1;
        }
        let (text, mut i) = (roundings.as_bytes(), 0);
        if !text.is_empty() {
            set.roundings = 1 << (plain >> 6 & 3);
        }
        while i < text.len() {
            match text[i] {
                b'c' => set.roundings |= 1 << 0,
                b'm' => set.roundings |= 1 << 1,
                b'd' => set.roundings |= 1 << 3,
                b' ' => {}
                _ => panic!("rounding qualifiers are c, m, d"),
            }
            i += 1;
        }
        set
    }

    /// Whether it makes the function with these bits.
    #[must_use]
    pub const fn contains(self, function: u16) -> bool {
        let bits = function ^ self.plain;
        if bits & 0x3f != 0 || self.traps >> (bits >> 8 & 7) & 1 == 0 {
            return false;
        }
        if self.roundings == 0 {
            bits & 0xc0 == 0
        } else {
            self.roundings >> (function >> 6 & 3) & 1 != 0
        }
    }

    /// The plain function.
    pub(crate) const fn plain(self) -> u16 {
        self.plain
    }

    /// The function with these qualifiers; None if it doesn't contain it.
    #[must_use]
    pub const fn function(self, q: Qualifiers) -> Option<u16> {
        let mut function = self.plain;
        if self.roundings != 0 {
            let rounding = match q.rounding {
                Rounding::Chopped => 0,
                Rounding::MinusInfinity => 1,
                Rounding::Nearest => 2,
                Rounding::Dynamic => 3,
            };
            function = function & !0xc0 | rounding << 6;
        } else if !matches!(q.rounding, Rounding::Nearest) {
            return None;
        }
        let low = if q.underflow { UNDERFLOW } else { 0 };
        let inexact = if q.inexact { INEXACT } else { 0 };
        let software = if q.software { SOFTWARE } else { 0 };
        function ^= ((low | inexact | software) as u16) << 8;
        if self.contains(function) { Some(function) } else { None }
    }

    /// The trap qualifiers of a function it contains.
    pub(crate) const fn traps_of(self, function: u16) -> u8 {
        ((function ^ self.plain) >> 8 & 7) as u8
    }

    /// The rounding bits of a function it contains; normal where there are none.
    pub(crate) const fn rounding_of(self, function: u16) -> u8 {
        if self.roundings == 0 { 2 } else { (function >> 6 & 3) as u8 }
    }

    /// The low trap qualifier is /V, not /U.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.integer
    }
}
