//! One Alpha CPU: registers, a bus, and the two engines that execute its code.

mod block;
pub(crate) mod blocks;
pub mod bus;
mod changes;
pub mod config;
pub mod cpu;
pub mod crosscheck;
mod direct;
pub mod engine;
pub mod exit;
mod fast;
pub mod flat;
mod footprint;
mod fp;
mod front;
pub mod host;
mod hostfp;
mod interp;
pub mod kick;
mod pairs;
mod primitives;
mod reach;
pub mod sampling;
mod step;
mod threaded;
mod translated;
mod vaxfp;

use std::sync::atomic::Ordering;
use std::time::Instant;

use axperf_isa::palmode::PalInsn;
use axperf_isa::state::NO_RESERVATION;
use axperf_isa::{Insn, Reg, Regs, fpcr, word};

use axperf_jit::{Cache, Class, Left, Mode, Pass, Poll, Slot};

use crate::error::Result;
use crate::machine::blocks::Blocks;
use crate::machine::bus::{Access, Bus, Fault, Shape};
use crate::machine::changes::{Change, Pages};
use crate::machine::crosscheck::Divergence;
use crate::machine::engine::Engine;
use crate::machine::exit::Exit;
use crate::machine::kick::{CpuBox, Kick};
use crate::machine::sampling::{Clock, SamplerId, Samplers};
use crate::machine::translated::Tables;
use crate::perf::{Event, Frame, Sampler};

/// Fuel without end: nothing is counted for its sake.
pub const UNLIMITED: u64 = u64::MAX;

/// Most instructions that translated code counts before it comes back: a kick is looked for then.
const SLICE: u64 = 1 << 18;

/// Most instructions that the interpreter executes before it looks around, likewise.
const STRETCH: u64 = 1 << 12;

/// Times that a hot block is entered before its translation, which is being made, is looked for.
const AGAIN: u32 = 64;

/// OSF/1 PALcode function: instruction memory barrier, which the machine executes itself.
const IMB: u32 = 0x86;

/// One Alpha CPU.
#[derive(Debug)]
pub struct Machine<B: Bus> {
    cpu: CpuBox,
    /// Its right to enter translated code; None if there is none.
    pass: Option<Pass>,
    bus: B,
    engine: Engine,
    blocks: Blocks,
    /// The last change of code that it knows of.
    seen: u64,
    forks: u64,
    /// Instructions retired, as far as they were counted.
    retired: u64,
    /// All were.
    counted: bool,
    /// Interpreted since the engine was last told.
    interpreted: u64,
    asynchronous: bool,
    start: Instant,
    tables: Tables,
    /// The variant in force.
    mode: Mode,
    samplers: Samplers,
    /// Registers that the program can't see any more are exact at exits too.
    exact_exits: bool,
    divergence: Option<Divergence>,
    /// PALmode instructions come back as such.
    palmode: bool,
}

impl<B: Bus> Machine<B> {
    /// A CPU with all registers zero, on this memory.
    ///
    /// # Errors
    /// The host can't hold what the machine needs.
    pub fn new(engine: &Engine, bus: B) -> Result<Machine<B>> {
        let mut regs = Regs::default();
        let cpu = engine.cpu();
        regs.set_word(word::AMASK, cpu.amask());
        regs.set_word(word::IMPLVER, cpu.implver());
        regs.set_word(word::ALL_PAL_CALLS, engine.inner.config.all_pal_calls.into());
        let shape = bus.shape().0;
        let hot = engine.inner.cache.is_some().then_some(engine.inner.warm);
        let cpu_box = CpuBox::new(regs);
        let admit = |cache: &Cache| cache.admit(cpu_box.presence());
        Ok(Machine {
            pass: engine.inner.cache.as_ref().map(admit),
            tables: Tables::new(shape),
            samplers: Samplers::new(),
            exact_exits: true,
            divergence: None,
            palmode: false,
            mode: Mode {
                shape: jit_shape(shape),
                poll: Poll::Free,
                class: Class::Full,
                precise: false,
                trapless: false,
            },
            cpu: cpu_box,
            bus,
            engine: engine.clone(),
            blocks: Blocks::new(cpu, shape, hot),
            seen: engine.inner.changes.last(),
            forks: engine.inner.forks.load(Ordering::Relaxed),
            retired: 0,
            counted: true,
            interpreted: 0,
            asynchronous: false,
            start: Instant::now(),
        })
    }

    /// Executes until something is to be told, `fuel` instructions at most.
    pub fn run(&mut self, fuel: u64) -> Exit {
        self.choose_mode(fuel);
        let exit = self.run_sampled(fuel);
        let inner = &self.engine.inner;
        inner.interpreted.fetch_add(self.interpreted, Ordering::Relaxed);
        self.interpreted = 0;
        let multi = self.cpu.regs().word(word::MULTI_BLOCK);
        inner.multi_block.fetch_add(multi, Ordering::Relaxed);
        self.cpu.regs_mut().set_word(word::MULTI_BLOCK, 0);
        exit
    }

    /// Runs from sample to sample.
    fn run_sampled(&mut self, fuel: u64) -> Exit {
        if self.samplers.is_empty() {
            return self.advance(fuel);
        }
        let mut left = fuel;
        loop {
            if self.samplers.take_wake() {
                return Exit::Watermark;
            }
            // Counting without end is counting all the same.
            let limit = left.min(self.samplers.left()).min(UNLIMITED - 1);
            let before = self.retired;
            let exit = self.advance(limit);
            let n = self.retired - before;
            self.samplers.advance(n, self.retired, self.cpu.regs(), &self.bus);
            if fuel != UNLIMITED {
                left -= n;
            }
            if exit != Exit::Fuel || left == 0 {
                return exit;
            }
        }
    }

    /// The cheapest variant that serves.
    fn choose_mode(&mut self, fuel: u64) {
        let config = &self.engine.inner.config;
        let counted = fuel != UNLIMITED
            || !self.samplers.is_empty()
            || config.statistics
            || config.crosscheck;
        let poll = if counted {
            Poll::Counted
        } else if self.asynchronous {
            Poll::Flag
        } else {
            Poll::Free
        };
        let class =
            if self.exact_exits || config.crosscheck { Class::Full } else { self.samplers.class() };
        let precise = self.engine.inner.precise.load(Ordering::Acquire)
            && self.mode.shape == axperf_jit::Shape::Identity;
        let trapless = fpcr::trapless(self.reg(Reg::Fpcr));
        self.set_mode(Mode { poll, class, precise, trapless, ..self.mode });
    }

    fn set_mode(&mut self, mode: Mode) {
        if mode != self.mode {
            self.mode = mode;
            self.tables.forget_targets();
            self.blocks.forget_slots();
        }
    }

    fn advance(&mut self, fuel: u64) -> Exit {
        if self.engine.inner.config.crosscheck && self.engine.inner.cache.is_some() {
            self.advance_checked(fuel)
        } else {
            self.advance_plain(fuel)
        }
    }

    fn advance_plain(&mut self, fuel: u64) -> Exit {
        let engine = self.engine.clone();
        let mut left = fuel;
        // How the pc was come by.
        let mut came = Came::Fresh;
        loop {
            if left == 0 {
                return Exit::Fuel;
            }
            if self.cpu.kicked() && self.cpu.take_kick() {
                return Exit::Interrupted;
            }
            self.see_changes();
            let pc = self.cpu.regs().pc() & !3;
            self.cpu.regs_mut().set_pc(pc);
            if let Some(cache) = &engine.inner.cache
                && came != Came::Bailed
            {
                let slot = match self.code_at(cache, pc, came, engine.inner.config.hot) {
                    Ok(slot) => slot,
                    Err(exit) => return exit,
                };
                if let Some(slot) = slot {
                    let Some((n, visit)) = self.visit(cache, slot, left.min(SLICE)) else {
                        continue;
                    };
                    if fuel != UNLIMITED {
                        left -= n;
                    }
                    match visit {
                        Ok(next) => came = next,
                        Err(exit) => return exit,
                    }
                    continue;
                }
            }
            let (n, exit) = self.interpret(pc, left, came);
            came = Came::Fresh;
            if fuel != UNLIMITED {
                left -= n;
            }
            if let Some(exit) = exit
                && let Some(exit) = self.settle(exit)
            {
                return exit;
            }
        }
    }

    /// The slot of the block at the pc, if it has a translation or has become hot and got one.
    fn code_at(
        &mut self,
        cache: &Cache,
        pc: u64,
        came: Came,
        hot: u32,
    ) -> Result<Option<Slot>, Exit> {
        let block = self.blocks.at(&self.bus, pc)?;
        // What translated code goes on to soon is as hot as it is itself.
        let times = if came == Came::Left { (hot / 10).max(1) } else { 1 };
        if !block.warm(times) {
            return Ok(None);
        }
        let mode = self.mode;
        if block.slot.get().is_none() {
            block.slot.set(cache.slot(pc, mode));
        }
        let Some(slot) = block.slot.get() else {
            block.lease(hot);
            return Ok(None);
        };
        if came == Came::Left {
            self.tables.remember_target(cache, pc, slot);
        }
        let (bus, config) = (&self.bus, &self.engine.inner.config);
        if cache.code(slot).is_some() {
            return Ok(Some(slot));
        }
        let mut words = Words::default();
        let heat = block.heat.get();
        if heat < hot {
            let mut insn = |pc| words.at(bus, pc).and_then(|word| config.translatable(word));
            let code = cache.recall(pc, mode, &mut insn);
            if code.is_none() {
                block.lease(hot - heat);
            }
            return Ok(code.map(|_| slot));
        }
        // What is asked for already is asked for again when it has become hotter.
        if config.background && heat - block.asked.get() < hot {
            block.lease(AGAIN.min(hot));
            return Ok(None);
        }
        block.asked.set(heat);
        let mut guest = Known { bus, config, words, blocks: &self.blocks };
        let code = cache.translate(pc, mode, heat, &mut guest);
        if code.is_none() {
            let again = if config.background { AGAIN.min(hot) } else { hot };
            self.blocks.at(bus, pc)?.lease(again);
        }
        Ok(code.map(|_| slot))
    }

    /// Runs translated code; how many instructions it retired, if that is counted, and how to go on.
    /// None if it has gone: then what was known of translations is forgotten.
    fn visit(
        &mut self,
        cache: &Cache,
        slot: Slot,
        budget: u64,
    ) -> Option<(u64, Result<Came, Exit>)> {
        let mode = self.mode;
        if !self.pass.as_mut()?.enter(cache) {
            self.tables.forget_targets();
            self.blocks.forget_slots();
            return None;
        }
        let Some(code) = cache.code(slot) else {
            self.leave();
            return None;
        };
        let visit = self.tables.enter(&mut self.cpu, &self.bus, cache, code, mode, budget);
        let mut rest = visit.budget;
        let next = match visit.left {
            Left::Untranslated => Ok(Came::Left),
            Left::Bail | Left::Poll => Ok(Came::Bailed),
            Left::Fault => {
                let (exit, left) = self.fault(cache);
                rest = left;
                Err(exit)
            }
        };
        self.leave();
        if mode.poll != Poll::Counted {
            self.counted = false;
            self.engine.inner.uncounted.store(true, Ordering::Relaxed);
            return Some((0, next));
        }
        let n = budget - rest;
        self.retired += n;
        self.engine.inner.translated.fetch_add(n, Ordering::Relaxed);
        Some((n, next))
    }

    /// Translated code is left.
    fn leave(&self) {
        if let Some(pass) = &self.pass {
            pass.leave();
        }
    }

    /// Interprets from the block at the pc on, `most` instructions at most, to where something is to
    /// be decided: a block is unknown, or hot.
    fn interpret(&mut self, pc: u64, most: u64, came: Came) -> (u64, Option<Exit>) {
        if came == Came::Bailed
            && let Ok(block) = self.blocks.at(&self.bus, pc)
            && let Some(insn) = block.insns.first()
            && let Some((addr, access)) = access_of(self.cpu.regs(), insn)
        {
            self.tables.fill_page(&self.bus, addr, access);
        }
        let (start, retired) = (self.start, self.counted.then_some(self.retired));
        let mut clock = |n| clock(start, retired.map(|r| r + n));
        let fuel = most.min(STRETCH);
        let ran = self.blocks.run(self.cpu.regs_mut(), &self.bus, &mut clock, fuel);
        self.retired += ran.retired;
        self.interpreted += ran.retired;
        // Translated code leaves MT_FPCR to the interpreter.
        let trapless = fpcr::trapless(self.reg(Reg::Fpcr));
        if trapless != self.mode.trapless {
            self.set_mode(Mode { trapless, ..self.mode });
        }
        (ran.retired, ran.exit)
    }

    /// The exit of a host memory fault in translated code, and what is left of the budget.
    fn fault(&mut self, cache: &Cache) -> (Exit, u64) {
        let regs = self.cpu.regs_mut();
        let addr = regs.word(word::FAULT_ADDR);
        let kind = host::fault_kind(regs.word(word::FAULT_KIND));
        let (pc, left) = match cache.site(regs.word(word::EXIT_ARG)) {
            Some(site) => (site.pc, site.left(regs, &host::last_fault())),
            None => (regs.pc(), regs.word(word::RETIRED)),
        };
        regs.set_pc(pc);
        let is = |flags| {
            let insn = fetch(&self.bus, pc).and_then(axperf_isa::decode);
            insn.is_some_and(|i| i.desc().is(flags))
        };
        let access = if is(axperf_isa::Flags::STORE) { Access::Write } else { Access::Read };
        // These access the block that the address is in.
        let addr =
            if is(axperf_isa::Flags::LOCKED) { self.cpu.regs().word(word::PASSAGE) } else { addr };
        (Exit::Fault { pc, addr, access, kind }, left)
    }

    /// Does what the machine does itself of an exit; the rest is the caller's.
    fn settle(&mut self, exit: Exit) -> Option<Exit> {
        match exit {
            Exit::Pal { function } => {
                self.clear_reservation();
                if function != IMB || self.engine.inner.config.all_pal_calls {
                    return Some(exit);
                }
                self.imb();
                None
            }
            Exit::Illegal { pc, word } if self.palmode => {
                let insn = PalInsn::decode(word, self.engine.cpu().family());
                Some(insn.map_or(exit, |insn| Exit::PalMode { pc, insn }))
            }
            _ => Some(exit),
        }
    }

    /// Forgets decoded code that is another by now, after an engine's invalidation.
    #[inline]
    fn see_changes(&mut self) {
        if self.engine.inner.changes.last() != self.seen {
            self.look_at_changes();
        }
    }

    #[cold]
    fn look_at_changes(&mut self) {
        let inner = &self.engine.inner;
        let (last, changes) = inner.changes.since(self.seen);
        self.seen = last;
        let forks = inner.forks.load(Ordering::Relaxed);
        if forks != self.forks {
            // A short-lived child is quicker without translating all that its parent had.
            self.forks = forks;
            self.blocks.cool();
        }
        let mut pages = Pages::of(&self.bus, changes.as_deref());
        self.blocks.revalidate(&self.bus, &mut pages);
    }

    /// Instruction memory barrier: what was stored to code before it is executed after it, by this
    /// machine at once, by others of its engine soon.
    pub fn imb(&mut self) {
        let inner = &self.engine.inner;
        if let Some(cache) = &inner.cache {
            let bus = &self.bus;
            let mut pages = Pages::of(bus, Some(&[Change::Barrier]));
            let mut same = |pc, words: &[u32]| changes::holds(bus, pc, words.iter().copied());
            cache.revalidate(&mut |page| pages.has(page), &mut same);
        }
        inner.changes.add(Change::Barrier);
        self.see_changes();
    }

    /// Pages that the bus handed out are others by now, or gone.
    pub fn flush_pages(&mut self) {
        self.tables.forget_pages();
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

    /// Whether the CPU is in PALmode: then an instruction of PALmode comes back as
    /// [`Exit::PalMode`], else as [`Exit::Illegal`]. Nothing else depends on it: PALcode's own
    /// registers and address translation are the embedder's. Default: false.
    pub fn set_palmode(&mut self, on: bool) {
        self.palmode = on;
    }

    /// Whether the CPU is in PALmode.
    #[must_use]
    pub fn palmode(&self) -> bool {
        self.palmode
    }

    /// The embedder has performed the instruction at the pc, which came back without having retired:
    /// it retires now, samples that are due then are taken, and the pc is `next`.
    pub fn retire(&mut self, next: u64) {
        self.set_reg(Reg::Pc, next);
        self.retired += 1;
        self.interpreted += 1;
        if !self.samplers.is_empty() {
            self.samplers.advance(1, self.retired, self.cpu.regs(), &self.bus);
        }
    }

    /// Executes an instruction as if it stood at the pc, on a CPU that has them all: what an operating
    /// system does for an instruction that the CPU lacks. The pc is the next instruction afterwards.
    /// It doesn't count as retired, and the reservation is gone, as after the trap.
    ///
    /// # Errors
    /// The exit, if the instruction has one.
    pub fn emulate(&mut self, insn: &Insn) -> std::result::Result<(), Exit> {
        self.clear_reservation();
        let clock = clock(self.start, self.counted.then_some(self.retired));
        let ran = interp::run_block(
            self.cpu.regs_mut(),
            &self.bus,
            &mut |_| clock,
            std::slice::from_ref(insn),
        );
        ran.exit.and_then(|exit| self.settle(exit)).map_or(Ok(()), Err)
    }

    /// Executes an instruction as if it stood at the pc, whatever memory has there, and retires it: a
    /// debugger's step. Returns why the pc isn't the next instruction of the program, if it isn't.
    pub fn step(&mut self, insn: &Insn) -> Option<Exit> {
        let clock = clock(self.start, self.counted.then_some(self.retired));
        let ran = interp::run_block(
            self.cpu.regs_mut(),
            &self.bus,
            &mut |_| clock,
            std::slice::from_ref(insn),
        );
        self.retired += ran.retired;
        self.engine.inner.interpreted.fetch_add(ran.retired, Ordering::Relaxed);
        if !self.samplers.is_empty() {
            self.samplers.advance(ran.retired, self.retired, self.cpu.regs(), &self.bus);
        }
        ran.exit.and_then(|exit| self.settle(exit))
    }

    /// A handle that makes [`run`](Machine::run) come back, from anywhere.
    #[must_use]
    pub fn kick(&self) -> Kick {
        self.cpu.kick()
    }

    /// Attaches a sampler. If its event is [`Source::Retired`](crate::perf::Source::Retired), sample
    /// k of period p shows the registers after instruction k * p from here on; other events count
    /// when they are [raised](Machine::raise).
    pub fn attach(&mut self, sampler: Sampler) -> SamplerId {
        self.samplers.attach(sampler)
    }

    /// Detaches a sampler; None if there is no such one.
    pub fn detach(&mut self, id: SamplerId) -> Option<Sampler> {
        self.samplers.detach(id)
    }

    /// A sampler; None if there is no such one.
    #[must_use]
    pub fn sampler(&self, id: SamplerId) -> Option<&Sampler> {
        self.samplers.get(id)
    }

    /// A sampler; None if there is no such one.
    pub fn sampler_mut(&mut self, id: SamplerId) -> Option<&mut Sampler> {
        self.samplers.get_mut(id)
    }

    /// Something happened `n` times that the machine doesn't count itself: a page fault, a switch of
    /// tasks, or the passing of `n` nanoseconds. The frame says where; its task, CPU and time are the
    /// machine's. Samples that are due are taken; [`Exit::Watermark`] comes at the next run.
    pub fn raise(&mut self, event: Event, n: u64, frame: &Frame) {
        self.samplers.raise(event, n, frame, self.retired, &self.bus);
    }

    /// Whether a sampler of this event is attached, so that raising it matters.
    #[must_use]
    pub fn counts(&self, event: Event) -> bool {
        self.samplers.counts(event)
    }

    /// Nanoseconds until a sample by time is due; None if there is no sampler of time.
    #[must_use]
    pub fn time_left(&self) -> Option<u64> {
        self.samplers.time_left()
    }

    /// Number of the CPU that samples name. Default: 0.
    pub fn set_cpu_number(&mut self, cpu: u32) {
        self.samplers.cpu = cpu;
    }

    /// Process and thread that samples name. Default: 0, 0.
    pub fn set_task(&mut self, pid: u32, tid: u32) {
        (self.samplers.pid, self.samplers.tid) = (pid, tid);
    }

    /// Where the times of samples come from. Default: instructions, from 0.
    pub fn set_clock(&mut self, clock: Clock) {
        self.samplers.clock = clock;
    }

    /// The time that a sample taken now would have, in nanoseconds.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.samplers.clock.now(self.retired)
    }

    /// Whether registers that the program, going on, can't see any more are exact wherever a run
    /// comes back. Default: true. Without, translated code is faster, and such a register may have
    /// an older value; all are exact at PAL calls, and at what is no instruction, even then.
    pub fn set_exact_exits(&mut self, on: bool) {
        self.exact_exits = on;
    }

    /// Where the engines differ, after [`Exit::Diverged`].
    #[must_use]
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    /// Whether something asynchronous can arrive: then translated code looks for a [`Kick`].
    pub fn set_async(&mut self, on: bool) {
        self.asynchronous = on;
    }
}

/// A guest as the translator sees it.
struct Known<'a, B> {
    bus: &'a B,
    config: &'a config::Config,
    words: Words,
    blocks: &'a Blocks,
}

impl<B: Bus> axperf_jit::Guest for Known<'_, B> {
    fn insn(&mut self, pc: u64) -> Option<axperf_isa::Insn> {
        self.words.at(self.bus, pc).and_then(|word| self.config.translatable(word))
    }

    fn ran(&self, pc: u64) -> bool {
        self.blocks.has_run(pc)
    }

    fn targets(&self, pc: u64) -> Vec<u64> {
        self.blocks.targets(pc)
    }
}

/// How a block was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// By the interpreter, or it is the first.
    Fresh,
    /// From translated code, which had nothing for it.
    Left,
    /// From translated code, which left this very instruction to the interpreter.
    Bailed,
}

fn jit_shape(shape: Shape) -> axperf_jit::Shape {
    match shape {
        Shape::Identity => axperf_jit::Shape::Identity,
        Shape::Flat { .. } => axperf_jit::Shape::Flat,
        Shape::Tlb => axperf_jit::Shape::Tlb,
    }
}

/// Instruction words, fetched several at once.
#[derive(Default)]
struct Words {
    start: u64,
    have: usize,
    words: [u32; 32],
}

impl Words {
    fn at<B: Bus>(&mut self, bus: &B, pc: u64) -> Option<u32> {
        let i = pc.wrapping_sub(self.start) / 4;
        if i < self.have as u64 {
            return Some(self.words[i as usize]);
        }
        (self.start, self.have) = (pc, 0);
        self.have = bus.fetch(pc, &mut self.words).ok()?.min(self.words.len());
        self.words[..self.have].first().copied()
    }
}

fn fetch<B: Bus>(bus: &B, pc: u64) -> Option<u32> {
    let mut word = [0];
    match bus.fetch(pc, &mut word) {
        Ok(1..) => Some(word[0]),
        Ok(0) | Err(_) => None,
    }
}

/// Address and kind of the access that an instruction makes.
fn access_of(regs: &Regs, insn: &Insn) -> Option<(u64, Access)> {
    let desc = insn.desc();
    let addr = regs.int(insn.rb).wrapping_add(insn.imm as i64 as u64);
    if desc.is(axperf_isa::Flags::STORE) {
        Some((addr, Access::Write))
    } else if desc.is(axperf_isa::Flags::LOAD) {
        Some((addr, Access::Read))
    } else {
        None
    }
}

/// What RPCC reads: instructions where they are counted, else the host's clock.
fn clock(start: Instant, retired: Option<u64>) -> u64 {
    match retired {
        Some(n) => n,
        None => start.elapsed().as_nanos() as u64,
    }
}
