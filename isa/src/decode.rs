//! From words to instructions.

use crate::desc::{INSNS, Op};
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

/// What decoding a row's words takes, in a form that needs no branches.
#[derive(Clone, Copy)]
struct Plan {
    /// Bits that are the same in all its words...
    mask: u32,
    /// ...and what they are.
    value: u32,
    /// Bits of the displacement, hint or function, once it is shifted.
    imm: u32,
    /// How far the displacement's sign is from bit 31.
    shift: u8,
    op: Op,
    /// ORed to the register fields: 31 for those that the form lacks.
    lacks: (u8, u8, u8),
    /// Bit 12 says that operand b is a literal.
    literal: bool,
    /// The register fields must be equal.
    same: bool,
}

static PLANS: [Plan; INSNS_LEN] = {
    const A: (u8, u8, u8) = (0, ZERO, ZERO);
    const B: (u8, u8, u8) = (ZERO, 0, ZERO);
    const AB: (u8, u8, u8) = (0, 0, ZERO);
    const ABC: (u8, u8, u8) = (0, 0, 0);
    const NONE: (u8, u8, u8) = (ZERO, ZERO, ZERO);
    const SIGNED: u32 = u32::MAX;
    let mut plans = [Plan {
        mask: 0,
        value: 0,
        imm: 0,
        shift: 0,
        op: INSNS[0].op,
        lacks: NONE,
        literal: false,
        same: false,
    }; INSNS_LEN];
    let mut row = 0;
    while row < INSNS_LEN {
        let form = INSNS[row].form;
        let (lacks, shift, imm) = match form {
            Form::Pal(_) => (NONE, 0, 0x3ff_ffff),
            Form::Mem(_) | Form::FMem(_) => (AB, 16, SIGNED),
            Form::Bra(_) | Form::FBra(_) => (A, 11, SIGNED),
            Form::Jmp(..) => (AB, 0, 0x3fff),
            Form::Misc(..) => (NONE, 0, 0),
            Form::MiscA(..) => (A, 0, 0),
            Form::MiscB(..) => (B, 0, 0),
            Form::MiscAB(..) => (AB, 0, 0),
            Form::Opr(..)
            | Form::OprB(..)
            | Form::OprC(..)
            | Form::Opr3(..)
            | Form::Opr2(..)
            | Form::Fp(..)
            | Form::FpB(..)
            | Form::Fpcr(..)
            | Form::FToI(..)
            | Form::IToF(..) => (ABC, 0, 0),
        };
        plans[row] = Plan {
            mask: form.mask(),
            value: form.word() & form.mask(),
            imm,
            shift,
            op: INSNS[row].op,
            lacks,
            literal: matches!(form, Form::Opr(..) | Form::OprB(..) | Form::OprC(..)),
            same: matches!(form, Form::Fpcr(..)),
        };
        row += 1;
    }
    plans
};

/// Decodes a word; None if it is no instruction of the architecture.
#[must_use]
pub fn decode(word: u32) -> Option<Insn> {
    let group = &GROUPS_TABLE[(word >> 26) as usize];
    let slot = group.base as usize + (word >> group.field.shift & group.field.mask) as usize;
    let plan = PLANS.get(usize::from(ROWS[slot]))?;
    if word & plan.mask != plan.value {
        return None;
    }
    let (a, b, c) = ((word >> 21 & 31) as u8, (word >> 16 & 31) as u8, (word & 31) as u8);
    if plan.same && (a != b || a != c) {
        return None;
    }
    let literal = plan.literal && word >> 12 & 1 != 0;
    let displacement = (word << plan.shift) as i32 >> plan.shift & plan.imm as i32;
    Some(Insn {
        op: plan.op,
        ra: a | plan.lacks.0,
        rb: b | plan.lacks.1 | if literal { ZERO } else { 0 },
        rc: c | plan.lacks.2,
        literal,
        imm: if literal { (word >> 13 & 0xff) as i32 } else { displacement },
        word,
    })
}

static GROUPS_TABLE: [Group; 64] = GROUPS.0;

#[cfg(test)]
mod tests {
    use super::*;

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
