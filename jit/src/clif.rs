//! The semantics, emitted as Cranelift IR.
//!
//! A value that the IR computes is ordinary in most cases; where it might not be (an address that
//! isn't aligned, a floating-point result that isn't a number), the instruction is left to the
//! interpreter by a cold branch, which executes it again from unchanged registers.

use axperf_isa::sem::{
    ArithTrap, Barrier, FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, VaxConversion,
    VaxFormat, Width,
};
use axperf_isa::state::NO_RESERVATION;
use axperf_isa::{Reg, Sem, word};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I16, I32, I64, I64X2};
use cranelift_codegen::ir::{
    Endianness, InstBuilder, InstructionData, MemFlagsData, Type, Value, ValueDef,
};

use crate::checks::Need;
use crate::translate::{Tx, fp_offset, int_offset};
use crate::variant::Shape;

/// The first address that isn't the guest's, where guest addresses are host addresses.
const LIMIT: u64 = 1 << 42;
/// Bits of an address within a page of the soft TLB.
const PAGE_BITS: i64 = 13;

/// The bits that a guest address hasn't where guest addresses are host addresses, and these low ones.
pub(crate) fn not_an_address(low: u64) -> i64 {
    (!(LIMIT - 1) | low) as i64
}

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

    /// Leaves unless the value is below [`LIMIT`] and has these low bits clear.
    fn check(&mut self, value: Value, low: u64) {
        let bad = self.b.ins().band_imm_s(value, not_an_address(low));
        let bad = self.b.ins().icmp_imm_s(IntCC::NotEqual, bad, 0);
        self.bail_if(bad);
    }

    /// The aligned 16 bytes that an access is in: guest address, host address. A fault there is told
    /// by the address accessed.
    fn block_of(&mut self, addr: Value, host: Value) -> (Value, Value) {
        if self.mode.shape == Shape::Identity {
            self.state_store(addr, word::PASSAGE * 8);
        }
        let inside = self.b.ins().band_imm_u(addr, 15);
        (self.b.ins().isub(addr, inside), self.b.ins().isub(host, inside))
    }

    /// Where in its quadword a longword begins, in bits.
    fn shift_in_quad(&mut self, addr: Value) -> Value {
        let byte = self.b.ins().band_imm_u(addr, 7);
        self.b.ins().ishl_imm_u(byte, 3)
    }

    /// A VAX number as an integer of the same order; leaves if it has no exponent but isn't zero.
    fn vax_order(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        let magnitude = self.b.ins().band_imm_s(bits, i64::MAX);
        let none = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, magnitude, 1 << 52);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0);
        let odd = self.b.ins().band(none, some);
        self.bail_if(odd);
        let sign = self.b.ins().sshr_imm_u(bits, 63);
        let flip = self.b.ins().ushr_imm_u(sign, 1);
        self.b.ins().bxor(bits, flip)
    }

    fn access_flags(&self) -> MemFlagsData {
        let flags = self.guest_flags();
        if self.mode.shape == Shape::Identity { flags } else { flags.with_notrap() }
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
            None if r == 31 => self.imm(0),
            None => self.state_load(I64, int_offset(r)),
        }
    }
    fn set_int(&mut self, r: u8, value: Value) {
        match self.int_var(r) {
            Some(v) => self.b.def_var(v, value),
            None if r == 31 => {}
            None => self.state_store(value, int_offset(r)),
        }
    }
    fn fp(&mut self, r: u8) -> Value {
        match self.fp_var(r) {
            Some(v) if self.is_single(r) => {
                let value = self.b.use_var(v);
                self.b.ins().fpromote(F64, value)
            }
            Some(v) => self.b.use_var(v),
            None if r == 31 => self.b.ins().f64const(0.0),
            None => self.state_load(F64, fp_offset(r)),
        }
    }
    fn set_fp(&mut self, r: u8, value: Value) {
        match self.fp_var(r) {
            Some(v) if self.is_single(r) => {
                // An image, so this is exact.
                let single = self.single(value);
                let value = single.unwrap_or_else(|| self.b.ins().fdemote(F32, value));
                self.b.def_var(v, value);
            }
            Some(v) => self.b.def_var(v, value),
            None if r == 31 => {}
            None => self.state_store(value, fp_offset(r)),
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
        self.image_of_single(a)
    }
    fn register_to_s(&mut self, a: Value) -> Value {
        if let Some(single) = self.single(a) {
            let bits = self.b.ins().bitcast(I32, MemFlagsData::new(), single);
            return self.b.ins().uextend(I64, bits);
        }
        let bits = self.bits(a);
        let high = self.b.ins().ushr_imm_u(bits, 32);
        let high = self.b.ins().band_imm_u(high, 0xc000_0000);
        let low = self.b.ins().ushr_imm_u(bits, 29);
        let low = self.b.ins().band_imm_u(low, 0x3fff_ffff);
        self.or(high, low)
    }

    fn copy_sign(&mut self, a: Value, b: Value, negate: bool) -> Value {
        let same = a == b || self.single(a).is_some() && self.single(a) == self.single(b);
        if same && !negate {
            return b;
        }
        // Operations on bits: they raise nothing.
        match (self.single(a), self.single(b)) {
            (_, Some(x)) if same => {
                let r = self.b.ins().fneg(x);
                self.b.ins().fpromote(F64, r)
            }
            (_, None) if same => self.b.ins().fneg(b),
            (Some(sign), Some(x)) => {
                let sign = if negate { self.b.ins().fneg(sign) } else { sign };
                let r = self.b.ins().fcopysign(x, sign);
                self.b.ins().fpromote(F64, r)
            }
            (_, _) => {
                let sign = if negate { self.b.ins().fneg(a) } else { a };
                self.b.ins().fcopysign(b, sign)
            }
        }
    }

    fn fp_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        self.ieee_arith(op, format, q, a, b)
    }
    fn fp_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        Ok(self.ieee_compare(relation, q, a, b))
    }
    fn fp_convert(
        &mut self,
        conversion: FpConversion,
        q: Qualifiers,
        b: Value,
    ) -> Result<Value, ()> {
        self.ieee_convert(conversion, q, b)
    }
    fn vax_arith(
        &mut self,
        _op: FpOp,
        _format: VaxFormat,
        _q: Qualifiers,
        _a: Value,
        _b: Value,
    ) -> Result<Value, ()> {
        self.bail();
        Err(())
    }
    fn vax_compare(
        &mut self,
        relation: FpRelation,
        _q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        let (a, b) = (self.vax_order(a), self.vax_order(b));
        let cc = match relation {
            FpRelation::Eq => IntCC::Equal,
            FpRelation::Lt => IntCC::SignedLessThan,
            FpRelation::Le => IntCC::SignedLessThanOrEqual,
            FpRelation::Un => return Ok(self.b.ins().f64const(0.0)),
        };
        let c = self.icmp(cc, a, b);
        // 0.5 has the bits of IEEE's 2.
        let (half, zero) = (self.b.ins().f64const(2.0), self.b.ins().f64const(0.0));
        Ok(self.b.ins().select(c, half, zero))
    }
    fn vax_convert(
        &mut self,
        _conversion: VaxConversion,
        _q: Qualifiers,
        _b: Value,
    ) -> Result<Value, ()> {
        self.bail();
        Err(())
    }
    fn fpcr(&mut self) -> Result<Value, ()> {
        Ok(self.read_fpcr())
    }
    fn set_fpcr(&mut self, value: Value) -> Result<(), ()> {
        self.write_fpcr(value);
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
        let host = self.host_address(addr, width, false);
        let (block, host) = self.block_of(addr, host);
        let flags = self.access_flags();
        let low = self.b.ins().load(I64, flags, host, 0);
        let high = self.b.ins().load(I64, flags, host, 8);
        self.b.ins().sequence_point();
        self.state_store(block, word::LOCK_ADDR * 8);
        self.state_store(low, word::LOCK_BLOCK * 8);
        self.state_store(high, word::LOCK_BLOCK * 8 + 8);
        let upper = self.b.ins().band_imm_u(addr, 8);
        let value = self.b.ins().select(upper, high, low);
        if width == Width::Quad {
            return Ok(value);
        }
        let shift = self.shift_in_quad(addr);
        let value = self.b.ins().ushr(value, shift);
        Ok(self.zext(value, width))
    }
    fn store_conditional(&mut self, addr: Value, width: Width, value: Value) -> Result<Value, ()> {
        if !self.wide_exchange {
            self.bail();
            return Err(());
        }
        let host = self.host_address(addr, width, true);
        let (block, host) = self.block_of(addr, host);
        let locked = self.state_load(I64, word::LOCK_ADDR * 8);
        let held = self.icmp(IntCC::Equal, locked, block);
        let (swap, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let failed = self.imm(0);
        self.b.ins().brif(held, swap, &[], done, &[failed.into()]);
        self.seal([swap]);
        self.b.switch_to_block(swap);
        let low = self.state_load(I64, word::LOCK_BLOCK * 8);
        let high = self.state_load(I64, word::LOCK_BLOCK * 8 + 8);
        let upper = self.b.ins().band_imm_u(addr, 8);
        let new = if width == Width::Quad {
            value
        } else {
            let shift = self.shift_in_quad(addr);
            let ones = self.imm(u64::MAX >> (64 - 8 * width.bytes()));
            let ones = self.b.ins().ishl(ones, shift);
            let value = self.b.ins().ishl(value, shift);
            let old = self.b.ins().select(upper, high, low);
            self.b.ins().bitselect(ones, value, old)
        };
        let new_low = self.b.ins().select(upper, low, new);
        let new_high = self.b.ins().select(upper, new, high);
        let old = self.b.ins().iconcat(low, high);
        let new = self.b.ins().iconcat(new_low, new_high);
        let flags = self.access_flags();
        let seen = self.b.ins().atomic_cas(flags, host, old, new);
        let stored = self.icmp(IntCC::Equal, seen, old);
        let stored = self.truth(stored);
        self.b.ins().jump(done, &[stored.into()]);
        self.seal([done]);
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
}
