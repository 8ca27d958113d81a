//! Loads, stores, and address arithmetic.

use super::{Sem, Width};

/// The aligned quadword that holds the address.
#[inline(always)]
fn aligned<S: Sem>(s: &mut S, addr: S::I) -> S::I {
    let low = s.imm(7);
    s.and_not(addr, low)
}

/// Load address: Ra <- Rbv + SEXT(disp).
#[inline(always)]
pub fn lda<S: Sem>(s: &mut S, base: S::I, disp: i64) -> S::I {
    let disp = s.imm(disp as u64);
    s.add(base, disp)
}

/// Load address high: Ra <- Rbv + SEXT(disp * 65536).
#[inline(always)]
pub fn ldah<S: Sem>(s: &mut S, base: S::I, disp: i64) -> S::I {
    let disp = s.imm((disp << 16) as u64);
    s.add(base, disp)
}

/// Load zero-extended byte.
#[inline(always)]
pub fn ldbu<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    s.load(addr, Width::Byte)
}

/// Load unaligned quadword: the aligned quadword that holds the address.
#[inline(always)]
pub fn ldq_u<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    let addr = aligned(s, addr);
    s.load(addr, Width::Quad)
}

/// Load zero-extended word.
#[inline(always)]
pub fn ldwu<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    s.load(addr, Width::Word)
}

/// Store word.
#[inline(always)]
pub fn stw<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<(), S::Stop> {
    s.store(addr, Width::Word, value)
}

/// Store byte.
#[inline(always)]
pub fn stb<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<(), S::Stop> {
    s.store(addr, Width::Byte, value)
}

/// Store unaligned quadword: the aligned quadword that holds the address.
#[inline(always)]
pub fn stq_u<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<(), S::Stop> {
    let addr = aligned(s, addr);
    s.store(addr, Width::Quad, value)
}

/// Load S_floating.
#[inline(always)]
pub fn lds<S: Sem>(s: &mut S, addr: S::I) -> Result<S::F, S::Stop> {
    let r = s.load(addr, Width::Long)?;
    Ok(s.s_to_register(r))
}

/// Load T_floating.
#[inline(always)]
pub fn ldt<S: Sem>(s: &mut S, addr: S::I) -> Result<S::F, S::Stop> {
    let r = s.load(addr, Width::Quad)?;
    Ok(s.from_bits(r))
}

/// Store S_floating.
#[inline(always)]
pub fn sts<S: Sem>(s: &mut S, addr: S::I, value: S::F) -> Result<(), S::Stop> {
    let v = s.register_to_s(value);
    s.store(addr, Width::Long, v)
}

/// Store T_floating.
#[inline(always)]
pub fn stt<S: Sem>(s: &mut S, addr: S::I, value: S::F) -> Result<(), S::Stop> {
    let v = s.bits(value);
    s.store(addr, Width::Quad, v)
}

/// Load sign-extended longword.
#[inline(always)]
pub fn ldl<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    let r = s.load(addr, Width::Long)?;
    Ok(s.sext(r, Width::Long))
}

/// Load quadword.
#[inline(always)]
pub fn ldq<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    s.load(addr, Width::Quad)
}

/// Load sign-extended longword, locked.
#[inline(always)]
pub fn ldl_l<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    let r = s.load_locked(addr, Width::Long)?;
    Ok(s.sext(r, Width::Long))
}

/// Load quadword, locked.
#[inline(always)]
pub fn ldq_l<S: Sem>(s: &mut S, addr: S::I) -> Result<S::I, S::Stop> {
    s.load_locked(addr, Width::Quad)
}

/// Store longword.
#[inline(always)]
pub fn stl<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<(), S::Stop> {
    s.store(addr, Width::Long, value)
}

/// Store quadword.
#[inline(always)]
pub fn stq<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<(), S::Stop> {
    s.store(addr, Width::Quad, value)
}

/// Store longword, conditional: Ra <- whether it was stored.
#[inline(always)]
pub fn stl_c<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<S::I, S::Stop> {
    s.store_conditional(addr, Width::Long, value)
}

/// Store quadword, conditional: Ra <- whether it was stored.
#[inline(always)]
pub fn stq_c<S: Sem>(s: &mut S, addr: S::I, value: S::I) -> Result<S::I, S::Stop> {
    s.store_conditional(addr, Width::Quad, value)
}
