//! What the embedder says about a guest process.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use crate::descriptors::lift;
use crate::path::Sysroot;

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
}
