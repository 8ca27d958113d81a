//! IEEE arithmetic against vectors of Berkeley TestFloat's kind, on both engines: values and flags,
//! with software completion, without it, and with every trap enabled.
//!
//! What the vectors don't say is the Alpha Architecture Handbook's (section 4.7.10.4 for NaNs,
//! appendix B for traps) and, for what is completed in software, Linux's `alpha_fp_emul`.

mod support;

use std::io::Read;

use axperf::isa::assemble;
use axperf::{Bus, Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const CODE: u64 = 0x1000;
const DATA: u64 = 0x10000;
/// Of a row: two operands, result, FPCR before and after.
const ROW: u64 = 32;

const DYN: u32 = 58;
const INV: u64 = 1 << 52;
const UNF: u64 = 1 << 55;
const INE: u64 = 1 << 56;
/// Integer overflow; Linux keeps the status of denormal operands here too.
const IOV: u64 = 1 << 57;
const SUM: u64 = 1 << 63;
/// The FPCR of a Linux program: no IEEE trap is enabled.
const TRAPLESS: u64 = 0x600e_8000_0000_0000;

const INVALID: u64 = 16;
const BY_ZERO: u64 = 8;
const OVERFLOW: u64 = 4;
const UNDERFLOW: u64 = 2;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Format {
    S,
    T,
    Q,
}
use Format::{Q, S, T};

impl Format {
    fn exponent(self, x: u64) -> u64 {
        if self == S { x >> 23 & 0xff } else { x >> 52 & 0x7ff }
    }
    fn fraction(self, x: u64) -> u64 {
        if self == S { x & 0x7f_ffff } else { x << 12 >> 12 }
    }
    fn top(self) -> u64 {
        if self == S { 0xff } else { 0x7ff }
    }
    fn is_nan(self, x: u64) -> bool {
        self != Q && self.exponent(x) == self.top() && self.fraction(x) != 0
    }
    fn is_denormal(self, x: u64) -> bool {
        self != Q && self.exponent(x) == 0 && self.fraction(x) != 0
    }
    fn is_finite(self, x: u64) -> bool {
        self == Q || self.exponent(x) != self.top() && !self.is_denormal(x)
    }
    fn quiet(self, x: u64) -> u64 {
        x | if self == S { 1 << 22 } else { 1 << 51 }
    }
    fn canonical_nan(self) -> u64 {
        if self == S { 0xffc0_0000 } else { 0xfff8_0000_0000_0000 }
    }
}

/// An instruction and the files that tell of it.
struct Operation {
    file: &'static str,
    name: &'static str,
    from: Format,
    to: Format,
    operands: usize,
    /// Qualifiers with software completion; without, but with underflow or overflow enabled.
    software: &'static str,
    enabling: &'static str,
}

const fn operation(
    file: &'static str,
    name: &'static str,
    (from, to): (Format, Format),
    operands: usize,
    (software, enabling): (&'static str, &'static str),
) -> Operation {
    Operation { file, name, from, to, operands, software, enabling }
}

const OPERATIONS: [Operation; 18] = [
    operation("f32_add", "adds", (S, S), 2, ("su", "u")),
    operation("f32_sub", "subs", (S, S), 2, ("su", "u")),
    operation("f32_mul", "muls", (S, S), 2, ("su", "u")),
    operation("f32_div", "divs", (S, S), 2, ("su", "u")),
    operation("f32_sqrt", "sqrts", (S, S), 1, ("su", "u")),
    operation("f64_add", "addt", (T, T), 2, ("su", "u")),
    operation("f64_sub", "subt", (T, T), 2, ("su", "u")),
    operation("f64_mul", "mult", (T, T), 2, ("su", "u")),
    operation("f64_div", "divt", (T, T), 2, ("su", "u")),
    operation("f64_sqrt", "sqrtt", (T, T), 1, ("su", "u")),
    operation("f64_eq", "cmpteq", (T, Q), 2, ("su", "")),
    operation("f64_le", "cmptle", (T, Q), 2, ("su", "")),
    operation("f64_lt", "cmptlt", (T, Q), 2, ("su", "")),
    operation("f32_to_f64", "cvtst", (S, T), 1, ("s", "")),
    operation("f64_to_f32", "cvtts", (T, S), 1, ("su", "u")),
    operation("f64_to_i64", "cvttq", (T, Q), 1, ("sv", "v")),
    operation("i64_to_f32", "cvtqs", (Q, S), 1, ("sui", "")),
    operation("i64_to_f64", "cvtqt", (Q, T), 1, ("sui", "")),
];

impl Operation {
    fn is_compare(&self) -> bool {
        self.name.starts_with("cmp")
    }
    fn has_rounding(&self) -> bool {
        !self.is_compare() && self.name != "cvtst"
    }

    /// The files: rounding qualifier and DYN, and the lines.
    fn files(&self) -> Vec<(&'static str, u64, Vec<Line>)> {
        let modes = [("near_even", "", 2), ("minMag", "c", 0), ("min", "m", 1), ("max", "d", 3)];
        let mut all = Vec::new();
        for (mode, letter, dynamic) in modes {
            let name = if self.is_compare() {
                self.file.to_owned()
            } else {
                format!("{}.{mode}", self.file)
            };
            let Some(lines) = self.read(&name) else { continue };
            if !self.has_rounding() {
                return vec![("", 2, lines)];
            }
            // The mode by qualifier, with another in the FPCR; and by the FPCR.
            if letter != "d" {
                all.push((letter, (dynamic + 1) % 4, lines.clone()));
            }
            all.push(("d", dynamic, lines));
        }
        assert!(!all.is_empty(), "{}: no vectors", self.file);
        all
    }

    fn read(&self, name: &str) -> Option<Vec<Line>> {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fp-vectors");
        let file = std::fs::File::open(format!("{dir}/{name}.txt.gz")).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let line = |line: &str| {
            let mut n = line.split_whitespace().map(|w| u64::from_str_radix(w, 16).unwrap());
            let mut next = || n.next().unwrap_or_else(|| panic!("{name}: {line}"));
            let a = if self.operands == 2 { next() } else { 0 };
            Line { a, b: next(), result: next(), flags: next() }
        };
        Some(text.lines().map(line).collect())
    }

    /// What IEEE 754 gives, as Alpha has it.
    fn result(&self, l: &Line) -> u64 {
        if self.is_compare() {
            return if l.result == 1 { 0x4000_0000_0000_0000 } else { 0 };
        }
        if self.name == "cvttq" {
            return if l.flags & INVALID != 0 { low_quad(l.b) } else { l.result };
        }
        if !self.to.is_nan(l.result) {
            return l.result;
        }
        if self.from == self.to {
            let nan = [l.b, l.a].into_iter().find(|&x| self.from.is_nan(x));
            return nan.map_or(self.to.canonical_nan(), |x| self.to.quiet(x));
        }
        // A conversion moves sign and fraction.
        match self.to {
            S => (l.b >> 63 << 31) | 0x7f80_0000 | (self.from.fraction(self.from.quiet(l.b)) >> 29),
            _ => {
                let fraction = self.from.fraction(self.from.quiet(l.b));
                (l.b >> 31 << 63) | 0x7ff << 52 | fraction << 29
            }
        }
    }

    /// Status bits, but for that of denormal operands.
    fn status(&self, l: &Line) -> u64 {
        let status = [(INVALID, 52), (BY_ZERO, 53), (OVERFLOW, 54), (UNDERFLOW, 55), (1, 56)]
            .into_iter()
            .fold(0, |s, (flag, bit)| if l.flags & flag != 0 { s | 1 << bit } else { s });
        if self.is_overflow(l) { IOV | INE } else { status }
    }

    /// A conversion to an integer that doesn't fit.
    fn is_overflow(&self, l: &Line) -> bool {
        self.name == "cvttq" && l.flags & INVALID != 0 && T.exponent(l.b) != 0x7ff
    }

    fn is_tiny(&self, l: &Line) -> bool {
        self.to.is_denormal(l.result) || l.flags & UNDERFLOW != 0
    }

    fn has_denormal(&self, l: &Line) -> bool {
        self.from.is_denormal(l.a) || self.from.is_denormal(l.b)
    }

    fn has_nonfinite(&self, l: &Line) -> bool {
        !self.from.is_finite(l.a) || !self.from.is_finite(l.b)
    }
}

/// A T_floating value's integer part, modulo 2^64: by shifting its fraction. 0 if it has none.
fn low_quad(x: u64) -> u64 {
    let exponent = T.exponent(x) as i64 - 1075;
    if !(0..64).contains(&exponent) {
        return 0;
    }
    let magnitude = (T.fraction(x) | 1 << 52) << exponent;
    if x >> 63 != 0 { magnitude.wrapping_neg() } else { magnitude }
}

#[derive(Clone, Debug)]
struct Line {
    a: u64,
    b: u64,
    result: u64,
    flags: u64,
}

/// What an instruction left behind: result, FPCR, exception summary if it trapped.
type Outcome = (u64, u64, u64);

/// A way to run the instruction. In a region with MT_FPCR some are translated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Interpreter,
    Block,
    Region,
}

/// Runs the instruction on all lines.
fn run(way: Way, op: &Operation, qualifiers: &str, lines: &[Line], fpcr: u64) -> Vec<Outcome> {
    let slash = if qualifiers.is_empty() { "" } else { "/" };
    let operands = if op.operands == 2 { "$f1, $f2, $f3" } else { "$f2, $f3" };
    let load = if op.from == S { "lds" } else { "ldt" };
    let store = if op.to == S { "sts" } else { "stt" };
    // Branches, so that the instruction starts a block of its own.
    let text = format!(
        "
    next:
        {load} $f1, 0($16)
        {load} $f2, 8($16)
        ldt $f4, 24($16)
        mt_fpcr $f4
        br $31, operate
    operate:
        {}{slash}{qualifiers} {operands}
        br $31, done
    done:
        mf_fpcr $f4
        {store} $f3, 16($16)
        stt $f4, 24($16)
        lda $16, 32($16)
        subq $17, 1, $17
        bne $17, next
        call_pal 0x83
        ",
        op.name
    );
    let words = assemble(&text, CODE).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut config = Config::new();
    let interpreted = way == Way::Interpreter;
    config.engine(if interpreted { EngineKind::Interp } else { EngineKind::Jit });
    config.region_blocks(if way == Way::Block { 1 } else { usize::MAX });
    config.hot(2).statistics(true);
    let engine = Engine::new(&config).unwrap();
    let size = DATA + ROW * lines.len() as u64;
    let mut m = Machine::new(&engine, FlatMemory::new(size as usize)).unwrap();
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    for (i, l) in lines.iter().enumerate() {
        let at = DATA + ROW * i as u64;
        for (k, v) in [l.a, l.b, 0, fpcr].into_iter().enumerate() {
            m.write(at + 8 * k as u64, &v.to_le_bytes()).unwrap();
        }
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::R16, DATA);
    m.set_reg(Reg::R17, lines.len() as u64);
    let mut summaries = vec![0; lines.len()];
    loop {
        match m.run(UNLIMITED) {
            Exit::Pal { function: 0x83 } => break,
            Exit::Arith { pc, summary, write_mask } => {
                assert_eq!(pc, CODE + 24, "{}: after the instruction", op.name);
                assert_eq!(write_mask, 1 << (32 + 3), "{}: $f3", op.name);
                summaries[((m.reg(Reg::R16) - DATA) / ROW) as usize] = summary;
            }
            other => panic!("{}: {other:?}", op.name),
        }
    }
    // Where rounding is to nearest, most lines are computed in translated code.
    let ordinary = fpcr & TRAPLESS == TRAPLESS && qualifiers == op.software;
    if !interpreted && ordinary {
        let translated = engine.stats().translated.unwrap();
        assert!(2 * translated > 7 * lines.len() as u64, "{} {translated}", op.name);
    }
    let mut outcomes = Vec::new();
    for (i, summary) in summaries.into_iter().enumerate() {
        let word = |at: u64| m.bus().load(DATA + ROW * i as u64 + at, axperf::isa::Width::Quad);
        let value = word(16).unwrap();
        outcomes.push((value, word(24).unwrap(), summary));
    }
    outcomes
}

/// Runs all vectors of all operations on both engines, with the qualifiers and FPCR control bits, and
/// compares with what is expected. A value of None isn't looked at.
fn check(
    name: &str,
    qualifiers: impl Fn(&Operation) -> &'static str,
    control: u64,
    expected: impl Fn(&Operation, &Line) -> (Option<u64>, u64, u64),
) {
    let mut count = 0;
    for op in &OPERATIONS {
        for (letter, dynamic, lines) in op.files() {
            let qualifiers = format!("{}{letter}", qualifiers(op));
            let fpcr = control | dynamic << DYN;
            for way in [Way::Interpreter, Way::Block, Way::Region] {
                let outcomes = run(way, op, &qualifiers, &lines, fpcr);
                for (l, (value, after, summary)) in lines.iter().zip(outcomes) {
                    let (want, status, trap) = expected(op, l);
                    let what = format!("{} {qualifiers} {l:x?} {way:?}", op.name);
                    if let Some(want) = want {
                        assert_eq!(value, want, "{what}: {value:#x}, not {want:#x}");
                    }
                    let status = fpcr | status | if status != 0 { SUM } else { 0 };
                    assert_eq!(after, status, "{what}: FPCR {after:#x}, not {status:#x}");
                    assert_eq!(summary, trap, "{what}: summary {summary:#x}, not {trap:#x}");
                    count += 1;
                }
            }
        }
    }
    support::say(format_args!("{count} vectors {name}"));
    assert!(count > 200_000, "{count}");
}

/// With software completion and no trap enabled: the IEEE result, and the status.
#[test]
fn completed() {
    check(
        "/S",
        |op| op.software,
        TRAPLESS,
        |op, l| {
            let denormal = if op.has_denormal(l) { IOV } else { 0 };
            (Some(op.result(l)), op.status(l) | denormal, 0)
        },
    );
}

/// Without: operands that aren't finite trap, as do invalid operation, division by zero and
/// overflow; what underflows is zero, and traps with /U.
fn hardware(op: &Operation, l: &Line, enabling: bool) -> (Option<u64>, u64, u64) {
    let refused = if op.is_compare() {
        // Infinities are no reason to trap.
        op.has_denormal(l) || T.is_nan(l.a) || T.is_nan(l.b)
    } else {
        op.has_nonfinite(l)
    };
    if refused {
        return (None, INV, 1 << 1);
    }
    if op.is_tiny(l) {
        return (Some(0), op.status(l) | UNF | INE, if enabling { 1 << 4 } else { 0 });
    }
    let status = op.status(l);
    // The exception summary's bits 1 to 6 are in the order of the FPCR's 52 to 57.
    let traps = (status >> 51) & (1 << 1 | 1 << 2 | 1 << 3 | if enabling { 1 << 6 } else { 0 });
    (if traps == 0 { Some(op.result(l)) } else { None }, status, traps)
}

#[test]
fn without_completion() {
    check("without qualifier", |_| "", TRAPLESS, |op, l| hardware(op, l, false));
    check("without qualifier, FPCR 0", |_| "", 0, |op, l| hardware(op, l, false));
}

#[test]
fn enabling() {
    check("/U or /V", |op| op.enabling, TRAPLESS, |op, l| hardware(op, l, !op.enabling.is_empty()));
}

/// With software completion and every trap enabled: completion takes place if the hardware can't
/// go on, and reports what was raised.
#[test]
fn every_trap() {
    check(
        "/S, traps enabled",
        |op| op.software,
        0,
        |op, l| {
            let denormal = if op.has_denormal(l) { IOV } else { 0 };
            let mut status = op.status(l);
            let inexact = op.software.ends_with('i') && status & INE != 0;
            let completes = denormal != 0 || op.is_tiny(l) || inexact || status & !INE != 0;
            let mut raised = status;
            if op.name == "cvttq" && l.flags & INVALID != 0 {
                // Integer overflow is reported as an invalid operation, a quiet NaN isn't.
                let quiet = T.is_nan(l.b) && T.quiet(l.b) == l.b;
                raised = if quiet { 0 } else { INV };
                status |= raised;
            }
            let trap = if completes && raised | denormal != 0 { raised >> 51 | 1 } else { 0 };
            (Some(op.result(l)), status | denormal, trap)
        },
    );
}
