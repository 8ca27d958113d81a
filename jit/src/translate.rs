//! From a region to a function of host code.

mod ways;

use axperf_isa::{Flow, Insn, Op, Reg, Sem, exec, word};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{
    AbiParam, AliasRegion, AliasRegionData, Block, InstBuilder, MemFlagsData, SigRef, Signature,
    SourceLoc, Value,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};

use crate::abi::{Left, POLL_OFFSET, offset};
use crate::checks::{self, Checked};
use crate::clif::not_an_address;
use crate::compile::Target;
use crate::faults::Mark;
use crate::flow::{self, Registers};
use crate::region::{Edge, Region};
use crate::singles;
use crate::variant::{Charges, Mode, Poll, Shape};
use ways::Way;

/// The signature of translated code in a mode.
pub(crate) fn signature(poll: Poll) -> Signature {
    let mut s = Signature::new(CallConv::Tail);
    s.params.push(AbiParam::new(I64));
    if poll == Poll::Counted {
        s.params.push(AbiParam::new(I64));
    }
    s.returns.push(AbiParam::new(I64));
    s
}

/// A function being built.
pub(crate) struct Tx<'a> {
    pub(crate) b: FunctionBuilder<'a>,
    region: &'a Region,
    registers: Registers,
    charges: Charges,
    checked: Vec<Checked>,
    /// What its code names by address, in the order of their names.
    targets: Vec<Target>,
    pub(crate) mode: Mode,
    statistics: bool,
    blocks: Vec<Block>,
    ints: [Option<Variable>; 32],
    fps: [Option<Variable>; 32],
    /// The floating-point registers whose values are in single precision.
    singles: u32,
    budget: Option<Variable>,
    /// The state's address, and the block in which it was taken from its register: that costs a
    /// move, and across blocks would cost a register.
    state: Option<(Block, Value)>,
    sig: SigRef,
    state_region: AliasRegion,
    guest_region: AliasRegion,
    pub(crate) mem_base: Option<Variable>,
    pub(crate) mem_len: Option<Variable>,
    pub(crate) tlb: Option<Variable>,
    /// Where it stands: block, instruction in it.
    at: (usize, usize),
    pub(crate) insn: Insn,
    pub(crate) pc: u64,
    /// What the state may not have before this instruction.
    dirty: u64,
    known: Checked,
    bail: Option<Block>,
    ways_out: Vec<(Way, Block)>,
    marks: Vec<Mark>,
    /// The budget is stored wherever it changes and a fault may follow.
    stores_budget: bool,
    /// Values that the budget has.
    budgets: Vec<Value>,
    /// True on hosts where stores are seen in order anyway.
    pub(crate) stores_ordered: bool,
    /// True on hosts with a fused multiply-add.
    pub(crate) has_fma: bool,
    /// True on hosts that exchange 16 bytes atomically by one instruction.
    pub(crate) wide_exchange: bool,
    /// True on hosts whose arithmetic is SSE's: denormal operands have a flag, and an invalid
    /// operation gives Alpha's NaN.
    pub(crate) sse: bool,
    /// Operations that may raise a floating-point flag of the host's.
    pub(crate) raising: Vec<Value>,
    /// The FPCR is written somewhere, and with it the host's flags.
    pub(crate) writes_fpcr: bool,
}

/// What the translator knows of its host and its settings.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    pub config: TargetFrontendConfig,
    pub stores_ordered: bool,
    pub has_fma: bool,
    pub wide_exchange: bool,
    pub sse: bool,
    /// Count instructions of regions of more than one block.
    pub statistics: bool,
}

/// What was built.
pub(crate) struct Built {
    /// The guest instructions that its source locations stand for.
    pub marks: Vec<Mark>,
    /// Values that the budget has, if they are to be followed.
    pub budgets: Vec<Value>,
    /// What its code names by address: a name is an index.
    pub targets: Vec<Target>,
    /// Operations that may raise a floating-point flag of the host's.
    pub raising: Vec<Value>,
    /// The host's flags are cleared somewhere.
    pub clears_flags: bool,
}

/// Builds the function.
pub(crate) fn build(
    func: &mut cranelift_codegen::ir::Function,
    context: &mut FunctionBuilderContext,
    host: Host,
    region: &Region,
    mode: Mode,
    stores_budget: bool,
) -> Built {
    func.signature = signature(mode.poll);
    let mut b = FunctionBuilder::new(func, context);
    let state_region = b
        .func
        .dfg
        .alias_regions
        .insert(AliasRegionData { user_id: 0, description: "state".into() });
    let guest_region = b
        .func
        .dfg
        .alias_regions
        .insert(AliasRegionData { user_id: 1, description: "guest memory".into() });
    let sig = b.import_signature(signature(mode.poll));
    let blocks = region.blocks.iter().map(|_| b.create_block()).collect();
    let mut tx = Tx {
        region,
        registers: Registers::of(region, mode),
        charges: Charges::of(region),
        checked: checks::checked(region),
        targets: Vec::new(),
        mode,
        statistics: host.statistics,
        blocks,
        ints: [None; 32],
        fps: [None; 32],
        singles: 0,
        budget: None,
        state: None,
        sig,
        state_region,
        guest_region,
        mem_base: None,
        mem_len: None,
        tlb: None,
        at: (0, 0),
        insn: region.blocks[0].insns[0],
        pc: region.blocks[0].pc,
        dirty: 0,
        known: Checked::default(),
        bail: None,
        ways_out: Vec::new(),
        marks: Vec::new(),
        stores_budget,
        budgets: Vec::new(),
        stores_ordered: host.stores_ordered,
        has_fma: host.has_fma,
        wide_exchange: host.wide_exchange,
        sse: host.sse,
        raising: Vec::new(),
        writes_fpcr: region.blocks.iter().flat_map(|b| &b.insns).any(|i| i.op == Op::mt_fpcr),
        b,
    };
    tx.prologue();
    for i in 0..region.blocks.len() {
        tx.block(i);
    }
    tx.fill_ways_out();
    let Tx { mut b, marks, budgets, targets, raising, writes_fpcr, .. } = tx;
    b.seal_all_blocks();
    b.finalize(host.config);
    Built { marks, budgets, targets, raising, clears_flags: writes_fpcr }
}

impl Tx<'_> {
    /// Flags of an access to the state.
    pub(crate) fn state_flags(&self) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.state_region))
    }

    /// Flags of an access to guest memory.
    pub(crate) fn guest_flags(&self) -> MemFlagsData {
        MemFlagsData::new().with_alias_region(Some(self.guest_region))
    }

    /// The state's address.
    fn state(&mut self) -> Value {
        let here = self.b.current_block();
        match self.state {
            Some((block, state)) if here == Some(block) => state,
            _ => {
                let state = self.b.ins().get_pinned_reg(I64);
                self.state = here.map(|block| (block, state));
                state
            }
        }
    }

    /// Loads a word of the state.
    pub(crate) fn state_load(&mut self, ty: cranelift_codegen::ir::Type, byte: usize) -> Value {
        let (flags, state) = (self.state_flags(), self.state());
        self.b.ins().load(ty, flags, state, offset(byte))
    }

    /// Stores a word of the state.
    pub(crate) fn state_store(&mut self, value: Value, byte: usize) {
        let (flags, state) = (self.state_flags(), self.state());
        self.b.ins().store(flags, value, state, offset(byte));
    }

    /// Says that all ways to these blocks are known. What the builder can't know yet it takes for a
    /// parameter, and what reaches the block as it is is recognised no more.
    pub(crate) fn seal<const N: usize>(&mut self, blocks: [Block; N]) {
        blocks.into_iter().for_each(|block| self.b.seal_block(block));
    }

    /// Two new blocks: one to go on at if `c`, and one if not.
    pub(crate) fn fork(&mut self, c: Value) -> (Block, Block) {
        let (yes, no) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(c, yes, &[], no, &[]);
        self.seal([yes, no]);
        (yes, no)
    }

    fn iconst(&mut self, value: u64) -> Value {
        self.b.ins().iconst(I64, value as i64)
    }

    fn prologue(&mut self) {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        if self.mode.poll == Poll::Counted {
            let v = self.b.declare_var(I64);
            let param = self.b.block_params(entry)[1];
            self.b.def_var(v, param);
            self.budget = Some(v);
        }
        match self.mode.shape {
            Shape::Identity => {}
            Shape::Flat => {
                self.mem_base = Some(self.engine_word(word::MEM_BASE));
                self.mem_len = Some(self.engine_word(word::MEM_LEN));
            }
            Shape::Tlb => self.tlb = Some(self.engine_word(word::TLB)),
        }
        // Loaded are those that are read before they are written, or stored though they weren't.
        let live = self.entry_needs();
        self.singles = singles::singles(self.region, self.registers.values, live);
        let mut images = Vec::new();
        for r in 0..31u8 {
            let bit = 1u64 << r;
            let fbit = bit << 32;
            if self.registers.values & bit != 0 {
                let v = self.b.declare_var(I64);
                self.ints[usize::from(r)] = Some(v);
                if live & bit != 0 {
                    let value = self.state_load(I64, int_offset(r));
                    self.b.def_var(v, value);
                }
            }
            if self.registers.values & fbit != 0 {
                let single = self.is_single(r);
                let v = self.b.declare_var(if single { F32 } else { F64 });
                self.fps[usize::from(r)] = Some(v);
                if live & fbit != 0 {
                    let value = self.state_load(F64, fp_offset(r));
                    if single {
                        images.push((v, value));
                    } else {
                        self.b.def_var(v, value);
                    }
                }
            }
        }
        self.take_singles(&images);
        let first = self.blocks[0];
        self.b.ins().jump(first, &[]);
    }

    fn engine_word(&mut self, index: usize) -> Variable {
        let v = self.b.declare_var(I64);
        let value = self.state_load(I64, index * 8);
        self.b.def_var(v, value);
        v
    }

    /// Registers whose value at the entry is used: read, or stored at an exit that another way
    /// made dirty.
    fn entry_needs(&self) -> u64 {
        let n = self.region.blocks.len();
        let mut needs = vec![0u64; n];
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..n).rev() {
                let need = self.needs_of(b, &needs);
                if need | needs[b] != needs[b] {
                    needs[b] |= need;
                    changed = true;
                }
            }
        }
        needs[0]
    }

    /// Registers whose value at the block's head is used, given that of all heads.
    fn needs_of(&self, b: usize, needs: &[u64]) -> u64 {
        let block = &self.region.blocks[b];
        let mut dirty = self.registers.dirty[b];
        let mut before = Vec::with_capacity(block.insns.len());
        for insn in &block.insns {
            before.push(dirty);
            dirty = flow::dirty_after(dirty, insn, self.mode, self.registers.values);
        }
        let mut live = flow::live_at_end(self.region, b, &self.registers.live);
        // Whoever comes after the region finds in the state what is dirty.
        let mut need = if flow::leaves(block) { dirty } else { 0 };
        for edge in &block.edges {
            if let Edge::Inside(t) = *edge {
                need |= needs[t];
            }
        }
        for (insn, dirty) in block.insns.iter().zip(before).rev() {
            live = flow::live_before(live, insn);
            need = need & !flow::writes(insn) | flow::reads(insn);
            if !flow::stays(insn) {
                need |= dirty & self.exact_at_bail(live);
            }
            if self.mode.precise && flow::touches_memory(insn) {
                need |= dirty;
            }
        }
        if self.charges.polls[b] {
            need |= self.registers.dirty[b] & self.exact_at_poll(b);
        }
        let bases = self.bases(b);
        if !bases.is_empty() {
            need |= self.registers.dirty[b] & self.exact_at_bail(self.registers.live[b]);
        }
        bases.iter().fold(need, |need, (base, _)| need | 1 << base)
    }

    /// The registers that are exact where the region leaves at a poll.
    fn exact_at_poll(&self, block: usize) -> u64 {
        match self.mode.poll {
            Poll::Free => 0,
            Poll::Flag | Poll::Counted => self.registers.live[block] | self.mode.class.registers(),
        }
    }

    /// The registers that are exact where an instruction is left to the interpreter, given what is
    /// live before it. Where memory is checked in software, all are, for it may be a fault.
    fn exact_at_bail(&self, live: u64) -> u64 {
        if self.mode.shape == Shape::Identity && !self.mode.precise {
            live | self.mode.class.registers()
        } else {
            u64::MAX
        }
    }

    /// Translates a block.
    fn block(&mut self, i: usize) {
        let region = self.region;
        let block = &region.blocks[i];
        self.b.switch_to_block(self.blocks[i]);
        self.at = (i, 0);
        self.pc = block.pc;
        self.insn = block.insns[0];
        self.dirty = self.registers.dirty[i];
        self.bail = None;
        self.known = self.checked[i].clone();
        self.mark();
        // What other CPUs store is seen at the latest here: no load is carried across a block head.
        self.b.ins().sequence_point();
        if self.charges.polls[i] {
            self.poll(i);
        }
        if self.statistics && region.blocks.len() > 1 {
            self.count_multi(block.insns.len() as i64);
        }
        self.check_bases(i);
        for (k, insn) in block.insns.iter().enumerate() {
            self.at = (i, k);
            self.pc = block.pc.wrapping_add(4 * k as u64);
            self.insn = *insn;
            if k > 0 {
                self.bail = None;
            }
            self.mark();
            if self.mode.precise && flow::touches_memory(insn) {
                self.store_registers(self.dirty);
                self.dirty = 0;
            }
            let dirty_after = flow::dirty_after(self.dirty, insn, self.mode, self.registers.values);
            let next = self.pc.wrapping_add(4);
            match exec(self, insn, self.pc) {
                Err(()) => return,
                Ok(Flow::Next) => {
                    self.dirty = dirty_after;
                    self.known.after(insn);
                }
                Ok(Flow::Branch { taken, target }) => {
                    let (yes, no) = self.fork(taken);
                    // What is in the region ran; what isn't did so seldom or never.
                    let stays = (region.at(target).is_some(), region.at(next).is_some());
                    for (block, target, cold) in
                        [(yes, target, stays == (false, true)), (no, next, stays == (true, false))]
                    {
                        self.b.switch_to_block(block);
                        if cold {
                            self.b.set_cold_block(block);
                            let slot = self.go_out(target);
                            let way = self.way_out(Way::Slot);
                            self.b.ins().jump(way, &[slot.into()]);
                        } else {
                            self.go(target);
                        }
                    }
                    return;
                }
                Ok(Flow::Goto(target)) => {
                    self.dirty = dirty_after;
                    self.go(target);
                    return;
                }
                Ok(Flow::Jump(target)) => {
                    self.dirty = dirty_after;
                    self.jump(target, &block.guards);
                    return;
                }
            }
        }
        let next = block.pc.wrapping_add(4 * block.insns.len() as u64);
        self.go(next);
    }

    /// The bases that the block's accesses need checked and that can be at its head.
    fn bases(&self, i: usize) -> Vec<(u8, u64)> {
        match self.mode.shape {
            Shape::Identity => self.checked[i].at_head(&self.region.blocks[i].insns),
            Shape::Flat | Shape::Tlb => Vec::new(),
        }
    }

    /// Checks them, all with one branch; it leaves the whole block to the interpreter.
    fn check_bases(&mut self, i: usize) {
        let mut bases = self.bases(i);
        self.known.check(&bases);
        bases.sort_by_key(|&(_, low)| low);
        let mut bad = None;
        for same in bases.chunk_by(|a, b| a.1 == b.1) {
            let low = same[0].1;
            let values: Vec<Value> = same.iter().map(|&(base, _)| self.int(base)).collect();
            let Some(all) = values.into_iter().reduce(|a, b| self.b.ins().bor(a, b)) else {
                continue;
            };
            let wrong = self.b.ins().band_imm_s(all, not_an_address(low));
            bad = Some(match bad {
                Some(others) => self.b.ins().bor(others, wrong),
                None => wrong,
            });
        }
        if let Some(bad) = bad {
            let bad = self.b.ins().icmp_imm_s(IntCC::NotEqual, bad, 0);
            self.bail_if(bad);
        }
    }

    /// The instruction's host code carries its site.
    fn mark(&mut self) {
        let (i, k) = self.at;
        let refund = self.charges.charge[i] - k as i64;
        let budget = self.budget_at_fault();
        let index = self.marks.len() as u32;
        self.marks.push(Mark { pc: self.pc, refund, budget });
        self.b.set_srcloc(SourceLoc::new(index));
    }

    /// What was charged and isn't used up at the end of the block.
    fn rest(&self) -> i64 {
        let i = self.at.0;
        self.charges.charge[i] - self.region.blocks[i].insns.len() as i64
    }

    fn refund(&mut self, amount: i64) {
        let Some(v) = self.budget else { return };
        if amount != 0 {
            let old = self.b.use_var(v);
            let new = self.b.ins().iadd_imm_s(old, amount);
            self.b.def_var(v, new);
        }
    }

    /// Stores the budget for a fault, where it has to be.
    fn publish_budget(&mut self) {
        if self.stores_budget
            && self.mode.shape == Shape::Identity
            && let Some(v) = self.budget
        {
            let value = self.b.use_var(v);
            self.state_store(value, word::RETIRED * 8);
        }
    }

    /// The budget's value at this instruction, if a fault of it must find it.
    fn budget_at_fault(&mut self) -> Option<Value> {
        let faults = self.mode.shape == Shape::Identity && flow::touches_memory(&self.insn);
        let v = self.budget.filter(|_| faults && !self.stores_budget)?;
        let value = self.b.use_var(v);
        self.budgets.push(value);
        Some(value)
    }

    fn count_multi(&mut self, n: i64) {
        let old = self.state_load(I64, word::MULTI_BLOCK * 8);
        let new = self.b.ins().iadd_imm_s(old, n);
        self.state_store(new, word::MULTI_BLOCK * 8);
    }

    fn poll(&mut self, i: usize) {
        let leave = self.b.create_block();
        let go_on = self.b.create_block();
        self.b.set_cold_block(leave);
        match self.mode.poll {
            Poll::Free => {
                self.b.ins().jump(go_on, &[]);
                // Nothing goes to it; it still must end.
                self.b.switch_to_block(leave);
                let zero = self.iconst(0);
                self.b.ins().return_(&[zero]);
                self.b.switch_to_block(go_on);
                return;
            }
            Poll::Flag => {
                let (flags, state) = (self.guest_flags().with_notrap(), self.state());
                let flag = self.b.ins().load(I64, flags, state, offset(POLL_OFFSET));
                self.b.ins().brif(flag, leave, &[], go_on, &[]);
                self.seal([leave, go_on]);
            }
            Poll::Counted => {
                let Some(v) = self.budget else { return };
                let old = self.b.use_var(v);
                self.budgets.push(old);
                let (charge, longest) = (self.charges.charge[i], self.charges.longest[i]);
                let over = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, old, longest);
                let new = self.b.ins().iadd_imm_s(old, -charge);
                self.b.ins().brif(over, leave, &[], go_on, &[]);
                self.seal([leave, go_on]);
                self.b.switch_to_block(leave);
                self.leave_poll(i);
                self.b.switch_to_block(go_on);
                self.b.def_var(v, new);
                self.publish_budget();
                return;
            }
        }
        self.b.switch_to_block(leave);
        self.leave_poll(i);
        self.b.switch_to_block(go_on);
    }

    fn leave_poll(&mut self, i: usize) {
        self.store_registers(self.dirty & self.exact_at_poll(i));
        self.leave(Left::POLL);
    }

    /// Stores these registers to the state.
    fn store_registers(&mut self, registers: u64) {
        for r in 0..31u8 {
            if registers & 1 << r != 0
                && let Some(v) = self.ints[usize::from(r)]
            {
                let value = self.b.use_var(v);
                self.state_store(value, int_offset(r));
            }
            if registers & 1 << (32 + r) != 0
                && let Some(v) = self.fps[usize::from(r)]
            {
                let value = self.b.use_var(v);
                let value =
                    if self.is_single(r) { self.b.ins().fpromote(F64, value) } else { value };
                self.state_store(value, fp_offset(r));
            }
        }
    }

    /// The instructions after this one in its block.
    pub(crate) fn rest_of_block(&self) -> &[Insn] {
        let (i, k) = self.at;
        &self.region.blocks[i].insns[k + 1..]
    }

    pub(crate) fn int_var(&self, r: u8) -> Option<Variable> {
        self.ints[usize::from(r % 32)]
    }

    /// Whether a floating-point register's value is in single precision.
    pub(crate) fn is_single(&self, r: u8) -> bool {
        self.singles >> r & 1 != 0
    }

    pub(crate) fn fp_var(&self, r: u8) -> Option<Variable> {
        self.fps[usize::from(r % 32)]
    }

    /// The check that the access at hand needs.
    pub(crate) fn need(&self) -> Option<(u8, checks::Need)> {
        let (base, disp, width) = checks::access(&self.insn)?;
        Some((base, self.known.need(base, disp, width)))
    }
}

pub(crate) fn int_offset(r: u8) -> usize {
    Reg::int(r).map_or(word::ZERO * 8, Reg::offset)
}

pub(crate) fn fp_offset(r: u8) -> usize {
    Reg::fp(r).map_or(word::ZERO * 8, Reg::offset)
}
