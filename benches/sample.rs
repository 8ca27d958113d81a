//! What does a sample cost, against copying as many bytes?
//!
//! `cargo bench --bench sample`: masks crossed with ways to copy their registers, then whole
//! samples with what surrounds the registers.

use std::hint::black_box;
use std::sync::Arc;

use axperf::perf::{
    Attr, COPY_SLACK, CopyPlan, Event, Frame, NoStack, RegAbi, RegMask, Ring, Sampler,
};
use axperf_isa::{Reg, Regs};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn masks() -> [(&'static str, RegMask); 5] {
    [
        ("sp_pc", RegMask::of(&[Reg::Sp, Reg::Pc])),
        ("unwind", RegMask::UNWIND),
        ("all", RegMask::KERNEL),
        // One register less than `all`, and no longer the mask that has a loop of its own.
        ("all_but_r20", RegMask::KERNEL.without(RegMask::of(&[Reg::R20]))),
        ("ext", RegMask::EXTENDED),
    ]
}

fn regs() -> Regs {
    let mut regs = Regs::default();
    for (i, &r) in Reg::ALL.iter().enumerate() {
        regs.set(r, i as u64 + 1);
    }
    regs
}

/// Registers of a mask: the compiled plan, a look-up for each register, a copy of as many words.
fn registers(c: &mut Criterion) {
    let mut group = c.benchmark_group("registers");
    let regs = regs();
    for (name, mask) in masks() {
        let mut out = vec![0; mask.len() + COPY_SLACK];
        let plan = CopyPlan::new(mask);
        plan.copy(&regs, &mut out);
        assert!(mask.regs().zip(&out).all(|(r, &word)| regs.get(r) == word));

        group.throughput(Throughput::Bytes(mask.len() as u64 * 8));
        group.bench_with_input(BenchmarkId::new("plan", name), &plan, |b, plan| {
            b.iter(|| plan.copy(black_box(&regs), black_box(&mut out)));
        });
        group.bench_with_input(BenchmarkId::new("each", name), &mask, |b, mask| {
            b.iter(|| {
                for (to, r) in black_box(&mut out).iter_mut().zip(mask.regs()) {
                    *to = black_box(&regs).get(r);
                }
            });
        });
        group.bench_with_input(BenchmarkId::new("memcpy", name), &mask, |b, mask| {
            let n = mask.len();
            b.iter(|| {
                let (from, to) = (black_box(regs.words()), black_box(&mut out));
                to[..n].copy_from_slice(&from[..n]);
            });
        });
    }
    group.finish();
}

/// Whole samples into a ring that is emptied now and then.
fn samples(c: &mut Criterion) {
    let mut group = c.benchmark_group("sample");
    let regs = regs();
    let frame = Frame::user(&regs).task(1, 1).at(1);
    for (name, mask) in masks() {
        let attr = Attr::new(Event::Instructions, 1).user_regs(mask);
        let ring = Arc::new(Ring::new(1 << 16).expect("a ring"));
        let mut sampler = Sampler::new(attr, RegAbi::Extended, 1, ring).expect("valid attributes");
        let mut read = Vec::new();
        group.bench_function(BenchmarkId::new("take", name), |b| {
            b.iter(|| {
                sampler.advance(1);
                sampler.take(black_box(&frame), &NoStack);
                if sampler.ring().unread() > 1 << 15 {
                    read.clear();
                    sampler.ring().drain(&mut read);
                }
            });
        });
        assert_eq!(sampler.stats().lost, 0);
    }
    group.finish();
}

criterion_group!(benches, registers, samples);
criterion_main!(benches);
