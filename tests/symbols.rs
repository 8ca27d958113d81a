//! Names of addresses, against binutils' nm, readelf and addr2line.

mod support;

use std::collections::BTreeMap;

use axperf::perf::{FileId, Mmap, Record, Task};
use axperf::symbols::{Dso, Session};
use support::{SYSROOT, TempDir, have, have_file, run};

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
__attribute__((noinline)) int weigh(int n) { return n * 7919 % 101; }
int main(int c, char **v) {
    int a[100];
    for (int i = 0; i < 100; i++) a[i] = weigh(i + c);
    qsort(a, 100, sizeof(int), cmp);
    printf("%d %s\n", a[5], strdup(v[0]));
    return 0;
}
"#;

/// `nm`'s functions: address to names.
fn nm(path: &str, dynamic: bool) -> BTreeMap<u64, Vec<String>> {
    let mut args = vec!["--defined-only", path];
    if dynamic {
        args.push("-D");
    }
    let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in run("alpha-linux-gnu-nm", &args).lines() {
        let mut words = line.split_whitespace();
        let (Some(addr), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if "TtWi".contains(kind) {
            let name = name.split('@').next().unwrap_or(name);
            names.entry(u64::from_str_radix(addr, 16).unwrap()).or_default().push(name.to_owned());
        }
    }
    names
}

fn check_against_nm(path: &str, dynamic: bool, least: usize) {
    let dso = Dso::open(path).unwrap();
    let names = nm(path, dynamic);
    let mut checked = 0;
    for (&addr, names) in &names {
        let Some(index) = dso.find(addr) else { continue };
        let symbol = &dso.symbols()[index];
        if symbol.start == addr {
            assert!(
                names.iter().any(|n| n == symbol.raw_name()),
                "{addr:#x}: {symbol:?}, {names:?}"
            );
            checked += 1;
        }
    }
    assert!(checked >= least, "only {checked} of {} symbols", names.len());
}

#[test]
fn names_are_nm_s() {
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-nm")) {
        return;
    }
    let dir = TempDir::new();
    check_against_nm(&dir.compile("prog", PROGRAM, &["-O2"]), false, 8);
    check_against_nm(&dir.compile("static", PROGRAM, &["-O2", "-static"]), false, 800);
    let libc = format!("{SYSROOT}/lib/libc.so.6.1");
    if have_file(&libc) {
        check_against_nm(&libc, true, 1500);
    }
}

/// Every instruction of a static program, against addr2line. Where several names stand at an
/// address, any of nm's is right.
#[test]
fn addresses_resolve_as_addr2line_resolves_them() {
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-addr2line")) {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("static", PROGRAM, &["-O2", "-static"]);
    let (dso, names) = (Dso::open(&path).unwrap(), nm(&path, false));
    let (first, last) = (dso.symbols().first().unwrap(), dso.symbols().last().unwrap());
    let addrs: Vec<u64> = (first.start..last.end).step_by(4 * 97).collect();
    let list: Vec<String> = addrs.iter().map(|a| format!("{a:#x}")).collect();
    let mut args = vec!["-f", "-e", path.as_str()];
    args.extend(list.iter().map(String::as_str));
    let out = run("alpha-linux-gnu-addr2line", &args);
    let functions: Vec<&str> = out.lines().step_by(2).collect();
    assert_eq!(functions.len(), addrs.len());
    let mut agreed = 0;
    for (addr, theirs) in addrs.iter().zip(functions) {
        // addr2line names gaps after the function before them; we don't.
        let Some(index) = dso.find(*addr) else { continue };
        let ours = &dso.symbols()[index];
        if ours.raw_name().starts_with('[') {
            // A function that has no symbol.
            continue;
        }
        let same = ours.raw_name() == theirs
            || names.get(&ours.start).is_some_and(|n| n.iter().any(|n| n == theirs));
        assert!(same, "{addr:#x}: {} against {theirs}", ours.raw_name());
        agreed += 1;
    }
    assert!(agreed * 10 > addrs.len() * 9, "{agreed} of {}", addrs.len());
}

/// Entries of the `.plt` are called by their relocations, in readelf's order.
#[test]
fn plt_entries_have_names() {
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-readelf")) {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("prog", PROGRAM, &["-O2"]);
    let relocations = run("alpha-linux-gnu-readelf", &["-rW", &path]);
    let want: Vec<String> = relocations
        .lines()
        .filter(|l| l.contains("R_ALPHA_JMP_SLOT"))
        .map(|l| {
            l.split_whitespace().nth(4).unwrap().split('@').next().unwrap().to_owned() + "@plt"
        })
        .collect();
    assert!(want.contains(&"qsort@plt".to_owned()));
    let dso = Dso::open(&path).unwrap();
    let plt: Vec<&str> =
        dso.symbols().iter().map(|s| s.raw_name()).filter(|n| n.ends_with("@plt")).collect();
    assert_eq!(plt, want);
    let sections = run("alpha-linux-gnu-readelf", &["-SW", &path]);
    let line = sections.lines().find(|l| l.contains(" .plt ")).unwrap();
    let addr = line.split_whitespace().find(|w| w.len() == 16).unwrap();
    let addr = u64::from_str_radix(addr, 16).unwrap();
    // The first entry comes after nine instructions.
    assert_eq!(dso.symbols()[dso.find(addr + 36).unwrap()].raw_name(), want[0]);
}

/// Alpha's segments are aligned to 64 KiB: address - start + pgoff is the offset in the file, and
/// its program headers give the file's own address for that.
#[test]
fn mappings_lead_to_the_file_s_addresses() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("lib.so", PROGRAM, &["-O2", "-shared", "-fPIC"]);
    let exe = dir.compile("prog", PROGRAM, &["-O2"]);
    for (path, start) in [(&path, 0x200_0012_0000), (&exe, 0x1_2000_0000)] {
        let dso = Dso::open(path).unwrap();
        let weigh = dso.symbols().iter().find(|s| s.raw_name() == "weigh").unwrap();
        let bias = if start == 0x1_2000_0000 { 0 } else { start };
        let mmap = Mmap {
            pid: 5,
            tid: 5,
            addr: start,
            len: 0x10000,
            pgoff: 0,
            file: FileId::build_id(dso.build_id()),
            prot: 5,
            flags: 2,
            name: path.as_bytes(),
        };
        // The same file twice: whole, and by a mapping that starts in its middle.
        let page = (weigh.start - dso.address_of(0).unwrap()) & !0x1fff;
        let middle = Mmap { addr: 0x300_0000_0000, len: 0x2000, pgoff: page, ..mmap };
        let mut session = Session::new();
        session.apply(&Record::Mmap(mmap));
        session.apply(&Record::Mmap(middle));
        session.apply(&Record::Comm { pid: 5, tid: 5, exec: false, name: b"prog" });
        session.apply(&Record::Fork(Task { pid: 6, ppid: 5, tid: 6, ptid: 5, time: 0 }));
        let offset = weigh.start + 8 - dso.address_of(0).unwrap();
        for pid in [5, 6] {
            for addr in [weigh.start + 8 + bias, 0x300_0000_0000 + offset - page] {
                let place = session.resolve(pid, addr);
                assert_eq!(session.symbol(&place).map(|s| s.name()), Some("weigh"), "{addr:#x}");
                assert_eq!(place.address, weigh.start + 8);
                assert_eq!(session.dso_name(&place), Some(path.as_str()));
            }
        }
        assert_eq!(session.comm(6), Some("prog"));
        assert!(session.symbol(&session.resolve(7, weigh.start + bias)).is_none());
        assert_eq!(session.problems().count(), 0);

        // Another build id: not this file.
        let mut session = Session::new();
        session.apply(&Record::Mmap(Mmap { file: FileId::build_id(&[1; 20]), ..mmap }));
        assert!(session.symbol(&session.resolve(5, weigh.start + bias)).is_none());
        let problem = session.problems().next().unwrap();
        assert!(problem.contains("its build id differs"), "{problem}");

        // An exec leaves nothing of the old mappings.
        session.apply(&Record::Comm { pid: 5, tid: 5, exec: true, name: b"other" });
        assert_eq!(session.dso_name(&session.resolve(5, weigh.start + bias)), None);
    }
}

/// The build id is the one that readelf shows.
#[test]
fn build_ids() {
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-readelf")) {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("prog", PROGRAM, &[]);
    let notes = run("alpha-linux-gnu-readelf", &["-nW", &path]);
    let want = notes.split("Build ID: ").nth(1).unwrap().split_whitespace().next().unwrap();
    let got: String =
        Dso::open(&path).unwrap().build_id().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(got, want);
}

/// Damaged files are errors, or have fewer symbols; nothing else happens.
#[test]
fn damaged_files_are_harmless() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("prog", PROGRAM, &["-O2"]);
    let good = std::fs::read(&path).unwrap();
    let try_all = |bytes: &[u8]| {
        if let Ok(dso) = Dso::parse("x", bytes) {
            for addr in [0, 1, 0x1_2000_0490, 0x1_2000_0600, u64::MAX] {
                let _ = (dso.find(addr), dso.address_of(addr));
            }
            let _ = dso.symbols().iter().map(|s| s.name().len()).sum::<usize>();
        }
    };
    for end in (0..good.len()).step_by(37) {
        try_all(&good[..end]);
    }
    let mut seed = 1u64;
    for _ in 0..3000 {
        let mut bad = good.clone();
        for _ in 0..4 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Half of the hits in the headers at both ends, where they matter most.
            let at = (seed >> 33) as usize % good.len();
            let at = if seed & 1 == 0 { at % 0x300 } else { good.len() - 1 - at % 0x800 };
            bad[at] = [0, 0xff, 0x80, (seed >> 24) as u8][(seed >> 2) as usize % 4];
        }
        try_all(&bad);
    }
    assert!(Dso::parse("x", b"no elf").unwrap_err().to_string().contains("no 64-bit ELF file"));
}
