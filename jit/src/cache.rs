//! Translated code by guest address, shared by all machines of an engine.
//!
//! A slot stands for a guest address in a mode: the address of its code, or of the stub that comes
//! back where there is none yet. All ways to a guest address go through its slot, so a translation
//! is reached, and dropped, by one store.
//!
//! # Safety
//! Slots are never moved or freed while the cache lives, and code is never overwritten: a thread
//! that still runs a dropped translation leaves it at its next exit.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axperf_isa::{Insn, Reg, Regs, word};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use crate::abi::{self, Left, offset};
use crate::anchor;
use crate::arena::Arena;
use crate::region::Region;
use crate::translate::{self, Host, Site};
use crate::variant::{Mode, Poll};

/// Which slot stands for a guest address in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u32);

/// Translated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code(usize);

/// The host can't hold translated code, or has no translator.
#[derive(Debug, thiserror::Error)]
#[error("translated code: {0}")]
pub struct Error(String);

/// Settings of a [`Cache`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of code at most.
    pub code_limit: usize,
    /// Guest blocks in a region at most.
    pub region_blocks: usize,
    /// Count instructions of regions of more than one block in the state's word.
    pub statistics: bool,
}

/// What a cache has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Regions translated.
    pub translations: u64,
    /// Guest instructions in them.
    pub guest_instructions: u64,
    /// Bytes of host code.
    pub code_bytes: u64,
    /// Time spent, in nanoseconds.
    pub translation_ns: u64,
}

/// A slot in memory, as translated code reads it.
#[repr(C)]
#[derive(Debug)]
struct SlotCell {
    code: AtomicUsize,
    pc: AtomicU64,
}

/// Slots of a cache at most.
const SLOTS: usize = 1 << 20;

/// Translated code by guest address.
pub struct Cache {
    inner: Mutex<Inner>,
    slots: Box<[SlotCell]>,
    doors: Doors,
    settings: Settings,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("settings", &self.settings).finish_non_exhaustive()
    }
}

struct Inner {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    arena: Arena,
    index: HashMap<(u64, Mode), Slot>,
    used: usize,
    translations: Vec<Translation>,
    stats: Stats,
}

/// A region that was translated.
struct Translation {
    slot: Slot,
    mode: Mode,
    /// Where its code stands.
    code: Range<usize>,
    /// The guest words it was made from, by runs of addresses.
    runs: Vec<(u64, Vec<u32>)>,
    /// Host code offsets and the guest instructions they belong to, ascending.
    sites: Vec<(u32, Site)>,
    alive: bool,
}

/// Entry trampolines and the stubs of slots without code, by calling convention.
struct Doors {
    /// Owns the code; freed with the cache.
    module: Option<JITModule>,
    enter: [usize; 2],
    untranslated: [usize; 2],
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

fn counted(poll: Poll) -> usize {
    usize::from(poll == Poll::Counted)
}

fn isa() -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|e| Error(format!("setting {name}: {e}")))?;
    }
    cranelift_native::builder()
        .map_err(|e| Error(e.to_owned()))?
        .finish(settings::Flags::new(flags))
        .map_err(|e| Error(e.to_string()))
}

impl Doors {
    fn new(isa: &OwnedTargetIsa) -> Result<Doors, Error> {
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
        module.finalize_definitions().map_err(|e| Error(e.to_string()))?;
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
        .map_err(|e| Error(e.to_string()))?;
    module.define_function(id, context).map_err(|e| Error(e.to_string()))?;
    module.clear_context(context);
    Ok(id)
}

impl Cache {
    /// An empty cache.
    ///
    /// # Errors
    /// The host has no translator, or no memory for code.
    pub fn new(settings: &Settings) -> Result<Cache, Error> {
        let isa = isa()?;
        let doors = Doors::new(&isa)?;
        let arena = Arena::new(settings.code_limit).map_err(|e| Error(e.to_string()))?;
        // SAFETY: zero is a valid SlotCell.
        let slots = unsafe { Box::<[SlotCell]>::new_zeroed_slice(SLOTS).assume_init() };
        Ok(Cache {
            inner: Mutex::new(Inner {
                isa,
                context: Context::new(),
                builder: FunctionBuilderContext::new(),
                arena,
                index: HashMap::new(),
                used: 0,
                translations: Vec::new(),
                stats: Stats::default(),
            }),
            slots,
            doors,
            settings: settings.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in the translator leaves at worst a region without code.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot of a guest address; None if there are no more.
    pub fn slot(&self, pc: u64, mode: Mode) -> Option<Slot> {
        self.slot_in(&mut self.lock(), pc, mode)
    }

    fn slot_in(&self, inner: &mut Inner, pc: u64, mode: Mode) -> Option<Slot> {
        if let Some(slot) = inner.index.get(&(pc, mode)) {
            return Some(*slot);
        }
        let cell = self.slots.get(inner.used)?;
        cell.pc.store(pc, Ordering::Relaxed);
        cell.code.store(self.doors.untranslated[counted(mode.poll)], Ordering::Release);
        let slot = Slot(inner.used as u32);
        inner.used += 1;
        inner.index.insert((pc, mode), slot);
        Some(slot)
    }

    /// The code of a slot, if it has some.
    #[must_use]
    #[inline]
    pub fn code(&self, slot: Slot) -> Option<Code> {
        let code = self.slots[slot.0 as usize].code.load(Ordering::Acquire);
        (!self.doors.untranslated.contains(&code)).then_some(Code(code))
    }

    /// Where translated code finds the slot.
    #[must_use]
    pub fn slot_address(&self, slot: Slot) -> u64 {
        &raw const self.slots[slot.0 as usize] as u64
    }

    /// Translates the region at `pc`; None if there is no instruction or no room. `insn` gives the
    /// instruction at an address, if one is there that this CPU has.
    pub fn translate(
        &self,
        pc: u64,
        mode: Mode,
        insn: &mut dyn FnMut(u64) -> Option<Insn>,
    ) -> Option<Code> {
        let start = Instant::now();
        let mut inner = self.lock();
        let inner = &mut *inner;
        let slot = self.slot_in(inner, pc, mode)?;
        if let Some(code) = self.code(slot) {
            return Some(code);
        }
        // What has no room isn't compiled again and again.
        if inner.arena.is_full() {
            return None;
        }
        let region = {
            let translated =
                |pc| inner.index.get(&(pc, mode)).is_some_and(|slot| self.code(*slot).is_some());
            Region::find(pc, self.settings.region_blocks, insn, &translated)?
        };
        let mut context = std::mem::replace(&mut inner.context, Context::new());
        let mut builder = std::mem::take(&mut inner.builder);
        context.clear();
        let isa = inner.isa.clone();
        let host = Host {
            config: isa.frontend_config(),
            stores_ordered: cfg!(target_arch = "x86_64"),
            has_fma: cfg!(target_arch = "aarch64")
                || isa.isa_flags().iter().any(|f| f.name == "has_fma" && f.as_bool() == Some(true)),
            sse: cfg!(target_arch = "x86_64"),
            statistics: self.settings.statistics,
        };
        let built = {
            let mut slots = |pc| self.slot_in(inner, pc, mode).map(|s| self.slot_address(s));
            translate::build(&mut context.func, &mut builder, host, &region, mode, &mut slots)
        };
        anchor::anchor(&mut context, &*isa, &built.raising, built.clears_flags);
        let code = add(&mut inner.arena, &mut context, &isa);
        inner.context = context;
        inner.builder = builder;
        let (at, len, places) = code?;
        let sites: Vec<(u32, Site)> = places
            .into_iter()
            .filter_map(|(offset, i)| built.sites.get(i as usize).map(|s| (offset, *s)))
            .collect();
        let runs = region.blocks.iter().map(|b| (b.pc, b.insns.iter().map(|i| i.word).collect()));
        inner.translations.push(Translation {
            slot,
            mode,
            code: at..at + len,
            runs: runs.collect(),
            sites,
            alive: true,
        });
        self.slots[slot.0 as usize].code.store(at, Ordering::Release);
        inner.stats.translations += 1;
        inner.stats.guest_instructions += region.len() as u64;
        inner.stats.code_bytes = inner.arena.used() as u64;
        inner.stats.translation_ns += start.elapsed().as_nanos() as u64;
        Some(Code(at))
    }

    /// Runs translated code; what is left of the budget. Why it came back stands in the state.
    ///
    /// # Safety
    /// `state` is a [`Regs`] with the poll flag after it, that nothing else reaches meanwhile but
    /// that flag; the words that the mode's memory needs are set, and their memory is alive. `code`
    /// is of this cache.
    pub unsafe fn enter(&self, state: *mut Regs, code: Code, mode: Mode, budget: u64) -> u64 {
        // SAFETY: the caller's; trampoline and code are of this cache.
        unsafe { abi::enter(state.cast(), self.doors.enter[counted(mode.poll)], code.0, budget) }
    }

    /// The guest instruction that host code at `pc` belongs to, and what was charged for
    /// instructions that didn't retire when it faults.
    #[must_use]
    pub fn site(&self, pc: u64) -> Option<(u64, i64)> {
        let pc = pc as usize;
        let inner = self.lock();
        // Code is added at ascending addresses.
        let i = inner.translations.partition_point(|t| t.code.start <= pc);
        let t = inner.translations.get(i.checked_sub(1)?).filter(|t| t.code.contains(&pc))?;
        let offset = (pc - t.code.start) as u32;
        let i = t.sites.partition_point(|(o, _)| *o <= offset);
        let (_, site) = t.sites.get(i.checked_sub(1)?)?;
        Some((site.pc, site.refund))
    }

    /// Drops what was translated from this range of guest addresses.
    pub fn invalidate(&self, range: Range<u64>) {
        self.drop_where(|t| {
            t.runs.iter().any(|(pc, words)| {
                *pc < range.end && pc.saturating_add(4 * words.len() as u64) > range.start
            })
        });
    }

    /// Drops what was translated from other words than memory holds now.
    pub fn revalidate(&self, fetch: &mut dyn FnMut(u64) -> Option<u32>) {
        self.drop_where(|t| {
            t.runs.iter().any(|(pc, words)| {
                words
                    .iter()
                    .enumerate()
                    .any(|(i, w)| fetch(pc.wrapping_add(4 * i as u64)) != Some(*w))
            })
        });
    }

    fn drop_where(&self, mut gone: impl FnMut(&Translation) -> bool) {
        let mut inner = self.lock();
        for t in &mut inner.translations {
            if t.alive && gone(t) {
                t.alive = false;
                t.runs = Vec::new();
                self.slots[t.slot.0 as usize]
                    .code
                    .store(self.doors.untranslated[counted(t.mode.poll)], Ordering::Release);
            }
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.lock().stats
    }

    /// Holds the translator still, so that the process can fork.
    #[must_use]
    pub fn hold(&self) -> Hold<'_> {
        Hold { cache: self, inner: self.lock() }
    }
}

/// The translator, held still.
pub struct Hold<'a> {
    cache: &'a Cache,
    inner: MutexGuard<'a, Inner>,
}

impl std::fmt::Debug for Hold<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hold")
    }
}

impl Hold<'_> {
    /// In the child of a fork, before it runs guest code: the parent's code isn't there, so the
    /// cache becomes an empty one.
    ///
    /// # Errors
    /// There is no memory for code.
    pub fn in_child(mut self) -> Result<(), Error> {
        let arena = Arena::new(self.cache.settings.code_limit).map_err(|e| Error(e.to_string()))?;
        std::mem::replace(&mut self.inner.arena, arena).forget_after_fork();
        self.inner.translations.clear();
        let slots: Vec<(Slot, Mode)> =
            self.inner.index.iter().map(|((_, mode), slot)| (*slot, *mode)).collect();
        for (slot, mode) in slots {
            self.cache.slots[slot.0 as usize]
                .code
                .store(self.cache.doors.untranslated[counted(mode.poll)], Ordering::Release);
        }
        Ok(())
    }
}

type Placed = (usize, usize, Vec<(u32, u32)>);

/// Compiles what the context holds into the arena: address, length, and the source locations.
fn add(arena: &mut Arena, context: &mut Context, isa: &OwnedTargetIsa) -> Option<Placed> {
    let mut plane = ControlPlane::default();
    let compiled = match context.compile(&**isa, &mut plane) {
        Ok(compiled) => compiled,
        Err(e) => {
            debug_assert!(false, "the translator refuses its own IR: {:?}", e.inner);
            return None;
        }
    };
    let buffer = &compiled.buffer;
    // Calls go through the state or constants: nothing is left to relocate.
    if !buffer.relocs().is_empty() {
        debug_assert!(false, "a relocation: {:?}", buffer.relocs());
        return None;
    }
    let at = arena.add(buffer.data(), buffer.alignment as usize)?;
    let mut places: Vec<(u32, u32)> =
        buffer.get_srclocs_sorted().iter().map(|s| (s.start, s.loc.bits())).collect();
    places.sort_unstable();
    Some((at, buffer.data().len(), places))
}

const _: () = assert!(std::mem::size_of::<SlotCell>() == 16);
