//! Several machines on one memory, each in a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axperf::isa::Width;
use axperf::{Bus, Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

use crate::buses::{CODE, LEN};
use crate::generate::{Recipe, program};
use crate::guest::{KINDS, Kind, engine, load, machine, within};
use crate::random::cases;
use crate::trace::{Exact, Limits, compare, prepare, trace};

const CELL: u64 = 0x8000;
const END: Exit = Exit::Pal { function: 0x83 };

fn memory(text: &str) -> Arc<FlatMemory> {
    let memory = Arc::new(FlatMemory::new(0x10000));
    load(&memory, text);
    memory
}

/// Runs machines of these engines to their ends, at the same time.
fn run_all(memory: &Arc<FlatMemory>, engines: &[Engine], fuel: u64) {
    let machines: Vec<_> = engines.iter().map(|e| machine(e, Arc::clone(memory))).collect();
    std::thread::scope(|s| {
        for mut m in machines {
            s.spawn(move || {
                while m.reg(Reg::Pc) != 0 {
                    match m.run(fuel) {
                        END => break,
                        exit => assert_eq!(exit, Exit::Fuel),
                    }
                }
            });
        }
    });
}

/// The pairs of engines that run together; a shared one counts twice.
fn pairs() -> [[Engine; 2]; 5] {
    let [interp, jit, beside] = KINDS.map(engine);
    [
        [interp.clone(), interp.clone()],
        [jit.clone(), jit.clone()],
        [beside.clone(), beside],
        [jit, engine(Kind::Jit)],
        [interp, engine(Kind::Jit)],
    ]
}

/// Each of two machines adds 1 to a counter 30000 times: 60000, if no addition is lost.
#[test]
fn additions_are_not_lost() {
    for (size, width) in [("q", Width::Quad), ("l", Width::Long)] {
        let text = format!(
            "
            li $1, {CELL}
            li $2, 30000
        again:
            ld{size}_l $3, 0($1)
            addq $3, 1, $3
            st{size}_c $3, 0($1)
            beq $3, again
            mb
            subq $2, 1, $2
            bne $2, again
            call_pal 0x83
        "
        );
        for engines in pairs() {
            for fuel in [UNLIMITED, 1009] {
                let memory = memory(&text);
                let m = Arc::clone(&memory);
                let both = engines.clone();
                within("adding", move || run_all(&m, &both, fuel));
                assert_eq!(memory.load(CELL, width), Ok(60_000), "{size} {fuel} {engines:?}");
            }
        }
    }
}

/// A lock by LDQ_L and STQ_C, released by a plain store after MB: what it guards is consistent.
#[test]
fn locks_exclude() {
    let text = format!(
        "
            li $1, {CELL}
            li $2, 5000
        again:
            ldq_l $3, 0($1)
            bne $3, again
            lda $3, 1($31)
            stq_c $3, 0($1)
            beq $3, again
            mb
            ldq $4, 64($1)
            ldq $5, 128($1)
            addq $4, 1, $4
            subq $5, 1, $5
            stq $4, 64($1)
            stq $5, 128($1)
            mb
            stq $31, 0($1)
            subq $2, 1, $2
            bne $2, again
            call_pal 0x83
        "
    );
    for engines in pairs() {
        let memory = memory(&text);
        let m = Arc::clone(&memory);
        within("locking", move || run_all(&m, &engines, UNLIMITED));
        assert_eq!(memory.load(CELL + 64, Width::Quad), Ok(10_000));
        assert_eq!(memory.load(CELL + 128, Width::Quad), Ok(10_000u64.wrapping_neg()));
    }
}

/// Loops that wait for a location to change, in every form that a translator could take the load
/// out of, end when another thread changes it.
#[test]
fn spins_end() {
    let loops = [
        "spin: ldq $3, 0($1)\n beq $3, spin",
        "spin: ldl $3, 0($1)\n mb\n beq $3, spin",
        "spin: ldq $3, 0($1)\n ldq $4, 0($1)\n cmpeq $3, $4, $5\n cmovne $3, 0, $5\n bne $5, spin",
        "spin: ldbu $3, 0($1)\n bne $3, out\n br $31, spin\n out: nop",
        "spin: bsr $26, get\n beq $3, spin\n br $31, out\n get: ldq $3, 0($1)\n ret $31, ($26)\n out: nop",
        "spin: ldt $f1, 0($1)\n fbeq $f1, spin",
    ];
    for text in loops {
        let text = format!("li $1, {CELL}\n{text}\ncall_pal 0x83");
        for kind in KINDS {
            for fuel in [UNLIMITED, u64::MAX - 1] {
                let memory = memory(&text);
                let mut m = machine(&engine(kind), Arc::clone(&memory));
                let spinner = std::thread::spawn(move || within("a spin", move || m.run(fuel)));
                std::thread::sleep(Duration::from_millis(15));
                memory.store(CELL, Width::Quad, 0x3ff0_0000_0000_0001).unwrap();
                assert_eq!(spinner.join().unwrap(), END, "{text} {kind:?}");
            }
        }
    }
}

/// Machines that translate the same random program at the same time, for one engine, each on data of
/// its own, while their code is declared gone again and again: each ends as the interpreter does.
#[test]
fn one_engine_translates_for_many() {
    const MACHINES: u64 = 3;
    let recipe = Recipe { size: 160, wild: 0, stops: 0, counter: false, for_qemu: false };
    for seed in cases(4) {
        let words = program(seed, recipe);
        let run = |e: &Engine, data| {
            let mut m = Machine::new(e, FlatMemory::new(LEN as usize)).unwrap();
            prepare(&mut m, &words, data);
            trace(&mut m, Limits { step: UNLIMITED, mixed: false, stops: 400 })
        };
        let interp = engine(Kind::Interp);
        let jit = engine(Kind::Jit);
        let done = AtomicBool::new(false);
        std::thread::scope(|s| {
            s.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    jit.invalidate(CODE..CODE + 400);
                    std::thread::sleep(Duration::from_micros(200));
                }
            });
            let (run, jit) = (&run, &jit);
            let machines: Vec<_> =
                (0..MACHINES).map(|data| s.spawn(move || run(jit, data))).collect();
            let machines: Vec<_> = machines.into_iter().map(|m| m.join()).collect();
            done.store(true, Ordering::Relaxed);
            for (data, got) in machines.into_iter().enumerate() {
                let want = run(&interp, data as u64);
                let name = format!("seed {seed}, machine {data}");
                compare(&want, &got.unwrap(), &words, 0, Exact::Everywhere, &name);
            }
        });
    }
}
