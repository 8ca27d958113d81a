//! The disassembler against GNU objdump: over the C library of Debian's Alpha cross compiler, and
//! over the encoding space.

#[path = "../../tests/support/mod.rs"]
mod support;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

use axperf_isa::palmode::{self, Family, PalInsn};
use axperf_isa::{Op, decode, disasm};
use support::{have, have_file};

/// The C library of Debian's cross compiler.
const LIBC: &str = "/usr/alpha-linux-gnu/lib/libc.so.6.1";

/// What we write otherwise, and why.
fn difference(word: u32, family: Option<Family>) -> Option<&'static str> {
    match family.and_then(|family| Some((family, PalInsn::decode(word, family)?))) {
        Some((Family::Ev5, PalInsn::Load(access) | PalInsn::Store(access))) if access.locked => {
            return Some("binutils assembles the 21164's bit 10, LOCK, and prints nothing of it");
        }
        Some((Family::Ev4, PalInsn::Store(_))) if word & 0xf000 == 0xe000 => {
            return Some("binutils prints HW_ST/PAR of a longword as hw_stq/par");
        }
        _ => {}
    }
    match decode(word).map(|insn| (insn.op, insn.literal)) {
        Some((Op::sextb | Op::sextw, true)) => {
            Some("the manual gives SEXTB and SEXTW a literal form, binutils doesn't")
        }
        _ => None,
    }
}

fn temporary(name: &str) -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    path.push(format!("{name}-{}", std::process::id()));
    path
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The machine's name to objdump.
fn machine(family: Option<Family>) -> &'static str {
    match family {
        None => "alpha",
        Some(Family::Ev4) => "alpha:ev4",
        Some(Family::Ev5) => "alpha:ev5",
        Some(Family::Ev6) => "alpha:ev6",
    }
}

/// Compares every word of a file that holds nothing else, as if it stood at `base`.
fn compare(file: &Path, base: u64, family: Option<Family>) {
    let bytes = std::fs::read(file).unwrap();
    let listing = run(Command::new("alpha-linux-gnu-objdump")
        .args(["-D", "-z", "-b", "binary", "-m", machine(family)])
        .arg(format!("--adjust-vma={base:#x}"))
        .arg(file));
    let mut words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    let mut pc = base;
    let mut wrong = Vec::new();
    // `address:<tab>bytes <tab>text`
    for line in listing.lines() {
        let Some((address, rest)) = line.split_once(":\t") else { continue };
        assert_eq!(u64::from_str_radix(address.trim(), 16), Ok(pc));
        let (_, theirs) = rest.split_once('\t').unwrap();
        let word = words.next().unwrap();
        let ours = match family {
            None => disasm(word, pc),
            Some(family) => palmode::disasm(word, pc, family),
        };
        let ours = ours.to_string();
        if (ours == theirs.trim_end()) == difference(word, family).is_some() {
            wrong.push(format!("{word:#010x}: {ours:?}, objdump {theirs:?}"));
        }
        pc += 4;
    }
    assert_eq!(words.next(), None, "objdump listed every word");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn c_library() {
    let libc = Path::new(LIBC);
    if !have("alpha-linux-gnu-objdump") || !have("alpha-linux-gnu-objcopy") || !have_file(LIBC) {
        return;
    }
    let text = temporary("libc");
    run(Command::new("alpha-linux-gnu-objcopy")
        .args(["-O", "binary", "--only-section=.text"])
        .args([libc, &text]));
    assert!(std::fs::metadata(&text).unwrap().len() > 1 << 20);
    compare(&text, 0x1_2000_0000, None);
    std::fs::remove_file(text).unwrap();
}

#[test]
fn encoding_space() {
    if !have("alpha-linux-gnu-objdump") {
        return;
    }
    let file = temporary("sweep");
    let bytes: Vec<u8> = words::sweep().into_iter().flat_map(u32::to_le_bytes).collect();
    std::fs::write(&file, bytes).unwrap();
    compare(&file, 0x1_2000_0000, None);
    std::fs::remove_file(file).unwrap();
}

/// Every value of the fields of PALmode instructions, for each family of CPUs.
#[test]
fn palmode() {
    if !have("alpha-linux-gnu-objdump") {
        return;
    }
    let file = temporary("palmode");
    let bytes: Vec<u8> = words::palmode().flat_map(u32::to_le_bytes).collect();
    std::fs::write(&file, bytes).unwrap();
    for &family in Family::ALL {
        compare(&file, 0x1_2000_0000, Some(family));
    }
    std::fs::remove_file(file).unwrap();
}

/// The other instructions are the same for every family.
#[test]
fn families_share_the_rest() {
    for word in words::sweep().into_iter().step_by(7) {
        for &family in Family::ALL {
            if PalInsn::decode(word, family).is_none() {
                let text = palmode::disasm(word, 0, family).to_string();
                assert_eq!(text, disasm(word, 0).to_string());
            }
        }
    }
}
