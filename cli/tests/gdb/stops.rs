//! Breakpoints, steps, watchpoints, signals, the end: one thread.

use std::os::unix::process::ExitStatusExt;

use super::session::{STATIC, Session, compile, gdb, in_order, tools};
use super::support::TempDir;

/// Of itself, the program sees `leaf` as it is, without a breakpoint, and one thread.
const PROGRAM: &str = r#"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
volatile long counter, other;
unsigned sum(void);
long leaf(long n) {
    counter += n;
    return n + 1;
}
unsigned sum(void) {
    unsigned s = 0;
    for (unsigned *p = (unsigned *)leaf; p < (unsigned *)sum; p++) s = s * 31 + *p;
    return s;
}
int threads(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; e = readdir(d);) n += e->d_name[0] != '.';
    return closedir(d), n;
}
long middle(long n) { return leaf(n * 2) + 3; }
void handler(int signo) { other = signo; leaf(1000); }
int main(int argc, char **argv) {
    unsigned before = sum();
    signal(SIGUSR1, handler);
    long r = 0;
    for (long i = 0; i < 5; i++) r += middle(i);
    raise(SIGUSR1);
    if (argc > 1 && !strcmp(argv[1], "segv")) *(volatile int *)16 = 1;
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        int status;
        if (fork() == 0) _exit(leaf(4));
        wait(&status);
        r = WEXITSTATUS(status);
    }
    if (argc > 1 && !strcmp(argv[1], "exec")) execl(argv[0], argv[0], "again", (char *)0);
    printf("%ld %ld %d %d\n", r, counter, before == sum(), threads());
    return 7;
}
"#;

/// Breaks, steps and looks, on either engine.
fn tour(options: &[&str], flags: &[&str]) {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, flags);
    let socket = dir.text("socket");
    let at = format!("unix:{socket}");
    let session = Session::start(&[&["--gdb", &at], options].concat(), &[&program]);
    assert_eq!(session.remote, socket);
    let said = gdb(
        &program,
        &[
            &format!("target remote {}", session.remote),
            "break leaf",
            "continue",
            "backtrace",
            "print n",
            "print $sp == $fp",
            "finish",
            "next",
            "step",
            "watch counter",
            "ignore 1 100",
            "continue",
            "continue",
            "delete 2",
            "handle SIGUSR1 nostop noprint pass",
            "tbreak handler",
            "continue",
            "backtrace",
            "print $_siginfo",
            "finish",
            "print counter",
            "set var counter = 5",
            "info breakpoints",
            "continue",
        ],
    );
    in_order(
        &said,
        &[
            "Breakpoint 1, leaf (n=0)",
            "#0  leaf (n=0)",
            "#1  ",
            "in middle (n=0)",
            "#2  ",
            "in main (argc=1",
            "$1 = 0",
            "Value returned is $",
            " = 1",
            "Hardware watchpoint 2: counter",
            "Old value = 2",
            "New value = 6",
            "Old value = 6",
            "New value = 12",
            "handler (signo=30)",
            "#0  handler (signo=30)",
            "#1  <signal handler called>",
            "raise ",
            "in main (argc=1",
            // Of 0, 2, 4, 6, 8, and 1000.
            "= 1020",
            "breakpoint already hit",
            "exited with code 07",
        ],
    );
    let (status, out, said) = session.end();
    // 1, 3, 5, 7 and 9, and 3 each.
    assert_eq!((status.code(), out.as_str(), said.as_str()), (Some(7), "40 5 1 1\n", ""));
    assert!(!std::path::Path::new(&socket).exists(), "the socket stays behind");
}

#[test]
fn break_step_watch() {
    tour(&[], &[]);
}

#[test]
fn break_step_watch_interpreted() {
    tour(&["--engine", "interp"], STATIC);
}

/// gdb's numbers of signals aren't the host's: SIGBUS, 10 on Alpha, is 7 here and SIGEMT there.
#[test]
fn signals() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, &[]);
    let run = |args: &[&str], commands: &[&str]| {
        let session = Session::at_port(&[&[program.as_str()], args].concat());
        let connect = format!("target remote {}", session.remote);
        let said = gdb(&program, &[&[connect.as_str()], commands].concat());
        (said, session.end())
    };
    // Dropped, there is no handler's thousand; passed as another, it ends the program.
    let (said, (status, out, _)) = run(&[], &["continue", "signal 0"]);
    in_order(&said, &["received signal SIGUSR1", "exited with code 07"]);
    assert_eq!((status.code(), out.as_str()), (Some(7), "40 20 1 1\n"));
    let (said, (status, _, _)) = run(&[], &["continue", "signal SIGBUS"]);
    in_order(&said, &["received signal SIGUSR1", "terminated with signal SIGBUS"]);
    assert_eq!(status.signal(), Some(libc::SIGBUS));
    let (said, (status, _, _)) = run(
        &["segv"],
        &["handle SIGUSR1 nostop noprint", "continue", "backtrace 1", "x/i $pc", "continue"],
    );
    in_order(
        &said,
        &["received signal SIGSEGV", "#0  ", "in main", "stl", "terminated with signal SIGSEGV"],
    );
    assert_eq!(status.signal(), Some(libc::SIGSEGV));
}

/// A child runs without the debugger, and without its breakpoints; a new program stops at first.
#[test]
fn fork_and_exec() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, &[]);
    let session = Session::at_port(&[&program, "fork"]);
    let connect = format!("target remote {}", session.remote);
    let usr1 = "handle SIGUSR1 nostop noprint";
    let commands = ["break leaf", "ignore 1 5", "continue", "print n", "continue"];
    let said = gdb(&program, &[&[connect.as_str(), usr1][..], &commands[..]].concat());
    in_order(&said, &["Breakpoint 1, leaf (n=1000)", "= 1000", "exited with code 07"]);
    let (status, out, _) = session.end();
    assert_eq!((status.code(), out.as_str()), (Some(7), "5 1020 1 1\n"));

    let session = Session::at_port(&[&program, "exec"]);
    let connect = format!("target remote {}", session.remote);
    let commands = [usr1, "continue", "print counter", "break handler", "continue", "detach"];
    let said = gdb(&program, &[&[connect.as_str()][..], &commands[..]].concat());
    in_order(&said, &["SIGTRAP", "= 0", "Breakpoint 1, handler (signo=30)", "detached"]);
    let (status, out, _) = session.end();
    assert_eq!((status.code(), out.as_str()), (Some(7), "40 1020 1 1\n"));
}

#[test]
fn addresses_are_checked() {
    let run = |at: &str| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_axperf"))
            .args(["run", "--gdb", at, "/bin/true"])
            .output()
            .expect("axperf starts");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (status, said) = run("nowhere");
    assert_eq!(status, Some(2));
    assert!(said.contains("it is a port, HOST:PORT or unix:PATH"), "{said}");
}
