//! Guest programs that the benches run, with their answers.

// Each bench uses what it needs of this.
#![allow(dead_code)]

use axperf::isa::assemble;
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

/// Where a kernel's code starts.
pub const CODE: u64 = 0x1000;
const STACK: u64 = 0xf_0000;

/// A program that ends in a callsys with its answer in `$0`.
#[derive(Debug)]
pub struct Kernel {
    pub name: &'static str,
    pub text: &'static str,
    pub answer: u64,
}

/// Answers: 1+..+n for sum; fib(24) = 46368; the prime count below 8192 is 1028; the byte sum of a
/// ramp for bytes; a dot product of 1..=512 with itself, 100 times, for dot.
pub const KERNELS: [Kernel; 5] = [
    Kernel {
        name: "sum",
        answer: 200_000 * 200_001 / 2,
        text: "
            li $1, 200000
        next:
            addq $0, $1, $0
            subq $1, 1, $1
            bne $1, next
            call_pal 0x83
        ",
    },
    Kernel {
        name: "fib",
        answer: 46368,
        text: "
            lda $16, 24($31)
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
        ",
    },
    Kernel {
        name: "sieve",
        answer: 1028,
        text: "
            li $1, 0x10000
            li $2, 8192
            lda $3, 2($31)
        outer:
            addq $1, $3, $4
            ldbu $5, 0($4)
            bne $5, skip
            addq $0, 1, $0
            addq $3, $3, $6
        strike:
            cmplt $6, $2, $7
            beq $7, skip
            addq $1, $6, $8
            lda $5, 1($31)
            stb $5, 0($8)
            addq $6, $3, $6
            br $31, strike
        skip:
            addq $3, 1, $3
            cmplt $3, $2, $7
            bne $7, outer
            call_pal 0x83
        ",
    },
    Kernel {
        name: "bytes",
        answer: 10 * 4096 / 256 * (255 * 256 / 2),
        text: "
            lda $9, 10($31)
        round:
            li $1, 0x10000
            bis $31, $31, $2
        fill:
            addq $1, $2, $3
            insbl $2, $3, $4
            ldq_u $5, 0($3)
            mskbl $5, $3, $5
            bis $5, $4, $5
            stq_u $5, 0($3)
            addq $2, 1, $2
            srl $2, 12, $6
            beq $6, fill
            bis $31, $31, $2
        total:
            addq $1, $2, $3
            ldq_u $5, 0($3)
            extbl $5, $3, $5
            addq $0, $5, $0
            addq $2, 1, $2
            srl $2, 12, $6
            beq $6, total
            subq $9, 1, $9
            bgt $9, round
            call_pal 0x83
        ",
    },
    Kernel {
        name: "dot",
        answer: 100 * (512 * 513 * 1025 / 6),
        text: "
            li $1, 0x10000
            lda $2, 1($31)
        fill:
            stq $2, 0($1)
            ldt $f1, 0($1)
            cvtqt $f1, $f1
            stt $f1, 0($1)
            lda $1, 8($1)
            addq $2, 1, $2
            lda $3, -513($2)
            blt $3, fill
            lda $9, 100($31)
            cpys $f31, $f31, $f0
        round:
            li $1, 0x10000
            li $2, 512
        next:
            ldt $f1, 0($1)
            mult/su $f1, $f1, $f2
            addt/su $f0, $f2, $f0
            lda $1, 8($1)
            subq $2, 1, $2
            bgt $2, next
            subq $9, 1, $9
            bgt $9, round
            li $1, 0x10000
            cvttq/c $f0, $f0
            stt $f0, 0($1)
            ldq $0, 0($1)
            call_pal 0x83
        ",
    },
];

/// A machine that runs a kernel.
pub fn machine(kernel: &Kernel, config: &Config) -> Machine<FlatMemory> {
    let engine = Engine::new(config).expect("an engine");
    let mut m = Machine::new(&engine, FlatMemory::new(1 << 20)).expect("a machine");
    let words = assemble(kernel.text, CODE).expect("a program");
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).expect("room for it");
    }
    m
}

/// Runs a kernel from its start; asserts its answer.
pub fn run(kernel: &Kernel, m: &mut Machine<FlatMemory>) {
    if kernel.name == "sieve" {
        m.write(0x10000, &[0; 8192]).expect("room for it");
    }
    for n in 0..31 {
        if let Some(reg) = Reg::int(n) {
            m.set_reg(reg, 0);
        }
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::Sp, STACK);
    assert_eq!(m.run(UNLIMITED), Exit::Pal { function: 0x83 }, "{}", kernel.name);
    assert_eq!(m.reg(Reg::R0), kernel.answer, "{}", kernel.name);
}

/// Instructions that a kernel retires.
pub fn instructions(kernel: &Kernel) -> u64 {
    let mut config = Config::new();
    config.engine(EngineKind::Interp);
    let mut m = machine(kernel, &config);
    run(kernel, &mut m);
    m.icount().expect("the interpreter counts")
}
