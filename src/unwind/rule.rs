//! How a frame's registers are found: a row of CFI, reduced to the registers that matter.

use gimli::{CfaRule, Register, RegisterRule, UnwindTableRow};

use crate::perf::UnwindRegs;

/// A register that unwinding follows, by its DWARF number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reg {
    R15 = 15,
    R16 = 16,
    R23 = 23,
    R26 = 26,
    Sp = 30,
    Pc = 64,
}

impl Reg {
    fn of(register: Register) -> Option<Reg> {
        [Reg::R15, Reg::R16, Reg::R23, Reg::R26, Reg::Sp, Reg::Pc]
            .into_iter()
            .find(|&r| r as u16 == register.0)
    }

    pub(super) fn get(self, regs: &UnwindRegs) -> Option<u64> {
        match self {
            Reg::R15 => regs.r15,
            Reg::R16 => regs.r16,
            Reg::R23 => regs.r23,
            Reg::R26 => regs.r26,
            Reg::Sp => Some(regs.sp),
            Reg::Pc => Some(regs.pc),
        }
    }
}

/// Where a register's value in the calling frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// In a register of this frame.
    Reg(Reg),
    /// In memory, so far from the CFA.
    At(i64),
    /// It is the CFA and so much.
    Cfa(i64),
    /// Nowhere.
    Undefined,
    /// Said in a way that Alpha's compilers don't use: an expression, another register.
    Unknown,
}

/// What CFI says about the frame of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Register and distance of the CFA; None for an expression.
    pub cfa: Option<(Reg, i64)>,
    /// The return address.
    pub ra: Rule,
    pub r15: Rule,
    pub r16: Rule,
    pub r23: Rule,
    pub r26: Rule,
    pub sp: Rule,
    /// The code that a signal handler returns to: the frame it interrupted was not at a call.
    pub signal: bool,
}

impl Row {
    /// By the calling standard: the return address in `$26`, no frame yet.
    pub(super) const LEAF: Row = Row {
        cfa: Some((Reg::Sp, 0)),
        ra: Rule::Reg(Reg::R26),
        r15: Rule::Reg(Reg::R15),
        r16: Rule::Undefined,
        r23: Rule::Undefined,
        r26: Rule::Reg(Reg::R26),
        sp: Rule::Cfa(0),
        signal: false,
    };

    /// From a row and the register that its CIE names for the return address.
    pub(super) fn of(row: &UnwindTableRow<usize>, ra: Register, signal: bool) -> Row {
        let cfa = match *row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                Reg::of(register).map(|r| (r, offset))
            }
            CfaRule::Expression(_) => None,
        };
        // What CFI is silent about is unchanged where the calling standard says that it is
        // preserved. `$26` is no such register, but code that returns by another one preserves it,
        // and where `$26` is the return address it is so in the calling frame.
        let rule = |register: Register, silent: Rule| match row.register(register) {
            None => silent,
            Some(RegisterRule::Undefined) => Rule::Undefined,
            Some(RegisterRule::SameValue) => Reg::of(register).map_or(Rule::Unknown, Rule::Reg),
            Some(RegisterRule::Offset(n)) => Rule::At(n),
            Some(RegisterRule::ValOffset(n)) => Rule::Cfa(n),
            Some(RegisterRule::Register(r)) => Reg::of(r).map_or(Rule::Unknown, Rule::Reg),
            Some(_) => Rule::Unknown,
        };
        let of = |reg: Reg, silent| rule(Register(reg as u16), silent);
        let live = match Reg::of(ra) {
            // Nothing returns by `$15`: it marks the program's start, which isn't called.
            Some(Reg::R15) => Rule::Undefined,
            // The pc is no register that could still hold the return address.
            Some(Reg::Pc) | None => Rule::Unknown,
            Some(reg) => Rule::Reg(reg),
        };
        Row {
            cfa,
            ra: rule(ra, live),
            r15: of(Reg::R15, Rule::Reg(Reg::R15)),
            r16: of(Reg::R16, Rule::Undefined),
            r23: of(Reg::R23, Rule::Undefined),
            r26: of(Reg::R26, Rule::Reg(Reg::R26)),
            sp: of(Reg::Sp, Rule::Cfa(0)),
            signal,
        }
    }
}
