//! How programs start and end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{SYSROOT, TempDir, have_file, run, say};
use crate::{ENGINES, Native, alpha, output, run_alpha, runner, source, str_of, text, tools};

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

/// A read-only segment, the highest, with zeros after its bytes in the file: it is loaded, and the break
/// begins after it (`load_elf_binary`: where the last segment ends, up to the next page).
#[test]
fn zeros_in_a_read_only_segment() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let source = "\
        .globl _start\n.text\n_start:\n\
        lda $0,17\n lda $16,0\n callsys\n\
        ldah $1,0x4001($31)\n sll $1,2,$1\n lda $2,0x1000($31)\n addq $1,$2,$2\n\
        ldq $3,0($1)\n ldq $4,-8($2)\n\
        lda $5,0x2000($31)\n addq $1,$5,$5\n subq $0,$5,$16\n\
        bis $16,$4,$16\n cmpeq $3,42,$3\n xor $3,1,$3\n bis $16,$3,$16\n\
        cmpult $31,$16,$16\n lda $0,405\n callsys\n\
        .section .ro,\"a\",@progbits\n .quad 42\n .section .zero,\"a\",@nobits\n .space 0xff8\n";
    let script = "PHDRS { text PT_LOAD FLAGS(5); ro PT_LOAD FLAGS(4); }\n\
        SECTIONS { .text 0x100000000 : { *(.text) } :text\n\
        .ro 0x100040000 : { *(.ro) } :ro\n .zero : { *(.zero) } :ro\n /DISCARD/ : { *(*) } }\n";
    fs::write(dir.path("a.s"), source).expect("a file");
    fs::write(dir.path("script"), script).expect("a file");
    run("alpha-linux-gnu-as", &[&dir.text("a.s"), "-o", &dir.text("a.o")]);
    let (object, linked) = (dir.text("a.o"), dir.text("zeros"));
    run("alpha-linux-gnu-ld", &["-T", &dir.text("script"), &object, "-o", &linked]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "zeros", options, &[]);
        assert_eq!(got.status.code(), Some(0), "{options:?}: {}", text(&got.stderr));
    }
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
                if (n > 2) syscall(s); else raise(s); return 0; }";
    dir.compile("end", code, &[]);
    let run = |args: &[&str]| run_alpha(&dir.path(""), "end", &["-i", "-v"], args);
    assert_eq!(run(&[]).status.code(), Some(7));
    // Alpha's SIGBUS is 10, SIGUSR1 30; the host's are 7 and 10.
    for (guest, host) in [("10", libc::SIGBUS), ("30", libc::SIGUSR1), ("9", libc::SIGKILL)] {
        assert_eq!(run(&[guest]).status.signal(), Some(host), "{guest}");
    }
    assert_eq!(
        text(&run(&["26", "call"]).stderr),
        "axperf: system call ptrace (26) isn't implemented\n"
    );
    assert_eq!(text(&run(&["5000", "call"]).stderr), "axperf: system call 5000 doesn't exist\n");

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

/// In a chroot of Alpha files, without /proc: with what the runner itself is linked to, which has other
/// names than Alpha's libraries.
#[test]
fn in_a_chroot() {
    // SAFETY: geteuid has no preconditions.
    if !tools() || unsafe { libc::geteuid() } != 0 {
        say(format_args!("only root may chroot: not tried"));
        return;
    }
    let program = Native::of(source("hello.c"));
    let root = program.dir.path("root");
    let put = |from: &Path, to: &str| {
        let to = root.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().expect("a directory")).expect("a directory");
        fs::copy(from, to).expect("a file");
    };
    for library in ["ld-linux.so.2", "libc.so.6.1"] {
        put(&Path::new(SYSROOT).join("lib").join(library), &format!("lib/{library}"));
    }
    for word in run("ldd", &[str_of(&runner())]).split_whitespace().filter(|w| w.starts_with('/')) {
        put(Path::new(word), word);
    }
    put(&runner(), "alpha-run");
    alpha(&program.source, &root.join("hello"), &["-O1"]);
    let mut chroot = Command::new("chroot");
    chroot.arg(&root).args(["/alpha-run", "./hello"]);
    let got = output(chroot, Path::new("/"), Native::ARGS);
    let want = text(&program.want.stdout);
    assert_eq!(
        (text(&got.stdout), got.status),
        (want, program.want.status),
        "{}",
        text(&got.stderr)
    );
}

/// Programs of the host's, from an Alpha program: a shell, a script, one that waits in vfork's parent; with
/// the descriptors, signals and limits that it is given.
#[test]
fn programs_of_the_host() {
    if tools() {
        Native::of(source("hosts.c")).compare(&["-O1"], ENGINES);
    }
}
