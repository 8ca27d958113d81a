//! PALcode, barriers, hints, counters, and what the CPU says about itself.

use super::{Barrier, Sem};
use crate::Insn;

/// Call privileged architecture library: traps to PALcode with a 26-bit function.
///
/// Reading and writing the thread pointer, which every OSF/1 PALcode has as unprivileged functions,
/// goes on unless whoever plays PALcode wants them all; as for all of PALcode, the reservation is
/// gone afterwards. Anything else is for whoever plays PALcode.
pub fn call_pal<S: Sem>(s: &mut S, i: &Insn) -> Result<(), S::Stop> {
    match i.imm as u32 {
        RDUNIQUE => {
            s.own_pal_call(RDUNIQUE)?;
            let unique = s.unique();
            s.clear_reservation();
            s.set_int(0, unique);
            Ok(())
        }
        WRUNIQUE => {
            s.own_pal_call(WRUNIQUE)?;
            let unique = s.int(16);
            s.clear_reservation();
            s.set_unique(unique);
            Ok(())
        }
        function => Err(s.call_pal(function)),
    }
}

/// PALcode function: read the thread pointer into `$0`.
pub const RDUNIQUE: u32 = 0x9e;
/// PALcode function: write `$16` to the thread pointer.
pub const WRUNIQUE: u32 = 0x9f;

/// Reserved to PALcode: opcode 19.
pub fn pal19<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.illegal()
}

/// Reserved to PALcode: opcode 1b.
pub fn pal1b<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.illegal()
}

/// Reserved to PALcode: opcode 1d.
pub fn pal1d<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.illegal()
}

/// Reserved to PALcode: opcode 1e.
pub fn pal1e<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.illegal()
}

/// Reserved to PALcode: opcode 1f.
pub fn pal1f<S: Sem>(s: &mut S, _i: &Insn) -> S::Stop {
    s.illegal()
}

/// Architecture mask: clears the bits of Rbv that name features this CPU has.
pub fn amask<S: Sem>(s: &mut S, _a: S::I, b: S::I) -> S::I {
    s.amask(b)
}

/// Implementation version: the major implementation of this CPU.
pub fn implver<S: Sem>(s: &mut S, _a: S::I, _b: S::I) -> S::I {
    s.implver()
}

/// Trap barrier.
pub fn trapb<S: Sem>(s: &mut S) -> Result<(), S::Stop> {
    s.barrier(Barrier::Trap)
}

/// Exception barrier.
pub fn excb<S: Sem>(s: &mut S) -> Result<(), S::Stop> {
    s.barrier(Barrier::Exception)
}

/// Memory barrier.
pub fn mb<S: Sem>(s: &mut S) -> Result<(), S::Stop> {
    s.barrier(Barrier::Memory)
}

/// Write memory barrier.
pub fn wmb<S: Sem>(s: &mut S) -> Result<(), S::Stop> {
    s.barrier(Barrier::Write)
}

/// Prefetch data.
pub fn fetch<S: Sem>(_s: &mut S) -> Result<(), S::Stop> {
    Ok(())
}

/// Prefetch data, to be modified.
pub fn fetch_m<S: Sem>(_s: &mut S) -> Result<(), S::Stop> {
    Ok(())
}

/// Read process cycle counter.
pub fn rpcc<S: Sem>(s: &mut S) -> Result<S::I, S::Stop> {
    s.cycle_counter()
}

/// Read and clear the interrupt flag.
pub fn rc<S: Sem>(s: &mut S) -> Result<S::I, S::Stop> {
    s.interrupt_flag(false)
}

/// Evict cache block.
pub fn ecb<S: Sem>(_s: &mut S) -> Result<(), S::Stop> {
    Ok(())
}

/// Read and set the interrupt flag.
pub fn rs<S: Sem>(s: &mut S) -> Result<S::I, S::Stop> {
    s.interrupt_flag(true)
}

/// Write hint: the 64 bytes will be written whole.
pub fn wh64<S: Sem>(_s: &mut S) -> Result<(), S::Stop> {
    Ok(())
}

/// Write hint: the 64 bytes will be written whole; evict next.
pub fn wh64en<S: Sem>(_s: &mut S) -> Result<(), S::Stop> {
    Ok(())
}
