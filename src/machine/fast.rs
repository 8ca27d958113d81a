//! The semantics on a step: the ordinary course of instructions.
//!
//! # Safety
//! See `threaded.rs`, which has the contract of all code.

#![allow(unsafe_code)]

use std::marker::PhantomData;

use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Sem, VaxConversion,
    VaxFormat, Width,
};
use axperf_isa::{Insn, Reg, Row, fpcr, word};

use crate::machine::fp::{self, Done};
use crate::machine::primitives::pure_primitives;
use crate::machine::reach::Reach;
use crate::machine::step::{At, In, Run, Step, Words, unpack};
use crate::machine::threaded::Running;
use crate::machine::vaxfp;

/// The fields of the instruction that bodies see: they name the step's words.
pub(crate) const A: u8 = 0;
pub(crate) const B: u8 = 1;
pub(crate) const C: u8 = 2;

/// The instruction that a body sees.
#[inline(always)]
pub(crate) fn seen<R: Row>(imm: i32) -> Insn {
    Insn { op: R::OP, ra: A, rb: B, rc: C, literal: false, imm, word: imm as u32 }
}

/// A step leaves its instruction to `slow`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bail;

/// The semantics on a step's words. If `FORWARD` is 1 or 2, then what operand a or b reads is known.
pub(crate) struct Fast<'a, M, const FORWARD: u8> {
    step: &'a Step,
    words: Words,
    run: &'a Running<'a>,
    block: In,
    forwarded: u64,
    /// What was written last.
    pub result: u64,
    memory: PhantomData<M>,
}

impl<M: Reach, const FORWARD: u8> Fast<'_, M, FORWARD> {
    /// # Safety
    /// As for all code; see `threaded.rs`. It is gone when the next step's code is called.
    #[inline(always)]
    pub unsafe fn new(step: At, words: Words, run: Run, block: In, forwarded: u64) -> Self {
        // SAFETY: the caller's contract.
        let (step, run) = unsafe { (&*step, &*run.cast()) };
        Fast { step, words, run, block, forwarded, result: 0, memory: PhantomData }
    }

    #[inline(always)]
    fn word(&self, field: u8) -> *mut u64 {
        // SAFETY: a step's register numbers are those of words.
        unsafe { self.words.add(usize::from(self.step.words()[usize::from(field)])) }
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

    #[inline(always)]
    fn qualifiers(&mut self, insn: &Insn) -> Qualifiers {
        unpack(insn.imm)
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
        // Without a call, it needs none of the host's registers that a call keeps.
        fp::ordinary(op, format, q, fpcr, a, b).ok_or(Bail)
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
