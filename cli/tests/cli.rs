//! The command, from outside: its output, its errors, its exit status.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs::File;
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use support::{SYSROOT, TempDir, have, have_file, run};

/// Runs axperf.
fn axperf(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_axperf"))
        .env("AXPERF_CACHE_DIR", "")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("axperf starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs axperf; what it writes to standard output.
fn good(args: &[&str]) -> String {
    let out = axperf(args);
    assert!(out.status.success(), "{args:?}: {}\n{}", out.status, text(&out.stderr));
    text(&out.stdout)
}

/// Runs axperf, which fails; its exit status and what it says.
fn bad(args: &[&str]) -> (i32, String) {
    let out = axperf(args);
    let said = text(&out.stderr);
    assert_eq!(text(&out.stdout), "", "{args:?}");
    (out.status.code().expect("it exits"), said)
}

const PROGRAM: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static volatile unsigned long sum;
NI void spin(long n) { for (long i = 0; i < n; i++) sum += i; }
NI void outer(long n) { spin(n); sum++; }
NI void frame_pointer(long n) { volatile char pad[n % 64 + 1]; pad[0] = 1; outer(n); sum += pad[0]; }
void *thread(void *arg) { outer((long)arg); return 0; }
void handler(int signal) { outer(300000); }
int main(int argc, char **argv) {
    if (argc < 2) return 1;
    if (!strcmp(argv[1], "status")) return atoi(argv[2]);
    if (!strcmp(argv[1], "kill")) { raise(atoi(argv[2])); return 1; }
    if (!strcmp(argv[1], "env")) { puts(getenv(argv[2]) ? getenv(argv[2]) : "(none)"); return 0; }
    if (!strcmp(argv[1], "args")) { for (int i = 2; i < argc; i++) puts(argv[i]); return 0; }
    if (!strcmp(argv[1], "child")) { outer(1000000); return 7; }
    signal(SIGUSR1, handler);
    outer(500000);
    frame_pointer(500000);
    raise(SIGUSR1);
    if (!strcmp(argv[1], "one")) return 0;
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, thread, (void *)400000);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    pid_t pid = fork();
    if (!pid) {
        outer(300000);
        execl(argv[0], argv[0], "child", (char *)0);
        _exit(9);
    }
    int status;
    waitpid(pid, &status, 0);
    outer(100000);
    return WEXITSTATUS(status) == 7 ? 3 : 4;
}
"#;

/// The program, linked dynamically; None if what that needs is missing.
fn program(dir: &TempDir) -> Option<String> {
    if !(have("alpha-linux-gnu-gcc") && have_file(&format!("{SYSROOT}/lib/libc.so.6.1"))) {
        return None;
    }
    Some(dir.compile("prog", PROGRAM, &["-O1", "-lpthread"]))
}

#[test]
fn help_has_examples() {
    let help = good(&["--help"]);
    assert!(help.contains("EXAMPLES:"), "{help}");
    for command in ["run", "record", "stat", "overhead", "report", "script", "disasm"] {
        assert!(help.contains(&format!("  {command} ")), "{command} in {help}");
        let help = good(&[command, "--help"]);
        assert!(help.contains("EXAMPLES:") && help.contains("axperf "), "{help}");
    }
    assert!(good(&["--version"]).starts_with("axperf 0."));
}

/// One sentence: what, where, what to do.
#[test]
fn errors_are_sentences() {
    let dir = TempDir::new();
    let out = dir.text("out.data");
    let (status, said) = bad(&["report", "-i", "/nonexistent/perf.data"]);
    assert_eq!(
        (status, said.as_str()),
        (1, "axperf: /nonexistent/perf.data: No such file or directory (os error 2)\n")
    );
    let (status, said) = bad(&["report", "-i", "/etc/passwd"]);
    assert_eq!((status, said.as_str()), (1, "axperf: /etc/passwd: it is no perf.data file\n"));
    let (status, said) = bad(&["record", "-e", "cache-misses", "-o", &out, "true"]);
    assert_eq!(status, 1);
    assert!(
        said.starts_with("axperf: -e: nothing here counts `cache-misses`: use `instructions`, "),
        "{said}"
    );
    let (status, said) = bad(&["record", "--user-regs", "sp,rax", "-o", &out, "true"]);
    assert_eq!(status, 1);
    assert!(said.starts_with("axperf: --user-regs: `rax` is no register"), "{said}");
    let (status, said) = bad(&["record", "--stack-size", "12", "-o", &out, "true"]);
    assert_eq!(status, 1);
    assert_eq!(said, "axperf: EINVAL: sample_stack_user: must be a multiple of 8 below 65535\n");
    let (status, said) = bad(&["script", "-F", "ip,registers"]);
    assert_eq!(status, 1);
    assert!(said.starts_with("axperf: -F: there is no field `registers`: use comm,pid"), "{said}");
    let (status, said) = bad(&["record", "-c", "0", "true"]);
    assert!(status == 2 && said.contains("-c"), "{said}");
    let (status, said) = bad(&["disasm", "/etc/passwd"]);
    assert!(status == 1 && said.contains("it is no 64-bit ELF file"), "{said}");
    assert!(!Path::new(&out).exists());
}

/// As a shell: 127 for what isn't there, 126 for what can't be run.
#[test]
fn programs_that_cannot_run() {
    let dir = TempDir::new();
    for command in ["run", "record"] {
        let out = dir.text("out.data");
        let options: &[&str] = if command == "record" { &["-o", &out] } else { &[] };
        for (name, want) in [
            ("/nonexistent/prog", 127),
            ("no-such-program-anywhere", 127),
            ("/etc/passwd", 126),
            ("/", 126),
        ] {
            let mut args = vec![command];
            args.extend(options);
            args.push(name);
            let (status, said) = bad(&args);
            assert_eq!(status, want, "{args:?}: {said}");
            assert!(said.starts_with("axperf: ") && said.contains(name), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert!(!Path::new(&out).exists(), "a recording of nothing");
    }
}

#[test]
fn programs_end_as_they_end() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    for engine in ["interp", "jit"] {
        for status in [0, 1, 42, 255] {
            let out = axperf(&["run", "--engine", engine, &prog, "status", &status.to_string()]);
            assert_eq!(out.status.code(), Some(status));
            assert_eq!(text(&out.stderr), "");
        }
        // SIGTERM and SIGSEGV have the same numbers on Alpha.
        for signal in [15, 11] {
            let out = axperf(&["run", "--engine", engine, &prog, "kill", &signal.to_string()]);
            assert_eq!(out.status.signal(), Some(signal));
        }
    }
    let data = dir.text("out.data");
    let out = axperf(&["record", "-o", &data, &prog, "status", "42"]);
    assert_eq!(out.status.code(), Some(42));
    let out = axperf(&["record", "-o", &data, &prog, "kill", "15"]);
    assert_eq!(out.status.signal(), Some(15));
}

#[test]
fn arguments_and_environment_reach_the_program() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    assert_eq!(good(&["run", &prog, "args", "-g", "--help", "--", "x y"]), "-g\n--help\n--\nx y\n");
    assert_eq!(good(&["run", "--", &prog, "args", "-c"]), "-c\n");
    assert_eq!(good(&["run", "-E", "AXPERF_X=a=b", &prog, "env", "AXPERF_X"]), "a=b\n");
    assert_eq!(good(&["run", &prog, "env", "AXPERF_X"]), "(none)\n");
    let (status, said) = bad(&["run", "-E", "=b", &prog]);
    assert!(status == 2 && said.contains("NAME=VALUE"), "{said}");
}

#[test]
fn stats_are_printed() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let out = axperf(&["run", "--stats", "--crosscheck", "--fault-regs", &prog, "child"]);
    assert_eq!(out.status.code(), Some(7));
    let said = text(&out.stderr);
    assert!(
        said.contains("retired by the interpreter") && said.contains("translated code"),
        "{said}"
    );
}

/// As the kernel calls it for Alpha programs, without the flag P.
#[test]
fn it_is_an_interpreter_for_the_kernel() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let link = dir.path("axperf-binfmt");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_axperf"), &link).expect("a link");
    let out = Command::new(link).args([&prog, "args", "-g"]).output().expect("it starts");
    assert_eq!((text(&out.stdout).as_str(), out.status.success()), ("-g\n", true));
}

#[test]
fn system_calls_are_traced() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let file = dir.text("calls");
    let out = axperf(&["run", &format!("--strace={file}"), &prog, "child"]);
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(7), String::new()));
    let trace = std::fs::read_to_string(&file).expect("a trace");
    assert!(trace.ends_with("+++ exited with 7 +++\n"), "{trace}");
    let out = axperf(&["run", "--strace", &prog, "child"]);
    assert!(text(&out.stderr).contains("\nexit_group(7) "), "{}", text(&out.stderr));
    let (status, said) = bad(&["run", "--strace=/nowhere/x", &prog]);
    assert_eq!(
        (status, said.as_str()),
        (1, "axperf: /nowhere/x: No such file or directory (os error 2)\n")
    );
}

/// Threads, a signal handler, a child that executes a program: each sample's chain goes to where
/// its thread started, by our reader, by perf and by another reader.
#[test]
fn a_recording_is_whole() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let data = dir.text("out.data");
    let out = axperf(&["record", "-c", "10007", "-g", "-o", &data, &prog, "all"]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    let said = text(&out.stderr);
    assert!(said.contains("samples, one every 10007 instructions, 0 lost"), "{said}");
    assert!(said.contains("axperf: 100.0% of the call chains are complete\n"), "{said}");
    assert!(said.contains(&format!("more of it: axperf report -i {data}")), "{said}");
    let samples: usize =
        said.split("axperf: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(samples > 1000, "{said}");

    let script = good(&["script", "-i", &data, "-F", "comm,pid,tid,ip,sym"]);
    let blocks: Vec<&str> = script.split("\n\n").filter(|b| !b.is_empty()).collect();
    assert_eq!(blocks.len(), samples);
    let (mut pids, mut tids) =
        (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let (mut handler, mut vla, mut threads) = (0, 0, 0);
    for block in &blocks {
        let mut lines = block.lines();
        let ids = lines.next().unwrap().split_whitespace().nth(1).unwrap();
        let (pid, tid) = ids.split_once('/').unwrap();
        pids.insert(pid);
        tids.insert(tid);
        let names: Vec<&str> = lines.map(|l| l.split_whitespace().nth(1).unwrap()).collect();
        let outermost = *names.last().unwrap();
        assert!(outermost == "_start" || names.contains(&"thread"), "{block}");
        if names[0] == "spin" {
            assert_eq!(names[1], "outer", "{block}");
        }
        threads += usize::from(names.contains(&"thread"));
        vla += usize::from(names.contains(&"frame_pointer"));
        if let Some(at) = names.iter().position(|n| *n == "handler") {
            handler += 1;
            assert!(names[at..].contains(&"raise") && names.contains(&"main"), "{block}");
        }
    }
    assert_eq!((pids.len(), tids.len()), (2, 4), "two processes, two threads more");
    assert!(handler > 50 && vla > 50 && threads > 50, "{handler} {vla} {threads}");

    let report = good(&["report", "-i", &data]);
    assert!(report.contains(&format!("# Samples: {samples} of event 'instructions'")), "{report}");
    assert!(report.contains("# Lost samples: 0"), "{report}");
    let spin = report.lines().find(|l| l.ends_with("  spin")).unwrap();
    let share: f64 = spin.split_whitespace().nth(1).unwrap().trim_end_matches('%').parse().unwrap();
    assert!(share > 80.0, "{report}");
    assert!(report.contains("main > outer > spin"), "{report}");

    let reader = BufReader::new(File::open(&data).unwrap());
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(reader).unwrap();
    let mut theirs = 0;
    while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
        if let PerfFileRecord::EventRecord { record, .. } = record
            && let EventRecord::Sample(s) = record.parse().unwrap()
        {
            theirs += 1;
            assert!(s.callchain.unwrap().len() > 2);
        }
    }
    assert_eq!(theirs, samples);

    if have("perf") {
        same_as_perf(&data, &["comm,tid,time,period,event,ip,sym,symoff,dso"]);
        let theirs =
            run("perf", &["report", "-i", &data, "--stdio", "--no-children", "-g", "none"]);
        assert!(
            theirs.contains(&format!(
                "# Samples: {}",
                if samples < 1000 { samples.to_string() } else { format!("{}K", samples / 1000) }
            )),
            "{theirs}"
        );
        let spin_line = theirs
            .lines()
            .find(|l| l.ends_with("] spin") || l.trim_end().ends_with(" spin"))
            .unwrap();
        let their_share: f64 = spin_line.trim().split('%').next().unwrap().parse().unwrap();
        assert!((their_share - share).abs() < 0.02, "{share} and {their_share}");
    }
}

/// `axperf script` prints what `perf script` prints, but for what perf can't do: names of registers
/// and of functions without symbols, addresses of callers in their process.
fn same_as_perf(data: &str, field_lists: &[&str]) {
    for fields in field_lists {
        let theirs = run("perf", &["script", "-i", data, "-F", fields]);
        let ours = good(&["script", "-i", data, "-F", fields]);
        let (ours, theirs): (Vec<_>, Vec<_>) = (ours.lines().collect(), theirs.lines().collect());
        assert_eq!(ours.len(), theirs.len(), "{fields}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            if ours.starts_with('\t') {
                let (ours, theirs) = (&ours[17..], &theirs[17..]);
                let nameless = theirs.starts_with(" [unknown]") || ours.starts_with(" [0x");
                assert!(nameless || ours == theirs, "{ours}|{theirs}");
            } else {
                let names = ["r0", "r26", "sp", "pc", "gp"]
                    .iter()
                    .fold((*ours).to_owned(), |line, name| {
                        line.replace(&format!("{name:>5}:0x"), "unknown:0x")
                    });
                assert!(theirs.contains("[unknown]") || names == theirs, "{ours}|{theirs}");
            }
        }
    }
}

#[test]
fn scripts_are_perf_s() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    if !have("perf") {
        return;
    }
    let data = dir.text("out.data");
    let out = axperf(&[
        "record",
        "-c",
        "100003",
        "--user-regs",
        "pc,sp,r26,r0,gp",
        "-o",
        &data,
        &prog,
        "one",
    ]);
    assert_eq!(out.status.code(), Some(0));
    let fields = [
        "comm,tid,cpu,time,period,event,ip,sym,symoff,dso",
        "comm,pid,tid,time,event",
        "comm,pid,event",
        "ip",
        "ip,sym",
        "ip,sym,uregs",
        "comm,tid,time,uregs",
    ];
    same_as_perf(&data, &fields);
    assert_eq!(good(&["script", "-i", &data]), good(&["script", "-i", &data, "-F", fields[0]]));
}

/// All registers of a sample: the pc is the sample's address.
#[test]
fn registers_are_recorded() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let data = dir.text("out.data");
    let out = axperf(&["record", "-c", "20011", "--user-regs", "ext", "-o", &data, &prog, "one"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let script = good(&["script", "-i", &data, "-F", "ip,uregs"]);
    for line in script.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words.len(), 2 + 64, "{line}");
        assert_eq!(words[1], "ABI:2");
        assert!(line.contains(&format!(" pc:0x{} ", words[0])), "{line}");
    }
    assert!(script.lines().count() > 100);
}

/// Call chains by registers and stack, after the recording, are those that were found while it was
/// made. With Linux's registers, which lack `$15`, some end early, are true as far as they go, and
/// say why they end.
#[test]
fn chains_after_the_recording_are_those_of_the_recording() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let frames = |script: &str| -> Vec<Vec<String>> {
        let blocks = script.split("\n\n").filter(|b| !b.is_empty());
        blocks.map(|b| b.lines().skip(1).map(str::to_owned).collect()).collect()
    };
    let record = |name: &str, options: &[&str]| {
        let data = dir.text(name);
        let mut args = vec!["record", "--seed", "1", "-c", "20011", "-o", &data];
        args.extend(options);
        args.extend([prog.as_str(), "one"]);
        let out = axperf(&args);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        (frames(&good(&["script", "-i", &data, "-F", "ip,sym"])), good(&["report", "-i", &data]))
    };
    let (online, _) = record("online", &["-g"]);
    let (offline, report) = record("offline", &["--user-regs", "ext", "--stack-size", "32768"]);
    assert!(
        report.contains("# Unwound from registers and stack: 100.0% of the call chains"),
        "{report}"
    );
    assert!(online.len() > 100);
    assert_eq!(online, offline);

    let (kernel, report) = record("kernel", &["--user-regs", "all", "--stack-size", "32768"]);
    assert!(report.contains("register not known"), "{report}");
    let mut cut = 0;
    for (online, kernel) in online.iter().zip(&kernel) {
        if let Some((last, beginning)) = kernel.split_last().filter(|(l, _)| l.contains(" ... ")) {
            assert!(last.ends_with("... register not known"), "{last}");
            assert!(online.starts_with(beginning), "{beginning:?} {online:?}");
            cut += 1;
        }
    }
    assert!(cut > 20, "{cut}");
}

/// A recording that was there is kept under another name; one that can't be replaced stays.
#[test]
fn old_recordings_are_kept() {
    let dir = TempDir::new();
    let Some(prog) = program(&dir) else { return };
    let data = dir.text("perf.data");
    std::fs::write(&data, "precious").unwrap();
    let (status, _) = bad(&["record", "-o", &data, "/nonexistent/prog"]);
    assert_eq!(status, 127);
    assert_eq!(std::fs::read_to_string(&data).unwrap(), "precious");
    let out = axperf(&["record", "-o", &data, &prog, "status", "0"]);
    assert!(out.status.success());
    assert_eq!(std::fs::read_to_string(format!("{data}.old")).unwrap(), "precious");
    let said = text(&out.stderr);
    assert!(said.contains("the program is shorter than a period: try -c 10000"), "{said}");
    assert!(good(&["report", "-i", &data]).contains("# Samples: 0"));
}

/// perf's own recordings on Alpha, whose registers perf itself can't name.
#[test]
fn recordings_of_perf_are_shown() {
    let fixture =
        |name: &str| format!("{}/../tests/fixtures/perf-data/{name}", env!("CARGO_MANIFEST_DIR"));
    let switches = fixture("context-switches-intr-sp-pc.data");
    let script = good(&["script", "-i", &switches, "-F", "comm,tid,iregs"]);
    let line = "            busy    37  ABI:2    sp:0xfffffc000002bb80    pc:0x0 ";
    assert_eq!(script.lines().next().unwrap(), line);
    assert_eq!(script.lines().count(), 7);
    let report = good(&["report", "-i", &fixture("cpu-clock-thread-fork.data")]);
    assert!(report.contains("of event 'cpu-clock'"), "{report}");
    assert!(report.contains("busy"), "{report}");
}

#[test]
fn words_are_disassembled() {
    let text = good(&["disasm", "0x47ff041f", "43de1520"]);
    assert_eq!(text, "47ff041f\tnop\n43de1520\tsubq\tsp,0xf0,v0\n");
    // Words and text from GNU as and objdump, for the CPU.
    assert_eq!(good(&["disasm", "0x7bf7a000"]), "7bf7a000\tpal1e\t0x3f7a000\n");
    for (cpu, text) in [("ev5", "pal1e\t0x3f7a000"), ("ev67", "hw_ret/stall\t(t9)")] {
        assert_eq!(good(&["disasm", "--cpu", cpu, "0x7bf7a000"]), format!("7bf7a000\t{text}\n"));
    }
}

/// A whole program, against objdump.
#[test]
fn files_are_disassembled_as_objdump_does() {
    let dir = TempDir::new();
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-objdump")) {
        return;
    }
    let prog = dir.compile("prog", PROGRAM, &["-O2", "-static", "-lpthread"]);
    // An instruction's line: address, word, text without the names of targets.
    let lines = |text: &str| -> Vec<(String, String)> {
        text.lines()
            .filter_map(|l| {
                let (addr, rest) = l.split_once(":\t")?;
                let (_, insn) = rest.split_once('\t')?;
                let insn = insn.split(" <").next().unwrap_or(insn).replace(" \t", "\t");
                // objdump leaves out the 0x of branch targets.
                let insn = insn.replace("0x1200", "1200");
                Some((addr.trim().to_owned(), insn.trim().to_owned()))
            })
            .collect()
    };
    let ours = lines(&good(&["disasm", &prog]));
    let theirs = lines(&run("alpha-linux-gnu-objdump", &["-d", "-z", &prog]));
    assert!(ours.len() > 100_000, "{}", ours.len());
    assert_eq!(ours.len(), theirs.len());
    let differ = ours.iter().zip(&theirs).find(|(a, b)| a != b);
    assert_eq!(differ, None);
}
