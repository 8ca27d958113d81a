//! Both engines side by side: the interpreter runs ahead on a log of its stores, translated code
//! runs the same instructions again, and the two must agree.

use std::cell::RefCell;
use std::fmt;

use axperf_isa::{Insn, Reg, Regs, Width, word};

use crate::machine::bus::{Bus, Fault, MemoryShape};
use crate::machine::exit::Exit;
use crate::machine::{Machine, interp};

/// Instructions between two comparisons.
const CHUNK: u64 = 2000;

/// Where the engines differ.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// Instructions retired before the stretch in which they parted.
    pub icount: u64,
    /// Where that stretch starts.
    pub pc: u64,
    /// Its length in instructions.
    pub length: u64,
    /// What differs.
    pub differences: Vec<Difference>,
    /// The registers before it.
    pub before: Box<Regs>,
}

/// One thing that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Register, or place in memory, or the exit.
    pub what: String,
    /// The interpreter's.
    pub interpreted: String,
    /// Translated code's.
    pub translated: String,
    /// The instruction of the stretch that wrote it last, and its address.
    pub writer: Option<(u64, Insn)>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the engines differ in the {} instructions from {:#x} on, after {} instructions:",
            self.length, self.pc, self.icount
        )?;
        for d in &self.differences {
            write!(
                f,
                " {} is {} interpreted and {} translated",
                d.what, d.interpreted, d.translated
            )?;
            if let Some((pc, insn)) = &d.writer {
                write!(f, ", written by {} at {pc:#x}", insn.disasm(*pc))?;
            }
            write!(f, ";")?;
        }
        write!(f, " before it: {:x?}", self.before)
    }
}

/// A store: address, width, what was there, what is there.
type Store = (u64, Width, u64, u64);

/// A bus that remembers what was stored to.
struct Logged<'a, B> {
    bus: &'a B,
    log: RefCell<Vec<Store>>,
}

impl<B: Bus> Bus for Logged<'_, B> {
    fn shape(&self) -> MemoryShape {
        MemoryShape::TLB
    }
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        self.bus.load(addr, width)
    }
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        let old = self.bus.load(addr, width);
        self.bus.store(addr, width, value)?;
        // What can't be read can't be compared, and is stored again.
        if let Ok(old) = old {
            self.log.borrow_mut().push((addr, width, old, value & mask(width)));
        }
        Ok(())
    }
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let stored = self.bus.compare_exchange(addr, width, old, new)?;
        if stored {
            self.log.borrow_mut().push((addr, width, old & mask(width), new & mask(width)));
        }
        Ok(stored)
    }
    fn fetch(&self, addr: u64, words: &mut [u32]) -> Result<usize, Fault> {
        self.bus.fetch(addr, words)
    }
}

fn mask(width: Width) -> u64 {
    u64::MAX >> (64 - 8 * width.bytes())
}

impl<B: Bus> Machine<B> {
    /// Runs up to `fuel` instructions in both engines.
    pub(crate) fn advance_checked(&mut self, fuel: u64) -> Exit {
        let mut left = fuel;
        loop {
            if left == 0 {
                return Exit::Fuel;
            }
            let (n, exit) = self.check_chunk(left.min(CHUNK));
            left = if fuel == super::UNLIMITED { left } else { left - n };
            if let Some(exit) = exit {
                return exit;
            }
        }
    }

    fn check_chunk(&mut self, length: u64) -> (u64, Option<Exit>) {
        let before = self.cpu.regs().clone();
        let start = self.retired;
        let (trace, stores, ahead) = self.run_ahead(length);
        let n = trace.len() as u64;
        let want = self.cpu.regs().clone();
        for &(addr, width, old, _) in stores.iter().rev() {
            // What could be stored to a moment ago can be stored to again.
            let _ = self.bus.store(addr, width, old);
        }
        *self.cpu.regs_mut() = before.clone();
        let limit = if ahead.is_some() { n + 1 } else { n };
        // A kick is of no instruction: it comes back when both have gone as far.
        let mut kicked = false;
        let exit = loop {
            match self.advance_plain(limit - (self.retired - start)) {
                Exit::Interrupted => kicked = true,
                exit => break exit,
            }
        };
        let mut differences = Vec::new();
        let mut differ = |what: String, a: String, b: String, writer| {
            if a != b {
                differences.push(Difference { what, interpreted: a, translated: b, writer });
            }
        };
        let last =
            |wrote: &dyn Fn(&Insn) -> bool| trace.iter().rev().find(|(_, i)| wrote(i)).copied();
        differ(
            "the exit".into(),
            format!("{:?} after {n}", ahead.unwrap_or(Exit::Fuel)),
            format!("{exit:?} after {}", self.retired - start),
            trace.last().copied(),
        );
        let got = self.cpu.regs();
        for &reg in Reg::ALL {
            let (a, b) = (want.get(reg), got.get(reg));
            let number = reg as usize;
            let writer = last(&|i: &Insn| {
                let sets = u64::from(i.int_writes()) | u64::from(i.fp_writes()) << 32;
                number < 63 && sets & 1 << number != 0
            });
            differ(reg.name().into(), format!("{a:#x}"), format!("{b:#x}"), writer);
        }
        for (what, w) in [
            ("the reservation", word::LOCK_ADDR),
            ("what is reserved", word::LOCK_BLOCK),
            ("what is reserved above", word::LOCK_BLOCK + 1),
            ("RC's flag", word::INTERRUPT_FLAG),
        ] {
            differ(
                what.into(),
                format!("{:#x}", want.word(w)),
                format!("{:#x}", got.word(w)),
                None,
            );
        }
        // Of several stores to a place the last one counts.
        for (k, &(addr, width, _, new)) in stores.iter().enumerate() {
            let end = addr + width.bytes();
            if stores[k + 1..].iter().any(|s| s.0 < end && addr < s.0 + s.1.bytes()) {
                continue;
            }
            let now = self.bus.load(addr, width);
            differ(
                format!("memory at {addr:#x}"),
                format!("{new:#x}"),
                now.map_or_else(|f| f.to_string(), |v| format!("{v:#x}")),
                None,
            );
        }
        let retired = self.retired - start;
        if differences.is_empty() {
            if kicked && ahead.is_some() {
                self.kick().now();
            }
            return (retired, ahead.or(kicked.then_some(Exit::Interrupted)));
        }
        for &(addr, width, _, new) in &stores {
            let _ = self.bus.store(addr, width, new);
        }
        self.divergence = Some(Divergence {
            icount: start,
            pc: before.pc(),
            length: n,
            differences,
            before: Box::new(before),
        });
        *self.cpu.regs_mut() = want;
        (retired, Some(Exit::Diverged))
    }

    /// Interprets; the instructions that retired, what they stored, and why it stopped early.
    fn run_ahead(&mut self, length: u64) -> (Vec<(u64, Insn)>, Vec<Store>, Option<Exit>) {
        let mut trace = Vec::new();
        let mut stores = Vec::new();
        while (trace.len() as u64) < length {
            let pc = self.cpu.regs().pc() & !3;
            self.cpu.regs_mut().set_pc(pc);
            let block = match self.blocks.at(&self.bus, pc) {
                Ok(block) => block,
                Err(exit) => return (trace, stores, Some(exit)),
            };
            let n = (block.insns.len() as u64).min(length - trace.len() as u64) as usize;
            let insns = &block.insns[..n];
            let logged = Logged { bus: &self.bus, log: RefCell::default() };
            let base = self.retired + trace.len() as u64;
            let mut clock = |in_block| base + in_block;
            let ran = interp::run_block(self.cpu.regs_mut(), &logged, &mut clock, insns);
            stores.extend(logged.log.into_inner());
            for (k, insn) in insns[..ran.retired as usize].iter().enumerate() {
                trace.push((pc.wrapping_add(4 * k as u64), *insn));
            }
            if let Some(exit) = ran.exit
                && let Some(exit) = self.settle(exit)
            {
                return (trace, stores, Some(exit));
            }
        }
        (trace, stores, None)
    }
}
