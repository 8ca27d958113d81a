//! Code that means harm, or nothing: the host goes on, and both engines say the same.

use axperf::isa::{Width, asm};
use axperf::{Access, Bus, Config, Engine, Exit, Fault, FaultKind, FlatMemory, Machine, Reg};

use crate::buses::{CODE, DATA, Paged};
use crate::guest::{KINDS, Kind, engine, machine};
use crate::random::cases;
use crate::rng::Rng;
use crate::trace::{Exact, Limits, compare, prepare, trace};

/// Opcodes of loads and stores.
const MEMORY: [u32; 18] = [
    0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x22, 0x23, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d,
    0x2e, 0x2f,
];

/// A word that is anything, but often one that stays near.
fn word(rng: &mut Rng) -> u32 {
    let word = rng.next() as u32;
    match rng.below(4) {
        0 => word,
        // A branch that isn't far.
        1 => word & 0xffe0_003f | (0x30 << 26) | 0u32.wrapping_sub(word >> 20 & 1) & 0x1f_ffc0,
        // A memory access off a pointer.
        2 => word & 0x03e0_03ff | rng.pick(&MEMORY) << 26 | 16 << 16,
        // An operate instruction.
        _ => word & 0x03ff_ffff | (0x10 + (word >> 26) % 4) << 26,
    }
}

/// Random words as code, entered anywhere.
#[test]
fn random_words() {
    let mut translated = 0;
    for seed in cases(3) {
        let mut rng = Rng::new(seed ^ 0x5a5a);
        let words: Vec<u32> = (0..(DATA - CODE) / 4).map(|_| word(&mut rng)).collect();
        let mut c = Config::new();
        c.hot(1).region_blocks(1 + rng.below(40) as usize);
        let jit = Engine::new(&c).unwrap();
        let interp = engine(Kind::Interp);
        for run in 0..12 {
            let pc = CODE + rng.below(DATA - CODE);
            let limits = Limits { step: [7, 100, 1000][run % 3], mixed: false, stops: 60 };
            let pages = rng.chance(700);
            let go = |e: &Engine| {
                let mut m = Machine::new(e, Paged::new(pages)).unwrap();
                prepare(&mut m, &words, seed);
                m.set_reg(Reg::Pc, pc);
                trace(&mut m, limits)
            };
            let name = format!("seed {seed}, run {run} from {pc:#x}");
            compare(&go(&interp), &go(&jit), &words, 0, Exact::Everywhere, &name);
        }
        translated += jit.stats().translations;
    }
    assert!(translated > 0);
}

/// Memory of every small size and some others, entered at every place that is odd in some way.
#[test]
fn odd_sizes_and_places() {
    let nop = asm("bis $31, $31, $31", 0).unwrap();
    for len in (0..40).chain([4095, 4096, 4097, 8191, 8200]) {
        for kind in KINDS {
            let memory = FlatMemory::new(len);
            let len = memory.len();
            for at in (0..len).step_by(4) {
                memory.store(at, Width::Long, nop.into()).unwrap();
            }
            let mut m = machine(&engine(kind), memory);
            let ends = [len.wrapping_sub(8), len.wrapping_sub(4), len, len + 4];
            let odd = [0, 1, 2, 3, 4, 1 << 32, 1 << 42, 1 << 63, u64::MAX - 3, u64::MAX];
            for pc in ends.into_iter().chain(odd) {
                m.set_reg(Reg::Pc, pc);
                // The low bits of the pc don't exist. All else runs off the end.
                let first = pc & !3;
                let end = if first < len { len } else { first };
                let want = Exit::Fault {
                    pc: end,
                    addr: end,
                    access: Access::Execute,
                    kind: FaultKind::Unmapped,
                };
                assert_eq!(m.run(1_000_000), want, "{len} from {pc:#x} {kind:?}");
                assert_eq!(m.reg(Reg::Pc), end);
            }
        }
    }
}

/// The last 64 KiB of the address space.
struct Top(FlatMemory);

const TOP: u64 = 0u64.wrapping_sub(0x1_0000);

impl Bus for Top {
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        self.0.load(addr.wrapping_sub(TOP), width).map_err(|f| Fault { addr, ..f })
    }
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        self.0.store(addr.wrapping_sub(TOP), width, value).map_err(|f| Fault { addr, ..f })
    }
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        let at = addr.wrapping_sub(TOP);
        self.0.compare_exchange(at, width, old, new).map_err(|f| Fault { addr, ..f })
    }
}

/// Code in the last words of the address space: after the last comes address 0.
#[test]
fn the_end_of_the_address_space() {
    for kind in KINDS {
        let top = Top(FlatMemory::new(0x1_0000));
        let start = 0u64.wrapping_sub(20);
        let text =
            ["subq $1, 1, $1", "stq $1, -0x100($31)", "bne $1, .-8", "addq $2, 1, $2", "nop"];
        for (i, line) in text.iter().enumerate() {
            let at = start + 4 * i as u64;
            top.store(at, Width::Long, asm(line, at).unwrap().into()).unwrap();
        }
        let e = engine(kind);
        let mut m = machine(&e, top);
        for round in 1..4 {
            m.set_reg(Reg::R1, 10);
            m.set_reg(Reg::Pc, start);
            let (access, kind) = (Access::Execute, FaultKind::Unmapped);
            assert_eq!(m.run(1000), Exit::Fault { pc: 0, addr: 0, access, kind });
            assert_eq!(m.reg(Reg::R2), round);
            e.invalidate(u64::MAX - 3..u64::MAX);
            m.imb();
        }
    }
}
