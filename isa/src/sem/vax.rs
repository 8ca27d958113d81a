//! VAX floating point: decoded, not executed.

use super::Sem;
use crate::Insn;

/// Load F_floating.
pub fn ldf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Load G_floating.
pub fn ldg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Store F_floating.
pub fn stf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Store G_floating.
pub fn stg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Integer register to floating-point register, as F_floating in memory.
pub fn itoff<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Add F_floating.
pub fn addf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Subtract F_floating.
pub fn subf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Multiply F_floating.
pub fn mulf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Divide F_floating.
pub fn divf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Add G_floating.
pub fn addg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Subtract G_floating.
pub fn subg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Multiply G_floating.
pub fn mulg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Divide G_floating.
pub fn divg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Compare G_floating equal.
pub fn cmpgeq<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Compare G_floating less than.
pub fn cmpglt<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Compare G_floating less than or equal.
pub fn cmpgle<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert D_floating to G_floating.
pub fn cvtdg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert G_floating to F_floating.
pub fn cvtgf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert G_floating to D_floating.
pub fn cvtgd<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert G_floating to quadword.
pub fn cvtgq<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert quadword to F_floating.
pub fn cvtqf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Convert quadword to G_floating.
pub fn cvtqg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Square root of F_floating.
pub fn sqrtf<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}

/// Square root of G_floating.
pub fn sqrtg<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.unsupported()
}
