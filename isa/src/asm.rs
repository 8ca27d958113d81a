//! From text to a word: one instruction at a time, without allocation.

use crate::asm_error::{AsmError, Problem};
use crate::decode;
use crate::desc::{INSNS, InsnDesc, Op};
use crate::encode::{EncodeError, Fields, encode};
use crate::format::{Form, ZERO};
use crate::palmode::{self, Family};
use crate::regs::Reg;
use crate::sem::{Qualifiers, Rounding};
use crate::syntax::{ALIASES, Operand, operands};

/// Assembles one instruction, to stand at `pc`.
///
/// Registers are written as GNU tools do (`$1`, `$f1`), as the manual does (`R1`, `F1`), or by the
/// calling standard (`a0`, `sp`, `zero`); branch targets as addresses or relative to this
/// instruction (`.+8`). Everything that [`disasm`](crate::disasm()) writes is understood.
///
/// ```
/// assert_eq!(axperf_isa::asm("addq r1, r2, r3", 0), Ok(0x4022_0403));
/// ```
///
/// # Errors
/// The text is no instruction.
pub fn asm(text: &str, pc: u64) -> Result<u32, AsmError> {
    Line::new(text, 1, pc, &|_| None).instruction()
}

/// A line of text that is being read.
pub(crate) struct Line<'t, 'l> {
    text: &'t str,
    /// Bytes read.
    at: usize,
    number: usize,
    /// The address that `.` means.
    pc: u64,
    /// Addresses of labels.
    labels: &'l dyn Fn(&str) -> Option<u64>,
    /// Whose PALmode instructions are known.
    palmode: Option<Family>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

impl<'t, 'l> Line<'t, 'l> {
    pub(crate) fn new(
        text: &'t str,
        number: usize,
        pc: u64,
        labels: &'l dyn Fn(&str) -> Option<u64>,
    ) -> Self {
        Line { text, at: 0, number, pc, labels, palmode: None }
    }

    /// PALmode instructions of a family are known too.
    pub(crate) fn with_palmode(self, palmode: Option<Family>) -> Self {
        Line { palmode, ..self }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The problem, at the text that comes next.
    pub(crate) fn error(&self, problem: Problem) -> AsmError {
        AsmError { line: self.number, column: self.at + 1, problem }
    }

    /// The characters up to the first that `part` refuses.
    fn take_while(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// A name, register or number.
    pub(crate) fn word(&mut self) -> &'t str {
        self.skip_space();
        self.take_while(is_word)
    }

    /// Takes the character if it comes next.
    pub(crate) fn accept(&mut self, c: char) -> bool {
        self.skip_space();
        let there = self.rest().starts_with(c);
        if there {
            self.at += c.len_utf8();
        }
        there
    }

    pub(crate) fn comma(&mut self) -> Result<(), AsmError> {
        self.expect(',', "`,`")
    }

    /// Whether a number comes next, not a label.
    pub(crate) fn at_number(&mut self) -> bool {
        self.skip_space();
        self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
    }

    /// A number from 0 to `most`.
    pub(crate) fn up_to(&mut self, most: usize) -> Result<usize, AsmError> {
        self.skip_space();
        let start = self.at;
        let value = self.expression()?;
        usize::try_from(value).ok().filter(|value| *value <= most).ok_or_else(|| {
            self.at = start;
            self.error(Problem::Range)
        })
    }

    fn expect(&mut self, c: char, what: &'static str) -> Result<(), AsmError> {
        if self.accept(c) { Ok(()) } else { Err(self.error(Problem::Expected(what))) }
    }

    /// Nothing may follow.
    pub(crate) fn end(&mut self) -> Result<(), AsmError> {
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { Err(self.error(Problem::Trailing)) }
    }

    /// Whether nothing follows.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.end().is_ok()
    }

    /// Where the line stands.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a [`Line::position`].
    pub(crate) fn rewind(&mut self, position: usize) {
        self.at = position;
    }

    fn unsigned(&mut self, what: &'static str) -> Result<u64, AsmError> {
        let start = self.at;
        let word = self.word();
        let number = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => word.parse(),
        };
        number.map_err(|_| {
            self.at = start;
            self.skip_space();
            self.error(Problem::Expected(what))
        })
    }

    /// A term and what is added to it: number, `.`, or label. The value wraps at 64 bits.
    pub(crate) fn expression(&mut self) -> Result<i64, AsmError> {
        const WHAT: &str = "a number, a label or `.`";
        self.skip_space();
        let start = self.at;
        let mut value = match self.rest().chars().next() {
            Some('-' | '+') => 0,
            Some('0'..='9') => self.unsigned(WHAT)? as i64,
            Some(c) if is_word(c) && c != '$' => match self.word() {
                "." => self.pc as i64,
                label => match (self.labels)(label) {
                    Some(address) => address as i64,
                    None => {
                        self.at = start;
                        return Err(self.error(Problem::Undefined));
                    }
                },
            },
            _ => return Err(self.error(Problem::Expected(WHAT))),
        };
        loop {
            if self.accept('+') {
                value = value.wrapping_add(self.unsigned("a number")? as i64);
            } else if self.accept('-') {
                value = value.wrapping_sub(self.unsigned("a number")? as i64);
            } else {
                return Ok(value);
            }
        }
    }

    /// A number that goes into a field; the encoder knows how much fits.
    fn number(&mut self) -> Result<i32, AsmError> {
        let start = self.at;
        let value = self.expression()?;
        i32::try_from(value).map_err(|_| {
            self.at = start;
            self.error(Problem::Range)
        })
    }

    /// The number of a register.
    fn register(&mut self, first: Reg, what: &'static str) -> Result<u8, AsmError> {
        self.skip_space();
        let start = self.at;
        let word = self.word();
        let bare = match word.strip_prefix('$') {
            Some(name) if !name.starts_with(|c: char| c.is_ascii_digit()) => name,
            _ => word,
        };
        let special: &[&str] =
            if first == Reg::R0 { &["zero", "r31", "$31"] } else { &["f31", "$f31"] };
        let number = if special.iter().any(|name| bare.eq_ignore_ascii_case(name)) {
            Some(ZERO)
        } else {
            let reg =
                if bare.eq_ignore_ascii_case("pv") { Some(Reg::R27) } else { Reg::from_name(bare) };
            let number = reg.map(|reg| (reg as u8).wrapping_sub(first as u8));
            number.filter(|n| *n < ZERO)
        };
        number.ok_or_else(|| {
            self.at = start;
            self.error(Problem::Expected(what))
        })
    }

    pub(crate) fn int(&mut self) -> Result<u8, AsmError> {
        self.register(Reg::R0, "an integer register")
    }

    fn fp(&mut self) -> Result<u8, AsmError> {
        self.register(Reg::F0, "a floating-point register")
    }

    /// Words from this instruction's successor to the address that is written here.
    pub(crate) fn words_to_target(&mut self) -> Result<i64, AsmError> {
        self.skip_space();
        let start = self.at;
        let bytes = self.expression()?.wrapping_sub(self.pc as i64).wrapping_sub(4);
        if bytes & 3 != 0 {
            self.at = start;
            return Err(self.error(Problem::Unaligned));
        }
        Ok(bytes >> 2)
    }

    pub(crate) fn base(&mut self) -> Result<u8, AsmError> {
        self.expect('(', "`(`")?;
        let register = self.int()?;
        self.expect(')', "`)`")?;
        Ok(register)
    }

    /// `disp(rb)`, of which either may be missing.
    pub(crate) fn memory(&mut self) -> Result<(i32, u8), AsmError> {
        self.skip_space();
        let disp = if self.rest().starts_with('(') { 0 } else { self.number()? };
        let base = if self.accept('(') {
            let register = self.int()?;
            self.expect(')', "`)`")?;
            register
        } else {
            ZERO
        };
        Ok((disp, base))
    }

    fn operand(&mut self, operand: Operand, fields: &mut Fields) -> Result<(), AsmError> {
        self.skip_space();
        let start = self.at;
        match operand {
            Operand::Ra => fields.ra = self.int()?,
            Operand::Rb => fields.rb = self.int()?,
            Operand::Rc => fields.rc = self.int()?,
            Operand::RaRb => {
                fields.ra = self.int()?;
                fields.rb = fields.ra;
            }
            Operand::RbOrLiteral => {
                let marked = self.accept('#');
                if marked || self.at_number() {
                    fields.literal = true;
                    fields.imm = self.number()?;
                } else {
                    fields.rb = self.int()?;
                }
            }
            Operand::Base => {
                // The manual writes `0(rb)`; the word has no place for another displacement.
                if !self.rest().starts_with('(') && self.expression()? != 0 {
                    self.at = start;
                    return Err(self.error(Problem::Range));
                }
                fields.rb = self.base()?;
            }
            Operand::Fa => fields.ra = self.fp()?,
            Operand::Fb => fields.rb = self.fp()?,
            Operand::Fc => fields.rc = self.fp()?,
            Operand::FaFb => {
                fields.ra = self.fp()?;
                fields.rb = fields.ra;
            }
            Operand::Memory => (fields.imm, fields.rb) = self.memory()?,
            Operand::Displacement | Operand::Hint | Operand::Function => {
                fields.imm = self.number()?;
            }
            Operand::Target => {
                fields.imm = i32::try_from(self.words_to_target()?).map_err(|_| {
                    self.at = start;
                    self.error(Problem::Range)
                })?;
            }
            // Only the low bits of the target are hinted at.
            Operand::HintTarget => fields.imm = (self.words_to_target()? & 0x3fff) as i32,
        }
        Ok(())
    }

    /// The operands of a candidate, and the word.
    fn candidate(
        &mut self,
        op: Op,
        plain: u32,
        list: &[Operand],
        qualifiers: Option<Qualifiers>,
    ) -> Result<u32, AsmError> {
        let start = self.at;
        let mut fields = decode(plain).map_or_else(Fields::default, |insn| insn.fields());
        fields.qualifiers = qualifiers.or(fields.qualifiers);
        let mut number_at = start;
        for (n, operand) in list.iter().enumerate() {
            if n > 0 {
                self.comma()?;
            }
            self.skip_space();
            let (at, number) = (self.at, fields.imm);
            self.operand(*operand, &mut fields)?;
            if fields.imm != number {
                number_at = at;
            }
        }
        self.end()?;
        encode(op, &fields).map_err(|error| {
            self.at = number_at;
            self.error(match error {
                EncodeError::Range | EncodeError::Register => Problem::Range,
                EncodeError::Literal => Problem::Expected("a register"),
                EncodeError::Qualifiers => Problem::Qualifiers,
            })
        })
    }

    /// An instruction, up to the end of the line.
    pub(crate) fn instruction(&mut self) -> Result<u32, AsmError> {
        self.skip_space();
        let start = self.at;
        let name = self.take_while(|c| is_word(c) || c == '/');
        if let Some(family) = self.palmode
            && let Some(word) = palmode::instruction(self, name, start, family)
        {
            return word;
        }
        let operands_at = self.at;
        // Several candidates may have the name; what they complain about furthest on is the fault.
        let mut fault: Option<AsmError> = None;
        let mut attempt = |line: &mut Self, op, plain, list, qualifiers| {
            line.at = operands_at;
            match line.candidate(op, plain, list, qualifiers) {
                Ok(word) => Some(word),
                Err(error) => {
                    let vague = |f: AsmError| matches!(f.problem, Problem::Expected(_));
                    if fault.is_none_or(|f| {
                        f.column < error.column || f.column == error.column && vague(f)
                    }) {
                        fault = Some(error);
                    }
                    None
                }
            }
        };
        for alias in ALIASES.iter().filter(|alias| alias.name.eq_ignore_ascii_case(name)) {
            if let Some(word) = attempt(self, alias.op, alias.word(), alias.operands, None) {
                return Ok(word);
            }
        }
        match row_named(name) {
            Ok((desc, qualifiers)) => {
                let list = operands(desc.form);
                if let Some(word) = attempt(self, desc.op, desc.form.word(), list, qualifiers) {
                    return Ok(word);
                }
            }
            Err(problem) => {
                if fault.is_none() {
                    self.at = start;
                    return Err(self.error(problem));
                }
            }
        }
        Err(fault.unwrap_or_else(|| {
            self.at = start;
            self.error(Problem::Mnemonic)
        }))
    }
}

/// The row with this mnemonic, and the qualifiers after it.
fn row_named(name: &str) -> Result<(&'static InsnDesc, Option<Qualifiers>), Problem> {
    let find = |name: &str| INSNS.iter().find(|d| d.mnemonic.eq_ignore_ascii_case(name));
    if let Some(desc) = find(name) {
        return Ok((desc, None));
    }
    let (name, letters) = name.split_once('/').ok_or(Problem::Mnemonic)?;
    let desc = find(name).ok_or(Problem::Mnemonic)?;
    if !matches!(desc.form, Form::Fp(..) | Form::FpB(..)) {
        return Err(Problem::Qualifiers);
    }
    let mut q = Qualifiers {
        rounding: Rounding::Nearest,
        underflow: false,
        software: false,
        inexact: false,
    };
    for letter in letters.chars() {
        match letter.to_ascii_lowercase() {
            's' => q.software = true,
            'i' => q.inexact = true,
            'u' if !desc.qualifiers.is_integer() => q.underflow = true,
            'v' if desc.qualifiers.is_integer() => q.underflow = true,
            'c' => q.rounding = Rounding::Chopped,
            'm' => q.rounding = Rounding::MinusInfinity,
            'd' => q.rounding = Rounding::Dynamic,
            _ => return Err(Problem::Qualifiers),
        }
    }
    match desc.qualifiers.function(q) {
        Some(_) => Ok((desc, Some(q))),
        None => Err(Problem::Qualifiers),
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use alloc::string::ToString;

    use super::*;

    /// Words from GNU as, but for the last three lines, which it has no such syntax for.
    #[test]
    fn forms_of_operands() {
        for (text, word) in [
            ("addq $1,$2,$3", 0x4022_0403),
            ("addq a0, 255, v0", 0x421f_f400),
            ("ldq $1,8($2)", 0xa422_0008),
            ("ldq $1,($2)", 0xa422_0000),
            ("stt $f2,-8($sp)", 0x9c5e_fff8),
            ("addt/suic $f1,$f2,$f3", 0x5822_e403),
            ("cvttq/svc $f1,$f2", 0x5be1_a5e2),
            ("ret", 0x6bfa_8001),
            ("ret $31,($26),1", 0x6bfa_8001),
            ("jsr $26,($27)", 0x6b5b_4000),
            ("jmp ($27)", 0x6bfb_0000),
            ("beq $1,.+8", 0xe420_0001),
            ("br .", 0xc3ff_ffff),
            ("bsr $26,0x1010", 0xd340_0003),
            ("callsys", 0x0000_0083),
            ("call_pal 0x83", 0x0000_0083),
            ("lda $sp,-16($sp)", 0x23de_fff0),
            ("mov $1,$2", 0x47e1_0402),
            ("unop", 0x2ffe_0000),
            ("mf_fpcr $f1", 0x5c21_04a1),
            ("wh64 ($1)", 0x63e1_f800),
            ("implver $1", 0x47e0_3d81),
            ("ADDQ R16,#255,R0", 0x421f_f400),
            ("mov -1,$1", 0x203f_ffff),
            ("fetch 0($1)", 0x63e1_8000),
        ] {
            let got = asm(text, 0x1000);
            assert_eq!(got, Ok(word), "{text}: {:#x?}", got);
        }
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, said) in [
            ("addq $1,$2", "line 1, column 11: expected `,`"),
            ("addq $1,$2,$3,$4", "line 1, column 14: unexpected text after the instruction"),
            ("addq $1,256,$3", "line 1, column 9: number out of range"),
            ("addq $1,$f2,$3", "line 1, column 9: expected an integer register"),
            ("addt $1,$f2,$f3", "line 1, column 6: expected a floating-point register"),
            (
                "addt/x $f1,$f2,$f3",
                "line 1, column 1: the instruction does not have these qualifiers",
            ),
            (
                "cmpteq/c $f1,$f2,$f3",
                "line 1, column 1: the instruction does not have these qualifiers",
            ),
            ("frob", "line 1, column 1: no such instruction"),
            ("", "line 1, column 1: no such instruction"),
            ("br 2", "line 1, column 4: branch target is not a multiple of 4"),
            ("beq $1,nowhere", "line 1, column 8: undefined label"),
            ("ldq $1,40000($2)", "line 1, column 8: number out of range"),
            (
                "lda $1,0x10000000000000000($2)",
                "line 1, column 8: expected a number, a label or `.`",
            ),
        ] {
            let said_so = asm(text, 0).unwrap_err().to_string();
            assert_eq!(said_so, said, "{text}");
        }
    }
}
