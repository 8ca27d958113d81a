//! Programs that both engines run, on every variant: results by hand, and the engines against each
//! other at every stop.

use axperf::isa::assemble;
use axperf::{Bus, Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const CODE: u64 = 0x1000;
const DATA: u64 = 0x8000;
const STACK: u64 = 0xf000;

fn config(kind: EngineKind) -> Config {
    let mut c = Config::new();
    // Translated at the second visit, so that short programs are translated at all.
    c.engine(kind).hot(2);
    c
}

fn machine(text: &str, config: &Config) -> Machine<FlatMemory> {
    let words = assemble(text, CODE).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let engine = Engine::new(config).unwrap();
    let mut m = Machine::new(&engine, FlatMemory::new(0x10000)).unwrap();
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::Sp, STACK);
    m
}

/// Sum of 1..=n by a loop, with a nested loop and memory.
const LOOPS: &str = "
    li $1, 1000
    li $2, 0x8000
    bis $31, $31, $0
outer:
    lda $3, 10($31)
inner:
    addq $0, $3, $0
    stq $0, 0($2)
    ldq $4, 0($2)
    subq $3, 1, $3
    bne $3, inner
    subq $1, 1, $1
    bgt $1, outer
    call_pal 0x83
";

/// fib(20) by recursion.
const FIB: &str = "
    lda $16, 20($31)
    bsr $26, fib
    call_pal 0x83
fib:
    cmple $16, 1, $1
    beq $1, deep
    bis $31, $16, $0
    ret $31, ($26)
deep:
    lda $30, -32($30)
    stq $26, 0($30)
    stq $9, 8($30)
    stq $10, 16($30)
    bis $31, $16, $9
    subq $16, 1, $16
    bsr $26, fib
    bis $31, $0, $10
    subq $9, 2, $16
    bsr $26, fib
    addq $0, $10, $0
    ldq $26, 0($30)
    ldq $9, 8($30)
    ldq $10, 16($30)
    lda $30, 32($30)
    ret $31, ($26)
";

/// Half the numbers below 1000, summed in T floating, then converted back.
const FLOAT: &str = "
    li $1, 1000
    li $2, 0x8000
    bis $31, $31, $3
    cpys $f31, $f31, $f0
    lda $4, 2($31)
    stq $4, 0($2)
    ldt $f2, 0($2)
    cvtqt $f2, $f2
again:
    stq $3, 0($2)
    ldt $f1, 0($2)
    cvtqt $f1, $f1
    divt/su $f1, $f2, $f1
    addt/su $f0, $f1, $f0
    addq $3, 1, $3
    cmplt $3, $1, $5
    bne $5, again
    cvttq/c $f0, $f3
    stt $f3, 0($2)
    ldq $0, 0($2)
    call_pal 0x83
";

/// A jump through a table, and bytes.
const SWITCH: &str = "
    li $1, 300
    bis $31, $31, $0
    li $7, 0x8000
next:
    and $1, 3, $2
    br $3, here
here:
    s4addq $2, $3, $3
    lda $3, 12($3)
    jmp $31, ($3)
    br $31, zero
    br $31, one
    br $31, two
    addq $0, 3, $0
    br $31, join
zero:
    addq $0, 100, $0
    br $31, join
one:
    addq $0, 1, $0
    stb $0, 1($7)
    ldbu $5, 1($7)
    br $31, join
two:
    addq $0, 2, $0
    stw $0, 2($7)
    ldwu $6, 2($7)
join:
    subq $1, 1, $1
    bne $1, next
    call_pal 0x83
";

/// Sums by hand: 1000 * 55; fib(20); (999*1000/2)/2; 75 times each of 100, 1, 2, 3.
const PROGRAMS: [(&str, &str, u64); 4] = [
    ("loops", LOOPS, 55_000),
    ("fib", FIB, 6765),
    ("float", FLOAT, 249_750),
    ("switch", SWITCH, 75 * 106),
];

#[test]
fn results() {
    for (name, text, want) in PROGRAMS {
        for kind in [EngineKind::Interp, EngineKind::Jit] {
            for blocks in [1, usize::MAX] {
                let mut c = config(kind);
                c.region_blocks(blocks);
                let mut m = machine(text, &c);
                let exit = m.run(UNLIMITED);
                assert_eq!(exit, Exit::Pal { function: 0x83 }, "{name} {kind:?} {m:?}");
                assert_eq!(m.reg(Reg::R0), want, "{name} {kind:?} {blocks}");
            }
        }
    }
}

/// Stops after every so many instructions: registers, memory and the count are the interpreter's.
#[test]
fn fuel_is_exact() {
    for (name, text, _) in PROGRAMS {
        for step in [1, 7, 97, 1009, 5003] {
            let mut a = machine(text, &config(EngineKind::Interp));
            let mut b = machine(text, &config(EngineKind::Jit));
            let mut stops = 0;
            loop {
                let (x, y) = (a.run(step), b.run(step));
                assert_eq!(x, y, "{name} at {:?}", a.icount());
                assert_eq!(a.icount(), b.icount(), "{name}");
                assert_eq!(a.regs(), b.regs(), "{name} at {:?}", a.icount());
                for addr in (DATA..0x10000).step_by(8) {
                    use axperf::isa::Width;
                    assert_eq!(
                        a.bus().load(addr, Width::Quad),
                        b.bus().load(addr, Width::Quad),
                        "{name} {addr:#x}"
                    );
                }
                stops += 1;
                if x != Exit::Fuel || stops > 400 {
                    break;
                }
            }
        }
    }
}

/// Hot code is translated, as regions of several blocks where it isn't a loop of one.
#[test]
fn hot_code_is_translated() {
    for (name, text, _) in PROGRAMS {
        let mut c = config(EngineKind::Jit);
        c.statistics(true);
        let mut m = machine(text, &c);
        m.run(UNLIMITED);
        let stats = m.engine().stats();
        let translated = stats.translated.unwrap();
        assert!(translated > 10 * stats.interpreted, "{name} {stats:?}");
        assert!(name == "float" || stats.multi_block.unwrap() > translated / 2, "{name} {stats:?}");
        assert_eq!(Some(translated + stats.interpreted), m.icount(), "{name}");
    }
}

/// Both engines in lockstep find nothing to differ on, and stop where one of them would.
#[test]
fn crosscheck_agrees() {
    for (name, text, want) in PROGRAMS {
        let mut c = config(EngineKind::Jit);
        c.crosscheck(true);
        let mut m = machine(text, &c);
        let exit = m.run(UNLIMITED);
        assert_eq!(exit, Exit::Pal { function: 0x83 }, "{name} {:?}", m.divergence());
        assert_eq!(m.reg(Reg::R0), want, "{name}");
        assert!(m.engine().stats().translations > 0);
    }
}

/// A bus whose loads answer otherwise than the memory it vouches for, at one address.
struct Lying(FlatMemory);

impl Bus for Lying {
    fn shape(&self) -> axperf::MemoryShape {
        self.0.shape()
    }
    fn load(&self, addr: u64, width: axperf::isa::Width) -> Result<u64, axperf::Fault> {
        let value = self.0.load(addr, width)?;
        Ok(if addr == DATA && value == 0x1000 { 1 } else { value })
    }
    fn store(&self, addr: u64, width: axperf::isa::Width, value: u64) -> Result<(), axperf::Fault> {
        self.0.store(addr, width, value)
    }
    fn compare_exchange(
        &self,
        addr: u64,
        width: axperf::isa::Width,
        old: u64,
        new: u64,
    ) -> Result<bool, axperf::Fault> {
        self.0.compare_exchange(addr, width, old, new)
    }
}

/// The first difference is named: register, both values, the instruction that made it.
#[test]
fn crosscheck_finds_a_difference() {
    let text = "
        li $2, 0x8000
        li $1, 0x2000
    again:
        addq $3, 1, $3
        stq $3, 0($2)
        ldq $4, 0($2)
        addq $5, $4, $5
        subq $1, 1, $1
        bgt $1, again
        call_pal 0x83
    ";
    let mut c = config(EngineKind::Jit);
    c.crosscheck(true);
    let engine = Engine::new(&c).unwrap();
    let mut m = Machine::new(&engine, Lying(FlatMemory::new(0x10000))).unwrap();
    for (i, w) in assemble(text, CODE).unwrap().iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, CODE);
    assert_eq!(m.run(UNLIMITED), Exit::Diverged);
    let d = m.divergence().unwrap();
    assert!(d.icount < 6 * 0x1000 + 4 && 6 * 0x1000 < d.icount + d.length, "{d}");
    assert_eq!(d.differences.len(), 1, "{d}");
    assert_eq!(d.differences[0].what, "r5");
    let text = d.to_string();
    assert!(text.contains("addq\tt4,t3,t4 at 0x1018"), "{text}");
}
