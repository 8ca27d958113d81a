//! Threaded code: a block becomes a list of steps, and each step's code goes on to the next one's.
//!
//! The code of a step is a row's body, instantiated for operands whose places are known. It ends by
//! calling the next step's code with its own arguments, which an optimising compiler makes a jump;
//! where it doesn't, the host's stack grows, and [`enter`] sees that and comes back. What isn't
//! ordinary, a fault, a trap, a PAL call, a step leaves to [`slow`], which executes the instruction
//! again, with an exit for whatever comes of it.
//!
//! Fuel is charged a block at a time, at its entry. A block that the fuel doesn't cover isn't
//! entered, and of one that is left in the middle the rest is given back: so the count is exact.
//!
//! # Safety
//! All functions of type [`Code`] have the same contract. They are called by [`run`] or by each
//! other, with the arguments that they were called with, but for a step of the same block or the
//! first of another, and for fuel. `step` is one of `block`'s; `block` is alive until `run` returns,
//! as are all that its links lead to, since nothing is dropped meanwhile; `words` are the words of a
//! [`Regs`] that nothing else has a reference to; `run` is a [`Running`] whose memory has the shape
//! that the steps were made for. A step's register numbers are those of words of `Regs`, as `Step::new`
//! made them.

#![allow(unsafe_code)]

use axperf_isa::{Flags, Flow, Reg, Regs, Row, Sem};

use crate::machine::block::{Block, Jump, Link, Target};
use crate::machine::bus::{self, Bus};
use crate::machine::exit::Exit;
use crate::machine::fast::{Bail, Fast, seen};
use crate::machine::front::{Front, Table, entry};
use crate::machine::interp::{self, Ran};
use crate::machine::reach::Reach;
use crate::machine::step::{At, Code, In, Run, Words};

/// Bytes of host stack that steps may take before they come back.
const STACK: usize = 64 << 10;

/// What the steps of a run share.
pub(crate) struct Running<'a> {
    pub bus: &'a dyn Bus,
    front: &'a Table,
    /// Where the host's stack ends for this run.
    floor: usize,
    /// Flat memory's block.
    pub flat: (*mut u8, u64),
    /// The fuel at the start.
    fuel: u64,
    clock: &'a mut dyn FnMut(u64) -> u64,
    exit: Option<Exit>,
    /// The link that led to no block.
    missed: Option<*const Link>,
}

/// How a run came back.
#[derive(Debug)]
pub(crate) struct Came {
    pub ran: Ran,
    /// The link that led to no block, where that is why: it belongs to the pc.
    pub missed: Option<*const Link>,
}

/// Runs a block, which stands at the pc and whose length is at most `fuel`, and those that it leads
/// to, as far as they are known, fuel lasts, and none is hot. The pc is the next instruction
/// afterwards.
///
/// # Safety
/// The block was made for memory of this shape. All that it leads to lives until this comes back.
pub(crate) unsafe fn run(
    regs: &mut Regs,
    bus: &dyn Bus,
    clock: &mut dyn FnMut(u64) -> u64,
    front: &Front,
    block: &Block,
    fuel: u64,
) -> Came {
    let floor = stack_pointer().saturating_sub(STACK);
    let flat = match bus.shape().0 {
        bus::Shape::Flat { base, len } => (base as *mut u8, len),
        bus::Shape::Identity | bus::Shape::Tlb => (std::ptr::null_mut(), 0),
    };
    let front = front.table();
    let mut run = Running { bus, front, floor, flat, fuel, clock, exit: None, missed: None };
    debug_assert!(block.len <= fuel && block.pc == regs.pc());
    // SAFETY: see the module.
    let left = unsafe {
        let words = std::ptr::from_mut(regs).cast();
        (block.steps[0].code)(
            block.steps.as_ptr(),
            words,
            (&raw mut run).cast(),
            fuel - block.len,
            block,
        )
    };
    Came { ran: Ran { retired: fuel - left, exit: run.exit }, missed: run.missed }
}

#[inline(always)]
fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags));
    }
    sp
}

/// Goes on with a step of the same block.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn go(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract is the step's.
    unsafe { ((*step).code)(step, words, run, fuel, block) }
}

/// Executes one instruction.
///
/// # Safety
/// As for all code; see the module.
pub(crate) unsafe fn single<M: Reach, R: Row>(
    step: At,
    words: Words,
    run: Run,
    fuel: u64,
    block: In,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let mut fast = Fast::<M, 0>::new(step, words, run, block, 0);
        let flow = R::exec(&mut fast, &seen::<R>((*step).imm), 0);
        follow::<R, _>(flow, step, words, run, fuel, block)
    }
}

/// Executes two instructions. If `FORWARD` is 1 or 2, then operand a or b of the second is the
/// result of the first.
///
/// # Safety
/// As for all code; see the module. A step follows.
pub(crate) unsafe fn pair<M: Reach, R1: Row, R2: Row, const FORWARD: u8>(
    step: At,
    words: Words,
    run: Run,
    fuel: u64,
    block: In,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let mut first = Fast::<M, 0>::new(step, words, run, block, 0);
        if R1::exec(&mut first, &seen::<R1>((*step).imm), 0).is_err() {
            return slow(step, words, run, fuel, block);
        }
        let step = step.add(1);
        let mut second = Fast::<M, FORWARD>::new(step, words, run, block, first.result);
        let flow = R2::exec(&mut second, &seen::<R2>((*step).imm), 0);
        follow::<R2, _>(flow, step, words, run, fuel, block)
    }
}

/// Goes on after the instruction of a step.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn follow<R: Row, S: Sem<I = u64, B = bool, Stop = Bail>>(
    flow: Result<Flow<S>, Bail>,
    step: At,
    words: Words,
    run: Run,
    fuel: u64,
    block: In,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        match flow {
            Ok(Flow::Next) => go(step.add(1), words, run, fuel, block),
            Ok(Flow::Branch { taken: true, .. } | Flow::Goto(_)) => {
                enter(&raw const (*block).taken, leave_taken, words, run, fuel, block)
            }
            Ok(Flow::Branch { taken: false, .. }) => {
                enter(&raw const (*block).fall, leave_fall, words, run, fuel, block)
            }
            Ok(Flow::Jump(to)) => {
                *words.add(Reg::Pc.offset() / 8) = to;
                if R::OP.desc().is(Flags::RETURN) || (*block).jump.is_null() {
                    look_up(step, words, run, fuel, block)
                } else {
                    let targets = &(*(*block).jump).targets;
                    let first = targets.get_unchecked(0);
                    if first.pc.get() == to {
                        jump_to(first, words, run, fuel, block)
                    } else {
                        other_target(step, words, run, fuel, block)
                    }
                }
            }
            Err(Bail) => slow(step, words, run, fuel, block),
        }
    }
}

/// Goes on with the block that a link leads to, or by `leave`.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn enter(
    link: *const Link,
    leave: Code,
    words: Words,
    run: Run,
    fuel: u64,
    block: In,
) -> u64 {
    // SAFETY: the caller's contract; a link leads to a block.
    unsafe {
        let to = (*link).get();
        let rest = fuel.wrapping_sub((*to).len);
        let left = (*to).left.get();
        // Either is negative where it doesn't suffice: fuel and lengths are less than 2^63.
        let short = (rest | u64::from(left).wrapping_sub(2)) as i64;
        if short < 0 || stack_pointer() < (*run.cast::<Running<'_>>()).floor {
            return leave((*to).steps.as_ptr(), words, run, fuel, block);
        }
        (*to).left.set(left - 1);
        ((*to).code)((*to).steps.as_ptr(), words, run, rest, to)
    }
}

/// Goes on to what was recorded of a jump.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn jump_to(target: &Target, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    target.times.set(target.times.get().wrapping_add(1));
    // SAFETY: the caller's contract.
    unsafe { enter(&raw const target.block, leave_jump, words, run, fuel, block) }
}

/// A computed jump to the pc, which isn't the first target that was recorded.
///
/// # Safety
/// As for all code; see the module. The block ends in a jump that is recorded.
#[inline(never)]
unsafe fn other_target(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let to = *words.add(Reg::Pc.offset() / 8);
        for target in &(*(*block).jump).targets {
            if target.pc.get() == to {
                return jump_to(target, words, run, fuel, block);
            }
            if target.pc.get() == Jump::NOWHERE {
                target.pc.set(to);
                return jump_to(target, words, run, fuel, block);
            }
        }
        look_up(step, words, run, fuel, block)
    }
}

/// A computed jump to the pc: whether there is a block, the table says.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn look_up(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let to = *words.add(Reg::Pc.offset() / 8);
        let front = (*run.cast::<Running<'_>>()).front;
        let (pc, link) = entry(front, to);
        if pc.get() != to {
            return leave_for_good(step, words, run, fuel, block);
        }
        enter(link, leave_for_good, words, run, fuel, block)
    }
}

/// After the last instruction of a block that goes on without a branch.
///
/// # Safety
/// As for all code; see the module.
pub(crate) unsafe fn end(_step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe { enter(&raw const (*block).fall, leave_fall, words, run, fuel, block) }
}

/// An instruction that does nothing.
///
/// # Safety
/// As for all code; see the module.
pub(crate) unsafe fn skip(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract; every instruction's step has one after it.
    unsafe { go(step.add(1), words, run, fuel, block) }
}

/// The branch at the end of the block is taken, but there is no going on to there.
///
/// # Safety
/// As for all code; see the module.
#[cold]
unsafe fn leave_taken(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        *words.add(Reg::Pc.offset() / 8) = (*block).target;
        (*run.cast::<Running<'_>>()).missed = Some(&raw const (*block).taken);
        leave_for_good(step, words, run, fuel, block)
    }
}

/// Likewise, of a branch that isn't taken, or none.
///
/// # Safety
/// As for all code; see the module.
#[cold]
unsafe fn leave_fall(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        *words.add(Reg::Pc.offset() / 8) = (*block).end;
        (*run.cast::<Running<'_>>()).missed = Some(&raw const (*block).fall);
        leave_for_good(step, words, run, fuel, block)
    }
}

/// Likewise, of a jump to a target that was recorded.
///
/// # Safety
/// As for all code; see the module. The block ends in a jump whose targets are recorded; the pc is
/// one of them.
#[cold]
unsafe fn leave_jump(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let to = *words.add(Reg::Pc.offset() / 8);
        let targets = &(*(*block).jump).targets;
        (*run.cast::<Running<'_>>()).missed =
            targets.iter().find(|t| t.pc.get() == to).map(|t| &raw const t.block);
        leave_for_good(step, words, run, fuel, block)
    }
}

/// Comes back.
///
/// # Safety
/// As for all code; see the module.
unsafe fn leave_for_good(_step: At, _words: Words, _run: Run, fuel: u64, _block: In) -> u64 {
    fuel
}

/// Executes an instruction that isn't ordinary, or wasn't.
///
/// # Safety
/// As for all code; see the module.
#[cold]
#[inline(never)]
pub(crate) unsafe fn slow(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract; every instruction's step has one after it.
    unsafe {
        match interpret(step, words, run, fuel, block) {
            u64::MAX => go(step.add(1), words, run, fuel, block),
            rest => fuel + rest,
        }
    }
}

/// Executes an instruction with all that may come of it: an exit, or that the next one is to be
/// executed. How many of the block's instructions didn't retire; all bits set if it goes on.
///
/// # Safety
/// As for all code; see the module.
// Apart from `slow`, whose own frame thus ends before it goes on.
#[inline(never)]
unsafe fn interpret(step: At, words: Words, run: Run, fuel: u64, block: In) -> u64 {
    // SAFETY: the caller's contract. Both references end here, as does that to the registers.
    let (run, block) = unsafe { (&mut *run.cast::<Running<'_>>(), &*block) };
    // SAFETY: `words` are a `Regs`'s.
    let regs = unsafe { &mut *words.cast::<Regs>() };
    // SAFETY: the step is one of the block's.
    let index = unsafe { step.offset_from(block.steps.as_ptr()) } as u64;
    let insn = &block.insns[index as usize];
    regs.set_pc(block.pc.wrapping_add(4 * index));
    let rest = block.len - index;
    let before = run.fuel - fuel - rest;
    let clock = &mut run.clock;
    let mut clock = |n| clock(before + n);
    let ran = interp::run_block(regs, run.bus, &mut clock, std::slice::from_ref(insn));
    if ran.exit.is_none() && !insn.ends_block() {
        return u64::MAX;
    }
    run.exit = ran.exit;
    rest - ran.retired
}
