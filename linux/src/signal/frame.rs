//! The frames that a signal handler is entered with, and sigreturn leaves.
//!
//! Layouts are the kernel's: `struct sigcontext` of 648 bytes; a sigframe is one and the return
//! code; an rt_sigframe is a siginfo (128), a ucontext with the sigcontext at 176, and the code.

use axperf::{Bus, Reg, Regs};

use super::{Action, AltStack, Info, sa, ss};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::mm::Space;
use crate::signo::SigSet;

/// Offsets in `struct sigcontext`.
mod sc {
    pub const ONSTACK: usize = 0;
    pub const MASK: usize = 8;
    pub const PC: usize = 16;
    pub const PS: usize = 24;
    pub const REGS: usize = 32;
    pub const FPREGS: usize = 296;
    pub const FPCR: usize = 552;
    pub const TRAPARG: usize = 600;
    pub const SIZE: usize = 648;
}

/// Offsets in `struct rt_sigframe`.
mod rt {
    pub const UCONTEXT: usize = 128;
    pub const OSF_MASK: usize = UCONTEXT + 16;
    pub const STACK: usize = UCONTEXT + 24;
    pub const SIGCONTEXT: usize = 176;
    pub const MASK: usize = SIGCONTEXT + super::sc::SIZE;
    pub const CODE: usize = MASK + 8;
    pub const SIZE: usize = CODE + 16;
}

/// `struct sigframe`: the sigcontext, three instructions, padded to eight bytes.
const PLAIN_CODE: usize = sc::SIZE;
const PLAIN_SIZE: usize = PLAIN_CODE + 16;

/// `mov $30,$16; lda $0,number; callsys`.
const MOV_SP_A0: u32 = 0x47fe_0410;
const LDA_V0: u32 = 0x201f_0000;
const CALLSYS: u32 = 0x83;
const SIGRETURN: u32 = 103;
const RT_SIGRETURN: u32 = 351;

/// Builds the frame of a handler below the stack pointer (or on the alternate stack) and makes
/// `regs` enter the handler. `mask` is what sigreturn is to restore.
///
/// # Errors
/// EFAULT: the frame can't be written; `regs` is unchanged.
pub fn enter(
    space: &Space,
    regs: &mut Regs,
    info: &Info,
    action: &Action,
    mask: SigSet,
    stack: &AltStack,
) -> Result<(), Errno> {
    let sp = regs.get(Reg::Sp);
    let on_stack = stack.holds(sp);
    let top = if action.flags & sa::ONSTACK != 0 && stack.size != 0 && !on_stack {
        stack.sp.wrapping_add(stack.size)
    } else {
        sp
    };
    let wants_info = action.flags & sa::SIGINFO != 0;
    let size = if wants_info { rt::SIZE } else { PLAIN_SIZE };
    let frame = top.wrapping_sub(size as u64) & !31;
    // Running off the alternate stack is a fault, not an overwrite of what is below.
    if on_stack && frame <= stack.sp {
        return Err(Errno(libc::EFAULT));
    }
    let (context_at, code_at, number) = if wants_info {
        (rt::SIGCONTEXT, rt::CODE, RT_SIGRETURN)
    } else {
        (0, PLAIN_CODE, SIGRETURN)
    };
    let context_addr = frame.wrapping_add(context_at as u64);
    let context = save(regs, mask, stack.holds(context_addr));
    let mut bytes = vec![0; size];
    if wants_info {
        bytes[..128].copy_from_slice(&info.bytes.0);
        bytes[rt::OSF_MASK..rt::OSF_MASK + 8].copy_from_slice(&mask.0.to_le_bytes());
        bytes[rt::STACK..rt::STACK + 24].copy_from_slice(&stack.to_bytes(sp).0);
        bytes[rt::MASK..rt::MASK + 8].copy_from_slice(&mask.0.to_le_bytes());
    }
    bytes[context_at..context_at + sc::SIZE].copy_from_slice(&context.0);
    for (i, word) in [MOV_SP_A0, LDA_V0 + number, CALLSYS].into_iter().enumerate() {
        let at = code_at + 4 * i;
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    if action.restorer != 0 {
        bytes.truncate(code_at);
    }
    space.write(frame, &bytes)?;

    let (a1, a2) =
        if wants_info { (frame, frame.wrapping_add(rt::UCONTEXT as u64)) } else { (0, frame) };
    let ra =
        if action.restorer != 0 { action.restorer } else { frame.wrapping_add(code_at as u64) };
    regs.set(Reg::R26, ra);
    regs.set(Reg::R27, action.handler);
    regs.set(Reg::Pc, action.handler);
    regs.set(Reg::R16, u64::from(info.signal.number()));
    regs.set(Reg::R17, a1);
    regs.set(Reg::R18, a2);
    regs.set(Reg::Sp, frame);
    Ok(())
}

/// What sigreturn restores besides the registers.
#[derive(Debug, PartialEq, Eq)]
pub struct Restored {
    /// The signal mask.
    pub mask: SigSet,
    /// The alternate stack, as the frame has it.
    pub stack: Option<Bytes<24>>,
}

/// sigreturn: restores `regs` from the sigcontext at `addr`.
///
/// # Errors
/// EFAULT.
pub fn leave(space: &Space, regs: &mut Regs, addr: u64) -> Result<Restored, Errno> {
    let context = Bytes::<{ sc::SIZE }>::read(space, addr)?;
    restore(regs, &context);
    Ok(Restored { mask: SigSet(context.u64(sc::MASK)), stack: None })
}

/// rt_sigreturn: restores `regs` from the rt_sigframe at `addr`.
///
/// # Errors
/// EFAULT.
pub fn leave_rt(space: &Space, regs: &mut Regs, addr: u64) -> Result<Restored, Errno> {
    let at = |offset: usize| addr.wrapping_add(offset as u64);
    let mask = SigSet(space.read_u64(at(rt::MASK))?);
    let stack = Bytes::read(space, at(rt::STACK))?;
    let context = Bytes::<{ sc::SIZE }>::read(space, at(rt::SIGCONTEXT))?;
    restore(regs, &context);
    Ok(Restored { mask, stack: Some(stack) })
}

/// The sigcontext of these registers.
fn save(regs: &Regs, mask: SigSet, on_stack: bool) -> Bytes<{ sc::SIZE }> {
    let mut b = Bytes::zeroed();
    b.put_u64(sc::ONSTACK, u64::from(on_stack) * u64::from(ss::ONSTACK));
    b.put_u64(sc::MASK, mask.0);
    b.put_u64(sc::PC, regs.get(Reg::Pc));
    b.put_u64(sc::PS, 8);
    for n in 0..31u8 {
        b.put_u64(sc::REGS + 8 * usize::from(n), regs.int(n));
        b.put_u64(sc::FPREGS + 8 * usize::from(n), regs.fp(n));
    }
    b.put_u64(sc::FPCR, regs.get(Reg::Fpcr));
    // What PALcode passed at a trap: nothing that a user program's emulator knows.
    for i in 0..3 {
        b.put_u64(sc::TRAPARG + 8 * i, 0);
    }
    b
}

fn restore(regs: &mut Regs, b: &Bytes<{ sc::SIZE }>) {
    regs.set(Reg::Pc, b.u64(sc::PC));
    for n in 0..31u8 {
        if let (Some(int), Some(fp)) = (Reg::int(n), Reg::fp(n)) {
            regs.set(int, b.u64(sc::REGS + 8 * usize::from(n)));
            regs.set(fp, b.u64(sc::FPREGS + 8 * usize::from(n)));
        }
    }
    regs.set(Reg::Fpcr, b.u64(sc::FPCR));
}
