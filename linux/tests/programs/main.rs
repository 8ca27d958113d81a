//! Whole programs: what they print and how they end. The oracle is the same source compiled for
//! this machine; for what is Alpha's alone, what the test says.

mod arithmetic;
mod code;
mod kernel;
mod outside;
mod starting;
mod strace;
#[path = "../../../tests/support/mod.rs"]
mod support;
mod threads;

use std::fs;
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
