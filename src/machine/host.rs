//! Guest memory that the host's MMU protects: the only code outside translated code that touches
//! it.
//!
//! # Safety
//! A guest address is a host address here, and the guest chooses it. Every access goes through an
//! assembly stub below, or one in `direct.rs`; the SIGSEGV and SIGBUS handler knows their pc range
//! (and that of translated code) and turns a fault there into an error, so that a bad pointer is never a fault inside Rust
//! code. Addresses from [`LIMIT`] up are refused before they are touched: the host lives there.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use axperf_isa::{Width, word};
use axperf_jit::HostFrame;

use crate::machine::bus::{Access, Fault, FaultKind};
use crate::machine::direct;

/// The first address that isn't the guest's: Linux/alpha's TASK_SIZE.
pub const LIMIT: u64 = 1 << 42;

/// What a stub returns: the value (of a copy: the bytes not copied), and the fault's kind or 0.
#[repr(C)]
struct Outcome {
    value: u64,
    fault: u64,
}

const FAULT_UNMAPPED: u64 = 1;
const FAULT_PROTECTED: u64 = 2;
const FAULT_NO_OBJECT: u64 = 3;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".globl axperf_stubs_start, axperf_stubs_end, axperf_stub_fault, axperf_load1, axperf_load2, axperf_load4, axperf_load8, axperf_store1, axperf_store2, axperf_store4, axperf_store8, axperf_cas4, axperf_cas8, axperf_cas16, axperf_copy",
    ".hidden axperf_stubs_start, axperf_stubs_end, axperf_stub_fault, axperf_load1, axperf_load2, axperf_load4, axperf_load8, axperf_store1, axperf_store2, axperf_store4, axperf_store8, axperf_cas4, axperf_cas8, axperf_cas16, axperf_copy",
    ".balign 16",
    "axperf_stubs_start:",
    "axperf_load1: xor edx, edx",
    "movzx eax, byte ptr [rdi]",
    "ret",
    "axperf_load2: xor edx, edx",
    "movzx eax, word ptr [rdi]",
    "ret",
    "axperf_load4: xor edx, edx",
    "mov eax, dword ptr [rdi]",
    "ret",
    "axperf_load8: xor edx, edx",
    "mov rax, qword ptr [rdi]",
    "ret",
    "axperf_store1: xor edx, edx",
    "mov byte ptr [rdi], sil",
    "ret",
    "axperf_store2: xor edx, edx",
    "mov word ptr [rdi], si",
    "ret",
    "axperf_store4: xor edx, edx",
    "mov dword ptr [rdi], esi",
    "ret",
    "axperf_store8: xor edx, edx",
    "mov qword ptr [rdi], rsi",
    "ret",
    // (addr, old, new) -> 1 if stored
    "axperf_cas4: mov r8, rdx",
    "xor edx, edx",
    "mov eax, esi",
    "lock cmpxchg dword ptr [rdi], r8d",
    "sete al",
    "movzx eax, al",
    "ret",
    "axperf_cas8: mov r8, rdx",
    "xor edx, edx",
    "mov rax, rsi",
    "lock cmpxchg qword ptr [rdi], r8",
    "sete al",
    "movzx eax, al",
    "ret",
    // (old in rdx:rax, new in rcx:rbx)
    "axperf_swap16: lock cmpxchg16b xmmword ptr [rdi]",
    "sete al",
    "movzx eax, al",
    "xor edx, edx",
    "ret",
    // (to, from, bytes) -> bytes not copied
    "axperf_copy: mov rcx, rdx",
    "xor edx, edx",
    "axperf_copy_insn: rep movsb",
    "mov rax, rcx",
    "ret",
    "axperf_stubs_end:",
    // The handler comes here with the fault's kind in rdx.
    "axperf_stub_fault: mov rax, rcx",
    "ret",
    // (addr, old low, old high, new low, new high) -> 1 if stored; a fault comes back here, too
    "axperf_cas16: push rbx",
    "mov rax, rsi",
    "mov rbx, rcx",
    "mov rcx, r8",
    "call axperf_swap16",
    "pop rbx",
    "ret",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".globl axperf_stubs_start, axperf_stubs_end, axperf_stub_fault, axperf_load1, axperf_load2, axperf_load4, axperf_load8, axperf_store1, axperf_store2, axperf_store4, axperf_store8, axperf_cas4, axperf_cas8, axperf_cas16, axperf_copy",
    ".hidden axperf_stubs_start, axperf_stubs_end, axperf_stub_fault, axperf_load1, axperf_load2, axperf_load4, axperf_load8, axperf_store1, axperf_store2, axperf_store4, axperf_store8, axperf_cas4, axperf_cas8, axperf_cas16, axperf_copy",
    ".balign 16",
    "axperf_stubs_start:",
    "axperf_load1: mov x3, x0",
    "mov x1, #0",
    "ldrb w0, [x3]",
    "ret",
    "axperf_load2: mov x3, x0",
    "mov x1, #0",
    "ldrh w0, [x3]",
    "ret",
    "axperf_load4: mov x3, x0",
    "mov x1, #0",
    "ldr w0, [x3]",
    "ret",
    "axperf_load8: mov x3, x0",
    "mov x1, #0",
    "ldr x0, [x3]",
    "ret",
    "axperf_store1: mov x3, x1",
    "mov x1, #0",
    "strb w3, [x0]",
    "ret",
    "axperf_store2: mov x3, x1",
    "mov x1, #0",
    "strh w3, [x0]",
    "ret",
    "axperf_store4: mov x3, x1",
    "mov x1, #0",
    "str w3, [x0]",
    "ret",
    "axperf_store8: mov x3, x1",
    "mov x1, #0",
    "str x3, [x0]",
    "ret",
    "axperf_cas4: mov x3, x1",
    "mov x1, #0",
    "2: ldaxr w4, [x0]",
    "cmp w4, w3",
    "b.ne 3f",
    "stlxr w5, w2, [x0]",
    "cbnz w5, 2b",
    "mov x0, #1",
    "ret",
    "3: clrex",
    "mov x0, #0",
    "ret",
    "axperf_cas8: mov x3, x1",
    "mov x1, #0",
    "2: ldaxr x4, [x0]",
    "cmp x4, x3",
    "b.ne 3f",
    "stlxr w5, x2, [x0]",
    "cbnz w5, 2b",
    "mov x0, #1",
    "ret",
    "3: clrex",
    "mov x0, #0",
    "ret",
    "axperf_cas16: mov x5, x0",
    "mov x6, x1",
    "mov x1, #0",
    "2: ldaxp x7, x8, [x5]",
    "cmp x7, x6",
    "ccmp x8, x2, #0, eq",
    "b.ne 3f",
    "stlxp w9, x3, x4, [x5]",
    "cbnz w9, 2b",
    "mov x0, #1",
    "ret",
    "3: clrex",
    "mov x0, #0",
    "ret",
    "axperf_copy: mov x6, x1",
    "mov x1, #0",
    "2: cbz x2, 3f",
    "ldrb w3, [x6], #1",
    "strb w3, [x0], #1",
    "sub x2, x2, #1",
    "b 2b",
    "3: mov x0, #0",
    "ret",
    "axperf_stubs_end:",
    "axperf_stub_fault: mov x0, x2",
    "ret",
);

unsafe extern "C" {
    static axperf_stubs_start: u8;
    static axperf_stubs_end: u8;
    static axperf_stub_fault: u8;
    fn axperf_load1(addr: u64) -> Outcome;
    fn axperf_load2(addr: u64) -> Outcome;
    fn axperf_load4(addr: u64) -> Outcome;
    fn axperf_load8(addr: u64) -> Outcome;
    fn axperf_store1(addr: u64, value: u64) -> Outcome;
    fn axperf_store2(addr: u64, value: u64) -> Outcome;
    fn axperf_store4(addr: u64, value: u64) -> Outcome;
    fn axperf_store8(addr: u64, value: u64) -> Outcome;
    fn axperf_cas4(addr: u64, old: u64, new: u64) -> Outcome;
    fn axperf_cas8(addr: u64, old: u64, new: u64) -> Outcome;
    fn axperf_cas16(addr: u64, old: u64, old_high: u64, new: u64, new_high: u64) -> Outcome;
    fn axperf_copy(to: u64, from: u64, bytes: u64) -> Outcome;
}

fn kind(code: u64) -> FaultKind {
    match code {
        FAULT_PROTECTED => FaultKind::Protected,
        FAULT_NO_OBJECT => FaultKind::NoObject,
        _ => FaultKind::Unmapped,
    }
}

/// The kind that the handler left for a fault in translated code.
pub(crate) fn fault_kind(code: u64) -> FaultKind {
    kind(code)
}

#[inline(always)]
fn checked(addr: u64, width: u64, access: Access) -> Result<(), Fault> {
    if addr > LIMIT - width {
        return Err(Fault { addr, access, kind: FaultKind::Unmapped });
    }
    Ok(())
}

#[inline(always)]
fn outcome(o: Outcome, addr: u64, access: Access) -> Result<u64, Fault> {
    if o.fault == 0 { Ok(o.value) } else { Err(Fault { addr, access, kind: kind(o.fault) }) }
}

/// Loads from guest memory at its host address, zero-extended.
///
/// # Errors
/// The fault.
#[inline]
pub fn load(addr: u64, width: Width) -> Result<u64, Fault> {
    checked(addr, width.bytes(), Access::Read)?;
    // SAFETY: the stubs turn a fault into an outcome; below LIMIT is nothing of the host's.
    let o = unsafe {
        match width {
            Width::Byte => axperf_load1(addr),
            Width::Word => axperf_load2(addr),
            Width::Long => axperf_load4(addr),
            Width::Quad => axperf_load8(addr),
        }
    };
    outcome(o, addr, Access::Read)
}

/// Stores to guest memory at its host address.
///
/// # Errors
/// The fault; nothing was stored.
#[inline]
pub fn store(addr: u64, width: Width, value: u64) -> Result<(), Fault> {
    checked(addr, width.bytes(), Access::Write)?;
    // SAFETY: as for `load`.
    let o = unsafe {
        match width {
            Width::Byte => axperf_store1(addr, value),
            Width::Word => axperf_store2(addr, value),
            Width::Long => axperf_store4(addr, value),
            Width::Quad => axperf_store8(addr, value),
        }
    };
    outcome(o, addr, Access::Write).map(drop)
}

/// Stores `new` where `old` is, atomically; `width` is a longword or a quadword.
///
/// # Errors
/// The fault; nothing was stored.
pub fn compare_exchange(addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
    checked(addr, width.bytes(), Access::Write)?;
    // SAFETY: as for `load`.
    let o = unsafe {
        if width == Width::Quad { axperf_cas8(addr, old, new) } else { axperf_cas4(addr, old, new) }
    };
    Ok(outcome(o, addr, Access::Write)? != 0)
}

/// Stores `new` to the aligned block of 16 bytes at `addr` where `old` is, atomically.
///
/// # Errors
/// The fault; nothing was stored.
pub fn compare_exchange_block(addr: u64, old: [u64; 2], new: [u64; 2]) -> Result<bool, Fault> {
    checked(addr, 16, Access::Write)?;
    // SAFETY: as for `load`.
    unsafe { swap_block(addr, old, new) }
}

/// The same at an address that may be the host's.
///
/// # Safety
/// The block is the guest's: no Rust code reaches it by reference, but to atomics.
pub(crate) unsafe fn swap_block(addr: u64, old: [u64; 2], new: [u64; 2]) -> Result<bool, Fault> {
    // SAFETY: the stub turns a fault into an outcome; the rest is the caller's.
    let o = unsafe { axperf_cas16(addr, old[0], old[1], new[0], new[1]) };
    Ok(outcome(o, addr, Access::Write)? != 0)
}

/// Copies guest memory into `buf`.
///
/// # Errors
/// The fault, with the address of the first byte that wasn't copied; those before it were.
pub fn copy_in(addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
    let len = buf.len() as u64;
    let room = LIMIT.saturating_sub(addr).min(len);
    // SAFETY: the destination is `buf`; the source is the guest's, and a fault there is an outcome.
    let o = unsafe { axperf_copy(buf.as_mut_ptr() as u64, addr, room) };
    let done = room - o.value;
    if done == len {
        return Ok(());
    }
    let why = if o.fault == 0 { FAULT_UNMAPPED } else { o.fault };
    Err(Fault { addr: addr.wrapping_add(done), access: Access::Read, kind: kind(why) })
}

/// Copies `bytes` into guest memory.
///
/// # Errors
/// The fault, with the address of the first byte that wasn't copied; those before it were.
pub fn copy_out(addr: u64, bytes: &[u8]) -> Result<(), Fault> {
    let len = bytes.len() as u64;
    let room = LIMIT.saturating_sub(addr).min(len);
    // SAFETY: the source is `bytes`; the destination is the guest's, and a fault is an outcome.
    let o = unsafe { axperf_copy(addr, bytes.as_ptr() as u64, room) };
    let done = room - o.value;
    if done == len {
        return Ok(());
    }
    let why = if o.fault == 0 { FAULT_UNMAPPED } else { o.fault };
    Err(Fault { addr: addr.wrapping_add(done), access: Access::Write, kind: kind(why) })
}

/// The handlers that were there before ours, as `sigaction` gave them: SIGSEGV, SIGBUS.
struct Previous {
    handler: AtomicUsize,
    flags: AtomicUsize,
}
static PREVIOUS: [Previous; 2] = [
    Previous { handler: AtomicUsize::new(0), flags: AtomicUsize::new(0) },
    Previous { handler: AtomicUsize::new(0), flags: AtomicUsize::new(0) },
];

/// Whether this host has an atomic exchange of 16 bytes, which STx_C needs.
pub(crate) fn has_wide_exchange() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("cmpxchg16b");
    #[cfg(target_arch = "aarch64")]
    return true;
}

thread_local! {
    /// The host's state at this thread's last fault in translated code. The handler's write of it is
    /// like any other: the code that it interrupted is at an instruction that faults, and no Rust.
    static LAST_FAULT: Cell<HostFrame> = const { Cell::new(HostFrame::NONE) };
}

/// The host's state at this thread's last fault in translated code.
pub(crate) fn last_fault() -> HostFrame {
    LAST_FAULT.get()
}

/// The host's state in translated code that was interrupted.
fn host_frame(uc: &libc::ucontext_t) -> HostFrame {
    let mut frame = HostFrame::NONE;
    for (to, from) in frame.registers.iter_mut().zip(integer_registers(uc)) {
        *to = from;
    }
    let (sp, fp) = frame_bounds(uc);
    for (i, to) in frame.spilled.iter_mut().enumerate() {
        match fp.checked_sub(8 * (i + 1)) {
            // SAFETY: translated code has a frame from its stack pointer up to its frame pointer.
            Some(at) if at >= sp => *to = unsafe { (at as *const u64).read() },
            Some(_) | None => break,
        }
    }
    frame
}

/// Installs the SIGSEGV and SIGBUS handlers, once a process; they chain to what was there.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (i, signal) in [libc::SIGSEGV, libc::SIGBUS].into_iter().enumerate() {
            // SAFETY: both structures are plain data, zero is a valid value of each; the handler
            // is async-signal-safe: it only reads its arguments and atomics.
            unsafe {
                let mut old: libc::sigaction = std::mem::zeroed();
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = handler as *const () as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                libc::sigemptyset(&mut new.sa_mask);
                libc::sigaction(signal, std::ptr::null(), &mut old);
                PREVIOUS[i].handler.store(old.sa_sigaction, Ordering::Relaxed);
                PREVIOUS[i].flags.store(old.sa_flags as usize, Ordering::Relaxed);
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
        }
    });
}

/// Turns a fault in a stub or in translated code into its outcome; passes any other on.
unsafe extern "C" fn handler(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo and ucontext to an SA_SIGINFO handler.
    let (info_ref, uc) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let code = if signal == libc::SIGBUS {
        FAULT_NO_OBJECT
    } else if info_ref.si_code == 2 {
        FAULT_PROTECTED
    } else {
        FAULT_UNMAPPED
    };
    let (pc, state) = machine_context(uc);
    let (start, end) =
        (&raw const axperf_stubs_start as usize, &raw const axperf_stubs_end as usize);
    if (start..end).contains(&pc) {
        resume(uc, &raw const axperf_stub_fault as usize, Some(code));
        return;
    }
    if let Some(pc) = direct::fixup(pc) {
        resume(uc, pc, None);
        return;
    }
    if axperf_jit::is_translated(pc) {
        let state = axperf_jit::state_of_pinned(state) as *mut u64;
        // SAFETY: translated code runs with the state pointer in its pinned register, and the state
        // outlives it.
        unsafe {
            state.add(word::EXIT_ARG).write(pc as u64);
            state.add(word::FAULT_ADDR).write(info_ref.si_addr() as u64);
            state.add(word::FAULT_KIND).write(code);
        }
        LAST_FAULT.set(host_frame(uc));
        resume(uc, axperf_jit::fault_landing(), None);
        return;
    }
    let previous = &PREVIOUS[usize::from(signal == libc::SIGBUS)];
    let old = previous.handler.load(Ordering::Relaxed);
    let flags = previous.flags.load(Ordering::Relaxed) as libc::c_int;
    if old == libc::SIG_DFL || old == libc::SIG_IGN {
        // SAFETY: back to the default, so that the instruction, executed again, ends the process as
        // it would have without us.
        unsafe {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &default, std::ptr::null_mut());
        }
    } else if flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the previous handler was installed with this signature.
        unsafe {
            let f: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(old);
            f(signal, info, context);
        }
    } else {
        // SAFETY: as above, without SA_SIGINFO.
        unsafe {
            let f: extern "C" fn(libc::c_int) = std::mem::transmute(old);
            f(signal);
        }
    }
}

/// The interrupted pc and the value of the register that translated code pins.
#[cfg(target_arch = "x86_64")]
fn machine_context(uc: &libc::ucontext_t) -> (usize, usize) {
    let r = &uc.uc_mcontext.gregs;
    (r[libc::REG_RIP as usize] as usize, r[libc::REG_R15 as usize] as usize)
}

/// The interrupted integer registers, by their numbers in instructions.
#[cfg(target_arch = "x86_64")]
fn integer_registers(uc: &libc::ucontext_t) -> [u64; 16] {
    use libc::{REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    use libc::{REG_RAX, REG_RBP, REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RSI, REG_RSP};
    [
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9,
        REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    ]
    .map(|r| uc.uc_mcontext.gregs[r as usize] as u64)
}

/// The interrupted stack pointer and frame pointer.
#[cfg(target_arch = "x86_64")]
fn frame_bounds(uc: &libc::ucontext_t) -> (usize, usize) {
    let r = &uc.uc_mcontext.gregs;
    (r[libc::REG_RSP as usize] as usize, r[libc::REG_RBP as usize] as usize)
}

/// Goes on at `pc`, with the fault's kind where a stub's outcome has it.
#[cfg(target_arch = "x86_64")]
fn resume(uc: &mut libc::ucontext_t, pc: usize, kind: Option<u64>) {
    let r = &mut uc.uc_mcontext.gregs;
    r[libc::REG_RIP as usize] = pc as i64;
    // A copy may run backwards in a handler's caller; stubs and landings want it forward.
    r[libc::REG_EFL as usize] &= !0x400;
    if let Some(kind) = kind {
        r[libc::REG_RDX as usize] = kind as i64;
    }
}

/// The interrupted pc and the value of the register that translated code pins.
#[cfg(target_arch = "aarch64")]
fn machine_context(uc: &libc::ucontext_t) -> (usize, usize) {
    (uc.uc_mcontext.pc as usize, uc.uc_mcontext.regs[21] as usize)
}

/// The interrupted integer registers, by their numbers in instructions.
#[cfg(target_arch = "aarch64")]
fn integer_registers(uc: &libc::ucontext_t) -> [u64; 31] {
    uc.uc_mcontext.regs
}

/// The interrupted stack pointer and frame pointer.
#[cfg(target_arch = "aarch64")]
fn frame_bounds(uc: &libc::ucontext_t) -> (usize, usize) {
    (uc.uc_mcontext.sp as usize, uc.uc_mcontext.regs[29] as usize)
}

/// Goes on at `pc`, with the fault's kind where a stub's outcome has it.
#[cfg(target_arch = "aarch64")]
fn resume(uc: &mut libc::ucontext_t, pc: usize, kind: Option<u64>) {
    uc.uc_mcontext.pc = pc as u64;
    if let Some(kind) = kind {
        uc.uc_mcontext.regs[1] = kind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fresh page below LIMIT, with nothing mapped after it. Values: what was stored.
    #[test]
    fn faults_are_errors() {
        install();
        let at = 0x0300_0000_0000u64;
        // SAFETY: MAP_FIXED_NOREPLACE takes only what is free.
        let p = unsafe {
            libc::mmap(
                at as *mut _,
                8192,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        assert_eq!(p as u64, at);
        // SAFETY: the second page is ours.
        unsafe { libc::munmap((at + 4096) as *mut _, 4096) };
        store(at + 8, Width::Quad, 0x1122_3344_5566_7788).unwrap();
        assert_eq!(load(at + 8, Width::Long), Ok(0x5566_7788));
        assert_eq!(load(at + 10, Width::Byte), Ok(0x66));
        assert_eq!(compare_exchange(at + 8, Width::Long, 0x5566_7788, 1), Ok(true));
        assert_eq!(compare_exchange(at + 8, Width::Long, 0x5566_7788, 2), Ok(false));
        assert_eq!(load(at + 8, Width::Quad), Ok(0x1122_3344_0000_0001));
        for bad in [at + 4096, 0, 1, LIMIT, LIMIT - 4, u64::MAX - 7, 1 << 63] {
            let f = load(bad, Width::Quad).unwrap_err();
            assert_eq!((f.addr, f.kind), (bad, FaultKind::Unmapped));
            assert!(store(bad, Width::Quad, 1).is_err());
            assert!(compare_exchange(bad, Width::Quad, 0, 0).is_err());
        }
        let mut buf = [0xffu8; 32];
        assert_eq!(copy_in(at + 4096 - 16, &mut buf).unwrap_err().addr, at + 4096);
        assert_eq!(buf[..16], [0; 16]);
        assert_eq!(buf[16], 0xff);
        assert_eq!(copy_out(at + 4096 - 3, b"abcdef").unwrap_err().addr, at + 4096);
        assert_eq!(load(at + 4095, Width::Byte), Ok(u64::from(b'c')));
        // SAFETY: ours; read-only from now on.
        unsafe { libc::mprotect(at as *mut _, 4096, libc::PROT_READ) };
        assert_eq!(store(at, Width::Byte, 0).unwrap_err().kind, FaultKind::Protected);
    }
}
