//! Traces of system calls, beside strace(1)'s of the same program on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{TempDir, have};
use crate::{alpha, native, output, run_alpha, source, tools};

/// The lines of each process, the first process's from the mark on. What differs from one run to the
/// next is made alike: ids of processes, addresses, columns.
fn by_process(trace: &str) -> Vec<Vec<String>> {
    let main = trace.split_once("tgkill(").and_then(|(_, rest)| rest.split_once(','));
    let main = main.expect("the program signals itself").0;
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    for line in trace.lines() {
        // strace's files have the id before each line, axperf's where there is more than one.
        let (pid, line) = match line.strip_prefix("[pid ") {
            Some(rest) => rest.split_once("] ").expect(line),
            None if line.starts_with(|c: char| c.is_ascii_digit()) => {
                line.split_once(' ').expect(line)
            }
            None => (main, line),
        };
        let (pid, line) = (pid.trim().to_owned(), line.trim_start());
        if let Some(begun) = line.strip_suffix(" <unfinished ...>") {
            open.insert(pid, begun.to_owned());
            continue;
        }
        let line = match line.split_once(" resumed>") {
            Some((_, rest)) => open.remove(&pid).expect(line) + rest,
            None => line.to_owned(),
        };
        lines.entry(pid).or_default().push(line);
    }
    let pids: Vec<String> = lines.keys().cloned().collect();
    let alike = |line: &String| -> String {
        let mut line = line.clone();
        for pid in &pids {
            line = line.replace(pid, "PID");
        }
        // Addresses of the stack and of libraries.
        let mut parts = line.split("0x");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
            text += if digits > 7 { "ADDRESS" } else { "0x" };
            text += if digits > 7 { &part[digits..] } else { part };
        }
        // What ends a process leaves a core natively, if the limits let it.
        let text = text.replace(" && WCOREDUMP(s)", "").replace(" (core dumped)", "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Alpha's clone has its arguments in another order, getpid another name. A signal that isn't caught
    // and does nothing doesn't come to axperf.
    let differs = ["clone(", "getpid(", "getxpid(", "--- SIGCHLD"];
    lines
        .into_iter()
        .map(|(pid, lines)| {
            let from =
                if pid == main { lines.iter().position(|l| l.contains("\"mark\"")) } else { None };
            let lines = lines[from.unwrap_or(0)..].iter();
            lines.filter(|l| !differs.iter().any(|d| l.starts_with(d))).map(alike).collect()
        })
        .collect()
}

#[test]
fn calls_are_shown_as_strace_shows_them() {
    if !tools() || !have("strace") {
        return;
    }
    let dir = TempDir::new();
    let (here, there) = (dir.path("native"), dir.path("alpha"));
    for d in [&here, &there] {
        fs::create_dir_all(d).expect("a directory");
    }
    native(&source("traced.c"), &here.join("traced"));
    alpha(&source("traced.c"), &there.join("traced"), &["-O1"]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "trace", "./traced"]);
    let natively = output(strace, &here, &[]);
    let got = run_alpha(&there, "traced", &["-i", "-s", "trace"], &[]);
    assert_eq!(got.status, natively.status);
    let read = |d: &Path| fs::read_to_string(d.join("trace")).expect("a trace");
    let (want, got) = (by_process(&read(&here)), by_process(&read(&there)));
    assert!(want[0].len() > 80 && want.len() == 3, "{want:#?}");
    assert_eq!(got, want);
}

/// Threads: each has its lines, and a line that another breaks is taken up again.
#[test]
fn threads_have_lines_of_their_own() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let code = "#include <pthread.h>\n#include <unistd.h>\nstatic int p[2];\n\
                static void *f(void *x) { return (void *)(read(p[0], x, 1)); }\n\
                int main(void) { pthread_t t; char c; pipe(p); pthread_create(&t, 0, f, &c);\
                usleep(50000); write(p[1], \"x\", 1); pthread_join(t, 0); chdir(\"after\"); }";
    dir.compile("threads", code, &["-pthread"]);
    let got = run_alpha(&dir.path(""), "threads", &["-s", "trace"], &[]);
    assert!(got.status.success());
    let trace = fs::read_to_string(dir.path("trace")).expect("a trace");
    let has = |what: &str| assert!(trace.contains(what), "{what}: {trace}");
    has("clone(CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|");
    has("<... read resumed>\"x\", 1)");
    has(" <unfinished ...>\n[pid ");
    has("+++ exited with 0 +++\n");
    // Alone again.
    has("\nchdir(\"after\")");
}
