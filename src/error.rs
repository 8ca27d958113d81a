//! The library's error: mistakes of the host's, and files that can't be read.
//!
//! What a guest does wrong is never an error: it comes back as an exit, for the embedder to act on.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use crate::perf::AttrError;

/// Why something of axperf's failed. Each is one sentence that says what and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host can't do what was asked for.
    #[error("{0}")]
    Host(String),

    /// The host's operating system refused something.
    #[error("can't {what}: {source}")]
    Os {
        /// What was tried.
        what: Cow<'static, str>,
        /// Why not.
        source: io::Error,
    },

    /// A file can't be opened, read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },

    /// A file isn't what it should be.
    #[error("{}: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Cow<'static, str>,
    },

    /// Linux would refuse these perf attributes.
    #[error("these attributes aren't valid: {0}")]
    Attr(#[from] AttrError),

    /// A ring buffer can't have this size.
    #[error("a ring of {bytes} bytes isn't possible: the size is a power of two, 4096 at least")]
    RingSize {
        /// The size asked for.
        bytes: usize,
    },
}

/// A result with this library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The host refused to do `what`.
    pub fn os(what: impl Into<Cow<'static, str>>, source: io::Error) -> Error {
        Error::Os { what: what.into(), source }
    }

    /// A file can't be opened, read or written.
    pub fn file(path: impl Into<PathBuf>, source: io::Error) -> Error {
        Error::File { path: path.into(), source }
    }

    /// A file isn't what it should be.
    pub fn format(path: impl Into<PathBuf>, why: impl Into<Cow<'static, str>>) -> Error {
        Error::Format { path: path.into(), why: why.into() }
    }
}
