//! Placeholder while the crate is laid out.
#![no_std]
