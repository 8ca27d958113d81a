//! From a decoded instruction to its body: one adapter per shape of body.
//!
//! The shape of a row says what its body takes and gives; the adapter here reads the operands,
//! calls the body, and writes the result last, so that an instruction that stops has changed
//! nothing.
//!
//! Every row is a type, too ([`row`]): who has code of his own for each instruction instantiates it
//! from [`Row::exec`].

use crate::format::ZERO;
use crate::sem::{self, Sem};
use crate::{Insn, Op, Shape};

/// Where the guest goes after an instruction.
#[derive(Debug)]
pub enum Flow<S: Sem> {
    /// To the next one.
    Next,
    /// To the target if the condition holds, else to the next one.
    Branch {
        /// The condition.
        taken: S::B,
        /// Address of the target.
        target: u64,
    },
    /// To a fixed target.
    Goto(u64),
    /// To a computed target, its low two bits cleared already.
    Jump(S::I),
}

/// Effective address of a memory instruction.
#[inline(always)]
fn address<S: Sem>(s: &mut S, i: &Insn) -> S::I {
    let base = s.int(i.rb);
    let disp = s.imm(i.imm as i64 as u64);
    s.add(base, disp)
}

#[inline(always)]
fn target(i: &Insn, pc: u64) -> u64 {
    pc.wrapping_add(4).wrapping_add(((i.imm as i64) << 2) as u64)
}

macro_rules! body_of_shape {
    // rc ← body(a, b)
    (Int, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.int($i.ra);
        let b = $s.operand_b($i);
        let r = $body($s, a, b);
        $s.set_int($i.rc, r);
        Ok(Flow::Next)
    }};
    // rc ← value; integer overflow traps when the second is true
    (IntV, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.int($i.ra);
        let b = $s.operand_b($i);
        let (r, overflow) = $body($s, a, b);
        $s.trap_if(overflow, sem::ArithTrap::IntegerOverflow, ($i.rc, r))?;
        $s.set_int($i.rc, r);
        Ok(Flow::Next)
    }};
    // rc ← b if body(a)
    (Cmov, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.int($i.ra);
        let b = $s.operand_b($i);
        let old = $s.int($i.rc);
        let c = $body($s, a);
        let r = $s.select(c, b, old);
        $s.set_int($i.rc, r);
        Ok(Flow::Next)
    }};
    // ra ← body(base, displacement)
    (Lda, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let base = $s.int($i.rb);
        let r = $body($s, base, $i.imm as i64);
        $s.set_int($i.ra, r);
        Ok(Flow::Next)
    }};
    // ra ← body(address)?; to $31 it is a prefetch, or UNOP, and nothing
    (Load, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        if $i.ra != ZERO {
            let addr = address($s, $i);
            let r = $body($s, addr)?;
            $s.set_int($i.ra, r);
        }
        Ok(Flow::Next)
    }};
    // ra ← body(address)?
    (LoadL, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let addr = address($s, $i);
        let r = $body($s, addr)?;
        $s.set_int($i.ra, r);
        Ok(Flow::Next)
    }};
    // body(address, ra)?
    (Store, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let addr = address($s, $i);
        let v = $s.int($i.ra);
        $body($s, addr, v)?;
        Ok(Flow::Next)
    }};
    // ra ← body(address, ra)?
    (StoreC, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let addr = address($s, $i);
        let v = $s.int($i.ra);
        let r = $body($s, addr, v)?;
        $s.set_int($i.ra, r);
        Ok(Flow::Next)
    }};
    // fa ← body(address)?; to $f31 it is a prefetch, and nothing
    (FLoad, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        if $i.ra != ZERO {
            let addr = address($s, $i);
            let r = $body($s, addr)?;
            $s.set_fp($i.ra, r);
        }
        Ok(Flow::Next)
    }};
    // body(address, fa)?
    (FStore, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let addr = address($s, $i);
        let v = $s.fp($i.ra);
        $body($s, addr, v)?;
        Ok(Flow::Next)
    }};
    // to the target if body(ra)
    (Branch, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.int($i.ra);
        let taken = $body($s, a);
        Ok(Flow::Branch { taken, target: target($i, $pc) })
    }};
    // to the target if body(fa)
    (FBranch, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.fp($i.ra);
        let taken = $body($s, a);
        Ok(Flow::Branch { taken, target: target($i, $pc) })
    }};
    // ra ← next pc; to the target. The body gives the link.
    (Br, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let link = $body($s);
        $s.set_int($i.ra, link);
        Ok(Flow::Goto(target($i, $pc)))
    }};
    // ra ← next pc; to rb without its low bits. The body gives the target.
    (Jump, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let b = $s.int($i.rb);
        let to = $body($s, b);
        let link = $s.next_pc();
        $s.set_int($i.ra, link);
        Ok(Flow::Jump(to))
    }};
    // fc ← body(qualifiers, fa, fb)?
    (Fp2, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.fp($i.ra);
        let b = $s.fp($i.rb);
        let q = $s.qualifiers($i);
        let r = $body($s, q, a, b)?;
        $s.set_fp($i.rc, r);
        Ok(Flow::Next)
    }};
    // fc ← body(qualifiers, fb)?
    (Fp1, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let b = $s.fp($i.rb);
        let q = $s.qualifiers($i);
        let r = $body($s, q, b)?;
        $s.set_fp($i.rc, r);
        Ok(Flow::Next)
    }};
    // fc ← fb if body(fa)
    (FCmov, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.fp($i.ra);
        let b = $s.fp($i.rb);
        let old = $s.fp($i.rc);
        let c = $body($s, a);
        let r = $s.fselect(c, b, old);
        $s.set_fp($i.rc, r);
        Ok(Flow::Next)
    }};
    // rc ← body(fa)
    (FToI, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.fp($i.ra);
        let r = $body($s, a);
        $s.set_int($i.rc, r);
        Ok(Flow::Next)
    }};
    // fc ← body(ra)
    (IToF, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.int($i.ra);
        let r = $body($s, a);
        $s.set_fp($i.rc, r);
        Ok(Flow::Next)
    }};
    // fa ← body()?
    (MfFpcr, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let r = $body($s)?;
        $s.set_fp($i.ra, r);
        Ok(Flow::Next)
    }};
    // body(fa)?
    (MtFpcr, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let a = $s.fp($i.ra);
        $body($s, a)?;
        Ok(Flow::Next)
    }};
    // ra ← body()?
    (ReadMisc, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        let r = $body($s)?;
        $s.set_int($i.ra, r);
        Ok(Flow::Next)
    }};
    // body()?: barriers and hints
    (Effect, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        $body($s)?;
        Ok(Flow::Next)
    }};
    // body()?, which reads and writes registers itself: CALL_PAL
    (Pal, $body:path, $s:ident, $i:ident, $pc:ident) => {{
        $body($s, $i)?;
        Ok(Flow::Next)
    }};
    // never goes on: CALL_PAL, PALcode's own opcodes, what isn't executed yet
    (Stop, $body:path, $s:ident, $i:ident, $pc:ident) => {{ Err($body($s, $i)) }};
}

/// A row of the [table](crate::table), as a type.
pub trait Row {
    /// Which instruction.
    const OP: Op;
    /// What its body takes and gives.
    const SHAPE: Shape;

    /// As [`exec()`](crate::exec()), for an instruction that is of this row.
    ///
    /// # Errors
    /// The body's stop: the instruction has changed nothing.
    fn exec<S: Sem>(s: &mut S, i: &Insn, pc: u64) -> Result<Flow<S>, S::Stop>;
}

macro_rules! define_exec {
    ($($(#[doc = $doc:literal])* $id:ident = $form:ident($($arg:literal),*) $shape:ident $module:ident { $ext:ident $(, $flag:ident)* };)*) => {
        /// A type for each row, of the row's name.
        // The names are the manual's, in lower case, as those of `Op` are.
        #[allow(non_camel_case_types)]
        pub mod row {
            use super::{Flow, Insn, Op, Row, Sem, Shape, ZERO, sem, address, target};
            $(
                $(#[doc = $doc])*
                #[derive(Clone, Copy, Debug)]
                pub struct $id;

                impl Row for $id {
                    const OP: Op = Op::$id;
                    const SHAPE: Shape = Shape::$shape;

                    #[inline(always)]
                    #[allow(unused_variables)]
                    fn exec<S: Sem>(s: &mut S, i: &Insn, pc: u64) -> Result<Flow<S>, S::Stop> {
                        body_of_shape!($shape, sem::$module::$id, s, i, pc)
                    }
                }
            )*
        }

        /// Executes (or translates) one instruction at `pc` through the semantics `s`.
        ///
        /// # Errors
        /// The body's stop: the instruction has changed nothing.
        #[inline(always)]
        pub fn exec<S: Sem>(s: &mut S, i: &Insn, pc: u64) -> Result<Flow<S>, S::Stop> {
            match i.op {
                $(Op::$id => row::$id::exec(s, i, pc),)*
            }
        }
    };
}
crate::for_each_insn!(define_exec);
