//! Samples of random programs: from both engines the same bytes.

use std::sync::Arc;

use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sampler};
use axperf::{Config, Engine, EngineKind, FlatMemory, Machine, UNLIMITED};

use crate::buses::LEN;
use crate::generate::{Recipe, program};
use crate::random::cases;
use crate::trace::{Limits, prepare, trace};

/// The ring's bytes after a run to the end.
fn record(kind: EngineKind, words: &[u32], seed: u64, attr: &Attr, limits: Limits) -> Vec<u8> {
    let mut c = Config::new();
    c.engine(kind).hot(1);
    let engine = Engine::new(&c).unwrap();
    let mut m = Machine::new(&engine, FlatMemory::new(LEN as usize)).unwrap();
    m.set_exact_exits(false);
    let ring = Arc::new(Ring::new(1 << 24).unwrap());
    let sampler = Sampler::new(attr.clone(), RegAbi::Extended, 1, Arc::clone(&ring)).unwrap();
    let id = m.attach(sampler);
    prepare(&mut m, words, seed);
    trace(&mut m, limits);
    assert_eq!(m.sampler(id).unwrap().stats().lost, 0);
    let mut bytes = Vec::new();
    ring.drain(&mut bytes);
    bytes
}

#[test]
fn engines_take_the_same_samples() {
    let mut sampled = 0;
    for seed in cases(2) {
        let recipe = Recipe { size: 160, wild: 10, stops: 10, counter: true, for_qemu: false };
        let words = program(seed, recipe);
        for (period, mask, stack) in [
            (1 + seed % 3, RegMask::EXTENDED, 0),
            (7 + seed, RegMask::UNWIND, 64),
            (31 + seed, RegMask::KERNEL, 128),
        ] {
            let mut attr = Attr::new(Event::Instructions, period).user_regs(mask);
            if stack != 0 {
                attr = attr.user_stack(stack);
            }
            let limits = Limits { step: UNLIMITED, mixed: false, stops: 60 };
            let bounded = Limits { step: 3000, ..limits };
            let want = record(EngineKind::Interp, &words, seed, &attr, bounded);
            let got = record(EngineKind::Jit, &words, seed, &attr, bounded);
            assert!(want == got, "seed {seed}, period {period}, {mask:?}");
            sampled += want.len();
        }
    }
    assert!(sampled > 0);
}
