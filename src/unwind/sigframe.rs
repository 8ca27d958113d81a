//! Signal frames whose trampoline has no CFI: Linux puts the code on the stack if the program
//! didn't say where it has its own.

use crate::perf::UnwindRegs;

/// `mov $30,$16`
const MOV_SP_A0: u32 = 0x47fe_0410;
/// `lda $0,103`: sigreturn.
const SIGRETURN: u32 = 0x201f_0067;
/// `lda $0,351`: rt_sigreturn.
const RT_SIGRETURN: u32 = 0x201f_015f;
/// `call_pal callsys`
const CALLSYS: u32 = 0x0000_0083;

/// Bytes from an rt_sigframe to its `struct sigcontext`: siginfo, and ucontext up to there.
const RT_SIGCONTEXT: u64 = 176;

/// Offsets in `struct sigcontext`.
const SC_PC: u64 = 16;
const SC_REGS: u64 = 32;

/// Reads an aligned word of the guest's memory.
type Read<'a> = dyn FnMut(u64) -> Option<u64> + 'a;

/// Where the interrupted frame's registers lie, if the code at `pc` is a trampoline.
pub(super) fn sigcontext(pc: u64, sp: u64, read: &mut Read) -> Option<u64> {
    // The handler returns to the first instruction; a sample can be at any of the three.
    (0..3u64).find_map(|done| {
        let start = pc.checked_sub(4 * done)?;
        if word(start, read)? != MOV_SP_A0 || word(start + 8, read)? != CALLSYS {
            return None;
        }
        match word(start + 4, read)? {
            SIGRETURN => Some(sp),
            RT_SIGRETURN => sp.checked_add(RT_SIGCONTEXT),
            _ => None,
        }
    })
}

/// The interrupted frame; None if it can't be read.
pub(super) fn interrupted(sigcontext: u64, read: &mut Read) -> Option<UnwindRegs> {
    let mut at = |offset| read(sigcontext.checked_add(offset)?);
    let mut reg = |n: u64| at(SC_REGS + 8 * n);
    let (r15, r16, r23, r26, sp) = (reg(15), reg(16), reg(23), reg(26), reg(30)?);
    Some(UnwindRegs { pc: at(SC_PC)?, sp, r15, r16, r23, r26 })
}

fn word(addr: u64, read: &mut Read) -> Option<u32> {
    let quad = read(addr & !7)?;
    Some((quad >> (8 * (addr & 4))) as u32)
}
