//! Many threads, many signals, and the memory that they leave.

use std::process::{Command, Stdio};

use crate::support::{TempDir, say};
use crate::{ENGINES, Native, alpha, runner, source, tools};

#[test]
fn many() {
    if tools() {
        Native::of(source("many.c")).compare(&["-O1"], ENGINES);
    }
}

/// SOAK in the environment is how many hundreds of children, if not one.
#[test]
fn forking() {
    if tools() {
        Native::of(source("forking.c")).compare(&["-O1"], ENGINES);
    }
}

/// The most memory that a run takes, in KiB.
#[expect(clippy::zombie_processes, reason = "wait4 waits, and says how much memory it took")]
fn peak(dir: &TempDir, soak: &str) -> i64 {
    let child = Command::new(runner())
        .args(["./many"])
        .current_dir(dir.path(""))
        .envs([("SOAK", soak), ("NOTHING_BUT", "one_by_one")])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut status = 0;
    // SAFETY: zero is a valid rusage; both are ours. `child` isn't waited for elsewhere.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as i32, &mut status, 0, &mut usage), child.id() as i32);
        usage
    };
    assert_eq!(status, 0);
    usage.ru_maxrss
}

/// Threads that have ended leave nothing: with twelve thousand of them axperf takes no more memory than
/// with four. SOAK in the environment is how many thousands, if not that many.
#[test]
fn ended_threads_leave_nothing() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("many.c"), &dir.path("many"), &["-O1"]);
    let thousands = std::env::var("SOAK").unwrap_or_else(|_| "12".into());
    let (few, many) = (peak(&dir, "4"), peak(&dir, &thousands));
    say(format_args!("{few} KiB with four thousand threads, {many} with {thousands}"));
    // A page is more than each may leave, and so are 200 bytes.
    assert!(many - few < 1500, "{few} KiB, {many} KiB");
}
