//! A program that waits for a debugger.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::support::{SYSROOT, TempDir, have, have_file};

/// Longer than any session takes.
const LONG: Duration = Duration::from_secs(60);

/// axperf, running a program.
pub struct Session {
    pub axperf: Child,
    /// What gdb calls the place to connect to.
    pub remote: String,
    errors: BufReader<ChildStderr>,
}

impl Session {
    /// Starts a program; it waits at its first instruction.
    pub fn start(options: &[&str], program: &[&str]) -> Session {
        let mut axperf = Command::new(env!("CARGO_BIN_EXE_axperf"))
            .env("AXPERF_CACHE_DIR", "")
            .arg("run")
            .args(options)
            .args(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("axperf starts");
        let mut errors = BufReader::new(axperf.stderr.take().expect("a pipe"));
        let mut line = String::new();
        errors.read_line(&mut line).expect("a line");
        let remote = line.strip_prefix("axperf: gdb: target remote ").expect(&line).trim_end();
        Session { remote: remote.to_owned(), axperf, errors }
    }

    /// Starts a program that waits at a port.
    pub fn at_port(program: &[&str]) -> Session {
        Session::start(&["--gdb", "0"], program)
    }

    /// Waits until the program ends: how, what it printed, and what axperf said.
    pub fn end(mut self) -> (ExitStatus, String, String) {
        drop(self.axperf.stdin.take());
        let start = Instant::now();
        let status = loop {
            match self.axperf.try_wait().expect("a child") {
                Some(status) => break status,
                None if start.elapsed() > LONG => {
                    drop(self.axperf.kill());
                    panic!("it doesn't end");
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let (mut out, mut said) = (String::new(), String::new());
        let mut stdout = self.axperf.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut out).expect("text");
        self.errors.read_to_string(&mut said).expect("text");
        (status, out, said)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It has ended, if nothing went wrong.
        drop(self.axperf.kill());
        drop(self.axperf.wait());
    }
}

/// For a program without a dynamic linker. (With the linker's relaxation, one that uses locales
/// crashes, under qemu-alpha too.)
pub const STATIC: &[&str] = &["-static", "-Wl,--no-relax"];

/// Whether there are a compiler for Alpha and a debugger.
pub fn tools() -> bool {
    ["alpha-linux-gnu-gcc", "gdb-multiarch"].into_iter().all(have) && have_file(SYSROOT)
}

/// Compiles a program to be debugged.
pub fn compile(dir: &TempDir, source: &str, flags: &[&str]) -> String {
    let flags = [&["-g", "-O0", "-w", "-pthread"], flags].concat();
    dir.compile("prog", source, &flags)
}

/// Runs gdb's commands on a program; what gdb prints.
pub fn gdb(program: &str, commands: &[&str]) -> String {
    let mut gdb = Command::new("timeout");
    gdb.args([
        "60",
        "gdb-multiarch",
        "-nx",
        "-batch",
        "-iex",
        "set pagination off",
        "-iex",
        "set confirm off",
    ]);
    gdb.args(["-iex", "set debuginfod enabled off", "-iex", &format!("set sysroot {SYSROOT}")]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    let out = gdb.arg(program).stdin(Stdio::null()).output().expect("gdb starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&out.stdout), text(&out.stderr))
}

/// Whether the lines that contain these texts come in this order.
#[track_caller]
pub fn in_order(text: &str, wanted: &[&str]) {
    let mut rest = text;
    for want in wanted {
        match rest.find(want) {
            Some(at) => rest = &rest[at + want.len()..],
            None => panic!("no {want:?} after what comes before it in\n{text}"),
        }
    }
}
