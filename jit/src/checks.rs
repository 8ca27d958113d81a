//! Which base registers are known to hold a guest address, so that an access off them needs no
//! check of its own.
//!
//! Only memory of the shape Identity needs this: an address from 2^42 up is the host's. A window
//! around 2^42 is never mapped and addresses below zero aren't either, so a base that was checked
//! serves all displacements that a load or store can have.

use axperf_isa::{Insn, Shape};

use crate::region::{Edge, Region};

/// Farthest from its checked value that a base may have moved.
const WINDOW: i32 = 16 << 10;

/// What is known of a register's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Known {
    /// 0: nothing. Else the value less `offset` is below 2^42 and a multiple of this.
    align: u8,
    offset: i32,
}

/// What is known of all registers at a point.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Checked([Known; 32]);

/// The check that an access needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// None.
    Nothing,
    /// The base register's value: below 2^42, and these low bits clear.
    Base(u64),
    /// The address itself.
    Address(u64),
}

/// Base register and displacement of an instruction that accesses memory off them, and the
/// alignment that it wants (1 for LDQ_U and STQ_U). A prefetch accesses nothing.
pub(crate) fn access(insn: &Insn) -> Option<(u8, i32, u8)> {
    use axperf_isa::Op;
    if matches!(insn.desc().shape, Shape::Load | Shape::FLoad) && insn.ra == 31 {
        return None;
    }
    let width = match insn.op {
        Op::ldbu | Op::stb | Op::ldq_u | Op::stq_u => 1,
        Op::ldwu | Op::stw => 2,
        Op::ldl | Op::stl | Op::ldl_l | Op::stl_c | Op::lds | Op::sts | Op::ldf | Op::stf => 4,
        Op::ldq | Op::stq | Op::ldq_l | Op::stq_c | Op::ldt | Op::stt | Op::ldg | Op::stg => 8,
        _ => return None,
    };
    Some((insn.rb, insn.imm, width))
}

impl Checked {
    /// The check that an access of this insn needs.
    pub fn need(&self, base: u8, disp: i32, width: u8) -> Need {
        let low = u64::from(width) - 1;
        let known = self.0[usize::from(base % 32)];
        let multiple = |n: i32| n as i64 as u64 & low == 0;
        if known.align >= width && known.offset.abs() <= WINDOW && multiple(known.offset + disp) {
            Need::Nothing
        } else if multiple(disp) {
            Need::Base(low)
        } else {
            Need::Address(low)
        }
    }

    /// The bases off which a block accesses memory and that have at its head the value that they have
    /// then, with the low bits that must be clear: what can be checked at once, at the head.
    pub fn at_head(&self, insns: &[Insn]) -> Vec<(u8, u64)> {
        let mut state = self.clone();
        let mut written = 1u32 << 31;
        let mut bases: Vec<(u8, u64)> = Vec::new();
        for insn in insns {
            if let Some((base, disp, width)) = access(insn)
                && written >> base & 1 == 0
                && let Need::Base(low) = state.need(base, disp, width)
            {
                match bases.iter_mut().find(|b| b.0 == base) {
                    Some(b) => b.1 |= low,
                    None => bases.push((base, low)),
                }
            }
            state.after(insn);
            written |= insn.int_writes();
        }
        bases
    }

    /// These bases were checked.
    pub fn check(&mut self, bases: &[(u8, u64)]) {
        for &(base, low) in bases {
            self.0[usize::from(base)] = Known { align: low as u8 + 1, offset: 0 };
        }
    }

    /// After an instruction that went on.
    pub fn after(&mut self, insn: &Insn) {
        if let Some((base, disp, width)) = access(insn)
            && base != 31
            && let Need::Base(_) = self.need(base, disp, width)
        {
            let known = &mut self.0[usize::from(base)];
            *known = Known { align: width, offset: 0 };
        }
        let moved = match insn.desc().shape {
            // lda $r, d($b); and addq/bis forms are left alone
            Shape::Lda if insn.op == axperf_isa::Op::lda && insn.rb != 31 => {
                let mut k = self.0[usize::from(insn.rb)];
                k.offset = k.offset.saturating_add(insn.imm);
                if k.offset.abs() > WINDOW { None } else { Some((insn.ra, k)) }
            }
            // mov: bis $31,$b,$c
            Shape::Int if insn.op == axperf_isa::Op::bis && insn.ra == 31 && !insn.literal => {
                Some((insn.rc, self.0[usize::from(insn.rb)]))
            }
            _ => None,
        };
        let mut written = insn.int_writes();
        while written != 0 {
            self.0[written.trailing_zeros() as usize] = Known::default();
            written &= written - 1;
        }
        if let Some((to, known)) = moved
            && to != 31
        {
            self.0[usize::from(to)] = known;
        }
    }

    /// What is known on both ways.
    fn meet(&mut self, other: &Checked) {
        for (k, o) in self.0.iter_mut().zip(&other.0) {
            if k.offset == o.offset {
                k.align = k.align.min(o.align);
            } else {
                *k = Known::default();
            }
            if k.align == 0 {
                *k = Known::default();
            }
        }
    }
}

/// What is known at the head of each block.
pub(crate) fn checked(region: &Region) -> Vec<Checked> {
    let n = region.blocks.len();
    let mut heads: Vec<Option<Checked>> = vec![None; n];
    heads[0] = Some(Checked::default());
    loop {
        let mut changed = false;
        for b in 0..n {
            let Some(mut state) = heads[b].clone() else { continue };
            let bases = state.at_head(&region.blocks[b].insns);
            state.check(&bases);
            for insn in &region.blocks[b].insns {
                state.after(insn);
            }
            for edge in &region.blocks[b].edges {
                let Edge::Inside(t) = *edge else { continue };
                // The entry is entered from outside too, with nothing known.
                let mut new = if t == 0 { Checked::default() } else { state.clone() };
                if let Some(old) = &heads[t] {
                    new.meet(old);
                    if new == *old {
                        continue;
                    }
                }
                heads[t] = Some(new);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    heads.into_iter().map(Option::unwrap_or_default).collect()
}
