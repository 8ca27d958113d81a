//! What does an instruction cost, in which engine and variant?

mod kernels;

use std::time::Instant;

use axperf::{Config, EngineKind};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Best of many runs, in nanoseconds an instruction: what else the machine does only adds.
fn interpreter(_: &mut Criterion) {
    let mut interp = Config::new();
    interp.engine(EngineKind::Interp);
    for kernel in &kernels::KERNELS {
        let mut m = kernels::machine(kernel, &interp);
        let instructions = kernels::instructions(kernel) as f64;
        let times = (0..200).map(|_| {
            let start = Instant::now();
            kernels::run(kernel, &mut m);
            start.elapsed().as_secs_f64() * 1e9 / instructions
        });
        let best = times.fold(f64::INFINITY, f64::min);
        println!("interpreter/{}: {best:.2} ns an instruction", kernel.name);
    }
}

fn execute(c: &mut Criterion) {
    let mut interp = Config::new();
    interp.engine(EngineKind::Interp);
    let mut blocks = Config::new();
    blocks.region_blocks(1);
    let mut counted = Config::new();
    counted.statistics(true);
    let variants =
        [("interp", interp), ("blocks", blocks), ("regions", Config::new()), ("counted", counted)];
    for kernel in &kernels::KERNELS {
        let mut group = c.benchmark_group(format!("execute/{}", kernel.name));
        group.throughput(Throughput::Elements(kernels::instructions(kernel)));
        for (name, config) in &variants {
            let mut m = kernels::machine(kernel, config);
            // Once to translate what is hot.
            kernels::run(kernel, &mut m);
            group.bench_function(*name, |b| b.iter(|| kernels::run(kernel, &mut m)));
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = interpreter, execute
}
criterion_main!(benches);
