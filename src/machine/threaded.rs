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
//! [`Regs`] that nothing else has a reference to; `run` is a [`Running`] whose memory has the shape that the steps
//! were made for. A step's
//! register numbers are those of words of `Regs`, as [`Step::new`] made them.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;

use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Sem, VaxConversion,
    VaxFormat, Width,
};
use axperf_isa::{Flags, Flow, Insn, Op, Reg, Regs, Row, Shape, Use, fpcr, row, word};

use crate::machine::block::{Block, Link, Target};
use crate::machine::bus::{self, Bus};
use crate::machine::exit::Exit;
use crate::machine::fp::{self, Done};
use crate::machine::interp::{self, Ran};
use crate::machine::pairs;
use crate::machine::primitives::pure_primitives;
use crate::machine::reach::{Flat, Identity, Reach, Through};
use crate::machine::vaxfp;

/// What a step is executed by; what it returns is the fuel that is left.
pub(crate) type Code = unsafe fn(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64;

/// An instruction, ready to be executed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Step {
    code: Code,
    /// The words that its fields ra, rb, rc read or write.
    words: [u8; 3],
    /// Literal or displacement; of floating-point operations the instruction's word.
    imm: i32,
}

/// Bytes of host stack that steps may take before they come back.
const STACK: usize = 64 << 10;

/// What the steps of a run share.
pub(crate) struct Running<'a> {
    pub bus: &'a dyn Bus,
    front: &'a Front,
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

/// Entries of the direct-mapped table of blocks.
const FRONT: usize = 4096;

/// Blocks by address, direct-mapped: where computed jumps look.
#[derive(Debug)]
pub(crate) struct Front {
    entries: Box<[(Cell<u64>, Link)]>,
}

impl Front {
    /// No block's address.
    const NOWHERE: u64 = u64::MAX;

    /// Without blocks; `nothing` stands for none.
    pub fn new(nothing: *const Block) -> Front {
        let entry = |_| (Cell::new(Front::NOWHERE), Cell::new(nothing));
        Front { entries: (0..FRONT).map(entry).collect() }
    }

    #[inline(always)]
    fn entry(&self, pc: u64) -> &(Cell<u64>, Link) {
        &self.entries[(pc >> 2) as usize % FRONT]
    }

    /// The block at an address, if it is here.
    #[inline(always)]
    pub fn find(&self, pc: u64) -> Option<*const Block> {
        let (at, block) = self.entry(pc);
        (at.get() == pc).then(|| block.get())
    }

    /// Puts a block here.
    pub fn put(&self, pc: u64, block: *const Block) {
        let (at, link) = self.entry(pc);
        at.set(pc);
        link.set(block);
    }

    /// Forgets all.
    pub fn clear(&self) {
        for (at, _) in &self.entries {
            at.set(Front::NOWHERE);
        }
    }
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

/// The fields of the instruction that bodies see: they name the step's words.
const A: u8 = 0;
const B: u8 = 1;
const C: u8 = 2;

impl Step {
    /// The steps of a block's instructions, with the one after them.
    pub fn all(insns: &[Insn], shape: bus::Shape) -> Box<[Step]> {
        match shape {
            bus::Shape::Flat { .. } => Step::of::<Flat>(insns),
            bus::Shape::Identity => Step::of::<Identity>(insns),
            bus::Shape::Tlb => Step::of::<Through>(insns),
        }
    }

    fn of<M: Reach>(insns: &[Insn]) -> Box<[Step]> {
        let mut steps = Vec::with_capacity(insns.len() + 1);
        steps.extend(insns.iter().map(|insn| {
            let code = if insn.is_idle() { skip } else { code_of::<M>(insn.op) };
            Step::new(insn, code)
        }));
        steps.push(Step { code: end, words: [0; 3], imm: 0 });
        pairs::join::<M>(insns, &mut steps);
        steps.into_boxed_slice()
    }

    fn new(insn: &Insn, code: Code) -> Step {
        let shape = insn.desc().shape;
        let fields = [insn.ra, insn.rb, insn.rc];
        let uses = shape.uses();
        let mut words = [0; 3];
        for k in 0..3 {
            words[k] = match uses[k] {
                Use::Int => Regs::int_source(fields[k]),
                Use::IntOut | Use::IntInOut => Regs::int_sink(fields[k]),
                Use::Fp => Regs::fp_source(fields[k]),
                Use::FpOut | Use::FpInOut => Regs::fp_sink(fields[k]),
                Use::None => word::SINK as u8,
            };
        }
        let imm = match shape {
            Shape::Fp1 | Shape::Fp2 => insn.word as i32,
            _ => insn.imm,
        };
        Step { code, words, imm }
    }

    /// Which words its fields ra, rb, rc read or write.
    pub fn words(&self) -> [u8; 3] {
        self.words
    }

    /// Its code becomes that of this step and the next one together.
    pub fn join(&mut self, code: Code) {
        self.code = code;
    }
}

macro_rules! code_of_shape {
    // What accesses memory is made for each way to reach it.
    (Load, $id:ident) => {
        single::<M, row::$id>
    };
    (Store, $id:ident) => {
        single::<M, row::$id>
    };
    (FLoad, $id:ident) => {
        single::<M, row::$id>
    };
    (FStore, $id:ident) => {
        single::<M, row::$id>
    };
    // What stops or is rare.
    (LoadL, $id:ident) => {
        slow
    };
    (StoreC, $id:ident) => {
        slow
    };
    (MfFpcr, $id:ident) => {
        slow
    };
    (MtFpcr, $id:ident) => {
        slow
    };
    (ReadMisc, $id:ident) => {
        slow
    };
    (Effect, $id:ident) => {
        slow
    };
    (Pal, $id:ident) => {
        slow
    };
    (Stop, $id:ident) => {
        slow
    };
    ($shape:ident, $id:ident) => {
        single::<Through, row::$id>
    };
}

macro_rules! define_codes {
    ($($(#[doc = $doc:literal])* $id:ident = $form:ident($($arg:literal),*) $shape:ident $module:ident { $ext:ident $(, $flag:ident)* };)*) => {
        /// The code of an instruction, where memory is reached like this.
        fn code_of<M: Reach>(op: Op) -> Code {
            match op {
                $(Op::$id => code_of_shape!($shape, $id),)*
            }
        }
    };
}
axperf_isa::for_each_insn!(define_codes);

/// The instruction that a body sees.
#[inline(always)]
fn seen<R: Row>(imm: i32) -> Insn {
    Insn { op: R::OP, ra: A, rb: B, rc: C, literal: false, imm, word: imm as u32 }
}

/// Goes on with a step of the same block.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn go(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract is the step's.
    unsafe { ((*step).code)(step, words, run, fuel, block) }
}

/// Executes one instruction.
///
/// # Safety
/// As for all code; see the module.
unsafe fn single<M: Reach, R: Row>(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
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
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
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
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
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
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract; a link leads to a block.
    unsafe {
        let to = (*link).get();
        let (len, left) = ((*to).len, (*to).left.get());
        let step = (*to).steps.as_ptr();
        // Which has at least the step at its end, be it the block that is none.
        if fuel < len || left <= 1 || stack_pointer() < (*run.cast::<Running<'_>>()).floor {
            return leave(step, words, run, fuel, block);
        }
        (*to).left.set(left - 1);
        go(step, words, run, fuel - len, to)
    }
}

/// Goes on to what was recorded of a jump.
///
/// # Safety
/// As for all code; see the module.
#[inline(always)]
unsafe fn jump_to(
    target: &Target,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    target.times.set(target.times.get().wrapping_add(1));
    // SAFETY: the caller's contract.
    unsafe { enter(&raw const target.block, leave_jump, words, run, fuel, block) }
}

/// A computed jump to the pc, which isn't the first target that was recorded.
///
/// # Safety
/// As for all code; see the module. The block ends in a jump that is recorded.
#[inline(never)]
unsafe fn other_target(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let to = *words.add(Reg::Pc.offset() / 8);
        for target in &(*(*block).jump).targets {
            if target.pc.get() == to {
                return jump_to(target, words, run, fuel, block);
            }
            if target.pc.get() == crate::machine::block::Jump::NOWHERE {
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
unsafe fn look_up(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        let to = *words.add(Reg::Pc.offset() / 8);
        let front = (*run.cast::<Running<'_>>()).front;
        let (pc, link) = front.entry(to);
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
unsafe fn end(
    _step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract.
    unsafe { enter(&raw const (*block).fall, leave_fall, words, run, fuel, block) }
}

/// An instruction that does nothing.
///
/// # Safety
/// As for all code; see the module.
unsafe fn skip(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
    // SAFETY: the caller's contract; every instruction's step has one after it.
    unsafe { go(step.add(1), words, run, fuel, block) }
}

/// The branch at the end of the block is taken, but there is no going on to there.
///
/// # Safety
/// As for all code; see the module.
#[cold]
unsafe fn leave_taken(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
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
unsafe fn leave_fall(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
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
unsafe fn leave_jump(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
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
unsafe fn leave_for_good(
    _step: *const Step,
    _words: *mut u64,
    _run: *mut (),
    fuel: u64,
    _block: *const Block,
) -> u64 {
    fuel
}

/// Executes an instruction that isn't ordinary, or wasn't.
///
/// # Safety
/// As for all code; see the module.
#[cold]
#[inline(never)]
unsafe fn slow(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
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
unsafe fn interpret(
    step: *const Step,
    words: *mut u64,
    run: *mut (),
    fuel: u64,
    block: *const Block,
) -> u64 {
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

/// A step leaves its instruction to [`slow`].
#[derive(Clone, Copy, Debug)]
struct Bail;

/// The semantics on a step's words. If `FORWARD` is 1 or 2, then what operand a or b reads is known.
struct Fast<'a, M, const FORWARD: u8> {
    step: &'a Step,
    words: *mut u64,
    run: &'a Running<'a>,
    block: *const Block,
    forwarded: u64,
    /// What was written last.
    result: u64,
    memory: PhantomData<M>,
}

impl<M: Reach, const FORWARD: u8> Fast<'_, M, FORWARD> {
    /// # Safety
    /// As for all code; see the module. It is gone when the next step's code is called.
    #[inline(always)]
    unsafe fn new(
        step: *const Step,
        words: *mut u64,
        run: *mut (),
        block: *const Block,
        forwarded: u64,
    ) -> Self {
        // SAFETY: the caller's contract.
        let (step, run) = unsafe { (&*step, &*run.cast()) };
        Fast { step, words, run, block, forwarded, result: 0, memory: PhantomData }
    }

    #[inline(always)]
    fn word(&self, field: u8) -> *mut u64 {
        // SAFETY: a step's register numbers are those of words.
        unsafe { self.words.add(usize::from(self.step.words[usize::from(field)])) }
    }

    #[inline(always)]
    fn read(&self, field: u8) -> u64 {
        match (FORWARD, field) {
            (1, A) | (2, B) => self.forwarded,
            // SAFETY: `words` are a `Regs`'s.
            _ => unsafe { *self.word(field) },
        }
    }

    #[inline(always)]
    fn write(&mut self, field: u8, value: u64) {
        self.result = value;
        // SAFETY: `words` are a `Regs`'s.
        unsafe { *self.word(field) = value };
    }

    #[inline(always)]
    fn aligned(addr: u64, width: Width) -> Result<(), Bail> {
        if addr & (width.bytes() - 1) == 0 { Ok(()) } else { Err(Bail) }
    }

    #[inline(always)]
    fn fpcr_word(&self) -> *mut u64 {
        // SAFETY: a register's word.
        unsafe { self.words.add(Reg::Fpcr.offset() / 8) }
    }

    /// As the interpreter's, but what traps is left to it.
    #[inline(always)]
    fn fp_result(&mut self, done: Done) -> Result<u64, Bail> {
        if done.trap != 0 {
            return Err(Bail);
        }
        if done.status != 0 {
            let fpcr = self.fpcr_word();
            // SAFETY: `words` are a `Regs`'s.
            unsafe { *fpcr = fpcr::raised(*fpcr, done.status) };
        }
        Ok(done.value)
    }
}

impl<M: Reach, const FORWARD: u8> Sem for Fast<'_, M, FORWARD> {
    type I = u64;
    type F = u64;
    type B = bool;
    type Stop = Bail;

    #[inline(always)]
    fn int(&mut self, r: u8) -> u64 {
        self.read(r)
    }
    #[inline(always)]
    fn set_int(&mut self, r: u8, value: u64) {
        self.write(r, value);
    }
    #[inline(always)]
    fn fp(&mut self, r: u8) -> u64 {
        self.read(r)
    }
    #[inline(always)]
    fn set_fp(&mut self, r: u8, value: u64) {
        self.write(r, value);
    }
    /// One of the two is zero.
    #[inline(always)]
    fn operand_b(&mut self, insn: &Insn) -> u64 {
        self.read(B).wrapping_add(insn.imm as u64)
    }

    pure_primitives!();

    #[inline(always)]
    fn fp_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Bail> {
        // SAFETY: `words` are a `Regs`'s.
        let fpcr = unsafe { *self.fpcr_word() };
        match fp::ordinary(op, format, q, fpcr, a, b) {
            Some(value) => Ok(value),
            None => self.fp_result(fp::unusual(op, format, q, fpcr, a, b)),
        }
    }
    #[inline(always)]
    fn fp_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Bail> {
        // SAFETY: `words` are a `Regs`'s.
        let fpcr = unsafe { *self.fpcr_word() };
        self.fp_result(fp::compare(relation, q, fpcr, a, b))
    }
    #[inline(always)]
    fn fp_convert(&mut self, conversion: FpConversion, q: Qualifiers, b: u64) -> Result<u64, Bail> {
        // SAFETY: `words` are a `Regs`'s.
        let fpcr = unsafe { *self.fpcr_word() };
        self.fp_result(fp::convert(conversion, q, fpcr, b))
    }
    #[inline(always)]
    fn vax_arith(
        &mut self,
        op: FpOp,
        format: VaxFormat,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Bail> {
        self.fp_result(vaxfp::arith(op, format, q, a, b))
    }
    #[inline(always)]
    fn vax_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Bail> {
        self.fp_result(vaxfp::compare(relation, q, a, b))
    }
    #[inline(always)]
    fn vax_convert(
        &mut self,
        conversion: VaxConversion,
        q: Qualifiers,
        b: u64,
    ) -> Result<u64, Bail> {
        self.fp_result(vaxfp::convert(conversion, q, b))
    }
    fn fpcr(&mut self) -> Result<u64, Bail> {
        Err(Bail)
    }
    fn set_fpcr(&mut self, _value: u64) -> Result<(), Bail> {
        Err(Bail)
    }

    #[inline(always)]
    fn load(&mut self, addr: u64, width: Width) -> Result<u64, Bail> {
        Self::aligned(addr, width)?;
        M::load(self.run, addr, width).ok_or(Bail)
    }
    #[inline(always)]
    fn store(&mut self, addr: u64, width: Width, value: u64) -> Result<(), Bail> {
        Self::aligned(addr, width)?;
        M::store(self.run, addr, width, value).ok_or(Bail)
    }
    fn load_locked(&mut self, _addr: u64, _width: Width) -> Result<u64, Bail> {
        Err(Bail)
    }
    fn store_conditional(&mut self, _addr: u64, _width: Width, _value: u64) -> Result<u64, Bail> {
        Err(Bail)
    }
    fn barrier(&mut self, _barrier: Barrier) -> Result<(), Bail> {
        Err(Bail)
    }

    fn cycle_counter(&mut self) -> Result<u64, Bail> {
        Err(Bail)
    }
    fn interrupt_flag(&mut self, _new: bool) -> Result<u64, Bail> {
        Err(Bail)
    }
    #[inline(always)]
    fn amask(&mut self, features: u64) -> u64 {
        // SAFETY: `words` are a `Regs`'s.
        features & !unsafe { *self.words.add(word::AMASK) }
    }
    #[inline(always)]
    fn implver(&mut self) -> u64 {
        // SAFETY: `words` are a `Regs`'s.
        unsafe { *self.words.add(word::IMPLVER) }
    }

    #[inline(always)]
    fn unique(&mut self) -> u64 {
        // SAFETY: `words` are a `Regs`'s.
        unsafe { *self.words.add(Reg::Unique.offset() / 8) }
    }
    #[inline(always)]
    fn set_unique(&mut self, value: u64) {
        // SAFETY: `words` are a `Regs`'s.
        unsafe { *self.words.add(Reg::Unique.offset() / 8) = value };
    }
    #[inline(always)]
    fn clear_reservation(&mut self) {
        // SAFETY: `words` are a `Regs`'s.
        unsafe { *self.words.add(word::LOCK_ADDR) = axperf_isa::state::NO_RESERVATION };
    }

    #[inline(always)]
    fn next_pc(&mut self) -> u64 {
        // SAFETY: the contract of `new`. Who asks for it ends the block.
        unsafe { (*self.block).end }
    }
    #[inline(always)]
    fn trap_if(&mut self, c: bool, _trap: ArithTrap, _result: (u8, u64)) -> Result<(), Bail> {
        if c { Err(Bail) } else { Ok(()) }
    }
    fn call_pal(&mut self, _function: u32) -> Bail {
        Bail
    }
    fn illegal(&mut self) -> Bail {
        Bail
    }
}
