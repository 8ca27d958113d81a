//! Random programs on qemu-alpha: the registers and the memory that they end with are the same.
//!
//! What stops a program (a trap, an unaligned address) is taken out of it first. Left out are, by
//! name, the things in which qemu is known to differ:
//! - results that aren't numbers, whose sign and payload qemu chooses by another rule than the
//!   manual's (4.7.10.4): each becomes 0;
//! - denormal operands of instructions with software completion: qemu raises SIGFPE where the Linux
//!   kernel completes them (it ignores FPCR.DNOD);
//! - underflow without software completion, which gives true zero (4.7.7.7) and in qemu a zero with
//!   the sign of the result: each such zero becomes positive;
//! - an exact denormal result without software completion: it underflows, and traps with /U, since
//!   it becomes zero (4.7.7.7); qemu doesn't take it for an underflow;
//! - S_floating instructions on what isn't the image of an S_floating number, which the manual calls
//!   UNPREDICTABLE (4.7.1): they are taken out;
//! - STX_C where LDX_L reserves 16 bytes and qemu a location: to another address in them, or after
//!   the program itself stored to them;
//! - load-locked to $31, which qemu takes for a prefetch;
//! - the FPCR's status, AMASK's bit for prefetches (that qemu's EV67 claims), RPCC.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use axperf::isa::{Op, assemble, decode, disasm, word};
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg};

use crate::buses::{Arena, CODE, DATA, DATA_LEN, LEN, STACK, STACK_LEN};
use crate::elf::executable;
use crate::generate::{Recipe, program};
use crate::random::cases;
use crate::support::{TempDir, have, say};
use crate::trace::{listing, prepare};

/// Where a program leaves its registers, and finds its first ones.
const RESULT: u64 = DATA + DATA_LEN;
const INITIAL: u64 = RESULT + 0x400;
/// What it writes: data, results, stack.
const OUTPUT: std::ops::Range<u64> = DATA..STACK + STACK_LEN;
/// What `$28` points to all the time.
const MIDDLE: u64 = DATA + DATA_LEN / 2;
const CALLSYS: u32 = 0x83;
/// UNF in the exception summary.
const UNDERFLOW: u64 = 1 << 4;
/// bis $31,$31,$31
const NOP: u32 = 0x47ff_041f;

fn recipe(size: usize) -> Recipe {
    Recipe { size, wild: 0, stops: 0, counter: false, for_qemu: true }
}

/// Registers that stand in memory: all but `$28`, which is their base.
fn registers() -> impl Iterator<Item = u8> {
    (0..31).filter(|&n| n != 28)
}

/// A program as Linux starts it: registers from memory, the random part, registers to memory,
/// write(1, …), exit(0). The random part stands at the front; the second value is the entry.
fn whole(random: &[u32]) -> (Vec<u32>, u64) {
    let mut words = random.to_vec();
    let end = words.iter().position(|&w| w == CALLSYS).unwrap();
    words[end] = 0xc3e0_0000 | (words.len() - end - 1) as u32;
    let mut text = String::new();
    let place = |at: u64, n: u8| at + 8 * u64::from(n) - MIDDLE;
    for n in registers() {
        text += &format!("stq ${n}, {}($28)\n", place(RESULT, n));
    }
    for n in 0..31 {
        text += &format!("stt $f{n}, {}($28)\n", place(RESULT + 256, n));
    }
    let len = OUTPUT.end - OUTPUT.start;
    text +=
        &format!("li $16, 1\nli $17, {}\nli $18, {len}\nli $0, 4\ncall_pal 0x83\n", OUTPUT.start);
    text += "li $16, 0\nli $0, 1\ncall_pal 0x83\n";
    let entry = format!("li $28, {MIDDLE}\n");
    let mut start = entry;
    for n in 0..31 {
        start += &format!("ldt $f{n}, {}($28)\n", place(INITIAL + 256, n));
    }
    for n in registers() {
        start += &format!("ldq ${n}, {}($28)\n", place(INITIAL, n));
    }
    words.extend(assemble(&text, CODE + 4 * words.len() as u64).unwrap());
    let at = CODE + 4 * words.len() as u64;
    words.extend(assemble(&start, at).unwrap());
    let back = (CODE as i64 - (CODE as i64 + 4 * words.len() as i64 + 4)) / 4;
    words.push(0xc3e0_0000 | back as u32 & 0x1f_ffff);
    (words, at)
}

/// Memory as it is before a program starts.
fn memory(words: &[u32], seed: u64) -> Machine<FlatMemory> {
    let mut c = Config::new();
    c.engine(EngineKind::Interp);
    let mut m = machine(&c);
    prepare(&mut m, words, seed);
    for n in registers() {
        let (int, fp) = (m.reg(Reg::int(n).unwrap()), m.reg(Reg::fp(n).unwrap()));
        m.bus().fill(INITIAL + 8 * u64::from(n), &int.to_le_bytes());
        m.bus().fill(INITIAL + 256 + 8 * u64::from(n), &fp.to_le_bytes());
    }
    m
}

fn machine(config: &Config) -> Machine<FlatMemory> {
    Machine::new(&Engine::new(config).unwrap(), FlatMemory::new(LEN as usize)).unwrap()
}

fn image(m: &Machine<FlatMemory>) -> Vec<u8> {
    let mut image = vec![0; (LEN - CODE) as usize];
    m.read(CODE, &mut image).unwrap();
    image
}

/// How a whole program goes.
#[derive(Debug)]
enum End {
    /// It ends by exit, having written this.
    Output(Vec<u8>),
    /// An arithmetic trap of the instruction at this pc.
    Trap(u64),
    /// The same, for underflow alone: of us only.
    Underflow(u64),
    /// An address that isn't aligned, at this pc.
    Unaligned(u64),
}

/// Runs a whole program.
fn run(m: &mut Machine<FlatMemory>, entry: u64) -> End {
    m.set_reg(Reg::Pc, entry);
    match m.run(3_000_000) {
        Exit::Pal { function: 0x83 } if m.reg(Reg::R0) == 4 => {
            let mut out = vec![0; m.reg(Reg::R18) as usize];
            m.read(m.reg(Reg::R17), &mut out).unwrap();
            End::Output(out)
        }
        Exit::Arith { pc, summary, .. } if summary == UNDERFLOW => End::Underflow(pc - 4),
        Exit::Arith { pc, .. } => End::Trap(pc - 4),
        Exit::Unaligned { pc, .. } => End::Unaligned(pc),
        other => panic!("{other:?} at {:#x}", m.reg(Reg::Pc)),
    }
}

/// How qemu says that it goes.
fn qemu(words: &[u32], entry: u64, seed: u64) -> End {
    let file = executable(CODE, &image(&memory(words, seed)), entry);
    let dir = TempDir::new();
    let path = dir.path("program");
    std::fs::write(&path, file).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("qemu-alpha").arg("-strace").arg(&path).output().unwrap();
    if output.status.success() {
        return End::Output(output.stdout);
    }
    // --- SIGFPE {si_signo=SIGFPE, si_code=7, si_addr=0x0000000000010064} ---
    let calls = String::from_utf8_lossy(&output.stderr);
    let signal = calls.lines().find_map(|l| l.strip_prefix("--- SIG")?.split_once(" {"));
    let addr = calls.split_once("si_addr=0x").map(|(_, a)| a.split('}').next().unwrap());
    let addr = addr.and_then(|a| u64::from_str_radix(a, 16).ok());
    match (signal, addr) {
        // The next instruction's address; the one that isn't aligned.
        (Some(("FPE", _)), Some(addr)) => End::Trap(addr - 4),
        (Some(("BUS", _)), Some(addr)) => End::Unaligned(addr),
        _ => panic!("seed {seed}: {}\n{calls}{}", output.status, listing(words, 0, CODE)),
    }
}

/// The operands that the floating-point instruction at `pc` gets, time after time.
fn operands(words: &[u32], entry: u64, seed: u64, pc: u64) -> Vec<[u64; 2]> {
    let insn = decode(words[((pc - CODE) / 4) as usize]).unwrap();
    let mut m = memory(words, seed);
    m.set_reg(Reg::Pc, entry);
    let mut operands = Vec::new();
    loop {
        if m.reg(Reg::Pc) == pc {
            operands.push([insn.ra, insn.rb].map(|r| m.regs().fp(r)));
        }
        if m.run(1) != Exit::Fuel {
            return operands;
        }
    }
}

/// The image of an S_floating number: an exponent of eight bits, and no low fraction bits.
fn is_single(x: u64) -> bool {
    let exponent = x >> 52 & 0x7ff;
    x & 0x1fff_ffff == 0 && matches!(exponent, 0 | 0x381..=0x47e | 0x7ff)
}

/// Whether a STx_C meets a reservation that isn't qemu's, given address and STx_C of the last LDx_L.
fn reserved_otherwise(m: &Machine<FlatMemory>, addr: u64, op: Op, locked: (u64, Op)) -> bool {
    let block = addr & !15;
    let held = m.regs().word(word::LOCK_ADDR) == block;
    let quads = [0, 1].map(|i| m.regs().word(word::LOCK_BLOCK + i));
    held && (locked != (addr, op) || quads != [m.bus().quad(block), m.bus().quad(block + 8)])
}

/// Takes out what the manual calls UNPREDICTABLE, and what qemu is known to do otherwise.
fn settle(random: &mut [u32], seed: u64) {
    loop {
        let (words, entry) = whole(random);
        let mut m = memory(&words, seed);
        m.set_reg(Reg::Pc, entry);
        let mut locked = (0, Op::stq_c);
        let unpredictable = loop {
            let at = ((m.reg(Reg::Pc) - CODE) / 4) as usize;
            let insn = decode(words[at]).unwrap();
            let single = matches!(
                insn.op,
                Op::adds | Op::subs | Op::muls | Op::divs | Op::sqrts | Op::cvtst
            );
            if single && ![insn.ra, insn.rb].iter().all(|&r| is_single(m.regs().fp(r))) {
                break Some(at);
            }
            let addr = m.regs().int(insn.rb).wrapping_add_signed(insn.imm.into());
            match insn.op {
                Op::ldl_l => locked = (addr, Op::stl_c),
                Op::ldq_l => locked = (addr, Op::stq_c),
                Op::stl_c | Op::stq_c if reserved_otherwise(&m, addr, insn.op, locked) => {
                    break Some(at);
                }
                _ => {}
            }
            match m.run(1) {
                Exit::Fuel | Exit::Arith { .. } => {}
                _ => break None,
            }
        };
        match unpredictable {
            Some(at) => random[at] = NOP,
            None => return,
        }
    }
}

/// Why qemu traps at a word where we don't, if that is known.
fn known_trap(word: u32, operands: &[[u64; 2]]) -> Option<&'static str> {
    let insn = decode(word)?;
    let denormal = |x: u64| x << 1 != 0 && x << 1 >> 53 == 0;
    if insn.qualifiers().software && operands.iter().flatten().copied().any(denormal) {
        return Some("a denormal operand with software completion");
    }
    None
}

fn quad(bytes: &[u8], at: u64) -> u64 {
    let i = (at - OUTPUT.start) as usize;
    u64::from_le_bytes(bytes[i..i + 8].try_into().unwrap())
}

fn differences(theirs: &[u8], ours: &[u8]) -> Vec<String> {
    let mut differs = Vec::new();
    assert_eq!(theirs.len(), ours.len());
    for at in OUTPUT.step_by(8) {
        let (t, o) = (quad(theirs, at), quad(ours, at));
        if t != o {
            let what = match at.checked_sub(RESULT).map(|d| d / 8) {
                Some(n @ 0..32) => format!("${n}"),
                Some(n @ 32..64) => format!("$f{}", n - 32),
                _ => format!("{at:#x}"),
            };
            differs.push(format!("{what} is {o:#x}, qemu says {t:#x}"));
        }
    }
    differs
}

/// Takes what stops it out of a program, in so far as qemu stops there too or its difference is
/// known. What it writes then, by us and by qemu.
fn tame(random: &mut [u32], seed: u64) -> (Vec<u8>, Vec<u8>) {
    loop {
        settle(random, seed);
        let (words, entry) = whole(random);
        let ours = run(&mut memory(&words, seed), entry);
        let at = |pc: u64| ((pc - CODE) / 4) as usize;
        let name = |pc: u64| {
            let operands = operands(&words, entry, seed, pc);
            format!("{pc:#x} {}: {operands:x?}", disasm(words[at(pc)], pc))
        };
        let stop = if let End::Unaligned(pc) = ours {
            pc
        } else {
            match (ours, qemu(&words, entry, seed)) {
                (End::Output(ours), End::Output(theirs)) => return (ours, theirs),
                (End::Trap(ours) | End::Underflow(ours), End::Trap(theirs)) if ours == theirs => {
                    ours
                }
                (End::Underflow(pc), _) => pc,
                (_, End::Trap(pc))
                    if known_trap(words[at(pc)], &operands(&words, entry, seed, pc)).is_some() =>
                {
                    pc
                }
                (End::Trap(pc), _) => panic!("seed {seed}: only we trap: {}", name(pc)),
                (_, End::Trap(pc)) => panic!("seed {seed}: only qemu traps: {}", name(pc)),
                (_, End::Unaligned(at)) => panic!("seed {seed}: only qemu stops, at {at:#x}"),
                (End::Unaligned(_), _) | (_, End::Underflow(_)) => {
                    unreachable!("handled above, and ours")
                }
            }
        };
        assert_ne!(random[at(stop)], NOP, "seed {seed}: a NOP stops");
        random[at(stop)] = NOP;
    }
}

/// Compares interpreter and translated code with qemu.
fn check(seed: u64, size: usize) {
    let mut random = program(seed, recipe(size));
    let (interpreted, theirs) = tame(&mut random, seed);
    let (words, entry) = whole(&random);
    let mut c = Config::new();
    c.hot(1);
    let mut m = machine(&c);
    m.write(CODE, &image(&memory(&words, seed))).unwrap();
    let End::Output(translated) = run(&mut m, entry) else { panic!("seed {seed}: it stops") };
    for (ours, engine) in [(&interpreted, "interpreter"), (&translated, "translated code")] {
        let differs = differences(&theirs, ours);
        let text = || listing(&random, 0, CODE);
        assert!(differs.is_empty(), "seed {seed}, {engine}: {differs:#?}\n{}", text());
    }
}

#[test]
fn qemu_agrees() {
    if !have("qemu-alpha") {
        return;
    }
    let seeds = cases(6);
    for seed in seeds.clone() {
        check(seed, 120);
    }
    say(format_args!("{} random programs as qemu-alpha runs them", seeds.count()));
}
