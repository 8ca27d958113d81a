//! Which floating-point registers hold single precision all through a region, and so live in values
//! of that type.
//!
//! A register's image of an S_floating number is a double-precision number. To convert each result
//! to that and back for the next operation takes longer than the operation. What a program
//! computes in single precision it computes in registers that it uses for nothing else meanwhile;
//! such a register's value is the number itself, and its image is made where it is asked for.

use axperf_isa::{Insn, Op};

use crate::flow::{reads, writes};
use crate::region::{Edge, Region};

/// What an instruction takes a register for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A number in single precision.
    Single,
    /// Any that has an image.
    Any,
    /// Whatever the copy is taken for.
    Copy,
    /// A number in double precision, an integer, or bits.
    Other,
}

/// What an instruction takes its floating-point operands for.
fn use_of(op: Op) -> Use {
    match op {
        Op::adds | Op::subs | Op::muls | Op::divs | Op::sqrts => Use::Single,
        Op::sts | Op::ftois | Op::cvtst => Use::Single,
        Op::cpys | Op::cpysn => Use::Copy,
        Op::cmpteq | Op::cmptlt | Op::cmptle | Op::cmptun => Use::Any,
        Op::fbeq | Op::fbne | Op::fblt | Op::fble | Op::fbgt | Op::fbge => Use::Any,
        _ => Use::Other,
    }
}

/// Whether an instruction's result is a single-precision number, given the registers that are.
fn gives_single(insn: &Insn, singles: u32) -> bool {
    let is = |r: u8| r == 31 || singles >> r & 1 != 0;
    match insn.op {
        Op::lds | Op::itofs | Op::cvtqs | Op::cvtts => true,
        Op::adds | Op::subs | Op::muls | Op::divs | Op::sqrts => true,
        Op::cpys | Op::cpysn => is(insn.ra) && is(insn.rb),
        _ => false,
    }
}

/// The floating-point registers that hold single precision wherever their value is used, of those
/// that live in values. `needed` are those whose value at the entry is used.
pub(crate) fn singles(region: &Region, values: u64, needed: u64) -> u32 {
    let (single, other) = first_uses(region);
    // At the entry, a value in single precision is one that is used as such, and as nothing else
    // before it is written.
    let mut singles = (values >> 32) as u32 & (!((needed >> 32) as u32) | single & !other);
    loop {
        let before = singles;
        for insn in region.blocks.iter().flat_map(|b| &b.insns) {
            if insn.fp_writes() & singles != 0 && !gives_single(insn, singles) {
                singles &= !insn.fp_writes();
            }
        }
        if singles == before {
            return singles;
        }
    }
}

/// The registers that may be read at the entry, before they are written: as single precision, and as
/// something else.
fn first_uses(region: &Region) -> (u32, u32) {
    let n = region.blocks.len();
    let mut heads = vec![(0u32, 0u32); n];
    loop {
        let mut changed = false;
        for (b, block) in region.blocks.iter().enumerate().rev() {
            let (mut single, mut other) = (0, 0);
            for edge in &block.edges {
                if let Edge::Inside(t) = *edge {
                    single |= heads[t].0;
                    other |= heads[t].1;
                }
            }
            for insn in block.insns.iter().rev() {
                let (read, written) = ((reads(insn) >> 32) as u32, (writes(insn) >> 32) as u32);
                let copied = (single & written != 0, other & written != 0);
                single &= !written;
                other &= !written;
                match use_of(insn.op) {
                    Use::Single => single |= read,
                    Use::Any => {}
                    Use::Other => other |= read,
                    Use::Copy => {
                        single |= if copied.0 { read } else { 0 };
                        other |= if copied.1 { read } else { 0 };
                    }
                }
            }
            if heads[b] != (single, other) {
                heads[b] = (single, other);
                changed = true;
            }
        }
        if !changed {
            return heads[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &'static [u32], needed: u64) -> u32 {
        let mut insn = |pc: u64| axperf_isa::decode(*words.get((pc / 4) as usize)?);
        let region = Region::find(0, usize::MAX, &mut insn, &|_| false).unwrap();
        singles(&region, u64::MAX, needed << 32) & 0xf
    }

    // Words as binutils' assembler gives them.
    const LDS_F1: u32 = 0x8830_0000; // lds $f1,0($16)
    const STS_F1: u32 = 0x9830_0000; // sts $f1,0($16)
    const STS_F3: u32 = 0x9870_0000; // sts $f3,0($16)
    const STT_F1: u32 = 0x9c30_0000; // stt $f1,0($16)
    const ADDS: u32 = 0x5841_b002; // adds/su $f2,$f1,$f2
    const ADDT: u32 = 0x5841_b402; // addt/su $f2,$f1,$f2
    const MOVE: u32 = 0x5c21_0403; // fmov $f1,$f3
    const BNE: u32 = 0xf43f_fffd; // bne $1,.-8
    const RET: u32 = 0x6bfa_8001;

    #[test]
    fn what_is_single_everywhere() {
        // $f2 is summed up; its value at the entry is used.
        assert_eq!(of(&[LDS_F1, ADDS, BNE, RET], 0b100) & 0b110, 0b110);
        // A sum in double precision isn't, and what is loaded for it is nonetheless.
        assert_eq!(of(&[LDS_F1, ADDT, BNE, RET], 0b100) & 0b110, 0b010);
        // Copies are what their source is.
        assert_eq!(of(&[LDS_F1, MOVE, RET], 0) & 0b1010, 0b1010);
        assert_eq!(of(&[MOVE, STS_F1, RET], 0b10) & 0b1010, 0b1010);
        // A copy alone says nothing of a value from elsewhere; what the copy is used for does.
        assert_eq!(of(&[MOVE, RET], 0b10) & 0b1010, 0);
        assert_eq!(of(&[MOVE, STS_F3, RET], 0b10) & 0b1010, 0b1010);
        // Saved first, it is someone else's, of whatever type.
        assert_eq!(of(&[STT_F1, LDS_F1, STS_F1, RET], 0b10) & 0b10, 0);
        // Needed, but used by nothing: nobody knows.
        assert_eq!(of(&[LDS_F1, BNE, RET], 0b10) & 0b10, 0);
    }
}
