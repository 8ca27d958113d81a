//! What machines share: settings and translated code.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axperf_jit::{Cache, Hold, OnDisk, Settings};

use crate::error::{Error, Result};
use crate::machine::changes::{Change, Changes};
use crate::machine::config::{Config, EngineKind};
use crate::machine::cpu::Cpu;
use crate::machine::host;

/// The translator and its code, shared by all machines made from it. A clone is the same engine.
///
/// What is translated is known by its address: machines of one engine must have the same code at the
/// same addresses, as the threads of a process do. Others each want an engine of their own.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub config: Config,
    /// None: the interpreter alone.
    pub cache: Option<Cache>,
    /// Entries of a block until a translation of it is looked for, on disk at first.
    pub warm: u32,
    /// What changed of the code: a machine that sees a new number checks what it decoded.
    pub changes: Changes,
    /// Counts forks that led here: what was hot has no code any more.
    pub forks: AtomicU64,
    /// Registers must be exact at host memory faults.
    pub precise: AtomicBool,
    /// Instructions retired by interpreters that reported.
    pub interpreted: AtomicU64,
    /// Instructions retired by translated code, where they were counted.
    pub translated: AtomicU64,
    /// Those in regions of more than one block.
    pub multi_block: AtomicU64,
    /// Some of them weren't counted.
    pub uncounted: AtomicBool,
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
    /// What of it was spent in the background.
    pub background_ns: u64,
    /// Regions whose code came from disk, which aren't counted above.
    pub recalled: u64,
    /// Regions that the translator failed on; they are interpreted.
    pub failures: u64,
    /// Times that the oldest translated code was dropped to make room.
    pub evictions: u64,
}

/// Entries of a block until its translation is looked for on disk.
const WARM: u32 = 16;

impl Engine {
    /// An engine with these settings.
    ///
    /// # Errors
    /// The host can't hold translated code.
    pub fn new(config: &Config) -> Result<Engine> {
        if !host::has_wide_exchange() {
            return Err(Error::Host("this processor can't exchange 16 bytes atomically".into()));
        }
        let cache = match config.kind {
            EngineKind::Interp => None,
            EngineKind::Jit => {
                let settings = Settings {
                    code_limit: config.code_limit,
                    region_blocks: config.region_blocks,
                    statistics: config.statistics,
                    background: config.background,
                    on_disk: config.on_disk.as_ref().map(|path| OnDisk {
                        path: path.clone(),
                        tag: format!("{} {}", config.cpu, config.all_pal_calls),
                    }),
                };
                Some(Cache::new(&settings).map_err(|e| Error::Host(e.to_string()))?)
            }
        };
        Ok(Engine {
            inner: Arc::new(Inner {
                precise: AtomicBool::new(config.fault_regs),
                warm: match &cache {
                    Some(cache) if cache.recalls() => config.hot.min(WARM),
                    _ => config.hot,
                },
                config: config.clone(),
                cache,
                changes: Changes::default(),
                forks: AtomicU64::new(0),
                interpreted: AtomicU64::new(0),
                translated: AtomicU64::new(0),
                multi_block: AtomicU64::new(0),
                uncounted: AtomicBool::new(false),
            }),
        })
    }

    /// The CPU that its machines are.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        self.inner.config.cpu
    }

    /// Code in this range of guest addresses is gone or another: unmapped, no longer executable,
    /// replaced. Machines that run in it go on with what is there now, those of other threads where
    /// they look for a kick.
    pub fn invalidate(&self, range: Range<u64>) {
        // First: a machine that the cache calls out must find it.
        self.inner.changes.add(Change::Range(range.clone()));
        if let Some(cache) = &self.inner.cache {
            cache.invalidate(range);
        }
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
        let inner = &self.inner;
        let counted = inner.config.statistics && !inner.uncounted.load(Ordering::Relaxed);
        let jit = inner.cache.as_ref().map(Cache::stats).unwrap_or_default();
        Stats {
            interpreted: inner.interpreted.load(Ordering::Relaxed),
            translated: counted.then(|| inner.translated.load(Ordering::Relaxed)),
            multi_block: counted.then(|| inner.multi_block.load(Ordering::Relaxed)),
            translations: jit.translations,
            guest_instructions: jit.guest_instructions,
            code_bytes: jit.code_bytes,
            translation_ns: jit.translation_ns,
            background_ns: jit.background_ns,
            recalled: jit.recalled,
            failures: jit.failures,
            evictions: jit.evictions,
        }
    }

    /// Writes what was translated to [the file](Config::on_disk) that it is kept in, if there is one
    /// and much of it isn't there yet; how many translations were written. A process that was forked
    /// writes nothing.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn save(&self) -> Result<usize> {
        let saved = self.inner.cache.as_ref().map(Cache::save).transpose();
        Ok(saved.map_err(|e| Error::Host(e.to_string()))?.unwrap_or(0))
    }

    /// Why the file that translations are kept in isn't used, if it is there.
    #[must_use]
    pub fn disk_problem(&self) -> Option<String> {
        self.inner.cache.as_ref()?.disk_problem()
    }

    /// The host's number of the thread that translates in the background, if it runs: what lists
    /// threads may want to leave it out.
    #[must_use]
    pub fn background_thread(&self) -> Option<i32> {
        self.inner.cache.as_ref()?.background_thread()
    }

    /// Waits until nothing is being translated in the background.
    pub fn settle(&self) {
        if let Some(cache) = &self.inner.cache {
            cache.settle();
        }
    }

    /// Holds the engine still, so that the process can fork.
    #[must_use]
    pub fn prepare_fork(&self) -> ForkGuard<'_> {
        ForkGuard { hold: self.inner.cache.as_ref().map(Cache::hold), engine: self }
    }
}

/// An engine held still for a fork: dropped in the parent, told in the child.
#[derive(Debug)]
pub struct ForkGuard<'a> {
    hold: Option<Hold<'a>>,
    engine: &'a Engine,
}

impl ForkGuard<'_> {
    /// In the child, before it runs guest code: translated code isn't inherited, so the engine
    /// starts without.
    ///
    /// # Errors
    /// The host has no memory for code.
    pub fn in_child(self) -> Result<()> {
        let inner = &self.engine.inner;
        inner.forks.fetch_add(1, Ordering::Relaxed);
        // Nothing changed, but machines look.
        inner.changes.add(Change::Range(0..0));
        match self.hold {
            Some(hold) => hold.in_child().map_err(|e| Error::Host(e.to_string())),
            None => Ok(()),
        }
    }
}
