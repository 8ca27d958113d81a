//! What is outside of a program's memory stays there.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::support::TempDir;
use crate::{ENGINES, alpha, runner, source, tools};

/// Addresses of each kind of the host's memory, by the text of the emulator's maps; and those that no
/// user has.
fn addresses(maps: &str) -> Vec<(String, u64)> {
    const TASK_SIZE: u64 = 1 << 42;
    let mut list: Vec<(String, u64)> = [
        ("end", TASK_SIZE),
        ("guard", TASK_SIZE + 0x8000),
        ("beyond", TASK_SIZE + 0x10000),
        ("canonical", 0x7fff_ffff_fff8),
        ("non-canonical", 0x8000_0000_0000),
        ("high", 0x0100_0000_0000_0000),
        ("alpha-kernel", 0xffff_fc00_0000_0000),
        ("kernel", 0xffff_8000_0000_0000),
        ("vsyscall", 0xffff_ffff_ff60_0000),
        ("last", u64::MAX - 7),
    ]
    .map(|(name, addr)| (name.to_owned(), addr))
    .to_vec();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, access) = (words.next().expect(line), words.next().expect(line));
        let what = words.nth(3).unwrap_or("anonymous").rsplit('/').next().unwrap_or_default();
        let start = u64::from_str_radix(range.split('-').next().expect(line), 16).expect(line);
        let name = format!("{what}-{access}");
        if start >= TASK_SIZE && !list.iter().any(|(n, _)| *n == name) {
            list.push((name, start));
        }
    }
    list
}

#[test]
fn the_hosts_memory_is_out_of_reach() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("outside.c"), &dir.path("outside"), &[]);
    for options in ENGINES {
        let mut child = Command::new(runner())
            .args(*options)
            .arg("./outside")
            .current_dir(dir.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("maps");
        let list = addresses(&maps);
        // Code, data, heap and stack of the emulator, its translations, the host's kernel's pages.
        for kind in
            ["alpha-run-r-xp", "alpha-run-rw-p", "[heap]-rw-p", "[stack]-rw-p", "[vdso]-r-xp"]
        {
            assert!(list.iter().any(|(name, _)| name == kind), "{kind}: {maps}");
        }
        let is_arena = |(name, _): &&(String, u64)| name.contains("-r-xs");
        assert!(options.contains(&"-i") || list.iter().find(is_arena).is_some(), "{maps}");
        let mut input = child.stdin.take().expect("a pipe");
        for (name, addr) in &list {
            writeln!(input, "{} {addr:x}", name.replace(' ', "_")).expect("it reads");
        }
        drop(input);
        let mut got = String::new();
        said.read_to_string(&mut got).expect("text");
        let want: String =
            list.iter().map(|(name, _)| format!("{name}: 17 of 17, 22 errors\n")).collect();
        assert_eq!(got, want, "{options:?}");
        assert!(child.wait().expect("it ends").success());
    }
}
