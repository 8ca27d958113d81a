//! The ways out of a region: back to the machine, on to other translations, and the comparisons of
//! computed jumps before they leave.

use axperf_isa::{Reg, word};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    Block, ExternalName, GlobalValueData, InstBuilder, UserExternalName, Value,
};

use super::Tx;
use crate::abi::Left;
use crate::compile::{self, Target};
use crate::flow;

/// Targets that are compared one after the other.
const FEW: usize = 3;

/// A way out of a region that several places have in common, with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Back from translated code for this reason; the pc.
    Back(i64),
    /// On at a slot's code; the slot's address.
    Slot,
}

impl Tx<'_> {
    /// Comes back from translated code at this pc.
    pub(crate) fn leave(&mut self, why: i64) {
        let pc = self.iconst(self.pc);
        let way = self.way_out(Way::Back(why));
        self.b.ins().jump(way, &[pc.into()]);
    }

    /// The block of a way out that is rarely taken.
    pub(super) fn way_out(&mut self, way: Way) -> Block {
        if let Some((_, block)) = self.ways_out.iter().find(|(w, _)| *w == way) {
            return *block;
        }
        let block = self.b.create_block();
        self.b.append_block_param(block, I64);
        self.b.set_cold_block(block);
        self.ways_out.push((way, block));
        block
    }

    /// Fills the ways out.
    pub(super) fn fill_ways_out(&mut self) {
        for (way, block) in std::mem::take(&mut self.ways_out) {
            self.b.switch_to_block(block);
            let value = self.b.block_params(block)[0];
            match way {
                Way::Back(why) => {
                    self.state_store(value, Reg::Pc.offset());
                    self.come_back(why);
                }
                Way::Slot => self.tail_call(value),
            }
        }
    }

    /// Comes back from translated code; the pc is in the state.
    pub(super) fn come_back(&mut self, why: i64) {
        let why = self.b.ins().iconst(I64, why);
        self.state_store(why, word::EXIT * 8);
        let budget = match self.budget {
            Some(v) => self.b.use_var(v),
            None => self.iconst(0),
        };
        self.b.ins().return_(&[budget]);
    }

    /// The block that leaves this instruction to the interpreter.
    pub(super) fn bail_block(&mut self) -> Block {
        if let Some(block) = self.bail {
            return block;
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        self.bail = Some(block);
        block
    }

    /// Fills the bail block, once; the builder stands in it when it returns.
    pub(super) fn fill_bail(&mut self, block: Block) {
        self.b.switch_to_block(block);
        let (i, k) = self.at;
        let live = flow::live_before(self.live_after(i, k), &self.insn);
        self.store_registers(self.dirty & self.exact_at_bail(live));
        if self.statistics && self.region.blocks.len() > 1 {
            self.count_multi(k as i64 - self.region.blocks[i].insns.len() as i64);
        }
        self.refund(self.charges.charge[i] - k as i64);
        self.leave(Left::BAIL);
    }

    /// What is live after instruction `k` of block `i`.
    pub(super) fn live_after(&self, i: usize, k: usize) -> u64 {
        let mut live = flow::live_at_end(self.region, i, &self.registers.live);
        for insn in self.region.blocks[i].insns[k + 1..].iter().rev() {
            live = flow::live_before(live, insn);
        }
        live
    }

    /// Leaves this instruction to the interpreter if `c`.
    pub(crate) fn bail_if(&mut self, c: Value) {
        let first = self.bail.is_none();
        let bail = self.bail_block();
        let go_on = self.b.create_block();
        self.b.ins().brif(c, bail, &[], go_on, &[]);
        self.seal([go_on]);
        if first {
            self.fill_bail(bail);
        }
        self.b.switch_to_block(go_on);
    }

    /// Goes on at a block if `c`, else leaves this instruction to the interpreter.
    pub(crate) fn go_on_if(&mut self, c: Value, go_on: Block) {
        let first = self.bail.is_none();
        let bail = self.bail_block();
        self.b.ins().brif(c, go_on, &[], bail, &[]);
        if first {
            self.fill_bail(bail);
        }
    }

    /// Leaves this instruction to the interpreter.
    pub(crate) fn bail(&mut self) {
        let first = self.bail.is_none();
        let bail = self.bail_block();
        self.b.ins().jump(bail, &[]);
        if first {
            self.fill_bail(bail);
        }
    }

    /// Goes on at a fixed address: inside the region, or through its slot.
    pub(super) fn go(&mut self, target: u64) {
        let rest = self.rest();
        if let Some(t) = self.region.inside(self.at.0, target) {
            let ahead = if self.charges.polls[t] { 0 } else { self.charges.charge[t] };
            if rest != ahead {
                self.refund(rest - ahead);
                self.publish_budget();
            }
            let block = self.blocks[t];
            self.b.ins().jump(block, &[]);
            return;
        }
        let slot = self.go_out(target);
        self.tail_call(slot);
    }

    /// Makes all ready to go on at a fixed address outside the region; its slot.
    pub(super) fn go_out(&mut self, target: u64) -> Value {
        self.refund(self.rest());
        self.store_registers(self.dirty);
        self.address_of(Target::Slot(target))
    }

    /// The address of what code finds elsewhere: it is put in where the code gets its place.
    pub(crate) fn address_of(&mut self, target: Target) -> Value {
        let index = self.targets.iter().position(|t| *t == target).unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        }) as u32;
        let name = UserExternalName { namespace: compile::TARGETS, index };
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let symbol =
            GlobalValueData::Symbol { name, offset: 0.into(), colocated: false, tls: false };
        let symbol = self.b.func.create_global_value(symbol);
        self.b.ins().symbol_value(I64, symbol)
    }

    /// Goes on at the code of a slot.
    pub(super) fn tail_call(&mut self, slot: Value) {
        let flags = self.guest_flags().with_notrap();
        let code = self.b.ins().load(I64, flags, slot, 0);
        let mut args = vec![slot];
        if let Some(v) = self.budget {
            args.push(self.b.use_var(v));
        }
        self.b.ins().return_call_indirect(self.sig, code, &args);
    }

    /// Goes on at one of these blocks if that is the target; the builder stands where it is none.
    pub(super) fn compare(&mut self, target: Value, blocks: &[usize]) {
        let region = self.region;
        let mut rest: Vec<(u64, usize)> =
            blocks.iter().map(|&t| (region.blocks[t].pc, t)).collect();
        let Some(&(base, _)) = rest.iter().min() else { return };
        // Small numbers fit an instruction; addresses don't.
        let small = rest.iter().all(|(pc, _)| pc - base < 1 << 31);
        let base = if small { base } else { 0 };
        let offset = match base {
            0 => target,
            _ => self.b.ins().iadd_imm_s(target, base.wrapping_neg() as i64),
        };
        let none = self.b.create_block();
        if rest.len() > FEW {
            rest.sort_unstable();
        }
        self.search(offset, base, &rest, none);
        self.b.switch_to_block(none);
    }

    /// Goes on at the block whose address less `base` is `offset`, or at `none`: by comparing with
    /// one after the other if there are few, else with the middle one of the sorted list.
    pub(super) fn search(&mut self, offset: Value, base: u64, list: &[(u64, usize)], none: Block) {
        if list.len() > FEW {
            let (low, high) = list.split_at(list.len() / 2);
            let less = self.b.ins().icmp_imm_u(
                IntCC::UnsignedLessThan,
                offset,
                high[0].0.wrapping_sub(base) as i64,
            );
            let (yes, no) = self.fork(less);
            for (block, list) in [(yes, low), (no, high)] {
                self.b.switch_to_block(block);
                self.search(offset, base, list, none);
            }
            return;
        }
        for &(pc, _) in list {
            let this = pc.wrapping_sub(base) as i64;
            let same = self.b.ins().icmp_imm_s(IntCC::Equal, offset, this);
            let (yes, no) = self.fork(same);
            self.b.switch_to_block(yes);
            self.go(pc);
            self.b.switch_to_block(no);
        }
        self.b.ins().jump(none, &[]);
    }

    /// Goes on at a computed address: one of the blocks that it is compared with, or through the cache.
    pub(super) fn jump(&mut self, target: Value, guards: &[usize]) {
        self.compare(target, guards);
        self.refund(self.rest());
        self.store_registers(self.dirty);
        let table = self.state_load(I64, word::TARGETS * 8);
        let index = self.b.ins().ishl_imm_u(target, 2);
        let index = self.b.ins().band_imm_s(index, (crate::TARGETS as i64 - 1) << 4);
        let entry = self.b.ins().iadd(table, index);
        let flags = self.guest_flags().with_notrap();
        let tag = self.b.ins().load(I64, flags, entry, 0);
        let hit = self.b.ins().icmp(IntCC::Equal, tag, target);
        let (yes, no) = self.fork(hit);
        self.b.set_cold_block(no);
        self.b.switch_to_block(yes);
        let flags = self.guest_flags().with_notrap();
        let slot = self.b.ins().load(I64, flags, entry, 8);
        self.tail_call(slot);
        self.b.switch_to_block(no);
        self.state_store(target, Reg::Pc.offset());
        self.come_back(Left::UNTRANSLATED);
    }
}
