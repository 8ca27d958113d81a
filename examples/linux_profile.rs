//! Runs a Linux/alpha program with a sampler of your own on it, and shows where it spends its
//! instructions and by which calls it came there.
//!
//! `cargo run --release --example linux_profile [PROG [ARG...]]` (default: the demo guest)

use std::collections::BTreeMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex};

use axperf::perf::{Attr, Event, RegAbi, Ring, Sample, Sampler};
use axperf::symbols::Dso;
use axperf::unwind::{Modules, Unwinder};
use axperf::{Engine, SamplerId};
use axperf_linux::{Cpu, Ids, MapEvent, Observer, Process};

/// What the observer keeps of a mapped file: its addresses, and the file itself.
type Mapped = (u64, u64, u64, Dso);

/// Samples the first thread; counts call chains.
#[derive(Default)]
struct Profiler {
    modules: Arc<Modules>,
    files: Mutex<Vec<Mapped>>,
    sampler: Mutex<Option<SamplerId>>,
    chains: Mutex<BTreeMap<String, u64>>,
}

fn attr() -> Attr {
    Attr::new(Event::Instructions, 1_000_003).callchain()
}

impl Profiler {
    fn drain(&self, cpu: &Cpu) {
        let id = *self.sampler.lock().expect("no panics");
        let Some(sampler) = id.and_then(|id| cpu.sampler(id)) else { return };
        let mut bytes = Vec::new();
        sampler.ring().drain(&mut bytes);
        let mut records = bytes.as_slice();
        while let [kind, _, _, _, m0, m1, s0, s1, ..] = *records {
            let size = usize::from(u16::from_le_bytes([s0, s1]));
            // 9 is PERF_RECORD_SAMPLE; another record is about lost ones.
            if kind == 9
                && let Ok(sample) =
                    Sample::decode(&attr(), u16::from_le_bytes([m0, m1]), &records[8..size])
            {
                let chain: Vec<String> = sample
                    .callchain
                    .iter()
                    .flat_map(|c| c.iter())
                    // Contexts are addresses that no program has.
                    .filter(|ip| *ip < 1 << 42)
                    .map(|ip| self.name(ip))
                    .collect();
                let line = chain.into_iter().rev().collect::<Vec<_>>().join(" > ");
                *self.chains.lock().expect("no panics").entry(line).or_default() += 1;
            }
            records = &records[size..];
        }
    }

    fn name(&self, ip: u64) -> String {
        let files = self.files.lock().expect("no panics");
        files
            .iter()
            .find(|(start, len, ..)| ip.wrapping_sub(*start) < *len)
            .and_then(|(start, _, pgoff, dso)| {
                let address = dso.address_of(ip - start + pgoff)?;
                Some(dso.symbols()[dso.find(address)?].name().to_owned())
            })
            .unwrap_or_else(|| format!("{ip:#x}"))
    }
}

impl Observer for Profiler {
    fn thread_start(&self, _: Ids, cpu: &mut Cpu) {
        let mut first = self.sampler.lock().expect("no panics");
        if first.is_none() {
            let ring = Arc::new(Ring::new(1 << 18).expect("memory for a ring"));
            let sampler = Sampler::new(attr(), RegAbi::Kernel, 1, ring)
                .expect("attributes of ours")
                .with_unwinder(Box::new(Unwinder::new(Arc::clone(&self.modules))));
            *first = Some(cpu.attach(sampler));
        }
    }

    fn map(&self, _: Ids, map: &MapEvent) {
        let path = Path::new(std::ffi::OsStr::from_bytes(&map.path));
        // 4 is PROT_EXEC. What is no ELF file, an anonymous mapping say, has no names to give.
        if map.prot & 4 != 0
            && let Ok(dso) = Dso::open(path)
        {
            // Without call frame information chains end there.
            let _ = self.modules.map_file(path, map.addr, map.len, map.offset);
            self.files.lock().expect("no panics").push((map.addr, map.len, map.offset, dso));
        }
    }

    fn watermark(&self, _: Ids, cpu: &mut Cpu) {
        self.drain(cpu);
    }

    fn thread_exit(&self, _: Ids, cpu: &mut Cpu, process: bool) {
        if process {
            self.drain(cpu);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut argv: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if argv.is_empty() {
        argv.push(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/guest/demo").into());
    }
    let env = std::env::vars_os()
        .map(|(name, value)| [name.into_vec(), value.into_vec()].join(&b'='))
        .collect();
    let engine = Engine::new(&axperf::Config::new())?;
    let profiler = Arc::new(Profiler::default());
    let observer: Arc<dyn Observer> = profiler.clone();
    let process = Process::new(&engine, argv, env, &axperf_linux::Config::new(), Some(observer))?;
    let status = process.run();

    let chains = profiler.chains.lock().expect("no panics");
    let total: u64 = chains.values().sum();
    let mut lines: Vec<(&String, &u64)> = chains.iter().collect();
    lines.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    for (chain, n) in lines.into_iter().take(12) {
        println!("{:5.1}%  {chain}", *n as f64 * 100.0 / total as f64);
    }
    status.pass_on()
}
