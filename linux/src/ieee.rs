//! IEEE floating-point control as Linux/alpha keeps it: the software control word and the FPCR.
//!
//! Bits: the Alpha Architecture Reference Manual's FPCR; the control word's are Digital UNIX's, in
//! the kernel's UAPI header `asm/fpu.h`.

use crate::signal::code;

/// Trap enables: invalid, divide by zero, overflow, underflow, inexact, denormal.
pub const ENABLE_INV: u64 = 1 << 1;
const ENABLE_DZE: u64 = 1 << 2;
const ENABLE_OVF: u64 = 1 << 3;
const ENABLE_UNF: u64 = 1 << 4;
const ENABLE_INE: u64 = 1 << 5;
const ENABLE_DNO: u64 = 1 << 6;
const ENABLE: u64 = ENABLE_INV | ENABLE_DZE | ENABLE_OVF | ENABLE_UNF | ENABLE_INE | ENABLE_DNO;
/// Denormal operands are zero; underflowed results are zero.
const MAP_DMZ: u64 = 1 << 12;
const MAP_UMZ: u64 = 1 << 13;
/// Sticky status, in the order of the enables.
const STATUS: u64 = ENABLE << STATUS_TO_ENABLE;
const STATUS_TO_ENABLE: u32 = 16;
/// All that the control word has.
pub const CONTROL: u64 = ENABLE | MAP_DMZ | MAP_UMZ | STATUS;

const FPCR_DNZ: u64 = 1 << 48;
const FPCR_DYN: u64 = 3 << 58;
const FPCR_UNDZ: u64 = 1 << 60;
const FPCR_UNFD: u64 = 1 << 61;
const FPCR_SUM: u64 = 1 << 63;
/// Round to nearest, dynamically.
const FPCR_DYN_NORMAL: u64 = 2 << 58;

/// The FPCR of a new program: round to nearest, every trap disabled.
pub const INITIAL_FPCR: u64 = FPCR_DYN_NORMAL | fpcr_of(0);

/// The FPCR that a control word means, without the rounding mode.
#[must_use]
pub const fn fpcr_of(control: u64) -> u64 {
    let mut fpcr = (control & STATUS) << 35;
    if control & MAP_DMZ != 0 {
        fpcr |= FPCR_DNZ;
    }
    if control & STATUS != 0 {
        fpcr |= FPCR_SUM;
    }
    fpcr |= (!control & (ENABLE_INV | ENABLE_DZE | ENABLE_OVF)) << 48;
    fpcr |= (!control & (ENABLE_UNF | ENABLE_INE)) << 57;
    if control & MAP_UMZ != 0 {
        fpcr |= FPCR_UNDZ | FPCR_UNFD;
    }
    fpcr | (!control & ENABLE_DNO) << 41
}

/// What getsysinfo tells: the control word with the status that the hardware has collected.
#[must_use]
pub fn control(state: u64, fpcr: u64) -> u64 {
    (state & CONTROL & !STATUS) | (fpcr >> 35) & STATUS
}

/// The FPCR after setsysinfo set the control word.
#[must_use]
pub fn set_control(fpcr: u64, control: u64) -> u64 {
    fpcr & FPCR_DYN | fpcr_of(control)
}

/// What SSI_IEEE_RAISE_EXCEPTION does.
#[derive(Debug, PartialEq, Eq)]
pub struct Raised {
    /// The control word.
    pub state: u64,
    /// The FPCR.
    pub fpcr: u64,
    /// The `si_code` of a SIGFPE, if one of the exceptions is enabled.
    pub code: Option<i32>,
}

/// Raises exceptions, given as status bits.
#[must_use]
pub fn raise(state: u64, fpcr: u64, exceptions: u64) -> Raised {
    let exceptions = exceptions & STATUS;
    let state = state | exceptions;
    let enabled = (exceptions >> STATUS_TO_ENABLE) & state & ENABLE;
    Raised {
        state,
        fpcr: fpcr | fpcr_of(state & CONTROL),
        code: (enabled != 0).then(|| most_severe(enabled)),
    }
}

/// The `si_code` of several exceptions, given as enables: the one that the kernel reports.
fn most_severe(enables: u64) -> i32 {
    [
        (ENABLE_INV, code::FLOAT_INVALID),
        (ENABLE_DZE, code::FLOAT_DIVIDE),
        (ENABLE_OVF, code::FLOAT_OVERFLOW),
        (ENABLE_UNF, code::FLOAT_UNDERFLOW),
        (ENABLE_INE, code::FLOAT_INEXACT),
    ]
    .into_iter()
    .find(|(bit, _)| enables & bit != 0)
    .map_or(code::FLOAT_UNDERFLOW, |(_, code)| code)
}

/// The `si_code` of an arithmetic trap. Without software completion the kernel doesn't look closer.
#[must_use]
pub fn trap_code(summary: u64) -> i32 {
    // The summary's bits 1 to 5 are in the enables' order.
    if summary & 1 == 0 { code::FLOAT_INVALID } else { most_severe(summary & ENABLE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen on a running kernel (and in qemu's tracker, where it once was another).
    #[test]
    fn a_program_starts_with_traps_disabled() {
        assert_eq!(INITIAL_FPCR, 0x680e_8000_0000_0000);
    }

    /// Bits by the header `asm/fpu.h`.
    #[test]
    fn control_and_fpcr() {
        let fpcr = set_control(INITIAL_FPCR, ENABLE_INV | ENABLE_DZE);
        assert_eq!(fpcr, 0x6808_8000_0000_0000);
        assert_eq!(control(ENABLE_INV, INITIAL_FPCR | 1 << 52 | 1 << 63), ENABLE_INV | 1 << 17);
        let raised = raise(ENABLE_DZE, fpcr, 1 << 18 | 1 << 21);
        assert_eq!(raised.code, Some(code::FLOAT_DIVIDE));
        assert_eq!(raised.state, ENABLE_DZE | 1 << 18 | 1 << 21);
        assert_ne!(raised.fpcr & FPCR_SUM, 0);
        assert_eq!(raise(0, fpcr, 1 << 18).code, None);
        assert_eq!(trap_code(1 | 1 << 2 | 1 << 5), code::FLOAT_DIVIDE);
        assert_eq!(trap_code(1 << 6), code::FLOAT_INVALID);
    }
}
