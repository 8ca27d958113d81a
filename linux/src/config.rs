//! What the embedder says about a guest process.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use crate::descriptors::lift;
use crate::gdb::GdbAddress;
use crate::path::Sysroot;
use crate::perf_event::Pmu;

/// How a guest process is to run.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) sysroot: Sysroot,
    pub(crate) verbose: bool,
    pub(crate) show_registers: bool,
    pub(crate) random: Option<[u8; 16]>,
    pub(crate) stack: u64,
    pub(crate) release: String,
    pub(crate) strace: Option<Arc<OwnedFd>>,
    pub(crate) argv0: Option<Vec<u8>>,
    pub(crate) guest_perf: bool,
    pub(crate) pmu: Pmu,
    pub(crate) kernel_exact: bool,
    pub(crate) gdb: Option<GdbAddress>,
    pub(crate) core: Option<PathBuf>,
}

/// Where Debian's cross compiler has its Alpha libraries.
pub const DEBIAN_SYSROOT: &str = "/usr/alpha-linux-gnu";

impl Default for Config {
    fn default() -> Config {
        let debian = PathBuf::from(DEBIAN_SYSROOT);
        Config {
            sysroot: Sysroot::new(debian.is_dir().then_some(debian)),
            verbose: false,
            show_registers: false,
            random: None,
            stack: 8 << 20,
            release: "7.2.13".into(),
            strace: None,
            argv0: None,
            guest_perf: true,
            pmu: Pmu::Full,
            kernel_exact: false,
            gdb: None,
            core: None,
        }
    }
}

impl Config {
    /// The defaults.
    #[must_use]
    pub fn new() -> Config {
        Config::default()
    }

    /// Directory in which the guest's absolute paths are looked for first. Default:
    /// [`DEBIAN_SYSROOT`] where it exists, else none.
    pub fn sysroot(&mut self, root: Option<PathBuf>) -> &mut Config {
        self.sysroot = Sysroot::new(root);
        self
    }

    /// Whether to say on stderr what isn't implemented and which signals end the program.
    /// Default: no.
    pub fn verbose(&mut self, on: bool) -> &mut Config {
        self.verbose = on;
        self
    }

    /// Whether to print the registers when a signal ends the program. Those of a memory fault are
    /// exact if the engine's `fault_regs` says so. Default: no.
    pub fn show_registers(&mut self, on: bool) -> &mut Config {
        self.show_registers = on;
        self
    }

    /// The random bytes that a program starts with (AT_RANDOM), from which the C library makes its
    /// stack guard. Default: the host's, others for each program.
    pub fn random(&mut self, bytes: Option<[u8; 16]>) -> &mut Config {
        self.random = bytes;
        self
    }

    /// Bytes of the first thread's stack. Default: 8 MiB, Linux's.
    pub fn stack(&mut self, bytes: u64) -> &mut Config {
        self.stack = bytes;
        self
    }

    /// Whether the guest has perf_event_open; without, it is ENOSYS. Default: yes.
    pub fn guest_perf(&mut self, on: bool) -> &mut Config {
        self.guest_perf = on;
        self
    }

    /// The performance monitor that the guest finds. Default: [`Pmu::Full`].
    pub fn pmu(&mut self, pmu: Pmu) -> &mut Config {
        self.pmu = pmu;
        self
    }

    /// Whether events report what Linux with the posted register patch does, where axperf can do
    /// better: a switch of tasks has no registers then, and alignment-faults and emulation-faults
    /// never happen. Default: no.
    pub fn kernel_exact(&mut self, on: bool) -> &mut Config {
        self.kernel_exact = on;
        self
    }

    /// The kernel's release, as uname gives it. Default: 7.2.13.
    pub fn release(&mut self, release: &str) -> &mut Config {
        self.release = release.into();
        self
    }

    /// Write each system call and signal to this file, in the form of strace(1). The guest doesn't
    /// see the descriptor. Default: no.
    ///
    /// # Errors
    /// The host has no descriptor to spare.
    pub fn strace(&mut self, to: OwnedFd) -> std::io::Result<&mut Config> {
        self.strace = Some(Arc::new(lift(to)?));
        Ok(self)
    }

    /// Where a debugger is waited for, before the first instruction. Registers are exact wherever the
    /// program stops then, which makes it slower. Default: none.
    pub fn gdb(&mut self, address: Option<GdbAddress>) -> &mut Config {
        self.gdb = address;
        self
    }

    /// What the program finds as `argv[0]`. Default: the path that it is started by.
    pub fn argv0(&mut self, name: Option<Vec<u8>>) -> &mut Config {
        self.argv0 = name;
        self
    }

    /// Where a core dump is written if a signal ends the program that does so on Linux; `%p` in it is
    /// the process's number. Registers are exact then, which makes the program slower. Default: none.
    pub fn core(&mut self, file: Option<PathBuf>) -> &mut Config {
        self.core = file;
        self
    }
}
