//! The doors in and out of translated code.
//!
//! Translated code is a set of functions of Cranelift's `tail` calling convention that go on to each
//! other by tail calls; they get the state pointer in the pinned register and a slot (and in counted
//! variants the budget) as arguments. [`enter`] is the only way in, a return the only way out; a
//! host memory fault leaves through [`fault_landing`], which the signal handler goes on at.
//!
//! More stubs do for translated code what Cranelift has no instructions for: they read and write the
//! host's floating-point flags, and divide without touching them. They change no register.
//!
//! # Safety
//! `enter` jumps to an address: its caller vouches that it is code of a live
//! [`Cache`](crate::Cache). The assembly saves what the System V convention says a callee saves,
//! for translated code keeps none of it, and remembers the stack pointer in the state, so that a
//! fault at any depth of translated code unwinds to it.

#![allow(unsafe_code)]

use axperf_isa::word;

/// Translated code's pointer is this far past the state, so that the registers of `struct pt_regs`
/// have one-byte displacements.
pub const BIAS: usize = 128;

/// Offset of the poll flag from the state: it stands right after the registers.
pub const POLL_OFFSET: usize = 1024;

/// Offset of a word from the biased state pointer.
pub(crate) const fn offset(byte: usize) -> i32 {
    byte as i32 - BIAS as i32
}

/// Why translated code came back, in the state's word [`word::EXIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The pc has no translation yet, or none that the caches know.
    Untranslated,
    /// The instruction at the pc is the interpreter's.
    Bail,
    /// A poll said so.
    Poll,
    /// A host memory fault.
    Fault,
}

impl Left {
    pub(crate) const UNTRANSLATED: i64 = 0;
    pub(crate) const BAIL: i64 = 1;
    pub(crate) const POLL: i64 = 2;
    const FAULT: u64 = 3;

    /// From the state's word.
    #[must_use]
    pub fn from_word(w: u64) -> Left {
        match w as i64 {
            Left::BAIL => Left::Bail,
            Left::POLL => Left::Poll,
            Left::UNTRANSLATED => Left::Untranslated,
            // Only the assembly below writes another value.
            _ => Left::Fault,
        }
    }
}

const HOST_SP: usize = word::HOST_SP * 8;
const EXIT: usize = word::EXIT * 8;
const HOST_FLAGS: usize = word::HOST_FLAGS * 8;
#[cfg(target_arch = "x86_64")]
const PASSAGE: usize = word::PASSAGE * 8;
#[cfg(target_arch = "x86_64")]
const DIVISOR: usize = word::DIVISOR * 8;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".globl axperf_enter, axperf_fault_landing, axperf_read_flags, axperf_write_flags, axperf_divide_chopped",
    ".hidden axperf_enter, axperf_fault_landing, axperf_read_flags, axperf_write_flags, axperf_divide_chopped",
    ".balign 16",
    // (state, trampoline, code, budget) -> budget
    "axperf_enter:",
    "push rbp",
    "mov rbp, rsp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "mov [rdi + {host_sp}], rsp",
    "add rdi, {bias}",
    "mov rax, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "call rax",
    "2:",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    "axperf_fault_landing:",
    "mov qword ptr [r15 + {exit}], {fault}",
    "mov rsp, [r15 + {host_sp_biased}]",
    "xor eax, eax",
    "jmp 2b",
    ".balign 16",
    "axperf_read_flags:",
    "stmxcsr [r15 + {host_flags}]",
    "ret",
    ".balign 16",
    "axperf_write_flags:",
    "ldmxcsr [r15 + {host_flags}]",
    "ret",
    ".balign 16",
    // The x87's flags are others. Its results have 53 bits, rounded toward zero, meanwhile.
    "axperf_divide_chopped:",
    "fldcw [rip + 3f]",
    "fld qword ptr [r15 + {passage}]",
    "fdiv qword ptr [r15 + {divisor}]",
    "fstp qword ptr [r15 + {passage}]",
    "fldcw [rip + 4f]",
    "ret",
    "3: .short 0x0e7f",
    "4: .short 0x037f",
    passage = const PASSAGE - BIAS,
    divisor = const DIVISOR - BIAS,
    host_flags = const HOST_FLAGS - BIAS,
    host_sp = const HOST_SP,
    bias = const BIAS,
    exit = const EXIT - BIAS,
    host_sp_biased = const HOST_SP - BIAS,
    fault = const Left::FAULT,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".globl axperf_enter, axperf_fault_landing, axperf_read_flags, axperf_write_flags, axperf_divide_chopped",
    ".hidden axperf_enter, axperf_fault_landing, axperf_read_flags, axperf_write_flags, axperf_divide_chopped",
    ".balign 16",
    "axperf_enter:",
    "stp x29, x30, [sp, #-160]!",
    "mov x29, sp",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "stp x23, x24, [sp, #48]",
    "stp x25, x26, [sp, #64]",
    "stp x27, x28, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "mov x9, sp",
    "str x9, [x0, #{host_sp}]",
    "add x0, x0, #{bias}",
    "mov x9, x1",
    "mov x1, x2",
    "mov x2, x3",
    "blr x9",
    "2:",
    "ldp x19, x20, [sp, #16]",
    "ldp x21, x22, [sp, #32]",
    "ldp x23, x24, [sp, #48]",
    "ldp x25, x26, [sp, #64]",
    "ldp x27, x28, [sp, #80]",
    "ldp d8, d9, [sp, #96]",
    "ldp d10, d11, [sp, #112]",
    "ldp d12, d13, [sp, #128]",
    "ldp d14, d15, [sp, #144]",
    "ldp x29, x30, [sp], #160",
    "ret",
    "axperf_fault_landing:",
    "mov x9, #{fault}",
    "str x9, [x21, #{exit}]",
    "ldr x9, [x21, #{host_sp_biased}]",
    "mov sp, x9",
    "mov x0, #0",
    "b 2b",
    "axperf_read_flags:",
    "str x9, [sp, #-16]!",
    "mrs x9, fpsr",
    "str x9, [x21, #{host_flags}]",
    "ldr x9, [sp], #16",
    "ret",
    "axperf_write_flags:",
    "str x9, [sp, #-16]!",
    "ldr x9, [x21, #{host_flags}]",
    "msr fpsr, x9",
    "ldr x9, [sp], #16",
    "ret",
    "axperf_divide_chopped:",
    "ret",
    host_flags = const HOST_FLAGS - BIAS,
    host_sp = const HOST_SP,
    bias = const BIAS,
    exit = const EXIT - BIAS,
    host_sp_biased = const HOST_SP - BIAS,
    fault = const Left::FAULT,
);

unsafe extern "C" {
    static axperf_fault_landing: u8;
    static axperf_read_flags: u8;
    static axperf_write_flags: u8;
    static axperf_divide_chopped: u8;
    fn axperf_enter(state: *mut u64, trampoline: usize, code: usize, budget: u64) -> u64;
}

/// The state pointer, from the value of the register that translated code pins.
#[must_use]
pub fn state_of_pinned(pinned: usize) -> usize {
    pinned.wrapping_sub(BIAS)
}

/// Where a thread that faulted in translated code goes on.
#[must_use]
pub fn fault_landing() -> usize {
    &raw const axperf_fault_landing as usize
}

/// A piece of assembly that translated code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stub {
    /// Stores the host's floating-point flags in the state's word [`word::HOST_FLAGS`].
    ReadFlags,
    /// Takes them from there.
    WriteFlags,
    /// Divides the double-precision number in the word [`word::PASSAGE`] by the one in
    /// [`word::DIVISOR`] and leaves the quotient in the former, rounded toward zero. On hosts with
    /// an x87 only.
    DivideChopped,
}

impl Stub {
    const ALL: [Stub; 3] = [Stub::ReadFlags, Stub::WriteFlags, Stub::DivideChopped];

    /// Its number on disk.
    pub fn number(self) -> u64 {
        self as u64
    }

    /// The stub of a number.
    pub fn from_number(number: u64) -> Option<Stub> {
        Stub::ALL.into_iter().find(|s| s.number() == number)
    }

    /// Where it stands in this process.
    pub fn address(self) -> usize {
        match self {
            Stub::ReadFlags => &raw const axperf_read_flags as usize,
            Stub::WriteFlags => &raw const axperf_write_flags as usize,
            Stub::DivideChopped => &raw const axperf_divide_chopped as usize,
        }
    }
}

/// Runs translated code until it comes back; what is left of the budget.
///
/// # Safety
/// `state` is a [`Regs`](axperf_isa::Regs) that nothing else reaches meanwhile but its poll flag,
/// with the words set that the mode needs; `trampoline` and `code` are of one live cache.
pub(crate) unsafe fn enter(state: *mut u64, trampoline: usize, code: usize, budget: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { axperf_enter(state, trampoline, code, budget) }
}
