//! Programs that make code for ever, in an engine that keeps little of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axperf::isa::assemble;
use axperf::{Bus, Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

use crate::guest::{KINDS, Kind, load, machine, within};

const END: Exit = Exit::Pal { function: 0x83 };

/// Makes $16 functions of 40 multiplications each in a new place, calls each 50 times, and adds up in $0
/// what they return: each its own number. Places are used again after 128 functions.
const MAKER: &str = "
        bis $31, $31, $0
        bis $31, $31, $9
    next:
        and $9, 127, $1
        sll $1, 9, $1
        addq $1, $17, $1
        bis $31, $1, $4
        li $2, 0x4c210401
        lda $3, 40($31)
    fill:
        stl $2, 0($4)
        addq $4, 4, $4
        subq $3, 1, $3
        bne $3, fill
        li $2, 0x201f0000
        zapnot $9, 1, $3
        addq $2, $3, $2
        stl $2, 0($4)
        li $2, 0x6bfa8001
        stl $2, 4($4)
        call_pal 0x86
        bis $31, $1, $27
        lda $10, 50($31)
    again:
        jsr $26, ($27)
        addq $11, $0, $11
        subq $10, 1, $10
        bne $10, again
        addq $9, 1, $9
        subq $16, 1, $16
        bne $16, next
        bis $31, $11, $0
        call_pal 0x83
";

fn small(kind: Kind) -> Engine {
    Engine::new(kind.config().code_limit(1)).unwrap()
}

fn memory() -> Arc<FlatMemory> {
    let memory = Arc::new(FlatMemory::new(0x80000));
    load(&memory, MAKER);
    memory
}

fn maker(e: &Engine, memory: &Arc<FlatMemory>, functions: u64) -> Machine<Arc<FlatMemory>> {
    let mut m = machine(e, Arc::clone(memory));
    m.set_reg(Reg::R16, functions);
    m.set_reg(Reg::R17, 0x20000);
    m
}

/// What all functions return, 50 times each.
fn sum(functions: u64) -> u64 {
    (0..functions).map(|n| 50 * (n & 255)).sum()
}

/// New code is translated, however much there was before.
#[test]
fn room_for_new_code() {
    const FUNCTIONS: u64 = 1500;
    for kind in KINDS {
        for fuel in [UNLIMITED, 100_003] {
            let e = small(kind);
            let mut m = maker(&e, &memory(), FUNCTIONS);
            let run = move || {
                loop {
                    match m.run(fuel) {
                        Exit::Fuel => {}
                        exit => return (exit, m.reg(Reg::R0)),
                    }
                }
            };
            assert_eq!(within("making", run), (END, sum(FUNCTIONS)), "{kind:?} {fuel}");
            let stats = e.stats();
            if kind == Kind::Jit {
                assert!(stats.translations > FUNCTIONS, "{stats:?}");
                assert!(stats.evictions > 3, "{stats:?}");
                assert!(stats.code_bytes > 4 << 16, "{stats:?}");
            }
        }
    }
}

/// A machine that stays in old code is called out of it, goes on right, and holds up nothing.
#[test]
fn others_are_called_out() {
    for kind in [Kind::Jit, Kind::Beside] {
        let e = small(kind);
        let memory = memory();
        let text = "
            again:
                addq $1, 1, $1
                xor $2, $1, $2
                ldq $3, 64($31)
                beq $3, again
                call_pal 0x83
        ";
        let spin = 0x8000;
        for (i, word) in assemble(text, spin).unwrap().into_iter().enumerate() {
            memory.write(spin + 4 * i as u64, &word.to_le_bytes()).unwrap();
        }
        let counted = Arc::new(AtomicU64::new(0));
        std::thread::scope(|s| {
            for fuel in [UNLIMITED, UNLIMITED - 1] {
                let (e, memory, counted) = (&e, Arc::clone(&memory), &counted);
                s.spawn(move || {
                    let mut m = machine(e, memory);
                    m.set_async(true);
                    m.set_reg(Reg::Pc, spin);
                    assert_eq!(m.run(fuel), END);
                    let n = m.reg(Reg::R1);
                    // The exclusive or of 1 to n.
                    let want = [n, 1, n + 1, 0][n as usize % 4];
                    assert_eq!(m.reg(Reg::R2), want);
                    counted.fetch_add(n, Ordering::Relaxed);
                });
            }
            let mut m = maker(&e, &memory, 1500);
            assert_eq!(m.run(UNLIMITED), END);
            assert_eq!(m.reg(Reg::R0), sum(1500));
            memory.write(64, &[1]).unwrap();
        });
        assert!(counted.load(Ordering::Relaxed) > 0);
        if kind == Kind::Jit {
            assert!(e.stats().evictions > 3, "{:?}", e.stats());
        }
    }
}

/// Two machines of one engine that both make code.
#[test]
fn both_make_code() {
    for kind in [Kind::Jit, Kind::Beside] {
        let e = small(kind);
        let memory = memory();
        std::thread::scope(|s| {
            for place in [0x20000, 0x40000] {
                let mut m = maker(&e, &memory, 600);
                m.set_reg(Reg::R17, place);
                m.set_async(true);
                s.spawn(move || {
                    assert_eq!(m.run(UNLIMITED), END);
                    assert_eq!(m.reg(Reg::R0), sum(600));
                });
            }
        });
    }
}
