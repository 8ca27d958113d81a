//! What the host did wrong: misuse of the library, files that aren't what they should be.

/// An error of this library: a sentence that names what and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host can't do what was asked for.
    #[error("{0}")]
    Host(String),
}

/// A result with this library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
