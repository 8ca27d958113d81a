//! Random programs on both engines: all that can be seen at every stop is the same.

use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, UNLIMITED};

use crate::buses::{Arena, CODE, Identity, LEN, Paged};
use crate::generate::{Recipe, program};
use crate::support::say;
use crate::trace::{END, Exact, Limits, Stop, compare, prepare, trace};

/// How often a random test is repeated: `many` times what it is in `cargo test`.
pub fn cases(n: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    match number("AXPERF_TORTURE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..n * number("AXPERF_TORTURE").unwrap_or(1),
    }
}

/// One way to run translated code.
#[derive(Clone, Copy, Debug)]
struct Way {
    hot: u32,
    region_blocks: usize,
    statistics: bool,
    asynchronous: bool,
    fault_regs: bool,
    crosscheck: bool,
    background: bool,
    exact: Exact,
}

const PLAIN: Way = Way {
    hot: 1,
    region_blocks: usize::MAX,
    statistics: false,
    asynchronous: false,
    fault_regs: true,
    crosscheck: false,
    background: false,
    exact: Exact::Everywhere,
};

fn config(kind: EngineKind, way: Way) -> Config {
    let mut c = Config::new();
    c.engine(kind).hot(way.hot).region_blocks(way.region_blocks);
    c.statistics(way.statistics).fault_regs(way.fault_regs).crosscheck(way.crosscheck);
    c.background(way.background);
    c
}

/// Runs a program in each way and compares it with the interpreter. True if translated code ran.
fn check<B: Arena>(
    seed: u64,
    recipe: Recipe,
    steps: &[u64],
    ways: &[Way],
    bus: impl Fn() -> B,
) -> bool {
    let words = program(seed, recipe);
    // Machines that run the same code share what is translated of it.
    let engine = |way: &Way| Engine::new(&config(EngineKind::Jit, *way)).unwrap();
    let engines: Vec<Engine> = ways.iter().map(engine).collect();
    let interp = Engine::new(&config(EngineKind::Interp, PLAIN)).unwrap();
    let interpret = |limits| {
        let mut m = Machine::new(&interp, bus()).unwrap();
        prepare(&mut m, &words, seed);
        let stops = trace(&mut m, limits);
        // Old or new code runs after a store to it: the engines may differ.
        let pairs = words.chunks_exact(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32);
        let changed = pairs.zip((CODE..).step_by(8)).any(|(pair, at)| m.bus().quad(at) != pair);
        (stops, m.bus().origin(), changed)
    };
    let mut ends: Option<Vec<Stop>> = None;
    for &step in steps {
        let mixed = step == MIXED;
        let limits = Limits { step: if mixed { 97 } else { step }, mixed, stops: 400 };
        // A wild store to the stack may make a program that never ends.
        let all = Limits { step: 100_000, mixed: false, stops: 400 };
        let endless = || interpret(all).0.iter().any(|s| s.exit == Exit::Fuel);
        if (mixed || step == UNLIMITED) && endless() {
            continue;
        }
        let (want, origin, changed) = interpret(limits);
        if changed {
            continue;
        }
        // How the fuel is split changes nothing.
        if want.last().is_some_and(|s| s.exit == END) {
            let stops = want.iter().filter(|s| s.exit != Exit::Fuel).cloned().collect();
            let ends = ends.get_or_insert_with(|| Vec::clone(&stops));
            compare(ends, &stops, &words, origin, Exact::Everywhere, "another split");
        }
        for (way, engine) in ways.iter().zip(&engines) {
            let mut m = Machine::new(engine, bus()).unwrap();
            m.set_async(way.asynchronous);
            m.set_exact_exits(way.exact != Exact::AtPal);
            prepare(&mut m, &words, seed);
            let got = trace(&mut m, limits);
            let name = format!("seed {seed}, step {step}, {way:?}");
            compare(&want, &got, &words, origin, way.exact, &name);
        }
    }
    engines.iter().all(|e| e.stats().translations > 0)
}

/// Runs with and without fuel take turns.
const MIXED: u64 = 0;

const RECIPE: Recipe = Recipe { size: 160, wild: 15, stops: 10, counter: false, for_qemu: false };

/// Splits of the fuel: short ones stop inside regions, long ones leave them alone.
fn steps(seed: u64) -> [u64; 2] {
    [[3, 11, 29, 67, 131][seed as usize % 5], 5000]
}

fn counted(seed: u64) -> [Way; 3] {
    let statistics = seed.is_multiple_of(3);
    let region_blocks = 1 + seed as usize % 3;
    [
        Way { statistics, ..PLAIN },
        Way { region_blocks, hot: 2, ..PLAIN },
        Way { background: true, ..PLAIN },
    ]
}

/// Ways without a count: none polls, or a flag is polled.
const UNCOUNTED: [Way; 3] = [
    PLAIN,
    Way { asynchronous: true, region_blocks: 2, ..PLAIN },
    Way { background: true, asynchronous: true, ..PLAIN },
];

#[test]
fn flat() {
    let mut translated = 0;
    for seed in cases(4) {
        let recipe = Recipe { counter: true, ..RECIPE };
        let bus = || FlatMemory::new(LEN as usize);
        translated += u64::from(check(seed, recipe, &steps(seed), &counted(seed), bus));
        check(seed, RECIPE, &[UNLIMITED, MIXED], &UNCOUNTED, bus);
    }
    assert!(translated > 0);
    say(format_args!("{} random programs on both engines", cases(4).count()));
}

#[test]
fn paged() {
    let mut translated = 0;
    for seed in cases(2) {
        let recipe = Recipe { counter: true, ..RECIPE };
        for pages in [true, false] {
            let bus = || Paged::new(pages);
            translated += u64::from(check(seed, recipe, &steps(seed), &counted(seed), bus));
            check(seed, RECIPE, &[UNLIMITED, MIXED], &UNCOUNTED, bus);
        }
    }
    assert!(translated > 0);
}

/// Host memory: with registers exact at faults, and up to the first fault without.
#[test]
fn identity() {
    for seed in cases(2) {
        let origin = Identity::origin();
        let bus = || Identity::new(origin);
        let loose = Way { fault_regs: false, exact: Exact::NotAtFaults, ..PLAIN };
        let [a, b, c] = counted(seed);
        let ways = [a, b, c, loose, Way { region_blocks: b.region_blocks, ..loose }];
        let recipe = Recipe { counter: true, ..RECIPE };
        check(seed, recipe, &steps(seed), &ways, bus);
        check(seed, RECIPE, &[UNLIMITED, MIXED], &[UNCOUNTED[0], UNCOUNTED[1], loose], bus);
    }
}

/// Registers that the program can't see any more needn't be exact where a run is cut short: it goes
/// on as if they were.
#[test]
fn without_exact_exits() {
    for seed in cases(4) {
        let loose = Way { exact: Exact::AtPal, fault_regs: false, ..PLAIN };
        let ways = [loose, Way { region_blocks: 3, ..loose }];
        let steps = [steps(seed)[0], MIXED];
        let recipe = Recipe { wild: 2, ..RECIPE };
        check(seed, recipe, &steps, &ways, || FlatMemory::new(LEN as usize));
        let origin = Identity::origin();
        check(seed, recipe, &steps, &ways, || Identity::new(origin));
    }
}

/// The engine's own comparison finds nothing, and changes nothing.
#[test]
fn crosschecked() {
    for seed in cases(2) {
        let way = Way { crosscheck: true, ..PLAIN };
        let recipe = Recipe { counter: true, ..RECIPE };
        check(seed, recipe, &[149, 5000], &[way], || FlatMemory::new(LEN as usize));
        check(seed, recipe, &[5000], &[way], || Paged::new(true));
    }
}

/// Without wild addresses and stops, programs end.
#[test]
fn programs_end() {
    for seed in cases(20) {
        let recipe = Recipe { wild: 0, stops: 0, ..RECIPE };
        let engine = Engine::new(&config(EngineKind::Interp, PLAIN)).unwrap();
        let mut m = Machine::new(&engine, FlatMemory::new(LEN as usize)).unwrap();
        prepare(&mut m, &program(seed, recipe), seed);
        let stops = trace(&mut m, Limits { step: 1_000_000, mixed: false, stops: 20_000 });
        assert_eq!(stops.last().unwrap().exit, END, "seed {seed}");
    }
}
