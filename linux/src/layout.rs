//! The address space that Linux/alpha gives a process.
//!
//! ```text
//!       0x10000  lowest address that can be mapped
//!   0x11f800000  stack, downwards from 0x120000000
//!   0x120000000  program, then the heap
//! 0x20000000000  mappings, upwards; the dynamic linker is the first
//! 0x40000000000  end
//! ```
//! Values: Linux `arch/alpha/include/asm/processor.h`, and addresses seen on a running kernel.

/// Size of a page.
pub const PAGE: u64 = 8192;

/// The first address that isn't the process's.
pub const TASK_SIZE: u64 = 1 << 42;

/// Lowest address that can be mapped (the kernel's `mmap_min_addr`).
pub const LOWEST: u64 = 0x10000;

/// Where the search for a free range begins (TASK_UNMAPPED_BASE).
pub const MMAP_BASE: u64 = TASK_SIZE / 2;

/// Where a position-independent program goes (ELF_ET_DYN_BASE).
pub const DYN_BASE: u64 = MMAP_BASE + 0x100_0000;

/// End of the stack. The kernel lowers it by a random amount of up to 16 MiB; here it stays, so
/// that two runs of a program have the same addresses.
pub const STACK_TOP: u64 = 0x1_2000_0000;

/// `addr` down to a page.
#[must_use]
pub fn page_down(addr: u64) -> u64 {
    addr & !(PAGE - 1)
}

/// `addr` up to a page; None beyond the last.
#[must_use]
pub fn page_up(addr: u64) -> Option<u64> {
    Some(page_down(addr.checked_add(PAGE - 1)?))
}
