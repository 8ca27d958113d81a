//! What a machine went through: everything that a guest or an embedder can see, stop by stop.

use axperf::isa::disasm;
use axperf::{Exit, Machine, Reg, Regs, UNLIMITED};

use crate::buses::{Arena, CODE, DATA, DATA_LEN, STACK, STACK_LEN};
use crate::rng::Rng;

/// A machine as it stood when `run` came back.
#[derive(Clone, Debug)]
pub struct Stop {
    pub exit: Exit,
    pub regs: Regs,
    pub icount: Option<u64>,
    /// A digest of data and stack.
    pub memory: u64,
}

/// How far a trace goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fuel of each run.
    pub step: u64,
    /// Every other run is without end, and now and then polls for kicks.
    pub mixed: bool,
    /// Stops.
    pub stops: usize,
}

/// CALL_PAL with which programs end.
pub const END: Exit = Exit::Pal { function: 0x83 };

/// Puts a program and random data into memory, and random values into the registers.
pub fn prepare<B: Arena>(m: &mut Machine<B>, words: &[u32], seed: u64) {
    let mut rng = Rng::new(!seed);
    let origin = m.bus().origin();
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    m.bus().fill(CODE, &code);
    let data: Vec<u8> = (0..DATA_LEN / 8)
        .flat_map(|_| if rng.chance(500) { rng.quad() } else { rng.float() }.to_le_bytes())
        .collect();
    m.bus().fill(DATA, &data);
    m.bus().fill(STACK, &[0; STACK_LEN as usize]);
    let middle = origin + DATA + DATA_LEN / 2;
    for n in 0..31u8 {
        let value = match n {
            14 | 15 => m.bus().forbidden(),
            16..20 => middle.wrapping_add_signed(8 * rng.range(-0x400, 0x400)),
            28 => middle,
            30 => origin + STACK + STACK_LEN - 64,
            _ => rng.quad(),
        };
        m.set_reg(Reg::int(n).unwrap(), value);
        m.set_reg(Reg::fp(n).unwrap(), rng.float());
    }
    m.set_reg(Reg::Pc, origin + CODE);
}

/// Runs to the end or the limits. A stop that isn't retired is stepped over.
pub fn trace<B: Arena>(m: &mut Machine<B>, limits: Limits) -> Vec<Stop> {
    let mut stops = Vec::new();
    loop {
        let free = limits.mixed && stops.len() % 2 == 1;
        if limits.mixed {
            m.set_async(stops.len() % 4 == 3);
        }
        // Now and then what is translated in the background is waited for.
        if !stops.len().is_multiple_of(3) {
            m.engine().settle();
        }
        let exit = m.run(if free { UNLIMITED } else { limits.step });
        stops.push(Stop {
            exit,
            regs: m.regs().clone(),
            icount: m.icount(),
            memory: digest(m.bus()),
        });
        match exit {
            END => return stops,
            Exit::Fuel | Exit::Pal { .. } | Exit::Arith { .. } => {}
            _ => m.set_reg(Reg::Pc, m.reg(Reg::Pc).wrapping_add(4)),
        }
        if stops.len() == limits.stops {
            return stops;
        }
    }
}

fn digest<B: Arena>(bus: &B) -> u64 {
    let quads = (DATA..DATA + DATA_LEN).chain(STACK..STACK + STACK_LEN).step_by(8);
    quads
        .fold(0, |h: u64, at| (h.rotate_left(5) ^ bus.quad(at)).wrapping_mul(0x517c_c1b7_2722_0a95))
}

/// Where a machine's registers are promised to be the interpreter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// At every stop.
    Everywhere,
    /// Everywhere but at memory faults.
    NotAtFaults,
    /// At PAL calls and what is no instruction.
    AtPal,
}

impl Exact {
    /// Whether the registers at a stop are exact; if not, whether the program may see it, so that
    /// it goes on otherwise.
    fn at(self, exit: &Exit) -> Result<(), bool> {
        let poll = *exit == Exit::Fuel;
        let fault = matches!(exit, Exit::Fault { .. });
        let trap = matches!(exit, Exit::Arith { .. } | Exit::Unaligned { .. });
        match self {
            Exact::NotAtFaults if fault => Err(true),
            Exact::AtPal if poll => Err(false),
            Exact::AtPal if fault || trap => Err(true),
            Exact::Everywhere | Exact::NotAtFaults | Exact::AtPal => Ok(()),
        }
    }
}

/// Fails at the first stop that isn't the same in both.
pub fn compare(want: &[Stop], got: &[Stop], words: &[u32], origin: u64, exact: Exact, name: &str) {
    for (i, (w, g)) in want.iter().zip(got).enumerate() {
        let at = exact.at(&w.exit);
        let differs = differences(w, g, at.is_ok());
        if !differs.is_empty() {
            let pc = want.get(i.wrapping_sub(1)).map_or(origin + CODE, |s| s.regs.pc());
            panic!("{name}: stop {i}: {differs:#?}\nfrom here:\n{}", listing(words, origin, pc));
        }
        if at == Err(true) {
            return;
        }
    }
    assert_eq!(want.len(), got.len(), "{name}");
}

fn differences(want: &Stop, got: &Stop, registers: bool) -> Vec<String> {
    let mut differs = Vec::new();
    if want.exit != got.exit {
        differs.push(format!("exit {:x?}, interpreted {:x?}", got.exit, want.exit));
    }
    if got.icount.is_some() && want.icount != got.icount {
        differs.push(format!("count {:?}, interpreted {:?}", got.icount, want.icount));
    }
    if want.memory != got.memory {
        differs.push("memory".into());
    }
    if want.regs != got.regs {
        let before = differs.len();
        for &r in Reg::ALL.iter().filter(|r| registers || **r == Reg::Pc) {
            let (x, y) = (got.regs.get(r), want.regs.get(r));
            if x != y {
                differs.push(format!("{} {x:#x}, interpreted {y:#x}", r.name()));
            }
        }
        if registers && before == differs.len() {
            differs.push("words that aren't registers".into());
        }
    }
    differs
}

/// The instructions from `pc` on.
pub fn listing(words: &[u32], origin: u64, pc: u64) -> String {
    let first = (pc.wrapping_sub(origin + CODE) / 4).min(words.len() as u64) as usize;
    let line = |(i, w): (usize, &u32)| {
        let at = origin + CODE + 4 * i as u64;
        format!("{at:#x}  {w:08x}  {}\n", disasm(*w, at))
    };
    words.iter().enumerate().skip(first).take(400).map(line).collect()
}
