//! Code that changes, moves or is taken away, in one thread and in many.

use crate::support::TempDir;
use crate::{ENGINES, Native, alpha, run_alpha, source, text, tools};

/// Code that a program makes, in memory of every kind.
#[test]
fn new_code() {
    if tools() {
        Native::of(source("newcode.c")).compare(&["-O1"], ENGINES);
    }
}

/// Threads, forks, faults and signals at once.
#[test]
fn storm() {
    if tools() {
        Native::of(source("storm.c")).compare(&["-O1"], ENGINES);
    }
}

/// Code that another thread takes away while it runs. qemu-alpha prints the same.
#[test]
fn code_that_goes_away() {
    if !tools() {
        return;
    }
    let lines =
        ["unmapped: 11 code 1", "read only: 11 code 2", "nothing: 11 code 2", "over: 4 code 1"];
    let there = lines.map(|l| format!("{l}, there, same\n").repeat(3)).concat();
    let want = there + &"its own: 11 code 1, 8\n".repeat(3);
    let dir = TempDir::new();
    alpha(&source("gone.c"), &dir.path("gone"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "gone", options, &[]);
        assert_eq!(text(&got.stdout), want, "{options:?}: {}", text(&got.stderr));
    }
}

/// After IMB the new code runs, whoever changed it.
#[test]
fn changed_code() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("patch.c"), &dir.path("patch"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "patch", options, &[]);
        assert_eq!(text(&got.stdout), "stale 0\nwrong 0\n", "{options:?}: {}", text(&got.stderr));
    }
}
