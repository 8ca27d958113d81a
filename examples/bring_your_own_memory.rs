//! Memory of your own: RAM in pages that translated code reaches directly, and a console register
//! that it doesn't.
//!
//! `cargo run --example bring_your_own_memory`

use std::cell::{Cell, RefCell, UnsafeCell};

use axperf::isa::{Width, assemble};
use axperf::{
    Access, Bus, Config, Engine, Exit, Fault, FaultKind, HostPage, Machine, PAGE_SIZE, Reg,
    UNLIMITED,
};

const RAM: u64 = 64 * PAGE_SIZE;
const CONSOLE: u64 = 0x8000_0000;

/// RAM from 0 on, and a console: what is stored to its register is printed.
struct Board {
    ram: Box<[UnsafeCell<u64>]>,
    printed: RefCell<String>,
    slow_loads: Cell<u64>,
}

impl Board {
    fn new() -> Board {
        let ram = (0..RAM / 8).map(|_| UnsafeCell::new(0)).collect();
        Board { ram, printed: RefCell::default(), slow_loads: Cell::new(0) }
    }

    fn word(&self, addr: u64, access: Access) -> Result<&UnsafeCell<u64>, Fault> {
        let word = self.ram.get((addr / 8) as usize);
        word.ok_or(Fault { addr, access, kind: FaultKind::Unmapped })
    }
}

impl Bus for Board {
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        self.slow_loads.set(self.slow_loads.get() + 1);
        let word = self.word(addr, Access::Read)?.get();
        // SAFETY: one machine on one thread; nothing keeps a reference into the RAM.
        let word = unsafe { word.read() };
        Ok(word >> (8 * (addr % 8)) & (u64::MAX >> (64 - 8 * width.bytes())))
    }

    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        if addr == CONSOLE {
            self.printed.borrow_mut().push(char::from(value as u8));
            return Ok(());
        }
        let word = self.word(addr, Access::Write)?.get();
        let (shift, ones) = (8 * (addr % 8), u64::MAX >> (64 - 8 * width.bytes()));
        // SAFETY: as in `load`.
        unsafe { word.write(word.read() & !(ones << shift) | (value & ones) << shift) };
        Ok(())
    }

    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let same = self.load(addr, width)? == old & (u64::MAX >> (64 - 8 * width.bytes()));
        if same {
            self.store(addr, width, new)?;
        }
        Ok(same)
    }

    fn page(&self, addr: u64, _: Access) -> Option<HostPage> {
        let first = self.ram.get((addr / 8) as usize)?.get();
        // SAFETY: RAM is a whole number of pages, lives as long as the board, and is only reached
        // through its cells.
        Some(unsafe { HostPage::new(first.cast()) })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let code = assemble(
        "
            li      $1, 0x10000         ; the text
            li      $2, 0x80000000      ; the console
        next:
            ldbu    $3, 0($1)
            beq     $3, done
            stb     $3, 0($2)
            lda     $1, 1($1)
            br      next
        done:
            ldq     $4, 0($2)           ; the console can't be read
        ",
        0x1000,
    )?;
    let engine = Engine::new(&Config::new())?;
    let mut machine = Machine::new(&engine, Board::new())?;
    for (i, word) in code.iter().enumerate() {
        machine.write(0x1000 + 4 * i as u64, &word.to_le_bytes())?;
    }
    let text = "The memory is yours. ".repeat(200);
    machine.write(0x10000, text.as_bytes())?;
    machine.set_reg(Reg::Pc, 0x1000);

    let exit = machine.run(UNLIMITED);
    assert!(
        matches!(exit, Exit::Fault { addr: CONSOLE, access: Access::Read, .. }),
        "{exit:?} is the console's answer to a load"
    );
    let board = machine.bus();
    assert_eq!(*board.printed.borrow(), text);
    println!("{} characters printed", board.printed.borrow().len());
    println!("{} loads came to the bus; translated code did the others", board.slow_loads.get());
    Ok(())
}
