//! Profiles as files: one module a format.

pub mod perf_data;
