//! One Alpha CPU: registers, a bus, and the two engines that execute its code.

pub(crate) mod blocks;
pub mod bus;
pub mod config;
pub mod engine;
pub mod exit;
pub mod flat;
mod fp;
pub mod host;
mod interp;
pub mod kick;

use std::sync::atomic::Ordering;
use std::time::Instant;

use axperf_isa::state::NO_RESERVATION;
use axperf_isa::{Reg, Regs, word};

use crate::error::Result;
use crate::machine::blocks::Blocks;
use crate::machine::bus::{Bus, Fault};
use crate::machine::engine::Engine;
use crate::machine::exit::Exit;
use crate::machine::kick::{CpuBox, Kick};

/// Fuel without end: nothing is counted for its sake.
pub const UNLIMITED: u64 = u64::MAX;

/// OSF/1 PALcode functions that the machine executes itself.
mod pal {
    /// Instruction memory barrier.
    pub const IMB: u32 = 0x86;
    /// Read the thread pointer into `$0`.
    pub const RDUNIQUE: u32 = 0x9e;
    /// Write `$16` to the thread pointer.
    pub const WRUNIQUE: u32 = 0x9f;
}

/// What AMASK says that the CPU has: BWX, FIX, CIX, MVI, precise arithmetic traps.
const EV67_AMASK: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 9;
/// What IMPLVER says: EV6.
const EV6_IMPLVER: u64 = 2;

/// One Alpha CPU.
#[derive(Debug)]
pub struct Machine<B: Bus> {
    cpu: CpuBox,
    bus: B,
    engine: Engine,
    blocks: Blocks,
    generation: u64,
    /// Instructions retired, as far as they were counted.
    retired: u64,
    /// All were.
    counted: bool,
    /// Interpreted since the engine was last told.
    interpreted: u64,
    asynchronous: bool,
    start: Instant,
}

impl<B: Bus> Machine<B> {
    /// A CPU with all registers zero, on this memory.
    ///
    /// # Errors
    /// The host can't hold what the machine needs.
    pub fn new(engine: &Engine, bus: B) -> Result<Machine<B>> {
        let mut regs = Regs::default();
        regs.set_word(word::AMASK, EV67_AMASK);
        regs.set_word(word::IMPLVER, EV6_IMPLVER);
        Ok(Machine {
            cpu: CpuBox::new(regs),
            bus,
            engine: engine.clone(),
            blocks: Blocks::new(),
            generation: engine.inner.generation.load(Ordering::Acquire),
            retired: 0,
            counted: true,
            interpreted: 0,
            asynchronous: false,
            start: Instant::now(),
        })
    }

    /// Executes until something is to be told, `fuel` instructions at most.
    pub fn run(&mut self, fuel: u64) -> Exit {
        let exit = self.advance(fuel);
        self.engine.inner.interpreted.fetch_add(self.interpreted, Ordering::Relaxed);
        self.interpreted = 0;
        exit
    }

    fn advance(&mut self, fuel: u64) -> Exit {
        let mut left = fuel;
        loop {
            if left == 0 {
                return Exit::Fuel;
            }
            if self.cpu.kicked() && self.cpu.take_kick() {
                return Exit::Interrupted;
            }
            self.see_invalidations();
            let pc = self.cpu.regs().pc() & !3;
            self.cpu.regs_mut().set_pc(pc);
            let block = match self.blocks.at(&self.bus, pc) {
                Ok(block) => block,
                Err(exit) => return exit,
            };
            let n = (block.insns.len() as u64).min(left) as usize;
            let (start, retired) = (self.start, self.retired);
            let mut clock = |in_block| clock(start, Some(retired + in_block));
            let ran =
                interp::run_block(self.cpu.regs_mut(), &self.bus, &mut clock, &block.insns[..n]);
            self.retired += ran.retired;
            self.interpreted += ran.retired;
            if fuel != UNLIMITED {
                left -= ran.retired;
            }
            if let Some(exit) = ran.exit
                && let Some(exit) = self.settle(exit)
            {
                return exit;
            }
        }
    }

    /// Does what the machine does itself of an exit; the rest is the caller's.
    fn settle(&mut self, exit: Exit) -> Option<Exit> {
        let Exit::Pal { function } = exit else {
            return Some(exit);
        };
        self.clear_reservation();
        let regs = self.cpu.regs_mut();
        match function {
            pal::IMB => self.imb(),
            pal::RDUNIQUE => regs.set(Reg::R0, regs.get(Reg::Unique)),
            pal::WRUNIQUE => regs.set(Reg::Unique, regs.get(Reg::R16)),
            _ => return Some(exit),
        }
        None
    }

    /// Forgets decoded code that is another by now, after an engine's invalidation.
    fn see_invalidations(&mut self) {
        let generation = self.engine.inner.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.generation = generation;
            self.blocks.revalidate(&self.bus);
        }
    }

    /// Instruction memory barrier: what was stored to code before it is executed after it.
    pub fn imb(&mut self) {
        self.blocks.revalidate(&self.bus);
    }

    /// Value of a register.
    #[must_use]
    pub fn reg(&self, reg: Reg) -> u64 {
        self.cpu.regs().get(reg)
    }

    /// Sets a register.
    pub fn set_reg(&mut self, reg: Reg, value: u64) {
        self.cpu.regs_mut().set(reg, value);
    }

    /// All registers.
    #[must_use]
    pub fn regs(&self) -> &Regs {
        self.cpu.regs()
    }

    /// Sets all registers, and drops the reservation.
    pub fn set_regs(&mut self, regs: &Regs) {
        for &reg in Reg::ALL {
            self.set_reg(reg, regs.get(reg));
        }
        self.clear_reservation();
    }

    /// The memory.
    #[must_use]
    pub fn bus(&self) -> &B {
        &self.bus
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Reads guest memory.
    ///
    /// # Errors
    /// The fault; the bytes before it were read.
    pub fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        self.bus.read(addr, buf)
    }

    /// Writes guest memory. Code needs [`imb`](Machine::imb) afterwards.
    ///
    /// # Errors
    /// The fault; the bytes before it were written.
    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.bus.write(addr, bytes)
    }

    /// Instructions retired since the machine was made; None if some weren't counted.
    #[must_use]
    pub fn icount(&self) -> Option<u64> {
        self.counted.then_some(self.retired)
    }

    /// Drops the LL/SC reservation, as a trap, a signal or a scheduler's slice does.
    pub fn clear_reservation(&mut self) {
        self.cpu.regs_mut().set_word(word::LOCK_ADDR, NO_RESERVATION);
    }

    /// A handle that makes [`run`](Machine::run) come back, from anywhere.
    #[must_use]
    pub fn kick(&self) -> Kick {
        self.cpu.kick()
    }

    /// Whether something asynchronous can arrive: then translated code looks for a [`Kick`].
    pub fn set_async(&mut self, on: bool) {
        self.asynchronous = on;
    }
}

/// What RPCC reads: instructions where they are counted, else the host's clock.
fn clock(start: Instant, retired: Option<u64>) -> u64 {
    match retired {
        Some(n) => n,
        None => start.elapsed().as_nanos() as u64,
    }
}
