//! The functions at the doors of translated code, made once a cache: the way in, and what stands in
//! a slot without code.
//!
//! # Safety
//! Their code is read-only, and freed with the cache that its users hold.

#![allow(unsafe_code)]

use axperf_isa::{Reg, word};
use cranelift_codegen::Context;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use crate::abi::{Left, offset};
use crate::cache::Error;
use crate::slots::SlotCell;
use crate::translate;
use crate::variant::Poll;

/// Entry trampolines and the stubs of slots without code, by calling convention.
pub(crate) struct Doors {
    /// Owns the code; freed with the cache.
    module: Option<JITModule>,
    pub enter: [usize; 2],
    pub untranslated: [usize; 2],
}

// SAFETY: the module is only touched when the cache is dropped; its code is position-fixed and
// read-only.
unsafe impl Send for Doors {}
// SAFETY: as above.
unsafe impl Sync for Doors {}

impl Drop for Doors {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever runs this code holds the cache.
            unsafe { module.free_memory() };
        }
    }
}

pub(crate) fn counted(poll: Poll) -> usize {
    usize::from(poll == Poll::Counted)
}

pub(crate) fn isa() -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|e| Error::new(format!("setting {name}: {e}")))?;
    }
    cranelift_native::builder()
        .map_err(|e| Error::new(e.to_owned()))?
        .finish(settings::Flags::new(flags))
        .map_err(|e| Error::new(e.to_string()))
}

impl Doors {
    pub fn new(isa: &OwnedTargetIsa) -> Result<Doors, Error> {
        let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
        let mut context = module.make_context();
        let mut builder = FunctionBuilderContext::new();
        let mut ids = Vec::new();
        let config = module.target_config();
        let flags = MemFlagsData::trusted();
        for poll in [Poll::Free, Poll::Counted] {
            // enter(state, code, budget) -> budget
            let mut sig = Signature::new(CallConv::SystemV);
            sig.params.extend([AbiParam::new(I64); 3]);
            sig.returns.push(AbiParam::new(I64));
            context.func.signature = sig;
            let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
            let block = b.create_block();
            b.append_block_params_for_function_params(block);
            b.switch_to_block(block);
            let [state, code, budget] =
                [b.block_params(block)[0], b.block_params(block)[1], b.block_params(block)[2]];
            b.ins().set_pinned_reg(state);
            let sig = b.import_signature(translate::signature(poll));
            let slot = b.ins().iconst(I64, 0);
            let args = [slot, budget];
            let call = b.ins().call_indirect(sig, code, &args[..1 + counted(poll)]);
            let left = b.inst_results(call)[0];
            b.ins().return_(&[left]);
            b.seal_all_blocks();
            b.finalize(config);
            ids.push(define(&mut module, &mut context, &format!("enter_{poll:?}"))?);

            // untranslated(slot[, budget]) -> budget
            context.func.signature = translate::signature(poll);
            let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
            let block = b.create_block();
            b.append_block_params_for_function_params(block);
            b.switch_to_block(block);
            let slot = b.block_params(block)[0];
            let state = b.ins().get_pinned_reg(I64);
            let pc = b.ins().load(I64, flags, slot, std::mem::offset_of!(SlotCell, pc) as i32);
            b.ins().store(flags, pc, state, offset(Reg::Pc.offset()));
            let why = b.ins().iconst(I64, Left::UNTRANSLATED);
            b.ins().store(flags, why, state, offset(word::EXIT * 8));
            let budget = match poll {
                Poll::Counted => b.block_params(block)[1],
                Poll::Free | Poll::Flag => b.ins().iconst(I64, 0),
            };
            b.ins().return_(&[budget]);
            b.seal_all_blocks();
            b.finalize(config);
            ids.push(define(&mut module, &mut context, &format!("untranslated_{poll:?}"))?);
        }
        module.finalize_definitions().map_err(|e| Error::new(e.to_string()))?;
        let at = |i: usize| module.get_finalized_function(ids[i]) as usize;
        let (enter, untranslated) = ([at(0), at(2)], [at(1), at(3)]);
        Ok(Doors { module: Some(module), enter, untranslated })
    }
}

fn define(
    module: &mut JITModule,
    context: &mut Context,
    name: &str,
) -> Result<cranelift_module::FuncId, Error> {
    let id = module
        .declare_function(name, Linkage::Local, &context.func.signature)
        .map_err(|e| Error::new(e.to_string()))?;
    module.define_function(id, context).map_err(|e| Error::new(e.to_string()))?;
    module.clear_context(context);
    Ok(id)
}
