//! A decoded block, and the links from block to block.
//!
//! # Safety
//! Blocks point to each other. [`Blocks`](crate::machine::blocks::Blocks) owns all of them, and takes
//! every link back before it drops one.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;

use axperf_isa::Insn;
use axperf_jit::Slot;

use crate::machine::step::{Code, Step};

/// Where a way out of a block leads: to a block, or to the one that is none.
pub(crate) type Link = Cell<*const Block>;

/// Instructions that run one after the other.
// What the way in needs shares a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Their number. (As wide as fuel, with which it is compared.)
    pub len: u64,
    /// Entries until its translation is looked for.
    pub left: Cell<u32>,
    /// The first step's.
    pub code: Code,
    /// The steps: one for each instruction, and one after them that goes on to the next block.
    pub steps: Box<[Step]>,
    /// Where its last instruction goes if it branches.
    pub taken: Link,
    /// Where it goes if it doesn't.
    pub fall: Link,
    /// Address of the first instruction.
    pub pc: u64,
    /// Address after the last instruction.
    pub end: u64,
    /// Where its last instruction branches to, if it is a branch.
    pub target: u64,
    /// Where its last instruction jumped to so far, if it is a jump and that is recorded.
    pub jump: *const Jump,
    pub insns: Box<[Insn]>,
    /// What `left` started from.
    pub lease: Cell<u32>,
    /// Times that it was entered, when its translation was last looked for.
    pub heat: Cell<u32>,
    /// Its heat when its translation was asked for; 0 if it wasn't.
    pub asked: Cell<u32>,
    /// Where its translation is found, once it was looked up.
    pub slot: Cell<Option<Slot>>,
}

impl Block {
    /// Counts `times` entries; whether its translation is to be looked for.
    #[inline]
    pub fn warm(&self, times: u32) -> bool {
        let left = self.left.get().saturating_sub(times);
        self.left.set(left);
        if left == 0 {
            self.heat.set(self.heat.get().saturating_add(self.lease.replace(0)));
        }
        left == 0
    }

    /// It is entered `times` times before its translation is looked for again.
    pub fn lease(&self, times: u32) {
        self.left.set(times);
        self.lease.set(times);
    }
}

/// Most targets that are recorded of a computed jump.
pub(crate) const JUMP_TARGETS: usize = 16;
/// Most targets that are recorded of a computed call.
pub(crate) const CALL_TARGETS: usize = 4;

/// A target of a computed jump.
#[derive(Debug)]
pub(crate) struct Target {
    /// Its address; odd, which is none, where nothing was recorded yet.
    pub pc: Cell<u64>,
    pub times: Cell<u32>,
    pub block: Link,
}

/// The targets of a computed jump so far, in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct Jump {
    pub targets: Box<[Target]>,
}

impl Jump {
    /// No address.
    pub const NOWHERE: u64 = 1;

    /// Nothing recorded; room for `room` targets, at least one.
    pub fn new(room: usize, nothing: *const Block) -> Jump {
        let target = |_| Target {
            pc: Cell::new(Jump::NOWHERE),
            times: Cell::new(0),
            block: Cell::new(nothing),
        };
        Jump { targets: (0..room.max(1)).map(target).collect() }
    }
}

/// Something on the heap that raw pointers lead to for as long as its owner lives: unlike a `Box`,
/// it may be moved while they are in use.
#[derive(Debug)]
pub(crate) struct Pinned<T>(NonNull<T>);

impl<T> Pinned<T> {
    pub fn new(value: T) -> Pinned<T> {
        Pinned(NonNull::from(Box::leak(Box::new(value))))
    }

    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

impl<T> Deref for Pinned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it came from a Box, is freed only by `drop`, and is only ever shared.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a Box, and nobody frees it but this.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
