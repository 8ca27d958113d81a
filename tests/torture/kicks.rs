//! A kick from another thread ends what would never end by itself.

use std::sync::mpsc::RecvTimeoutError::Timeout;
use std::time::Duration;

use axperf::{Engine, Exit, FlatMemory, Reg, UNLIMITED};

use crate::guest::{KINDS, Kind, START, engine, load, machine, within};

/// Programs without end: every way to go round.
const ENDLESS: [(&str, &str); 7] = [
    ("branch to itself", "here: br $31, here"),
    ("conditional", "here: addq $1, 1, $1\n beq $31, here"),
    ("two loops", "a: addq $1, 1, $1\n b: addq $2, 1, $2\n blbs $2, b\n br $31, a"),
    ("jump", "br $27, here\n here: addq $1, 1, $1\n jmp $31, ($27)"),
    ("call", "here: bsr $26, f\n br $31, here\n f: addq $1, 1, $1\n ret $31, ($26)"),
    (
        "indirect call",
        "br $20, here\n here: lda $27, 12($20)\n jsr $26, ($27)\n br $31, here\n ret $31, ($26)",
    ),
    ("no instructions but nops", "here: nop\n unop\n br $31, here"),
];

/// A kick comes through while fuel is unlimited, and while it is as good as unlimited.
#[test]
fn endless_code_is_interrupted() {
    for (name, text) in ENDLESS {
        for kind in KINDS {
            for fuel in [UNLIMITED, u64::MAX - 1, 1 << 62] {
                let memory = FlatMemory::new(0x10000);
                load(&memory, text);
                let mut m = machine(&engine(kind), memory);
                m.set_async(true);
                for _ in 0..3 {
                    let kick = m.kick();
                    let kicker = std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(3));
                        kick.now();
                    });
                    let (exit, back) = within(name, move || (m.run(fuel), m));
                    m = back;
                    kicker.join().unwrap();
                    assert_eq!(exit, Exit::Interrupted, "{name} {kind:?} {fuel}");
                    let pc = m.reg(Reg::Pc);
                    assert!((START..START + 64).contains(&pc), "{name} {kind:?}: {pc:#x}");
                }
            }
        }
    }
}

/// A kick is taken once: at once if it was there before; later runs know nothing of it.
#[test]
fn a_kick_is_taken_once() {
    for kind in KINDS {
        let memory = FlatMemory::new(0x10000);
        load(&memory, ENDLESS[1].1);
        let mut m = machine(&engine(kind), memory);
        m.set_async(true);
        for _ in 0..50 {
            m.kick().now();
            m.kick().now();
            assert_eq!(m.run(UNLIMITED), Exit::Interrupted);
            assert_eq!(m.run(1000), Exit::Fuel);
        }
        if kind == Kind::Interp {
            assert_eq!(m.icount(), Some(50_000));
        }
    }
}

/// A sum over a table with calls: by hand 2016, which is 0 + 1 + … + 63, for each of $1 rounds.
const LONG: &str = "
        bis $31, $31, $0
    round:
        lda $2, 63($31)
        li $3, 0x8000
    fill:
        s8addq $2, $3, $4
        stq $2, 0($4)
        subq $2, 1, $2
        bge $2, fill
        lda $2, 63($31)
    sum:
        bsr $26, add
        subq $2, 1, $2
        bge $2, sum
        subq $1, 1, $1
        bne $1, round
        call_pal 0x83
    add:
        s8addq $2, $3, $4
        ldq $5, 0($4)
        addq $0, $5, $0
        ret $31, ($26)
";

/// A program that is interrupted all the time ends as one that isn't, registers that nobody sees
/// kept or not.
#[test]
fn interruptions_change_nothing() {
    let mut all = 0;
    for (kind, rounds) in KINDS.into_iter().zip([1000, 30_000, 10_000]) {
        for (exact, fuel) in [(true, UNLIMITED), (false, UNLIMITED), (false, u64::MAX - 1)] {
            let memory = FlatMemory::new(0x10000);
            load(&memory, LONG);
            let mut m = machine(&engine(kind), memory);
            m.set_async(true);
            m.set_exact_exits(exact);
            m.set_reg(Reg::R1, rounds);
            let kick = m.kick();
            let (stop, stopped) = std::sync::mpsc::channel::<()>();
            let kicker = std::thread::spawn(move || {
                while stopped.recv_timeout(Duration::from_micros(60)).is_err_and(|e| e == Timeout) {
                    kick.now();
                }
            });
            let (interruptions, m) = within("a long program", move || {
                let mut interruptions = 0;
                loop {
                    match m.run(fuel) {
                        Exit::Interrupted => interruptions += 1,
                        exit => {
                            assert_eq!(exit, Exit::Pal { function: 0x83 });
                            return (interruptions, m);
                        }
                    }
                }
            });
            drop(stop);
            kicker.join().unwrap();
            assert_eq!(m.reg(Reg::R0), rounds * 2016, "{kind:?} {exact} {fuel}");
            all += interruptions;
        }
    }
    assert!(all > 0);
}

/// With both engines compared, a kick at any moment is no difference, and isn't lost.
#[test]
fn kicks_while_engines_are_compared() {
    let mut c = Kind::Jit.config();
    c.crosscheck(true);
    let e = Engine::new(&c).unwrap();
    let memory = FlatMemory::new(0x10000);
    load(&memory, "next: ldq_l $1, 0x4000($31)\n addq $1, 1, $1\n stq_c $1, 0x4000($31)\n br next");
    let mut m = machine(&e, memory);
    m.set_async(true);
    let kick = m.kick();
    let exits = within("comparing", move || {
        std::thread::scope(|s| {
            let kick = &kick;
            (0..200)
                .map(|i| {
                    s.spawn(move || {
                        std::thread::sleep(Duration::from_micros(10 * i));
                        kick.now();
                    });
                    m.run(UNLIMITED)
                })
                .collect::<Vec<_>>()
        })
    });
    assert!(exits.iter().all(|e| *e == Exit::Interrupted), "{exits:?}");
}
