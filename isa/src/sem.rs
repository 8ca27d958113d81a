//! What the instructions mean, said once.
//!
//! Every row of the [table](crate::table) has a body of the same name in a module below. Bodies are
//! generic over [`Sem`]: one implementation computes (the interpreter), another emits Cranelift IR
//! (the translator). A body reads its operands, computes, and leaves the result to the form it
//! belongs to ([`exec`](crate::exec())), which writes it: nothing of the guest changes before a body
//! can no longer stop.

pub mod branch;
pub mod byte;
pub mod fp;
pub mod int;
pub mod mem;
pub mod mvi;
pub mod pal;
pub mod vax;

use crate::Insn;

/// Size of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Width {
    /// One byte.
    Byte = 1,
    /// Two bytes.
    Word = 2,
    /// Four bytes.
    Long = 4,
    /// Eight bytes.
    Quad = 8,
}

impl Width {
    /// Size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self as u64
    }
}

/// IEEE formats in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FpFormat {
    /// S_floating: single precision, held in T format.
    S,
    /// T_floating: double precision.
    T,
}

/// Rounding mode of a floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Normal: to nearest, ties to even.
    Nearest,
    /// `/C`: chopped, toward zero.
    Chopped,
    /// `/M`: toward minus infinity.
    MinusInfinity,
    /// `/D`: as FPCR.DYN says.
    Dynamic,
}

/// The qualifiers of a floating-point instruction: rounding mode and trap mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    /// Rounding mode.
    pub rounding: Rounding,
    /// `/U` (underflow enable) or `/V` (integer overflow enable).
    pub underflow: bool,
    /// `/S`: software completion.
    pub software: bool,
    /// `/I`: inexact enable.
    pub inexact: bool,
}

/// Operations of [`Sem::fp_arith`] and [`Sem::vax_arith`]: two operands (square root takes the second).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FpOp {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a × b.
    Mul,
    /// a ÷ b.
    Div,
    /// √b.
    Sqrt,
}

/// Relations of [`Sem::fp_compare`] and, but for [`FpRelation::Un`], [`Sem::vax_compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FpRelation {
    /// Equal.
    Eq,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Unordered.
    Un,
}

/// Conversions of [`Sem::fp_convert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FpConversion {
    /// T to S.
    TtoS,
    /// S to T.
    StoT,
    /// T to quadword integer.
    TtoQ,
    /// Quadword integer to S.
    QtoS,
    /// Quadword integer to T.
    QtoT,
    /// Quadword integer to longword, with an overflow trap (CVTQL/V; [`Qualifiers::underflow`]).
    QtoL,
}

/// VAX formats of arithmetic, in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VaxFormat {
    /// F_floating: single precision, held in G format.
    F,
    /// G_floating: double precision.
    G,
}

/// Conversions of [`Sem::vax_convert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VaxConversion {
    /// D to G.
    DtoG,
    /// G to D.
    GtoD,
    /// G to F.
    GtoF,
    /// G to quadword integer.
    GtoQ,
    /// Quadword integer to F.
    QtoF,
    /// Quadword integer to G.
    QtoG,
}

/// Memory barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// MB: all memory accesses.
    Memory,
    /// WMB: stores.
    Write,
    /// TRAPB: arithmetic traps of earlier instructions have been taken.
    Trap,
    /// EXCB: exceptions and FPCR accesses of earlier instructions are done.
    Exception,
}

/// Arithmetic traps, as the exception summary register names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithTrap {
    /// INV: invalid operation.
    InvalidOperation,
    /// DZE: division by zero.
    DivisionByZero,
    /// OVF: overflow.
    Overflow,
    /// UNF: underflow.
    Underflow,
    /// INE: inexact result.
    Inexact,
    /// IOV: integer overflow.
    IntegerOverflow,
}

impl ArithTrap {
    /// The bit in the exception summary register (bit 0 is SWC).
    #[must_use]
    pub const fn summary(self) -> u64 {
        match self {
            ArithTrap::InvalidOperation => 1 << 1,
            ArithTrap::DivisionByZero => 1 << 2,
            ArithTrap::Overflow => 1 << 3,
            ArithTrap::Underflow => 1 << 4,
            ArithTrap::Inexact => 1 << 5,
            ArithTrap::IntegerOverflow => 1 << 6,
        }
    }
}

/// The primitives that bodies are written in.
///
/// Shift counts are taken modulo 64. A method that returns `Result` may stop the instruction: with
/// an exit in the interpreter, with a side exit that re-executes the instruction in the translator.
pub trait Sem {
    /// A 64-bit integer.
    type I: Copy;
    /// A 64-bit image of a floating-point register.
    type F: Copy;
    /// A truth value.
    type B: Copy;
    /// Why the instruction can't go on.
    type Stop;

    /// Integer register `r`; `$31` is zero.
    fn int(&mut self, r: u8) -> Self::I;
    /// Writes integer register `r`; `$31` swallows it.
    fn set_int(&mut self, r: u8, value: Self::I);
    /// Floating-point register `r`; `$f31` is zero.
    fn fp(&mut self, r: u8) -> Self::F;
    /// Writes floating-point register `r`; `$f31` swallows it.
    fn set_fp(&mut self, r: u8, value: Self::F);

    /// Operand b of an operate instruction: a register or the literal.
    #[inline(always)]
    fn operand_b(&mut self, insn: &Insn) -> Self::I {
        if insn.literal { self.imm(insn.imm as u64) } else { self.int(insn.rb) }
    }

    /// Rounding and trap mode of a floating-point instruction.
    #[inline(always)]
    fn qualifiers(&mut self, insn: &Insn) -> Qualifiers {
        insn.qualifiers()
    }

    /// A constant.
    fn imm(&mut self, value: u64) -> Self::I;
    /// a + b.
    fn add(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a - b.
    fn sub(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a × b, low 64 bits.
    fn mul(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Unsigned a × b, high 64 bits.
    fn umulh(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Signed a × b, high 64 bits.
    fn smulh(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a & b.
    fn and(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a | b.
    fn or(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a ^ b.
    fn xor(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a & !b.
    fn and_not(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a | !b.
    fn or_not(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a ^ !b.
    fn xor_not(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a << (b mod 64).
    fn shl(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a >> (b mod 64), zeros in.
    fn shr(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// a >> (b mod 64), sign in.
    fn sar(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// The low byte, word or longword, sign-extended; a quadword as it is.
    fn sext(&mut self, a: Self::I, width: Width) -> Self::I;
    /// The low byte, word or longword, zero-extended; a quadword as it is.
    fn zext(&mut self, a: Self::I, width: Width) -> Self::I;
    /// Leading zeros, 64 for 0.
    fn clz(&mut self, a: Self::I) -> Self::I;
    /// Trailing zeros, 64 for 0.
    fn ctz(&mut self, a: Self::I) -> Self::I;
    /// Number of ones.
    fn popcnt(&mut self, a: Self::I) -> Self::I;
    /// Bit i of the result: unsigned byte i of a ≥ unsigned byte i of b.
    fn cmp_bytes_ge(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// A byte of ones for each one among the low eight bits of a.
    fn byte_mask(&mut self, a: Self::I) -> Self::I;

    /// a = b.
    fn eq(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// a ≠ b.
    fn ne(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// Signed a < b.
    fn slt(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// Signed a ≤ b.
    fn sle(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// Unsigned a < b.
    fn ult(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// Unsigned a ≤ b.
    fn ule(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// 1 or 0.
    fn truth(&mut self, a: Self::B) -> Self::I;
    /// a if c, else b.
    fn select(&mut self, c: Self::B, a: Self::I, b: Self::I) -> Self::I;
    /// a if c, else b.
    fn fselect(&mut self, c: Self::B, a: Self::F, b: Self::F) -> Self::F;

    /// The bits of a register image.
    fn bits(&mut self, a: Self::F) -> Self::I;
    /// The register image with these bits.
    // Not a constructor: it makes a value of `self`'s.
    #[allow(clippy::wrong_self_convention)]
    fn from_bits(&mut self, a: Self::I) -> Self::F;
    /// S_floating in memory (the low 32 bits) to its register image (LDS, ITOFS).
    fn s_to_register(&mut self, a: Self::I) -> Self::F;
    /// A register image to S_floating in memory, zero-extended (STS, FTOIS).
    fn register_to_s(&mut self, a: Self::F) -> Self::I;

    /// `b` with the sign of `a`, or with the other one.
    fn copy_sign(&mut self, a: Self::F, b: Self::F, negate: bool) -> Self::F {
        fp::combine(self, a, b, fp::SIGN, negate)
    }

    /// IEEE arithmetic; [`FpOp::Sqrt`] takes `b`.
    fn fp_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: Self::F,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// IEEE compare: 2.0 if it holds, else 0.0.
    fn fp_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: Self::F,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// IEEE conversions.
    fn fp_convert(
        &mut self,
        conversion: FpConversion,
        q: Qualifiers,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// VAX arithmetic; [`FpOp::Sqrt`] takes `b`.
    fn vax_arith(
        &mut self,
        op: FpOp,
        format: VaxFormat,
        q: Qualifiers,
        a: Self::F,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// VAX compare: 0.5 if it holds, else zero.
    fn vax_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: Self::F,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// VAX conversions.
    fn vax_convert(
        &mut self,
        conversion: VaxConversion,
        q: Qualifiers,
        b: Self::F,
    ) -> Result<Self::F, Self::Stop>;
    /// The floating-point control register.
    fn fpcr(&mut self) -> Result<Self::I, Self::Stop>;
    /// Writes the floating-point control register.
    fn set_fpcr(&mut self, value: Self::I) -> Result<(), Self::Stop>;

    /// Loads, zero-extended. An address that isn't a multiple of the width stops.
    fn load(&mut self, addr: Self::I, width: Width) -> Result<Self::I, Self::Stop>;
    /// Stores the low bytes of `value`. An address that isn't a multiple of the width stops.
    fn store(&mut self, addr: Self::I, width: Width, value: Self::I) -> Result<(), Self::Stop>;
    /// Loads and takes the reservation.
    fn load_locked(&mut self, addr: Self::I, width: Width) -> Result<Self::I, Self::Stop>;
    /// Stores if the reservation holds; 1 if it was stored, else 0. The reservation is gone.
    fn store_conditional(
        &mut self,
        addr: Self::I,
        width: Width,
        value: Self::I,
    ) -> Result<Self::I, Self::Stop>;
    /// Orders memory accesses or traps.
    fn barrier(&mut self, barrier: Barrier) -> Result<(), Self::Stop>;

    /// The processor cycle counter.
    fn cycle_counter(&mut self) -> Result<Self::I, Self::Stop>;
    /// The interrupt flag of RC and RS; becomes `new`.
    fn interrupt_flag(&mut self, new: bool) -> Result<Self::I, Self::Stop>;
    /// What AMASK answers for a set of features: those that the CPU lacks.
    fn amask(&mut self, features: Self::I) -> Self::I;
    /// The major implementation (IMPLVER).
    fn implver(&mut self) -> Self::I;

    /// The thread pointer.
    fn unique(&mut self) -> Self::I;
    /// Sets the thread pointer.
    fn set_unique(&mut self, value: Self::I);
    /// Drops the reservation.
    fn clear_reservation(&mut self);

    /// Address of the instruction after this one.
    fn next_pc(&mut self) -> Self::I;
    /// Stops with an arithmetic trap if `c`. Called before the result is written; the trap is taken
    /// after it was: `result` is the register and the value that is written all the same.
    fn trap_if(
        &mut self,
        c: Self::B,
        trap: ArithTrap,
        result: (u8, Self::I),
    ) -> Result<(), Self::Stop>;
    /// CALL_PAL: retires and leaves for whoever plays PALcode.
    fn call_pal(&mut self, function: u32) -> Self::Stop;
    /// A PALcode function that is done here unless whoever plays PALcode wants every one. Code where
    /// that is so isn't translated.
    ///
    /// # Errors
    /// It is left to them, as by [`Sem::call_pal`].
    fn own_pal_call(&mut self, _function: u32) -> Result<(), Self::Stop> {
        Ok(())
    }
    /// The instruction isn't one, or not one that a user may execute.
    fn illegal(&mut self) -> Self::Stop;
}
