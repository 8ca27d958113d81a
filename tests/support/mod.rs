//! What the tests share: outside tools, programs compiled for Alpha, temporary files.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether a tool is there. In CI it has to be; elsewhere the test says that it is missing, and
/// passes.
pub fn have(tool: &str) -> bool {
    let found = Command::new(tool)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    missing_unless(found, tool)
}

/// Whether a file of the cross compiler's is there; as for [`have`].
pub fn have_file(path: &str) -> bool {
    missing_unless(Path::new(path).exists(), path)
}

fn missing_unless(found: bool, what: &str) -> bool {
    if !found {
        assert!(std::env::var_os("CI").is_none(), "{what} is missing");
        say(format_args!("skips what needs {what}: it is missing"));
    }
    found
}

/// A line about the test that runs, in the log of a run that passes too.
pub fn say(what: std::fmt::Arguments<'_>) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by `eprintln!`, which the test runner swallows when a test passes. Without a place to
    // write to there is nobody to tell.
    drop(writeln!(std::io::stderr(), "{test}: {what}"));
}

/// Where Debian's cross compiler has Alpha's C library.
pub const SYSROOT: &str = "/usr/alpha-linux-gnu";

/// Runs a tool; what it writes to standard output.
pub fn run(tool: &str, args: &[&str]) -> String {
    let out = Command::new(tool).args(args).output().expect("the tool starts");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{tool} {args:?}: {}\n{errors}", out.status);
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// A directory that is removed at the end of the test.
pub struct TempDir(PathBuf);

impl TempDir {
    /// A new one.
    pub fn new() -> TempDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("axperf-test-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a temporary directory");
        TempDir(dir)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A path in it, as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a path of this test's own").to_owned()
    }

    /// Compiles a C program for Alpha; the program's path.
    pub fn compile(&self, name: &str, source: &str, flags: &[&str]) -> String {
        let (c, out) = (self.text(&format!("{name}.c")), self.text(name));
        std::fs::write(&c, source).expect("write the source");
        let mut args = vec![c.as_str(), "-o", &out];
        args.extend(flags);
        run("alpha-linux-gnu-gcc", &args);
        out
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // What can't be removed stays in the temporary directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
