//! The stack that a program starts with: strings, auxiliary vector, environment, arguments.

use std::ops::Range;

use axperf::{Bus, Cpu};

use crate::cpu;
use crate::errno::Errno;
use crate::layout::{PAGE, STACK_TOP};
use crate::mm::Space;

/// What the auxiliary vector says of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Auxv {
    pub cpu: Cpu,
    pub headers: u64,
    pub header_count: u64,
    pub base: u64,
    pub entry: u64,
    /// AT_RANDOM, if it isn't to be the host's.
    pub random: Option<[u8; 16]>,
}

/// The stack, built.
#[derive(Debug)]
pub(crate) struct Built {
    pub sp: u64,
    pub auxv: Vec<u8>,
    pub args: Range<u64>,
    pub env: Range<u64>,
}

/// Caches: size, log2 of the line's bytes in bits 4 to 7, ways. 64 KiB, 64 bytes, 2 ways, as every
/// EV67 has; 4 MiB, 64 bytes, direct-mapped, as many boards; none.
const L1_SHAPE: u64 = 0x1_0062;
const L2_SHAPE: u64 = 0x40_0061;
const NO_CACHE: u64 = u64::MAX;
/// Ticks of a clock_t: Alpha's kernel has 1024.
pub(crate) const CLOCK_TICKS: u64 = 1024;

/// Numbers of the auxiliary vector (`linux/auxvec.h`, and `asm/auxvec.h` for the caches).
mod at {
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const PLATFORM: u64 = 15;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const EXECFN: u64 = 31;
    pub const L1I: u64 = 34;
    pub const L1D: u64 = 35;
    pub const L2: u64 = 36;
    pub const L3: u64 = 37;
}

/// Builds the stack at the top of a mapping of `len` bytes that ends at [`STACK_TOP`].
///
/// # Errors
/// E2BIG if the strings take more than a quarter of it, as the kernel has it.
pub(crate) fn build(
    space: &Space,
    len: u64,
    argv: &[Vec<u8>],
    envp: &[Vec<u8>],
    execfn: &[u8],
    auxv: &Auxv,
) -> Result<Built, Errno> {
    let too_big = Errno(libc::E2BIG);
    let strings = argv.iter().chain(envp).map(|s| s.len() as u64 + 1 + 8).sum::<u64>();
    if strings > len / 4 || execfn.len() as u64 > PAGE {
        return Err(too_big);
    }
    // Eight zero bytes end the stack; below, upwards: arguments, environment, file name.
    let mut top = Block::ending_at(STACK_TOP - 8);
    let name_at = top.push(&[execfn, b"\0"].concat());
    let mut pointers = |list: &[Vec<u8>]| -> Vec<u64> {
        let mut at: Vec<u64> =
            list.iter().rev().map(|s| top.push(&[s.as_slice(), b"\0"].concat())).collect();
        at.reverse();
        at
    };
    let envp_at = pointers(envp);
    let args_end = envp_at.first().copied().unwrap_or(name_at);
    let argv_at = pointers(argv);
    let args = argv_at.first().copied().unwrap_or(args_end)..args_end;
    let env = args_end..name_at;
    let platform = cpu::platform(auxv.cpu);
    let platform_at = top.push(&[platform.as_bytes(), b"\0"].concat());
    let random_at = top.push(&match auxv.random {
        Some(bytes) => bytes,
        None => random()?,
    });

    // SAFETY: these have no preconditions.
    let (uid, euid, gid, egid) =
        unsafe { (libc::getuid(), libc::geteuid(), libc::getgid(), libc::getegid()) };
    let auxv: Vec<u8> = [
        (at::L1I, L1_SHAPE),
        (at::L1D, L1_SHAPE),
        (at::L2, L2_SHAPE),
        (at::L3, NO_CACHE),
        (at::HWCAP, auxv.cpu.amask()),
        (at::PAGESZ, PAGE),
        (at::CLKTCK, CLOCK_TICKS),
        (at::PHDR, auxv.headers),
        (at::PHENT, 56),
        (at::PHNUM, auxv.header_count),
        (at::BASE, auxv.base),
        (at::FLAGS, 0),
        (at::ENTRY, auxv.entry),
        (at::UID, u64::from(uid)),
        (at::EUID, u64::from(euid)),
        (at::GID, u64::from(gid)),
        (at::EGID, u64::from(egid)),
        (at::SECURE, 0),
        (at::RANDOM, random_at),
        (at::EXECFN, name_at),
        (at::PLATFORM, platform_at),
        (0, 0),
    ]
    .into_iter()
    .flat_map(|(tag, value)| [tag, value])
    .flat_map(u64::to_le_bytes)
    .collect();

    // argc, argv, NULL, envp, NULL, auxiliary vector; its start aligned to 16.
    let words = 1 + argv_at.len() + 1 + envp_at.len() + 1;
    let size = words as u64 * 8 + auxv.len() as u64;
    let sp = (top.start - size) & !15;
    let mut table = Vec::with_capacity(size as usize);
    let mut put = |word: u64| table.extend_from_slice(&word.to_le_bytes());
    put(argv.len() as u64);
    argv_at.into_iter().chain([0]).chain(envp_at).chain([0]).for_each(&mut put);
    table.extend_from_slice(&auxv);
    space.write(sp, &table)?;
    space.write(top.start, &top.bytes())?;
    Ok(Built { sp, auxv, args, env })
}

/// Bytes that grow downwards from an address.
struct Block {
    start: u64,
    /// In the order pushed: last first in memory.
    parts: Vec<Vec<u8>>,
}

impl Block {
    fn ending_at(end: u64) -> Block {
        Block { start: end, parts: Vec::new() }
    }

    /// Puts `bytes` below what is there; returns where.
    fn push(&mut self, bytes: &[u8]) -> u64 {
        self.start -= bytes.len() as u64;
        self.parts.push(bytes.to_vec());
        self.start
    }

    fn bytes(&self) -> Vec<u8> {
        self.parts.iter().rev().flatten().copied().collect()
    }
}

fn random() -> Result<[u8; 16], Errno> {
    let mut bytes = [0u8; 16];
    // SAFETY: the buffer is ours and as long as said.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == 16 { Ok(bytes) } else { Err(Errno::last()) }
}
