//! Files of /proc and /sys that tell of perf.

use axperf::perf::{DEFAULT_MAX_STACK, MAX_SAMPLE_RATE};

use super::{MLOCK_KB, PARANOID, Pmu};
use crate::thread::Thread;

/// The content of the file at `path`, if it is perf's.
pub(crate) fn content(t: &Thread, path: &[u8]) -> Option<Vec<u8>> {
    t.shared.perf.as_ref()?;
    let path = std::str::from_utf8(path).ok()?;
    if let Some(name) = path.strip_prefix("/proc/sys/kernel/perf_") {
        let value = match name {
            "event_paranoid" => i64::from(PARANOID),
            "event_max_sample_rate" => MAX_SAMPLE_RATE as i64,
            "event_mlock_kb" => MLOCK_KB as i64,
            "event_max_stack" => i64::from(DEFAULT_MAX_STACK),
            "event_max_contexts_per_stack" => 8,
            "cpu_time_max_percent" => 25,
            _ => return None,
        };
        return Some(format!("{value}\n").into_bytes());
    }
    let device = path.strip_prefix("/sys/bus/event_source/devices/")?.strip_suffix("/type")?;
    match device {
        "software" => Some(b"1\n".to_vec()),
        "cpu" if t.shared.config.pmu != Pmu::None => Some(b"4\n".to_vec()),
        _ => None,
    }
}
