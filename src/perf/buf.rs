//! A record while it is written.
#![allow(unsafe_code)]

use axperf_isa::Regs;

use super::regs::{COPY_SLACK, CopyPlan};

/// The longest record in bytes: the size field has 16 bits, sizes are multiples of 8.
pub const MAX_RECORD: usize = 65528;

/// `struct perf_event_header`: type, misc, and the record's size, which is filled in at the end.
const HEADER_WORDS: usize = 1;

/// One record, in words: every record's size is a multiple of 8 bytes.
///
/// The buffer is reused from record to record and never grows: what doesn't fit into
/// [`MAX_RECORD`] bytes is the caller's to cut, and is checked.
pub struct RecordBuf {
    words: Box<[u64]>,
    len: usize,
}

impl std::fmt::Debug for RecordBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RecordBuf({} bytes)", self.len * 8)
    }
}

impl Default for RecordBuf {
    fn default() -> Self {
        RecordBuf::with_capacity(MAX_RECORD)
    }
}

impl RecordBuf {
    /// A buffer for records of up to `bytes` bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> RecordBuf {
        let words = bytes.min(MAX_RECORD).div_ceil(8) + COPY_SLACK;
        RecordBuf { words: vec![0; words].into_boxed_slice(), len: 0 }
    }

    /// Starts a record.
    #[inline]
    pub fn start(&mut self, kind: u32, misc: u16) {
        self.words[0] = u64::from(kind) | u64::from(misc) << 32;
        self.len = HEADER_WORDS;
    }

    /// Bytes written so far, the header's included.
    #[inline]
    #[must_use]
    pub fn bytes_so_far(&self) -> usize {
        self.len * 8
    }

    /// Adds a word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.words[self.len] = word;
        self.len += 1;
    }

    /// Adds two halves of a word.
    #[inline]
    pub fn halves(&mut self, low: u32, high: u32) {
        self.word(u64::from(low) | u64::from(high) << 32);
    }

    /// Adds words.
    #[inline]
    pub fn extend(&mut self, words: &[u64]) {
        self.words[self.len..self.len + words.len()].copy_from_slice(words);
        self.len += words.len();
    }

    /// Adds the registers of a plan.
    #[inline]
    pub fn regs(&mut self, plan: &CopyPlan, regs: &Regs) {
        plan.copy(regs, &mut self.words[self.len..]);
        self.len += plan.mask().len();
    }

    /// Adds a string with a zero after it, filled up with zeros to whole words.
    pub fn string(&mut self, bytes: &[u8]) {
        let words = (bytes.len() + 1).div_ceil(8);
        let room = self.room(words);
        room.fill(0);
        as_bytes_mut(room)[..bytes.len()].copy_from_slice(bytes);
    }

    /// Adds `bytes` bytes, a multiple of 8, that `fill` writes; it says how many it wrote, and the
    /// rest is zeroed.
    pub fn fill(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> usize {
        let room = as_bytes_mut(self.room(bytes / 8));
        let written = fill(room).min(room.len());
        room[written..].fill(0);
        written
    }

    fn room(&mut self, words: usize) -> &mut [u64] {
        let start = self.len;
        self.len += words;
        &mut self.words[start..start + words]
    }

    /// Ends the record and gives its words.
    #[inline]
    pub fn finish(&mut self) -> &[u64] {
        let bytes = self.len * 8;
        assert!(bytes <= MAX_RECORD, "a record of {bytes} bytes: its size has 16 bits");
        self.words[0] |= (bytes as u64) << 48;
        &self.words[..self.len]
    }
}

/// Appends words to bytes.
pub fn append_words(to: &mut Vec<u8>, words: &[u64]) {
    to.reserve(words.len() * 8);
    for word in words {
        to.extend_from_slice(&word.to_le_bytes());
    }
}

/// perf's records are in the guest's byte order; so is a word's memory on a little-endian host.
#[cfg(target_endian = "big")]
compile_error!("axperf needs a little-endian host");

fn as_bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the words are borrowed mutably for as long as the result, u8 has no alignment, and
    // any bytes are a valid u64.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
