//! Registers at a memory fault in hot code: those that qemu-alpha's gdb server shows for the same
//! program.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use support::{TempDir, have, run};

/// Fills registers, then walks off the end of its memory in a loop that has become hot: first by a
/// store, in the second program by a load, with the pointer in another register.
const PROGRAMS: [&str; 2] = [
    "
    .globl _start
    _start:
        lda $1, 101($31)
        lda $2, 202($31)
        sll $2, 40, $3
        not $3, $4
        lda $5, -7($31)
        ldah $10, 0x1234($31)
        lda $15, 15($31)
        lda $22, 22($31)
        lda $28, 28($31)
        itoft $3, $f3
        cvtqt $f3, $f4
        lda $9, 0($31)
        br $7, here
    here:
        bic $7, 7, $7
    next:
        addq $9, 1, $9
        xor $9, $3, $11
        s8addq $9, $11, $12
        cvtqt $f4, $f5
        addt $f4, $f5, $f6
        itoft $9, $f7
        stq $12, 0($7)
        mulq $9, 77, $13
        extbl $13, $9, $14
        lda $7, 32($7)
        br $31, next
    .data
        .space 0x40000
    ",
    "
    .globl _start
    _start:
        lda $9, 0($31)
        lda $0, 3($31)
        br $8, here
    here:
        bic $8, 3, $8
    next:
        addq $9, 1, $9
        bsr $26, step
        sll $9, 3, $20
        subq $20, $0, $21
        br $31, next
    step:
        ldl $16, 0($8)
        addl $16, $9, $17
        lda $8, 12($8)
        cmplt $17, $9, $18
        cmovne $18, $9, $19
        ret $31, ($26)
    .data
        .space 0x30000
    ",
];

type Registers = BTreeMap<String, u64>;

/// Registers by the number that the manual gives them.
fn key(name: &str) -> Option<String> {
    let abi = [
        "v0", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5",
        "fp", "a0", "a1", "a2", "a3", "a4", "a5", "t8", "t9", "t10", "t11", "ra", "t12", "at",
        "gp", "sp",
    ];
    if let Some(n) = abi.iter().position(|a| *a == name) {
        return Some(format!("r{n}"));
    }
    match name {
        "pc" | "fpcr" => Some(name.into()),
        _ if name.starts_with('f') || name.starts_with('r') => Some(name.into()),
        _ => None,
    }
}

/// What axperf prints: a name and sixteen hex digits, four times a line.
fn ours(text: &str) -> Registers {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(2)
        .filter(|w| w[1].len() == 16)
        .filter_map(|w| {
            let name = match w[0] {
                "gp" => "r29",
                "sp" => "r30",
                name => name,
            };
            Some((key(name)?, u64::from_str_radix(w[1], 16).ok()?))
        })
        .collect()
}

/// What gdb prints: `v0  0x3  3`, and for floating-point registers `f4  1.0 (raw 0x3ff0...)`.
fn gdbs(text: &str) -> Registers {
    text.lines()
        .filter_map(|line| {
            let name = line.split_whitespace().next()?;
            let hex = match line.split_once("(raw 0x") {
                Some((_, raw)) => raw.trim_end_matches(')'),
                None => line.split_whitespace().nth(1)?.strip_prefix("0x")?,
            };
            Some((key(name)?, u64::from_str_radix(hex, 16).ok()?))
        })
        .collect()
}

#[test]
fn registers_at_a_fault_are_qemus() {
    if !["alpha-linux-gnu-gcc", "qemu-alpha", "gdb-multiarch"].into_iter().all(have) {
        return;
    }
    for (i, program) in PROGRAMS.iter().enumerate() {
        let dir = TempDir::new();
        let (source, binary) = (dir.path("walk.s"), dir.path("walk"));
        // What a program finds in its registers is the system's business.
        let clear: String = (0..30)
            .map(|r| format!("bis $31, $31, ${r}\ncpys $f31, $f31, $f{r}\n"))
            .chain(["cpys $f31, $f31, $f30\n".into()])
            .collect();
        let program = program.replace(" _start:", &format!("_start:\n{clear}"));
        let text = format!(".set noat\n.set noreorder\n.arch ev67\n.text\n{program}");
        fs::write(&source, text).unwrap();
        let [source, binary] = [&source, &binary].map(|p| p.to_str().expect("text"));
        run("alpha-linux-gnu-gcc", &["-nostdlib", "-static", "-mcpu=ev67", source, "-o", binary]);
        let socket = dir.path("gdb.sock");
        let socket = socket.to_str().expect("text");
        let mut qemu = Command::new("qemu-alpha")
            .args(["-cpu", "ev67", "-g", socket, binary])
            .stderr(Stdio::null())
            .spawn()
            .expect("qemu-alpha starts");
        while !std::path::Path::new(socket).exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let gdb = Command::new("gdb-multiarch")
            .args(["-batch", "-nx", "-ex", &format!("file {binary}")])
            .args(["-ex", &format!("target remote {socket}"), "-ex", "continue"])
            .args(["-ex", "info all-registers", "-ex", "kill"])
            .output()
            .expect("gdb-multiarch runs");
        qemu.wait().expect("qemu ends");
        let want = gdbs(&String::from_utf8_lossy(&gdb.stdout));
        assert!(want.len() >= 60, "gdb shows {} registers: {want:?}", want.len());

        for engine in ["interp", "jit"] {
            let out = Command::new(env!("CARGO_BIN_EXE_axperf"))
                .env("AXPERF_CACHE_DIR", "")
                .args(["run", "--fault-regs", "--engine", engine, binary])
                .output()
                .expect("axperf runs");
            let got = ours(&String::from_utf8_lossy(&out.stderr));
            for (name, value) in &want {
                // The stack is elsewhere; so are FPCR's flags, which qemu-alpha starts otherwise.
                if name != "r30" && name != "fpcr" {
                    let shown = got.get(name).copied();
                    assert_eq!(shown, Some(*value), "{name} of program {i}, {engine}");
                }
            }
        }
    }
}
