//! What machines share: settings and translated code.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axperf_jit::Cache;

use crate::error::Result;
use crate::machine::config::Config;

/// The translator and its code, shared by all machines made from it. A clone is the same engine.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub config: Config,
    pub cache: Cache,
    /// Counts invalidations: a machine that sees a new number checks what it decoded.
    pub generation: AtomicU64,
    /// Registers must be exact at host memory faults.
    pub precise: AtomicBool,
    /// Instructions retired by interpreters that reported.
    pub interpreted: AtomicU64,
}

/// What an engine has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Instructions retired by the interpreter.
    pub interpreted: u64,
    /// Instructions retired by translated code; None where they weren't counted.
    pub translated: Option<u64>,
    /// Those of them in regions of more than one block.
    pub multi_block: Option<u64>,
    /// Regions translated.
    pub translations: u64,
    /// Guest instructions in them.
    pub guest_instructions: u64,
    /// Bytes of host code in them.
    pub code_bytes: u64,
    /// Time spent translating, in nanoseconds.
    pub translation_ns: u64,
}

impl Engine {
    /// An engine with these settings.
    ///
    /// # Errors
    /// The host can't hold translated code.
    pub fn new(config: &Config) -> Result<Engine> {
        Ok(Engine {
            inner: Arc::new(Inner {
                precise: AtomicBool::new(config.fault_regs),
                config: config.clone(),
                cache: Cache::default(),
                generation: AtomicU64::new(0),
                interpreted: AtomicU64::new(0),
            }),
        })
    }

    /// Code in this range of guest addresses is gone or another: unmapped, no longer executable,
    /// replaced. Machines that run in it go on with what is there now.
    pub fn invalidate(&self, range: Range<u64>) {
        self.inner.cache.invalidate(range);
        self.inner.generation.fetch_add(1, Ordering::Release);
    }

    /// All code is gone or another.
    pub fn invalidate_all(&self) {
        self.invalidate(0..u64::MAX);
    }

    /// Registers are exact at memory faults from now on, or need not be: someone can see them, or
    /// nobody can.
    pub fn set_precise_faults(&self, on: bool) {
        let on = on || self.inner.config.fault_regs;
        self.inner.precise.store(on, Ordering::Release);
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats { interpreted: self.inner.interpreted.load(Ordering::Relaxed), ..Stats::default() }
    }
}
