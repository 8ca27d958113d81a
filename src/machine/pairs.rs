//! Pairs of instructions that one step's code executes.
//!
//! What costs most of an ordinary instruction is getting to its code, and reading back from memory
//! what the one before it wrote there. So instructions that often stand one after the other share
//! code, in which the second takes the first one's result from a host register. The second keeps its
//! own code beside, for whoever comes to it alone.

use axperf_isa::{Insn, Op, Row, Shape, Use, row};

use crate::machine::reach::{Reach, Through};
use crate::machine::step::{Code, Step};
use crate::machine::threaded::pair;

/// A row an instruction: those that stand after it, and are executed with it.
///
/// Counted in what the programs of `tests/programs` and `examples/guest` execute: these are three of
/// four pairs there.
macro_rules! for_each_first {
    ($m:ident) => {
        $m! {
            lda: lda ldq ldq_u ldl ldbu stq stb and bis addq addl cmpeq cmpule cmpult beq bne br ret;
            ldah: lda ldq;
            ldq: ldq lda stq bis addq subq cmpeq cmpult cmpule beq bne;
            ldl: ldl lda addq addl and cmpeq zapnot;
            ldq_u: ldq_u lda extbl extqh extql mskbl mskqh cmpule;
            ldbu: ldbu lda addl s8subq;
            ldwu: ldwu lda cmpeq;
            ldt: ldt lda;
            stq: stq ldq ldq_u lda bis addq beq bne br;
            stl: stl lda bne;
            stb: lda cmpeq;
            stq_u: bis addq subq stq beq;
            addq: addq subq bis and lda ldq stq srl cmpult cmpule beq bne jmp;
            addl: lda addl cmpeq beq bne;
            subq: subq srl stq_u bis umulh cmovne cmovlbs bgt bne;
            subl: and xor ret;
            s4addq: ldl;
            s8addq: ldq;
            s8subq: lda;
            mull: addl;
            mulq: addq srl;
            umulh: ldq;
            and: and bis ldq_u sll srl cmpeq cmpule beq bne;
            bis: bis addq addl subq and lda ldq stq stq_u cmplt cmpult insqh beq bne bsr jsr;
            xor: zapnot mulq;
            sll: and addq;
            srl: addq subl xor beq bge;
            cmpeq: cmpeq and bis lda stq cmpult sextw beq bne;
            cmplt: addq beq bne;
            cmple: beq bne;
            cmpult: cmpult and addq cmovne beq bne;
            cmpule: subq addq bis lda beq bne;
            cmovne: bis cmpult bne;
            cmoveq: bis;
            cmovlbs: subq;
            zapnot: cmovne cmpule;
            sextw: sextw mull;
            extbl: extbl and addl addq beq;
            extql: cmoveq mskqh;
            extqh: sra extql;
            insql: bis;
            insqh: bis mskql;
            mskbl: bis;
            mskql: insql;
            mskqh: ldq_u insqh;
        }
    };
}

/// Codes of a pair: for a second that takes nothing from the first, operand a, operand b.
type Codes = [Code; 3];

/// The seconds of one first.
type Seconds = &'static [(Op, Codes)];

macro_rules! define_seconds {
    ($($first:ident: $($second:ident)*;)*) => {
        /// The pairs that begin with an instruction, where memory is reached like this.
        fn seconds<M: Reach>(first: Op) -> Seconds {
            match first {
                $(Op::$first => const { &[$((Op::$second, codes::<M, row::$first, row::$second>())),*] },)*
                _ => &[],
            }
        }
    };
}
for_each_first!(define_seconds);

const fn codes<M: Reach, R1: Row, R2: Row>() -> Codes {
    if reaches_memory(R1::SHAPE) || reaches_memory(R2::SHAPE) {
        codes_for::<M, R1, R2>()
    } else {
        // The same code for all.
        codes_for::<Through, R1, R2>()
    }
}

const fn codes_for<M: Reach, R1: Row, R2: Row>() -> Codes {
    let plain: Code = pair::<M, R1, R2, 0>;
    let mut codes = [plain; 3];
    if written(R1::SHAPE.uses()).is_some() {
        let [a, b, _] = R2::SHAPE.uses();
        if a.reads() {
            codes[1] = pair::<M, R1, R2, 1>;
        }
        if b.reads() {
            codes[2] = pair::<M, R1, R2, 2>;
        }
    }
    codes
}

const fn reaches_memory(shape: Shape) -> bool {
    matches!(shape, Shape::Load | Shape::Store | Shape::FLoad | Shape::FStore)
}

/// The field that names the register which is written.
const fn written(uses: [Use; 3]) -> Option<usize> {
    let mut k = 0;
    while k < uses.len() {
        if uses[k].writes() {
            return Some(k);
        }
        k += 1;
    }
    None
}

/// What the second one of two steps reads that the first one writes: nothing (0), operand a, b.
fn forwarded(insns: &[Insn; 2], steps: &[Step; 2]) -> usize {
    let Some(k) = written(insns[0].desc().shape.uses()) else { return 0 };
    let written = steps[0].words()[k];
    let uses = insns[1].desc().shape.uses();
    let reads = |k: usize| uses[k].reads() && steps[1].words()[k] == written;
    if reads(0) {
        1
    } else if reads(1) {
        2
    } else {
        0
    }
}

/// Costs of what is executed, in quarters of a step.
const ALONE: u32 = 4;
const PAIR: u32 = 5;
const PAIR_THAT_FORWARDS: u32 = 4;

/// Joins steps of a block's instructions to pairs, so that as little as possible is left of them.
pub(crate) fn join<M: Reach>(insns: &[Insn], steps: &mut [Step]) {
    // From the end on: what it costs to execute from here on, and from the next one on.
    let (mut here, mut next) = (ALONE, 0);
    for i in (0..insns.len().saturating_sub(1)).rev() {
        let mut best = here + ALONE;
        if let (Some(insns), Some(pair)) = (insns[i..].first_chunk(), steps[i..].first_chunk())
            && let Some(codes) = codes_of::<M>(insns)
        {
            let forwarded = forwarded(insns, pair);
            let cost = next + if forwarded == 0 { PAIR } else { PAIR_THAT_FORWARDS };
            if cost < best {
                best = cost;
                steps[i].join(codes[forwarded]);
            }
        }
        (here, next) = (best, here);
    }
}

fn codes_of<M: Reach>(insns: &[Insn; 2]) -> Option<&'static Codes> {
    let [first, second] = insns;
    if first.is_idle() || second.is_idle() {
        return None;
    }
    seconds::<M>(first.op).iter().find(|(op, _)| *op == second.op).map(|(_, codes)| codes)
}
