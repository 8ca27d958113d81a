//! Code that changes: after IMB, what was stored before it runs, in both engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axperf::isa::Width;
use axperf::{Bus, Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

use crate::guest::{KINDS, START, engine, load, machine, within};

const FUNCTION: u64 = 0x2000;
const END: Exit = Exit::Pal { function: 0x83 };

/// lda $0, n($31)
fn constant(n: u64) -> u32 {
    0x201f_0000 | n as u32 & 0x7fff
}
const RET: u32 = 0x6bfa_8001;

/// A program that changes its function 400 times, and counts in $9 how often it got another value
/// than the one that it stored.
const REPLACE: &str = "
        li $1, 0x2000
        li $2, 0x201f0000
        li $10, 400
        bis $31, $31, $9
    next:
        addl $2, 1, $2
        stl $2, 0($1)
        call_pal 0x86
        bsr $26, 0x2000
        zapnot $2, 3, $3
        cmpeq $0, $3, $4
        xor $4, 1, $4
        addq $9, $4, $9
        subq $10, 1, $10
        bne $10, next
        call_pal 0x83
";

fn with_function(text: &str) -> FlatMemory {
    let memory = FlatMemory::new(0x10000);
    load(&memory, text);
    put(&memory, FUNCTION, constant(0));
    put(&memory, FUNCTION + 4, RET);
    memory
}

fn put<B: Bus>(bus: &B, at: u64, word: u32) {
    bus.store(at, Width::Long, word.into()).unwrap();
}

#[test]
fn code_stored_before_imb_runs_after_it() {
    for kind in KINDS {
        for blocks in [1, usize::MAX] {
            for fuel in [UNLIMITED, 1000, 7] {
                let mut c = kind.config();
                c.region_blocks(blocks);
                let e = Engine::new(&c).unwrap();
                let mut m = machine(&e, with_function(REPLACE));
                while m.run(fuel) == Exit::Fuel {}
                assert_eq!(m.reg(Reg::R9), 0, "{kind:?} {blocks} {fuel}");
                assert_eq!(m.reg(Reg::R0), 400, "{kind:?} {blocks} {fuel}");
            }
        }
    }
}

/// Blocks that begin in the middle of others, and in what comes after them, are replaced too.
#[test]
fn every_block_over_a_word_is_replaced() {
    for kind in KINDS {
        let e = engine(kind);
        let memory = FlatMemory::new(0x10000);
        let mut m = machine(&e, memory);
        for round in 1..40u64 {
            for i in 0..8 {
                put(m.bus(), FUNCTION + 4 * i, 0x4000_1400 | 1 << 13); // addq $0, 1, $0
            }
            // addq $0, n, $0 in a place of its own each round.
            let n = round % 200;
            put(m.bus(), FUNCTION + 4 * (round % 8), 0x4000_1400 | (n as u32) << 13);
            put(m.bus(), FUNCTION + 32, RET);
            m.imb();
            for entry in 0..8 {
                m.set_reg(Reg::R0, 0);
                m.set_reg(Reg::R26, 0x3000);
                m.set_reg(Reg::Pc, FUNCTION + 4 * entry);
                put(m.bus(), 0x3000, 0x83);
                assert_eq!(m.run(UNLIMITED), END);
                let ones = 8 - entry;
                let want = if round % 8 >= entry { ones - 1 + n } else { ones };
                assert_eq!(m.reg(Reg::R0), want, "{kind:?} round {round} entry {entry}");
            }
        }
    }
}

/// The embedder changes code: by `write` and `imb`, and by `invalidate`.
#[test]
fn the_embedder_changes_code() {
    for kind in KINDS {
        let e = engine(kind);
        let text = "next: bsr $26, 0x2000\n call_pal 0x83\n br $31, next";
        let mut m = machine(&e, with_function(text));
        for n in 1..50 {
            m.write(FUNCTION, &constant(n).to_le_bytes()).unwrap();
            match n % 3 {
                0 => m.imb(),
                1 => e.invalidate(FUNCTION..FUNCTION + 4),
                _ => e.invalidate_all(),
            }
            assert_eq!(m.run(UNLIMITED), END);
            assert_eq!(m.reg(Reg::R0), n, "{kind:?}");
        }
    }
}

/// What becomes no instruction stops, and goes on when it is one again.
#[test]
fn code_comes_and_goes() {
    for kind in KINDS {
        let e = engine(kind);
        let text = "next: bsr $26, 0x2000\n call_pal 0x83\n br $31, next";
        let mut m = machine(&e, with_function(text));
        for n in 1..30 {
            for at in [FUNCTION, FUNCTION + 4] {
                let illegal = 0x0400_0000 | n as u32;
                let good = if at == FUNCTION { constant(n) } else { RET };
                put(m.bus(), at, illegal);
                m.imb();
                assert_eq!(m.run(UNLIMITED), Exit::Illegal { pc: at, word: illegal }, "{kind:?}");
                assert_eq!(m.reg(Reg::Pc), at);
                put(m.bus(), at, good);
                m.imb();
                assert_eq!(m.run(UNLIMITED), END, "{kind:?}");
            }
            assert_eq!(m.reg(Reg::R0), n, "{kind:?}");
        }
    }
}

/// One thread replaces the function and says so; the other executes IMB and calls it. It never gets
/// an older value than the one that was there when it was told.
#[test]
fn another_machine_changes_code() {
    const TOLD: u64 = 0x8000;
    for kind in KINDS {
        let shared = engine(kind);
        let text = format!(
            "
            li $1, {TOLD}
        next:
            ldq $2, 0($1)
            mb
            call_pal 0x86
            bsr $26, 0x2000
            cmpult $0, $2, $3
            bne $3, stale
            cmpeq $2, 0x7f, $3
            beq $3, next
            bis $31, $31, $0
        stale:
            call_pal 0x83
        "
        );
        let memory = Arc::new(with_function(&text));
        let mut caller = machine(&shared, Arc::clone(&memory));
        let mut writer: Machine<Arc<FlatMemory>> = machine(&shared, Arc::clone(&memory));
        let done = Arc::new(AtomicU64::new(0));
        let (stop, seen) = (Arc::clone(&done), Arc::clone(&memory));
        let thread = std::thread::spawn(move || {
            for n in 1..=0x7f {
                put(&seen, FUNCTION, constant(n));
                // The writer's own engine forgets, too.
                writer.imb();
                seen.store(TOLD, Width::Quad, n).unwrap();
                if stop.load(Ordering::Relaxed) != 0 {
                    return;
                }
                std::thread::yield_now();
            }
        });
        let exit = within("calling", move || {
            let exit = caller.run(UNLIMITED);
            (exit, caller.reg(Reg::R0), caller.reg(Reg::R2))
        });
        done.store(1, Ordering::Relaxed);
        thread.join().unwrap();
        assert_eq!((exit.0, exit.1), (END, 0), "{kind:?}: stale at {}", exit.2);
    }
}

/// A machine sees what another one's barrier is for when it is next run.
#[test]
fn a_barrier_of_another_machine() {
    for kind in KINDS {
        let e = engine(kind);
        let text = "next: bsr $26, 0x2000\n call_pal 0x83\n br $31, next";
        let memory = Arc::new(with_function(text));
        let mut caller = machine(&e, Arc::clone(&memory));
        let mut writer: Machine<Arc<FlatMemory>> = machine(&e, Arc::clone(&memory));
        for n in 1..200 {
            put(&memory, FUNCTION, constant(n));
            writer.imb();
            for _ in 0..3 {
                assert_eq!(caller.run(UNLIMITED), END);
                assert_eq!(caller.reg(Reg::R0), n, "{kind:?}");
            }
        }
    }
}

/// A loop without an end, whose code another thread replaces: the machine leaves it, though it
/// executes no barrier. (Linux: `munmap` and `mmap` reach all threads at once.)
#[test]
fn a_loop_that_another_thread_invalidates() {
    for kind in KINDS {
        for blocks in [1, usize::MAX] {
            let mut c = kind.config();
            c.region_blocks(blocks);
            let e = Engine::new(&c).unwrap();
            let text = "next: stq $1, 0x4000($31)\n addq $1, 1, $1\n br $31, next";
            let memory = Arc::new(with_function(text));
            let mut m = machine(&e, Arc::clone(&memory));
            m.set_async(true);
            let other = std::thread::spawn({
                let memory = Arc::clone(&memory);
                move || {
                    // It has been round often: the loop is translated, if it ever is.
                    while memory.load(0x4000, Width::Quad).unwrap() < 100_000 {
                        std::thread::yield_now();
                    }
                    put(&memory, START + 8, 0x83);
                    e.invalidate(START..START + 12);
                }
            });
            let exit = within("the old loop", move || m.run(UNLIMITED));
            assert_eq!(exit, END, "{kind:?} {blocks}");
            other.join().unwrap();
        }
    }
}
