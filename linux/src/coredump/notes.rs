//! The notes of a core dump.
//!
//! A thread's registers are noted twice: as Linux/alpha does (`elf_prstatus` and `elf_fpregset_t`,
//! Linux `include/linux/elfcore.h` and `arch/alpha/kernel/process.c`), and as FreeBSD does. The
//! library that gdb and binutils read core dumps with knows the first layout only if it was built on
//! an Alpha; the second says how long its parts are, and is read everywhere.

use axperf::{Bus, Reg, Regs};

use crate::bytes::Bytes;
use crate::layout::PAGE;
use crate::mm::Backing;
use crate::process::Shared;
use crate::signal::Info;

/// Types of notes.
mod nt {
    pub const PRSTATUS: u32 = 1;
    pub const FPREGSET: u32 = 2;
    pub const PRPSINFO: u32 = 3;
    pub const AUXV: u32 = 6;
    pub const SIGINFO: u32 = 0x5349_4749;
    pub const FILE: u32 = 0x4649_4c45;
}

/// The owners of notes.
const LINUX: &[u8] = b"CORE\0";
const FREEBSD: &[u8] = b"FreeBSD\0";

/// All notes; the first thread is the one that the signal ended.
pub(super) fn all(shared: &Shared, info: &Info, threads: &[(i32, Regs)]) -> Vec<u8> {
    let mut notes = Vec::new();
    for (i, (tid, regs)) in threads.iter().enumerate() {
        put(&mut notes, FREEBSD, nt::PRSTATUS, &freebsd_prstatus(info, *tid, regs).0);
        put(&mut notes, LINUX, nt::PRSTATUS, &prstatus(info, *tid, regs).0);
        if i == 0 {
            put(&mut notes, LINUX, nt::PRPSINFO, &prpsinfo(shared).0);
            put(&mut notes, LINUX, nt::SIGINFO, &info.bytes.0);
            put(&mut notes, LINUX, nt::AUXV, &shared.running().auxv);
            put(&mut notes, LINUX, nt::FILE, &files(shared));
        }
        put(&mut notes, LINUX, nt::FPREGSET, &fpregset(regs).0);
    }
    notes
}

fn put(notes: &mut Vec<u8>, owner: &[u8], kind: u32, content: &[u8]) {
    for n in [owner.len() as u32, content.len() as u32, kind] {
        notes.extend_from_slice(&n.to_le_bytes());
    }
    for part in [owner, content] {
        notes.extend_from_slice(part);
        notes.resize(notes.len().next_multiple_of(4), 0);
    }
}

/// `elf_gregset_t`: `$0` to `$30`, the pc, the thread pointer.
fn gregset(regs: &Regs) -> [u64; 33] {
    let mut words = [0; 33];
    for n in 0..31 {
        words[usize::from(n)] = regs.int(n);
    }
    words[31] = regs.pc();
    words[32] = regs.get(Reg::Unique);
    words
}

/// `elf_fpregset_t`: `$f0` to `$f30`, the FPCR.
fn fpregset(regs: &Regs) -> Bytes<256> {
    let mut b = Bytes::zeroed();
    for n in 0..31 {
        b.put_u64(8 * usize::from(n), regs.fp(n));
    }
    b.put_u64(8 * 31, regs.get(Reg::Fpcr));
    b
}

/// `struct elf_prstatus`. Times, pending and blocked signals aren't noted.
fn prstatus(info: &Info, tid: i32, regs: &Regs) -> Bytes<384> {
    let mut b = Bytes::zeroed();
    b.put_u32(0, u32::from(info.signal.number()));
    b.put_i32(4, info.bytes.i32(8));
    b.put_i32(8, info.bytes.i32(4));
    b.put_u16(12, u16::from(info.signal.number()));
    b.put_i32(32, tid);
    for (i, id) in family().into_iter().enumerate() {
        b.put_i32(36 + 4 * i, id);
    }
    for (i, word) in gregset(regs).into_iter().enumerate() {
        b.put_u64(112 + 8 * i, word);
    }
    // pr_fpvalid.
    b.put_u32(376, 1);
    b
}

/// FreeBSD's `prstatus_t`, for machines of 64 bits, version 1. gdb wants the thread pointer, which
/// comes last, left out.
fn freebsd_prstatus(info: &Info, tid: i32, regs: &Regs) -> Bytes<304> {
    const REGISTERS: usize = 48;
    const WORDS: usize = 32;
    let mut b = Bytes::zeroed();
    b.put_u32(0, 1);
    b.put_u64(8, (REGISTERS + 8 * WORDS) as u64);
    b.put_u64(16, 8 * WORDS as u64);
    b.put_u64(24, 256);
    b.put_u32(36, u32::from(info.signal.number()));
    b.put_i32(40, tid);
    for (i, word) in gregset(regs).into_iter().take(WORDS).enumerate() {
        b.put_u64(REGISTERS + 8 * i, word);
    }
    b
}

/// Parent, process group, session.
fn family() -> [i32; 3] {
    // SAFETY: these have no preconditions.
    unsafe { [libc::getppid(), libc::getpgid(0), libc::getsid(0)] }
}

/// `struct elf_prpsinfo`.
fn prpsinfo(shared: &Shared) -> Bytes<136> {
    const NAME: std::ops::Range<usize> = 40..56;
    const ARGUMENTS: std::ops::Range<usize> = 56..136;
    let mut b = Bytes::zeroed();
    b.0[1] = b'R';
    // SAFETY: these have no preconditions.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    b.put_u32(16, uid);
    b.put_u32(20, gid);
    b.put_i32(24, std::process::id() as i32);
    for (i, id) in family().into_iter().enumerate() {
        b.put_i32(28 + 4 * i, id);
    }
    // Without /proc, or with its stack unmapped, the process has no name and no arguments.
    let comm = std::fs::read("/proc/self/comm").unwrap_or_default();
    let comm = comm.trim_ascii_end();
    let n = comm.len().min(NAME.len() - 1);
    b.0[NAME][..n].copy_from_slice(&comm[..n]);
    let args = shared.running().layout.args.clone();
    let mut text = vec![0; ((args.end - args.start) as usize).min(ARGUMENTS.len() - 1)];
    if shared.space.read(args.start, &mut text).is_ok() {
        let end = text.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        for (to, from) in b.0[ARGUMENTS].iter_mut().zip(&text[..end]) {
            *to = if *from == 0 { b' ' } else { *from };
        }
    }
    b
}

/// The files that are mapped: a count, the page size, where each is and from which page, their names.
fn files(shared: &Shared) -> Vec<u8> {
    let table = shared.space.table();
    let (mut places, mut names) = (Vec::new(), Vec::new());
    let mut count = 0u64;
    for vma in table.iter() {
        if let Backing::File(file, offset) = &vma.backing {
            count += 1;
            for n in [vma.start, vma.end, offset / PAGE] {
                places.extend_from_slice(&n.to_le_bytes());
            }
            names.extend_from_slice(shared.config.sysroot.guest(&file.path));
            names.push(0);
        }
    }
    [&count.to_le_bytes(), &PAGE.to_le_bytes(), places.as_slice(), &names].concat()
}
