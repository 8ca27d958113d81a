//! Assembly language: operands and names, said once for the assembler and the disassembler.

use crate::desc::Op;
use crate::format::Form;

/// An operand as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Integer register, field a.
    Ra,
    /// Integer register, field b.
    Rb,
    /// Integer register, field c.
    Rc,
    /// Integer register, fields a and b.
    RaRb,
    /// Integer register in field b, or literal.
    RbOrLiteral,
    /// `(rb)`
    Base,
    /// Floating-point register, field a.
    Fa,
    /// Floating-point register, field b.
    Fb,
    /// Floating-point register, field c.
    Fc,
    /// Floating-point register, fields a and b.
    FaFb,
    /// `disp(rb)`
    Memory,
    /// 16-bit signed number.
    Displacement,
    /// Address that a branch goes to.
    Target,
    /// Address that the hint of a jump names.
    HintTarget,
    /// Hint of a return, as a number.
    Hint,
    /// PALcode function.
    Function,
}

use Operand::*;

/// The operands of a form, in the order they are written.
pub(crate) const fn operands(form: Form) -> &'static [Operand] {
    match form {
        Form::Pal(_) => &[Function],
        Form::Mem(_) => &[Ra, Memory],
        Form::FMem(_) => &[Fa, Memory],
        Form::Misc(..) => &[],
        Form::MiscA(..) => &[Ra],
        Form::MiscB(..) => &[Base],
        Form::MiscAB(..) => &[Ra, Rb],
        // JMP and JSR hint at a target, RET and JSR_COROUTINE at nothing.
        Form::Jmp(_, 0 | 1) => &[Ra, Base, HintTarget],
        Form::Jmp(..) => &[Ra, Base, Hint],
        Form::Bra(_) => &[Ra, Target],
        Form::FBra(_) => &[Fa, Target],
        Form::Opr(..) => &[Ra, RbOrLiteral, Rc],
        Form::OprB(..) => &[RbOrLiteral, Rc],
        Form::OprC(..) => &[Rc],
        Form::Opr3(..) => &[Ra, Rb, Rc],
        Form::Opr2(..) => &[Rb, Rc],
        Form::Fp(..) => &[Fa, Fb, Fc],
        Form::FpB(..) => &[Fb, Fc],
        Form::Fpcr(..) => &[Fa],
        Form::FToI(..) => &[Fa, Rc],
        Form::IToF(..) => &[Ra, Fc],
    }
}

/// Another way to write some words of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    /// What is written, with qualifiers.
    pub name: &'static str,
    /// The instruction.
    pub op: Op,
    /// Bits that are given by the alias...
    pub mask: u32,
    /// ...and what they are.
    pub value: u32,
    /// The operands that are written.
    pub operands: &'static [Operand],
    /// Bits of the word beside the value that the assembler sets, where the alias stands for
    /// several words.
    pub preset: u32,
    /// Whether the disassembler writes it.
    pub printed: bool,
}

const RA: u32 = 31 << 21;
const RB: u32 = 31 << 16;
const RC: u32 = 31;
const LITERAL: u32 = 1 << 12;
const HINT: u32 = 0x3fff;
const QUALIFIERS: u32 = 0x7c0 << 5;

const fn alias(
    name: &'static str,
    op: Op,
    mask: u32,
    value: u32,
    operands: &'static [Operand],
) -> Alias {
    Alias { name, op, mask, value, operands, preset: 0, printed: true }
}

/// A plain PALcode function.
const fn pal(name: &'static str, function: u32) -> Alias {
    alias(name, Op::call_pal, u32::MAX, function, &[])
}

/// A subtraction from `$f31` with these trap qualifiers (word bits 15 to 13) and normal rounding.
const fn negate(name: &'static str, op: Op, traps: u32) -> Alias {
    alias(name, op, RA | QUALIFIERS, RA | traps << 13 | 2 << 11, &[Fb, Fc])
}

/// What only the assembler knows.
const fn input(
    name: &'static str,
    op: Op,
    mask: u32,
    value: u32,
    operands: &'static [Operand],
) -> Alias {
    Alias { printed: false, ..alias(name, op, mask, value, operands) }
}

/// The aliases: the first that fits is written. Source: what GNU `objdump` writes for each word.
pub(crate) static ALIASES: &[Alias] = &[
    pal("halt", 0x00),
    pal("draina", 0x02),
    pal("bpt", 0x80),
    pal("bugchk", 0x81),
    pal("callsys", 0x83),
    pal("imb", 0x86),
    pal("rduniq", 0x9e),
    pal("wruniq", 0x9f),
    pal("gentrap", 0xaa),
    alias("lda", Op::lda, RB, RB, &[Ra, Displacement]),
    alias("ldah", Op::ldah, RB, RB, &[Ra, Displacement]),
    // LDQ_U $31 through whatever register; assemblers write LDQ_U $31,0($30).
    Alias { preset: 30 << 16, ..alias("unop", Op::ldq_u, RA, RA, &[]) },
    alias("rpcc", Op::rpcc, RB, RB, &[Ra]),
    alias("jmp", Op::jmp, RA | HINT, RA, &[Base]),
    alias("ret", Op::ret, RA | RB | HINT, RA | 26 << 16 | 1, &[]),
    alias("jcr", Op::jsr_coroutine, 0, 0, &[Ra, Base, Hint]),
    alias("br", Op::br, RA, RA, &[Target]),
    alias("sextl", Op::addl, RA, RA, &[RbOrLiteral, Rc]),
    alias("negl", Op::subl, RA, RA, &[RbOrLiteral, Rc]),
    alias("negl/v", Op::subl_v, RA, RA, &[RbOrLiteral, Rc]),
    alias("negq", Op::subq, RA, RA, &[RbOrLiteral, Rc]),
    alias("negq/v", Op::subq_v, RA, RA, &[RbOrLiteral, Rc]),
    alias("nop", Op::bis, RA | RB | LITERAL | RC, RA | RB | RC, &[]),
    alias("clr", Op::bis, RA | RB | LITERAL, RA | RB, &[Rc]),
    alias("mov", Op::bis, RA, RA, &[RbOrLiteral, Rc]),
    alias("mov", Op::bis, LITERAL, 0, &[RaRb, Rc]),
    alias("or", Op::bis, 0, 0, &[Ra, RbOrLiteral, Rc]),
    alias("andnot", Op::bic, 0, 0, &[Ra, RbOrLiteral, Rc]),
    alias("not", Op::ornot, RA, RA, &[RbOrLiteral, Rc]),
    alias("fnop", Op::cpys, RA | RB | RC, RA | RB | RC, &[]),
    alias("fclr", Op::cpys, RA | RB, RA | RB, &[Fc]),
    alias("fabs", Op::cpys, RA, RA, &[Fb, Fc]),
    alias("fmov", Op::cpys, 0, 0, &[FaFb, Fc]),
    alias("fneg", Op::cpysn, 0, 0, &[FaFb, Fc]),
    negate("negs", Op::subs, 0),
    negate("negs/su", Op::subs, 5),
    negate("negs/sui", Op::subs, 7),
    negate("negt", Op::subt, 0),
    negate("negt/su", Op::subt, 5),
    negate("negt/sui", Op::subt, 7),
    negate("negf", Op::subf, 0),
    negate("negf/s", Op::subf, 4),
    negate("negg", Op::subg, 0),
    negate("negg/s", Op::subg, 4),
    // The conventional registers and hints may be left out.
    input("mov", Op::lda, RB, RB, &[Displacement, Ra]),
    input("jmp", Op::jmp, HINT, 0, &[Ra, Base]),
    input("jsr", Op::jsr, HINT, 0, &[Ra, Base]),
    input("jsr", Op::jsr, RA | HINT, 26 << 21, &[Base]),
    input("ret", Op::ret, HINT, 1, &[Ra, Base]),
    input("ret", Op::ret, RA | HINT, RA | 1, &[Base]),
    input("jcr", Op::jsr_coroutine, HINT, 0, &[Ra, Base]),
    input("bsr", Op::bsr, RA, 26 << 21, &[Target]),
];

impl Alias {
    /// Whether the word, which decodes to the instruction, may be written so.
    pub(crate) fn fits(&self, word: u32) -> bool {
        let same = self.operands.iter().any(|o| matches!(o, RaRb | FaFb));
        word & self.mask == self.value && (!same || word >> 21 & 31 == word >> 16 & 31)
    }

    /// The word with no operand yet.
    pub(crate) const fn word(&self) -> u32 {
        self.op.desc().form.word() & !self.mask | self.value | self.preset
    }
}
