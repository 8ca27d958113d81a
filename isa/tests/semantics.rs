//! The bodies against definitions written another way: byte by byte, or in wider arithmetic, after
//! the operation sections of the Alpha Architecture Reference Manual.

mod eval;
mod words;

use axperf_isa::sem::ArithTrap;
use axperf_isa::{Insn, Op, Shape, decode};
use eval::{Eval, Gone, Stop, Touched, edges, operate};

/// EXT, INS and MSK, by bytes: `datum` is where the bytes of a datum of `width` bytes lie when it
/// begins at byte `offset` of two quadwords.
#[test]
fn extract_insert_mask() {
    for (letter, width) in [('b', 1), ('w', 2), ('l', 4), ('q', 8)] {
        for a in edges() {
            let bytes = a.to_le_bytes();
            for offset in 0..8usize {
                let make = |byte: &dyn Fn(usize) -> u8| -> u64 {
                    u64::from_le_bytes(std::array::from_fn(byte))
                };
                let datum = offset..offset + width;
                let mut cases = vec![
                    (
                        "ext",
                        'l',
                        make(&|i| match bytes.get(offset + i) {
                            Some(byte) if i < width => *byte,
                            _ => 0,
                        }),
                    ),
                    ("ins", 'l', make(&|i| if datum.contains(&i) { bytes[i - offset] } else { 0 })),
                    ("msk", 'l', make(&|i| if datum.contains(&i) { 0 } else { bytes[i] })),
                ];
                if width > 1 {
                    // What lies in the quadword above comes down by 8 - offset bytes; at offset 0
                    // EXT leaves its operand where it is.
                    let up = (8 - offset) % 8;
                    let above = |i: usize| datum.contains(&(8 + i));
                    cases.extend([
                        (
                            "ext",
                            'h',
                            make(&|i| if i >= up && i < width { bytes[i - up] } else { 0 }),
                        ),
                        ("ins", 'h', make(&|i| if above(i) { bytes[8 + i - offset] } else { 0 })),
                        ("msk", 'h', make(&|i| if above(i) { 0 } else { bytes[i] })),
                    ]);
                }
                for (kind, end, expected) in cases {
                    // Only the low three bits of the address count.
                    for high in [0, 8, 0xffff_ffff_ffff_fff8] {
                        let name = format!("{kind}{letter}{end}");
                        let got = operate(&name, a, offset as u64 | high);
                        assert_eq!(got, expected, "{name} {a:#x}, {offset}");
                    }
                }
            }
        }
    }
}

#[test]
fn zap_and_compare_bytes() {
    for a in edges() {
        for b in edges() {
            let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
            let named = |i: usize| b >> i & 1 != 0;
            let zap = std::array::from_fn(|i| if named(i) { 0 } else { x[i] });
            let zapnot = std::array::from_fn(|i| if named(i) { x[i] } else { 0 });
            let ge = (0..8).filter(|i| x[*i] >= y[*i]).map(|i| 1 << i).sum::<u64>();
            assert_eq!(operate("zap", a, b), u64::from_le_bytes(zap));
            assert_eq!(operate("zapnot", a, b), u64::from_le_bytes(zapnot));
            assert_eq!(operate("cmpbge", a, b), ge);
        }
    }
}

/// The arithmetic in 128 bits; /V traps exactly when the true result doesn't fit, and the register
/// gets the low bits all the same.
#[test]
fn arithmetic_and_overflow() {
    type Exact = fn(i128, i128) -> i128;
    let operations: [(&str, Exact); 3] =
        [("add", |a, b| a + b), ("sub", |a, b| a - b), ("mul", |a, b| a * b)];
    for a in edges() {
        for b in edges() {
            for (name, exact) in operations {
                let long = exact((a as i32).into(), (b as i32).into());
                let quad = exact((a as i64).into(), (b as i64).into());
                let cases = [
                    (format!("{name}l"), long as i32 as u64, i32::try_from(long).is_err()),
                    (format!("{name}q"), quad as u64, i64::try_from(quad).is_err()),
                ];
                for (name, low, overflow) in cases {
                    assert_eq!(operate(&name, a, b), low, "{name} {a:#x}, {b:#x}");
                    let mut cpu = Eval::new();
                    (cpu.int[1], cpu.int[2], cpu.int[3]) = (a, b, 42);
                    let gone = cpu.run(&format!("{name}/v $1,$2,$3"));
                    if overflow {
                        let trap = Stop::Trap(ArithTrap::IntegerOverflow, 3, low);
                        assert_eq!(gone, Err(trap), "{name}/v {a:#x}, {b:#x}");
                        assert_eq!(cpu.int[3], 42, "a stop changes nothing");
                    } else {
                        assert_eq!(gone, Ok(Gone::Next), "{name}/v {a:#x}, {b:#x}");
                        assert_eq!(cpu.int[3], low);
                    }
                }
            }
            for (name, scale) in [("s4", 4), ("s8", 8)] {
                let scaled = a.wrapping_mul(scale);
                let (sum, difference) = (scaled.wrapping_add(b), scaled.wrapping_sub(b));
                assert_eq!(operate(&format!("{name}addq"), a, b), sum);
                assert_eq!(operate(&format!("{name}subq"), a, b), difference);
                assert_eq!(operate(&format!("{name}addl"), a, b), sum as i32 as u64);
                assert_eq!(operate(&format!("{name}subl"), a, b), difference as i32 as u64);
            }
            let high = (u128::from(a) * u128::from(b)) >> 64;
            assert_eq!(operate("umulh", a, b), high as u64);
        }
    }
}

#[test]
fn logic_shifts_and_comparisons() {
    for a in edges() {
        for b in edges() {
            let (s, t) = (a as i64, b as i64);
            for (name, expected) in [
                ("and", a & b),
                ("bic", a & !b),
                ("bis", a | b),
                ("ornot", a | !b),
                ("xor", a ^ b),
                ("eqv", !(a ^ b)),
                ("sll", a << (b % 64)),
                ("srl", a >> (b % 64)),
                ("sra", (s >> (b % 64)) as u64),
                ("cmpeq", u64::from(a == b)),
                ("cmplt", u64::from(s < t)),
                ("cmple", u64::from(s <= t)),
                ("cmpult", u64::from(a < b)),
                ("cmpule", u64::from(a <= b)),
            ] {
                assert_eq!(operate(name, a, b), expected, "{name} {a:#x}, {b:#x}");
            }
        }
    }
}

/// Conditional moves and branches share their conditions.
#[test]
fn conditions() {
    for a in edges() {
        let s = a as i64;
        for (condition, holds) in [
            ("eq", s == 0),
            ("ne", s != 0),
            ("lt", s < 0),
            ("le", s <= 0),
            ("gt", s > 0),
            ("ge", s >= 0),
            ("lbs", a & 1 == 1),
            ("lbc", a & 1 == 0),
        ] {
            let mut cpu = Eval::new();
            (cpu.int[1], cpu.int[3]) = (a, 42);
            cpu.run(&format!("cmov{condition} $1,7,$3")).unwrap();
            assert_eq!(cpu.int[3], if holds { 7 } else { 42 }, "cmov{condition} {a:#x}");
            let expected = if holds { Gone::To(cpu.pc - 12) } else { Gone::Next };
            assert_eq!(cpu.run(&format!("b{condition} $1,.-12")), Ok(expected), "{a:#x}");
        }
    }
}

/// Both zeros are zero to FCMOV and FB; a NaN goes by its sign.
#[test]
fn fp_conditions_test_bits() {
    let values = [0.0, -0.0, 1.5, -1.5, 5e-324, -5e-324, f64::INFINITY, f64::NEG_INFINITY]
        .map(|x: f64| (x.to_bits(), x == 0.0))
        .into_iter()
        .chain([(0x7ff8_0000_0000_0000, false), (0xfff8_0000_0000_0000, false)]);
    for (a, zero) in values {
        let negative = a >> 63 == 1 && !zero;
        for (condition, holds) in [
            ("eq", zero),
            ("ne", !zero),
            ("lt", negative),
            ("le", negative || zero),
            ("gt", !negative && !zero),
            ("ge", !negative),
        ] {
            let mut cpu = Eval::new();
            (cpu.fp[1], cpu.fp[2], cpu.fp[3]) = (a, 7, 42);
            cpu.run(&format!("fcmov{condition} $f1,$f2,$f3")).unwrap();
            assert_eq!(cpu.fp[3], if holds { 7 } else { 42 }, "fcmov{condition} {a:#x}");
            let expected = if holds { Gone::To(cpu.pc + 8) } else { Gone::Next };
            assert_eq!(cpu.run(&format!("fb{condition} $f1,.+8")), Ok(expected), "{a:#x}");
        }
    }
}

/// CIX, bit by bit.
#[test]
fn counts() {
    for a in edges() {
        let bits: Vec<bool> = (0..64).map(|i| a >> i & 1 != 0).collect();
        for (name, expected) in [
            ("ctpop", bits.iter().filter(|bit| **bit).count()),
            ("ctlz", bits.iter().rev().take_while(|bit| !**bit).count()),
            ("cttz", bits.iter().take_while(|bit| !**bit).count()),
        ] {
            let mut cpu = Eval::new();
            cpu.int[2] = a;
            cpu.run(&format!("{name} $2,$3")).unwrap();
            assert_eq!(cpu.int[3], expected as u64, "{name} {a:#x}");
        }
    }
}

/// Sign extension: from bit 7, from bit 15.
#[test]
fn sign_extension() {
    for a in edges() {
        for (name, width) in [("sextb", 8), ("sextw", 16)] {
            let low = a % (1 << width);
            let expected = if low >> (width - 1) == 1 { low | u64::MAX << width } else { low };
            let mut cpu = Eval::new();
            cpu.int[2] = a;
            cpu.run(&format!("{name} $2,$3")).unwrap();
            assert_eq!(cpu.int[3], expected, "{name} {a:#x}");
        }
    }
}

/// MVI, lane by lane.
#[test]
fn motion_video() {
    fn lanes<const N: usize>(a: u64, b: u64, pick: impl Fn(i64, i64) -> i64, sign: bool) -> u64 {
        let bits = 64 / N;
        let lane = |x: u64, i: usize| {
            let up = x << (64 - bits - i * bits);
            if sign { up as i64 >> (64 - bits) } else { (up >> (64 - bits)) as i64 }
        };
        let mask = (1u64 << bits) - 1;
        (0..N).map(|i| (pick(lane(a, i), lane(b, i)) as u64 & mask) << (i * bits)).sum()
    }
    for a in edges() {
        for b in edges() {
            assert_eq!(operate("minub8", a, b), lanes::<8>(a, b, i64::min, false));
            assert_eq!(operate("minsb8", a, b), lanes::<8>(a, b, i64::min, true));
            assert_eq!(operate("minuw4", a, b), lanes::<4>(a, b, i64::min, false));
            assert_eq!(operate("minsw4", a, b), lanes::<4>(a, b, i64::min, true));
            assert_eq!(operate("maxub8", a, b), lanes::<8>(a, b, i64::max, false));
            assert_eq!(operate("maxsb8", a, b), lanes::<8>(a, b, i64::max, true));
            assert_eq!(operate("maxuw4", a, b), lanes::<4>(a, b, i64::max, false));
            assert_eq!(operate("maxsw4", a, b), lanes::<4>(a, b, i64::max, true));
            let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
            let error: u64 = (0..8).map(|i| u64::from(x[i].abs_diff(y[i]))).sum();
            assert_eq!(operate("perr", a, b), error);
        }
        let x = a.to_le_bytes();
        for (name, expected) in [
            ("pklb", [x[0], x[4], 0, 0, 0, 0, 0, 0]),
            ("pkwb", [x[0], x[2], x[4], x[6], 0, 0, 0, 0]),
            ("unpkbl", [x[0], 0, 0, 0, x[1], 0, 0, 0]),
            ("unpkbw", [x[0], 0, x[1], 0, x[2], 0, x[3], 0]),
        ] {
            let mut cpu = Eval::new();
            cpu.int[2] = a;
            cpu.run(&format!("{name} $2,$3")).unwrap();
            assert_eq!(cpu.int[3], u64::from_le_bytes(expected), "{name} {a:#x}");
        }
    }
}

/// FTOIT moves all 64 bits, FTOIS the S_floating longword, sign-extended. (Emulators have had the
/// two function codes swapped.)
#[test]
fn register_file_moves() {
    let mut cpu = Eval::new();
    cpu.fp[1] = (-1.5f64).to_bits();
    cpu.run("ftoit $f1,$1").unwrap();
    cpu.run("ftois $f1,$2").unwrap();
    assert_eq!(cpu.int[1], 0xbff8_0000_0000_0000);
    assert_eq!(cpu.int[2], 0xffff_ffff_bfc0_0000);
    assert_eq!(decode(0x703f_0000 | 0x70 << 5 | 1).unwrap().op, Op::ftoit);
    assert_eq!(decode(0x703f_0000 | 0x78 << 5 | 1).unwrap().op, Op::ftois);
    cpu.run("itofs $2,$f2").unwrap();
    cpu.run("itoft $1,$f3").unwrap();
    assert_eq!(cpu.fp[2..4], [cpu.fp[1]; 2]);
}

/// The longword format in a register: bits 63:62 and 58:29.
#[test]
fn longwords_in_fp_registers() {
    for long in [0i32, 1, -1, i32::MAX, i32::MIN, 0x4000_0000, -0x4000_0001, 0x1234_5678] {
        let mut cpu = Eval::new();
        cpu.fp[1] = long as i64 as u64;
        cpu.run("cvtql $f1,$f2").unwrap();
        let bits = u64::from(long as u32);
        assert_eq!(cpu.fp[2], (bits >> 30) << 62 | (bits & 0x3fff_ffff) << 29, "{long:#x}");
        // STS and LDS carry it as an integer.
        cpu.run("sts $f2,64($31)").unwrap();
        assert_eq!(cpu.memory[64..68], long.to_le_bytes());
        cpu.run("cvtlq $f2,$f3").unwrap();
        assert_eq!(cpu.fp[3], long as i64 as u64, "{long:#x}");
    }
}

#[test]
fn copy_sign() {
    let (a, b) = (0xfff8_0000_0000_0001, 0x3ff0_0000_0000_0002);
    for (name, expected) in [
        ("cpys", 0xbff0_0000_0000_0002),
        ("cpysn", 0x3ff0_0000_0000_0002),
        ("cpyse", 0xfff0_0000_0000_0002),
    ] {
        let mut cpu = Eval::new();
        (cpu.fp[1], cpu.fp[2]) = (a, b);
        cpu.run(&format!("{name} $f1,$f2,$f3")).unwrap();
        assert_eq!(cpu.fp[3], expected, "{name}");
    }
}

#[test]
fn loads_and_stores() {
    let mut cpu = Eval::new();
    cpu.int[1] = 0xf1e2_d3c4_b5a6_9788;
    cpu.int[2] = 0x100;
    cpu.run("stq $1,0($2)").unwrap();
    for (text, expected) in [
        ("ldbu $3,1($2)", 0x97),
        ("ldwu $3,2($2)", 0xb5a6),
        ("ldl $3,0($2)", 0xffff_ffff_b5a6_9788),
        ("ldl_l $3,4($2)", 0xffff_ffff_f1e2_d3c4),
        ("ldq $3,0($2)", 0xf1e2_d3c4_b5a6_9788),
        ("ldq_u $3,7($2)", 0xf1e2_d3c4_b5a6_9788),
        ("lda $3,-1($2)", 0xff),
        ("ldah $3,-1($2)", 0xffff_ffff_ffff_0100),
    ] {
        cpu.run(text).unwrap();
        assert_eq!(cpu.int[3], expected, "{text}");
    }
    cpu.int[1] = 0x11;
    for (text, expected) in [
        ("stb $1,7($2)", 0x11e2_d3c4_b5a6_9788u64),
        ("stw $1,4($2)", 0x11e2_0011_b5a6_9788),
        ("stl $1,0($2)", 0x11e2_0011_0000_0011),
        ("stq_u $1,5($2)", 0x11),
    ] {
        cpu.run(text).unwrap();
        assert_eq!(cpu.memory[0x100..0x108], expected.to_le_bytes(), "{text}");
    }
    assert_eq!(cpu.run("ldq $3,1($2)"), Err(Stop::Memory(0x101)));
    cpu.run("stl_c $1,8($2)").unwrap();
    assert_eq!(cpu.int[1], 1);
}

/// A load to `$31` or `$f31` is a prefetch and LDQ_U to it is UNOP: neither faults, wherever it
/// points. (Linux/alpha's page-fault handler skips them, too.) LDx_L is a load all the same.
#[test]
fn prefetches_do_not_fault() {
    let mut cpu = Eval::new();
    cpu.int[2] = u64::MAX;
    for name in ["ldbu", "ldwu", "ldq_u", "ldl", "ldq"] {
        assert_eq!(cpu.run(&format!("{name} $31,0($2)")), Ok(Gone::Next), "{name}");
    }
    for name in ["lds", "ldt"] {
        assert_eq!(cpu.run(&format!("{name} $f31,0($2)")), Ok(Gone::Next), "{name}");
    }
    assert_eq!(cpu.run("ldq_l $31,0($2)"), Err(Stop::Memory(u64::MAX)));
}

#[test]
fn jumps() {
    let mut cpu = Eval::new();
    cpu.int[27] = 0x2003;
    assert_eq!(cpu.run("jsr $26,($27)"), Ok(Gone::To(0x2000)));
    assert_eq!(cpu.int[26], 0x1004);
    // The target is read before the link is written.
    cpu.int[1] = 0x3000;
    assert_eq!(cpu.run("jcr $1,($1),0"), Ok(Gone::To(0x3000)));
    assert_eq!(cpu.int[1], 0x1004);
    assert_eq!(cpu.run("br $2,.+8"), Ok(Gone::To(0x1008)));
    assert_eq!(cpu.int[2], 0x1004);
}

/// The CALL_PAL function is 26 bits and arrives whole; PALcode's opcodes are illegal.
#[test]
fn palcode() {
    for function in [0, 0x83, 0xbf, 0x1234, 0x3ff_ffff] {
        let mut cpu = Eval::new();
        assert_eq!(cpu.run(&format!("call_pal {function}")), Err(Stop::Pal(function)));
    }
    for opcode in [0x19, 0x1b, 0x1d, 0x1e, 0x1f] {
        assert_eq!(Eval::new().step(&decode(opcode << 26).unwrap()), Err(Stop::Illegal));
    }
    for opcode in 1..8 {
        assert_eq!(decode(opcode << 26), None);
    }
}

/// Barriers ignore their register fields.
#[test]
fn barriers_ignore_registers() {
    for registers in [0, 31 << 21, 31 << 16, 0x3ff << 16, 5 << 21 | 9 << 16] {
        for (function, op) in
            [(0x0000, Op::trapb), (0x0400, Op::excb), (0x4000, Op::mb), (0x4400, Op::wmb)]
        {
            assert_eq!(decode(0x18 << 26 | registers | function).unwrap().op, op);
        }
    }
}

/// A return address may go to any register. (A disassembler took these for no instructions.)
#[test]
fn calls_link_through_any_register() {
    for (word, op, link) in [
        (0xd380_0012, Op::bsr, 28),
        (0xd3c0_003a, Op::bsr, 30),
        (0x6800_0044, Op::jmp, 0),
        (0x6b40_401a, Op::jsr, 26),
    ] {
        let insn = decode(word).unwrap();
        assert_eq!((insn.op, insn.ra), (op, link), "{word:#010x}");
        let mut cpu = Eval::new();
        cpu.step(&insn).unwrap();
        assert_eq!(cpu.int[usize::from(link)], 0x1004, "{word:#010x}");
    }
}

/// The register sets that are derived from the shape are those that execution touches.
#[test]
fn register_sets_are_what_execution_touches() {
    for insn in words::sweep().into_iter().filter_map(decode) {
        let mut cpu = Eval::new();
        cpu.int = [0x100; 32];
        // A displacement may lead anywhere: only then does the instruction not come to its end.
        let stopped = cpu.step(&insn).is_err();
        let claimed = Touched {
            int_reads: insn.int_reads(),
            int_writes: insn.int_writes(),
            fp_reads: insn.fp_reads(),
            fp_writes: insn.fp_writes(),
        };
        assert_eq!(insn.ends_block(), ends_block(&insn), "{insn:?}");
        if stopped {
            assert_eq!(cpu.touched.int_writes | cpu.touched.fp_writes, 0, "{insn:?}");
            continue;
        }
        // A prefetch doesn't even look at its address.
        let prefetch = matches!(insn.desc().shape, Shape::Load | Shape::FLoad) && insn.ra == 31;
        if !prefetch {
            assert_eq!(cpu.touched, claimed, "{insn:?}");
        }
    }
}

/// By opcode: PALcode, jumps and branches, and what isn't executed.
fn ends_block(insn: &Insn) -> bool {
    match insn.word >> 26 {
        // rduniq and wruniq go on; the rest of PALcode may not come back.
        0x00 => !matches!(insn.word, 0x9e | 0x9f),
        0x19..=0x1b | 0x1d..=0x1f | 0x30.. => true,
        _ => insn.desc().shape == Shape::Stop,
    }
}
