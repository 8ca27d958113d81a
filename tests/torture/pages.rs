//! Pages that a bus hands out, takes back, and exchanges.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use axperf::isa::Width;
use axperf::{
    Access, Bus, Exit, Fault, FaultKind, FlatMemory, HostPage, PAGE_SIZE, Reg, UNLIMITED,
};

use crate::guest::{Kind, engine, load, machine};

const WINDOW: u64 = 0x8000;
const END: Exit = Exit::Pal { function: 0x83 };

/// Code in flat memory, and a window onto one of two pages.
struct Banked {
    code: FlatMemory,
    banks: [Box<[AtomicU64]>; 2],
    bank: AtomicUsize,
    /// Accesses that came to `load` and `store`.
    slow: AtomicUsize,
}

impl Banked {
    fn new(text: &str) -> Banked {
        let bank = |n| (0..PAGE_SIZE / 8).map(|_| AtomicU64::new(n)).collect();
        let code = FlatMemory::new(0x4000);
        load(&code, text);
        let (bank, slow) = ([bank(100), bank(200)], AtomicUsize::new(0));
        Banked { code, banks: bank, bank: AtomicUsize::new(0), slow }
    }

    fn word(&self, addr: u64) -> Option<&AtomicU64> {
        let offset = addr.checked_sub(WINDOW)?;
        self.slow.fetch_add(1, Ordering::Relaxed);
        self.banks[self.bank.load(Ordering::Relaxed)].get((offset / 8) as usize)
    }
}

impl Bus for Banked {
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        match self.word(addr) {
            Some(word) => Ok(word.load(Ordering::Relaxed)),
            None => self.code.load(addr, width),
        }
    }
    fn store(&self, addr: u64, _: Width, value: u64) -> Result<(), Fault> {
        let kind = FaultKind::Unmapped;
        let word = self.word(addr).ok_or(Fault { addr, access: Access::Write, kind })?;
        word.store(value, Ordering::Relaxed);
        Ok(())
    }
    fn compare_exchange(&self, addr: u64, _: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let kind = FaultKind::Unmapped;
        let word = self.word(addr).ok_or(Fault { addr, access: Access::Write, kind })?;
        Ok(word.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_ok())
    }
    fn page(&self, addr: u64, _: Access) -> Option<HostPage> {
        let bank = &self.banks[self.bank.load(Ordering::Relaxed)];
        // SAFETY: the machine has its pages flushed at every exchange of banks; both live as long
        // as the bus, and hold atomics.
        (addr == WINDOW).then(|| unsafe { HostPage::new(bank.as_ptr().cast_mut().cast()) })
    }
}

/// After an exchange and `flush_pages`, translated code sees the other bank; most accesses are
/// direct.
#[test]
fn banks_are_exchanged() {
    let text = "
        li $1, 0x8000
    again:
        li $2, 1000
    loop:
        ldq $3, 16($1)
        addq $3, 1, $3
        stq $3, 16($1)
        subq $2, 1, $2
        bne $2, loop
        call_pal 0x83
        br $31, again
    ";
    let mut m = machine(&engine(Kind::Jit), Banked::new(text));
    for round in 0..6u64 {
        assert_eq!(m.run(UNLIMITED), END);
        let (bank, times) = (round % 2, round / 2 + 1);
        assert_eq!(m.reg(Reg::R3), 100 * (bank + 1) + 1000 * times);
        m.bus().bank.fetch_xor(1, Ordering::Relaxed);
        m.flush_pages();
    }
    let slow = m.bus().slow.load(Ordering::Relaxed);
    assert!(slow < 200, "{slow} of 12000 accesses came to the bus");
}
