//! Arithmetic: what instructions, and the libraries made of them, compute.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::support::{SYSROOT, TempDir, have};
use crate::{ENGINES, Native, alpha, output, run_alpha, source, text, tools};

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
