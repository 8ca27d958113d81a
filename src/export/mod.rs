//! Profiles as files and text: one module a format, and what they share.

pub mod firefox;
#[cfg(feature = "flamegraph")]
pub mod flamegraph;
pub mod folded;
pub mod format;
pub mod json_lines;
pub mod offline;
pub mod perf_data;
pub mod pprof;
pub mod profile;
pub mod samples;
pub mod script;
pub mod speedscope;
pub mod stacks;

pub use format::{Format, UnknownFormat, WriteError};
