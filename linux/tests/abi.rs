//! Numbers against the C library's names for them, on either architecture.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use axperf_linux::{Errno, Signal};
use support::{SYSROOT, TempDir, have, have_file, run};

/// Prints every error number and signal with its name.
const NAMES: &str = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <string.h>\n\
    int main(void) { for (int i = 1; i < 256; i++) {\n\
    if (strerrorname_np(i)) printf(\"error %s %d\\n\", strerrorname_np(i), i);\n\
    if (sigabbrev_np(i)) printf(\"signal %s %d\\n\", sigabbrev_np(i), i); } return 0; }";

/// What a program of that text says: number by kind and name.
fn names(program: &mut Command) -> BTreeMap<String, i32> {
    let out = program.output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|line| {
            let (name, number) = line.rsplit_once(' ').expect("a name and a number");
            (name.to_owned(), number.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn numbers_are_those_of_the_c_library() {
    if !["cc", "alpha-linux-gnu-gcc"].into_iter().all(have) || !have_file(SYSROOT) {
        return;
    }
    let dir = TempDir::new();
    let alpha = dir.compile("names", NAMES, &[]);
    let native = dir.text("native");
    run("cc", &[&format!("{alpha}.c"), "-o", &native]);
    let test = std::env::current_exe().expect("this test's path");
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps");
    let there = names(Command::new(profile.join("examples/alpha-run")).args(["-i", &alpha]));
    let here = names(&mut Command::new(native));
    assert!(there.len() > 150, "{there:?}");
    for (name, guest) in &there {
        let Some(host) = here.get(name) else {
            // Alpha's names for what the host's C library has others.
            assert!(name == "signal EMT" || name == "signal INFO", "{name} is missing here");
            continue;
        };
        if name.starts_with("error") {
            assert_eq!(Errno(*host).guest(), *guest as u64, "{name}");
        } else {
            assert_eq!(Signal::from_host(*host).map(Signal::number), Some(*guest as u8), "{name}");
        }
    }
}
