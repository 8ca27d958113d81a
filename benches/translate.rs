//! What does it cost to translate a program?

mod kernels;

use axperf::Config;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn translate(c: &mut Criterion) {
    let mut group = c.benchmark_group("translate");
    for kernel in &kernels::KERNELS {
        let mut config = Config::new();
        config.hot(1);
        let mut once = kernels::machine(kernel, &config);
        kernels::run(kernel, &mut once);
        let stats = once.engine().stats();
        group.throughput(Throughput::Elements(stats.guest_instructions));
        group.bench_function(kernel.name, |b| {
            b.iter_batched(
                || kernels::machine(kernel, &config),
                |mut m| {
                    kernels::run(kernel, &mut m);
                    m.engine().stats().translation_ns
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = translate
}
criterion_main!(benches);
