//! The program that is run: engine, personality, environment.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use axperf::{Cpu, Engine, EngineKind};
use axperf_linux::{Observer, Pmu, Process};

use crate::disk;
use crate::failure::Failure;

/// How a program is run.
#[derive(Debug)]
pub struct Options {
    pub sysroot: Option<PathBuf>,
    pub interpret: bool,
    pub cpu: Cpu,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub seed: Option<u64>,
    /// Translate beside the program.
    pub background: bool,
    /// The directory that translations are kept in.
    pub cache: Option<PathBuf>,
    pub stats: bool,
    pub fault_regs: bool,
    pub crosscheck: bool,
    /// Whether the program has perf_event_open, and how it answers.
    pub guest_perf: bool,
    pub pmu: Pmu,
    pub kernel_exact: bool,
    pub verbose: bool,
    /// Trace system calls to standard error, or to a file.
    pub strace: Option<Option<PathBuf>>,
    /// The program and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// The program's own name, if not that.
    pub argv0: Option<Vec<u8>>,
}

/// Entries that make code hot where translation is beside the program.
const HOT: u32 = 2000;

/// A program that is ready to run.
pub struct Guest {
    pub process: Process,
    engine: Engine,
    stats: bool,
    verbose: bool,
    cache: Option<PathBuf>,
}

impl Guest {
    /// Loads the program, with what a command asks of its process besides.
    pub fn new(
        options: &Options,
        observer: Option<Arc<dyn Observer>>,
        configure: impl FnOnce(&mut axperf_linux::Config),
    ) -> Result<Guest, Failure> {
        let mut config = axperf::Config::new();
        config
            .cpu(options.cpu)
            .engine(if options.interpret { EngineKind::Interp } else { EngineKind::Jit })
            .fault_regs(options.fault_regs)
            .crosscheck(options.crosscheck)
            .background(options.background)
            .statistics(options.stats);
        if options.background {
            // The program doesn't wait for it.
            config.hot(HOT);
        }
        let verbose = |what: &dyn std::fmt::Display| {
            if options.verbose {
                eprintln!("axperf: translations aren't kept: {what}");
            }
        };
        if let (Some(directory), false) = (&options.cache, options.interpret) {
            let program = options.argv.first().map_or(&[][..], Vec::as_slice);
            let how = format!("{} {}", options.cpu, options.stats);
            match disk::file(directory, program, &how) {
                Ok(file) => {
                    config.on_disk(Some(file));
                }
                Err(e) => verbose(&format_args!("{}: {e}", directory.display())),
            }
        }
        let engine = Engine::new(&config)?;
        if let Some(problem) = engine.disk_problem() {
            verbose(&problem);
        }
        let mut linux = axperf_linux::Config::new();
        linux.verbose(options.verbose).show_registers(options.fault_regs);
        linux.guest_perf(options.guest_perf).pmu(options.pmu).kernel_exact(options.kernel_exact);
        linux.random(options.seed.map(random)).argv0(options.argv0.clone());
        if let Some(to) = &options.strace {
            let said = |e: std::io::Error| match to {
                Some(path) => Failure::Said(format!("{}: {e}", path.display())),
                None => Failure::Said(format!("standard error: {e}")),
            };
            let file = match to {
                Some(path) => File::create(path).map(OwnedFd::from),
                None => std::io::stderr().as_fd().try_clone_to_owned(),
            };
            linux.strace(file.map_err(said)?).map_err(said)?;
        }
        if let Some(root) = &options.sysroot {
            linux.sysroot(Some(root.clone()));
        }
        configure(&mut linux);
        let argv = options.argv.clone();
        let process = Process::new(&engine, argv, environment(&options.env), &linux, observer)?;
        Ok(Guest {
            process,
            engine,
            stats: options.stats,
            verbose: options.verbose,
            cache: options.cache.clone(),
        })
    }

    /// What is needed after the process has run: what to say of the engine.
    pub fn split(self) -> (Process, EngineReport) {
        let shared = Arc::clone(self.process.shared());
        (
            self.process,
            EngineReport {
                engine: self.engine,
                shared,
                wanted: self.stats,
                verbose: self.verbose,
                cache: self.cache,
            },
        )
    }
}

/// What the engine did, for `--stats`.
pub struct EngineReport {
    engine: Engine,
    shared: Arc<axperf_linux::Shared>,
    wanted: bool,
    verbose: bool,
    cache: Option<PathBuf>,
}

impl EngineReport {
    /// Keeps what was translated, and prints to standard error what was done, if that is wanted.
    pub fn finish(&self) {
        // The program has ended, however that went.
        let kept = match (self.engine.save(), &self.cache) {
            (Err(e), _) => Err(e.to_string()),
            (Ok(1..), Some(directory)) => disk::prune(directory).map_err(|e| e.to_string()),
            (Ok(_), _) => Ok(()),
        };
        if let Err(e) = kept
            && self.verbose
        {
            eprintln!("axperf: translations aren't kept: {e}");
        }
        if !self.wanted {
            return;
        }
        let stats = self.engine.stats();
        let translated = stats.translated.unwrap_or(0);
        let total = stats.interpreted + translated;
        let percent = |n: u64| if total == 0 { 0.0 } else { n as f64 * 100.0 / total as f64 };
        let multi_block = stats.multi_block.unwrap_or(0);
        for (n, what) in [
            (stats.interpreted, "by the interpreter"),
            (translated, "by translated code"),
            (multi_block, "in regions of more than one block"),
        ] {
            eprintln!("axperf: {n:>14} instructions retired {what} ({:.2}%)", percent(n));
        }
        eprintln!(
            "axperf: {} regions translated: {} instructions to {} bytes in {:.1} ms, {:.1} of it beside the program",
            stats.translations,
            stats.guest_instructions,
            stats.code_bytes,
            stats.translation_ns as f64 / 1e6,
            stats.background_ns as f64 / 1e6,
        );
        if stats.recalled > 0 {
            eprintln!("axperf: {} regions from an earlier run", stats.recalled);
        }
        if stats.failures > 0 {
            eprintln!("axperf: {} regions couldn't be translated", stats.failures);
        }
        let unaligned = self.shared.unaligned_accesses();
        if unaligned > 0 {
            eprintln!("axperf: {unaligned} unaligned accesses fixed up");
        }
        let emulated = self.shared.emulation_faults();
        if emulated > 0 {
            eprintln!("axperf: {emulated} instructions emulated that the CPU lacks");
        }
    }
}

/// Sixteen bytes that look random: two steps of the generator SplitMix64.
fn random(seed: u64) -> [u8; 16] {
    let step = |n: u64| {
        let mut z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&step(1).to_le_bytes());
    bytes[8..].copy_from_slice(&step(2).to_le_bytes());
    bytes
}

/// axperf's own environment with the changes made.
fn environment(changes: &[(Vec<u8>, Vec<u8>)]) -> Vec<Vec<u8>> {
    let changed = |name: &[u8]| changes.iter().any(|(n, _)| n == name);
    let own = std::env::vars_os().map(|(n, v)| (n.into_vec(), v.into_vec()));
    own.filter(|(name, _)| !changed(name))
        .chain(changes.iter().cloned())
        .map(|(name, value)| [name, value].join(&b'='))
        .collect()
}
