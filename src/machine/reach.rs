//! Ways to reach memory from a step.
//!
//! # Safety
//! [`Flat`] and [`Identity`] access memory as translated code does, because the bus's shape says that
//! it may: whoever made the [`MemoryShape`](crate::MemoryShape) vouches for it.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use axperf_isa::Width;

use crate::machine::direct;
use crate::machine::threaded::Running;

/// A way to reach memory. Addresses are multiples of the access's width. Where there is no ordinary
/// access, it is left to whoever asks the bus.
pub(crate) trait Reach {
    /// Loads, zero-extended.
    fn load(run: &Running<'_>, addr: u64, width: Width) -> Option<u64>;
    /// Stores the low bytes.
    fn store(run: &Running<'_>, addr: u64, width: Width, value: u64) -> Option<()>;
}

/// One block at a host address.
pub(crate) struct Flat;

/// A guest address is a host address.
pub(crate) struct Identity;

/// By the bus's own methods.
pub(crate) struct Through;

impl Flat {
    /// Host address of an aligned access inside the block. (Its length is a multiple of 8.)
    #[inline(always)]
    fn at(run: &Running<'_>, addr: u64) -> Option<*mut u8> {
        let (base, len) = run.flat;
        (addr < len).then(|| base.wrapping_add(addr as usize))
    }
}

impl Reach for Flat {
    #[inline(always)]
    fn load(run: &Running<'_>, addr: u64, width: Width) -> Option<u64> {
        let p = Flat::at(run, addr)?;
        // SAFETY: see the module; inside the block, and aligned.
        Some(unsafe {
            match width {
                Width::Byte => u64::from((*p.cast::<AtomicU8>()).load(Relaxed)),
                Width::Word => u64::from((*p.cast::<AtomicU16>()).load(Relaxed)),
                Width::Long => u64::from((*p.cast::<AtomicU32>()).load(Relaxed)),
                Width::Quad => (*p.cast::<AtomicU64>()).load(Relaxed),
            }
        })
    }

    #[inline(always)]
    fn store(run: &Running<'_>, addr: u64, width: Width, value: u64) -> Option<()> {
        let p = Flat::at(run, addr)?;
        // SAFETY: see the module; inside the block, and aligned.
        unsafe {
            match width {
                Width::Byte => (*p.cast::<AtomicU8>()).store(value as u8, Relaxed),
                Width::Word => (*p.cast::<AtomicU16>()).store(value as u16, Relaxed),
                Width::Long => (*p.cast::<AtomicU32>()).store(value as u32, Relaxed),
                Width::Quad => (*p.cast::<AtomicU64>()).store(value, Relaxed),
            }
        }
        Some(())
    }
}

impl Reach for Identity {
    #[inline(always)]
    fn load(_run: &Running<'_>, addr: u64, width: Width) -> Option<u64> {
        direct::load(addr, width)
    }

    #[inline(always)]
    fn store(_run: &Running<'_>, addr: u64, width: Width, value: u64) -> Option<()> {
        direct::store(addr, width, value)
    }
}

// Apart, so that the step's code has no frame of its own when it goes on.
impl Reach for Through {
    #[inline(never)]
    fn load(run: &Running<'_>, addr: u64, width: Width) -> Option<u64> {
        run.bus.load(addr, width).ok()
    }

    #[inline(never)]
    fn store(run: &Running<'_>, addr: u64, width: Width, value: u64) -> Option<()> {
        run.bus.store(addr, width, value).ok()
    }
}
