//! A kick from another thread ends what would never end by itself.

use std::time::Duration;

use axperf::{EngineKind, Exit, FlatMemory, Reg, UNLIMITED};

use crate::guest::{KINDS, START, engine, load, machine, within};

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
        if kind == EngineKind::Interp {
            assert_eq!(m.icount(), Some(50_000));
        }
    }
}
