//! Rows of CFI against those that readelf shows.

use gimli::UnwindContext;

use super::module::{Found, Module};
use super::rule::{Reg, Rule};

#[path = "../../tests/support/mod.rs"]
mod support;
use support::{SYSROOT, TempDir, have, have_file, run};

/// Columns of a table of `readelf -wF`, as far as unwinding follows them.
fn column(name: &str) -> Option<Reg> {
    Some(match name {
        "r15" => Reg::R15,
        "r16" => Reg::R16,
        "r23" => Reg::R23,
        "r26" => Reg::R26,
        "r30" => Reg::Sp,
        _ => return None,
    })
}

/// Compares every row that readelf shows; how many rows, return addresses among them that are
/// saved, and FDEs of signal trampolines.
fn compare(path: &str) -> (usize, usize, usize) {
    let module = Module::open(path).unwrap();
    let mut context = UnwindContext::new();
    let text = run("alpha-linux-gnu-readelf", &["-wF", path]);
    let (mut rows, mut saved, mut signals) = (0, 0, 0);
    // The number that a CIE's line gives for the return address, by the CIE's offset.
    let mut cies = std::collections::HashMap::new();
    let (mut ra, mut signal, mut columns) = (0, false, Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.get(3) == Some(&"CIE") {
            let ra: u16 = words[7].strip_prefix("ra=").unwrap().parse().unwrap();
            cies.insert(words[0].to_owned(), (ra, words[4].contains('S')));
            columns.clear();
        } else if words.get(3) == Some(&"FDE") {
            let cie = words[4].strip_prefix("cie=").unwrap();
            (ra, signal) = cies[cie];
            signals += usize::from(signal);
            columns = vec![];
        } else if words.first() == Some(&"LOC") {
            // Before the first FDE's table comes the CIE's own, which starts at 0.
            columns = words[2..].iter().map(|w| (*w).to_owned()).collect();
        } else if !columns.is_empty() && words.first().is_some_and(|w| w.len() == 16) {
            let at = u64::from_str_radix(words[0], 16).unwrap();
            if at == 0 {
                continue;
            }
            let Found::Row(row) = module.find(at, &mut context) else {
                panic!("{path}: {at:#x}: no row for {line}")
            };
            rows += 1;
            assert_eq!(row.signal, signal, "{path}: {at:#x}");
            let (base, offset) = words[1].split_once(['+', '-']).unwrap();
            let offset: i64 = offset.parse().unwrap();
            match row.cfa {
                Some((reg, n)) => assert_eq!((column(base), n), (Some(reg), offset), "{line}"),
                None => assert_eq!(column(base), None, "{path}: {line}"),
            }
            for (name, value) in columns.iter().zip(&words[2..]) {
                let ours = match (name.as_str(), column(name)) {
                    ("ra", _) => row.ra,
                    (_, Some(Reg::R15)) => row.r15,
                    (_, Some(Reg::R16)) => row.r16,
                    (_, Some(Reg::R23)) => row.r23,
                    (_, Some(Reg::R26)) => row.r26,
                    (_, Some(Reg::Sp)) => row.sp,
                    _ => continue,
                };
                match value.strip_prefix('c') {
                    Some(n) => {
                        assert_eq!(ours, Rule::At(n.parse().unwrap()), "{path}: {line}: {name}");
                        saved += usize::from(name == "ra");
                    }
                    // In some other register, as once in libc: that isn't followed.
                    None if value.starts_with('r') => assert_eq!(ours, Rule::Unknown, "{line}"),
                    // readelf's u is both: undefined, and nothing said.
                    None => assert!(
                        matches!(ours, Rule::Undefined | Rule::Reg(_) | Rule::Cfa(0)),
                        "{path}: {line}: {name} is {ours:?}"
                    ),
                }
            }
            if !columns.iter().any(|c| c == "ra") && ra != 64 {
                assert_eq!(
                    row.ra,
                    Rule::Reg([Reg::R23, Reg::R26][usize::from(ra == 26)]),
                    "{line}"
                );
            }
        }
    }
    (rows, saved, signals)
}

#[test]
fn rows_are_readelf_s() {
    if !have("alpha-linux-gnu-readelf") {
        return;
    }
    for (name, least) in [("ld-linux.so.2", 500), ("libc.so.6.1", 10_000), ("libgcc_s.so.1", 200)] {
        let path = format!("{SYSROOT}/lib/{name}");
        if have_file(&path) {
            let (rows, saved, signals) = compare(&path);
            assert!(rows >= least && saved * 10 > rows, "{name}: {rows} rows, {saved} saved");
            assert_eq!(signals > 0, name != "libgcc_s.so.1", "{name}");
        }
    }
}

const PROGRAM: &str = "
int g(int);
int f(int n) { volatile int a[n]; a[n / 2] = 1; return g(n) + a[0]; }
int main(int c, char **v) { return f(c) + g(c); }
int g(int n) { return n > 1 ? f(n - 1) / n : 1; }
";

/// Where the file has no table for a search, one is made; and `.debug_frame` serves where there is
/// no `.eh_frame`.
#[test]
fn sections_are_found_by_table_and_without() {
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-readelf")) {
        return;
    }
    let dir = TempDir::new();
    for (name, flags) in [
        ("table", &["-O1"][..]),
        ("no-table", &["-O1", "-Wl,--no-eh-frame-hdr"]),
        ("debug", &["-O1", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]),
    ] {
        let path = dir.compile(name, PROGRAM, flags);
        let (rows, saved, _) = compare(&path);
        assert!(rows > 10 && saved > 3, "{name}: {rows} rows, {saved} saved");
    }
}

/// Damaged files give other rows or none, and no panic.
#[test]
fn damaged_files_are_harmless() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = dir.compile("prog", PROGRAM, &["-O1"]);
    let good = std::fs::read(&path).unwrap();
    let mut context = UnwindContext::new();
    let mut seed = 1u64;
    for _ in 0..4000 {
        let mut bad = good.clone();
        for _ in 0..4 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // The headers, and the part with the sections.
            let at = (seed >> 33) as usize % 0xa00;
            bad[at] = [0, 0xff, 0x80, (seed >> 24) as u8][(seed >> 2) as usize % 4];
        }
        let Ok(module) = Module::parse("x", bad.into()) else { continue };
        for addr in (0x1_2000_0400..0x1_2000_0900).step_by(16).chain([0, u64::MAX]) {
            let _ =
                (module.find(addr, &mut context), module.guess(addr), module.is_after_call(addr));
        }
    }
}
