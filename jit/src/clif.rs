//! The semantics, emitted as Cranelift IR.
//!
//! A value that the IR computes is ordinary in most cases; where it might not be (a floating-point
//! result that isn't a number, an address that isn't aligned), the instruction is left to the
//! interpreter by a cold branch, which executes it again from unchanged registers.

use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Rounding, Width,
};
use axperf_isa::state::NO_RESERVATION;
use axperf_isa::{Reg, Sem, word};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I16, I32, I64, I64X2};
use cranelift_codegen::ir::{
    Endianness, InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, ValueDef,
};

use crate::checks::Need;
use crate::translate::Tx;
use crate::variant::Shape;

/// The first address that isn't the guest's, where guest addresses are host addresses.
const LIMIT: u64 = 1 << 42;
/// Bits of an address within a page of the soft TLB.
const PAGE_BITS: i64 = 13;
/// The least normal numbers of both formats, as register images.
const LEAST_S: u64 = (1023 - 126) << 52;
const LEAST_T: u64 = 1 << 52;

fn integer(width: Width) -> Type {
    match width {
        Width::Byte => I8,
        Width::Word => I16,
        Width::Long => I32,
        Width::Quad => I64,
    }
}

impl Tx<'_> {
    fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        self.b.ins().icmp(cc, a, b)
    }

    fn constant(&self, v: Value) -> Option<u64> {
        let ValueDef::Result(inst, _) = self.b.func.dfg.value_def(v) else { return None };
        match self.b.func.dfg.insts[inst] {
            InstructionData::UnaryImm { imm, .. } => Some(i64::from(imm) as u64),
            _ => None,
        }
    }

    /// Host address of an access that was checked; leaves to the interpreter if it fails.
    fn host_address(&mut self, addr: Value, width: Width, write: bool) -> Value {
        match self.mode.shape {
            Shape::Identity => {
                match self.need() {
                    Some((_, Need::Nothing)) => {}
                    Some((base, Need::Base(low))) => {
                        let base = self.int(base);
                        self.check(base, low);
                    }
                    Some((_, Need::Address(low))) => self.check(addr, low),
                    None => self.check(addr, width.bytes() - 1),
                }
                addr
            }
            Shape::Flat => {
                // Rotated by the width, an address that isn't aligned is beyond every size.
                let log = width.bytes().trailing_zeros();
                let units = self.b.ins().rotr_imm_u(addr, i64::from(log));
                let len = self.mem_len.map(|v| self.b.use_var(v));
                let base = self.mem_base.map(|v| self.b.use_var(v));
                let (Some(len), Some(base)) = (len, base) else { return addr };
                let limit = self.b.ins().ushr_imm_u(len, i64::from(log));
                let outside = self.icmp(IntCC::UnsignedGreaterThanOrEqual, units, limit);
                self.bail_if(outside);
                self.b.ins().iadd(base, addr)
            }
            Shape::Tlb => {
                let Some(tlb) = self.tlb.map(|v| self.b.use_var(v)) else { return addr };
                // An entry: tag for reading, tag for writing, host address less guest address, 0.
                let index = self.b.ins().ushr_imm_u(addr, PAGE_BITS - 5);
                let index = self.b.ins().band_imm_s(index, (crate::TLB_ENTRIES as i64 - 1) << 5);
                let entry = self.b.ins().iadd(tlb, index);
                let flags = self.guest_flags().with_notrap();
                let tag = self.b.ins().load(I64, flags, entry, if write { 8 } else { 0 });
                let mask = !((1i64 << PAGE_BITS) - 1) | (width.bytes() as i64 - 1);
                let page = self.b.ins().band_imm_s(addr, mask);
                let miss = self.icmp(IntCC::NotEqual, tag, page);
                self.bail_if(miss);
                let flags = self.guest_flags().with_notrap();
                let addend = self.b.ins().load(I64, flags, entry, 16);
                self.b.ins().iadd(addr, addend)
            }
        }
    }

    /// A register image as an S_floating operand; leaves if it is none, or a denormal one.
    fn single(&mut self, a: Value) -> Value {
        if let ValueDef::Result(inst, _) = self.b.func.dfg.value_def(a)
            && let InstructionData::Unary { opcode: Opcode::Fpromote, arg } =
                self.b.func.dfg.insts[inst]
        {
            return arg;
        }
        self.bail_if_tiny(a, LEAST_S);
        let single = self.b.ins().fdemote(F32, a);
        let image = self.b.ins().fpromote(F64, single);
        let other = self.b.ins().fcmp(FloatCC::NotEqual, image, a);
        self.bail_if(other);
        single
    }

    /// Leaves unless the value is below [`LIMIT`] and has these low bits clear.
    fn check(&mut self, value: Value, low: u64) {
        let bad = self.b.ins().band_imm_s(value, (!(LIMIT - 1) | low) as i64);
        let bad = self.b.ins().icmp_imm_s(IntCC::NotEqual, bad, 0);
        self.bail_if(bad);
    }

    fn access_flags(&self) -> MemFlagsData {
        let flags = self.guest_flags();
        if self.mode.shape == Shape::Identity { flags } else { flags.with_notrap() }
    }

    fn dynamic_is_nearest(&mut self) {
        let fpcr = self.state_load(I64, Reg::Fpcr.offset());
        let mode = self.b.ins().band_imm_s(fpcr, 3 << 58);
        let other = self.b.ins().icmp_imm_s(IntCC::NotEqual, mode, 2 << 58);
        self.bail_if(other);
    }

    /// False if the rounding mode is never to nearest: the instruction was left.
    fn nearest(&mut self, q: Qualifiers) -> bool {
        match q.rounding {
            Rounding::Nearest => true,
            Rounding::Dynamic => {
                self.dynamic_is_nearest();
                true
            }
            Rounding::Chopped | Rounding::MinusInfinity => {
                self.bail();
                false
            }
        }
    }

    /// Leaves if the value (a register image) is denormal.
    fn bail_if_denormal(&mut self, a: Value) {
        self.bail_if_tiny(a, LEAST_T);
    }

    /// Leaves if the value (a register image) isn't zero, but smaller than this.
    fn bail_if_tiny(&mut self, a: Value, least: u64) {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        let less = self.b.ins().iadd_imm_s(shifted, -1);
        let below = (2 * least - 1) as i64;
        let tiny = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, less, below);
        self.bail_if(tiny);
    }

    fn bail_if_denormal32(&mut self, a: Value) {
        let bits = self.b.ins().bitcast(I32, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        let less = self.b.ins().iadd_imm_s(shifted, -1);
        let denormal = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, less, (1 << 24) - 1);
        self.bail_if(denormal);
    }

    /// Leaves if rounding made a normal operation's result too small for a normal number, zero
    /// included: a zero result is exact only if one of the factors is zero.
    fn bail_if_underflow(&mut self, r: Value, factors: &[Value]) {
        let (bits, least) = if self.b.func.dfg.value_type(r) == F32 {
            (self.b.ins().bitcast(I32, MemFlagsData::new(), r), 1 << 24)
        } else {
            (self.bits(r), 2 * LEAST_T as i64)
        };
        let magnitude = self.b.ins().ishl_imm_u(bits, 1);
        let small = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, magnitude, least);
        let (look, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(look);
        self.b.ins().brif(small, look, &[], go_on, &[]);
        self.b.switch_to_block(look);
        let mut inexact = self.b.ins().iconst(I8, 1);
        for &f in factors {
            let bits = self.bits(f);
            let magnitude = self.b.ins().ishl_imm_u(bits, 1);
            let other = self.b.ins().icmp_imm_u(IntCC::NotEqual, magnitude, 0);
            inexact = self.b.ins().band(inexact, other);
        }
        self.bail_if(inexact);
        self.b.ins().jump(go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Leaves if the result of an operation without software completion isn't an ordinary number.
    fn bail_unless_finished(&mut self, op: FpOp, r: Value, a: Value, b: Value) {
        self.bail_if_special(r);
        match op {
            FpOp::Mul => self.bail_if_underflow(r, &[a, b]),
            FpOp::Div => self.bail_if_underflow(r, &[a]),
            // A sum that is too small is exact; a root never is.
            FpOp::Add | FpOp::Sub if self.b.func.dfg.value_type(r) == F32 => {
                self.bail_if_denormal32(r);
            }
            FpOp::Add | FpOp::Sub => self.bail_if_denormal(r),
            FpOp::Sqrt => {}
        }
    }

    /// Leaves if the value isn't finite.
    fn bail_if_special(&mut self, a: Value) {
        let zero = self.b.ins().fsub(a, a);
        self.bail_if_unordered(zero, zero);
    }

    fn bail_if_unordered(&mut self, a: Value, b: Value) {
        let nan = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        self.bail_if(nan);
    }

    fn fp_op(&mut self, op: FpOp, a: Value, b: Value) -> Value {
        match op {
            FpOp::Add => self.b.ins().fadd(a, b),
            FpOp::Sub => self.b.ins().fsub(a, b),
            FpOp::Mul => self.b.ins().fmul(a, b),
            FpOp::Div => self.b.ins().fdiv(a, b),
            FpOp::Sqrt => self.b.ins().sqrt(b),
        }
    }
}

/// Exponents below this leave no room for what rounding took away.
const SMALL: i64 = 120;

impl Tx<'_> {
    /// Leaves unless the value's exponent is that of a number neither tiny nor special.
    fn bail_unless_ordinary(&mut self, a: Value) {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let exponent = self.b.ins().ushr_imm_u(bits, 52);
        let exponent = self.b.ins().band_imm_s(exponent, 0x7ff);
        let above = self.b.ins().iadd_imm_s(exponent, -SMALL);
        let out = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, above, 0x7ff - SMALL);
        self.bail_if(out);
    }

    /// From a result rounded to nearest to one rounded toward zero: a step back if rounding went
    /// away from zero, which the exact difference says.
    fn chop(&mut self, op: FpOp, a: Value, b: Value, r: Value) -> Value {
        self.bail_unless_ordinary(r);
        // What is missing from r, and a value with the sign of the exact result.
        let (missing, sign) = match op {
            FpOp::Add | FpOp::Sub => {
                let b = if op == FpOp::Sub { self.b.ins().fneg(b) } else { b };
                // Knuth's sum of two: exact for all finite values.
                let b_in = self.b.ins().fsub(r, a);
                let a_in = self.b.ins().fsub(r, b_in);
                let a_off = self.b.ins().fsub(a, a_in);
                let b_off = self.b.ins().fsub(b, b_in);
                (self.b.ins().fadd(a_off, b_off), r)
            }
            FpOp::Mul => {
                let minus = self.b.ins().fneg(r);
                (self.b.ins().fma(a, b, minus), r)
            }
            FpOp::Div | FpOp::Sqrt => {
                self.bail_unless_ordinary(a);
                let minus = self.b.ins().fneg(r);
                (self.b.ins().fma(minus, b, a), a)
            }
        };
        let one = self.b.ins().f64const(1.0);
        let sign = self.b.ins().fcopysign(one, sign);
        let along = self.b.ins().fmul(missing, sign);
        let zero = self.b.ins().f64const(0.0);
        let away = self.b.ins().fcmp(FloatCC::LessThan, along, zero);
        let step = self.b.ins().uextend(I64, away);
        let bits = self.bits(r);
        let bits = self.sub(bits, step);
        self.from_bits(bits)
    }
}

impl Sem for Tx<'_> {
    type I = Value;
    type F = Value;
    type B = Value;
    type Stop = ();

    fn int(&mut self, r: u8) -> Value {
        match self.int_var(r) {
            Some(v) => self.b.use_var(v),
            None => self.imm(0),
        }
    }
    fn set_int(&mut self, r: u8, value: Value) {
        if let Some(v) = self.int_var(r) {
            self.b.def_var(v, value);
        }
    }
    fn fp(&mut self, r: u8) -> Value {
        match self.fp_var(r) {
            Some(v) => self.b.use_var(v),
            None => self.b.ins().f64const(0.0),
        }
    }
    fn set_fp(&mut self, r: u8, value: Value) {
        if let Some(v) = self.fp_var(r) {
            self.b.def_var(v, value);
        }
    }

    fn imm(&mut self, value: u64) -> Value {
        self.b.ins().iconst(I64, value as i64)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().iadd(a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().isub(a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().imul(a, b)
    }
    fn umulh(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().umulhi(a, b)
    }
    fn smulh(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().smulhi(a, b)
    }
    fn and(&mut self, a: Value, b: Value) -> Value {
        match self.constant(b) {
            Some(0xff) => self.zext(a, Width::Byte),
            Some(0xffff) => self.zext(a, Width::Word),
            _ => self.b.ins().band(a, b),
        }
    }
    fn or(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().bor(a, b)
    }
    fn xor(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().bxor(a, b)
    }
    fn and_not(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().band_not(a, b)
    }
    fn or_not(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().bor_not(a, b)
    }
    fn xor_not(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().bxor_not(a, b)
    }
    fn shl(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().ishl(a, b)
    }
    fn shr(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().ushr(a, b)
    }
    fn sar(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().sshr(a, b)
    }
    fn sext(&mut self, a: Value, width: Width) -> Value {
        if width == Width::Quad {
            return a;
        }
        let low = self.b.ins().ireduce(integer(width), a);
        self.b.ins().sextend(I64, low)
    }
    fn zext(&mut self, a: Value, width: Width) -> Value {
        if width == Width::Quad {
            return a;
        }
        let low = self.b.ins().ireduce(integer(width), a);
        self.b.ins().uextend(I64, low)
    }
    fn clz(&mut self, a: Value) -> Value {
        self.b.ins().clz(a)
    }
    fn ctz(&mut self, a: Value) -> Value {
        self.b.ins().ctz(a)
    }
    fn popcnt(&mut self, a: Value) -> Value {
        self.b.ins().popcnt(a)
    }
    fn cmp_bytes_ge(&mut self, a: Value, b: Value) -> Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        let a = self.b.ins().scalar_to_vector(I64X2, a);
        let a = self.b.ins().bitcast(I8X16, flags, a);
        let b = self.b.ins().scalar_to_vector(I64X2, b);
        let b = self.b.ins().bitcast(I8X16, flags, b);
        let most = self.b.ins().umax(a, b);
        let ge = self.b.ins().icmp(IntCC::Equal, most, a);
        let bits = self.b.ins().vhigh_bits(I32, ge);
        let bits = self.b.ins().uextend(I64, bits);
        let low = self.imm(0xff);
        self.and(bits, low)
    }
    fn byte_mask(&mut self, a: Value) -> Value {
        if let Some(mask) = self.constant(a) {
            let mask = (0..8).fold(0, |m, i| m | (0xff * (mask >> i & 1)) << (8 * i));
            return self.imm(mask);
        }
        // Bit i to byte i, where it stands at place i; then each byte that isn't zero is filled.
        let low = self.imm(0xff);
        let a = self.and(a, low);
        let everywhere = self.imm(0x0101_0101_0101_0101);
        let spread = self.mul(a, everywhere);
        let diagonal = self.imm(0x8040_2010_0804_0201);
        let one = self.and(spread, diagonal);
        let sevens = self.imm(0x7f7f_7f7f_7f7f_7f7f);
        let rest = self.and(one, sevens);
        let carried = self.add(rest, sevens);
        let top = self.or(carried, one);
        let tops = self.imm(0x8080_8080_8080_8080);
        let top = self.and(top, tops);
        let bottom = self.b.ins().ushr_imm_u(top, 7);
        let full = self.imm(0xff);
        self.mul(bottom, full)
    }

    fn eq(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::Equal, a, b)
    }
    fn ne(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::NotEqual, a, b)
    }
    fn slt(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::SignedLessThan, a, b)
    }
    fn sle(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::SignedLessThanOrEqual, a, b)
    }
    fn ult(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::UnsignedLessThan, a, b)
    }
    fn ule(&mut self, a: Value, b: Value) -> Value {
        self.icmp(IntCC::UnsignedLessThanOrEqual, a, b)
    }
    fn truth(&mut self, a: Value) -> Value {
        self.b.ins().uextend(I64, a)
    }
    fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.b.ins().select(c, a, b)
    }
    fn fselect(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.b.ins().select(c, a, b)
    }

    fn bits(&mut self, a: Value) -> Value {
        self.b.ins().bitcast(I64, MemFlagsData::new(), a)
    }
    fn from_bits(&mut self, a: Value) -> Value {
        self.b.ins().bitcast(F64, MemFlagsData::new(), a)
    }
    fn s_to_register(&mut self, a: Value) -> Value {
        // Sign and fraction move; the exponent is widened: 0 stays 0, 255 becomes 2047.
        let low = self.zext(a, Width::Long);
        let sign = self.b.ins().ushr_imm_u(low, 31);
        let sign = self.b.ins().ishl_imm_u(sign, 63);
        let rest = self.b.ins().band_imm_u(low, 0x7fff_ffff);
        let moved = self.b.ins().ishl_imm_u(rest, 29);
        let exponent = self.b.ins().ushr_imm_u(rest, 23);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, exponent, 0);
        let top = self.b.ins().icmp_imm_s(IntCC::Equal, exponent, 0xff);
        let none = self.imm(0);
        let bias = self.imm((1023 - 127) << 52);
        let both = self.imm((2047 - 255) << 52);
        let add = self.select(top, both, bias);
        let add = self.select(zero, none, add);
        let wide = self.add(moved, add);
        let image = self.or(wide, sign);
        self.from_bits(image)
    }
    fn register_to_s(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        let high = self.b.ins().ushr_imm_u(bits, 32);
        let high = self.b.ins().band_imm_u(high, 0xc000_0000);
        let low = self.b.ins().ushr_imm_u(bits, 29);
        let low = self.b.ins().band_imm_u(low, 0x3fff_ffff);
        self.or(high, low)
    }

    fn fp_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        let chopped = q.rounding == Rounding::Chopped
            && format == FpFormat::T
            && op != FpOp::Sqrt
            && self.has_fma;
        if !chopped && !self.nearest(q) {
            return Err(());
        }
        let unary = op == FpOp::Sqrt;
        if !q.software && format == FpFormat::T {
            if !unary {
                self.bail_if_denormal(a);
            }
            self.bail_if_denormal(b);
        }
        if !q.software && op == FpOp::Div {
            self.bail_if_special(b);
        }
        match format {
            FpFormat::T => {
                let r = self.fp_op(op, a, b);
                if q.software {
                    self.bail_if_unordered(r, r);
                } else {
                    self.bail_unless_finished(op, r, a, b);
                }
                Ok(if chopped { self.chop(op, a, b, r) } else { r })
            }
            FpFormat::S => {
                let y = self.single(b);
                let x = if unary { y } else { self.single(a) };
                let r = self.fp_op(op, x, y);
                if q.software {
                    self.bail_if_unordered(r, r);
                    self.bail_if_denormal32(r);
                } else {
                    self.bail_unless_finished(op, r, a, b);
                }
                Ok(self.b.ins().fpromote(F64, r))
            }
        }
    }

    fn fp_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        if !q.software {
            self.bail_if_denormal(a);
            self.bail_if_denormal(b);
        }
        self.bail_if_unordered(a, b);
        let cc = match relation {
            FpRelation::Eq => FloatCC::Equal,
            FpRelation::Lt => FloatCC::LessThan,
            FpRelation::Le => FloatCC::LessThanOrEqual,
            FpRelation::Un => FloatCC::Unordered,
        };
        let c = self.b.ins().fcmp(cc, a, b);
        let (two, zero) = (self.b.ins().f64const(2.0), self.b.ins().f64const(0.0));
        Ok(self.b.ins().select(c, two, zero))
    }

    fn fp_convert(
        &mut self,
        conversion: FpConversion,
        q: Qualifiers,
        b: Value,
    ) -> Result<Value, ()> {
        match conversion {
            FpConversion::QtoT => {
                if !self.nearest(q) {
                    return Err(());
                }
                let n = self.bits(b);
                Ok(self.b.ins().fcvt_from_sint(F64, n))
            }
            FpConversion::QtoS => {
                if !self.nearest(q) {
                    return Err(());
                }
                let n = self.bits(b);
                let r = self.b.ins().fcvt_from_sint(F32, n);
                Ok(self.b.ins().fpromote(F64, r))
            }
            FpConversion::QtoL => {
                let n = self.bits(b);
                if q.underflow && !q.software {
                    let low = self.sext(n, Width::Long);
                    let wide = self.icmp(IntCC::NotEqual, low, n);
                    self.bail_if(wide);
                }
                let high = self.b.ins().band_imm_u(n, 0xc000_0000);
                let high = self.b.ins().ishl_imm_u(high, 32);
                let low = self.b.ins().band_imm_u(n, 0x3fff_ffff);
                let low = self.b.ins().ishl_imm_u(low, 29);
                let image = self.or(high, low);
                Ok(self.from_bits(image))
            }
            FpConversion::StoT => {
                let single = self.single(b);
                if !q.software {
                    self.bail_if_special(b);
                }
                Ok(self.b.ins().fpromote(F64, single))
            }
            FpConversion::TtoS => {
                if !self.nearest(q) {
                    return Err(());
                }
                let r = self.b.ins().fdemote(F32, b);
                if q.software {
                    self.bail_if_unordered(r, r);
                    self.bail_if_denormal32(r);
                } else {
                    self.bail_if_denormal(b);
                    self.bail_if_special(r);
                    self.bail_if_underflow(r, &[b]);
                }
                Ok(self.b.ins().fpromote(F64, r))
            }
            FpConversion::TtoQ => {
                if !q.software {
                    self.bail_if_denormal(b);
                }
                let rounded = match q.rounding {
                    Rounding::Nearest => self.b.ins().nearest(b),
                    Rounding::Chopped => self.b.ins().trunc(b),
                    Rounding::MinusInfinity => self.b.ins().floor(b),
                    Rounding::Dynamic => {
                        self.dynamic_is_nearest();
                        self.b.ins().nearest(b)
                    }
                };
                // Below 2^63 in magnitude; a NaN compares as not below.
                let magnitude = self.b.ins().fabs(rounded);
                let limit = self.b.ins().f64const(9_223_372_036_854_775_808.0);
                let outside =
                    self.b.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, magnitude, limit);
                self.bail_if(outside);
                let n = self.b.ins().fcvt_to_sint_sat(I64, rounded);
                Ok(self.from_bits(n))
            }
        }
    }

    fn fpcr(&mut self) -> Result<Value, ()> {
        Ok(self.state_load(I64, Reg::Fpcr.offset()))
    }
    fn set_fpcr(&mut self, value: Value) -> Result<(), ()> {
        self.state_store(value, Reg::Fpcr.offset());
        Ok(())
    }

    fn load(&mut self, addr: Value, width: Width) -> Result<Value, ()> {
        let host = self.host_address(addr, width, false);
        let flags = self.access_flags();
        let value = self.b.ins().load(integer(width), flags, host, 0);
        if self.mode.shape == Shape::Identity {
            // A fault belongs to this instruction: the load isn't folded into a later one.
            self.b.ins().sequence_point();
        }
        Ok(if width == Width::Quad { value } else { self.b.ins().uextend(I64, value) })
    }
    fn store(&mut self, addr: Value, width: Width, value: Value) -> Result<(), ()> {
        let host = self.host_address(addr, width, true);
        let value =
            if width == Width::Quad { value } else { self.b.ins().ireduce(integer(width), value) };
        let flags = self.access_flags();
        // A store of what was just loaded is a store all the same: it may fault.
        self.b.ins().sequence_point();
        self.b.ins().store(flags, value, host, 0);
        Ok(())
    }
    fn load_locked(&mut self, addr: Value, width: Width) -> Result<Value, ()> {
        let value = self.load(addr, width)?;
        self.state_store(addr, word::LOCK_ADDR * 8);
        self.state_store(value, word::LOCK_VALUE * 8);
        Ok(value)
    }
    fn store_conditional(&mut self, addr: Value, width: Width, value: Value) -> Result<Value, ()> {
        let host = self.host_address(addr, width, true);
        let locked = self.state_load(I64, word::LOCK_ADDR * 8);
        let held = self.icmp(IntCC::Equal, locked, addr);
        let (swap, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let failed = self.imm(0);
        self.b.ins().brif(held, swap, &[], done, &[failed.into()]);
        self.b.switch_to_block(swap);
        let ty = integer(width);
        let old = self.state_load(I64, word::LOCK_VALUE * 8);
        let (old, new) = if width == Width::Quad {
            (old, value)
        } else {
            (self.b.ins().ireduce(ty, old), self.b.ins().ireduce(ty, value))
        };
        let flags = self.access_flags();
        let seen = self.b.ins().atomic_cas(flags, host, old, new);
        let stored = self.icmp(IntCC::Equal, seen, old);
        let stored = self.truth(stored);
        self.b.ins().jump(done, &[stored.into()]);
        self.b.switch_to_block(done);
        let none = self.imm(NO_RESERVATION);
        self.state_store(none, word::LOCK_ADDR * 8);
        Ok(self.b.block_params(done)[0])
    }
    fn barrier(&mut self, barrier: Barrier) -> Result<(), ()> {
        match barrier {
            Barrier::Memory => {
                self.b.ins().fence();
            }
            Barrier::Write if !self.stores_ordered => {
                self.b.ins().fence();
            }
            Barrier::Write | Barrier::Trap | Barrier::Exception => {}
        }
        Ok(())
    }

    fn cycle_counter(&mut self) -> Result<Value, ()> {
        self.bail();
        Err(())
    }
    fn interrupt_flag(&mut self, new: bool) -> Result<Value, ()> {
        let old = self.state_load(I64, word::INTERRUPT_FLAG * 8);
        let new = self.imm(u64::from(new));
        self.state_store(new, word::INTERRUPT_FLAG * 8);
        Ok(old)
    }
    fn amask(&mut self, features: Value) -> Value {
        let has = self.state_load(I64, word::AMASK * 8);
        self.and_not(features, has)
    }
    fn implver(&mut self) -> Value {
        self.state_load(I64, word::IMPLVER * 8)
    }

    fn unique(&mut self) -> Value {
        self.state_load(I64, Reg::Unique.offset())
    }
    fn set_unique(&mut self, value: Value) {
        self.state_store(value, Reg::Unique.offset());
    }
    fn clear_reservation(&mut self) {
        let none = self.imm(NO_RESERVATION);
        self.state_store(none, word::LOCK_ADDR * 8);
    }

    fn next_pc(&mut self) -> Value {
        let next = self.pc.wrapping_add(4);
        self.imm(next)
    }
    fn trap_if(&mut self, c: Value, _trap: ArithTrap, _result: (u8, Value)) -> Result<(), ()> {
        self.bail_if(c);
        Ok(())
    }
    fn call_pal(&mut self, _function: u32) {
        self.bail();
    }
    fn illegal(&mut self) {
        self.bail();
    }
    fn unsupported(&mut self) {
        self.bail();
    }
}
