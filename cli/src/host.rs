//! What a recording says about the machine that it was made on.

use std::fs::read_to_string;

use axperf::Cpu;
use axperf::export::perf_data::Features;

/// What there is to say; what the host doesn't tell stays empty. The CPU is the guest's.
pub fn features(cpu: Cpu) -> Features {
    let read = |path| read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut features = Features::default();
    features.hostname = read("/proc/sys/kernel/hostname");
    features.os_release = read("/proc/sys/kernel/osrelease");
    features.version = concat!("axperf-", env!("CARGO_PKG_VERSION")).into();
    features.cpu_id = cpu.name().to_uppercase();
    features.cpu_desc = format!("Alpha {}", features.cpu_id);
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    features.nr_cpus = (cpus, cpus);
    features.total_mem = total_mem(&read("/proc/meminfo")).unwrap_or(0);
    let args = std::env::args_os().map(|a| a.to_string_lossy().into_owned());
    features.cmdline = args.collect();
    features
}

/// MemTotal, in kilobytes.
fn total_mem(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse().ok()
}
