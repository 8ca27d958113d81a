//! Branches and jumps.

use super::{Sem, fp, int};

/// A jump's target: the low two bits of the register don't count.
fn instruction_address<S: Sem>(s: &mut S, b: S::I) -> S::I {
    let low = s.imm(3);
    s.and_not(b, low)
}

/// Branch: Ra <- PC of the next instruction.
pub fn br<S: Sem>(s: &mut S) -> S::I {
    s.next_pc()
}

/// Branch if Fa is zero.
pub fn fbeq<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmoveq(s, a)
}

/// Branch if Fa is less than zero.
pub fn fblt<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmovlt(s, a)
}

/// Branch if Fa is less than or equal to zero.
pub fn fble<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmovle(s, a)
}

/// Branch to subroutine: Ra <- PC of the next instruction.
pub fn bsr<S: Sem>(s: &mut S) -> S::I {
    s.next_pc()
}

/// Branch if Fa is not zero.
pub fn fbne<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmovne(s, a)
}

/// Branch if Fa is greater than or equal to zero.
pub fn fbge<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmovge(s, a)
}

/// Branch if Fa is greater than zero.
pub fn fbgt<S: Sem>(s: &mut S, a: S::F) -> S::B {
    fp::fcmovgt(s, a)
}

/// Branch if the low bit of Ra is clear.
pub fn blbc<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovlbc(s, a)
}

/// Branch if Ra is zero.
pub fn beq<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmoveq(s, a)
}

/// Branch if Ra is less than zero.
pub fn blt<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovlt(s, a)
}

/// Branch if Ra is less than or equal to zero.
pub fn ble<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovle(s, a)
}

/// Branch if the low bit of Ra is set.
pub fn blbs<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovlbs(s, a)
}

/// Branch if Ra is not zero.
pub fn bne<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovne(s, a)
}

/// Branch if Ra is greater than or equal to zero.
pub fn bge<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovge(s, a)
}

/// Branch if Ra is greater than zero.
pub fn bgt<S: Sem>(s: &mut S, a: S::I) -> S::B {
    int::cmovgt(s, a)
}

/// Jump.
pub fn jmp<S: Sem>(s: &mut S, b: S::I) -> S::I {
    instruction_address(s, b)
}

/// Jump to subroutine.
pub fn jsr<S: Sem>(s: &mut S, b: S::I) -> S::I {
    instruction_address(s, b)
}

/// Return from subroutine.
pub fn ret<S: Sem>(s: &mut S, b: S::I) -> S::I {
    instruction_address(s, b)
}

/// Jump to subroutine return: a coroutine switch.
pub fn jsr_coroutine<S: Sem>(s: &mut S, b: S::I) -> S::I {
    instruction_address(s, b)
}
