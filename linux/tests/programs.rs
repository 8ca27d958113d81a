//! Whole programs: what they print and how they end. The oracle is the same source compiled for
//! this machine; for what is Alpha's alone, what the test says.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::{SYSROOT, TempDir, have, have_file, run};

/// Both engines: options of the runner.
const ENGINES: &[&[&str]] = &[&["-i"], &[]];

fn tools() -> bool {
    ["cc", "c++", "alpha-linux-gnu-gcc", "alpha-linux-gnu-g++"].into_iter().all(have)
        && have_file(SYSROOT)
}

/// The runner, which cargo builds with the tests.
fn runner() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps");
    profile.join("examples/alpha-run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn str_of(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

/// A source file: of this crate's own, or of the programs that the workspace's crates share.
fn source(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("tests/programs").join(name);
    if own.exists() { own } else { here.join("../tests/programs").join(name) }
}

/// Compiles for this machine.
fn native(source: &Path, out: &Path) {
    compile(source, out, ["cc", "c++"], &["-O2", "-ffp-contract=off"]);
}

/// Compiles for Alpha, with the flags that the source asks for and more.
fn alpha(source: &Path, out: &Path, more: &[&str]) {
    let code = fs::read_to_string(source).expect("the source");
    let asked = code.split_once("alpha-flags:").and_then(|(_, rest)| rest.lines().next());
    let mut flags: Vec<&str> =
        asked.unwrap_or("").trim_end_matches("*/").split_whitespace().collect();
    flags.extend(more);
    compile(source, out, ["alpha-linux-gnu-gcc", "alpha-linux-gnu-g++"], &flags);
}

fn compile(source: &Path, out: &Path, compilers: [&str; 2], flags: &[&str]) {
    let cpp = source.extension().is_some_and(|e| e == "cc");
    let standard = if cpp { "-std=gnu++17" } else { "-std=gnu11" };
    let mut args = vec![standard, "-w", "-pthread", str_of(source), "-o", str_of(out)];
    args.extend(flags);
    args.push("-lm");
    run(compilers[usize::from(cpp)], &args);
}

/// Runs a command in a directory.
fn output(mut command: Command, dir: &Path, args: &[&str]) -> Output {
    command.args(args).current_dir(dir).stdin(Stdio::null()).output().expect("it starts")
}

/// Runs the Alpha program `name` in `dir`, as `./name`.
fn run_alpha(dir: &Path, name: &str, options: &[&str], args: &[&str]) -> Output {
    let mut command = Command::new(runner());
    command.args(options).arg(format!("./{name}"));
    output(command, dir, args)
}

/// What a program does on this machine.
struct Native {
    source: PathBuf,
    name: String,
    dir: TempDir,
    want: Output,
}

impl Native {
    const ARGS: &[&str] = &["one", "two words", ""];

    fn of(source: PathBuf) -> Native {
        let name = str_of(Path::new(source.file_stem().expect("a file"))).to_owned();
        let dir = TempDir::new();
        let here = dir.path("native");
        fs::create_dir_all(&here).expect("a directory");
        native(&source, &here.join(&name));
        let want = output(Command::new(format!("./{name}")), &here, Native::ARGS);
        Native { source, name, dir, want }
    }

    /// Compares what it prints on Alpha, and how it ends there.
    fn compare(&self, flags: &[&str], engines: &[&[&str]]) {
        // Under the same name, for `env` prints its own.
        let there = self.dir.path("alpha");
        fs::create_dir_all(&there).expect("a directory");
        alpha(&self.source, &there.join(&self.name), flags);
        for options in engines {
            let got = run_alpha(&there, &self.name, options, Native::ARGS);
            let what = format!("{} {flags:?} {options:?}: {}", self.name, text(&got.stderr));
            assert_eq!(text(&got.stdout), text(&self.want.stdout), "{what}");
            assert_eq!(got.status, self.want.status, "{what}");
        }
    }
}

#[test]
fn the_shared_programs() {
    if !tools() {
        return;
    }
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let mut sources: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("the programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cc"))
        .collect();
    sources.sort();
    assert!(sources.len() > 15);
    for source in sources {
        Native::of(source).compare(&["-O2"], ENGINES);
    }
}

/// Floating-point traps and rounding modes.
#[test]
fn floating_point_environment() {
    if tools() {
        let program = Native::of(source("fenv.c"));
        program.compare(&["-O1"], ENGINES);
        program.compare(&["-O2", "-mcpu=ev67"], ENGINES);
    }
}

/// What a 21064 lacks and the kernel executes for it; the same on CPUs that have it.
#[test]
fn lacking_instructions() {
    if !tools() {
        return;
    }
    let program = Native::of(source("lacking.c"));
    program.compare(&["-O1"], &[&["-m", "ev4"], &["-m", "ev4", "-i"]]);
    // CPUs between have the rounding modes and no square root.
    let here = program.dir.path("alpha");
    let got = run_alpha(&here, "lacking", &["-m", "ev56"], Native::ARGS);
    assert_eq!(got.status.signal(), Some(4), "{}", text(&got.stderr));
    for (cpu, emulated) in [("ev4", true), ("ev6", false), ("ev67", false)] {
        let got = run_alpha(&here, "lacking", &["-e", "-m", cpu], Native::ARGS);
        let said = text(&got.stderr);
        let count = said.split_once("alpha-run: ").and_then(|(_, rest)| rest.split_once(' '));
        let count: u64 = count.and_then(|(n, _)| n.parse().ok()).expect(&said);
        assert_eq!(count > 4000, emulated, "{cpu}: {said}");
        assert!(emulated || count == 0, "{cpu}: {said}");
    }
    // A program that knows nothing of it: the compiler rounds dynamically.
    Native::of(source("fenv.c")).compare(&["-O1", "-mcpu=ev4"], &[&["-m", "ev4"]]);
}

/// Instructions that the CPU lacks and the kernel doesn't execute: SIGILL, the pc and the address after
/// them (`arch/alpha/kernel/traps.c`, `do_entIF`). qemu-alpha prints the same for each CPU.
#[test]
fn refused_instructions() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("refused.c"), &dir.path("refused"), &["-O1"]);
    const ALL: [&str; 9] =
        ["ldbu", "stw", "sextb", "itoft", "ftoit", "sqrtg", "ctpop", "minub8", "hw_mfpr"];
    for (cpu, refused) in [
        ("ev4", &ALL[..]),
        ("ev5", &ALL[..]),
        ("ev56", &["itoft", "ftoit", "sqrtg", "ctpop", "minub8", "hw_mfpr"]),
        ("pca56", &["itoft", "ftoit", "sqrtg", "ctpop", "hw_mfpr"]),
        ("ev6", &["ctpop", "hw_mfpr"]),
        ("ev67", &["hw_mfpr"]),
    ] {
        let want: String = ALL
            .iter()
            .map(|name| {
                let outcome = if refused.contains(name) { "ILL code 1, pc 4 4" } else { "none" };
                format!("{name}: {outcome}\n")
            })
            .collect();
        for engine in ENGINES {
            let options = [&["-m", cpu], *engine].concat();
            let got = run_alpha(&dir.path(""), "refused", &options, &[]);
            assert_eq!(text(&got.stdout), want, "{options:?}: {}", text(&got.stderr));
        }
    }
}

/// Division is a function with a convention of its own. GCC and glibc (`sysdeps/alpha/div_libc.h`) say
/// which registers it keeps; quotients are the host's.
#[test]
fn millicode() {
    if tools() {
        Native::of(source("millicode.c")).compare(&["-O1"], ENGINES);
    }
}

/// Alpha's C library computes what the host's does, but for the last bit where it doesn't promise
/// more; and what qemu-alpha makes of it, to the bit.
#[test]
fn library_of_floating_point() {
    if !tools() {
        return;
    }
    // All of a line's numbers after the colon, in order as floating-point numbers are.
    let results = |line: &str| -> Vec<i128> {
        let rank = |bits: i64, least: i64| if bits < 0 { least - bits } else { bits };
        let words = line.split_once(": ").expect(line).1.split_whitespace();
        let words = words.map(|w| match w.len() {
            8 => {
                rank(u32::from_str_radix(w, 16).expect(line) as i32 as i64, i32::MIN.into()) as i128
            }
            _ => rank(u64::from_str_radix(w, 16).expect(line) as i64, i64::MIN) as i128,
        });
        words.collect()
    };
    let program = Native::of(source("libm.c"));
    let there = program.dir.path("libm.alpha");
    alpha(&program.source, &there, &["-O1"]);
    let want = text(&program.want.stdout);
    let mut outputs = Vec::new();
    for options in ENGINES {
        let got = text(&run_alpha(&program.dir.path(""), "libm.alpha", options, &[]).stdout);
        assert_eq!(want.lines().count(), got.lines().count(), "{options:?}");
        let mut other = Vec::new();
        for (a, b) in want.lines().zip(got.lines()).filter(|(a, b)| a != b) {
            let near = !a.starts_with('=')
                && results(a).iter().zip(results(b)).all(|(a, b)| a.abs_diff(b) <= 1);
            assert!(near, "{options:?}: {b}, and natively {a}");
            other.push(b);
        }
        println!("{} results, in the last bit others: {other:?}", want.lines().count());
        assert!(other.len() < 100, "{other:?}");
        outputs.push(got);
    }
    if have("qemu-alpha") {
        let mut qemu = Command::new("qemu-alpha");
        qemu.args(["-L", SYSROOT]).arg(&there);
        let said = text(&output(qemu, Path::new("/"), &[]).stdout);
        for got in outputs {
            let differs = said.lines().zip(got.lines()).find(|(a, b)| a != b);
            assert!(said == got, "qemu-alpha and axperf: {differs:?}");
        }
    }
}

#[test]
fn system_calls() {
    if tools() {
        Native::of(source("calls.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn newer_system_calls() {
    if tools() {
        Native::of(source("newer.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn the_guests_view() {
    if tools() {
        Native::of(source("guest.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn ipc() {
    if tools() {
        Native::of(source("ipc.c")).compare(&["-O1"], ENGINES);
    }
}

/// Every system call with bad pointers: the program stays, and gets one of Alpha's errors.
#[test]
fn bad_pointers() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("badpointers.c"), &dir.path("badpointers"), &[]);
    let got = run_alpha(&dir.path(""), "badpointers", &["-i"], &[]);
    assert_eq!(text(&got.stdout), "done\n", "{}", text(&got.stderr));
    assert!(got.status.success());
}

/// The translator's thread is none of the program's.
#[test]
fn tasks() {
    if tools() {
        Native::of(source("tasks.c")).compare(&["-O1"], ENGINES);
    }
}

/// Code that a program makes, in memory of every kind.
#[test]
fn new_code() {
    if tools() {
        Native::of(source("newcode.c")).compare(&["-O1"], ENGINES);
    }
}

/// Threads, forks, faults and signals at once.
#[test]
fn storm() {
    if tools() {
        Native::of(source("storm.c")).compare(&["-O1"], ENGINES);
    }
}

/// Code that another thread takes away while it runs. qemu-alpha prints the same.
#[test]
fn code_that_goes_away() {
    if !tools() {
        return;
    }
    let lines =
        ["unmapped: 11 code 1", "read only: 11 code 2", "nothing: 11 code 2", "over: 4 code 1"];
    let there = lines.map(|l| format!("{l}, there, same\n").repeat(3)).concat();
    let want = there + &"its own: 11 code 1, 8\n".repeat(3);
    let dir = TempDir::new();
    alpha(&source("gone.c"), &dir.path("gone"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "gone", options, &[]);
        assert_eq!(text(&got.stdout), want, "{options:?}: {}", text(&got.stderr));
    }
}

/// After IMB the new code runs, whoever changed it.
#[test]
fn changed_code() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("patch.c"), &dir.path("patch"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "patch", options, &[]);
        assert_eq!(text(&got.stdout), "stale 0\nwrong 0\n", "{options:?}: {}", text(&got.stderr));
    }
}

/// Headers changed at random: the program runs, or ends by what it does, or is refused; the runner
/// never panics, and a signal is one that it has named.
#[test]
fn broken_programs() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("hello.c"), &dir.path("whole"), &["-O1"]);
    let whole = fs::read(dir.path("whole")).expect("the program");
    let mut random = 1u64;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % below
    };
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..=next(3) {
            // The headers are in the first 600 bytes; few values are small.
            let value = [0, 1, 7, 0x7f, 0x80, 0xff, next(256) as u8];
            bytes[4 + next(596) as usize] = value[next(7) as usize];
        }
        bytes.truncate(if next(10) == 0 { next(whole.len() as u64) as usize } else { bytes.len() });
        fs::write(dir.path("broken"), &bytes).expect("write it");
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "5"]).arg(runner()).args(["-i", "-v", "./broken"]);
        fs::set_permissions(dir.path("broken"), fs::Permissions::from_mode(0o755)).expect("chmod");
        let got = output(command, &dir.path(""), &[]);
        let said = text(&got.stderr);
        assert!(!said.contains("panicked"), "{said}");
        // `timeout` passes a signal on as a status, and its own KILL as 137.
        let code = got.status.code().or(got.status.signal().map(|s| 128 + s));
        if code.is_some_and(|c| c > 128 && c != 137) {
            assert!(said.contains("axperf: SIG"), "{code:?}: {said}");
        }
    }
}

/// Compilers emit other code for each CPU and level: byte accesses without BWX, MVI for ev67...
#[test]
fn cpus_and_optimisation() {
    if !tools() {
        return;
    }
    let printf = Native::of(source("printf.c"));
    for (cpu, levels) in [
        ("-mcpu=ev4", &["-O0", "-O1", "-O2", "-O3"][..]),
        ("-mcpu=ev56", &["-O1"]),
        ("-mcpu=pca56", &["-O2"]),
        ("-mcpu=ev67", &["-O0", "-O1", "-O2", "-O3"]),
    ] {
        for level in levels {
            printf.compare(&[cpu, level], &[&["-i"]]);
        }
    }
    Native::of(source("iostream.cc")).compare(&["-mcpu=ev4", "-O0"], ENGINES);
    Native::of(source("exceptions.cc")).compare(&["-mcpu=ev5", "-O3"], ENGINES);
}

/// Traps, on Alpha alone. The lines are what Linux's `arch/alpha/kernel/traps.c` and `mm/fault.c`
/// give for each; qemu-alpha prints the same, but for gentrap -4, clrfen, and the unaligned load, of which
/// it makes no trap. The PAL functions are those of OSF/1's unprivileged ones that Linux uses
/// (`asm/pal.h`).
#[test]
fn traps() {
    const WANT: &str = "\
opcode 1: ILL code 1, pc 0, address 0
halt: ILL code 1
bpt: TRAP code 1, pc 0
bugchk: TRAP code 5
gentrap -1: FPE code 2
gentrap -2: FPE code 1
gentrap -3: FPE code 4
gentrap -4: FPE code 3
gentrap -5: FPE code 5
gentrap -6: FPE code 7
gentrap -7: FPE code 6
gentrap -8: TRAP code 5
gentrap -9: TRAP code 5
gentrap -10: TRAP code 5
gentrap -11: FPE code 14
gentrap -12: TRAP code 5
integer division by zero: FPE code 1
addl/v: FPE code 7
addl/v without overflow: none
divt by zero: FPE code 7
divt/su by zero: none inf
addt of infinities: FPE code 7
ldq unaligned: none 0011223344556677
ldq_l unaligned: BUS code 1, address 1
execute data: SEGV code 2, pc 0
execute code: none
changed code: 1 2
PAL functions: 80 81 86 9e 9f aa ae
clrfen: none 6
execute nothing: SEGV code 1, pc 0
read nothing: SEGV code 1, address 0
read kernel: SEGV code 1, address fffffc0000000008
read beyond the space: SEGV code 1, address 40000000000
write protected: SEGV code 2, address 8
stq_c after callsys: 0 1122334455667788
stq_c alone: 0
stq_c: 1 5
stq_c after an unaligned load: 0 5
stq_c after a handler: 0 5 FPE
";
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("traps.c"), &dir.path("traps"), &["-O1", "-mcpu=ev67"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "traps", options, &[]);
        assert_eq!(text(&got.stdout), WANT, "{options:?}: {}", text(&got.stderr));
        assert!(got.status.success());
    }
}

/// What a program finds that is Alpha's alone. Values: seen on a running Linux/alpha.
#[test]
fn the_machine_is_an_alpha() {
    const WANT: &str = "\
machine alpha
page 8192, ticks 1024, hwcap 0x1307, platform ev67
phdr 0x120000040, entry in text 1, base 0x20000000000
l1i 0x10062, l1d 0x10062, l3 -1, vdso 0
text 0x120000000, stack below it 1, mapping above 1
fpcr 0x680e800000000000
pipe second 1
errno 35 11 78 66 62
signals 20 10 30
r1 4 r2 4 a3 0
error a3 1 v0 9
";
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("alpha.c"), &dir.path("alpha"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "alpha", options, &[]);
        assert_eq!(text(&got.stdout), WANT, "{options:?}: {}", text(&got.stderr));
    }
}

/// A static program of Debian's glibc 2.36 reads address 0 in its start-up, on the real kernel too
/// (glibc bug 29864); linked so that `__ehdr_start` is what it says, it runs.
#[test]
fn static_programs() {
    if !tools() || !have_file("/usr/alpha-linux-gnu/lib/libc.a") {
        return;
    }
    let dir = TempDir::new();
    let flags = ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"];
    alpha(&source("hello.c"), &dir.path("good"), &flags);
    let got = run_alpha(&dir.path(""), "good", &["-i"], &[]);
    assert!(got.status.success() && !got.stdout.is_empty(), "{}", text(&got.stderr));

    let free = "__asm__(\".globl _start\\n_start: lda $0,4\\n lda $16,1\\n br $17,1f\\n .ascii \\\"free\\\\n\\\"\\n\
                .align 2\\n1: lda $18,5\\n callsys\\n lda $0,405\\n lda $16,42\\n callsys\\n\");";
    dir.compile("free", free, &["-nostdlib", "-static"]);
    let got = run_alpha(&dir.path(""), "free", &["-i"], &[]);
    assert_eq!((text(&got.stdout).as_str(), got.status.code()), ("free\n", Some(42)));
}

/// How a program ends is how the runner ends, and what can't be run is said in one sentence.
#[test]
fn ends_and_refusals() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let code = "#include <stdlib.h>\n#include <signal.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
                int main(int n, char **v) { if (n < 2) return 7; int s = atoi(v[1]);\
                if (s > 99) syscall(s); else raise(s); return 0; }";
    dir.compile("end", code, &[]);
    let run = |args: &[&str]| run_alpha(&dir.path(""), "end", &["-i", "-v"], args);
    assert_eq!(run(&[]).status.code(), Some(7));
    // Alpha's SIGBUS is 10, SIGUSR1 30; the host's are 7 and 10.
    for (guest, host) in [("10", libc::SIGBUS), ("30", libc::SIGUSR1), ("9", libc::SIGKILL)] {
        assert_eq!(run(&[guest]).status.signal(), Some(host), "{guest}");
    }
    assert_eq!(
        text(&run(&["410"]).stderr),
        "axperf: system call remap_file_pages (410) isn't implemented\n"
    );
    assert_eq!(text(&run(&["5000"]).stderr), "axperf: system call 5000 doesn't exist\n");

    let refused = |path: &str| {
        let mut command = Command::new(runner());
        command.arg(path).env("PATH", dir.path(""));
        let got = output(command, &dir.path(""), &[]);
        assert_eq!(got.status.code(), Some(126), "{path}");
        text(&got.stderr)
    };
    fs::write(dir.path("note"), "some text\n").expect("a file");
    assert_eq!(refused("nowhere"), "alpha-run: nowhere: not found in PATH\n");
    assert!(refused("./note").contains("it is not executable"));
    assert_eq!(
        refused("/bin/sh"),
        "alpha-run: /bin/sh: it is an x86-64 ELF program or shared library, not an Alpha ELF \
         program\n"
    );
    // Found in PATH.
    let mut command = Command::new(runner());
    command.arg("end").env("PATH", format!("/nonexistent:{}", str_of(&dir.path(""))));
    assert_eq!(output(command, Path::new("/"), &[]).status.code(), Some(7));
}
