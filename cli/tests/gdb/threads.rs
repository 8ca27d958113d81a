//! Several threads: the list, the interrupt, steps of one while others stand, their stores.

use super::client::Client;
use super::session::{Session, compile, gdb, in_order, tools};
use super::support::TempDir;

/// Two threads that count, one that sleeps, until the standard input ends.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile long count[2], stop;
pthread_barrier_t ready;
void started(void) {}
void *worker(void *arg) {
    long i = (long)arg;
    pthread_barrier_wait(&ready);
    while (!stop) count[i]++;
    return 0;
}
int main() {
    pthread_t t[2];
    char c;
    pthread_barrier_init(&ready, 0, 3);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
    pthread_barrier_wait(&ready);
    started();
    while (read(0, &c, 1) > 0) ;
    stop = 1;
    for (long i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf("%d\n", count[0] > 0 && count[1] > 0);
    return 3;
}
"#;

#[test]
fn listed_and_switched() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, &[]);
    let session = Session::at_port(&[&program]);
    let said = gdb(
        &program,
        &[
            &format!("target remote {}", session.remote),
            "break started",
            "continue",
            "info threads",
            "thread 2",
            "set scheduler-locking on",
            "print $was = count[1]",
            "watch count[0]",
            "continue",
            "continue",
            "print count[1] == $was",
            "set scheduler-locking off",
            "delete",
            "watch count[1]",
            "continue",
            "detach",
        ],
    );
    in_order(
        &said,
        &[
            "Breakpoint 1, started ()",
            "* 1 ",
            "started ()",
            "  2 ",
            "  3 ",
            "Switching to thread 2",
            "Hardware watchpoint 2: count[0]",
            "Old value =",
            "Old value =",
            "= 1",
            "Hardware watchpoint 3: count[1]",
            "Old value =",
            "detached",
        ],
    );
    let (status, out, _) = session.end();
    assert_eq!((status.code(), out.as_str()), (Some(3), "1\n"));
}

/// A system call stores to watched memory.
#[test]
fn stores_of_the_kernel() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let source = r#"
#include <unistd.h>
long words[4];
int main() {
    int ends[2];
    long value = 0x1122334455667788;
    pipe(ends);
    write(ends[1], &value, 8);
    read(ends[0], &words[2], 8);
    return words[2] != value;
}
"#;
    let program = compile(&dir, source, &[]);
    let session = Session::at_port(&[&program]);
    let connect = format!("target remote {}", session.remote);
    let start = [connect.as_str(), "break main", "continue"];
    let watch = ["watch words[2]", "continue", "print/x words[2]", "backtrace", "continue"];
    let said = gdb(&program, &[&start[..], &watch[..]].concat());
    in_order(
        &said,
        &["Breakpoint 1, main", "watchpoint 2: words[2]", "Old value = 0", "= 0x1122334455667788"],
    );
    in_order(&said, &["in read", "in main"]);
    let (status, _, _) = session.end();
    assert_eq!(status.code(), Some(0));
}

/// Ctrl-C stops all threads: those in translated loops, and that in a system call.
#[test]
fn interrupted() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, &[]);
    let session = Session::at_port(&[&program]);
    let mut client = Client::connect(&session.remote);
    client.ask("qSupported:swbreak+");
    for _ in 0..5 {
        client.packet(b"vCont;c");
        std::thread::sleep(std::time::Duration::from_millis(300));
        client.send(&[3]);
        // SIGINT is 2 to gdb.
        let stop = client.reply().expect("a stop");
        assert!(stop.starts_with("T02thread:"), "{stop}");
        let threads = client.ask("qfThreadInfo");
        let threads: Vec<_> = threads[1..].split(',').collect();
        assert_eq!(threads.len(), 3, "{threads:?}");
        for thread in &threads {
            assert_eq!(client.ask(&format!("Hg{thread}")), "OK");
            let registers = client.ask("g");
            assert_eq!(registers.len(), 67 * 16, "{registers}");
            // Still: their registers stay as they are.
            assert_eq!(client.ask("g"), registers);
        }
        assert_eq!(client.ask("Hg999999"), "OK");
        assert!(client.ask("g").starts_with('E'));
    }
    assert_eq!(client.ask("D"), "OK");
    let (status, out, _) = session.end();
    assert_eq!((status.code(), out.as_str()), (Some(3), "1\n"));
}

/// A signal and Ctrl-C at the same time: neither is lost.
#[test]
fn interrupted_among_signals() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let source = r#"
#include <signal.h>
int count;
void handler(int signo) { count++; }
int main() {
    signal(SIGUSR1, handler);
    for (int i = 0; i < 30; i++) raise(SIGUSR1);
    return count;
}
"#;
    let program = compile(&dir, source, &[]);
    let session = Session::at_port(&[&program]);
    let mut client = Client::connect(&session.remote);
    client.ask("qSupported:swbreak+");
    let mut go = "vCont;c".to_owned();
    let end = loop {
        client.packet(go.as_bytes());
        // Before the program has come far, or after it has stopped by itself.
        std::thread::sleep(std::time::Duration::from_millis(1));
        client.send(&[3]);
        let stop = client.reply().expect("a stop");
        let Some(rest) = stop.strip_prefix('T') else { break stop };
        let thread = rest[2..].trim_start_matches("thread:").trim_end_matches(';');
        go = match &rest[..2] {
            // gdb's SIGUSR1.
            "1e" => format!("vCont;C1e:{thread};c"),
            "02" => "vCont;c".to_owned(),
            other => panic!("{other} in {stop}"),
        };
    };
    assert_eq!(end, "W1e");
    assert_eq!(session.end().0.code(), Some(30));
}
