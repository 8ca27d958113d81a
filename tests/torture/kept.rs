//! Translations from disk: what runs is as if it had just been translated.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use axperf::{Config, Cpu, Engine, FlatMemory, Machine, UNLIMITED};

use crate::buses::{Arena, Identity, LEN};
use crate::generate::{Recipe, program};
use crate::guest::{Kind, engine};
use crate::random::cases;
use crate::trace::{Exact, Limits, Stop, compare, prepare, trace};

/// A directory that nobody else can write to.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let dir = std::env::temp_dir().join(format!("axperf-kept-{}-{name}", std::process::id()));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).unwrap();
        Dir(dir)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // What is left of a failed test hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const RECIPE: Recipe = Recipe { size: 160, wild: 15, stops: 10, counter: true, for_qemu: false };

fn check<B: Arena>(name: &str, exact: Exact, bus: impl Fn() -> B) {
    let dir = Dir::new(name);
    let (mut recalled, mut translated) = (0, 0);
    for seed in cases(4) {
        let words = program(seed, RECIPE);
        let others = program(seed + 1000, RECIPE);
        let run = |e: &Engine, words: &[u32], step| -> (Vec<Stop>, u64) {
            let mut m = Machine::new(e, bus()).unwrap();
            m.set_exact_exits(exact == Exact::Everywhere);
            prepare(&mut m, words, seed);
            let limits = Limits { step, mixed: step == UNLIMITED - 1, stops: 300 };
            (trace(&mut m, limits), m.bus().origin())
        };
        let with = |background| {
            let mut c = Config::new();
            c.hot(1).fault_regs(true).background(background);
            c.on_disk(Some(dir.0.join(format!("{seed}.code"))));
            let e = Engine::new(&c).unwrap();
            assert_eq!(e.disk_problem(), None);
            e
        };
        let interp = engine(Kind::Interp);
        for background in [false, true] {
            for (round, step) in [61, 5000, 61, 5000].into_iter().enumerate() {
                let e = with(background);
                let (want, origin) = run(&interp, &words, step);
                let name = format!("{name}, seed {seed}, round {round}, step {step}");
                compare(&want, &run(&e, &words, step).0, &words, origin, exact, &name);
                let stats = e.stats();
                if round >= 2 {
                    recalled += stats.recalled;
                    translated += stats.translations;
                }
                // Another program at the same addresses has nothing in that file.
                let (want, _) = run(&interp, &others, step);
                let e2 = with(background);
                compare(&want, &run(&e2, &others, step).0, &others, origin, exact, &name);
                e.settle();
                e.save().unwrap();
            }
        }
    }
    // Where a region ends depends on what is translated already.
    assert!(recalled > 10 * translated, "{recalled} {translated}");
}

#[test]
fn flat() {
    check("flat", Exact::Everywhere, || FlatMemory::new(LEN as usize));
}

#[test]
fn identity() {
    let origin = Identity::origin();
    check("identity", Exact::Everywhere, || Identity::new(origin));
}

/// What a CPU lacks isn't in code that another CPU may run.
#[test]
fn another_configuration() {
    let dir = Dir::new("configuration");
    let words = program(1, RECIPE);
    let engine = |change: fn(&mut Config)| {
        let mut c = Config::new();
        c.hot(1).on_disk(Some(dir.0.join("code")));
        change(&mut c);
        Engine::new(&c).unwrap()
    };
    let e = engine(|_| ());
    let mut m = Machine::new(&e, FlatMemory::new(LEN as usize)).unwrap();
    prepare(&mut m, &words, 1);
    trace(&mut m, Limits { step: 5000, mixed: false, stops: 300 });
    assert!(e.save().unwrap() > 0);
    assert_eq!(engine(|c| _ = c.code_limit(1 << 20)).disk_problem(), None);
    let others: [fn(&mut Config); 4] = [
        |c| _ = c.cpu(Cpu::Ev4),
        |c| _ = c.all_pal_calls(true),
        |c| _ = c.statistics(true),
        |c| _ = c.region_blocks(2),
    ];
    for other in others {
        let problem = engine(other).disk_problem().unwrap();
        assert!(problem.contains("another build"), "{problem}");
    }
}
