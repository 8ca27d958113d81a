//! Signals of the host: the handler that records them for the guest, and the system call stub that
//! none is lost in.
//!
//! # Safety
//! A host signal may arrive anywhere. The handler only copies what the kernel gave it into the
//! thread's [`Mailbox`], blocks all signals in the context that it returns to (so that one at a time
//! is in the mailbox), kicks the machine, and moves a system call that hasn't begun to its end. It
//! allocates nothing and takes no lock. A thread's mailbox outlives its registration.

use std::cell::{Cell, UnsafeCell};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use axperf::Kick;

use super::Info;
use crate::errno::Errno;
use crate::signo::{SigSet, Signal};

/// The host's signal with which axperf interrupts its own threads. The guest can't have it.
pub const STOP: i32 = 64;

/// A system call that a signal kept from beginning: it is to be made again after the signal.
pub const NOT_BEGUN: Errno = Errno(513);

/// Flags of a mailbox: a signal is in it; somebody wants the thread's attention; a SIGSEGV or SIGBUS
/// was sent, which is never blocked, while another signal was in it.
const PENDING: u32 = 1;
const ATTENTION: u32 = 2;
const SENT_FAULT: [u32; 2] = [4, 8];

/// What the handler leaves for a thread.
#[derive(Debug)]
pub struct Mailbox {
    /// Not zero: a system call isn't to begin. The stub looks at it.
    flags: AtomicU32,
    /// The signal's siginfo, valid while PENDING is set.
    info: UnsafeCell<[u8; 128]>,
    kick: Kick,
}

// SAFETY: `info` is written by the handler of the thread that registered the mailbox, and read by
// that thread while PENDING says that the handler won't write.
unsafe impl Sync for Mailbox {}

thread_local! {
    /// The mailbox of this thread. Const and without a destructor, so the handler may read it.
    static MAILBOX: Cell<*const Mailbox> = const { Cell::new(std::ptr::null()) };
}

impl Mailbox {
    /// An empty mailbox that kicks this machine.
    #[must_use]
    pub fn new(kick: Kick) -> Mailbox {
        Mailbox { flags: AtomicU32::new(0), info: UnsafeCell::new([0; 128]), kick }
    }

    /// Makes it this thread's, until the registration is dropped.
    #[must_use]
    pub fn register(self: &std::sync::Arc<Mailbox>) -> Registration {
        MAILBOX.set(std::sync::Arc::as_ptr(self));
        Registration(std::sync::Arc::clone(self))
    }

    /// The signal in it, if any. All signals stay blocked until [`set_mask`].
    pub fn take(&self) -> Option<Info> {
        let flags = self.flags.load(Ordering::Acquire);
        if flags & PENDING == 0 {
            let sent = SENT_FAULT.iter().position(|f| flags & f != 0)?;
            self.flags.fetch_and(!SENT_FAULT[sent], Ordering::AcqRel);
            return Some(Info::sent([Signal::SEGV, Signal::BUS][sent]));
        }
        // SAFETY: the handler doesn't run while PENDING is set: it blocked all signals.
        let bytes = unsafe { *self.info.get() };
        self.flags.fetch_and(!PENDING, Ordering::AcqRel);
        Some(Info::from_host(&bytes))
    }

    /// Whether a signal is in it.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.flags.load(Ordering::Acquire) & (PENDING | SENT_FAULT[0] | SENT_FAULT[1]) != 0
    }

    /// Whether somebody wanted the thread's attention since it was last asked.
    pub fn take_attention(&self) -> bool {
        self.flags.fetch_and(!ATTENTION, Ordering::AcqRel) & ATTENTION != 0
    }

    /// Asks for the attention of the thread whose mailbox this is; `tid` is its id.
    pub fn call(&self, tid: i32) {
        self.flags.fetch_or(ATTENTION, Ordering::AcqRel);
        self.kick.now();
        // SAFETY: no pointers. It fails if the thread is gone, which is as well.
        unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), tid, STOP) };
    }

    /// Makes a system call of the host, unless a signal is in the mailbox: then it doesn't begin.
    ///
    /// # Errors
    /// The call's; [`NOT_BEGUN`].
    ///
    /// # Safety
    /// As for the call itself: its pointers are the guest's, or valid.
    pub unsafe fn syscall(&self, number: i64, args: &[u64; 6]) -> Result<u64, Errno> {
        // SAFETY: the caller's promise; the flags outlive the call.
        let r = unsafe { axperf_linux_syscall(self.flags.as_ptr(), number, args) };
        if r < 0 && r > -4096 { Err(Errno(-r as i32)) } else { Ok(r as u64) }
    }
}

/// A mailbox that is a thread's.
#[derive(Debug)]
pub struct Registration(std::sync::Arc<Mailbox>);

impl Drop for Registration {
    fn drop(&mut self) {
        // The handler finds none from here on; the Arc goes after that.
        MAILBOX.set(std::ptr::null());
        let _ = &self.0;
    }
}

// The system call, and where it is cut: between the look at the flags and the instruction.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    // In a build of several units, the reference is in another object file.
    ".globl axperf_linux_sigreturn, axperf_linux_syscall, axperf_linux_syscall_cut, axperf_linux_syscall_insn, axperf_linux_syscall_start",
    ".hidden axperf_linux_sigreturn, axperf_linux_syscall, axperf_linux_syscall_cut, axperf_linux_syscall_insn, axperf_linux_syscall_start",
    // (flags, number, args)
    ".balign 16",
    "axperf_linux_syscall:",
    "mov r11, rdi",
    "mov rax, rsi",
    "mov rcx, rdx",
    "mov rdi, [rcx]",
    "mov rsi, [rcx + 8]",
    "mov rdx, [rcx + 16]",
    "mov r10, [rcx + 24]",
    "mov r8, [rcx + 32]",
    "mov r9, [rcx + 40]",
    "axperf_linux_syscall_start:",
    "cmp dword ptr [r11], 0",
    "jne axperf_linux_syscall_cut",
    "axperf_linux_syscall_insn:",
    "syscall",
    "ret",
    "axperf_linux_syscall_cut:",
    "mov rax, -{not_begun}",
    "ret",
    "axperf_linux_sigreturn:",
    "mov eax, 15",
    "syscall",
    not_begun = const 513,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    // In a build of several units, the reference is in another object file.
    ".globl axperf_linux_sigreturn, axperf_linux_syscall, axperf_linux_syscall_cut, axperf_linux_syscall_insn, axperf_linux_syscall_start",
    ".hidden axperf_linux_sigreturn, axperf_linux_syscall, axperf_linux_syscall_cut, axperf_linux_syscall_insn, axperf_linux_syscall_start",
    ".balign 16",
    "axperf_linux_syscall:",
    "mov x9, x0",
    "mov x8, x1",
    "mov x10, x2",
    "ldp x0, x1, [x10]",
    "ldp x2, x3, [x10, #16]",
    "ldp x4, x5, [x10, #32]",
    "axperf_linux_syscall_start:",
    "ldr w11, [x9]",
    "cbnz w11, axperf_linux_syscall_cut",
    "axperf_linux_syscall_insn:",
    "svc #0",
    "ret",
    "axperf_linux_syscall_cut:",
    "mov x0, #-{not_begun}",
    "ret",
    // The kernel's own trampoline is used: SA_RESTORER isn't set.
    "axperf_linux_sigreturn:",
    "ret",
    not_begun = const 513,
);

unsafe extern "C" {
    fn axperf_linux_syscall(flags: *const u32, number: i64, args: *const [u64; 6]) -> i64;
    static axperf_linux_syscall_start: u8;
    static axperf_linux_syscall_insn: u8;
    static axperf_linux_syscall_cut: u8;
    #[cfg(target_arch = "x86_64")]
    static axperf_linux_sigreturn: u8;
}

/// The kernel's `struct sigaction`: libc's wrapper refuses the signals that glibc has for itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct KernelAction {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// The handlers that SIGSEGV and SIGBUS had before ours: they know the faults of translated code.
static FAULT_HANDLERS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// What the host is to do with a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Its default.
    Default,
    /// Nothing.
    Ignore,
    /// Record it for the guest.
    Record,
}

/// Tells the host what to do with a signal. Faults of the host's own code always go to those who
/// know them.
pub fn set_disposition(signal: Signal, disposition: Disposition) {
    let host = signal.host();
    if [Signal::KILL, Signal::STOP].contains(&signal) || host == STOP {
        return;
    }
    let fault = fault_index(host);
    if let Some(i) = fault {
        static ONCE: [OnceLock<()>; 2] = [OnceLock::new(), OnceLock::new()];
        ONCE[i].get_or_init(|| {
            axperf::host::install();
            let old = action(host, Some(&recording()));
            FAULT_HANDLERS[i].store(old.handler, Ordering::Release);
        });
        return;
    }
    let new = match disposition {
        Disposition::Default => KernelAction::default(),
        Disposition::Ignore => KernelAction { handler: libc::SIG_IGN, ..KernelAction::default() },
        Disposition::Record => recording(),
    };
    action(host, Some(&new));
}

/// Whether the host ignores a signal, as a process inherits it.
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    action(signal.host(), None).handler == libc::SIG_IGN
}

/// Installs the handler for [`STOP`].
pub fn install_stop() {
    action(STOP, Some(&recording()));
}

/// Ends this process by a signal, as if it had never been handled.
pub fn die_by(signal: Signal) -> ! {
    let host = signal.host();
    // SAFETY: plain system calls on this process; no core of the emulator instead of the guest's.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
    }
    action(host, Some(&KernelAction::default()));
    host_mask(Some(!(1 << (host - 1))));
    // SAFETY: no pointers.
    unsafe {
        libc::syscall(libc::SYS_tgkill, std::process::id(), libc::syscall(libc::SYS_gettid), host)
    };
    // Signals whose default doesn't end a process never come here; should one, say it another way.
    // SAFETY: ends the process; nothing runs after it.
    unsafe { libc::_exit(128 + i32::from(signal.number())) }
}

fn fault_index(host: i32) -> Option<usize> {
    [libc::SIGSEGV, libc::SIGBUS].iter().position(|s| *s == host)
}

fn recording() -> KernelAction {
    let base = libc::SA_SIGINFO | libc::SA_ONSTACK;
    #[cfg(target_arch = "x86_64")]
    let (flags, restorer) = (base as u64 | 0x0400_0000, &raw const axperf_linux_sigreturn as usize);
    #[cfg(not(target_arch = "x86_64"))]
    let (flags, restorer) = (base as u64, 0);
    KernelAction { handler: handler as *const () as usize, flags, restorer, mask: u64::MAX }
}

/// rt_sigaction; returns the old action.
fn action(host: i32, new: Option<&KernelAction>) -> KernelAction {
    let mut old = KernelAction::default();
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both structures are the kernel's, valid for the call.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, host, new, &mut old, 8) };
    old
}

/// Sets the host's signal mask of this thread if there is a new one; returns the old one.
pub fn host_mask(new: Option<u64>) -> u64 {
    let mut old = 0u64;
    let new = new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both sets are the kernel's, valid for the call.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, new, &mut old, 8);
    }
    old
}

/// The host's signals that are never blocked: those of faults, and ours.
const NEVER: u64 = 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGBUS - 1) | 1 << (STOP - 1);

/// Whether the host delivers a signal though the guest blocks it.
#[must_use]
pub fn is_never_blocked(signal: Signal) -> bool {
    NEVER & 1 << (signal.host() - 1) != 0
}

/// Blocks every signal that can be; returns the mask before.
pub fn block_all() -> u64 {
    host_mask(Some(!NEVER))
}

/// The host's mask for a guest's. Faults stay unblocked on the host.
#[must_use]
pub fn mask_for(set: SigSet) -> u64 {
    set.host() & !NEVER
}

/// Makes `set` the mask of this thread, whose mailbox this is. While a signal is in the mailbox all
/// stay blocked.
pub fn set_mask(mailbox: &Mailbox, set: SigSet) {
    block_all();
    if !mailbox.is_pending() {
        host_mask(Some(mask_for(set)));
    }
}

/// Records a signal.
unsafe extern "C" fn handler(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo and ucontext to an SA_SIGINFO handler.
    let (code, uc) = unsafe { ((*info).si_code, &mut *context.cast::<libc::ucontext_t>()) };
    if code > 0
        && let Some(i) = fault_index(signal)
    {
        let known = FAULT_HANDLERS[i].load(Ordering::Acquire);
        if known != libc::SIG_DFL && known != libc::SIG_IGN {
            // SAFETY: `axperf::host::install` put an SA_SIGINFO handler there.
            unsafe {
                let f: unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(known);
                f(signal, info, context);
            }
        } else {
            // Nobody knows it: executed again, the instruction ends the process.
            action(signal, Some(&KernelAction::default()));
        }
        return;
    }
    // SAFETY: as above.
    let addr = unsafe { (*info).si_addr() } as usize;
    if code > 0 && [libc::SIGILL, libc::SIGFPE].contains(&signal) && addr == *program_counter(uc) {
        // The host's own code did that. Executed again, it ends the process.
        action(signal, Some(&KernelAction::default()));
        return;
    }
    let mailbox = MAILBOX.get();
    if mailbox.is_null() {
        if signal != STOP {
            // Not a guest's thread: it takes no signal from now on, and this one goes round again.
            block_in(uc);
            if fault_index(signal).is_some() {
                // It can't be blocked.
                action(signal, Some(&KernelAction::default()));
            }
            // SAFETY: the siginfo is the kernel's own.
            unsafe {
                libc::syscall(libc::SYS_rt_sigqueueinfo, std::process::id(), signal, info);
            }
        }
        return;
    }
    // SAFETY: a registered mailbox lives until after its registration.
    let mailbox = unsafe { &*mailbox };
    if signal == STOP {
        // Whoever called has set the flag.
    } else if mailbox.flags.load(Ordering::Acquire) & PENDING != 0 {
        if let Some(i) = fault_index(signal) {
            mailbox.flags.fetch_or(SENT_FAULT[i], Ordering::AcqRel);
        }
    } else {
        // SAFETY: a siginfo has 128 bytes; PENDING isn't set, or all signals would be blocked.
        unsafe { std::ptr::copy_nonoverlapping(info.cast::<u8>(), mailbox.info.get().cast(), 128) };
        mailbox.flags.fetch_or(PENDING, Ordering::AcqRel);
        block_in(uc);
    }
    mailbox.kick.now();
    cut(uc);
}

/// Blocks all signals where the handler returns to.
fn block_in(uc: &mut libc::ucontext_t) {
    // SAFETY: the kernel's set is the first eight bytes of libc's.
    unsafe { (&raw mut uc.uc_sigmask).cast::<u64>().write(!NEVER) };
}

/// Moves a system call that has looked at the flags but not begun to its end.
fn cut(uc: &mut libc::ucontext_t) {
    let pc = program_counter(uc);
    let start = &raw const axperf_linux_syscall_start as usize;
    let insn = &raw const axperf_linux_syscall_insn as usize;
    if (start..=insn).contains(pc) {
        *pc = &raw const axperf_linux_syscall_cut as usize;
    }
}

#[cfg(target_arch = "x86_64")]
fn program_counter(uc: &mut libc::ucontext_t) -> &mut usize {
    let rip = &raw mut uc.uc_mcontext.gregs[libc::REG_RIP as usize];
    // SAFETY: same size, same place, borrowed from `uc`.
    unsafe { &mut *rip.cast::<usize>() }
}

#[cfg(target_arch = "aarch64")]
fn program_counter(uc: &mut libc::ucontext_t) -> &mut usize {
    let pc = &raw mut uc.uc_mcontext.pc;
    // SAFETY: same size, same place, borrowed from `uc`.
    unsafe { &mut *pc.cast::<usize>() }
}
