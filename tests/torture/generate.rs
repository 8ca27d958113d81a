//! Random programs: every row of the instruction table, in loops, calls and jumps through tables.
//!
//! Registers have roles, so that a program ends: `$0`..`$15` and `$f0`..`$f29` hold anything (`$14`
//! and `$15` an address that isn't the guest's), `$16`..`$19` point into the data, `$20`, `$21` and `$29` serve jumps, `$22`..`$24` count loops,
//! `$25`..`$27` link, `$28` is the middle of the data, `$30` the stack.

use axperf::isa::desc::{Flags, INSNS, InsnDesc, Op, Shape};
use axperf::isa::encode::{Fields, encode};
use axperf::isa::format::Form;
use axperf::isa::sem::{Qualifiers, Rounding};

use crate::rng::Rng;

/// What a program may hold.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// About how many instructions.
    pub size: usize,
    /// Addresses outside the data and unaligned ones, in a thousand.
    pub wild: u64,
    /// Instructions that stop, in a thousand.
    pub stops: u64,
    /// RPCC, which both engines answer alike only where instructions are counted.
    pub counter: bool,
    /// Every result that is not a number becomes 0, and what qemu does otherwise is left out.
    pub for_qemu: bool,
}

/// A program: position-independent, entered at its first word, ended by CALL_PAL 0x83.
pub fn program(seed: u64, recipe: Recipe) -> Vec<u32> {
    let mut g = Generator { rng: Rng::new(seed), recipe, words: Vec::new(), calls: Vec::new() };
    let functions = 1 + g.rng.below(4) as usize;
    let each = (recipe.size / (functions + 1)).max(8);
    g.body(0, each.max(recipe.size / 3), functions);
    g.put(Op::call_pal, Fields { imm: 0x83, ..Fields::default() });
    let starts: Vec<usize> = (0..functions).map(|f| g.function(f, each, functions)).collect();
    for (at, function) in std::mem::take(&mut g.calls) {
        let distance = starts[function] as i64 - (at as i64 + 1);
        g.words[at] |= distance as u32 & 0x1f_ffff;
    }
    g.words
}

struct Generator {
    rng: Rng,
    recipe: Recipe,
    words: Vec<u32>,
    /// Calls whose target isn't known yet.
    calls: Vec<(usize, usize)>,
}

const BASES: [u8; 4] = [16, 17, 18, 19];
const FIXED: u8 = 28;
const TEMPORARY: u8 = 29;
const LAST_FLOAT: u8 = 30;

impl Generator {
    fn put(&mut self, op: Op, fields: Fields) {
        self.words.push(encode(op, &fields).unwrap_or_else(|e| panic!("{op:?} {fields:?}: {e}")));
    }

    fn at(&self) -> usize {
        self.words.len()
    }

    /// Makes the branch at `at` go to the next instruction.
    fn land(&mut self, at: usize) {
        let distance = (self.at() - at - 1) as u32;
        self.words[at] = self.words[at] & !0x1f_ffff | distance;
    }

    fn source(&mut self) -> u8 {
        if self.rng.chance(800) { self.rng.below(16) as u8 } else { self.rng.below(32) as u8 }
    }

    fn target(&mut self) -> u8 {
        if self.rng.chance(30) { 31 } else { self.rng.below(16) as u8 }
    }

    fn float_source(&mut self) -> u8 {
        self.rng.below(32) as u8
    }

    fn float_target(&mut self) -> u8 {
        if self.rng.chance(30) { 31 } else { self.rng.below(30) as u8 }
    }

    fn row(&mut self, wanted: impl Fn(&InsnDesc) -> bool) -> &'static InsnDesc {
        // What qemu does of VAX floating point is known to be wrong.
        let vax = !self.recipe.for_qemu;
        let usable = |d: &&InsnDesc| wanted(d) && (vax || !d.is(Flags::VAX));
        let rows: Vec<&InsnDesc> = INSNS.iter().filter(usable).collect();
        self.rng.pick(&rows)
    }

    /// A piece of program: instructions, branches, loops and calls. `level` 0 is the main program.
    fn body(&mut self, level: usize, size: usize, functions: usize) {
        self.piece(level, size, functions, 0);
    }

    fn piece(&mut self, level: usize, size: usize, functions: usize, depth: usize) {
        let end = self.at() + size;
        while self.at() < end {
            match self.rng.below(20) {
                0..11 => {
                    for _ in 0..=self.rng.below(8) {
                        self.instruction();
                    }
                }
                11..14 => self.branch(),
                14 | 15 if level + depth < [2, 2, 0][level] => {
                    self.repeat(level, size / 2, functions, depth)
                }
                16 | 17 if level == 0 => {
                    let f = self.rng.below(functions as u64) as usize;
                    self.call(f, 26);
                }
                18 if level == 1 && functions > 1 => self.call(functions - 1, 27),
                19 => self.switch(),
                _ => self.instruction(),
            }
        }
    }

    /// A function. The last may be called by the others, and calls none; the first calls itself.
    fn function(&mut self, f: usize, size: usize, functions: usize) -> usize {
        let start = self.at();
        let last = f + 1 == functions && functions > 1;
        let level = if last { 2 } else { 1 };
        if f == 0 && !last {
            self.recursive(size);
        } else {
            self.body(level, size, functions);
        }
        if last {
            // Called by two links: those who come by $27 say so in $29.
            let from_function = self.at();
            self.put(Op::bne, Fields { ra: TEMPORARY, ..Fields::default() });
            self.leave(26);
            self.land(from_function);
            self.leave(27);
        } else {
            self.leave(26);
        }
        start
    }

    fn leave(&mut self, link: u8) {
        self.put(Op::ret, Fields { ra: 31, rb: link, imm: 1, ..Fields::default() });
    }

    /// Descends a few levels, with the links on the stack, and works on the way back.
    fn recursive(&mut self, size: usize) {
        let word = |imm| Fields { ra: 26, rb: 30, imm, ..Fields::default() };
        self.put(Op::lda, Fields { ra: 30, rb: 30, imm: -16, ..Fields::default() });
        self.put(Op::stq, word(0));
        // $30 <8:6> is the depth, near enough: it ends when the stack pointer's bits say so.
        self.put(Op::srl, Fields { ra: 30, literal: true, imm: 4, rc: 21, ..Fields::default() });
        self.put(Op::and, Fields { ra: 21, literal: true, imm: 7, rc: 21, ..Fields::default() });
        let done = self.at();
        self.put(Op::beq, Fields { ra: 21, ..Fields::default() });
        let start = done - 4;
        let back = start as i32 - (self.at() as i32 + 1);
        self.put(Op::bsr, Fields { ra: 26, imm: back, ..Fields::default() });
        for _ in 0..size / 3 {
            self.instruction();
        }
        self.land(done);
        self.put(Op::ldq, word(0));
        self.put(Op::lda, Fields { ra: 30, rb: 30, imm: 16, ..Fields::default() });
    }

    fn call(&mut self, function: usize, link: u8) {
        let flag = i32::from(link == 27);
        self.put(Op::lda, Fields { ra: TEMPORARY, rb: 31, imm: flag, ..Fields::default() });
        self.calls.push((self.at(), function));
        let op = if self.rng.chance(800) { Op::bsr } else { Op::br };
        self.put(op, Fields { ra: link, ..Fields::default() });
    }

    /// A forward branch over a few instructions.
    fn branch(&mut self) {
        let desc = self.row(|d| d.is(Flags::CONDITIONAL));
        let ra = if desc.shape == Shape::Branch { self.source() } else { self.float_source() };
        let at = self.at();
        self.put(desc.op, Fields { ra, ..Fields::default() });
        for _ in 0..self.rng.below(6) {
            self.instruction();
        }
        self.land(at);
    }

    /// A loop of a few rounds.
    fn repeat(&mut self, level: usize, size: usize, functions: usize, depth: usize) {
        let counter = 22 + (2 * level + depth) as u8;
        let rounds = self.rng.range(1, 6) as i32;
        self.put(Op::lda, Fields { ra: counter, rb: 31, imm: rounds, ..Fields::default() });
        let head = self.at();
        let down = Fields { ra: counter, literal: true, imm: 1, rc: counter, ..Fields::default() };
        self.piece(level, size.clamp(1, 40), functions, depth + 1);
        self.put(Op::subq, down);
        let back = head as i32 - (self.at() as i32 + 1);
        let op = self.rng.pick(&[Op::bne, Op::bgt]);
        self.put(op, Fields { ra: counter, imm: back, ..Fields::default() });
    }

    /// A jump through a table of branches.
    fn switch(&mut self) {
        let x = self.source();
        let low = self.rng.below(4) as i32;
        self.put(Op::and, Fields { ra: x, literal: true, imm: 3, rc: 21, ..Fields::default() });
        self.put(Op::br, Fields { ra: 20, ..Fields::default() });
        self.put(Op::s4addq, Fields { ra: 21, rb: 20, rc: 21, ..Fields::default() });
        // The low bits are ignored.
        self.put(Op::lda, Fields { ra: 21, rb: 21, imm: 12 + low, ..Fields::default() });
        let jump = self.rng.pick(&[Op::jmp, Op::jmp, Op::jsr, Op::ret, Op::jsr_coroutine]);
        let ra = self.rng.pick(&[25, 31, 21]);
        self.put(jump, Fields { ra, rb: 21, ..Fields::default() });
        let table = self.at();
        for _ in 0..3 {
            self.put(Op::br, Fields::default());
        }
        let mut exits = Vec::new();
        for case in 0..4 {
            if case > 0 {
                self.land(table + case - 1);
            }
            for _ in 0..=self.rng.below(3) {
                self.instruction();
            }
            exits.push(self.at());
            self.put(Op::br, Fields::default());
        }
        for at in exits {
            self.land(at);
        }
    }

    /// One instruction, or a few that belong together.
    fn instruction(&mut self) {
        if self.rng.chance(self.recipe.stops) {
            return self.stop();
        }
        match self.rng.below(100) {
            0..42 => self.operate(),
            42..60 => self.memory(),
            60..64 => self.burst(),
            64..84 => self.float(),
            84..93 => self.base(),
            93..95 => self.locked(),
            95 => self.rounding(),
            _ => self.other(),
        }
    }

    fn operate(&mut self) {
        let traps = self.rng.chance(150);
        let qemu = self.recipe.for_qemu;
        let desc = self.row(|d| {
            (matches!(d.shape, Shape::Int | Shape::Cmov) || traps && d.shape == Shape::IntV)
                && !(qemu && d.op == Op::amask)
        });
        let free = matches!(desc.form, Form::Opr(..) | Form::OprB(..));
        let literal = free && self.rng.chance(350);
        let (ra, rb, rc) = (self.source(), self.source(), self.target());
        let imm = if literal { self.literal() } else { 0 };
        self.put(desc.op, Fields { ra, rb, rc, literal, imm, ..Fields::default() });
    }

    fn literal(&mut self) -> i32 {
        let any = self.rng.below(256) as i32;
        self.rng.pick(&[0, 1, 7, 8, 63, 64, 255, any, any])
    }

    fn memory(&mut self) {
        let desc = self.row(|d| {
            let shapes = [Shape::Load, Shape::FLoad, Shape::Store, Shape::FStore];
            shapes.contains(&d.shape)
        });
        let fields = self.place(desc);
        self.put(desc.op, fields);
    }

    /// Accesses off one base and moved copies of it: what one check may serve.
    fn burst(&mut self) {
        let base = self.rng.pick(&BASES);
        if self.rng.chance(8 * self.recipe.wild) {
            let rb = self.rng.pick(&[14, 15, 13]);
            self.put(Op::bis, Fields { ra: 31, rb, rc: base, ..Fields::default() });
        }
        for _ in 0..=self.rng.below(5) {
            let desc = self.row(|d| d.is(Flags::LOAD) || d.shape == Shape::Store);
            let fields = self.place(desc);
            let prefetch = desc.is(Flags::LOAD) && !desc.is(Flags::LOCKED) && self.rng.chance(200);
            let ra = if prefetch { 31 } else { fields.ra };
            self.put(desc.op, Fields { ra, rb: base, ..fields });
            if self.rng.chance(300) {
                let (to, imm) = (self.rng.pick(&[base, 16]), self.rng.range(-20, 20) as i32);
                self.put(Op::lda, Fields { ra: to, rb: base, imm, ..Fields::default() });
            }
        }
    }

    /// Base, displacement and data register of a load or store.
    fn place(&mut self, desc: &InsnDesc) -> Fields {
        let wild = self.rng.chance(self.recipe.wild);
        let rb = if wild && self.rng.chance(500) {
            let any = self.source();
            self.rng.pick(&[14, 15, any])
        } else if self.rng.chance(100) {
            FIXED
        } else {
            self.rng.pick(&BASES)
        };
        let width = match desc.op {
            Op::ldwu | Op::stw => 2,
            Op::ldl | Op::stl | Op::lds | Op::sts | Op::ldl_l | Op::stl_c => 4,
            Op::ldq | Op::stq | Op::ldt | Op::stt | Op::ldq_l | Op::stq_c => 8,
            _ => 1,
        };
        let far = self.rng.chance(200);
        let imm = self.rng.range(-64, 64) as i32 * if far { 32 } else { 1 };
        let imm = if wild && self.rng.chance(500) {
            self.rng.range(-0x8000, 0x7fff) as i32
        } else {
            imm / width * width
        };
        let float = matches!(desc.shape, Shape::FLoad | Shape::FStore);
        let ra = match (float, desc.is(Flags::STORE) && !desc.is(Flags::LOCKED)) {
            (true, true) => self.float_source(),
            (true, false) => self.float_target(),
            (false, true) => self.source(),
            // To $31 it is a prefetch; qemu takes a load locked for one too.
            (false, false) if self.recipe.for_qemu && desc.is(Flags::LOCKED) => 7,
            (false, false) if self.rng.chance(60) => 31,
            (false, false) => self.target(),
        };
        Fields { ra, rb, imm, ..Fields::default() }
    }

    fn qualifiers(&mut self, desc: &InsnDesc) -> Option<Qualifiers> {
        if !matches!(desc.form, Form::Fp(..) | Form::FpB(..)) {
            return None;
        }
        loop {
            let common = self.rng.chance(700);
            let q = Qualifiers {
                rounding: match self.rng.below(if common { 8 } else { 20 }) {
                    0..7 => Rounding::Nearest,
                    7..10 => Rounding::Dynamic,
                    10..16 => Rounding::Chopped,
                    _ => Rounding::MinusInfinity,
                },
                underflow: self.rng.chance(600),
                software: self.rng.chance(600),
                inexact: self.rng.chance(300),
            };
            if desc.qualifiers.function(q).is_some() {
                return Some(q);
            }
        }
    }

    fn float(&mut self) {
        let shapes = [Shape::Fp1, Shape::Fp2, Shape::FCmov, Shape::FToI, Shape::IToF];
        let desc = self.row(|d| shapes.contains(&d.shape));
        let (ra, rc) = match desc.shape {
            Shape::IToF => (self.source(), self.float_target()),
            Shape::FToI => (self.float_source(), self.target()),
            _ => (self.float_source(), self.float_target()),
        };
        let rb = self.float_source();
        let qualifiers = self.qualifiers(desc);
        self.put(desc.op, Fields { ra, rb, rc, qualifiers, ..Fields::default() });
        if self.recipe.for_qemu && desc.is(Flags::TRAPS) && rc != 31 {
            self.canonicalise(rc, qualifiers.is_some_and(|q| !q.software));
        }
    }

    /// Makes zero of what isn't a number; and, after an instruction that flushes small results to
    /// zero, of minus zero.
    fn canonicalise(&mut self, r: u8, flushed: bool) {
        let qualifiers = Some(Qualifiers {
            rounding: Rounding::Nearest,
            underflow: true,
            software: true,
            inexact: false,
        });
        let last = LAST_FLOAT;
        if flushed {
            self.put(Op::addt, Fields { ra: r, rb: 31, rc: r, qualifiers, ..Fields::default() });
        }
        self.put(Op::cmptun, Fields { ra: r, rb: r, rc: last, qualifiers, ..Fields::default() });
        self.put(Op::fcmovne, Fields { ra: last, rb: 31, rc: r, ..Fields::default() });
    }

    /// Moves a base.
    fn base(&mut self) {
        let (to, from) = (self.rng.pick(&BASES), self.rng.pick(&BASES));
        let step = |n: i64| (n * 8) as i32;
        match self.rng.below(8) {
            0..4 => {
                let imm = step(self.rng.range(-0x600, 0x600));
                self.put(Op::lda, Fields { ra: to, rb: FIXED, imm, ..Fields::default() });
            }
            4 => {
                let imm = step(self.rng.range(-8, 8));
                self.put(Op::lda, Fields { ra: to, rb: from, imm, ..Fields::default() });
            }
            5 => self.put(Op::bis, Fields { ra: 31, rb: from, rc: to, ..Fields::default() }),
            6 => {
                let imm = 8 * self.rng.below(8) as i32;
                let f = Fields { ra: from, literal: true, imm, rc: to, ..Fields::default() };
                self.put(Op::addq, f);
            }
            _ if self.rng.chance(8 * self.recipe.wild) => match self.rng.below(3) {
                0 => {
                    let any = self.source();
                    let rb = self.rng.pick(&[14, 15, any]);
                    self.put(Op::bis, Fields { ra: 31, rb, rc: to, ..Fields::default() });
                }
                1 => {
                    let imm = self.rng.range(-0x8000, 0x7fff) as i32;
                    self.put(Op::lda, Fields { ra: to, rb: from, imm, ..Fields::default() });
                }
                _ => {
                    let imm = self.rng.range(-0x8000, 0x7fff) as i32;
                    self.put(Op::ldah, Fields { ra: to, rb: from, imm, ..Fields::default() });
                }
            },
            _ => self.put(Op::bis, Fields { ra: FIXED, rb: FIXED, rc: to, ..Fields::default() }),
        }
    }

    /// A load-locked and store-conditional that belong together, or one of them.
    fn locked(&mut self) {
        let (load, store) = self.rng.pick(&[(Op::ldl_l, Op::stl_c), (Op::ldq_l, Op::stq_c)]);
        let fields = self.place(load.desc());
        let ra = self.target();
        if self.rng.chance(850) {
            self.put(load, fields);
        }
        if self.rng.chance(400) {
            self.operate();
        }
        if self.rng.chance(850) {
            let rb = if self.rng.chance(900) { fields.rb } else { self.rng.pick(&BASES) };
            self.put(store, Fields { ra, rb, ..fields });
        }
    }

    /// The same few instructions in several rounding modes, the status cleared in between or not.
    fn rounding(&mut self) {
        let clear = self.rng.chance(500);
        let set = |g: &mut Generator, mode: i32| {
            let last = Fields { ra: LAST_FLOAT, ..Fields::default() };
            g.put(Op::mf_fpcr, last);
            g.put(Op::ftoit, Fields { rc: 20, ..last });
            let small = |ra, imm| Fields { ra, rb: 31, imm, ..Fields::default() };
            let shift = |r, imm| Fields { ra: r, literal: true, imm, rc: r, ..Fields::default() };
            let (mask, at) = if clear { (0xff, 52) } else { (3, 58) };
            g.put(Op::lda, small(21, mask));
            g.put(Op::sll, shift(21, at));
            g.put(Op::bic, Fields { ra: 20, rb: 21, rc: 20, ..Fields::default() });
            g.put(Op::lda, small(21, mode));
            g.put(Op::sll, shift(21, 58));
            g.put(Op::bis, Fields { ra: 20, rb: 21, rc: 20, ..Fields::default() });
            g.put(Op::itoft, Fields { ra: 20, rc: LAST_FLOAT, ..Fields::default() });
            g.put(Op::mt_fpcr, last);
            g.put(Op::bis, Fields { rc: 20, ..Fields::default() });
            g.put(Op::cpys, Fields { rc: LAST_FLOAT, ..Fields::default() });
        };
        let start = self.at();
        for _ in 0..2 {
            self.float();
        }
        let same = self.words[start..].to_vec();
        for _ in 0..=self.rng.below(2) {
            let mode = self.rng.below(4) as i32;
            set(self, mode);
            self.words.extend(&same);
        }
        if !self.recipe.for_qemu {
            let ra = self.float_target();
            self.put(Op::mf_fpcr, Fields { ra, ..Fields::default() });
        }
        set(self, 2);
    }

    /// Barriers, hints, RC and RS, address arithmetic, and PAL calls that go on.
    fn other(&mut self) {
        // They end a reservation, which on qemu they don't.
        if !self.recipe.for_qemu && self.rng.chance(250) {
            let imm = self.rng.pick(&[0x9e, 0x9e, 0x9f, 0x86]);
            return self.put(Op::call_pal, Fields { imm, ..Fields::default() });
        }
        let counter = self.recipe.counter;
        let desc = self.row(|d| {
            matches!(d.shape, Shape::Effect | Shape::ReadMisc | Shape::Lda)
                && (counter || d.op != Op::rpcc)
        });
        let (ra, rb) = (self.target(), self.source());
        let lda = desc.shape == Shape::Lda;
        let imm = if lda { self.rng.range(-0x8000, 0x7fff) as i32 } else { 0 };
        self.put(desc.op, Fields { ra, rb, imm, ..Fields::default() });
    }

    /// An instruction that doesn't go on.
    fn stop(&mut self) {
        match self.rng.below(4) {
            0 => {
                let any = self.rng.below(1 << 26) as i32;
                let imm = self.rng.pick(&[0, 0x80, 0x81, 0x86, 0x9e, 0x9e, 0x9f, 0xaa, any]);
                self.put(Op::call_pal, Fields { imm, ..Fields::default() });
            }
            1 => {
                let word = self.rng.next() as u32;
                let illegal = word & 0x3ff_ffff | self.rng.pick(&[1, 7, 0x19, 0x1f]) << 26;
                self.words.push(illegal);
            }
            _ => {
                let desc = self.row(|d| d.is(Flags::RESERVED));
                self.put(desc.op, Fields::default());
            }
        }
    }
}
