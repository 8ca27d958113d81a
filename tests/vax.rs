//! VAX floating point on random and edge values, on both engines, against exact rational arithmetic.
//!
//! Definitions: Alpha Architecture Handbook, 2.2.5 (formats), 4.7.4 to 4.7.7 (values, rounding,
//! traps), 4.10 (operations). `cases/vax.txt` has cases worked out one by one.

mod support;

use axperf::isa::assemble;
use axperf::{Bus, Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

const CODE: u64 = 0x1000;
const DATA: u64 = 0x10000;
/// Of a row: two operands, result.
const ROW: u64 = 32;

const INV: u64 = 1 << 1;
const DZE: u64 = 1 << 2;
const OVF: u64 = 1 << 3;
const UNF: u64 = 1 << 4;
const IOV: u64 = 1 << 6;
const TRUE: u64 = 0x4000_0000_0000_0000;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Format {
    F,
    G,
    D,
    Q,
}
use Format::{D, F, G, Q};

impl Format {
    /// Bits of the exponent field in a register, and what it adds to the exponent of 0.1fraction.
    fn field(self) -> (u32, i64) {
        if self == D { (8, 128) } else { (11, 1024) }
    }
    /// Bits of a fraction with the hidden one, and the exponents of 0.1fraction.
    fn range(self) -> (u32, std::ops::RangeInclusive<i64>) {
        match self {
            F => (24, -127..=127),
            D => (56, -127..=127),
            G | Q => (53, -1023..=1023),
        }
    }

    /// A number's value; None for a reserved operand, and for a dirty zero where that is none.
    fn value(self, x: u64, dirty: bool) -> Option<BigRational> {
        if self == Q {
            return Some(BigInt::from(x as i64).into());
        }
        let (bits, bias) = self.field();
        let (low, field) = (63 - bits, x << 1 >> (64 - bits));
        if field == 0 {
            return (x == 0 || x >> 63 == 0 && dirty).then(|| BigInt::ZERO.into());
        }
        let fraction = BigInt::from(x << bits << 1 >> bits >> 1 | 1 << low);
        let value = BigRational::from(fraction) * power(field as i64 - bias - i64::from(low) - 1);
        Some(if x >> 63 != 0 { -value } else { value })
    }

    /// A number's register image, rounded; or what traps.
    fn image(self, value: &BigRational, chopped: bool) -> Result<u64, u64> {
        if *value == BigInt::ZERO.into() {
            return Ok(0);
        }
        let negative = value.numer().sign() == Sign::Minus;
        let magnitude = if negative { -value } else { value.clone() };
        let (precision, exponents) = self.range();
        // 2^(exponent - 1) ≤ magnitude < 2^exponent
        let mut exponent = magnitude.numer().bits() as i64 - magnitude.denom().bits() as i64;
        if magnitude >= power(exponent) {
            exponent += 1;
        }
        let places = integer(&(magnitude * power(i64::from(precision) - exponent)), chopped);
        let mut fraction = u64::try_from(places).unwrap();
        if fraction >> precision != 0 {
            (fraction, exponent) = (fraction >> 1, exponent + 1);
        }
        if exponent > *exponents.end() {
            return Err(OVF);
        }
        if exponent < *exponents.start() {
            return Err(UNF);
        }
        let (bits, bias) = self.field();
        let low = 63 - bits;
        let fraction = (fraction << (low + 1 - precision)) & ((1 << low) - 1);
        Ok(u64::from(negative) << 63 | ((exponent + bias) as u64) << low | fraction)
    }
}

fn power(exponent: i64) -> BigRational {
    let power = BigRational::from(BigInt::from(1) << exponent.unsigned_abs());
    if exponent < 0 { power.recip() } else { power }
}

/// The integer that a positive number is rounded to: halves away from zero, or all toward it.
fn integer(x: &BigRational, chopped: bool) -> BigInt {
    let half = BigRational::new(1.into(), 2.into());
    if chopped { x.floor().to_integer() } else { (x + half).floor().to_integer() }
}

/// A number whose rounding is that of the root: exact to 200 bits, and then a bit that says more.
fn root(x: &BigRational) -> BigRational {
    let bits = x.numer().bits() as i64 - x.denom().bits() as i64;
    let half = 200 - bits.div_euclid(2);
    let scaled = x * power(2 * half);
    let whole = scaled.floor().to_integer();
    let root = whole.sqrt();
    let exact = BigRational::from(&root * &root) == scaled;
    let rest = BigRational::new(u8::from(!exact).into(), 2.into());
    (BigRational::from(root) + rest) * power(-half)
}

#[derive(Clone, Copy)]
struct Operation {
    name: &'static str,
    from: Format,
    to: Format,
    operands: u32,
    /// Trap qualifiers beside none.
    traps: &'static [&'static str],
    rounds: bool,
}

const U: &[&str] = &["", "u", "s", "su"];
const fn arithmetic(name: &'static str, format: Format, operands: u32) -> Operation {
    Operation { name, from: format, to: format, operands, traps: U, rounds: true }
}
const fn conversion(
    name: &'static str,
    from: Format,
    to: Format,
    traps: &'static [&'static str],
) -> Operation {
    Operation { name, from, to, operands: 1, traps, rounds: true }
}
const fn compare(name: &'static str) -> Operation {
    Operation { name, from: G, to: Q, operands: 2, traps: &["", "s"], rounds: false }
}

const OPERATIONS: [Operation; 19] = [
    arithmetic("addf", F, 2),
    arithmetic("subf", F, 2),
    arithmetic("mulf", F, 2),
    arithmetic("divf", F, 2),
    arithmetic("sqrtf", F, 1),
    arithmetic("addg", G, 2),
    arithmetic("subg", G, 2),
    arithmetic("mulg", G, 2),
    arithmetic("divg", G, 2),
    arithmetic("sqrtg", G, 1),
    compare("cmpgeq"),
    compare("cmpglt"),
    compare("cmpgle"),
    conversion("cvtdg", D, G, U),
    conversion("cvtgd", G, D, U),
    conversion("cvtgf", G, F, U),
    conversion("cvtgq", G, Q, &["", "v", "s", "sv"]),
    conversion("cvtqf", Q, F, &[""]),
    conversion("cvtqg", Q, G, &[""]),
];

/// The result (None if the manual calls it UNPREDICTABLE) and the exception summary.
fn expected(op: &Operation, traps: &str, chopped: bool, a: u64, b: u64) -> (Option<u64>, u64) {
    let software = traps.contains('s');
    let trap = |what: u64, result: Option<u64>| (result, what | u64::from(software));
    let enabled = traps.contains('u') || traps.contains('v');
    let x = if op.operands == 2 { op.from.value(a, software) } else { Some(BigInt::ZERO.into()) };
    let (Some(x), Some(y)) = (x, op.from.value(b, software)) else { return trap(INV, None) };
    let zero = BigRational::from(BigInt::ZERO);
    let value = match &op.name[..3] {
        "add" => x + y,
        "sub" => x - y,
        "mul" => x * y,
        "div" if y == zero => return trap(DZE, None),
        "div" => x / y,
        "sqr" if y < zero => return trap(INV, None),
        "sqr" if y == zero => zero.clone(),
        "sqr" => root(&y),
        "cmp" => {
            let holds = match &op.name[4..] {
                "eq" => x == y,
                "lt" => x < y,
                _ => x <= y,
            };
            return (Some(if holds { TRUE } else { 0 }), 0);
        }
        _ => y,
    };
    if op.to == Q {
        let n = integer(&if value < zero { -&value } else { value.clone() }, chopped);
        let n = if value < zero { -n } else { n };
        let low: BigInt = &n & BigInt::from(u64::MAX);
        let low = u64::try_from(low).unwrap();
        return match i64::try_from(&n) {
            Err(_) if enabled => trap(IOV, Some(low)),
            _ => (Some(low), 0),
        };
    }
    match op.to.image(&value, chopped) {
        Ok(image) => (Some(image), 0),
        Err(UNF) if !enabled => (Some(0), 0),
        Err(UNF) => trap(UNF, Some(0)),
        Err(what) => trap(what, None),
    }
}

/// A generator of numbers without pattern.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A register image: of the format mostly, of ordinary size mostly, with few bits at times.
    fn image(&mut self, format: Format) -> u64 {
        let r = self.next();
        if format == Q {
            return (self.next() as i64 >> (r % 64)) as u64;
        }
        let (bits, bias) = format.field();
        let (low, sign) = (63 - bits, r >> 63 << 63);
        let (_, exponents) = format.range();
        let exponent = match r % 16 {
            0 => 0,
            1 => (self.next() % (1 << bits)) as i64,
            2 => bias + exponents.end() - (r >> 8 & 1) as i64,
            3 => bias + exponents.start() + (r >> 8 & 1) as i64,
            4..8 => bias + (self.next() % 140) as i64 - 70,
            _ => bias + (self.next() % 8) as i64 - 4,
        };
        let fraction = match r >> 16 & 3 {
            0 => self.next(),
            1 => self.next() & self.next() & self.next() & self.next(),
            2 => !(self.next() & self.next() & self.next() & self.next()),
            _ => 1 << (self.next() % u64::from(low)),
        };
        let mut fraction = fraction & ((1 << low) - 1);
        if format == F {
            fraction &= !0x1fff_ffff;
        }
        let x = sign | (exponent as u64) << low | fraction;
        if r.is_multiple_of(97) { 0 } else { x }
    }
}

/// Values that sit at the edges: zeros of all kinds, one and its neighbours, the least and the
/// greatest number, halves, powers of two about an integer's limits.
fn edges(format: Format) -> Vec<u64> {
    if format == Q {
        return vec![0, 1, u64::MAX, 1 << 53, (1 << 53) + 1, (1 << 24) + 1, 1 << 63, u64::MAX >> 1];
    }
    let (bits, bias) = format.field();
    let (precision, exponents) = format.range();
    let low = 63 - bits;
    let last = 1u64 << (low + 1 - precision);
    let at = |exponent: i64| ((exponent + bias) as u64) << low;
    let mut all = vec![0, 1 << 63, last, 1 << 63 | last];
    for exponent in [0, 1, 24, 53, 54, 63, 64, 65, 117, *exponents.start(), *exponents.end()] {
        let x = at(exponent.min(*exponents.end()));
        for x in [x, x | last, x - last, x | 1 << (low - 1)] {
            all.extend([x, 1 << 63 | x]);
        }
    }
    all.push(at(*exponents.end()) | ((1 << low) - last));
    all
}

fn run(kind: EngineKind, op: &Operation, qualifiers: &str, rows: &[[u64; 2]]) -> Vec<(u64, u64)> {
    let slash = if qualifiers.is_empty() { "" } else { "/" };
    let operands = if op.operands == 2 { "$f1, $f2, $f3" } else { "$f2, $f3" };
    let text = format!(
        "
    next:
        ldt $f1, 0($16)
        ldt $f2, 8($16)
        {}{slash}{qualifiers} {operands}
        stt $f3, 16($16)
        lda $16, 32($16)
        subq $17, 1, $17
        bne $17, next
        call_pal 0x83
        ",
        op.name
    );
    let words = assemble(&text, CODE).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut config = Config::new();
    config.engine(kind).hot(2);
    let engine = Engine::new(&config).unwrap();
    let size = DATA + ROW * rows.len() as u64;
    let mut m = Machine::new(&engine, FlatMemory::new(size as usize)).unwrap();
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    for (i, row) in rows.iter().enumerate() {
        for (k, v) in row.iter().enumerate() {
            m.write(DATA + ROW * i as u64 + 8 * k as u64, &v.to_le_bytes()).unwrap();
        }
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::R16, DATA);
    m.set_reg(Reg::R17, rows.len() as u64);
    let fpcr = m.reg(Reg::Fpcr);
    let mut summaries = vec![0; rows.len()];
    loop {
        match m.run(UNLIMITED) {
            Exit::Pal { function: 0x83 } => break,
            Exit::Arith { pc, summary, write_mask } => {
                assert_eq!((pc, write_mask), (CODE + 12, 1 << 35), "{}", op.name);
                summaries[((m.reg(Reg::R16) - DATA) / ROW) as usize] = summary;
            }
            other => panic!("{}: {other:?}", op.name),
        }
    }
    assert_eq!(m.reg(Reg::Fpcr), fpcr, "{}: VAX instructions leave it alone", op.name);
    let result = |i: usize| {
        let at = DATA + ROW * i as u64 + 16;
        m.bus().load(at, axperf::isa::Width::Quad).unwrap()
    };
    summaries.into_iter().enumerate().map(|(i, summary)| (result(i), summary)).collect()
}

#[test]
fn against_exact_arithmetic() {
    let mut count = 0;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for op in &OPERATIONS {
        let edges = edges(op.from);
        let mut rows: Vec<[u64; 2]> =
            (0..400).map(|_| [random.image(op.from), random.image(op.from)]).collect();
        // Each edge with some others, and numbers close to each other.
        for (i, &a) in edges.iter().enumerate() {
            rows.extend((0..5).map(|k| [a, edges[(7 * i + 11 * k) % edges.len()]]));
            rows.extend([[a, a], [a, a ^ 1 << 63], [a, random.image(op.from)]]);
        }
        for traps in op.traps {
            for rounding in if op.rounds { ["", "c"].as_slice() } else { &[""] } {
                let qualifiers = format!("{traps}{rounding}");
                let want: Vec<_> = rows
                    .iter()
                    .map(|&[a, b]| expected(op, traps, *rounding == "c", a, b))
                    .collect();
                for kind in [EngineKind::Interp, EngineKind::Jit] {
                    let got = run(kind, op, &qualifiers, &rows);
                    for (([a, b], (value, summary)), (result, trap)) in
                        rows.iter().zip(got).zip(&want)
                    {
                        let what = format!("{}/{qualifiers} {a:#x}, {b:#x} {kind:?}", op.name);
                        assert_eq!(summary, *trap, "{what}: summary {summary:#x}, not {trap:#x}");
                        if let Some(result) = result {
                            assert_eq!(value, *result, "{what}: {value:#x}, not {result:#x}");
                        }
                        count += 1;
                    }
                }
            }
        }
    }
    support::say(format_args!("{count} results against exact arithmetic"));
    assert!(count > 100_000, "{count}");
}
