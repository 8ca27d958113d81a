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
