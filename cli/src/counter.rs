//! Counts events in the program: the observer behind `axperf stat`.

use std::cell::RefCell;
use std::sync::Arc;

use axperf::perf::{Attr, RegAbi, Ring, Sampler};
use axperf::{Clock, SamplerId};
use axperf_linux::{Cpu, Ids, Observer};

/// Bytes for what threads tell at their end: of some ten thousand.
const RING: usize = 1 << 20;

/// Counts what it observes, in the program's children too.
pub struct Counter {
    events: Vec<Attr>,
    /// What was counted, told by each thread at its end, in all processes.
    totals: Ring,
    nowhere: Arc<Ring>,
}

thread_local! {
    /// This thread's, in the order of events.
    static SAMPLERS: RefCell<Vec<SamplerId>> = const { RefCell::new(Vec::new()) };
}

impl Counter {
    /// Counts these events.
    pub fn new(events: Vec<Attr>) -> Result<Counter, axperf::Error> {
        Ok(Counter { events, totals: Ring::shared(RING)?, nowhere: Arc::new(Ring::discarding()?) })
    }

    /// The counts, in the order of events.
    pub fn end(&self) -> Vec<u64> {
        let mut bytes = Vec::new();
        self.totals.drain(&mut bytes);
        let mut totals = vec![0u64; self.events.len()];
        // A header, then a count for each event.
        for record in bytes.as_chunks::<8>().0.chunks_exact(1 + totals.len()) {
            for (total, count) in totals.iter_mut().zip(&record[1..]) {
                *total = total.wrapping_add(u64::from_le_bytes(*count));
            }
        }
        totals
    }

    fn attach(&self, ids: Ids, cpu: &mut Cpu) {
        cpu.set_task(ids.pid as u32, ids.tid as u32);
        cpu.set_clock(Clock::Host);
        let mut attached = Vec::new();
        for (i, attr) in self.events.iter().enumerate() {
            let ring = Arc::clone(&self.nowhere);
            match Sampler::new(attr.clone(), RegAbi::Extended, i as u64 + 1, ring) {
                Ok(sampler) => attached.push(cpu.attach(sampler)),
                Err(e) => eprintln!("axperf: event {i} isn't counted: {e}"),
            }
        }
        SAMPLERS.set(attached);
    }
}

impl Observer for Counter {
    fn thread_start(&self, ids: Ids, cpu: &mut Cpu) {
        self.attach(ids, cpu);
    }

    fn thread_exit(&self, _: Ids, cpu: &mut Cpu, _: bool) {
        let mut record = vec![0];
        for id in SAMPLERS.take() {
            record.push(cpu.detach(id).map_or(0, |s| s.stats().events));
        }
        record.resize(1 + self.events.len(), 0);
        record[0] = (record.len() as u64 * 8) << 48;
        self.totals.push(&record, |_| Vec::new());
    }

    fn forked(&self, _: Ids, child: Ids, cpu: &mut Cpu) {
        for id in SAMPLERS.take() {
            drop(cpu.detach(id));
        }
        self.attach(child, cpu);
    }
}
