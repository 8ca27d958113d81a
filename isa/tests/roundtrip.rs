//! Decoder, encoder, disassembler and assembler against each other, over the encoding space.

mod words;

use axperf_isa::format::Form;
use axperf_isa::{Insn, Op, asm, decode, disasm, encode};

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
