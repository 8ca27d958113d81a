//! Frames of code without CFI, from its instructions.

use super::rule::{Reg, Row, Rule};

/// `bsr $26`, or a jump that leaves its address in `$26`.
pub(super) fn is_call(word: u32) -> bool {
    let (opcode, ra) = (word >> 26, word >> 21 & 31);
    ra == 26 && (opcode == 0x34 || opcode == 0x1a)
}

/// Instructions before an address that are looked at.
const REACH: u64 = 64;

/// The frame of the code at `address` by the instructions before it: it is open if one of them
/// makes room for it, and the return address is in it if another one saved `$26`. None if the code
/// isn't of the kind that compilers write for `.init` and `.fini`.
pub(super) fn frame_by_prologue(address: u64, word: impl Fn(u64) -> Option<u32>) -> Option<Row> {
    let mut saved_at = None;
    for back in 1..=REACH {
        let word = address.checked_sub(4 * back).and_then(&word)?;
        let disp = i64::from(word as i16);
        match word >> 16 {
            // lda $30,disp($30)
            0x23de if disp < 0 => {
                return Some(Row {
                    cfa: Some((Reg::Sp, -disp)),
                    ra: saved_at.map_or(Rule::Reg(Reg::R26), |at: i64| Rule::At(at + disp)),
                    r26: saved_at.map_or(Rule::Reg(Reg::R26), |at: i64| Rule::At(at + disp)),
                    ..Row::LEAF
                });
            }
            // The frame is closed again before the address, or a function ended there.
            0x23de => return None,
            // stq $26,disp($30)
            0xb75e => saved_at = Some(disp),
            _ if is_return_or_jump(word) => return None,
            _ => {}
        }
    }
    None
}

/// Whether the instructions before `address` have restored the caller's `$15` and the frame is
/// still there. gcc's CFI says nothing of that: for this moment, often a single instruction, it
/// still addresses the frame by `$15`, which then equals `$30`.
pub(super) fn frame_pointer_is_restored(address: u64, word: impl Fn(u64) -> Option<u32>) -> bool {
    for back in 1..=4 {
        let Some(word) = address.checked_sub(4 * back).and_then(&word) else { return false };
        match word >> 16 {
            // ldq $15,disp($30)
            0xa5fe => return true,
            // lda $30,disp($30): the frame is gone; or an instruction that another frame ends with.
            0x23de => return false,
            _ if is_return_or_jump(word) => return false,
            _ => {}
        }
    }
    false
}

/// An unconditional branch or jump that isn't a call: the end of a function.
fn is_return_or_jump(word: u32) -> bool {
    let (opcode, ra) = (word >> 26, word >> 21 & 31);
    ra == 31 && (opcode == 0x1a || opcode == 0x30)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `_init` as gcc 12 builds it from crti.o and crtn.o.
    const INIT: [u32; 10] = [
        0x27bb_0002, // ldah gp,2(t12)
        0x23bd_8000, // lda gp,-32768(gp)
        0x23de_fff0, // lda sp,-16(sp)
        0xb75e_0000, // stq ra,0(sp)
        0xa77d_8010, // ldq t12,-32752(gp)
        0x6b5b_4000, // jsr ra,(t12)
        0x27ba_0002, // ldah gp,2(ra)
        0xa75e_0000, // ldq ra,0(sp)
        0x23de_0010, // lda sp,16(sp)
        0x6bfa_8001, // ret
    ];

    fn at(index: u64) -> Option<(Rule, i64)> {
        let word = |at: u64| INIT.get((at / 4) as usize).copied();
        let row = frame_by_prologue(index * 4, word)?;
        Some((row.ra, row.cfa?.1))
    }

    #[test]
    fn frames_of_init() {
        // Nothing says anything about its start: it may be the middle of something.
        assert_eq!(at(0), None);
        assert_eq!(at(2), None);
        assert_eq!(at(3), Some((Rule::Reg(Reg::R26), 16)));
        for in_frame in 4..=8 {
            assert_eq!(at(in_frame), Some((Rule::At(-16), 16)), "{in_frame}");
        }
        assert_eq!(at(9), None);
    }

    #[test]
    fn calls() {
        assert!(is_call(0x6b5b_4000), "jsr ra,(t12)");
        assert!(is_call(0xd340_0010), "bsr ra");
        assert!(!is_call(0x6bfa_8001), "ret");
        assert!(!is_call(0xc3e0_0010), "br");
    }
}
