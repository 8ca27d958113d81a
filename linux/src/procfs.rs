//! Files of /proc that tell of the process: what the guest's kernel would show, not the host's.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use axperf::{Bus, Cpu};

use crate::mm::{Backing, Vma};
use crate::path::Sysroot;
use crate::perf_event;
use crate::thread::Thread;

/// The content of the file at `path`, if it is one that the host's would be wrong for.
pub(crate) fn content(t: &Thread, path: &[u8]) -> Option<Vec<u8>> {
    if path == b"/proc/cpuinfo" {
        let shared = &t.shared;
        return Some(cpuinfo(shared.engine.cpu(), shared.unaligned_accesses()).into_bytes());
    }
    if let Some(content) = perf_event::content(t, path) {
        return Some(content);
    }
    let shared = &t.shared;
    match t.own_proc_file(path)? {
        b"maps" => {
            let table = shared.space.table();
            Some(table.iter().flat_map(|v| maps_line(v, &shared.config.sysroot)).collect())
        }
        b"auxv" => Some(shared.running().auxv.clone()),
        b"cmdline" => {
            let args = shared.running().args.clone();
            let mut text = vec![0; (args.end - args.start) as usize];
            // The program may have unmapped its stack: then there is nothing to show.
            let read = shared.space.read(args.start, &mut text);
            Some(if read.is_ok() { text } else { Vec::new() })
        }
        b"status" | b"stat" => {
            // One of the threads isn't the program's.
            shared.engine.background_thread()?;
            let text = std::fs::read(std::ffi::OsStr::from_bytes(path)).ok()?;
            Some(with_a_thread_less(text))
        }
        _ => None,
    }
}

/// /proc/PID/status or stat with the number of threads less one.
fn with_a_thread_less(text: Vec<u8>) -> Vec<u8> {
    let less = |n: &str| n.trim().parse::<u64>().ok().map(|n| n.saturating_sub(1).to_string());
    let Ok(text) = String::from_utf8(text) else { return Vec::new() };
    if text.contains("\nThreads:") {
        let line = |l: &str| match l.strip_prefix("Threads:").and_then(less) {
            Some(n) => format!("Threads:\t{n}\n"),
            None => l.to_owned(),
        };
        return text.split_inclusive('\n').map(line).collect::<String>().into_bytes();
    }
    // The 20th field; the second, the name in parentheses, may have spaces in it.
    let after = text.rfind(')').map_or(0, |i| i + 1);
    let mut fields: Vec<String> = text[after..].split(' ').map(str::to_owned).collect();
    if let Some(field) = fields.get_mut(18)
        && let Some(n) = less(field)
    {
        *field = n;
    }
    (text[..after].to_owned() + &fields.join(" ")).into_bytes()
}

/// A line of /proc/PID/maps.
fn maps_line(v: &Vma, sysroot: &Sysroot) -> Vec<u8> {
    let segment;
    let (offset, device, inode, name) = match &v.backing {
        // Linux shows the segment's key, and its id for an inode.
        Backing::Shm(id, offset) => {
            segment = format!("/SYSV{id:08x}");
            (*offset, 0, *id as u64, segment.as_bytes())
        }
        Backing::Anonymous => (0, 0, 0, &b""[..]),
        Backing::Named(name) => (0, 0, 0, name.as_bytes()),
        Backing::File(file, offset) => {
            (*offset, file.device, file.inode, sysroot.guest(&file.path))
        }
    };
    let flag = |on: bool, c: char| if on { c } else { '-' };
    let mut line = format!(
        "{:08x}-{:08x} {}{}{}{} {:08x} {:02x}:{:02x} {} ",
        v.start,
        v.end,
        flag(v.prot.read(), 'r'),
        flag(v.prot.write(), 'w'),
        flag(v.prot.execute(), 'x'),
        if v.shared { 's' } else { 'p' },
        offset,
        libc::major(device),
        libc::minor(device),
        inode,
    );
    let mut line = if name.is_empty() {
        line.into_bytes()
    } else {
        while line.len() < 73 {
            line.push(' ');
        }
        [line.as_bytes(), name].concat()
    };
    line.push(b'\n');
    line
}

/// /proc/cpuinfo.
fn cpuinfo(cpu: Cpu, unaligned: u64) -> String {
    // SAFETY: sysconf has no preconditions.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1);
    let rows = [
        ("cpu", "Alpha".to_owned()),
        ("cpu model", cpu.name().to_uppercase()),
        ("cpu variation", "7".to_owned()),
        ("cpu revision", "0".to_owned()),
        ("system type", "axperf".to_owned()),
        ("page size [bytes]", "8192".to_owned()),
        ("phys. address bits", "44".to_owned()),
        ("max. addr. space #", "255".to_owned()),
        ("kernel unaligned acc", "0 (pc=0,va=0)".to_owned()),
        ("user unaligned acc", format!("{unaligned} (pc=0,va=0)")),
        ("platform string", "N/A".to_owned()),
        ("cpus detected", online.to_string()),
        ("cpus active", online.to_string()),
        ("L1 Icache", "64K, 2-way, 64b line".to_owned()),
        ("L1 Dcache", "64K, 2-way, 64b line".to_owned()),
        ("L2 cache", "4096K, 1-way, 64b line".to_owned()),
        ("L3 cache", "n/a".to_owned()),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        writeln!(text, "{name:<24}: {value}").expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mm::Prot;

    /// Format: proc(5).
    #[test]
    fn threads() {
        let status = b"Name:\tx\nThreads:\t3\nSigQ:\t0/9\n".to_vec();
        assert_eq!(with_a_thread_less(status), b"Name:\tx\nThreads:\t2\nSigQ:\t0/9\n");
        let stat = b"7 (a b) 2) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 3 18 19\n".to_vec();
        let want = b"7 (a b) 2) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 2 18 19\n";
        assert_eq!(with_a_thread_less(stat), want);
    }

    /// Format: proc(5).
    #[test]
    fn a_line_of_maps() {
        let v = Vma {
            start: 0x1_2000_0000,
            end: 0x1_2000_2000,
            prot: Prot::from_bits(5),
            shared: false,
            backing: Backing::Named("[heap]"),
        };
        let line = maps_line(&v, &Sysroot::default());
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "120000000-120002000 r-xp 00000000 00:00 0                                [heap]\n"
        );
    }
}
