//! Watched memory, and what of it an instruction accesses.

use axperf::isa::{Flags, Op};
use axperf::{Access, Bus, Insn, Regs};

use crate::mm::Space;

/// Memory that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Its first address.
    pub addr: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Loads from it count.
    pub reads: bool,
    /// Stores to it count.
    pub writes: bool,
}

/// Most bytes whose content is remembered of what is watched.
const MOST_SEEN: u64 = 4096;

/// What watched memory held: a system call that stores there is seen by that.
#[derive(Debug)]
pub(crate) struct Before(Vec<(Watch, Vec<u8>)>);

impl Before {
    /// The content now of what is watched for stores.
    pub fn of(watches: &[Watch], space: &Space) -> Before {
        let stores = watches.iter().filter(|w| w.writes && w.len <= MOST_SEEN);
        Before(stores.map(|w| (*w, content(w, space))).collect())
    }

    /// Where content has changed since, if it has.
    pub fn change(&self, space: &Space) -> Option<u64> {
        self.0.iter().find(|(w, before)| content(w, space) != *before).map(|(w, _)| w.addr)
    }
}

/// The bytes of a watch, as far as there is memory.
fn content(watch: &Watch, space: &Space) -> Vec<u8> {
    let mut bytes = vec![0; watch.len as usize];
    if let Err(fault) = space.read(watch.addr, &mut bytes) {
        bytes.truncate(fault.addr.wrapping_sub(watch.addr) as usize);
    }
    bytes
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub addr: u64,
    pub len: u64,
    pub access: Access,
}

impl Watch {
    /// Whether an access counts.
    pub fn sees(&self, touch: &Touch) -> bool {
        let kind = match touch.access {
            Access::Read => self.reads,
            Access::Write => self.writes,
            Access::Execute => false,
        };
        let (end, its_end) =
            (self.addr.saturating_add(self.len), touch.addr.saturating_add(touch.len));
        kind && touch.addr < end && self.addr < its_end
    }
}

/// The access that an instruction makes with these registers, if it makes one.
pub(crate) fn touch(regs: &Regs, insn: &Insn) -> Option<Touch> {
    let flags = insn.desc();
    let access = if flags.is(Flags::STORE) {
        Access::Write
    } else if flags.is(Flags::LOAD) && insn.ra != 31 {
        Access::Read
    } else {
        // A load of $31 is a prefetch.
        return None;
    };
    let len = match insn.op {
        Op::ldbu | Op::stb => 1,
        Op::ldwu | Op::stw => 2,
        Op::ldl | Op::stl | Op::ldl_l | Op::stl_c | Op::lds | Op::sts | Op::ldf | Op::stf => 4,
        _ => 8,
    };
    let mut addr = regs.int(insn.rb).wrapping_add(insn.imm as i64 as u64);
    if matches!(insn.op, Op::ldq_u | Op::stq_u) {
        addr &= !7;
    }
    Some(Touch { addr, len, access })
}

#[cfg(test)]
mod tests {
    use axperf::isa::{asm, decode};

    use super::*;

    /// Sizes and addresses: Alpha Architecture Reference Manual, 4.2 and 4.8.
    #[test]
    fn accesses() {
        let mut regs = Regs::default();
        regs.set_int(2, 0x1001);
        let of = |text: &str| {
            let insn = decode(asm(text, 0).expect("it assembles")).expect("an instruction");
            touch(&regs, &insn).map(|t| (t.addr, t.len, t.access))
        };
        for (text, want) in [
            ("ldbu $1, 2($2)", Some((0x1003, 1, Access::Read))),
            ("stw $1, -1($2)", Some((0x1000, 2, Access::Write))),
            ("ldq_u $1, 0($2)", Some((0x1000, 8, Access::Read))),
            ("stq_u $1, 7($2)", Some((0x1008, 8, Access::Write))),
            ("sts $f1, 3($2)", Some((0x1004, 4, Access::Write))),
            ("ldt $f1, 7($2)", Some((0x1008, 8, Access::Read))),
            ("stl_c $1, 3($2)", Some((0x1004, 4, Access::Write))),
            ("ldl $31, 3($2)", None),
            ("lda $1, 3($2)", None),
            ("addq $1, $2, $3", None),
        ] {
            assert_eq!(of(text), want, "{text}");
        }
    }

    #[test]
    fn overlaps() {
        let watch = Watch { addr: 0x100, len: 4, reads: false, writes: true };
        let sees = |addr, len, access| watch.sees(&Touch { addr, len, access });
        assert!(sees(0x100, 1, Access::Write) && sees(0xfc, 5, Access::Write));
        assert!(sees(0x103, 8, Access::Write) && !sees(0x104, 8, Access::Write));
        assert!(!sees(0xf8, 8, Access::Write) && !sees(0x100, 4, Access::Read));
        let all = Watch { addr: 1, len: u64::MAX, reads: true, writes: true };
        assert!(all.sees(&Touch { addr: u64::MAX - 7, len: 8, access: Access::Read }));
    }
}
