//! A 21164 with PALcode of its own: the machine that docs/embedding.md builds.
//!
//! The program runs in native mode and calls PALcode; PALcode is Alpha code too, in memory, and uses
//! the instructions of PALmode, which are performed here.
//!
//! `cargo run --example palcode`

use std::collections::BTreeMap;
use std::mem::swap;

use axperf::isa::palmode::{Family, Ipr, PalAccess, PalInsn, assemble};
use axperf::isa::{Reg, Width};
use axperf::{Bus, Config, Cpu, Engine, Exit, Fault, FlatMemory, Machine, UNLIMITED};

/// Internal processor registers of the 21164.
mod ipr {
    pub const EXC_ADDR: u16 = 0x10b;
    pub const PAL_BASE: u16 = 0x10e;
    pub const PALTEMP: std::ops::RangeInclusive<u16> = 0x140..=0x157;
}

/// Where the 21164 enters PALcode, from PAL_BASE on.
mod entry {
    pub const UNALIGN: u64 = 0x300;
    pub const DFAULT: u64 = 0x380;
    pub const OPCDEC: u64 = 0x480;
    pub const ARITH: u64 = 0x500;

    /// CALL_PAL: functions from 0x80 on are unprivileged.
    pub fn call(function: u32) -> Option<u64> {
        let (unprivileged, number) = (u64::from(function >> 7), u64::from(function & 0x3f));
        (function & !0xbf == 0).then_some(0x2000 | unprivileged << 12 | number << 6)
    }
}

/// Integer registers that PALmode has twice.
const SHADOWED: [Reg; 8] =
    [Reg::R8, Reg::R9, Reg::R10, Reg::R11, Reg::R12, Reg::R13, Reg::R14, Reg::R25];

const PAL_BASE: u64 = 0x8000;
const PROGRAM: u64 = 0x1000;
/// Physical addresses of two devices.
const CONSOLE: u64 = 0x1_0000_0000;
const POWER: u64 = 0x1_0000_0008;

const PROGRAM_TEXT: &str = "
            li      $1, text
    next:   ldbu    $16, 0($1)
            beq     $16, done
            call_pal 0x09               ; cserve: a character to the console
            lda     $1, 1($1)
            br      next
    done:   li      $16, 1234
            call_pal 0x9f               ; wruniq
            .long   0x04000000          ; no instruction: PALcode counts it
            call_pal 0x9e               ; rduniq
            call_pal 0x00               ; halt
    text:   .quad   0x0a65646f634c4150  ; PALcode, newline
            .quad   0
";

/// PALcode: what stands at each entry.
const PALCODE: &[(u64, &str)] = &[
    // OPCDEC: count it in PALtemp 1, and go on after it.
    (
        entry::OPCDEC,
        "
            hw_mfpr $8, 0x141
            addq    $8, 1, $8
            hw_mtpr $8, 0x141
            hw_mfpr $8, 0x10b
            addq    $8, 4, $8
            hw_mtpr $8, 0x10b
            hw_rei
        ",
    ),
    // halt (function 0x00)
    (0x2000, "hw_mfpr $8, 0x143\n hw_stq/p $31, 8($8)\n hw_rei"),
    // cserve (0x09): PALtemp 3 holds the console's physical address.
    (0x2240, "hw_mfpr $8, 0x143\n hw_stl/p $16, 0($8)\n hw_rei"),
    // rduniq (0x9e), wruniq (0x9f): PALtemp 2 is the process's unique value.
    (0x3780, "hw_mfpr $0, 0x142\n hw_rei"),
    (0x37c0, "hw_mtpr $16, 0x142\n hw_rei"),
];

/// The CPU, its internal registers and the devices.
struct System {
    machine: Machine<FlatMemory>,
    iprs: BTreeMap<u16, u64>,
    /// The other set of [`SHADOWED`] registers.
    shadow: [u64; SHADOWED.len()],
    printed: String,
    on: bool,
}

impl System {
    fn new() -> Result<System, Box<dyn std::error::Error>> {
        let mut config = Config::new();
        // Every CALL_PAL is PALcode's here.
        config.cpu(Cpu::Pca56).all_pal_calls(true);
        let engine = Engine::new(&config)?;
        let mut machine = Machine::new(&engine, FlatMemory::new(1 << 16))?;
        let mut load = |at: u64, text: &str| -> Result<(), Box<dyn std::error::Error>> {
            for (i, word) in assemble(text, at, Family::Ev5)?.iter().enumerate() {
                machine.write(at + 4 * i as u64, &word.to_le_bytes())?;
            }
            Ok(())
        };
        load(PROGRAM, PROGRAM_TEXT)?;
        for &(offset, text) in PALCODE {
            load(PAL_BASE + offset, text)?;
        }
        machine.set_reg(Reg::Pc, PROGRAM);
        let iprs = BTreeMap::from([(ipr::PAL_BASE, PAL_BASE), (0x143, CONSOLE)]);
        let shadow = [0; SHADOWED.len()];
        Ok(System { machine, iprs, shadow, printed: String::new(), on: true })
    }

    fn run(&mut self) {
        while self.on {
            match self.machine.run(UNLIMITED) {
                // Retired: PALcode returns to the next instruction, where the pc stands already.
                Exit::Pal { function } => match entry::call(function) {
                    Some(offset) => self.enter(offset, self.machine.reg(Reg::Pc)),
                    None => self.enter(entry::OPCDEC, self.machine.reg(Reg::Pc) - 4),
                },
                Exit::PalMode { pc, insn } => self.perform(pc, insn),
                // Not retired: PALcode finds the instruction itself.
                Exit::Illegal { pc, .. } => self.enter(entry::OPCDEC, pc),
                Exit::Unaligned { pc, .. } => self.enter(entry::UNALIGN, pc),
                Exit::Fault { pc, .. } => self.enter(entry::DFAULT, pc),
                Exit::Arith { pc, .. } => self.enter(entry::ARITH, pc),
                exit => panic!("{exit:?}: there is no timer, debugger or sampler"),
            }
        }
    }

    /// Enters PALmode, or leaves it.
    fn set_palmode(&mut self, on: bool) {
        if on != self.machine.palmode() {
            self.machine.set_palmode(on);
            for (reg, other) in SHADOWED.into_iter().zip(&mut self.shadow) {
                let mut value = self.machine.reg(reg);
                swap(&mut value, other);
                self.machine.set_reg(reg, value);
            }
        }
    }

    /// Goes to PALcode. Bit 0 of EXC_ADDR says whether PALmode was on.
    fn enter(&mut self, offset: u64, exc_addr: u64) {
        let palmode = u64::from(self.machine.palmode());
        self.iprs.insert(ipr::EXC_ADDR, exc_addr | palmode);
        self.machine.clear_reservation();
        self.set_palmode(true);
        self.machine.set_reg(Reg::Pc, self.ipr(ipr::PAL_BASE) + offset);
    }

    fn ipr(&self, index: u16) -> u64 {
        self.iprs.get(&index).copied().unwrap_or(0)
    }

    /// An instruction of PALmode: does it, and says that it has retired.
    fn perform(&mut self, pc: u64, insn: PalInsn) {
        let mut next = pc + 4;
        match insn {
            PalInsn::Mfpr { ra, ipr: Ipr { index, .. } } => self.set_int(ra, self.ipr(index)),
            PalInsn::Mtpr { rb, ipr: Ipr { index, .. } } => {
                // The others would do something: flush a translation buffer, set a mode.
                if index == ipr::EXC_ADDR || ipr::PALTEMP.contains(&index) {
                    let value = self.machine.regs().int(rb);
                    self.iprs.insert(index, value);
                }
            }
            PalInsn::Load(access) => match self.load(&access) {
                Ok(value) => self.set_int(access.ra, value),
                Err(_) => return self.enter(entry::DFAULT, pc),
            },
            PalInsn::Store(access) => {
                if self.store(&access).is_err() {
                    return self.enter(entry::DFAULT, pc);
                }
            }
            PalInsn::Return(_) => {
                let to = self.ipr(ipr::EXC_ADDR);
                self.set_palmode(to & 1 != 0);
                next = to & !3;
            }
        }
        self.machine.retire(next);
    }

    fn set_int(&mut self, number: u8, value: u64) {
        // `$31` is none.
        if let Some(reg) = Reg::int(number) {
            self.machine.set_reg(reg, value);
        }
    }

    /// There is no address translation: a virtual address is the physical one.
    fn address(&self, access: &PalAccess) -> u64 {
        let base = self.machine.regs().int(access.rb);
        // A bus is asked for aligned addresses only.
        base.wrapping_add(access.disp as u64) & !(access.width.bytes() - 1)
    }

    fn load(&self, access: &PalAccess) -> Result<u64, Fault> {
        let value = self.machine.bus().load(self.address(access), access.width)?;
        Ok(if access.width == Width::Long { value as i32 as u64 } else { value })
    }

    fn store(&mut self, access: &PalAccess) -> Result<(), Fault> {
        let value = self.machine.regs().int(access.ra);
        match self.address(access) {
            CONSOLE => self.printed.push(char::from(value as u8)),
            POWER => self.on = false,
            addr => self.machine.bus().store(addr, access.width, value)?,
        }
        Ok(())
    }
}

/// Runs the system.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut system = System::new()?;
    system.machine.set_reg(Reg::R8, 8);
    system.run();
    print!("{}", system.printed);
    assert_eq!(system.printed, "PALcode\n");
    assert_eq!(system.machine.reg(Reg::R0), 1234, "what rduniq gave");
    assert_eq!(system.ipr(0x141), 1, "instructions that were none");
    // PALmode was left on by halt, so the program's $8 is the other one.
    assert_eq!((system.machine.palmode(), system.shadow[0]), (true, 8));
    // 5 of `li`, 8 for each character, 2 at the end of the text; 1 and 3 for wruniq, none for the
    // illegal one and 7 for its handling, 3 for rduniq, 3 for halt.
    assert_eq!(system.machine.icount(), Some(5 + 8 * 8 + 2 + 1 + 3 + 7 + 3 + 3));
    println!("{} instructions retired", system.machine.icount().unwrap_or_default());
    Ok(())
}
