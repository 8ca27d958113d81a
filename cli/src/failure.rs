//! What can go wrong, as the user is told of it: one sentence, and an exit status.

use std::io;

use axperf::export::WriteError;
use axperf::export::script::UnknownField;
use axperf::perf::{AttrError, EventError, UnknownReg};
use axperf_linux::LoadFailure;

/// Why a command ends without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The library.
    #[error("{0}")]
    Library(#[from] axperf::Error),
    /// The program can't be run.
    #[error("{0}")]
    Process(#[from] axperf_linux::Error),
    /// `-e`.
    #[error("-e: {0}")]
    Event(#[from] EventError),
    /// `--user-regs`.
    #[error("--user-regs: {0}")]
    Regs(#[from] UnknownReg),
    /// `--intr-regs`.
    #[error("--intr-regs: {0}")]
    IntrRegs(UnknownReg),
    /// `-F`.
    #[error("-F: {0}")]
    Fields(#[from] UnknownField),
    /// What the options ask for isn't valid together.
    #[error("{0}")]
    Attr(#[from] AttrError),
    /// Standard output.
    #[error("can't write to standard output: {0}")]
    Output(#[from] io::Error),
    /// Said in full where it happened.
    #[error("{0}")]
    Said(String),
}

impl From<WriteError> for Failure {
    fn from(e: WriteError) -> Self {
        match e {
            WriteError::Data(e) => Failure::Library(e),
            WriteError::Output(e) => Failure::Output(e),
            other => Failure::Said(other.to_string()),
        }
    }
}

impl Failure {
    /// Like a shell: 127 for a program that isn't there, 126 for one that can't be run.
    fn status(&self) -> i32 {
        match self {
            Failure::Process(axperf_linux::Error::NotFound(_)) => 127,
            Failure::Process(axperf_linux::Error::Load(e)) => match &e.why {
                LoadFailure::Open(errno) if errno.0 == libc::ENOENT => 127,
                _ => 126,
            },
            // Whoever read the output has seen enough: what a shell reports of SIGPIPE.
            Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => 128 + libc::SIGPIPE,
            _ => 1,
        }
    }

    /// Tells the user and ends the process.
    pub fn exit(self) -> ! {
        let quiet = matches!(&self, Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe);
        if !quiet {
            eprintln!("axperf: {self}");
        }
        std::process::exit(self.status())
    }
}
