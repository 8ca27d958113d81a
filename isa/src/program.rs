//! Whole programs: labels, data and constants.

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::asm::Line;
use crate::asm_error::{AsmError, Problem};
use crate::desc::Op;
use crate::encode::{EncodeError, Fields, encode};
use crate::format::ZERO;
use crate::palmode::Family;

/// Assembles lines of text, to stand at `base`.
///
/// A line has labels (`name:`) and an [instruction](crate::asm()), or either, or neither. A comment
/// begins with `;`, or with a `#` that no number follows. Beside instructions there are
/// - `li reg, value`: a constant, in as few instructions as it takes (five for a label);
/// - `.quad value, …` and `.long value, …`: data;
/// - `.space bytes`: zeros, up to a mebibyte, whole longwords;
/// - `.align power`: UNOP up to a multiple of 2^power, up to 2^16.
///
/// ```
/// let words = axperf_isa::assemble("
///         li   r1, 10
///     loop:
///         subq r1, 1, r1
///         bne  r1, loop
///         halt
/// ", 0x1000)?;
/// assert_eq!(words, [0x203f_000a, 0x4020_3521, 0xf43f_fffe, 0]);
/// # Ok::<(), axperf_isa::AsmError>(())
/// ```
///
/// # Errors
/// The first line that is wrong.
pub fn assemble(text: &str, base: u64) -> Result<Vec<u32>, AsmError> {
    assemble_with(text, base, None)
}

/// Assembles; PALmode instructions are those of the family.
pub(crate) fn assemble_with(
    text: &str,
    base: u64,
    palmode: Option<Family>,
) -> Result<Vec<u32>, AsmError> {
    // The size of a line doesn't depend on the value of a label, so one pass finds the labels: it
    // takes every label for the address of the line that uses it.
    let mut labels = BTreeMap::new();
    let mut sizes = Assembler { base, words: Vec::new() };
    for (n, line) in text.lines().enumerate() {
        let pc = sizes.pc();
        let here = |_: &str| Some(pc);
        let mut line = Line::new(without_comment(line), n + 1, pc, &here).with_palmode(palmode);
        while let Some(name) = label(&mut line) {
            if labels.insert(name, pc).is_some() {
                return Err(line.error(Problem::Duplicate));
            }
        }
        sizes.statement(&mut line)?;
    }
    let mut program = Assembler { base, words: Vec::with_capacity(sizes.words.len()) };
    for (n, line) in text.lines().enumerate() {
        let find = |name: &str| labels.get(name).copied();
        let mut line =
            Line::new(without_comment(line), n + 1, program.pc(), &find).with_palmode(palmode);
        while label(&mut line).is_some() {}
        program.statement(&mut line)?;
    }
    Ok(program.words)
}

fn without_comment(line: &str) -> &str {
    let starts = |(at, c): (usize, char)| {
        let number = |c: char| c.is_ascii_digit() || c == '-';
        c == ';' || c == '#' && !line[at + 1..].starts_with(number)
    };
    match line.char_indices().find(|&place| starts(place)) {
        Some((at, _)) => &line[..at],
        None => line,
    }
}

/// The label that comes next, if one does.
fn label<'t>(line: &mut Line<'t, '_>) -> Option<&'t str> {
    let start = line.position();
    let name = line.word();
    if !name.is_empty() && line.accept(':') {
        return Some(name);
    }
    line.rewind(start);
    None
}

/// A program that grows.
struct Assembler {
    base: u64,
    words: Vec<u32>,
}

impl Assembler {
    /// The address of the next word.
    fn pc(&self) -> u64 {
        self.base.wrapping_add(4 * self.words.len() as u64)
    }

    /// An instruction, a directive, or nothing.
    fn statement(&mut self, line: &mut Line<'_, '_>) -> Result<(), AsmError> {
        if line.is_empty() {
            return Ok(());
        }
        let start = line.position();
        match line.word() {
            "li" => {
                let register = line.int()?;
                line.comma()?;
                let known = line.at_number();
                let value = line.expression()?;
                self.constant(register, value, known).map_err(|_| line.error(Problem::Range))?;
            }
            ".quad" => loop {
                let value = line.expression()?;
                self.words.extend([value as u32, (value >> 32) as u32]);
                if !line.accept(',') {
                    break;
                }
            },
            ".long" => loop {
                let value = line.expression()?;
                self.words.push(value as u32);
                if !line.accept(',') {
                    break;
                }
            },
            ".space" => {
                let bytes = line.up_to(1 << 20)?;
                self.words.resize(self.words.len() + bytes.div_ceil(4), 0);
            }
            ".align" => {
                let power = line.up_to(16)?;
                while self.pc() & ((1 << power) - 1) & !3 != 0 {
                    self.words.push(UNOP);
                }
            }
            _ => {
                line.rewind(start);
                self.words.push(line.instruction()?);
            }
        }
        line.end()
    }

    /// Loads a constant; with all five instructions if its size mustn't depend on the value.
    fn constant(&mut self, register: u8, value: i64, short: bool) -> Result<(), EncodeError> {
        let (high, low, rest) = parts(value);
        let mut from = ZERO;
        if rest != 0 || !short {
            let (high, low, _) = parts(rest >> 32);
            self.part(Op::ldah, register, &mut from, high, short)?;
            self.part(Op::lda, register, &mut from, low, short)?;
            let fields = Fields {
                ra: register,
                rc: register,
                literal: true,
                imm: 32,
                rb: ZERO,
                qualifiers: None,
            };
            self.words.push(encode(Op::sll, &fields)?);
        }
        self.part(Op::ldah, register, &mut from, high, short)?;
        let short = short && from == register;
        self.part(Op::lda, register, &mut from, low, short)
    }

    /// Adds a part of a constant to what `from` holds, unless the part is zero and may be left out.
    fn part(
        &mut self,
        op: Op,
        register: u8,
        from: &mut u8,
        disp: i16,
        short: bool,
    ) -> Result<(), EncodeError> {
        if disp != 0 || !short {
            let fields = Fields { ra: register, rb: *from, imm: disp.into(), ..Fields::default() };
            self.words.push(encode(op, &fields)?);
            *from = register;
        }
        Ok(())
    }
}

/// What LDAH adds, what LDA adds, and what is left: a multiple of 2^32.
fn parts(value: i64) -> (i16, i16, i64) {
    let low = value as i16;
    let without_low = value.wrapping_sub(low.into());
    let high = (without_low >> 16) as i16;
    (high, low, without_low.wrapping_sub(i64::from(high) << 16))
}

/// LDQ_U $31,0($30).
const UNOP: u32 = 0x2ffe_0000;

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    /// What a run of LDA, LDAH and SLL on one register makes.
    fn value(words: &[u32]) -> u64 {
        let mut r = 0u64;
        for &word in words {
            let insn = crate::decode(word).unwrap();
            assert!(insn.ra == 1 || insn.rc == 1);
            let base = if insn.rb == 31 { 0 } else { r };
            r = match insn.op {
                Op::lda => base.wrapping_add(insn.imm as u64),
                Op::ldah => base.wrapping_add((i64::from(insn.imm) << 16) as u64),
                Op::sll => r << insn.imm,
                op => panic!("{op:?}"),
            };
        }
        r
    }

    #[test]
    fn constants_are_exact_and_short() {
        for (constant, size) in [
            (0i64, 1),
            (1, 1),
            (-1, 1),
            (0x7fff, 1),
            (0x8000, 2),
            (-0x8000, 1),
            (0x10000, 1),
            (0x7fff_7fff, 2),
            (0x7fff_8000, 4),
            (0x7fff_ffff, 4),
            (0x8000_0000, 3),
            (-0x8000_0000, 1),
            (0xffff_ffff, 3),
            (0x1_2000_0000, 3),
            (0x0123_4567_89ab_cdef, 5),
            (i64::MIN, 2),
            (i64::MAX, 4),
        ] {
            let words = assemble(&alloc::format!("li $1, {constant}"), 0).unwrap();
            assert_eq!(value(&words), constant as u64, "{constant:#x}");
            assert!(words.len() <= size, "{constant:#x} took {}", words.len());
        }
    }

    #[test]
    fn labels_resolve_both_ways() {
        let text = "
            start:  br   end        ; forward
            data:   .quad start, -1
                    .align 4
            again:  addq a0, #1, a0 # a literal and a comment
                    beq  a0, again
                    li   t0, data
            end:    .long 7
        ";
        let words = assemble(text, 0x2_0000).unwrap();
        let end = words.len() as u32 - 1;
        assert_eq!(words[0], 0xc3e0_0000 | (end - 1));
        assert_eq!(words[1..5], [0x2_0000, 0, u32::MAX, u32::MAX]);
        assert_eq!(words[5..8], [UNOP; 3]);
        assert_eq!(words[8..10], [0x4200_3410, 0xe61f_fffe]);
        assert_eq!(value(&words[10..15]), 0x2_0004);
        assert_eq!(words[15..], [7]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, said) in [
            ("nop\nx:\nx:", "line 3, column 3: label defined twice"),
            ("nop\n bne r1, y", "line 2, column 10: undefined label"),
            (".space -1", "line 1, column 8: number out of range"),
            (".align 99", "line 1, column 8: number out of range"),
            ("\n\nfrob r1", "line 3, column 1: no such instruction"),
        ] {
            assert_eq!(assemble(text, 0).unwrap_err().to_string(), said, "{text}");
        }
    }
}
