//! perf_event_open from inside: Alpha programs that open events. What they are to see was seen on
//! Linux 7.2 for Alpha with the posted register patch; a fact that a line of output begins with is
//! named there.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{SYSROOT, TempDir, have, have_file, run};

fn tools() -> bool {
    have("alpha-linux-gnu-gcc") && have_file(SYSROOT)
}

/// The runner, which cargo builds with the tests.
fn runner() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps");
    profile.join("examples/alpha-run")
}

/// A program of tests/programs, compiled.
struct Program {
    dir: TempDir,
    name: &'static str,
}

impl Program {
    fn new(name: &'static str) -> Program {
        let dir = TempDir::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
        let (source, out) = (source.display().to_string(), dir.path(name).display().to_string());
        let flags = ["-std=gnu11", "-O2", "-w", "-pthread", &source, "-o", &out];
        run("alpha-linux-gnu-gcc", &flags);
        Program { dir, name }
    }

    /// What it prints; with a namespace of its own in which the user is root, if `root` is wanted.
    fn output(&self, options: &[&str], args: &[&str], root: bool) -> Option<String> {
        // SAFETY: no arguments.
        let is_root = unsafe { libc::geteuid() } == 0;
        let mut command = if is_root || !root {
            Command::new(runner())
        } else {
            let mut command = Command::new("unshare");
            command.arg("-Ur").arg(runner());
            command
        };
        command.args(options).arg(self.dir.path(self.name)).args(args).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        if root && !is_root && said.contains("unshare") {
            eprintln!("skipped: {said}");
            return None;
        }
        assert!(output.status.success(), "{} {options:?}: {}: {said}", self.name, output.status);
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Facts E01 to E33: what is refused, as root.
const REFUSED: &str = "\
E01 sizes 144 8192
E02 user 0xffff01ff of which EINVAL 0xffffffff0000fe00
E02 intr 0xffff01ff of which EINVAL 0xffffffff0000fe00
E03 0: EINVAL EINVAL
E03 0xffffffffffffffff: EINVAL EINVAL
E03 0xffffffff: EINVAL EINVAL
E03 0x100000000: EINVAL EINVAL
E03 0xc0000000: ok ok
E03 0x1ff: ok ok
E03 0x1: ok ok
E03 0x80000000: ok ok
E03 0xffff01ff: ok ok
E06: ok
E08 0: ok
E08 8: ok
E08 16: ok
E08 4096: ok
E08 8192: ok
E08 16384: ok
E08 65520: ok
E08 65528: ok
E08 7: EINVAL
E08 65535: EINVAL
E08 65536: EINVAL
E11 types 0x1fff7ff EINVAL 0xfffe000800
E12 weights: EINVAL
E12 branches: EOPNOTSUPP
E14 software 0xfff 0xfff 0xfff 0xfff
E14 12: ENOENT
E14 1<<32: ENOENT
E23 flags 0xd77ffffbff EINVAL 0xffffff2800000400
E23 aux_output: EOPNOTSUPP
E25 precise: ok
E25 precise: ok
E25 precise: ok
E25 precise: ok
E26 formats 0x1f EINVAL 0xffffffffffffffe0
E28 freq 100000: ok
E28 freq 100001: EINVAL
E28 freq 0: ok
E28 1<<63: EINVAL
E28 ~0: EINVAL
E28 1<<62: ok
E29 reserved_2: EINVAL
E29 reserved_3: EINVAL
E29 aux_sample_size: EINVAL
E29 aux_start_paused: EOPNOTSUPP
E29 others: ok
E15 0,0: ok
E15 -1,0: ok
E15 -1,-1: EINVAL
E15 -2,-1: ESRCH
E15 dead: ESRCH
E15 own: ok
E15 cpu 100000: EINVAL
E15 cpu -2: EINVAL
E17 1: ok
E17 2: ok
E17 4: EINVAL
E17 8: ok
E17 16: EINVAL
E17 32: EINVAL
E17 1<<32: EINVAL
E18 0: EFAULT
E18 kernel: EFAULT
E19 0: ok
E19 64: ok
E19 65: ok
E19 140: ok
E19 4096: ok
E19 8192: ok
E20 1: E2BIG 144
E20 63: E2BIG 144
E20 8193: E2BIG 144
E20 65536: E2BIG 144
E20 tail: E2BIG
group 0: EBADF
group 99: EBADF
E33 member: ok
E33 inherit: EINVAL
E33 exclusive: EINVAL
E33 pinned: EINVAL
E33 cpu: EINVAL
E33 pid: EINVAL
E33 member of a member: EINVAL
";

#[test]
fn refusals() {
    if !tools() {
        return;
    }
    let program = Program::new("perfopen");
    if let Some(got) = program.output(&[], &[], true) {
        assert_eq!(got, REFUSED);
    }
}

/// Facts E25, E30, E32, P09: hardware events on an EV67's performance monitor, on none, and on the
/// one that axperf offers instead.
#[test]
fn performance_monitors() {
    if !tools() {
        return;
    }
    let program = Program::new("perfopen");
    let refused = "EINVAL EINVAL EINVAL EINVAL";
    let none = "ENOENT ENOENT ENOENT ENOENT";
    for (pmu, want) in [
        (
            "ev67",
            format!(
                "E30 hw: ok ok EPERM ok {refused} EINVAL EINVAL EINVAL\n\
                 E30 raw: EINVAL ok ok ok ok EINVAL EINVAL\n\
                 E30 exclude: {refused}\nE30 cache: EOPNOTSUPP\nE25 cycles precise: ok\n\
                 type 1000: ENOENT\n"
            ),
        ),
        (
            "none",
            format!(
                "E30 hw: {none} {none} ENOENT ENOENT ENOENT\n\
                 E30 raw: {none} ENOENT ENOENT ENOENT\n\
                 E30 exclude: {none}\nE30 cache: ENOENT\nE25 cycles precise: ENOENT\n\
                 type 1000: ENOENT\n"
            ),
        ),
        (
            "full",
            format!(
                "E30 hw: ok ok {none} {none} ENOENT\n\
                 E30 raw: ENOENT ok ok {none}\n\
                 E30 exclude: ok ok ok ok\nE30 cache: ENOENT\nE25 cycles precise: ok\n\
                 type 1000: ENOENT\n"
            ),
        ),
    ] {
        if let Some(got) = program.output(&["-p", pmu], &["hardware"], true) {
            assert_eq!(got, want, "{pmu}");
        }
    }
}

/// Facts U01 to U05: what a user without privileges is refused, with perf_event_paranoid 2.
#[test]
fn without_privileges() {
    if !tools() {
        return;
    }
    let program = Program::new("perfopen");
    for (pmu, hardware) in [("full", "ok"), ("ev67", "EINVAL")] {
        // SAFETY: no arguments.
        if unsafe { libc::geteuid() } == 0 {
            // The program itself gives up being root, and must still be readable then.
            run("chmod", &["-R", "a+rX", &program.dir.path("").display().to_string()]);
        }
        let got = program.output(&["-p", pmu], &["user"], false).expect("no root is needed");
        let want = format!(
            "U01: EACCES\nU01 config 12: EACCES\nU01 type 1000: EACCES\nU01 excluded: ok\n\
             U02 callchain: EACCES\nU02 callchain excluded: ok\n\
             U04 all: EACCES\nU04 init: EACCES\nU04 own: ok\nU05: {hardware}\n"
        );
        assert_eq!(got, want, "{pmu}");
    }
}

/// Facts R01, R04, R13, R16, R17, R19, R24, B01, B03, B08, B09, B14, B15, B16: counts and samples, and
/// the descriptor that they are read by. R24 is where axperf differs: it counts alignment faults.
#[test]
fn samples_of_oneself() {
    if !tools() {
        return;
    }
    let program = Program::new("perfsample");
    let switch = "switch: misc 1 r0 340 r1 340 r2 340 r16 argument sp near pc after callsys \
                  stack 64  64, abi 2 ip";
    let want = |switched: &str, alignment: &str| {
        format!(
            "never enabled: 0\nreset: 0\n2000 rounds more: 12000 instructions more\n\
             disabled: same\n\
             instructions: enough, wrong 0, differ 0, not user 0\n\
             cpu-clock: enough, wrong 0, differ 0, not user 0\n\
             task-clock: enough, wrong 0, differ 0, not user 0\n\
             switches: 1\n{switch} {switched}\nswitches:u: 0, head 0\n\
             {alignment}\
             poll without ring: 1 0x10\npages 1 22, 4 22, 6 22, 66 22, offset 22\n\
             page: version 0 size 96 capabilities 2 offset 8192 size 32768\n\
             again 0, other size 22\npoll with ring: 0 0\nread of 4: -1 ENOSPC\n\
             lseek: -1 ESPIPE\nflags 0x2, 0\nx86's ENABLE: 1\nFIONREAD-like: 1\n\
             period 0: 1\nperiod at 8: 1\nid: 0\nid is new: 1\nrefresh a counter: 1\n\
             poll after samples: 1 0x1, again: 0\nrefresh: 0\n\
             samples 3, signals some, fd right\n\
             a child's instructions: counted\nanother process's instructions: counted\n\
             its samples: right\npoll after its exit: 1 0x10\n"
        )
    };
    let ours = want(
        "pc sp kernel pc kernel",
        "alignment faults: 3\nat 1 of 8, opcode 0x29\nat 3 of 8, opcode 0x2d\n\
         at 2 of 8, opcode 0x28\n",
    );
    let posted = want("0 sp 0xfffffc000002bb80 pc 0", "alignment faults: 0\n");
    for engine in [&["-i"][..], &[]] {
        if let Some(got) = program.output(engine, &[], true) {
            assert_eq!(got, ours, "{engine:?}");
        }
    }
    if let Some(got) = program.output(&["-k"], &["exact"], true) {
        // Where the switch was on another CPU the word is that CPU's.
        let got = got.lines().map(|line| match line.split_once("sp 0xfffffc0000") {
            Some((before, rest)) => format!("{before}sp 0xfffffc000002{}\n", &rest[2..]),
            None => format!("{line}\n"),
        });
        assert_eq!(got.collect::<String>(), posted);
    }
}

/// Facts K01, K03, K06 to K08, K10, R05, R07, R10, R13, R22, B04, B06, B12, B14, B19, B21, B22, B24, C03, C05,
/// C09, C13. Sizes of records: K03 saw 65288 bytes of stack for the fourth line; for the two after it
/// Linux's size would wrap (K10), and less of the stack is copied instead.
const MORE: &str = "\
K stack 0 more 0: size 0 record 24, right
K stack 64 more 0: size 64 record 96, right
K stack 4096 more 0: size 4096 record 4128, right
K stack 65528 more 0x1000: size 65288 record 65528, right
K stack 65528 more 0x41000: size 65080 record 65528, right
K stack 65320 more 0x41000: size 65080 record 65528, right
K07 alternate stack: right
K08 thread: right
R22 in system calls: both, right
B04 full: full, head stays, then type 2 of 32 bytes id right, lost as read, samples and lost add up
B12 paused: type 2, lost all
B06 overwritten: head runs on, lost 0, newest there
B06 overwritten: head runs on, lost 0, newest there
B24 group samples: right, ids follow
B14 group read: 56 bytes, nr 2, right
reset: 0 0
C03 frequency: 250000
C05 each: 0 samples
every third: right
C09 exclude_user: counts
C09 exclude_kernel: 0
B22 exec: first 3, names 1, text 1, maps more, samples some of the child, last 4
B21 exit: pid right ppid right
B19 fork: records 1, a child's samples some, their ids the parent's
spread over a loop: even
another thread: counts, works, goes on, stops
its samples: its own, exact
killed: signal 15, counted
R10 faults: 1, minor 0; R07 misc 2 addr 0x20018, opcode 0x29, regs 100 101 0x20000, pc ip
";

#[test]
fn stacks_rings_groups_and_children() {
    if !tools() {
        return;
    }
    let program = Program::new("perfmore");
    for engine in [&["-i"][..], &[]] {
        if let Some(got) = program.output(engine, &[], true) {
            assert_eq!(got, MORE, "{engine:?}");
        }
    }
}

/// 98 samples a tick are what `perf_event_max_sample_rate` 100000 and HZ 1024 allow. axperf stops at
/// that only where the kernel is to be imitated.
#[test]
fn throttling() {
    if !tools() {
        return;
    }
    let program = Program::new("perfmore");
    if let Some(got) = program.output(&["-k"], &["throttle"], true) {
        assert_eq!(got, "throttled: yes, again: yes, lost 0\nbetween two: at most 98\n");
    }
    if let Some(got) = program.output(&[], &["throttle"], true) {
        assert_eq!(got, "throttled: no, again: no, lost 0\n");
    }
}

/// Without perf the call doesn't exist.
#[test]
fn no_perf() {
    if !tools() {
        return;
    }
    let got = Program::new("perfopen").output(&["-n"], &["hardware"], false).expect("it runs");
    assert!(got.contains("E30 cache: ENOSYS\n"), "{got}");
    assert!(!got.contains("ok"), "{got}");
}
