//! How fast are words decoded?

mod kernels;

use axperf::isa::{assemble, decode};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn words(c: &mut Criterion) {
    let words: Vec<u32> = kernels::KERNELS
        .iter()
        .flat_map(|k| assemble(k.text, kernels::CODE).expect("a program"))
        .collect();
    assert!(words.iter().all(|w| decode(*w).is_some()));
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("kernels", |b| {
        b.iter(|| words.iter().filter_map(|w| decode(*w)).map(|i| u64::from(i.rc)).sum::<u64>());
    });
    group.finish();
}

criterion_group!(benches, words);
criterion_main!(benches);
