//! Steps: instructions ready to be executed.

use axperf_isa::sem::{Qualifiers, Rounding};
use axperf_isa::{Insn, Op, Regs, Shape, Use, row, word};

use crate::machine::block::Block;
use crate::machine::bus;
use crate::machine::pairs;
use crate::machine::reach::{Flat, Identity, Reach, Through};
use crate::machine::threaded::{end, single, skip, slow};

/// What a step is executed by; what it returns is the fuel that is left.
pub(crate) type Code = unsafe fn(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64;

/// The step that is executed,
pub(crate) type At = *const Step;
/// the words of the registers,
pub(crate) type Words = *mut u64;
/// what the steps of a run share (a `Running`),
pub(crate) type Run = *mut ();
/// and the block that the step is in.
pub(crate) type In = *const Block;

/// An instruction, ready to be executed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Step {
    pub code: Code,
    /// The words of a `Regs` that its fields ra, rb, rc read or write.
    words: [u8; 3],
    /// Literal or displacement; of floating-point operations the qualifiers, [packed](pack).
    pub imm: i32,
}

impl Step {
    /// The steps of a block's instructions, with the one after them.
    pub fn all(insns: &[Insn], shape: bus::Shape) -> Box<[Step]> {
        match shape {
            bus::Shape::Flat { .. } => Step::of::<Flat>(insns),
            bus::Shape::Identity => Step::of::<Identity>(insns),
            bus::Shape::Tlb => Step::of::<Through>(insns),
        }
    }

    fn of<M: Reach>(insns: &[Insn]) -> Box<[Step]> {
        let mut steps = Vec::with_capacity(insns.len() + 1);
        steps.extend(insns.iter().map(|insn| {
            let code = if insn.is_idle() { skip } else { code_of::<M>(insn.op) };
            Step::new(insn, code)
        }));
        steps.push(Step { code: end, words: [0; 3], imm: 0 });
        pairs::join::<M>(insns, &mut steps);
        steps.into_boxed_slice()
    }

    fn new(insn: &Insn, code: Code) -> Step {
        let shape = insn.desc().shape;
        let fields = [insn.ra, insn.rb, insn.rc];
        let uses = shape.uses();
        let mut words = [0; 3];
        for k in 0..3 {
            words[k] = match uses[k] {
                Use::Int => Regs::int_source(fields[k]),
                Use::IntOut | Use::IntInOut => Regs::int_sink(fields[k]),
                Use::Fp => Regs::fp_source(fields[k]),
                Use::FpOut | Use::FpInOut => Regs::fp_sink(fields[k]),
                Use::None => word::SINK as u8,
            };
        }
        let imm = match shape {
            Shape::Fp1 | Shape::Fp2 => pack(insn.qualifiers()),
            _ => insn.imm,
        };
        Step { code, words, imm }
    }

    /// The words that its fields ra, rb, rc read or write: less than 128.
    #[inline(always)]
    pub fn words(&self) -> [u8; 3] {
        self.words
    }

    /// Its code becomes that of this step and the next one together.
    pub fn join(&mut self, code: Code) {
        self.code = code;
    }
}

macro_rules! code_of_shape {
    // What accesses memory is made for each way to reach it.
    (Load, $id:ident) => {
        single::<M, row::$id>
    };
    (Store, $id:ident) => {
        single::<M, row::$id>
    };
    (FLoad, $id:ident) => {
        single::<M, row::$id>
    };
    (FStore, $id:ident) => {
        single::<M, row::$id>
    };
    // What stops or is rare.
    (LoadL, $id:ident) => {
        slow
    };
    (StoreC, $id:ident) => {
        slow
    };
    (MfFpcr, $id:ident) => {
        slow
    };
    (MtFpcr, $id:ident) => {
        slow
    };
    (ReadMisc, $id:ident) => {
        slow
    };
    (Effect, $id:ident) => {
        slow
    };
    (Pal, $id:ident) => {
        slow
    };
    (Stop, $id:ident) => {
        slow
    };
    ($shape:ident, $id:ident) => {
        single::<Through, row::$id>
    };
}

macro_rules! define_codes {
    ($($(#[doc = $doc:literal])* $id:ident = $form:ident($($arg:literal),*) $shape:ident $module:ident { $ext:ident $(, $flag:ident)* };)*) => {
        /// The code of an instruction, where memory is reached like this.
        fn code_of<M: Reach>(op: Op) -> Code {
            match op {
                $(Op::$id => code_of_shape!($shape, $id),)*
            }
        }
    };
}
axperf_isa::for_each_insn!(define_codes);

/// Qualifiers as a step holds them.
fn pack(q: Qualifiers) -> i32 {
    let rounding = match q.rounding {
        Rounding::Nearest => 0,
        Rounding::Chopped => 1,
        Rounding::MinusInfinity => 2,
        Rounding::Dynamic => 3,
    };
    rounding | i32::from(q.underflow) << 2 | i32::from(q.software) << 3 | i32::from(q.inexact) << 4
}

/// The other way.
#[inline(always)]
pub(crate) fn unpack(imm: i32) -> Qualifiers {
    Qualifiers {
        rounding: match imm & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Chopped,
            2 => Rounding::MinusInfinity,
            _ => Rounding::Dynamic,
        },
        underflow: imm >> 2 & 1 != 0,
        software: imm >> 3 & 1 != 0,
        inexact: imm >> 4 & 1 != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word of the opcodes that have qualifiers.
    #[test]
    fn qualifiers_are_packed() {
        let mut seen = 0;
        for opcode in [0x14, 0x15, 0x16] {
            for function in 0..1 << 11 {
                if let Some(insn) = axperf_isa::decode(opcode << 26 | function << 5) {
                    assert_eq!(unpack(pack(insn.qualifiers())), insn.qualifiers());
                    seen += 1;
                }
            }
        }
        assert!(seen > 200, "{seen}");
    }
}
