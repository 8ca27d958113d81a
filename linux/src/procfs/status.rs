//! What /proc/PID/stat, status and statm say: the host's, with the guest's memory, threads and signals.

use std::fs;

use super::start_of_mapping;
use crate::layout::{PAGE, TASK_SIZE};
use crate::mm::{Backing, Vma};
use crate::signal::SIG_IGN;
use crate::signal::host::STOP;
use crate::signo::{SigSet, Signal};
use crate::thread::Thread;

/// Sizes of the guest's memory, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    total: u64,
    resident: u64,
    /// Of what is resident, what has no file.
    anonymous: u64,
    /// Private, and writable.
    data: u64,
    stack: u64,
    /// Executable, of the program and of others.
    text: u64,
    libraries: u64,
}

impl Sizes {
    fn of(t: &Thread) -> Sizes {
        let mut s = Sizes::default();
        let program = t.shared.running().layout.code.clone();
        for v in t.shared.space.table().iter() {
            let size = v.end - v.start;
            s.total += size;
            let is_stack = v.backing == Backing::Named("[stack]");
            if is_stack {
                s.stack += size;
            } else if v.prot.write() && !v.shared {
                s.data += size;
            }
            if is_code(v) {
                let own = v.start < program.end && program.start < v.end;
                *(if own { &mut s.text } else { &mut s.libraries }) += size;
            }
        }
        (s.resident, s.anonymous) =
            resident(&fs::read_to_string("/proc/self/smaps").unwrap_or_default());
        s
    }
}

fn is_code(v: &Vma) -> bool {
    v.prot.execute() && !v.prot.write() && matches!(v.backing, Backing::File(..))
}

/// What is resident of the memory below 2^42, and the anonymous part of it, by the text of smaps.
fn resident(smaps: &str) -> (u64, u64) {
    let (mut all, mut anonymous, mut guests) = (0, 0, false);
    for line in smaps.lines() {
        let kilobytes = |name: &str| -> u64 {
            let number = line.strip_prefix(name).map(|rest| rest.trim().trim_end_matches(" kB"));
            number.and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        if let Some(start) = start_of_mapping(line.as_bytes()) {
            guests = start < TASK_SIZE;
        } else if guests {
            all += kilobytes("Rss:");
            anonymous += kilobytes("Anonymous:");
        }
    }
    (all << 10, anonymous << 10)
}

/// The guest's signals that are ignored, and those that are caught.
fn dispositions(t: &Thread) -> (SigSet, SigSet) {
    let actions = t.shared.actions();
    let those = |wanted: fn(u64) -> bool| {
        let all = Signal::all().filter(|s| wanted(actions.get(*s).handler));
        all.fold(SigSet::EMPTY, |set, s| set.with(SigSet::of(s)))
    };
    (those(|h| h == SIG_IGN), those(|h| h > SIG_IGN))
}

/// The guest's set for one of the host's, without axperf's own signal.
fn guests(host: u64) -> SigSet {
    SigSet::from_host(host & !(1 << (STOP - 1)))
}

/// Threads of the program, of so many that the host has.
fn threads(t: &Thread, host: u64) -> u64 {
    host.saturating_sub(t.shared.own_threads().count() as u64)
}

/// The size that the table of the guest's descriptors would have: 64 at first, then 256, then twice as
/// many each time.
fn table_size(t: &Thread) -> usize {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let limit = t.shared.descriptors.limit() as usize;
    let guests = open.filter_map(|e| e.file_name().to_str()?.parse().ok()).filter(|n| *n < limit);
    match guests.max().unwrap_or(0) {
        0..64 => 64,
        highest => (highest + 1).next_power_of_two().max(256),
    }
}

/// /proc/PID/status of a thread.
pub(super) fn status(t: &Thread, tid: i32, host: &str) -> String {
    let sizes = Sizes::of(t);
    let (ignored, caught) = dispositions(t);
    let mut text = String::new();
    for line in host.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let bytes = |n: u64| Some(format!("{:8} kB", n >> 10));
        let set = |set: SigSet| Some(format!("{:016x}", set.0));
        let hosts_set = || guests(u64::from_str_radix(value.trim(), 16).unwrap_or(0));
        let own = match name {
            "Threads" => value.trim().parse().ok().map(|n| threads(t, n).to_string()),
            "FDSize" => Some(table_size(t).to_string()),
            "VmPeak" | "VmSize" => bytes(sizes.total),
            "VmHWM" | "VmRSS" => bytes(sizes.resident),
            "RssAnon" => bytes(sizes.anonymous),
            "RssFile" => bytes(sizes.resident.saturating_sub(sizes.anonymous)),
            "RssShmem" => bytes(0),
            "VmData" => bytes(sizes.data),
            "VmStk" => bytes(sizes.stack),
            "VmExe" => bytes(sizes.text),
            "VmLib" => bytes(sizes.libraries),
            "SigPnd" | "ShdPnd" => set(hosts_set()),
            "SigBlk" if tid == t.ids.tid => set(t.mask),
            "SigBlk" => set(hosts_set()),
            "SigIgn" => set(ignored),
            "SigCgt" => set(caught),
            // What another architecture's kernel says.
            _ if name.starts_with("x86_") => continue,
            _ => None,
        };
        match own {
            Some(own) => text += &format!("{name}:\t{own}\n"),
            None => text += &format!("{line}\n"),
        }
    }
    text
}

/// /proc/PID/stat. Field numbers: proc(5).
pub(super) fn stat(t: &Thread, host: &str) -> String {
    // The second field, the name in parentheses, may have spaces in it.
    let after = host.rfind(')').map_or(0, |i| i + 1);
    let mut fields: Vec<String> = host[after..].split_whitespace().map(str::to_owned).collect();
    let sizes = Sizes::of(t);
    let (ignored, caught) = dispositions(t);
    let heap = t.shared.space.heap();
    let layout = t.shared.running().layout.clone();
    let mut put = |number: usize, value: u64| {
        // The first of them is the third.
        if let Some(field) = fields.get_mut(number - 3) {
            *field = value.to_string();
        }
    };
    // Of a set only the first 31 signals are shown.
    let shown = |set: SigSet| set.0 & 0x7fff_ffff;
    put(23, sizes.total);
    put(24, sizes.resident / PAGE);
    put(26, layout.code.start);
    put(27, layout.code.end);
    put(28, layout.stack);
    put(32, shown(t.mask));
    put(33, shown(ignored));
    put(34, shown(caught));
    put(45, layout.data.start);
    put(46, layout.data.end);
    put(47, heap.start);
    put(48, layout.args.start);
    put(49, layout.args.end);
    put(50, layout.env.start);
    put(51, layout.env.end);
    if let Some(field) = fields.get_mut(20 - 3)
        && let Ok(count) = field.parse()
    {
        *field = threads(t, count).to_string();
    }
    format!("{} {}\n", &host[..after], fields.join(" "))
}

/// /proc/PID/statm, in pages.
pub(super) fn statm(t: &Thread) -> Vec<u8> {
    let s = Sizes::of(t);
    let [total, resident, file, text, data] =
        [s.total, s.resident, s.resident.saturating_sub(s.anonymous), s.text, s.data + s.stack]
            .map(|bytes| bytes / PAGE);
    format!("{total} {resident} {file} {text} 0 {data} 0\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Format: proc(5).
    #[test]
    fn what_is_resident() {
        let smaps = "120000000-120002000 r--p 00000000 00:00 0 /bin/x\n\
                     Rss:                   8 kB\nAnonymous:             4 kB\n\
                     7f0000000000-7f0000001000 r--p 00000000 00:00 0\n\
                     Rss:                   4 kB\nAnonymous:             4 kB\n";
        assert_eq!(resident(smaps), (8192, 4096));
    }
}
