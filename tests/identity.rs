//! Memory that the host's MMU protects: guest addresses are host addresses below 2^42.
//!
//! Expected values: by hand from the programs, and from what a host access to the same page gives.

use std::sync::atomic::{AtomicU64, Ordering};

use axperf::isa::{Width, assemble};
use axperf::{
    Access, Bus, Config, Engine, EngineKind, Exit, Fault, FaultKind, Machine, MemoryShape, Reg,
    UNLIMITED, host,
};

/// A few pages of our own, each test's elsewhere.
struct Pages {
    base: u64,
}

const SIZE: u64 = 0x1_0000;
/// Nothing is mapped from here on.
const END: u64 = SIZE;

impl Pages {
    fn new() -> Pages {
        static NEXT: AtomicU64 = AtomicU64::new(0x100_0000_0000);
        host::install();
        let base = NEXT.fetch_add(1 << 24, Ordering::Relaxed);
        // SAFETY: MAP_FIXED_NOREPLACE takes only what is free.
        let p = unsafe {
            libc::mmap(
                base as *mut _,
                SIZE as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        assert_eq!(p as u64, base);
        Pages { base }
    }

    fn protect(&self, offset: u64, prot: i32) {
        // SAFETY: a page of ours.
        let r = unsafe { libc::mprotect((self.base + offset) as *mut _, 4096, prot) };
        assert_eq!(r, 0);
    }
}

impl Bus for Pages {
    fn shape(&self) -> MemoryShape {
        // SAFETY: this process maps nothing else below 2^42.
        unsafe { MemoryShape::identity() }
    }
    fn load(&self, addr: u64, width: Width) -> Result<u64, Fault> {
        host::load(addr, width)
    }
    fn store(&self, addr: u64, width: Width, value: u64) -> Result<(), Fault> {
        host::store(addr, width, value)
    }
    fn compare_exchange(&self, addr: u64, width: Width, old: u64, new: u64) -> Result<bool, Fault> {
        host::compare_exchange(addr, width, old, new)
    }
}

const KINDS: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// The program at the pages' start, the second half of them as data in `$9`.
fn machine(text: &str, kind: EngineKind, precise: bool) -> Machine<Pages> {
    let mut config = Config::new();
    config.engine(kind).hot(1).fault_regs(precise);
    let engine = Engine::new(&config).unwrap();
    let pages = Pages::new();
    let base = pages.base;
    let mut m = Machine::new(&engine, pages).unwrap();
    for (i, w) in assemble(text, base).unwrap().iter().enumerate() {
        m.write(base + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, base);
    m.set_reg(Reg::R9, base + SIZE / 2);
    m
}

/// Walks a quadword at a time until it runs off the end: the count is exact, and so are the
/// registers where `fault_regs` asks for it.
const WALK: &str = "
    lda $1, 0($31)
next:
    stq $1, 0($9)
    ldq $2, 0($9)
    addq $1, 1, $1
    lda $9, 8($9)
    br $31, next
";

#[test]
fn faults_are_precise() {
    for kind in KINDS {
        for fuel in [UNLIMITED, 1 << 40, 1000] {
            let mut m = machine(WALK, kind, true);
            let base = m.bus().base;
            let mut exit = m.run(fuel);
            while exit == Exit::Fuel {
                exit = m.run(fuel);
            }
            let words = SIZE / 2 / 8;
            assert_eq!(
                exit,
                Exit::Fault {
                    pc: base + 4,
                    addr: base + END,
                    access: Access::Write,
                    kind: FaultKind::Unmapped
                }
            );
            assert_eq!(m.reg(Reg::Pc), base + 4);
            assert_eq!(m.reg(Reg::R1), words, "{kind:?}");
            assert_eq!(m.reg(Reg::R2), words - 1, "{kind:?}");
            assert_eq!(m.reg(Reg::R9), base + END, "{kind:?}");
            if fuel != UNLIMITED || kind == EngineKind::Interp {
                assert_eq!(m.icount(), Some(1 + 5 * words), "{kind:?} {fuel}");
            }
        }
    }
}

/// Without anyone who sees the registers, the pc and the count are exact all the same.
#[test]
fn pc_and_count_are_exact_at_any_fault() {
    for kind in KINDS {
        for fuel in [1 << 40, 997] {
            let mut m = machine(WALK, kind, false);
            let base = m.bus().base;
            let mut exit = m.run(fuel);
            while exit == Exit::Fuel {
                exit = m.run(fuel);
            }
            assert!(matches!(exit, Exit::Fault { pc, addr, .. }
                if pc == base + 4 && addr == base + END));
            assert_eq!(m.icount(), Some(1 + 5 * (SIZE / 2 / 8)), "{kind:?} {fuel}");
        }
    }
}

/// A load whose value goes right into another instruction faults at the load.
#[test]
fn the_load_is_the_one_that_faults() {
    let text = "
        lda $1, 100($31)
    loop:
        addq $3, 1, $3
        ldq $2, 0($9)
        addq $3, $2, $3
        ldl $4, 4($9)
        addl $3, $4, $3
        lda $9, 1024($9)
        subq $1, 1, $1
        bgt $1, loop
    ";
    for kind in KINDS {
        let mut m = machine(text, kind, true);
        let base = m.bus().base;
        assert_eq!(
            m.run(UNLIMITED),
            Exit::Fault {
                pc: base + 8,
                addr: base + END,
                access: Access::Read,
                kind: FaultKind::Unmapped
            }
        );
        // 32 rounds went well, the add of the 33rd retired.
        assert_eq!(m.reg(Reg::R3), 33, "{kind:?}");
        assert_eq!(m.reg(Reg::R1), 100 - 32, "{kind:?}");
    }
}

/// Addresses that are the host's, or no one's, never reach it: each is a fault at the access.
#[test]
fn the_host_is_out_of_reach() {
    let secret = Box::new(0x1234_5678_9abc_def0u64);
    let host_address = &raw const *secret as u64;
    for text in [
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n ldq $1, 0($9)\n call_pal 0",
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n stq $1, 0($9)\n call_pal 0",
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n ldq_l $1, 0($9)\n call_pal 0",
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n ldq_u $1, 3($9)\n call_pal 0",
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n ldbu $1, 7($9)\n call_pal 0",
        "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n stt $f1, 0($9)\n call_pal 0",
    ] {
        for kind in KINDS {
            for addr in [host_address, 1 << 42, (1 << 42) - 8 + 0x8000, 1 << 63, !7, 0, 8] {
                let mut m = machine(text, kind, true);
                m.set_reg(Reg::R9, addr);
                let exit = m.run(UNLIMITED);
                let Exit::Fault { pc, addr: at, .. } = exit else {
                    panic!("{text} {addr:#x} {exit:?}")
                };
                assert_eq!(pc, m.bus().base + 12, "{text} {addr:#x} {kind:?}");
                assert_eq!(at & !7, addr & !7, "{text} {addr:#x} {kind:?}");
                assert_eq!(m.reg(Reg::R1), 0);
            }
        }
    }
    assert_eq!(*secret, 0x1234_5678_9abc_def0);
}

/// A base that was checked serves only as far as it was checked: a pointer that walks towards 2^42
/// faults there.
#[test]
fn a_checked_base_does_not_drift() {
    let text = "
    loop:
        ldq $1, 0($9)
        lda $9, -8192($9)
        lda $9, 8($9)
        lda $9, 8184($9)
        ldah $10, 1($10)
        addq $9, $10, $9
        br $31, loop
    ";
    for kind in KINDS {
        let mut m = machine(text, kind, true);
        let base = m.bus().base;
        let exit = m.run(UNLIMITED);
        assert!(
            matches!(exit, Exit::Fault { pc, addr, .. } if pc == base && addr == base + 0x1_8000),
            "{exit:x?} {kind:?}"
        );
    }
}

/// A store of what was just loaded is a store: on a read-only page it faults.
#[test]
fn a_store_back_faults_on_a_read_only_page() {
    let text = "
    loop:
        ldq $1, 0($9)
        stq $1, 0($9)
        addq $2, 1, $2
        br $31, loop
    ";
    for kind in KINDS {
        let mut m = machine(text, kind, true);
        m.set_async(true);
        let base = m.bus().base;
        let data = SIZE / 2;
        assert_eq!(m.run(1000), Exit::Fuel);
        m.bus().protect(data, libc::PROT_READ);
        assert_eq!(
            m.run(UNLIMITED),
            Exit::Fault {
                pc: base + 4,
                addr: base + data,
                access: Access::Write,
                kind: FaultKind::Protected
            },
            "{kind:?}"
        );
        assert_eq!(m.reg(Reg::R2), 250);
    }
}

/// An access that isn't aligned comes back before it is done, with all registers.
#[test]
fn unaligned_accesses_come_back() {
    for (insn, offset) in [
        ("ldq $1, 4($9)", 4),
        ("ldl $1, 2($9)", 2),
        ("ldwu $1, 1($9)", 1),
        ("stq $1, 1($9)", 1),
        ("stl $1, 6($9)", 6),
        ("ldt $f1, 4($9)", 4),
        ("ldq_l $1, 4($9)", 4),
    ] {
        let text = format!(
            "loop: addq $2, 1, $2\n cmplt $2, 50, $3\n bne $3, loop\n ldq $4, 0($9)\n {insn}\n br loop"
        );
        for kind in KINDS {
            let mut m = machine(&text, kind, false);
            let base = m.bus().base;
            for round in 0..60 {
                let exit = m.run(UNLIMITED);
                let data = base + SIZE / 2;
                assert!(
                    matches!(exit, Exit::Unaligned { pc, addr, .. }
                        if pc == base + 16 && addr == data + offset),
                    "{insn} {kind:?} {exit:x?}"
                );
                assert_eq!(m.reg(Reg::R2), 50 + round, "{insn} {kind:?}");
                m.set_reg(Reg::Pc, base + 20);
            }
        }
    }
}

/// LDx_L and STx_C access the block of 16 bytes around their address; a fault tells the address.
#[test]
fn locked_accesses_fault_at_their_address() {
    let cases = [
        ("ldl_l $1, 12($9)", SIZE, Access::Read, FaultKind::Unmapped),
        ("ldq_l $1, 8($9)", SIZE, Access::Read, FaultKind::Unmapped),
        ("ldq_l $1, 8($9)\n stl_c $1, 12($9)", SIZE / 2, Access::Write, FaultKind::Protected),
        ("ldq_l $1, 0($9)\n stq_c $1, 8($9)", SIZE / 2, Access::Write, FaultKind::Protected),
    ];
    for (insns, place, access, fault) in cases {
        let text = format!("lda $1, 50($31)\nloop: subq $1, 1, $1\n bne $1, loop\n {insns}");
        let last = insns.lines().count() as u64 - 1;
        let disp: u64 = insns.rsplit(' ').next().unwrap().trim_end_matches("($9)").parse().unwrap();
        for kind in KINDS {
            let mut m = machine(&text, kind, true);
            let base = m.bus().base;
            m.bus().protect(SIZE / 2, libc::PROT_READ);
            m.set_reg(Reg::R9, base + place);
            let (pc, addr) = (base + 12 + 4 * last, base + place + disp);
            let want = Exit::Fault { pc, addr, access, kind: fault };
            assert_eq!(m.run(UNLIMITED), want, "{insns} {kind:?}");
        }
    }
}
