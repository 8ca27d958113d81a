//! One bounded block of memory: the default of embedders.
//!
//! # Safety
//! The block is allocated as words that no reference but these methods' atomics reaches, so
//! translated code and several machines may access it at once. Every address is checked against the
//! block's size: a guest can't reach anything else.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::atomic::{Ordering::AcqRel, Ordering::Acquire};

use axperf_isa::Width;

use crate::machine::bus::{Access, Bus, Fault, FaultKind, MemoryShape};

/// Memory of a fixed size, guest addresses from 0 on. Out of range is a [`Fault`].
#[derive(Debug)]
pub struct FlatMemory {
    blocks: Box<[Block]>,
}

/// What a load-locked reserves.
#[derive(Debug)]
#[repr(C, align(16))]
struct Block([AtomicU64; 2]);

impl FlatMemory {
    /// Zeroed memory of `len` bytes, rounded up to a multiple of 16.
    #[must_use]
    pub fn new(len: usize) -> FlatMemory {
        let blocks = len.div_ceil(size_of::<Block>());
        // SAFETY: zero is a valid AtomicU64; zeroed pages stay untouched until they are used.
        let blocks = unsafe { Box::<[Block]>::new_zeroed_slice(blocks).assume_init() };
        FlatMemory { blocks }
    }

    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        size_of_val(&*self.blocks) as u64
    }

    /// True if there is no memory at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn base(&self) -> *mut u8 {
        self.blocks.as_ptr() as *mut u8
    }

    /// Host address of an access that lies inside and is aligned.
    #[inline(always)]
    fn at(&self, addr: u64, width: Width, access: Access) -> Result<*mut u8, Fault> {
        let n = width.bytes();
        if addr >= self.len() || n > self.len() - addr || !addr.is_multiple_of(n) {
            return Err(Fault { addr, access, kind: FaultKind::Unmapped });
        }
        // SAFETY: inside the block.
        Ok(unsafe { self.base().add(addr as usize) })
    }
}

impl Bus for FlatMemory {
    fn shape(&self) -> MemoryShape {
        // SAFETY: the block lives as long as `self`, and nothing has a reference into it.
        unsafe { MemoryShape::flat(self.base(), self.len()) }
    }

    #[inline]
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        let p = self.at(addr, width, Access::Read)?;
        // SAFETY: `at` checked range and alignment.
        Ok(unsafe {
            match width {
                Width::Byte => u64::from((*p.cast::<AtomicU8>()).load(Relaxed)),
                Width::Word => u64::from((*p.cast::<AtomicU16>()).load(Relaxed)),
                Width::Long => u64::from((*p.cast::<AtomicU32>()).load(Relaxed)),
                Width::Quad => (*p.cast::<AtomicU64>()).load(Relaxed),
            }
        })
    }

    #[inline]
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        let p = self.at(addr, width, Access::Write)?;
        // SAFETY: `at` checked range and alignment.
        unsafe {
            match width {
                Width::Byte => (*p.cast::<AtomicU8>()).store(value as u8, Relaxed),
                Width::Word => (*p.cast::<AtomicU16>()).store(value as u16, Relaxed),
                Width::Long => (*p.cast::<AtomicU32>()).store(value as u32, Relaxed),
                Width::Quad => (*p.cast::<AtomicU64>()).store(value, Relaxed),
            }
        }
        Ok(())
    }

    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let p = self.at(addr, width, Access::Write)?;
        // SAFETY: `at` checked range and alignment.
        Ok(unsafe {
            match width {
                Width::Byte => (*p.cast::<AtomicU8>())
                    .compare_exchange(old as u8, new as u8, AcqRel, Acquire)
                    .is_ok(),
                Width::Word => (*p.cast::<AtomicU16>())
                    .compare_exchange(old as u16, new as u16, AcqRel, Acquire)
                    .is_ok(),
                Width::Long => (*p.cast::<AtomicU32>())
                    .compare_exchange(old as u32, new as u32, AcqRel, Acquire)
                    .is_ok(),
                Width::Quad => {
                    (*p.cast::<AtomicU64>()).compare_exchange(old, new, AcqRel, Acquire).is_ok()
                }
            }
        })
    }
}
