//! Load-locked and store-conditional: when STx_C stores, in every way to run and on every memory.
//!
//! Values: sections 4.2.4 and 4.2.5 of the manual. Where they leave it open, what
//! docs/accuracy.md says.

use std::sync::Arc;

use axperf::isa::assemble;
use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sampler};
use axperf::{Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

use crate::buses::{Arena, CODE, DATA, Identity, LEN, Paged};
use crate::guest::{KINDS, Kind, engine, within};
use crate::trace::END;

/// Offset of the block that is reserved, and what it holds.
const BLOCK: u64 = DATA + 64;
const LOW: u64 = 0x1111_1111_2222_2222;
const HIGH: u64 = 0x3333_3333_4444_4444;

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Without an end, and no polls.
    Free,
    /// Without an end, with a poll.
    Flag,
    /// In runs of so many instructions.
    Fuel(u64),
    /// With a sample after every instruction.
    Sampled,
}

const WAYS: [Way; 6] =
    [Way::Free, Way::Flag, Way::Fuel(1), Way::Fuel(3), Way::Fuel(1 << 30), Way::Sampled];

/// A machine before a program. `$1` is the block, `$2` a block elsewhere, `$3` is 7, `$5` is 9, and
/// nothing is at `$8`.
fn start<B: Arena>(engine: &Engine, bus: B, text: &str) -> Machine<B> {
    let origin = bus.origin();
    let text = format!("{text}\n call_pal 0x83");
    let words = assemble(&text, origin + CODE).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    bus.fill(CODE, &code);
    bus.fill(BLOCK, &[LOW, HIGH, LOW, HIGH].map(u64::to_le_bytes).concat());
    let mut m = Machine::new(engine, bus).unwrap();
    m.set_reg(Reg::Pc, origin + CODE);
    m.set_reg(Reg::R1, origin + BLOCK);
    m.set_reg(Reg::R2, origin + BLOCK + 0x100);
    m.set_reg(Reg::R3, 7);
    m.set_reg(Reg::R5, 9);
    m.set_reg(Reg::R8, origin + LEN);
    m.set_reg(Reg::R9, 1 << 62);
    m
}

/// Runs to the next stop that isn't the fuel's end, or a ring that fills.
fn go<B: Arena>(m: &mut Machine<B>, way: Way) -> Exit {
    m.set_async(way == Way::Flag);
    let fuel = if let Way::Fuel(n) = way { n } else { UNLIMITED };
    loop {
        match m.run(fuel) {
            Exit::Fuel | Exit::Watermark => {}
            exit => return exit,
        }
    }
}

fn attach<B: Arena>(m: &mut Machine<B>, way: Way) {
    if way == Way::Sampled {
        let attr = Attr::new(Event::Instructions, 1).user_regs(RegMask::KERNEL);
        let ring = Arc::new(Ring::new(1 << 16).unwrap());
        m.attach(Sampler::new(attr, RegAbi::Kernel, 1, ring).unwrap());
    }
}

fn block<B: Arena>(m: &Machine<B>) -> [u64; 2] {
    [m.bus().quad(BLOCK), m.bus().quad(BLOCK + 8)]
}

/// What a program does that begins with no reservation: `$3`, and the block.
type Row = (&'static str, u64, [u64; 2]);

const UNCHANGED: [u64; 2] = [LOW, HIGH];

#[rustfmt::skip]
const SEQUENCES: &[Row] = &[
    // Without a reservation it fails, and nothing is stored.
    ("stq_c $3, 0($1)", 0, UNCHANGED),
    ("stl_c $3, 4($1)", 0, UNCHANGED),
    ("ldq $4, 0($1)\n stq_c $3, 0($1)", 0, UNCHANGED),
    // With one it stores, the longword alone if it is one, and tells so.
    ("ldq_l $4, 0($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 8($1)\n stq_c $3, 8($1)", 1, [LOW, 7]),
    ("ldl_l $4, 0($1)\n stl_c $3, 0($1)", 1, [0x1111_1111_0000_0007, HIGH]),
    ("ldl_l $4, 12($1)\n stl_c $3, 12($1)", 1, [LOW, 0x0000_0007_4444_4444]),
    ("ldq_l $31, 0($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    // Both may be anywhere in the same 16 bytes.
    ("ldq_l $4, 0($1)\n stq_c $3, 8($1)", 1, [LOW, 7]),
    ("ldq_l $4, 8($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldl_l $4, 0($1)\n stl_c $3, 4($1)", 1, [0x0000_0007_2222_2222, HIGH]),
    ("ldl_l $4, 4($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n stl_c $3, 8($1)", 1, [LOW, 0x3333_3333_0000_0007]),
    // Elsewhere it "may always fail", and does.
    ("ldq_l $4, 0($1)\n stq_c $3, 16($1)", 0, UNCHANGED),
    ("ldq_l $4, 16($1)\n stq_c $3, 8($1)", 0, UNCHANGED),
    // The second LDx_L replaces the first.
    ("ldq_l $4, 0($1)\n ldq_l $4, 0($2)\n stq_c $3, 0($1)", 0, UNCHANGED),
    ("ldq_l $4, 0($2)\n ldq_l $4, 0($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    // The second STx_C fails, whatever became of the first.
    ("ldq_l $4, 0($1)\n stq_c $5, 0($1)\n stq_c $3, 0($1)", 0, [9, HIGH]),
    ("ldq_l $4, 0($1)\n stq_c $5, 0($2)\n stq_c $3, 0($1)", 0, UNCHANGED),
    // Barriers, hints, branches, and what translated code leaves to the interpreter.
    ("ldq_l $4, 0($1)\n mb\n wmb\n trapb\n excb\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n fetch ($2)\n wh64 ($2)\n ecb ($2)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n br $31, on\n nop\n on: stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n bne $31, on\n stq_c $3, 0($1)\n on: nop", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n bsr $26, f\n stq_c $3, 0($1)\n br $31, on\n f: ret $31, ($26)\n on: nop", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n rpcc $6\n rs $6\n rc $6\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n addg $f1, $f1, $f2\n mf_fpcr $f3\n stq_c $3, 0($1)", 1, [7, HIGH]),
    // Loads, and stores of its own: UNPREDICTABLE, here by what the block holds.
    ("ldq_l $4, 0($1)\n ldq $6, 0($1)\n ldq $6, 0($2)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n stq $5, 0($2)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n stq $4, 0($1)\n stq_c $3, 0($1)", 1, [7, HIGH]),
    ("ldq_l $4, 0($1)\n stq $5, 0($1)\n stq_c $3, 0($1)", 0, [9, HIGH]),
    ("ldq_l $4, 0($1)\n stq $5, 8($1)\n stq_c $3, 0($1)", 0, [LOW, 9]),
    ("ldq_l $4, 0($1)\n stq $5, 8($1)\n stq $31, 8($1)\n stq_c $3, 0($1)", 0, [LOW, 0]),
    // PALcode: rduniq, wruniq, imb. UNPREDICTABLE, here it ends a reservation.
    ("ldq_l $4, 0($1)\n call_pal 0x9e\n stq_c $3, 0($1)", 0, UNCHANGED),
    ("ldq_l $4, 0($1)\n call_pal 0x9f\n stq_c $3, 0($1)", 0, UNCHANGED),
    ("ldq_l $4, 0($1)\n call_pal 0x86\n stq_c $3, 0($1)", 0, UNCHANGED),
    // What loops do.
    ("li $7, 100\n again: ldq_l $4, 0($1)\n addq $4, 1, $3\n stq_c $3, 0($1)\n beq $3, again\n subq $7, 1, $7\n bne $7, again", 1, [LOW + 100, HIGH]),
    ("li $7, 100\n again: ldl_l $4, 4($1)\n addl $4, 1, $3\n stl_c $3, 4($1)\n beq $3, again\n subq $7, 1, $7\n bne $7, again", 1, [LOW + (100 << 32), HIGH]),
    ("li $7, 100\n again: ldq_l $4, 0($1)\n ldq $4, 8($1)\n addq $4, 1, $3\n stq_c $3, 8($1)\n beq $3, again\n subq $7, 1, $7\n bne $7, again", 1, [LOW, HIGH + 100]),
];

fn each_sequence<B: Arena>(bus: impl Fn() -> B) {
    for kind in KINDS {
        for &(text, stored, after) in SEQUENCES {
            let engine = engine(kind);
            for way in WAYS {
                let mut m = start(&engine, bus(), text);
                attach(&mut m, way);
                assert_eq!(go(&mut m, way), END, "{text} {kind:?} {way:?}");
                assert_eq!(m.reg(Reg::R3), stored, "{text} {kind:?} {way:?}");
                assert_eq!(block(&m), after, "{text} {kind:?} {way:?}");
            }
            assert!(kind != Kind::Jit || engine.stats().translations > 0);
        }
    }
}

#[test]
fn sequences() {
    each_sequence(|| FlatMemory::new(LEN as usize));
    for pages in [true, false] {
        each_sequence(|| Paged::new(pages));
    }
    each_sequence(|| Identity::new(Identity::origin()));
}

/// What stops the program between LDx_L and STx_C.
const STOPS: &[&str] = &[
    "ldq $6, 0($8)",
    "stq $6, 0($8)",
    "ldq $6, 1($1)",
    "ldq_l $6, 4($1)",
    "addq/v $9, $9, $6",
    ".long 0x04000000",
];

fn each_stop<B: Arena>(bus: impl Fn() -> B) {
    for kind in KINDS {
        for stop in STOPS {
            let text = format!("ldq_l $4, 0($1)\n {stop}\n stq_c $3, 0($1)");
            let engine = engine(kind);
            for way in WAYS {
                // Whoever runs the machine passes over it, delivers a trap, or switches.
                for (told, stored) in [("nothing", 1), ("a trap", 0), ("other registers", 0)] {
                    let mut m = start(&engine, bus(), &text);
                    attach(&mut m, way);
                    let exit = go(&mut m, way);
                    assert_ne!(exit, END, "{text} {kind:?} {way:?}");
                    match told {
                        "a trap" => m.clear_reservation(),
                        "other registers" => m.set_regs(&m.regs().clone()),
                        _ => {}
                    }
                    if !matches!(exit, Exit::Arith { .. }) {
                        m.set_reg(Reg::Pc, m.reg(Reg::Pc) + 4);
                    }
                    assert_eq!(go(&mut m, way), END, "{text} {kind:?} {way:?}");
                    assert_eq!(m.reg(Reg::R3), stored, "{text} {kind:?} {way:?} {told}");
                }
            }
        }
        // A PAL call that comes back has ended it already.
        let engine = engine(kind);
        for way in WAYS {
            let text = "ldq_l $4, 0($1)\n call_pal 0x80\n stq_c $3, 0($1)";
            let mut m = start(&engine, bus(), text);
            attach(&mut m, way);
            assert_eq!(go(&mut m, way), Exit::Pal { function: 0x80 });
            assert_eq!(go(&mut m, way), END);
            assert_eq!((m.reg(Reg::R3), block(&m)), (0, UNCHANGED), "{kind:?} {way:?}");
        }
    }
}

#[test]
fn stops_in_between() {
    each_stop(|| FlatMemory::new(LEN as usize));
    each_stop(|| Paged::new(true));
    each_stop(|| Identity::new(Identity::origin()));
}

/// What another machine does between LDQ_L and STQ_C, and whether this one's stores.
#[rustfmt::skip]
const OTHERS: &[(&str, bool)] = &[
    ("stq $5, 0($1)", false),
    ("stl $5, 0($1)", false),
    ("stl $5, 4($1)", false),
    ("stq $5, 8($1)", false),
    ("stb $5, 15($1)", false),
    ("ldq_l $4, 0($1)\n stq_c $3, 0($1)", false),
    ("ldq_l $4, 8($1)\n stq_c $3, 8($1)", false),
    // It changes nothing, or something else.
    ("ldq $4, 0($1)\n mb", true),
    ("ldq_l $4, 0($1)", true),
    ("stq_c $3, 0($1)", true),
    ("ldq_l $4, 0($1)\n stq_c $3, 16($1)", true),
    ("stq $5, 16($1)", true),
    ("stq $5, -8($1)", true),
    // A real Alpha's would fail here: docs/accuracy.md.
    ("ldq $4, 0($1)\n stq $4, 0($1)", true),
    ("ldq $4, 0($1)\n stq $5, 0($1)\n stq $4, 0($1)", true),
];

fn each_other<B: Arena>(bus: impl Fn() -> B) {
    for kind in KINDS {
        for other_kind in KINDS {
            for &(other, stored) in OTHERS {
                // STQ_C to the quadword that was loaded, and to the other one of the block.
                for place in [0, 8] {
                    let bus = Arc::new(bus());
                    let text = format!("ldq_l $4, 0($1)\n call_pal 0x83\n{other}\n call_pal 0x83");
                    let split = format!("ldq_l $4, 0($1)\n nop\n nop\n stq_c $3, {place}($1)");
                    let mut second = start(&engine(other_kind), Arc::clone(&bus), &text);
                    let mut first = start(&engine(kind), Arc::clone(&bus), &split);
                    assert_eq!(first.run(2), Exit::Fuel);
                    // The program is in place that the other runs: it starts after its own CALL_PAL.
                    let words = assemble(&text, bus.origin() + CODE).unwrap();
                    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                    bus.fill(CODE + 0x400, &code);
                    second.set_reg(Reg::Pc, bus.origin() + CODE + 0x408);
                    second.set_reg(Reg::R3, 5);
                    assert_eq!(go(&mut second, Way::Free), END);
                    assert_eq!(go(&mut first, Way::Free), END);
                    let name = format!("{other}, {place} {kind:?} {other_kind:?}");
                    assert_eq!(first.reg(Reg::R3), u64::from(stored), "{name}");
                    assert_eq!(bus.quad(BLOCK + place) == 7, stored, "{name}");
                }
            }
        }
    }
}

#[test]
fn other_machines() {
    each_other(|| FlatMemory::new(LEN as usize));
    each_other(|| Paged::new(true));
    each_other(|| Paged::new(false));
    each_other(|| Identity::new(Identity::origin()));
}

/// Two programs that run at once, each a number of times: what they add up to.
struct Race {
    name: &'static str,
    /// A round of the first and of the second machine.
    rounds: [&'static str; 2],
    /// The block afterwards, that was zero before, given the rounds of each.
    want: fn(u64) -> [u64; 2],
}

const ADD_LOW: &str = "ldq_l $3, 0($1)\n addq $3, 1, $3\n stq_c $3, 0($1)";
/// A byte's store as compilers write it for EV4, with -msafe-bwa: its neighbours are kept.
const NEXT_BYTE: [&str; 2] = [
    "ldq_l $3, 0($1)\n extbl $3, 2, $4\n addq $4, 1, $4\n insbl $4, 2, $4\n mskbl $3, 2, $3\n bis $3, $4, $3\n stq_c $3, 0($1)",
    "ldq_l $3, 0($1)\n extbl $3, 3, $4\n addq $4, 1, $4\n insbl $4, 3, $4\n mskbl $3, 3, $3\n bis $3, $4, $3\n stq_c $3, 0($1)",
];

const RACES: [Race; 5] = [
    Race { name: "one quadword", rounds: [ADD_LOW, ADD_LOW], want: |n| [2 * n, 0] },
    Race {
        name: "two longwords of a quadword",
        rounds: [
            "ldl_l $3, 8($1)\n addl $3, 1, $3\n stl_c $3, 8($1)",
            "ldl_l $3, 12($1)\n addl $3, 2, $3\n stl_c $3, 12($1)",
        ],
        want: |n| [0, n | (2 * n) << 32],
    },
    Race {
        name: "two quadwords of a block",
        rounds: [ADD_LOW, "ldq_l $3, 8($1)\n addq $3, 1, $3\n stq_c $3, 8($1)"],
        want: |n| [n, n],
    },
    Race {
        // The second counts in the upper quadword what it sees of the lower: stored only if both are
        // as they were, so the sum of both is the number of stores.
        name: "locked here, stored there",
        rounds: [ADD_LOW, "ldq_l $4, 0($1)\n ldq $3, 8($1)\n addq $3, 1, $3\n stq_c $3, 8($1)"],
        want: |n| [n, n],
    },
    Race { name: "two bytes", rounds: NEXT_BYTE, want: |n| [(n & 255) * 0x101_0000, 0] },
];

fn race<B: Arena + Send + Sync + 'static>(bus: impl Fn() -> B, rounds: u64) {
    for race in RACES {
        for kinds in [[0, 0], [0, 1], [1, 1], [1, 2]] {
            let bus = Arc::new(bus());
            let machines = [0, 1].map(|i| {
                let kind = KINDS[kinds[i]];
                let text = race.rounds[i];
                let text =
                    format!("again: {text}\n beq $3, again\n mb\n subq $7, 1, $7\n bne $7, again");
                let mut m = start(&engine(kind), Arc::clone(&bus), "nop");
                let at = CODE + 0x400 * (1 + i as u64);
                let text = format!("{text}\n call_pal 0x83");
                let words = assemble(&text, bus.origin() + at).unwrap();
                let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                bus.fill(at, &code);
                m.set_reg(Reg::Pc, bus.origin() + at);
                m.set_reg(Reg::R7, rounds);
                m
            });
            bus.fill(BLOCK, &[0; 16]);
            let threads = machines.map(|mut m| {
                std::thread::spawn(move || within(race.name, move || go(&mut m, Way::Free)))
            });
            for thread in threads {
                assert_eq!(thread.join().unwrap(), END);
            }
            let got = [bus.quad(BLOCK), bus.quad(BLOCK + 8)];
            assert_eq!(got, (race.want)(rounds), "{} {kinds:?}", race.name);
        }
    }
}

#[test]
fn nothing_is_lost() {
    race(|| FlatMemory::new(LEN as usize), 20_000);
    race(|| Paged::new(true), 20_000);
    race(|| Paged::new(false), 5_000);
    race(|| Identity::new(Identity::origin()), 20_000);
}
