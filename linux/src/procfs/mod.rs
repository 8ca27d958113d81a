//! Files of /proc that tell of the process: what the guest's kernel would show, not the host's.

mod mem;
mod status;

pub(crate) use mem::{memory_file, opened_memory};

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use axperf::{Bus, Cpu};

use crate::layout::TASK_SIZE;
use crate::mm::{Backing, Vma};
use crate::path::Sysroot;
use crate::perf_event;
use crate::process::Shared;
use crate::thread::Thread;

/// The files here that the host's would be wrong for, by the last part of their names.
pub(crate) const NAMES: &[&[u8]] = &[
    b"auxv", b"cmdline", b"cpuinfo", b"environ", b"exe", b"maps", b"mem", b"smaps", b"stat",
    b"statm", b"status",
];

/// Whose directory of /proc a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The calling process's, and of one of its threads.
    Own(i32),
    /// Another process's.
    Other(i32),
}

/// Whose file of which name in /proc a path is.
pub(crate) fn find<'a>(t: &Thread, path: &'a [u8]) -> Option<(Whose, &'a [u8])> {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i32>().ok();
    let split = |text: &'a [u8]| -> Option<(&'a [u8], &'a [u8])> {
        let slash = text.iter().position(|b| *b == b'/')?;
        Some((&text[..slash], &text[slash + 1..]))
    };
    let (who, mut file) = split(path.strip_prefix(b"/proc/")?)?;
    let mut whose = match who {
        b"self" => Whose::Own(t.ids.pid),
        b"thread-self" => Whose::Own(t.ids.tid),
        _ => match number(who)? {
            pid if pid == t.ids.pid => Whose::Own(pid),
            pid => Whose::Other(pid),
        },
    };
    if let Some(rest) = file.strip_prefix(b"task/")
        && let Some((tid, name)) = split(rest)
        && let (Whose::Own(_), Some(tid)) = (whose, number(tid))
        && fs::exists(format!("/proc/self/task/{tid}")).unwrap_or(false)
    {
        (whose, file) = (Whose::Own(tid), name);
    }
    Some((whose, file))
}

/// Whether another process is axperf too: its memory below 2^42 is a guest's.
fn is_guest(pid: i32) -> bool {
    let identity = |path: String| fs::metadata(path).map(|m| (m.dev(), m.ino()));
    match (identity("/proc/self/exe".into()), identity(format!("/proc/{pid}/exe"))) {
        (Ok(own), Ok(its)) => own == its,
        _ => false,
    }
}

/// The content of the file at `path`, if it is one that the host's would be wrong for.
pub(crate) fn content(t: &Thread, path: &[u8]) -> Option<Vec<u8>> {
    let shared = &t.shared;
    if path == b"/proc/cpuinfo" {
        return Some(cpuinfo(shared.engine.cpu(), shared.unaligned_accesses()).into_bytes());
    }
    if let Some(content) = perf_event::content(t, path) {
        return Some(content);
    }
    let host = || fs::read(OsStr::from_bytes(path)).ok();
    let (whose, name) = find(t, path)?;
    let Whose::Own(tid) = whose else {
        // What the host knows of another guest, without its emulator.
        let Whose::Other(pid) = whose else { return None };
        return match name {
            b"maps" | b"smaps" if is_guest(pid) => Some(guests_part(&host()?)),
            _ => None,
        };
    };
    match name {
        b"status" => Some(status::status(t, tid, &String::from_utf8_lossy(&host()?)).into_bytes()),
        b"stat" => Some(status::stat(t, &String::from_utf8_lossy(&host()?)).into_bytes()),
        b"statm" => Some(status::statm(t)),
        _ => of_process(shared, name),
    }
}

/// Likewise, of the files in the process's own directory that tell of all its threads.
pub(crate) fn of_process(shared: &Shared, name: &[u8]) -> Option<Vec<u8>> {
    match name {
        b"maps" => {
            let table = shared.space.table();
            Some(table.iter().flat_map(|v| maps_line(v, &shared.config.sysroot)).collect())
        }
        b"smaps" => Some(guests_part(&fs::read("/proc/self/smaps").ok()?)),
        b"auxv" => Some(shared.running().auxv.clone()),
        b"cmdline" => Some(strings(shared, shared.running().layout.args.clone())),
        b"environ" => Some(strings(shared, shared.running().layout.env.clone())),
        _ => None,
    }
}

/// The strings of a program. It may have unmapped its stack: then there is nothing to show.
fn strings(shared: &Shared, range: std::ops::Range<u64>) -> Vec<u8> {
    let mut text = vec![0; (range.end - range.start) as usize];
    match shared.space.read(range.start, &mut text) {
        Ok(()) => text,
        Err(_) => Vec::new(),
    }
}

/// The part of the text of maps or smaps that tells of memory below 2^42.
fn guests_part(text: &[u8]) -> Vec<u8> {
    let mut keep = false;
    let lines = text.split_inclusive(|b| *b == b'\n').filter(|line| {
        if let Some(start) = start_of_mapping(line) {
            keep = start < TASK_SIZE;
        }
        keep
    });
    lines.flatten().copied().collect()
}

/// Where a mapping starts, if a line of maps or smaps is the first of one.
fn start_of_mapping(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|b| *b == b'-')?;
    u64::from_str_radix(std::str::from_utf8(&line[..end]).ok()?, 16).ok()
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
    fn the_guests_part_of_maps() {
        let guests = "120000000-120002000 r--p 00000000 00:00 0 /bin/x\nRss: 8 kB\n";
        let hosts = "7f0000000000-7f0000001000 r--p 00000000 00:00 0\nRss: 4 kB\n";
        assert_eq!(guests_part(format!("{guests}{hosts}").as_bytes()), guests.as_bytes());
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
