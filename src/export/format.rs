//! The formats that a recording can be written in for other programs to show: one row each.

use std::io::{self, Write};

use super::perf_data::PerfData;
use super::{firefox, folded, json_lines, pprof, speedscope};
use crate::symbols::Session;

/// Why something can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The recording can't be read.
    #[error(transparent)]
    Data(#[from] crate::Error),
    /// The output can't be written.
    #[error("can't write: {0}")]
    Output(#[from] io::Error),
}

/// Defines [`Format`] from one row a format: its name, what it is, the function that writes it, and
/// the feature that it is behind, if it is.
macro_rules! formats {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $what:literal, $write:path
        $(, if $feature:literal)?;)*) => {
        /// A format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format { $($(#[$doc])* $(#[cfg(feature = $feature)])? $id),* }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$($(#[cfg(feature = $feature)])? Format::$id),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(#[cfg(feature = $feature)])? Format::$id => $name),* }
            }

            /// What it is, in a few words.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $($(#[cfg(feature = $feature)])? Format::$id => $what),* }
            }

            /// Writes a recording.
            ///
            /// # Errors
            /// The recording can't be read, or the output can't be written.
            pub fn write(
                self,
                data: &PerfData,
                session: &mut Session,
                out: &mut dyn Write,
            ) -> Result<(), WriteError> {
                match self {
                    $($(#[cfg(feature = $feature)])? Format::$id => $write(data, session, out)),*
                }
            }
        }
    };
}

formats! {
    /// A line for each call chain, and its samples' events: for flame graphs.
    Folded = "folded", "a line for each call chain, for flame graphs", folded::write;
    /// An SVG file that a browser shows.
    Flamegraph = "flamegraph", "an SVG file that a browser shows", super::flamegraph::write,
        if "flamegraph";
    /// For the Firefox Profiler: samples along time.
    Firefox = "firefox", "JSON for profiler.firefox.com", firefox::write;
    /// The file format of speedscope.app.
    Speedscope = "speedscope", "JSON for speedscope.app", speedscope::write;
    /// profile.proto, compressed: for pprof and others.
    Pprof = "pprof", "profile.proto, compressed, for pprof", pprof::write;
    /// A JSON object for each sample, on a line of its own.
    JsonLines = "jsonl", "a JSON object for each sample", json_lines::write;
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{0}`: use {list}", list = Format::ALL.iter().map(|f| f.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat(String);

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let found = Format::ALL.iter().copied().find(|f| f.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
