//! Keeps floating-point operations where they are.
//!
//! Cranelift takes arithmetic for pure: what doesn't change in a loop moves out of it, what has
//! constants alone is computed at once, and what was computed before isn't again. But these operations
//! raise flags, so none may run that the program doesn't reach, and each that it reaches must run.
//! Where an operation would move, an operand of it goes through memory, which nothing moves across.

use std::collections::HashSet;

use axperf_isa::word;
use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder, MemFlagsData, Type, Value, ValueDef,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};

use crate::abi::offset;

/// Where a value is computed.
#[derive(Clone, Copy, Default)]
struct Home {
    /// The innermost loop that it can't move out of.
    inner: Option<Loop>,
    /// It is made of constants alone.
    constant: bool,
}

/// Keeps these operations in their blocks, and keeps them. If flags are `cleared` somewhere, what was
/// computed before must be computed again to raise its own.
pub(crate) fn anchor(context: &mut Context, isa: &dyn TargetIsa, raising: &[Value], cleared: bool) {
    if raising.is_empty() {
        return;
    }
    context.compute_cfg();
    context.compute_domtree();
    // A loop's parameter that never changes is none.
    let simplified =
        context.eliminate_unreachable_code(isa).and_then(|()| context.remove_constant_phis(isa));
    if let Err(e) = simplified {
        debug_assert!(false, "the verifier refuses the translator's IR: {e:?}");
    }
    let mut loops = LoopAnalysis::new();
    loops.compute(&context.func, &context.cfg, &context.domtree);
    let func = &context.func;
    let mut kept = EntitySet::new();
    for &v in raising {
        if let ValueDef::Result(inst, _) = func.dfg.value_def(func.dfg.resolve_aliases(v)) {
            kept.insert(inst);
        }
    }
    let mut homes: SecondaryMap<Value, Home> = SecondaryMap::new();
    let mut moving = Vec::new();
    // Of each kind the first is no repetition.
    let mut seen = HashSet::new();
    // In reverse postorder a value is computed before it is used, but for parameters.
    for &block in context.domtree.cfg_postorder().iter().rev() {
        let here = loops.innermost_loop(block);
        for &p in func.dfg.block_params(block) {
            homes[p] = Home { inner: here, constant: false };
        }
        for inst in func.layout.block_insts(block) {
            let mut home = home(func, &loops, &homes, block, inst);
            if kept.contains(inst) {
                let repeated = !seen.insert(func.dfg.insts[inst].opcode()) && cleared;
                if home.inner != here || home.constant || repeated {
                    moving.push(inst);
                    home = Home { inner: here, constant: false };
                }
            }
            for &r in func.dfg.inst_results(inst) {
                homes[r] = home;
            }
        }
    }
    for inst in moving {
        hold(&mut context.func, inst);
    }
}

fn home(
    func: &Function,
    loops: &LoopAnalysis,
    homes: &SecondaryMap<Value, Home>,
    block: Block,
    inst: Inst,
) -> Home {
    let opcode = func.dfg.insts[inst].opcode();
    let pure = func.dfg.inst_results(inst).len() == 1
        && !(opcode.can_load()
            || opcode.can_store()
            || opcode.can_trap()
            || opcode.other_side_effects()
            || opcode.is_call()
            || opcode.is_terminator());
    if !pure {
        return Home { inner: loops.innermost_loop(block), constant: false };
    }
    let mut home = Home { inner: None, constant: true };
    for arg in func.dfg.inst_values(inst) {
        let arg = homes[func.dfg.resolve_aliases(arg)];
        home.constant &= arg.constant;
        // An argument's loop may be one that ended before.
        let mut inner = arg.inner;
        while let Some(l) = inner
            && !loops.is_in_loop(block, l)
        {
            inner = loops.loop_parent(l);
        }
        if let Some(l) = inner
            && home.inner.is_none_or(|h| loops.is_child_loop(l, h))
        {
            home.inner = inner;
        }
    }
    home
}

/// Makes an operand of the operation one that isn't known before.
fn hold(func: &mut Function, inst: Inst) {
    let Some(arg) = func.dfg.inst_values(inst).next() else { return };
    let mut pos = FuncCursor::new(func).at_inst(inst);
    pos.use_srcloc(inst);
    let ty = pos.func.dfg.value_type(arg);
    let state = pos.ins().get_pinned_reg(I64);
    let (flags, place) = (MemFlagsData::trusted(), offset(word::PASSAGE * 8));
    pos.ins().store(flags, arg, state, place);
    // As another type, so that it isn't known for what was stored.
    let loaded = pos.ins().load(other(ty), flags, state, place);
    let back = pos.ins().bitcast(ty, MemFlagsData::new(), loaded);
    if let Some(first) = pos.func.dfg.inst_args_mut(inst).first_mut() {
        *first = back;
    }
}

/// The other type of the same size.
fn other(ty: Type) -> Type {
    match ty {
        F32 => I32,
        F64 => I64,
        I32 => F32,
        _ => F64,
    }
}
