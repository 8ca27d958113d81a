//! Profiles as files and text: one module a format, and what they share.

pub mod offline;
pub mod perf_data;
pub mod profile;
pub mod samples;
pub mod script;
