//! The user's limits are meant for the program, not for what axperf needs itself.

use std::path::Path;
use std::process::Command;

/// With the smallest limit on the size of files a program that writes none runs, translated.
#[test]
fn files_may_be_small() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/guest/demo");
    let out = Command::new("sh")
        .args(["-c", "ulimit -f 1; exec \"$0\" run --no-cache --stats \"$1\""])
        .arg(env!("CARGO_BIN_EXE_axperf"))
        .arg(demo)
        .output()
        .expect("sh runs");
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{:?}: {message}", out.status);
    assert!(message.contains("regions translated"), "{message}");
}

/// What axperf keeps for itself isn't there: that is said, and nothing runs.
#[test]
fn too_few_descriptors() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/guest/demo");
    for (limit, runs) in [(20, false), (71, false), (72, true), (200, true)] {
        let out = Command::new("sh")
            .args(["-c", "ulimit -n $2; exec \"$0\" run --no-cache \"$1\""])
            .arg(env!("CARGO_BIN_EXE_axperf"))
            .arg(&demo)
            .arg(limit.to_string())
            .output()
            .expect("sh runs");
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.success(), runs, "{limit}: {message}");
        assert_eq!(message.contains("open files (ulimit -Hn) is below 72"), !runs, "{message}");
    }
}
