//! Events other than instructions: what `record` and `stat` make of them.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::process::{Command, Output};

use support::{SYSROOT, TempDir, have, have_file};

/// Waits three times, executes four million rounds of a loop, makes ten accesses that aren't aligned.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    struct timespec t = { 0, 2000000 };
    static char bytes[64] __attribute__((aligned(8)));
    long rounds = 4000000;
    for (int i = 0; i < 3; i++) syscall(SYS_nanosleep, &t, 0);
    for (int i = 0; i < 10; i++)
        __asm__ volatile("ldq $1,1(%0)" :: "r"(bytes) : "$1");
    __asm__ volatile("1: subq %0,1,%0\n\tbne %0,1b" : "+r"(rounds));
    return 0;
}
"#;

fn program(dir: &TempDir) -> Option<String> {
    if !(have("alpha-linux-gnu-gcc") && have_file(&format!("{SYSROOT}/lib/libc.so.6.1"))) {
        return None;
    }
    Some(dir.compile("waits", PROGRAM, &["-O1"]))
}

fn axperf(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_axperf")).args(args).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {}: {said}", output.status);
    output
}

fn script(data: &str, fields: &str) -> Vec<String> {
    let output = axperf(&["script", "-i", data, "-F", fields]);
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The command that a reviewer of the register patch ran. Linux with the posted patch showed
/// `ABI:2 sp:0xfffffc000002bb80 pc:0x0` for each switch (fact R17); `--kernel-exact` does. Without,
/// pc and sp are those of the switch in the kernel's frame.
#[test]
fn switches_have_registers() {
    let dir = TempDir::new();
    let Some(program) = program(&dir) else { return };
    let data = dir.text("switches.data");
    let record = |more: &[&str]| {
        let mut args = vec!["record", "-e", "context-switches", "-c", "1", "-Isp,pc", "-o", &data];
        args.extend(more);
        args.push(&program);
        axperf(&args);
        script(&data, "event,ip,iregs")
    };
    let lines = record(&[]);
    assert!(lines.len() >= 3, "{lines:?}");
    for line in &lines {
        let (ip, regs) = line
            .strip_prefix("context-switches: ")
            .and_then(|l| l.split_once(" ABI:2 sp:0x"))
            .expect(line);
        let (sp, pc) = regs.split_once(" pc:0x").expect(line);
        let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
        assert_eq!(number(ip), number(pc), "{line}");
        assert!(number(pc) >> 40 == 0xff_fffc && number(sp) >> 40 == 0xff_fffc, "{line}");
        // Within a kernel stack of 16 KiB, below the user's frame of 240 bytes at its top.
        assert!(number(sp) % 16384 < 16384 - 240 && number(sp) % 16 == 0, "{line}");
    }
    for line in record(&["--kernel-exact"]) {
        let cpu_0 = line.replacen(|c: char| c.is_ascii_digit(), "#", 0);
        assert!(cpu_0.starts_with("context-switches: 0 ABI:2 sp:0xfffffc0000"), "{line}");
        assert!(cpu_0.ends_with("bb80 pc:0x0"), "{line}");
    }
}

/// Counts, as `perf stat` prints them. Three waits, ten unaligned loads, four million rounds of two
/// instructions each, by the program's source.
#[test]
fn counts_are_shown() {
    let dir = TempDir::new();
    let Some(program) = program(&dir) else { return };
    let events = "instructions,{cycles:u,task-clock},cs,alignment-faults,dummy,instructions:k";
    let said = String::from_utf8(axperf(&["stat", "-e", events, &program]).stderr).expect("text");
    let count = |name: &str| -> f64 {
        let line = said.lines().find(|l| l.split_whitespace().any(|w| w == name)).expect(&said);
        line.split_whitespace().next().and_then(|n| n.parse().ok()).expect(line)
    };
    assert!(said.contains(&format!("Performance counter stats for '{program}'")), "{said}");
    assert!((8_000_000.0..8_500_000.0).contains(&count("instructions")), "{said}");
    assert_eq!(count("instructions"), count("cycles:u"), "{said}");
    assert!((3.0..20.0).contains(&count("cs")), "{said}");
    assert_eq!(count("alignment-faults"), 10.0, "{said}");
    assert_eq!((count("dummy"), count("instructions:k")), (0.0, 0.0), "{said}");
    assert!(count("task-clock") > 0.5, "{said}");
}

/// A clock's samples fall into the loop that takes the time; groups and several events come out
/// under their names.
#[test]
fn several_events_in_one_file() {
    let dir = TempDir::new();
    let Some(program) = program(&dir) else { return };
    let data = dir.text("several.data");
    let events = "{task-clock:u,instructions},alignment-faults";
    axperf(&["record", "-e", events, "-c20011", "-o", &data, &program]);
    let lines = script(&data, "event,sym");
    let count = |what: &str| lines.iter().filter(|l| l.starts_with(what)).count();
    assert!(count("task-clock:u: main") >= 5, "{lines:?}");
    assert!(count("instructions: main") >= 390, "{}", count("instructions: main"));
    // Samples that hold a period are of every single event, as on Linux.
    assert_eq!(count("alignment-faults: main"), 10);
}

/// A row without a sampler, then one for each period and kind of sample; more is written with a copy
/// of the stack than without.
#[test]
fn overhead_is_a_table() {
    let dir = TempDir::new();
    let Some(program) = program(&dir) else { return };
    let output = axperf(&["overhead", "-r1", "-c100003", &program]);
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<Vec<&str>> = (text.lines().filter(|l| !l.starts_with('#')))
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 6, "{text}");
    assert_eq!(rows[0][..3], ["-", "-", "-"], "{text}");
    let row = |regs: &str, stack: &str| {
        let found = rows.iter().find(|r| r[..3] == [regs, stack, "100003"]).expect(&text);
        found[5].parse::<f64>().expect(&text)
    };
    assert!(row("all", "8192") > row("all", "0"), "{text}");
}
