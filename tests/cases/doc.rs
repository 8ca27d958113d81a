//! docs/isa.md: the table of instructions, for readers.

use std::collections::HashMap;
use std::fmt::Write as _;

use axperf::isa::format::Form;
use axperf::isa::{INSNS, InsnDesc, Op};

const HEAD: &str = "\
# Instructions

What axperf knows of each instruction: the rows of `isa/src/table.rs`, from which decoder,
encoder, assembler, disassembler, interpreter and translator are made. This page is made
from it, too: `UPDATE_DOCS=1 cargo test --test cases`.

- *Encoding*: the format of the Alpha Architecture Reference Manual, the opcode and, after
  the point, the function, in hexadecimal. A floating-point function is that without
  qualifiers; those that there are stand behind the name, the trap qualifiers before the
  semicolon, the rounding qualifiers after it.
- *Extension*: the AMASK feature that brought it; none for what every Alpha has. On a CPU
  without it the instruction is illegal (`Config::cpu`).
- *Cases*: how many lines of `tests/cases` it stands in. Each runs in the interpreter and, in
  five ways, translated.

";

/// The page. `counts` says in how many of all `cases` an instruction stands.
pub fn text(cases: usize, counts: &HashMap<Op, usize>) -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| instruction | encoding | extension | facts | what it does | cases |\n");
    out.push_str("|---|---|---|---|---|---:|\n");
    for desc in &INSNS {
        let facts: Vec<&str> = desc.flags.names().collect();
        let extension: String = desc.extension.names().collect();
        let count = counts.get(&desc.op).copied().unwrap_or_default().to_string();
        let (name, encoding) = (instruction(desc), encoding(desc.form));
        let cells = [&name, &encoding, &extension, &facts.join(", "), desc.doc, &count];
        for cell in cells {
            out.push_str("| ");
            out.push_str(cell);
            out.push_str(if cell.is_empty() { "" } else { " " });
        }
        out.push_str("|\n");
    }
    writeln!(out, "\n{} instructions, {cases} cases.", INSNS.len()).expect("it is a string");
    out
}

/// Name, operands and qualifiers.
fn instruction(desc: &InsnDesc) -> String {
    let operands = match desc.form {
        Form::Pal(_) => "function",
        Form::Mem(_) => "ra, disp(rb)",
        Form::FMem(_) => "fa, disp(rb)",
        Form::Misc(..) => "",
        Form::MiscA(..) => "ra",
        Form::MiscB(..) => "(rb)",
        Form::MiscAB(..) => "ra, rb",
        Form::Jmp(..) => "ra, (rb), hint",
        Form::Bra(_) => "ra, target",
        Form::FBra(_) => "fa, target",
        Form::Opr(..) => "ra, rb/#, rc",
        Form::OprB(..) => "rb/#, rc",
        Form::OprC(..) => "rc",
        Form::Opr3(..) => "ra, rb, rc",
        Form::Opr2(..) => "rb, rc",
        Form::Fp(..) => "fa, fb, fc",
        Form::FpB(..) => "fb, fc",
        Form::Fpcr(..) => "fa",
        Form::FToI(..) => "fa, rc",
        Form::IToF(..) => "ra, fc",
    };
    let name = format!("{} {operands}", desc.mnemonic);
    let qualifiers = match desc.form {
        Form::Fp(_, _, "", "") | Form::FpB(_, _, "", "") => String::new(),
        Form::Fp(_, _, traps, "") | Form::FpB(_, _, traps, "") => format!(" ({traps})"),
        Form::Fp(_, _, traps, roundings) | Form::FpB(_, _, traps, roundings) => {
            format!(" ({})", [traps, roundings].join("; ").trim_start_matches("; "))
        }
        _ => String::new(),
    };
    format!("`{}`{qualifiers}", name.trim_end())
}

/// The manual's name of the format, opcode and function.
fn encoding(form: Form) -> String {
    let opcode = form.opcode();
    match form {
        Form::Pal(_) => format!("Pcd {opcode:02x}"),
        Form::Mem(_) | Form::FMem(_) => format!("Mem {opcode:02x}"),
        Form::Misc(_, f) | Form::MiscA(_, f) | Form::MiscB(_, f) | Form::MiscAB(_, f) => {
            format!("Mfc {opcode:02x}.{f:04x}")
        }
        Form::Jmp(_, kind) => format!("Mbr {opcode:02x}.{kind:x}"),
        Form::Bra(_) | Form::FBra(_) => format!("Bra {opcode:02x}"),
        Form::Opr(_, f) | Form::OprB(_, f) | Form::OprC(_, f) => {
            format!("Opr {opcode:02x}.{f:02x}")
        }
        Form::Opr3(_, f) | Form::Opr2(_, f) => format!("Opr {opcode:02x}.{f:02x}"),
        Form::Fp(_, f, ..) | Form::FpB(_, f, ..) | Form::Fpcr(_, f) | Form::IToF(_, f) => {
            format!("F-P {opcode:02x}.{f:03x}")
        }
        Form::FToI(_, f) => format!("F-P {opcode:02x}.{f:03x}"),
    }
}
