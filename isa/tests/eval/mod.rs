//! The semantics computed in the plainest way, with a record of the registers touched.

use axperf_isa::exec::{Flow, exec};
use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Sem, VaxConversion,
    VaxFormat, Width,
};
use axperf_isa::{Insn, asm, decode};

/// A CPU with 64 KiB of memory at 0.
#[derive(Debug)]
pub struct Eval {
    pub int: [u64; 32],
    pub fp: [u64; 32],
    pub fpcr: u64,
    pub unique: u64,
    pub memory: Vec<u8>,
    pub pc: u64,
    /// Registers read and written so far, a bit each.
    pub touched: Touched,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Touched {
    pub int_reads: u32,
    pub int_writes: u32,
    pub fp_reads: u32,
    pub fp_writes: u32,
}

/// Why an instruction stopped.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Memory(u64),
    Trap(ArithTrap, u8, u64),
    Pal(u32),
    Illegal,
}

/// Where an instruction went.
#[derive(Debug, PartialEq, Eq)]
pub enum Gone {
    Next,
    To(u64),
}

impl Eval {
    pub fn new() -> Eval {
        Eval {
            int: [0; 32],
            fp: [0; 32],
            fpcr: 0,
            unique: 0,
            memory: vec![0; 1 << 16],
            pc: 0x1000,
            touched: Touched::default(),
        }
    }

    /// Executes one instruction at `self.pc`, which stays.
    pub fn step(&mut self, insn: &Insn) -> Result<Gone, Stop> {
        let pc = self.pc;
        Ok(match exec(self, insn, pc)? {
            Flow::Next | Flow::Branch { taken: false, .. } => Gone::Next,
            Flow::Branch { taken: true, target } | Flow::Goto(target) => Gone::To(target),
            Flow::Jump(target) => Gone::To(target),
        })
    }

    /// Executes one instruction, given as text.
    pub fn run(&mut self, text: &str) -> Result<Gone, Stop> {
        let word = asm(text, self.pc).unwrap_or_else(|error| panic!("{text}: {error}"));
        self.step(&decode(word).unwrap())
    }

    fn place(&self, addr: u64, width: Width) -> Result<std::ops::Range<usize>, Stop> {
        let (start, size) = (addr as usize, width.bytes() as usize);
        if addr >= self.memory.len() as u64 || !addr.is_multiple_of(width.bytes()) {
            return Err(Stop::Memory(addr));
        }
        Ok(start..start + size)
    }
}

/// `name ra, rb, r3` of two values.
pub fn operate(name: &str, a: u64, b: u64) -> u64 {
    let mut cpu = Eval::new();
    (cpu.int[1], cpu.int[2]) = (a, b);
    assert_eq!(cpu.run(&format!("{name} $1,$2,$3")), Ok(Gone::Next), "{name}");
    cpu.int[3]
}

/// Values that sit at edges of every width, and some without pattern.
pub fn edges() -> Vec<u64> {
    let mut values = vec![0, 1, 2, 3, 7, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    for bits in [8, 16, 31, 32, 62, 63] {
        let power = 1u64 << bits;
        values.extend([power - 1, power, power + 1, power.wrapping_neg(), !power]);
    }
    values.extend([u64::MAX, u64::MAX - 1, 0x8080_8080_8080_8080, 0x7f80_ff00_0001_8000]);
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..8 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        values.push(x);
    }
    values
}

impl Sem for Eval {
    type I = u64;
    type F = u64;
    type B = bool;
    type Stop = Stop;

    fn int(&mut self, r: u8) -> u64 {
        self.touched.int_reads |= 1 << r & 0x7fff_ffff;
        if r == 31 { 0 } else { self.int[usize::from(r)] }
    }
    fn set_int(&mut self, r: u8, value: u64) {
        self.touched.int_writes |= 1 << r & 0x7fff_ffff;
        self.int[usize::from(r)] = value;
    }
    fn fp(&mut self, r: u8) -> u64 {
        self.touched.fp_reads |= 1 << r & 0x7fff_ffff;
        if r == 31 { 0 } else { self.fp[usize::from(r)] }
    }
    fn set_fp(&mut self, r: u8, value: u64) {
        self.touched.fp_writes |= 1 << r & 0x7fff_ffff;
        self.fp[usize::from(r)] = value;
    }

    fn imm(&mut self, value: u64) -> u64 {
        value
    }
    fn add(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    fn sub(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    fn mul(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }
    fn umulh(&mut self, a: u64, b: u64) -> u64 {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
    fn smulh(&mut self, a: u64, b: u64) -> u64 {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    }
    fn and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }
    fn or(&mut self, a: u64, b: u64) -> u64 {
        a | b
    }
    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    fn and_not(&mut self, a: u64, b: u64) -> u64 {
        a & !b
    }
    fn or_not(&mut self, a: u64, b: u64) -> u64 {
        a | !b
    }
    fn xor_not(&mut self, a: u64, b: u64) -> u64 {
        a ^ !b
    }
    fn shl(&mut self, a: u64, b: u64) -> u64 {
        a << (b & 63)
    }
    fn shr(&mut self, a: u64, b: u64) -> u64 {
        a >> (b & 63)
    }
    fn sar(&mut self, a: u64, b: u64) -> u64 {
        (a as i64 >> (b & 63)) as u64
    }
    fn sext(&mut self, a: u64, width: Width) -> u64 {
        match width {
            Width::Byte => a as i8 as u64,
            Width::Word => a as i16 as u64,
            Width::Long => a as i32 as u64,
            Width::Quad => a,
        }
    }
    fn zext(&mut self, a: u64, width: Width) -> u64 {
        match width {
            Width::Byte => a & 0xff,
            Width::Word => a & 0xffff,
            Width::Long => a & 0xffff_ffff,
            Width::Quad => a,
        }
    }
    fn clz(&mut self, a: u64) -> u64 {
        a.leading_zeros().into()
    }
    fn ctz(&mut self, a: u64) -> u64 {
        a.trailing_zeros().into()
    }
    fn popcnt(&mut self, a: u64) -> u64 {
        a.count_ones().into()
    }
    fn cmp_bytes_ge(&mut self, a: u64, b: u64) -> u64 {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        (0..8).map(|i| u64::from(a[i] >= b[i]) << i).sum()
    }
    fn byte_mask(&mut self, a: u64) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| if a >> i & 1 != 0 { 0xff } else { 0 }))
    }

    fn eq(&mut self, a: u64, b: u64) -> bool {
        a == b
    }
    fn ne(&mut self, a: u64, b: u64) -> bool {
        a != b
    }
    fn slt(&mut self, a: u64, b: u64) -> bool {
        (a as i64) < b as i64
    }
    fn sle(&mut self, a: u64, b: u64) -> bool {
        a as i64 <= b as i64
    }
    fn ult(&mut self, a: u64, b: u64) -> bool {
        a < b
    }
    fn ule(&mut self, a: u64, b: u64) -> bool {
        a <= b
    }
    fn truth(&mut self, a: bool) -> u64 {
        a.into()
    }
    fn select(&mut self, c: bool, a: u64, b: u64) -> u64 {
        if c { a } else { b }
    }
    fn fselect(&mut self, c: bool, a: u64, b: u64) -> u64 {
        if c { a } else { b }
    }

    fn bits(&mut self, a: u64) -> u64 {
        a
    }
    fn from_bits(&mut self, a: u64) -> u64 {
        a
    }
    // The manual's MAP_S, table 2-2: exponent bits 30 and 29:23 move apart.
    fn s_to_register(&mut self, a: u64) -> u64 {
        let (sign, top, low, fraction) = (a >> 31 & 1, a >> 30 & 1, a >> 23 & 0x7f, a & 0x7f_ffff);
        let exponent = match (top, low) {
            (1, 0x7f) => 0x7ff,
            (1, low) => 0x400 | low,
            (_, 0) => 0,
            (_, low) => 0x380 | low,
        };
        sign << 63 | exponent << 52 | fraction << 29
    }
    fn register_to_s(&mut self, a: u64) -> u64 {
        a >> 62 << 30 | a >> 29 & 0x3fff_ffff
    }

    fn fp_arith(
        &mut self,
        _: FpOp,
        _: FpFormat,
        _: Qualifiers,
        _: u64,
        _: u64,
    ) -> Result<u64, Stop> {
        Ok(0)
    }
    fn fp_compare(&mut self, _: FpRelation, _: Qualifiers, _: u64, _: u64) -> Result<u64, Stop> {
        Ok(0)
    }
    fn fp_convert(&mut self, _: FpConversion, _: Qualifiers, _: u64) -> Result<u64, Stop> {
        Ok(0)
    }
    fn vax_arith(
        &mut self,
        _: FpOp,
        _: VaxFormat,
        _: Qualifiers,
        _: u64,
        _: u64,
    ) -> Result<u64, Stop> {
        Ok(0)
    }
    fn vax_compare(&mut self, _: FpRelation, _: Qualifiers, _: u64, _: u64) -> Result<u64, Stop> {
        Ok(0)
    }
    fn vax_convert(&mut self, _: VaxConversion, _: Qualifiers, _: u64) -> Result<u64, Stop> {
        Ok(0)
    }
    fn fpcr(&mut self) -> Result<u64, Stop> {
        Ok(self.fpcr)
    }
    fn set_fpcr(&mut self, value: u64) -> Result<(), Stop> {
        self.fpcr = value;
        Ok(())
    }

    fn load(&mut self, addr: u64, width: Width) -> Result<u64, Stop> {
        let place = self.place(addr, width)?;
        Ok(self.memory[place].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
    fn store(&mut self, addr: u64, width: Width, value: u64) -> Result<(), Stop> {
        let place = self.place(addr, width)?;
        let size = place.len();
        self.memory[place].copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(())
    }
    fn load_locked(&mut self, addr: u64, width: Width) -> Result<u64, Stop> {
        self.load(addr, width)
    }
    fn store_conditional(&mut self, addr: u64, width: Width, value: u64) -> Result<u64, Stop> {
        self.store(addr, width, value)?;
        Ok(1)
    }
    fn barrier(&mut self, _: Barrier) -> Result<(), Stop> {
        Ok(())
    }

    fn cycle_counter(&mut self) -> Result<u64, Stop> {
        Ok(0)
    }
    fn interrupt_flag(&mut self, _: bool) -> Result<u64, Stop> {
        Ok(0)
    }
    fn amask(&mut self, features: u64) -> u64 {
        features & !0x305
    }
    fn implver(&mut self) -> u64 {
        2
    }

    fn unique(&mut self) -> u64 {
        self.unique
    }
    fn set_unique(&mut self, value: u64) {
        self.unique = value;
    }
    fn clear_reservation(&mut self) {}

    fn next_pc(&mut self) -> u64 {
        self.pc + 4
    }
    fn trap_if(&mut self, c: bool, trap: ArithTrap, result: (u8, u64)) -> Result<(), Stop> {
        if c { Err(Stop::Trap(trap, result.0, result.1)) } else { Ok(()) }
    }
    fn call_pal(&mut self, function: u32) -> Stop {
        Stop::Pal(function)
    }
    fn illegal(&mut self) -> Stop {
        Stop::Illegal
    }
}
