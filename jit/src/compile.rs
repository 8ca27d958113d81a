//! From a region to an object: host code that stands nowhere yet.

use axperf_isa::Insn;
use cranelift_codegen::Context;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, UserExternalName};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::{FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;

use crate::abi::Stub;
use crate::anchor;
use crate::faults::{self, Budgets, Site};
use crate::region::Region;
use crate::translate::{self, Host};
use crate::unroll;
use crate::variant::{Mode, Poll};

/// Host code of a region, before it has a place.
#[derive(Debug)]
pub(crate) struct Object {
    pub code: Vec<u8>,
    pub align: usize,
    /// Where addresses belong that only its place and its process give.
    pub relocations: Vec<Relocation>,
    /// What may fault, by its offset, ascending.
    pub sites: Vec<(u32, Site)>,
}

/// Eight bytes of host code that are the address of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub offset: u32,
    pub target: Target,
}

/// What host code names by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// The slot of a guest address, in the code's own mode.
    Slot(u64),
    /// A piece of assembly.
    Stub(Stub),
}

/// The namespace of names that are indices of [`translate::Built::targets`].
pub(crate) const TARGETS: u32 = 0;

/// Compiles regions, one after the other.
pub(crate) struct Compiler {
    isa: OwnedTargetIsa,
    host: Host,
    context: Context,
    builder: FunctionBuilderContext,
}

impl Compiler {
    pub fn new(isa: &OwnedTargetIsa, statistics: bool) -> Compiler {
        let has =
            |flag| isa.isa_flags().iter().any(|f| f.name == flag && f.as_bool() == Some(true));
        Compiler {
            host: Host {
                config: isa.frontend_config(),
                stores_ordered: cfg!(target_arch = "x86_64"),
                has_fma: cfg!(target_arch = "aarch64") || has("has_fma"),
                wide_exchange: has("has_cmpxchg16b"),
                sse: cfg!(target_arch = "x86_64"),
                statistics,
            },
            isa: isa.clone(),
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
        }
    }

    /// Compiles a region; None if the translator refuses its own IR, which is a mistake in it.
    pub fn compile(&mut self, region: &Region, mode: Mode) -> Option<Object> {
        let unrolled;
        let region = match mode.poll {
            Poll::Free => region,
            Poll::Flag | Poll::Counted => {
                unrolled = unroll::unrolled(region);
                &unrolled
            }
        };
        let finds = self.compile_as(region, mode, false);
        finds.or_else(|| self.compile_as(region, mode, true))
    }

    /// The same, with a budget that is stored or not; None also if it isn't and can't be found.
    fn compile_as(&mut self, region: &Region, mode: Mode, stores_budget: bool) -> Option<Object> {
        let context = &mut self.context;
        context.clear();
        let func = &mut context.func;
        let built =
            translate::build(func, &mut self.builder, self.host, region, mode, stores_budget);
        anchor::anchor(context, &*self.isa, &built.raising, built.clears_flags);
        let budgets = Budgets::follow(&mut context.func, &built.budgets, &built.marks);
        let mut plane = ControlPlane::default();
        if let Err(e) = context.compile(&*self.isa, &mut plane) {
            debug_assert!(false, "the translator refuses its own IR: {:?}", e.inner);
            return None;
        }
        let compiled = context.compiled_code()?;
        let buffer = &compiled.buffer;
        let names = context.func.params.user_named_funcs();
        let name = |reference| match names.get(reference) {
            Some(UserExternalName { namespace: TARGETS, index }) => {
                built.targets.get(*index as usize).copied()
            }
            _ => None,
        };
        let mut relocations = Vec::new();
        for reloc in buffer.relocs() {
            let known = match reloc {
                FinalizedMachReloc {
                    offset,
                    kind: Reloc::Abs8,
                    target: FinalizedRelocTarget::ExternalName(ExternalName::User(reference)),
                    addend: 0,
                } => name(*reference).map(|target| Relocation { offset: *offset, target }),
                _ => None,
            };
            let Some(relocation) = known else {
                debug_assert!(false, "a relocation of another kind: {reloc:?}");
                return None;
            };
            relocations.push(relocation);
        }
        Some(Object {
            code: buffer.data().to_vec(),
            align: buffer.alignment as usize,
            relocations,
            sites: faults::sites(compiled, &built.marks, &budgets)?,
        })
    }
}

/// The guest words of a region, by runs of addresses.
pub(crate) type Words = Vec<(u64, Vec<u32>)>;

/// What a region is made from.
pub(crate) fn words(region: &Region) -> Words {
    let word = |i: &Insn| i.word;
    region.blocks.iter().map(|b| (b.pc, b.insns.iter().map(word).collect())).collect()
}
