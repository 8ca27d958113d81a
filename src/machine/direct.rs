//! Accesses of guest memory at its host address, in the middle of Rust code: the quickest way, which
//! doesn't say why one failed.
//!
//! # Safety
//! As in [`host`](crate::machine::host): addresses that aren't the guest's are refused, and a fault
//! is an outcome. The instruction that may fault is in a table of the linker's making, with the place
//! where the signal handler goes on.

#![allow(unsafe_code)]

use axperf_isa::Width;

use crate::machine::host::LIMIT;

/// Assembly for an access that yields whether it faulted: `$access` where it doesn't. The handler
/// finds the instruction and where to go on in the section `axperf_fixups`.
#[cfg(target_arch = "x86_64")]
macro_rules! tried {
    ($access:literal, $($operands:tt)*) => {{
        let fault: u32;
        // SAFETY: the access is of guest memory; if it faults, then the handler goes on at 4.
        unsafe {
            std::arch::asm!(
                "xor {fault:e}, {fault:e}",
                "2:", $access,
                "3:",
                ".pushsection .text.axperf_fixup,\"ax\",@progbits",
                "4:", "mov {fault:e}, 1", "jmp 3b",
                ".popsection",
                ".pushsection axperf_fixups,\"aR\",@progbits",
                ".balign 4", ".long 2b - .", ".long 4b - .",
                ".popsection",
                fault = out(reg) fault, $($operands)*, options(nostack));
        }
        fault == 0
    }};
}

/// Likewise.
#[cfg(target_arch = "aarch64")]
macro_rules! tried {
    ($access:literal, $($operands:tt)*) => {{
        let fault: u64;
        // SAFETY: the access is of guest memory; if it faults, then the handler goes on at 4.
        unsafe {
            std::arch::asm!(
                "mov {fault:x}, xzr",
                "2:", $access,
                "3:",
                ".pushsection .text.axperf_fixup,\"ax\",@progbits",
                "4:", "mov {fault:x}, #1", "b 3b",
                ".popsection",
                ".pushsection axperf_fixups,\"aR\",@progbits",
                ".balign 4", ".long 2b - .", ".long 4b - .",
                ".popsection",
                fault = out(reg) fault, $($operands)*, options(nostack));
        }
        fault == 0
    }};
}

// The section is there even where no access is.
std::arch::global_asm!(
    ".pushsection axperf_fixups,\"aR\",@progbits",
    ".balign 4",
    ".popsection",
    ".weak __start_axperf_fixups, __stop_axperf_fixups",
    ".hidden __start_axperf_fixups, __stop_axperf_fixups",
);

unsafe extern "C" {
    static __start_axperf_fixups: [i32; 2];
    static __stop_axperf_fixups: [i32; 2];
}

/// Where to go on after a fault at `pc`, if it is that of an access below.
pub(crate) fn fixup(pc: usize) -> Option<usize> {
    let mut entry = &raw const __start_axperf_fixups;
    while entry < &raw const __stop_axperf_fixups {
        let place = |k| {
            // SAFETY: the linker collects the entries between the two symbols.
            let at = unsafe { entry.cast::<i32>().add(k) };
            // SAFETY: as above.
            (at as usize).wrapping_add_signed(unsafe { *at } as isize)
        };
        if place(0) == pc {
            return Some(place(1));
        }
        entry = entry.wrapping_add(1);
    }
    None
}

/// Loads, zero-extended; None if that faults. `addr` is a multiple of the width.
#[inline(always)]
pub(crate) fn load(addr: u64, width: Width) -> Option<u64> {
    if addr >= LIMIT {
        return None;
    }
    let value: u64;
    #[cfg(target_arch = "x86_64")]
    let good = match width {
        Width::Byte => {
            tried!("movzx {v:e}, byte ptr [{a}]", a = in(reg) addr, v = lateout(reg) value)
        }
        Width::Word => {
            tried!("movzx {v:e}, word ptr [{a}]", a = in(reg) addr, v = lateout(reg) value)
        }
        Width::Long => {
            tried!("mov {v:e}, dword ptr [{a}]", a = in(reg) addr, v = lateout(reg) value)
        }
        Width::Quad => tried!("mov {v}, qword ptr [{a}]", a = in(reg) addr, v = lateout(reg) value),
    };
    #[cfg(target_arch = "aarch64")]
    let good = match width {
        Width::Byte => tried!("ldrb {v:w}, [{a}]", a = in(reg) addr, v = lateout(reg) value),
        Width::Word => tried!("ldrh {v:w}, [{a}]", a = in(reg) addr, v = lateout(reg) value),
        Width::Long => tried!("ldr {v:w}, [{a}]", a = in(reg) addr, v = lateout(reg) value),
        Width::Quad => tried!("ldr {v}, [{a}]", a = in(reg) addr, v = lateout(reg) value),
    };
    good.then_some(value)
}

/// Stores the low bytes; None if that faults: then nothing was stored. `addr` is a multiple of the
/// width.
#[inline(always)]
pub(crate) fn store(addr: u64, width: Width, value: u64) -> Option<()> {
    if addr >= LIMIT {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    let good = match width {
        Width::Byte => {
            tried!("mov byte ptr [{a}], {v}", a = in(reg) addr, v = in(reg_byte) value as u8)
        }
        Width::Word => tried!("mov word ptr [{a}], {v:x}", a = in(reg) addr, v = in(reg) value),
        Width::Long => tried!("mov dword ptr [{a}], {v:e}", a = in(reg) addr, v = in(reg) value),
        Width::Quad => tried!("mov qword ptr [{a}], {v}", a = in(reg) addr, v = in(reg) value),
    };
    #[cfg(target_arch = "aarch64")]
    let good = match width {
        Width::Byte => tried!("strb {v:w}, [{a}]", a = in(reg) addr, v = in(reg) value),
        Width::Word => tried!("strh {v:w}, [{a}]", a = in(reg) addr, v = in(reg) value),
        Width::Long => tried!("str {v:w}, [{a}]", a = in(reg) addr, v = in(reg) value),
        Width::Quad => tried!("str {v}, [{a}]", a = in(reg) addr, v = in(reg) value),
    };
    good.then_some(())
}
