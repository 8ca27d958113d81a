//! Entering translated code, and the tables that it finds through the state.
//!
//! # Safety
//! The state's words are set here from tables that the machine owns and from the bus's own word on
//! its memory, before each entry; nothing else writes them.

#![allow(unsafe_code)]

use axperf_isa::{Reg, fpcr, word};
use axperf_jit::{Cache, Code, Left, Mode, Slot, TARGETS, TLB_ENTRIES};

use crate::machine::bus::{Access, Bus, PAGE_SIZE, Shape};
use crate::machine::hostfp::Lent;
use crate::machine::kick::CpuBox;

/// An entry of the indirect-target cache. Guest addresses of code are multiples of 4, so this tag
/// is no address.
const NO_TARGET: [u64; 2] = [1, 0];
/// An entry of the soft TLB without a page: its tags match no address, since they aren't aligned.
const NO_PAGE: [u64; 4] = [!0, !0, 0, 0];

/// Indirect-target cache and soft TLB of one machine.
#[derive(Debug)]
pub(crate) struct Tables {
    targets: Box<[[u64; 2]]>,
    tlb: Box<[[u64; 4]]>,
}

/// What came of an entry.
#[derive(Debug)]
pub(crate) struct Visit {
    /// Why it came back.
    pub left: Left,
    /// What is left of the budget.
    pub budget: u64,
}

impl Tables {
    pub fn new(shape: Shape) -> Tables {
        let pages = if shape == Shape::Tlb { TLB_ENTRIES } else { 0 };
        Tables {
            targets: vec![NO_TARGET; TARGETS].into_boxed_slice(),
            tlb: vec![NO_PAGE; pages].into_boxed_slice(),
        }
    }

    /// Translated code finds this address by itself from now on.
    pub fn remember_target(&mut self, cache: &Cache, pc: u64, slot: Slot) {
        self.targets[(pc >> 2) as usize % TARGETS] = [pc, cache.slot_address(slot)];
    }

    /// Forgets all targets: another mode's slots stand for them.
    pub fn forget_targets(&mut self) {
        self.targets.fill(NO_TARGET);
    }

    /// Asks the bus for the page at an address that translated code missed.
    pub fn fill_page<B: Bus>(&mut self, bus: &B, addr: u64, access: Access) {
        if self.tlb.is_empty() {
            return;
        }
        let page = addr & !(PAGE_SIZE - 1);
        let entry = &mut self.tlb[(addr / PAGE_SIZE) as usize % TLB_ENTRIES];
        if let Some(host) = bus.page(page, access) {
            let addend = (host.0 as u64).wrapping_sub(page);
            if entry[2] != addend || (entry[0] != page && entry[1] != page) {
                *entry = [NO_PAGE[0], NO_PAGE[1], addend, 0];
            }
            entry[usize::from(access == Access::Write)] = page;
        }
    }

    /// Forgets all pages.
    pub fn forget_pages(&mut self) {
        self.tlb.fill(NO_PAGE);
    }

    /// Runs translated code until it comes back.
    pub fn enter<B: Bus>(
        &mut self,
        cpu: &mut CpuBox,
        bus: &B,
        cache: &Cache,
        code: Code,
        mode: Mode,
        budget: u64,
    ) -> Visit {
        let regs = cpu.regs_mut();
        regs.set_word(word::TARGETS, self.targets.as_mut_ptr() as u64);
        regs.set_word(word::TLB, self.tlb.as_mut_ptr() as u64);
        if let Shape::Flat { base, len } = bus.shape().0 {
            regs.set_word(word::MEM_BASE, base as u64);
            regs.set_word(word::MEM_LEN, len);
        }
        let lent = Lent::new(regs.get(Reg::Fpcr));
        // SAFETY: the machine's own registers, with the words just set; `code` came from `cache`
        // under this mode, whose shape is the bus's; `cpu` is borrowed mutably.
        let budget = unsafe { cache.enter(cpu.address().cast(), code, mode, budget) };
        let status = lent.raised();
        let regs = cpu.regs_mut();
        if status != 0 {
            let fpcr = regs.get(Reg::Fpcr);
            regs.set(Reg::Fpcr, fpcr::raised(fpcr, status));
        }
        Visit { left: Left::from_word(regs.word(word::EXIT)), budget }
    }
}
