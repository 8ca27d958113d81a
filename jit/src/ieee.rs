//! IEEE floating point in translated code: the ordinary cases, on the host's own arithmetic.
//!
//! What an operation raises is left in the host's sticky flags, which whoever entered translated code
//! adds to the FPCR afterwards. So a host operation may raise what its instruction raises and nothing
//! else, and must run where and when its instruction does: each is [raising](Tx::raises), and
//! something that can't move looks at its result.
//!
//! An instruction with /S in a [trapless](crate::Mode::trapless) variant is the IEEE operation. Any
//! other is strict: operands and results must be normal numbers or exact zeros, else the instruction
//! is left to the interpreter, which raises the same once more and the rest.

use axperf_isa::sem::{FpConversion, FpFormat, FpOp, FpRelation, Qualifiers, Rounding};
use axperf_isa::{Flags, Op, Reg, Sem, Shape, fpcr, word};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{
    InstBuilder, InstructionData, MemFlagsData, Opcode, Signature, Value, ValueDef,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::Variable;

use crate::abi::{Left, Stub};
use crate::compile::Target;
use crate::translate::{Tx, fp_offset};

/// MXCSR with all exceptions masked, rounding to nearest, no flag set.
const MASKED: u64 = 0x1f80;
/// Integers up to this are exact in double precision, whatever the rounding mode.
const EXACT_T: i64 = 1 << 53;
/// In single precision.
const EXACT_S: i64 = 1 << 24;
/// Exponents from here on, of operands whose sum, product and quotient are normal numbers, as is
/// what rounding takes away from them.
const SMALL: i64 = 520;
/// Exponents below this, likewise.
const LARGE: i64 = 1530;

impl Tx<'_> {
    /// Marks a host operation that may raise a flag.
    fn raises(&mut self, v: Value) -> Value {
        self.raising.push(v);
        v
    }

    /// Sees to it that a result is computed, and here: unless something does that can't be dropped and
    /// uses it before the block ends, it is stored.
    fn keep(&mut self, r: Value) {
        let rc = self.insn.rc;
        if rc == 31 {
            return self.state_store(r, word::PASSAGE * 8);
        }
        let bit = 1 << rc;
        for insn in self.rest_of_block() {
            if matches!(insn.op, Op::mf_fpcr | Op::mt_fpcr) {
                break;
            }
            if insn.fp_reads() & bit != 0 {
                // Where translated code leaves before it, the register is stored.
                let desc = insn.desc();
                if desc.shape == Shape::FStore || desc.is(Flags::TRAPS) && insn.op != Op::cvtql {
                    return;
                }
                break;
            }
            if insn.fp_writes() & bit != 0 {
                break;
            }
        }
        self.state_store(r, fp_offset(rc));
    }

    /// The instruction may trap for an exception, or refuses operands.
    fn strict(&self, q: Qualifiers) -> bool {
        !q.software || !self.mode.trapless
    }

    /// False if the rounding mode is never to nearest, or an inexact result may trap: the
    /// instruction was left.
    fn nearest(&mut self, q: Qualifiers) -> bool {
        match q.rounding {
            _ if q.inexact && self.strict(q) => {}
            Rounding::Nearest => return true,
            Rounding::Dynamic => {
                let fpcr = self.state_load(I64, Reg::Fpcr.offset());
                let mode = self.b.ins().band_imm_s(fpcr, 3 << 58);
                let other = self.b.ins().icmp_imm_s(IntCC::NotEqual, mode, 2 << 58);
                self.bail_if(other);
                return true;
            }
            Rounding::Chopped | Rounding::MinusInfinity => {}
        }
        self.bail();
        false
    }

    /// Whether the exponent is all ones.
    fn is_special(&mut self, a: Value) -> Value {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, shifted, 0x7ff << 53)
    }

    fn is_zero(&mut self, a: Value) -> Value {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        self.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0)
    }

    fn is_infinity(&mut self, a: Value) -> Value {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        self.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0x7ff << 53)
    }

    /// The register image of a single-precision number in memory format, which a host operation makes
    /// of those that are normal, zero or infinite. Others are left to the interpreter.
    pub(crate) fn image_of_single(&mut self, memory: Value) -> Value {
        let bits = self.b.ins().ireduce(I32, memory);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        let above = self.b.ins().iadd_imm_s(shifted, -(1 << 24));
        let limit = (0xff - 1) << 24;
        let out = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, above, limit);
        self.bail_unless(out, |tx| {
            let zero = tx.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0);
            let infinity = tx.b.ins().icmp_imm_u(IntCC::Equal, shifted, 0xff << 24);
            tx.b.ins().bor(zero, infinity)
        });
        let r = self.b.ins().bitcast(F32, MemFlagsData::new(), bits);
        let image = self.b.ins().fpromote(F64, r);
        // Of what is left it would raise a flag.
        self.raises(image)
    }

    /// Gives variables of single precision what the state has; leaves the region if one of these
    /// images isn't that of a normal number, zero or an infinity.
    pub(crate) fn take_singles(&mut self, images: &[(Variable, Value)]) {
        let mut odd = None;
        for &(_, image) in images {
            let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), image);
            let shifted = self.b.ins().ishl_imm_u(bits, 1);
            let above = self.b.ins().iadd_imm_s(shifted, -(897 << 53));
            let ordinary = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, above, 254 << 53);
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0);
            let infinity = self.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0x7ff << 53);
            let fine = self.b.ins().bor(ordinary, zero);
            let fine = self.b.ins().bor(fine, infinity);
            let no = self.b.ins().uextend(I64, fine);
            let no = self.b.ins().bxor_imm_u(no, 1);
            let beyond = self.b.ins().band_imm_u(bits, (1 << 29) - 1);
            let bad = self.b.ins().bor(beyond, no);
            odd = Some(match odd {
                Some(others) => self.b.ins().bor(others, bad),
                None => bad,
            });
        }
        let Some(odd) = odd else { return };
        let (leave, go_on) = self.fork(odd);
        self.b.set_cold_block(leave);
        self.b.switch_to_block(leave);
        self.leave(Left::BAIL);
        self.b.switch_to_block(go_on);
        for &(v, image) in images {
            // Exact, and of a normal number or zero: it raises nothing.
            let single = self.b.ins().fdemote(F32, image);
            self.b.def_var(v, single);
        }
    }

    /// The single-precision value that an image was made from here, if it was.
    pub(crate) fn single(&self, a: Value) -> Option<Value> {
        let ValueDef::Result(inst, _) = self.b.func.dfg.value_def(a) else { return None };
        match self.b.func.dfg.insts[inst] {
            InstructionData::Unary { opcode: Opcode::Fpromote, arg } => Some(arg),
            _ => None,
        }
    }

    /// Leaves if the value (a register image) is denormal.
    fn bail_if_denormal(&mut self, a: Value) {
        if self.single(a).is_some() {
            return;
        }
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        let less = self.b.ins().iadd_imm_s(shifted, -1);
        let denormal = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, less, (1 << 53) - 1);
        self.bail_if(denormal);
    }

    /// Leaves if `suspect`, unless `fine` says, off the usual way, that all is well.
    fn bail_unless(&mut self, suspect: Value, fine: impl FnOnce(&mut Self) -> Value) {
        let (cold, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(suspect, cold, &[], go_on, &[]);
        self.seal([cold]);
        self.b.switch_to_block(cold);
        let fine = fine(self);
        self.go_on_if(fine, go_on);
        self.seal([go_on]);
        self.b.switch_to_block(go_on);
    }

    /// Whether a zero that the host's operation gave is exact.
    fn zero_is_exact(&mut self, op: FpOp, a: Value, b: Value) -> Value {
        match op {
            // These don't underflow to zero.
            FpOp::Add | FpOp::Sub | FpOp::Sqrt => self.b.ins().iconst(I8, 1),
            FpOp::Mul => {
                let (x, y) = (self.is_zero(a), self.is_zero(b));
                self.b.ins().bor(x, y)
            }
            FpOp::Div => {
                let (zero, special) = (self.is_zero(a), self.is_special(b));
                self.b.ins().band_not(zero, special)
            }
        }
    }

    /// Leaves unless a double-precision result is a normal number or an exact zero.
    fn check_double(&mut self, op: FpOp, a: Value, b: Value, r: Value) {
        // Twice the upper half: exponent and upper fraction bits.
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), r);
        let high = self.b.ins().ushr_imm_u(bits, 32);
        let high = self.b.ins().ireduce(I32, high);
        let upper = self.b.ins().ishl_imm_u(high, 1);
        // Neither special nor tiny: the least normal number may have been rounded to.
        let above = self.b.ins().iadd_imm_s(upper, -(2 << 21));
        let limit = (0x7ff - 2) << 21;
        let out = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, above, limit);
        self.bail_unless(out, |tx| {
            let (zero, exact) = (tx.is_zero(r), tx.zero_is_exact(op, a, b));
            tx.b.ins().band(zero, exact)
        });
    }

    /// Leaves unless the single-precision result is what the instruction gives; its image.
    /// `exact_zero` says whether a zero is exact.
    fn check_single(
        &mut self,
        q: Qualifiers,
        r: Value,
        exact_zero: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let strict = self.strict(q);
        let least = if strict { 2 } else { 1 };
        let bits = self.b.ins().bitcast(I32, MemFlagsData::new(), r);
        let shifted = self.b.ins().ishl_imm_u(bits, 1);
        let above = self.b.ins().iadd_imm_s(shifted, -(least << 24));
        let limit = (0xff - least) << 24;
        let out = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, above, limit);
        self.bail_unless(out, |tx| {
            let zero = tx.b.ins().icmp_imm_s(IntCC::Equal, shifted, 0);
            if strict {
                let exact = exact_zero(tx);
                return tx.b.ins().band(zero, exact);
            }
            let infinity = tx.b.ins().icmp_imm_u(IntCC::Equal, shifted, 0xff << 24);
            tx.b.ins().bor(zero, infinity)
        });
        self.b.ins().fpromote(F64, r)
    }

    fn operate(&mut self, op: FpOp, a: Value, b: Value) -> Value {
        let r = match op {
            FpOp::Add => self.b.ins().fadd(a, b),
            FpOp::Sub => self.b.ins().fsub(a, b),
            FpOp::Mul => self.b.ins().fmul(a, b),
            FpOp::Div => self.b.ins().fdiv(a, b),
            FpOp::Sqrt => self.b.ins().sqrt(b),
        };
        self.raises(r)
    }

    fn bail_if_unordered(&mut self, a: Value, b: Value) {
        let nan = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        self.raises(nan);
        self.bail_if(nan);
    }

    pub(crate) fn ieee_arith(
        &mut self,
        op: FpOp,
        format: FpFormat,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Result<Value, ()> {
        let strict = self.strict(q);
        let chopped = q.rounding == Rounding::Chopped
            && format == FpFormat::T
            && op != FpOp::Sqrt
            && !(q.inexact && strict)
            && self.has_fma;
        if chopped {
            return Ok(self.chopped(op, a, b));
        }
        if !self.nearest(q) {
            return Err(());
        }
        let unary = op == FpOp::Sqrt;
        if strict || format == FpFormat::S || !self.sse {
            if !unary {
                self.bail_if_denormal(a);
            }
            self.bail_if_denormal(b);
        }
        // A square root has one operand: it stands for both.
        let a = if unary { b } else { a };
        match format {
            FpFormat::T if strict => {
                let r = self.operate(op, a, b);
                self.check_double(op, a, b, r);
                Ok(r)
            }
            FpFormat::T => {
                // Hosts choose among NaN operands in their own ways.
                self.bail_if_unordered(a, b);
                let r = self.operate(op, a, b);
                if self.sse {
                    self.keep(r);
                } else {
                    // The NaN of an invalid operation is another.
                    self.bail_if_unordered(r, r);
                }
                Ok(r)
            }
            FpFormat::S => {
                if let (Some(x), Some(y)) = (self.single(a), self.single(b)) {
                    let r = self.operate(op, x, y);
                    return Ok(self.check_single(q, r, |tx| tx.zero_is_exact(op, a, b)));
                }
                // To round twice is to round once: double precision has more than twice the bits
                // of single.
                let wide = self.operate(op, a, b);
                // From what aren't S_floating numbers it may be denormal, of which a flag tells.
                self.bail_if_denormal(wide);
                let r = self.b.ins().fdemote(F32, wide);
                self.raises(r);
                Ok(self.check_single(q, r, |tx| {
                    let (zero, exact) = (tx.is_zero(wide), tx.zero_is_exact(op, a, b));
                    tx.b.ins().band(zero, exact)
                }))
            }
        }
    }

    pub(crate) fn ieee_compare(
        &mut self,
        relation: FpRelation,
        q: Qualifiers,
        a: Value,
        b: Value,
    ) -> Value {
        if self.strict(q) || !self.sse {
            self.bail_if_denormal(a);
            self.bail_if_denormal(b);
        }
        self.bail_if_unordered(a, b);
        let cc = match relation {
            FpRelation::Eq => FloatCC::Equal,
            FpRelation::Lt => FloatCC::LessThan,
            FpRelation::Le => FloatCC::LessThanOrEqual,
            FpRelation::Un => return self.b.ins().f64const(0.0),
        };
        let c = self.b.ins().fcmp(cc, a, b);
        self.raises(c);
        let (two, zero) = (self.b.ins().f64const(2.0), self.b.ins().f64const(0.0));
        let r = self.b.ins().select(c, two, zero);
        if self.writes_fpcr {
            // Where the result is used, flags may have been cleared, and it would raise them again.
            self.keep(r);
        }
        r
    }

    pub(crate) fn ieee_convert(
        &mut self,
        conversion: FpConversion,
        q: Qualifiers,
        b: Value,
    ) -> Result<Value, ()> {
        match conversion {
            FpConversion::QtoT | FpConversion::QtoS => {
                let n = self.bits(b);
                let (ty, exact) =
                    if conversion == FpConversion::QtoT { (F64, EXACT_T) } else { (F32, EXACT_S) };
                let exactly = q.rounding != Rounding::Nearest || q.inexact && self.strict(q);
                if exactly {
                    self.bail_if_beyond(n, exact);
                }
                let r = self.b.ins().fcvt_from_sint(ty, n);
                self.raises(r);
                let r = if ty == F64 { r } else { self.b.ins().fpromote(F64, r) };
                if !exactly {
                    self.keep(r);
                }
                Ok(r)
            }
            FpConversion::QtoL => {
                let n = self.bits(b);
                if q.underflow {
                    let low = self.b.ins().ireduce(I32, n);
                    let low = self.b.ins().sextend(I64, low);
                    let wide = self.b.ins().icmp(IntCC::NotEqual, low, n);
                    self.bail_if(wide);
                }
                let high = self.b.ins().band_imm_u(n, 0xc000_0000);
                let high = self.b.ins().ishl_imm_u(high, 32);
                let low = self.b.ins().band_imm_u(n, 0x3fff_ffff);
                let low = self.b.ins().ishl_imm_u(low, 29);
                let image = self.b.ins().bor(high, low);
                Ok(self.from_bits(image))
            }
            FpConversion::StoT => {
                self.bail_if_denormal(b);
                let special = self.is_special(b);
                if self.strict(q) {
                    self.bail_if(special);
                } else {
                    self.bail_unless(special, |tx| tx.is_infinity(b));
                }
                Ok(b)
            }
            FpConversion::TtoS => {
                if !self.nearest(q) {
                    return Err(());
                }
                if self.strict(q) || !self.sse {
                    self.bail_if_denormal(b);
                }
                let r = self.b.ins().fdemote(F32, b);
                self.raises(r);
                Ok(self.check_single(q, r, |tx| tx.is_zero(b)))
            }
            FpConversion::TtoQ => self.quadword(q, b),
        }
    }

    fn quadword(&mut self, q: Qualifiers, b: Value) -> Result<Value, ()> {
        let chopped = matches!(q.rounding, Rounding::Chopped | Rounding::MinusInfinity);
        if (!chopped || q.inexact && self.strict(q)) && !self.nearest(q) {
            return Err(());
        }
        // No flag of the host tells of a denormal here.
        self.bail_if_denormal(b);
        if q.rounding == Rounding::Chopped && self.writes_fpcr {
            return Ok(self.truncate(b));
        }
        let rounded = match q.rounding {
            Rounding::Nearest | Rounding::Dynamic => self.b.ins().nearest(b),
            Rounding::Chopped => self.b.ins().trunc(b),
            Rounding::MinusInfinity => self.b.ins().floor(b),
        };
        self.raises(rounded);
        // Below 2^63 in magnitude; a NaN compares as not below.
        let magnitude = self.b.ins().fabs(rounded);
        let limit = self.b.ins().f64const(9_223_372_036_854_775_808.0);
        let cc = FloatCC::UnorderedOrGreaterThanOrEqual;
        let outside = self.b.ins().fcmp(cc, magnitude, limit);
        self.bail_if(outside);
        let n = self.b.ins().fcvt_to_sint_sat(I64, rounded);
        Ok(self.from_bits(n))
    }

    /// Leaves if the integer's magnitude is more than this power of two.
    fn bail_if_beyond(&mut self, n: Value, power: i64) {
        let above = self.b.ins().iadd_imm_s(n, power);
        let out = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, above, 2 * power);
        self.bail_if(out);
    }

    /// Leaves unless the value's exponent is of the middle range, or it is a zero that will do.
    fn bail_unless_middling(&mut self, a: Value, zero: bool) {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), a);
        let exponent = self.b.ins().ushr_imm_u(bits, 52);
        let exponent = self.b.ins().band_imm_s(exponent, 0x7ff);
        let above = self.b.ins().iadd_imm_s(exponent, -SMALL);
        let cc = IntCC::UnsignedGreaterThanOrEqual;
        let out = self.b.ins().icmp_imm_u(cc, above, LARGE - SMALL);
        if zero {
            self.bail_unless(out, |tx| tx.is_zero(a));
        } else {
            self.bail_if(out);
        }
    }

    /// A result rounded toward zero: one rounded to nearest, and a step back if that went away from
    /// zero, which the exact difference says.
    fn chopped(&mut self, op: FpOp, a: Value, b: Value) -> Value {
        // To nearest may overflow where toward zero doesn't, so nothing comes near to that.
        self.bail_unless_middling(a, true);
        self.bail_unless_middling(b, op != FpOp::Div);
        if op == FpOp::Div && self.sse {
            return self.divide_chopped(a, b);
        }
        let r = self.operate(op, a, b);
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
        let bits = self.b.ins().isub(bits, step);
        let r = self.from_bits(bits);
        self.keep(r);
        r
    }

    /// A quotient of middling numbers, rounded toward zero.
    ///
    /// Alpha has no division of integers: programs call a function that divides in floating point
    /// and restores the FPCR. To raise a flag of the host's and to clear it each time would take
    /// longer than all the rest of it, so none is raised.
    fn divide_chopped(&mut self, a: Value, b: Value) -> Value {
        self.state_store(a, word::PASSAGE * 8);
        self.state_store(b, word::DIVISOR * 8);
        self.call_stub(Stub::DivideChopped);
        let r = self.state_load(F64, word::PASSAGE * 8);
        // Exact, and so without a flag.
        let minus = self.b.ins().fneg(r);
        let missing = self.b.ins().fma(minus, b, a);
        let missing = self.bits(missing);
        let missing = self.b.ins().ishl_imm_u(missing, 1);
        self.inexact_unless_zero(missing);
        r
    }

    /// CVTTQ/C of what isn't denormal, without a flag of the host's; leaves if it doesn't fit.
    fn truncate(&mut self, b: Value) -> Value {
        let bits = self.bits(b);
        let exponent = self.b.ins().ushr_imm_u(bits, 52);
        let exponent = self.b.ins().band_imm_u(exponent, 0x7ff);
        let large = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, exponent, 1023 + 62);
        self.bail_if(large);
        // The fraction from the top on; of which `exponent - 1022` bits are before the point.
        let fraction = self.b.ins().ishl_imm_u(bits, 11);
        let fraction = self.b.ins().bor_imm_s(fraction, i64::MIN);
        let whole = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, exponent, 1023);
        let most = self.imm(1023 + 62);
        let down = self.b.ins().isub(most, exponent);
        let half = self.b.ins().ushr_imm_u(fraction, 1);
        let magnitude = self.b.ins().ushr(half, down);
        let zero = self.imm(0);
        let magnitude = self.b.ins().select(whole, magnitude, zero);
        let up = self.b.ins().iadd_imm_s(exponent, -1022);
        let lost = self.b.ins().ishl(fraction, up);
        let all = self.b.ins().ishl_imm_u(bits, 1);
        let lost = self.b.ins().select(whole, lost, all);
        self.inexact_unless_zero(lost);
        let sign = self.b.ins().sshr_imm_u(bits, 63);
        let flipped = self.b.ins().bxor(magnitude, sign);
        let n = self.b.ins().isub(flipped, sign);
        self.from_bits(n)
    }

    /// Sets INE in the FPCR itself.
    fn inexact_unless_zero(&mut self, v: Value) {
        let exact = self.b.ins().icmp_imm_s(IntCC::Equal, v, 0);
        let (nothing, inexact) = (self.imm(0), self.imm(fpcr::INE | fpcr::SUM));
        let status = self.b.ins().select(exact, nothing, inexact);
        let fpcr = self.state_load(I64, Reg::Fpcr.offset());
        let fpcr = self.b.ins().bor(fpcr, status);
        self.state_store(fpcr, Reg::Fpcr.offset());
    }

    /// Calls a stub that changes no register.
    fn call_stub(&mut self, stub: Stub) {
        let sig = self.b.import_signature(Signature::new(CallConv::PreserveAll));
        let stub = self.address_of(Target::Stub(stub));
        self.b.ins().call_indirect(sig, stub, &[]);
    }

    /// The FPCR, with what the host's flags add to it.
    pub(crate) fn read_fpcr(&mut self) -> Value {
        self.call_stub(Stub::ReadFlags);
        let flags = self.state_load(I32, word::HOST_FLAGS * 8);
        let flags = self.b.ins().uextend(I64, flags);
        let all = self.flag_bits().iter().fold(0, |all, (mask, from, _)| all | mask << from);
        let some = self.b.ins().band_imm_u(flags, all);
        self.only_if(some, |tx| {
            let mut fpcr = tx.state_load(I64, Reg::Fpcr.offset());
            for &(mask, from, to) in tx.flag_bits() {
                let bits = tx.b.ins().band_imm_u(flags, mask << from);
                let bits = tx.b.ins().ishl_imm_u(bits, to - from);
                fpcr = tx.b.ins().bor(fpcr, bits);
            }
            let sum = tx.imm(fpcr::SUM);
            let fpcr = tx.b.ins().bor(fpcr, sum);
            tx.state_store(fpcr, Reg::Fpcr.offset());
        });
        self.state_load(I64, Reg::Fpcr.offset())
    }

    /// Writes the FPCR; leaves if that is to change more than its status.
    pub(crate) fn write_fpcr(&mut self, value: Value) {
        let old = self.state_load(I64, Reg::Fpcr.offset());
        let changed = self.b.ins().bxor(old, value);
        let changed = self.b.ins().band_imm_u(changed, fpcr::CONTROL as i64);
        self.bail_if(changed);
        let value = self.b.ins().band_imm_u(value, fpcr::WRITABLE as i64);
        self.state_store(value, Reg::Fpcr.offset());
        let none = self.imm(if self.sse { MASKED } else { 0 });
        self.state_store(none, word::HOST_FLAGS * 8);
        let status = self.b.ins().band_imm_u(value, fpcr::STATUS as i64);
        self.only_if(status, |tx| {
            let sum = tx.imm(fpcr::SUM);
            let fpcr = tx.b.ins().bor(value, sum);
            tx.state_store(fpcr, Reg::Fpcr.offset());
            // What is set already need not be raised again.
            let mut flags = none;
            for &(mask, from, to) in tx.flag_bits() {
                let bits = tx.b.ins().ushr_imm_u(value, to - from);
                let bits = tx.b.ins().band_imm_u(bits, mask << from);
                flags = tx.b.ins().bor(flags, bits);
            }
            tx.state_store(flags, word::HOST_FLAGS * 8);
        });
        self.call_stub(Stub::WriteFlags);
    }

    /// What `then` emits is run if the value isn't zero.
    fn only_if(&mut self, c: Value, then: impl FnOnce(&mut Self)) {
        let (yes, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(c, yes, &[], go_on, &[]);
        self.seal([yes]);
        self.b.switch_to_block(yes);
        then(self);
        self.b.ins().jump(go_on, &[]);
        self.seal([go_on]);
        self.b.switch_to_block(go_on);
    }

    /// The host's flags: a mask, the place where they start, and the FPCR's place for them.
    fn flag_bits(&self) -> &'static [(i64, i64, i64)] {
        if self.sse {
            // IE; DE; ZE, OE, UE, PE.
            &[(1, 0, 52), (1, 1, 57), (0xf, 2, 53)]
        } else {
            // IOC, DZC, OFC, UFC, IXC.
            &[(0x1f, 0, 52)]
        }
    }
}
