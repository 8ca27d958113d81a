//! Recordings of both engines: the same samples, byte for byte.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use axperf::export::perf_data::{PerfData, RecordKind};
use support::{SYSROOT, TempDir, have, have_file, run};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Address, period, registers, call chain and stack of a sample.
type Fields = (Option<u64>, Option<u64>, Vec<u64>, Vec<u64>, Option<Vec<u8>>);

/// Records a program; all of each sample but process, thread and time.
fn samples(dir: &TempDir, program: &Path, engine: &[&str], options: &[&str]) -> Vec<Fields> {
    let data = dir.path("perf.data");
    let out = Command::new(env!("CARGO_BIN_EXE_axperf"))
        .env("AXPERF_CACHE_DIR", "")
        .args(["record", "--seed", "1", "-o"])
        .arg(&data)
        .args(engine)
        .args(options)
        .arg("--")
        .arg(program)
        .output()
        .expect("axperf runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let data = PerfData::open(&data).expect("a recording");
    let mut list = Vec::new();
    for record in data.records() {
        if let RecordKind::Sample(s) = record.expect("a record").kind {
            let regs: Vec<u64> = s.user_regs.iter().flat_map(|r| r.iter()).map(|r| r.1).collect();
            let chain: Vec<u64> = s.callchain.iter().flat_map(|c| c.iter()).collect();
            list.push((s.ip, s.period, regs, chain, s.user_stack.map(<[u8]>::to_vec)));
        }
    }
    list
}

fn same(dir: &TempDir, program: &Path, least: usize) {
    for options in [
        &["-c", "997", "--user-regs", "sp,pc,ra"][..],
        &["-c", "100003", "-g", "--user-regs", "ext", "--stack-size", "1024"],
    ] {
        let interp = samples(dir, program, &["--engine", "interp"], options);
        assert!(interp.len() >= least, "{} samples of {}", interp.len(), program.display());
        // The last one runs what the one before it has translated.
        let kept = dir.path(&format!("kept{}", options.len()));
        let kept = ["--cache-dir", kept.to_str().expect("text")];
        for engine in [&["--no-background"][..], &[], &kept, &kept] {
            let jit = samples(dir, program, engine, options);
            let name = format!("{} {options:?} {engine:?}", program.display());
            assert_eq!(interp.len(), jit.len(), "{name}");
            for (i, (a, b)) in interp.iter().zip(&jit).enumerate() {
                assert!(a == b, "sample {i} of {name}\n{a:x?}\n{b:x?}");
            }
        }
    }
}

/// The guest that the repository carries.
#[test]
fn demo() {
    same(&TempDir::new(), &here("../examples/guest/demo"), 2000);
}

/// A program with a C library, linked when it starts.
#[test]
fn glibc_program() {
    if !have("alpha-linux-gnu-gcc") || !have_file(SYSROOT) {
        return;
    }
    let dir = TempDir::new();
    let binary = dir.path("qsort");
    let source = here("../tests/programs/qsort.c");
    let (source, out) = (source.to_str().expect("text"), binary.to_str().expect("text"));
    run("alpha-linux-gnu-gcc", &["-O2", source, "-o", out]);
    same(&dir, &binary, 1);
}

/// What a run says at its end, and what the program prints.
fn stats(dir: &Path) -> (String, Vec<u8>) {
    let out = Command::new(env!("CARGO_BIN_EXE_axperf"))
        .args(["run", "--stats", "--verbose", "--cache-dir"])
        .arg(dir)
        .arg(here("../examples/guest/demo"))
        .output()
        .expect("axperf runs");
    assert!(out.status.success(), "{out:?}");
    (String::from_utf8_lossy(&out.stderr).into_owned(), out.stdout)
}

/// A second run has the translations of the first; a damaged file is told of, not used, and replaced.
#[test]
fn translations_are_kept() {
    let dir = TempDir::new();
    let kept = dir.path("a/b");
    let (first, printed) = stats(&kept);
    assert!(!first.contains("from an earlier run"), "{first}");
    let recalled = || {
        let (said, again) = stats(&kept);
        assert_eq!(printed, again, "{said}");
        let line = said.lines().find(|l| l.contains("regions from an earlier run"));
        (line.is_some(), said.contains("damaged"))
    };
    assert_eq!(recalled(), (true, false));
    let files = std::fs::read_dir(&kept).expect("a directory").map(|e| e.expect("a file").path());
    for file in files {
        let mut bytes = std::fs::read(&file).expect("a file");
        let half = bytes.len() / 2;
        bytes.truncate(half);
        std::fs::write(&file, bytes).expect("a file");
    }
    assert_eq!(recalled(), (false, true));
    assert_eq!(recalled(), (true, false));
}
