//! The interpreter: the semantics evaluated on the registers, one instruction at a time.

use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Sem, VaxConversion,
    VaxFormat, Width,
};
use axperf_isa::state::NO_RESERVATION;
use axperf_isa::{Flow, Insn, Reg, Regs, exec, fpcr, word};

use crate::machine::bus::{Bus, Fault};
use crate::machine::exit::Exit;
use crate::machine::fp::{self, Done};
use crate::machine::primitives::pure_primitives;
use crate::machine::vaxfp;

/// How many instructions ran, and why no more did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Instructions retired.
    pub retired: u64,
    /// Why the run stopped; None at the end of what was to be run.
    pub exit: Option<Exit>,
}

/// Runs `insns`, which stand at the pc, one after the other until one goes elsewhere. The pc is the
/// next instruction afterwards.
#[inline]
pub(crate) fn run_block(
    regs: &mut Regs,
    bus: &dyn Bus,
    clock: &mut dyn FnMut(u64) -> u64,
    insns: &[Insn],
) -> Ran {
    let start = regs.pc();
    let Some(first) = insns.first() else { return Ran { retired: 0, exit: None } };
    let mut eval = Eval { regs, bus, clock, insn: first, start, pc: start, after: false };
    let mut pc = start;
    for insn in insns {
        eval.insn = insn;
        eval.pc = pc;
        let next = pc.wrapping_add(4);
        let target = match exec(&mut eval, insn, pc) {
            Ok(Flow::Next) => {
                pc = next;
                continue;
            }
            Ok(Flow::Branch { taken, target }) => {
                if taken {
                    target
                } else {
                    next
                }
            }
            Ok(Flow::Goto(target) | Flow::Jump(target)) => target,
            Err(stop) => {
                // What retired all the same is counted by the pc.
                let done = if eval.after { next } else { pc };
                eval.regs.set_pc(done);
                return Ran { retired: done.wrapping_sub(start) / 4, exit: Some(stop) };
            }
        };
        eval.regs.set_pc(target);
        return Ran { retired: next.wrapping_sub(start) / 4, exit: None };
    }
    eval.regs.set_pc(pc);
    Ran { retired: pc.wrapping_sub(start) / 4, exit: None }
}

/// As many ones as the width has bits.
fn ones(width: Width) -> u64 {
    u64::MAX >> (64 - 8 * width.bytes())
}

/// A register in the exception register write mask.
fn write_mask(r: u8) -> u64 {
    if r == 31 { 0 } else { 1 << r }
}

/// The semantics, evaluated.
struct Eval<'a> {
    regs: &'a mut Regs,
    bus: &'a dyn Bus,
    /// The cycle counter, given the instructions retired in this block.
    clock: &'a mut dyn FnMut(u64) -> u64,
    insn: &'a Insn,
    /// Where the block starts.
    start: u64,
    pc: u64,
    /// The instruction stops, but has retired.
    after: bool,
}

impl Eval<'_> {
    fn fault(&self, f: Fault) -> Exit {
        Exit::Fault { pc: self.pc, addr: f.addr, access: f.access, kind: f.kind }
    }

    #[inline(always)]
    fn aligned(&self, addr: u64, width: Width) -> Result<(), Exit> {
        if addr & (width.bytes() - 1) == 0 {
            Ok(())
        } else {
            Err(Exit::Unaligned { pc: self.pc, addr, word: self.insn.word })
        }
    }

    fn arith(&mut self, summary: u64, write_mask: u64) -> Exit {
        self.after = true;
        Exit::Arith { pc: self.pc.wrapping_add(4), summary, write_mask }
    }

    /// Notes what a floating-point instruction raised; its result, or the trap after it is written.
    #[inline]
    fn fp_result(&mut self, done: Done) -> Result<u64, Exit> {
        if done.status != 0 {
            let fpcr = self.regs.get(Reg::Fpcr);
            self.regs.set(Reg::Fpcr, fpcr::raised(fpcr, done.status));
        }
        if done.trap == 0 {
            return Ok(done.value);
        }
        let rc = self.insn.rc;
        self.regs.set_fp(rc, done.value);
        Err(self.arith(done.trap, write_mask(rc) << 32))
    }
}

impl Sem for Eval<'_> {
    type I = u64;
    type F = u64;
    type B = bool;
    type Stop = Exit;

    #[inline(always)]
    fn int(&mut self, r: u8) -> u64 {
        self.regs.int(r)
    }
    #[inline(always)]
    fn set_int(&mut self, r: u8, value: u64) {
        self.regs.set_int(r, value);
    }
    #[inline(always)]
    fn fp(&mut self, r: u8) -> u64 {
        self.regs.fp(r)
    }
    #[inline(always)]
    fn set_fp(&mut self, r: u8, value: u64) {
        self.regs.set_fp(r, value);
    }

    pure_primitives!();

    fn fp_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Exit> {
        let r = fp::arith(op, format, q, self.regs.get(Reg::Fpcr), a, b);
        self.fp_result(r)
    }
    fn fp_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Exit> {
        let r = fp::compare(relation, q, self.regs.get(Reg::Fpcr), a, b);
        self.fp_result(r)
    }
    fn fp_convert(&mut self, conversion: FpConversion, q: Qualifiers, b: u64) -> Result<u64, Exit> {
        let r = fp::convert(conversion, q, self.regs.get(Reg::Fpcr), b);
        self.fp_result(r)
    }
    fn vax_arith(
        &mut self,
        op: FpOp,
        format: VaxFormat,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Exit> {
        self.fp_result(vaxfp::arith(op, format, q, a, b))
    }
    fn vax_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: u64,
        b: u64,
    ) -> Result<u64, Exit> {
        self.fp_result(vaxfp::compare(relation, q, a, b))
    }
    fn vax_convert(
        &mut self,
        conversion: VaxConversion,
        q: Qualifiers,
        b: u64,
    ) -> Result<u64, Exit> {
        self.fp_result(vaxfp::convert(conversion, q, b))
    }
    fn fpcr(&mut self) -> Result<u64, Exit> {
        Ok(self.regs.get(Reg::Fpcr))
    }
    fn set_fpcr(&mut self, value: u64) -> Result<(), Exit> {
        self.regs.set(Reg::Fpcr, fpcr::written(value));
        Ok(())
    }

    #[inline(always)]
    fn load(&mut self, addr: u64, width: Width) -> Result<u64, Exit> {
        self.aligned(addr, width)?;
        self.bus.load(addr, width).map_err(|f| self.fault(f))
    }
    #[inline(always)]
    fn store(&mut self, addr: u64, width: Width, value: u64) -> Result<(), Exit> {
        self.aligned(addr, width)?;
        self.bus.store(addr, width, value).map_err(|f| self.fault(f))
    }
    fn load_locked(&mut self, addr: u64, width: Width) -> Result<u64, Exit> {
        self.aligned(addr, width)?;
        let block = addr & !15;
        let mut quads = [0; 2];
        for (quad, at) in quads.iter_mut().zip([block, block + 8]) {
            let loaded = self.bus.load(at, Width::Quad);
            *quad = loaded.map_err(|f| self.fault(Fault { addr, ..f }))?;
        }
        self.regs.set_word(word::LOCK_ADDR, block);
        self.regs.set_word(word::LOCK_BLOCK, quads[0]);
        self.regs.set_word(word::LOCK_BLOCK + 1, quads[1]);
        Ok(quads[(addr >> 3 & 1) as usize] >> (8 * (addr & 7)) & ones(width))
    }
    fn store_conditional(&mut self, addr: u64, width: Width, value: u64) -> Result<u64, Exit> {
        self.aligned(addr, width)?;
        let block = addr & !15;
        let mut stored = false;
        if self.regs.word(word::LOCK_ADDR) == block {
            let old = [0, 1].map(|i| self.regs.word(word::LOCK_BLOCK + i));
            let mut new = old;
            let (quad, shift) = (&mut new[(addr >> 3 & 1) as usize], 8 * (addr & 7));
            *quad = *quad & !(ones(width) << shift) | (value & ones(width)) << shift;
            let swapped = self.bus.compare_exchange_block(block, old, new);
            stored = swapped.map_err(|f| self.fault(Fault { addr, ..f }))?;
        }
        self.regs.set_word(word::LOCK_ADDR, NO_RESERVATION);
        Ok(u64::from(stored))
    }
    fn barrier(&mut self, barrier: Barrier) -> Result<(), Exit> {
        match barrier {
            Barrier::Memory => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
            Barrier::Write => std::sync::atomic::fence(std::sync::atomic::Ordering::Release),
            // Traps are taken at their instruction: there is nothing to wait for.
            Barrier::Trap | Barrier::Exception => {}
        }
        Ok(())
    }

    fn cycle_counter(&mut self) -> Result<u64, Exit> {
        Ok((self.clock)(self.pc.wrapping_sub(self.start) / 4) & 0xffff_ffff)
    }
    fn interrupt_flag(&mut self, new: bool) -> Result<u64, Exit> {
        let old = self.regs.word(word::INTERRUPT_FLAG);
        self.regs.set_word(word::INTERRUPT_FLAG, u64::from(new));
        Ok(old)
    }
    fn amask(&mut self, features: u64) -> u64 {
        features & !self.regs.word(word::AMASK)
    }
    fn implver(&mut self) -> u64 {
        self.regs.word(word::IMPLVER)
    }

    fn unique(&mut self) -> u64 {
        self.regs.get(Reg::Unique)
    }
    fn set_unique(&mut self, value: u64) {
        self.regs.set(Reg::Unique, value);
    }
    fn clear_reservation(&mut self) {
        self.regs.set_word(word::LOCK_ADDR, NO_RESERVATION);
    }

    #[inline(always)]
    fn next_pc(&mut self) -> u64 {
        self.pc.wrapping_add(4)
    }
    #[inline(always)]
    fn trap_if(&mut self, c: bool, trap: ArithTrap, result: (u8, u64)) -> Result<(), Exit> {
        if !c {
            return Ok(());
        }
        self.regs.set_int(result.0, result.1);
        Err(self.arith(trap.summary(), write_mask(result.0)))
    }
    fn call_pal(&mut self, function: u32) -> Exit {
        self.after = true;
        Exit::Pal { function }
    }
    fn own_pal_call(&mut self, function: u32) -> Result<(), Exit> {
        match self.regs.word(word::ALL_PAL_CALLS) {
            0 => Ok(()),
            _ => Err(self.call_pal(function)),
        }
    }
    fn illegal(&mut self) -> Exit {
        Exit::Illegal { pc: self.pc, word: self.insn.word }
    }
}
