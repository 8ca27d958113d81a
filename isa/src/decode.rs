//! From words to instructions.

use crate::desc::INSNS;
use crate::format::{Field, Form, ZERO};
use crate::insn::Insn;

/// How the words of one opcode are told apart.
#[derive(Clone, Copy)]
struct Group {
    /// First entry in [`ROWS`].
    base: u16,
    /// Index of an entry: its bits in the word.
    field: Field,
}

const NO_ROW: u8 = u8::MAX;
const _: () = assert!(INSNS_LEN < NO_ROW as usize, "a row's number fits in a byte");
const INSNS_LEN: usize = INSNS.len();

const GROUPS: ([Group; 64], usize) = {
    let mut groups = [Group { base: 0, field: Field { shift: 0, mask: 0 } }; 64];
    let mut row = 0;
    let mut seen = 0u64;
    while row < INSNS_LEN {
        let form = INSNS[row].form;
        let (opcode, field) = (form.opcode() as usize, form.function());
        if seen >> opcode & 1 == 0 {
            seen |= 1 << opcode;
            groups[opcode].field = field;
        } else {
            let first = groups[opcode].field;
            assert!(
                first.shift == field.shift && first.mask == field.mask,
                "rows of one opcode agree about the function field"
            );
        }
        row += 1;
    }
    let mut next = 0;
    let mut opcode = 0;
    while opcode < 64 {
        groups[opcode].base = next as u16;
        next += groups[opcode].field.mask as usize + 1;
        opcode += 1;
    }
    (groups, next)
};

/// A row's number for each value of each opcode's function field.
static ROWS: [u8; GROUPS.1] = {
    let mut rows = [NO_ROW; GROUPS.1];
    let mut row = 0;
    while row < INSNS_LEN {
        let form = INSNS[row].form;
        let group = GROUPS.0[form.opcode() as usize];
        let plain = form.word() >> group.field.shift & group.field.mask;
        let mut function = 0;
        while function <= group.field.mask {
            let mine = match form {
                Form::Fp(..) | Form::FpB(..) => INSNS[row].qualifiers.contains(function as u16),
                _ => function == plain,
            };
            if mine {
                let slot = group.base as usize + function as usize;
                assert!(rows[slot] == NO_ROW, "two rows claim one encoding");
                rows[slot] = row as u8;
            }
            function += 1;
        }
        row += 1;
    }
    rows
};

static MASKS: [(u32, u32); INSNS_LEN] = {
    let mut masks = [(0, 0); INSNS_LEN];
    let mut row = 0;
    while row < INSNS_LEN {
        let (mask, word) = (INSNS[row].form.mask(), INSNS[row].form.word());
        masks[row] = (mask, word & mask);
        row += 1;
    }
    masks
};

/// The low `bits` bits of the word, sign-extended.
const fn signed(word: u32, bits: u32) -> i32 {
    (word << (32 - bits)) as i32 >> (32 - bits)
}

/// Decodes a word; None if it is no instruction of the architecture.
#[must_use]
pub fn decode(word: u32) -> Option<Insn> {
    let group = &GROUPS_TABLE[(word >> 26) as usize];
    let slot = group.base as usize + (word >> group.field.shift & group.field.mask) as usize;
    let row = usize::from(ROWS[slot]);
    let (mask, value) = *MASKS.get(row)?;
    if word & mask != value {
        return None;
    }
    let desc = &INSNS[row];
    let (a, b, c) = ((word >> 21 & 31) as u8, (word >> 16 & 31) as u8, (word & 31) as u8);
    let insn = |ra, rb, rc, imm| Insn { op: desc.op, ra, rb, rc, literal: false, imm, word };
    Some(match desc.form {
        Form::Mem(_) | Form::FMem(_) => insn(a, b, ZERO, signed(word, 16)),
        Form::Opr(..) | Form::OprB(..) | Form::OprC(..) if word >> 12 & 1 != 0 => {
            Insn { literal: true, ..insn(a, ZERO, c, (word >> 13 & 0xff) as i32) }
        }
        Form::Bra(_) | Form::FBra(_) => insn(a, ZERO, ZERO, signed(word, 21)),
        Form::Jmp(..) => insn(a, b, ZERO, (word & 0x3fff) as i32),
        Form::Pal(_) => insn(ZERO, ZERO, ZERO, (word & 0x3ff_ffff) as i32),
        Form::Misc(..) => insn(ZERO, ZERO, ZERO, 0),
        Form::MiscA(..) => insn(a, ZERO, ZERO, 0),
        Form::MiscB(..) => insn(ZERO, b, ZERO, 0),
        Form::MiscAB(..) => insn(a, b, ZERO, 0),
        Form::Fpcr(..) if a != b || a != c => return None,
        Form::Opr(..)
        | Form::OprB(..)
        | Form::OprC(..)
        | Form::Opr3(..)
        | Form::Opr2(..)
        | Form::Fp(..)
        | Form::FpB(..)
        | Form::Fpcr(..)
        | Form::FToI(..)
        | Form::IToF(..) => insn(a, b, c, 0),
    })
}

static GROUPS_TABLE: [Group; 64] = GROUPS.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    /// Every row's plain word decodes to the row.
    #[test]
    fn rows_decode_to_themselves() {
        for desc in &INSNS {
            let word = desc.form.word();
            assert_eq!(decode(word).map(|i| i.op), Some(desc.op), "{word:#010x}");
        }
    }

    /// ARM table C-2: opcode 0x24 is STF.
    #[test]
    fn opcode_24_is_stf() {
        assert_eq!(decode(0x9000_0000).unwrap().op, Op::stf);
    }
}
