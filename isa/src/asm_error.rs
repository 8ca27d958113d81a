//! What can be wrong with assembly language.

use core::fmt;

/// What is wrong with a line of assembly language, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a line of assembly language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No instruction, alias or directive has this name.
    Mnemonic,
    /// Something else was expected here.
    Expected(&'static str),
    /// More text where the line should end.
    Trailing,
    /// The number does not fit.
    Range,
    /// The instruction does not have these qualifiers.
    Qualifiers,
    /// A branch target that is no multiple of 4.
    Unaligned,
    /// No label has this name.
    Undefined,
    /// The label is there already.
    Duplicate,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        f.write_str(match self.problem {
            Problem::Mnemonic => "no such instruction",
            Problem::Expected(what) => return write!(f, "expected {what}"),
            Problem::Trailing => "unexpected text after the instruction",
            Problem::Range => "number out of range",
            Problem::Qualifiers => "the instruction does not have these qualifiers",
            Problem::Unaligned => "branch target is not a multiple of 4",
            Problem::Undefined => "undefined label",
            Problem::Duplicate => "label defined twice",
        })
    }
}

impl core::error::Error for AsmError {}
