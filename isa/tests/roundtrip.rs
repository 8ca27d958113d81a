//! Decoder, encoder, disassembler and assembler against each other, over the encoding space.

mod words;

use axperf_isa::format::Form;
use axperf_isa::palmode::{self, Family, PalInsn};
use axperf_isa::{Fields, Insn, Op, asm, decode, disasm, encode};

/// The word without the bits that the architecture ignores in this instruction.
fn canonical(insn: &Insn) -> u32 {
    let ignored = match insn.desc().form {
        Form::Misc(..) => 0x3ff << 16,
        Form::MiscA(..) => 31 << 16,
        // Bits 15:13 should be zero beside a register.
        Form::Opr(..) | Form::OprB(..) if !insn.literal => 7 << 13,
        Form::Opr2(..) | Form::Opr3(..) => 7 << 13,
        _ => 0,
    };
    insn.word & !ignored
}

/// What the assembler makes of an alias that stands for several words.
fn of_alias(insn: &Insn) -> Option<u32> {
    match insn.op {
        Op::ldq_u if insn.ra == 31 => asm("ldq_u $31,0($30)", 0).ok(),
        Op::bis if !insn.literal && insn.ra == insn.rb && insn.ra != 31 => {
            Some(canonical(insn) | 31 << 21)
        }
        _ => None,
    }
}

/// decode, then encode: the same word.
#[test]
fn encode_inverts_decode() {
    for word in words::sweep() {
        let Some(insn) = decode(word) else { continue };
        let again = encode(insn.op, &insn.fields()).unwrap();
        assert_eq!(again & !canonical(&insn), 0, "{word:#010x}");
        assert_eq!(again, canonical(&insn), "{word:#010x}");
    }
}

/// decode, disassemble, assemble: the same word, or the alias's.
#[test]
fn asm_inverts_disasm() {
    let pc = 0x1_2000_0000;
    for word in words::sweep() {
        let text = disasm(word, pc).to_string();
        let Some(insn) = decode(word) else {
            assert_eq!(text, format!(".long {word:#x}"));
            continue;
        };
        let expected = of_alias(&insn).unwrap_or(canonical(&insn));
        assert_eq!(asm(&text, pc), Ok(expected), "{word:#010x}: {text:?}");
    }
}

/// Every row is reached.
#[test]
fn the_sweep_reaches_every_row() {
    let mut seen = std::collections::BTreeSet::new();
    seen.extend(words::sweep().into_iter().filter_map(|word| Some(decode(word)?.op)));
    let missing: Vec<_> = axperf_isa::INSNS.iter().filter(|d| !seen.contains(&d.op)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Every register in every field of every row, unused and unconventional ones too.
#[test]
fn every_register() {
    for desc in axperf_isa::INSNS.iter() {
        let plain = decode(desc.form.word()).unwrap();
        for n in 0..32u8 {
            let fields = Fields { ra: n, rb: (n + 7) % 32, rc: (n + 13) % 32, ..plain.fields() };
            let fields = match desc.form {
                Form::Fpcr(..) => Fields { rb: n, rc: n, ..fields },
                _ => Fields { literal: false, imm: 0, ..fields },
            };
            let word = encode(desc.op, &fields).unwrap();
            let insn = decode(word).unwrap_or_else(|| panic!("{} {word:#x}", desc.mnemonic));
            assert_eq!(insn.op, desc.op, "{word:#x}");
            // A field that the form lacks says 31.
            for (got, want, plain) in [
                (insn.ra, fields.ra, plain.ra),
                (insn.rb, fields.rb, plain.rb),
                (insn.rc, fields.rc, plain.rc),
            ] {
                assert!(got == want || got == 31 && plain == 31, "{} {word:#x}", desc.mnemonic);
            }
        }
    }
}

/// PALmode: decode, then encode; disassemble, then assemble: the same word, without the bits that the
/// CPU ignores.
#[test]
fn palmode_inverts() {
    let pc = 0x1_2000_0000;
    for &family in Family::ALL {
        let mut decoded = 0;
        for word in words::palmode() {
            let ignored = match (family, word >> 26) {
                (Family::Ev4, 0x19 | 0x1d) => 7 << 13,
                // A return's displacement.
                (Family::Ev6, 0x1e) if word >> 15 & 1 != 0 => 0x1fff,
                _ => 0,
            };
            let Some(insn) = PalInsn::decode(word, family) else { continue };
            decoded += 1;
            assert_eq!(insn.encode(family), Ok(word & !ignored), "{family:?} {word:#010x}");
            let text = palmode::disasm(word, pc, family).to_string();
            assert_eq!(palmode::asm(&text, pc, family), Ok(word & !ignored), "{family:?} {text:?}");
        }
        assert!(decoded > 300_000, "{family:?}: {decoded}");
    }
}

/// What the assembler refuses, and where.
#[test]
fn palmode_errors() {
    for (family, text, said) in [
        (
            Family::Ev4,
            "hw_ret ($1)",
            "line 1, column 1: the instruction does not have these qualifiers",
        ),
        (Family::Ev6, "hw_rei", "line 1, column 1: the instruction does not have these qualifiers"),
        (
            Family::Ev4,
            "hw_ldl/v $1,0($2)",
            "line 1, column 1: the instruction does not have these qualifiers",
        ),
        (Family::Ev5, "hw_ldl $1,512($2)", "line 1, column 11: number out of range"),
        (Family::Ev4, "hw_mfpr $1,32", "line 1, column 12: number out of range"),
        (
            Family::Ev5,
            "hw_mfpr/p $1,3",
            "line 1, column 1: the instruction does not have these qualifiers",
        ),
        (Family::Ev6, "hw_stl_l $1,0($2)", "line 1, column 1: no such instruction"),
        (Family::Ev6, "hw_ld $1,0($2)", "line 1, column 1: no such instruction"),
        (Family::Ev6, "hw_ret ($1) 2", "line 1, column 13: unexpected text after the instruction"),
    ] {
        let error = palmode::asm(text, 0, family).unwrap_err();
        assert_eq!(error.to_string(), said, "{family:?} {text}");
    }
    // Without a family they are no instructions.
    assert!(asm("hw_ret ($1)", 0).is_err());
}
