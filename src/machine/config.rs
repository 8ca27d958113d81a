//! How an engine runs code.

use std::path::PathBuf;

use axperf_isa::{Insn, Shape};

use crate::machine::cpu::Cpu;

/// Which engine executes guest code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EngineKind {
    /// The interpreter alone.
    Interp,
    /// The interpreter first, translated code where it is hot.
    #[default]
    Jit,
}

/// Settings of an [`Engine`](crate::Engine).
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) kind: EngineKind,
    pub(crate) cpu: Cpu,
    pub(crate) hot: u32,
    pub(crate) fault_regs: bool,
    pub(crate) crosscheck: bool,
    pub(crate) code_limit: usize,
    pub(crate) region_blocks: usize,
    pub(crate) statistics: bool,
    pub(crate) all_pal_calls: bool,
    pub(crate) background: bool,
    pub(crate) on_disk: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

impl Config {
    /// The defaults, which each setter states.
    #[must_use]
    pub fn new() -> Config {
        Config {
            kind: EngineKind::Jit,
            cpu: Cpu::Ev67,
            hot: 4000,
            fault_regs: false,
            crosscheck: false,
            code_limit: 256 << 20,
            region_blocks: usize::MAX,
            statistics: false,
            all_pal_calls: false,
            background: false,
            on_disk: None,
        }
    }

    /// Which engine. Default: [`EngineKind::Jit`].
    pub fn engine(&mut self, kind: EngineKind) -> &mut Self {
        self.kind = kind;
        self
    }

    /// Which CPU. Default: [`Cpu::Ev67`], which has every instruction.
    pub fn cpu(&mut self, cpu: Cpu) -> &mut Self {
        self.cpu = cpu;
        self
    }

    /// How many times a block is interpreted before it is translated. Entries from
    /// translated code count ten times. Default: 4000.
    pub fn hot(&mut self, times: u32) -> &mut Self {
        self.hot = times.max(1);
        self
    }

    /// Registers are exact at every memory fault, also where the host's MMU finds it; translated
    /// code is slower for it. Default: false (the faulting pc is always exact).
    pub fn fault_regs(&mut self, on: bool) -> &mut Self {
        self.fault_regs = on;
        self
    }

    /// Runs translated code and the interpreter side by side and stops with
    /// [`Exit::Diverged`](crate::Exit::Diverged) where they differ. Default: false.
    pub fn crosscheck(&mut self, on: bool) -> &mut Self {
        self.crosscheck = on;
        self
    }

    /// Bytes of translated code that are kept at most, about; the oldest is dropped for new code.
    /// Default: 256 MiB.
    pub fn code_limit(&mut self, bytes: usize) -> &mut Self {
        self.code_limit = bytes;
        self
    }

    /// Guest blocks that are translated together at most; 1 makes every block a region of its own.
    /// Default: the translator's own limit.
    pub fn region_blocks(&mut self, blocks: usize) -> &mut Self {
        self.region_blocks = blocks.max(1);
        self
    }

    /// Counts what [`Stats`](crate::Stats) reports on instructions; translated code is a little
    /// slower for it. Default: false.
    pub fn statistics(&mut self, on: bool) -> &mut Self {
        self.statistics = on;
        self
    }

    /// Every CALL_PAL comes back as [`Exit::Pal`](crate::Exit::Pal). Otherwise the machine does three
    /// functions itself, which OSF/1's and OpenVMS's PALcode have under the same numbers: imb (0x86),
    /// rduniq (0x9e) and wruniq (0x9f). Default: false.
    pub fn all_pal_calls(&mut self, on: bool) -> &mut Self {
        self.all_pal_calls = on;
        self
    }

    /// The instruction that a word is to the translator; None for what it leaves to the interpreter.
    pub(crate) fn translatable(&self, word: u32) -> Option<Insn> {
        let taken = |insn: &Insn| self.all_pal_calls && insn.desc().shape == Shape::Pal;
        self.cpu.decode(word).filter(|insn| !taken(insn))
    }

    /// Keeps translations in this file: what is in it needs no translating, and
    /// [`Engine::save`](crate::Engine::save) writes it. A file is used if nobody else can write to
    /// it and to its directory, and if it is of this build, host and configuration; what the program
    /// has at an address is compared with what was translated. Default: none.
    pub fn on_disk(&mut self, file: Option<PathBuf>) -> &mut Self {
        self.on_disk = file;
        self
    }

    /// Translates on a thread of its own, which the first hot code starts, while the program goes
    /// on in the interpreter. Counts, exits and samples are the same either way. Default: false,
    /// hot code is translated before the program goes on.
    pub fn background(&mut self, on: bool) -> &mut Self {
        self.background = on;
        self
    }
}
