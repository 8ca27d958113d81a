//! The floating-point control register: its bits, and what follows from them.
//!
//! Source: Alpha Architecture Handbook, section 4.7.8; how status and enables of a denormal operand
//! are kept: Linux's `ieee_swcr_to_fpcr`.

/// Denormal operand exception disable.
pub const DNOD: u64 = 1 << 47;
/// Denormal operands to zero.
pub const DNZ: u64 = 1 << 48;
/// Invalid operation disable.
pub const INVD: u64 = 1 << 49;
const DZED: u64 = 1 << 50;
const OVFD: u64 = 1 << 51;
/// Status: invalid operation.
pub const INV: u64 = 1 << 52;
/// Status: division by zero.
pub const DZE: u64 = 1 << 53;
/// Status: overflow.
pub const OVF: u64 = 1 << 54;
/// Status: underflow.
pub const UNF: u64 = 1 << 55;
/// Status: inexact result.
pub const INE: u64 = 1 << 56;
/// Status: integer overflow.
pub const IOV: u64 = 1 << 57;
/// Status: denormal operand. Software completion keeps it where hardware has integer overflow.
pub const DNO: u64 = IOV;
/// Underflow to zero.
pub const UNDZ: u64 = 1 << 60;
/// Underflow disable.
pub const UNFD: u64 = 1 << 61;
const INED: u64 = 1 << 62;
/// Summary: the logical sum of the status bits.
pub const SUM: u64 = 1 << 63;

/// All status bits.
pub const STATUS: u64 = INV | DZE | OVF | UNF | INE | IOV;
/// What this CPU starts with, as a program does on Linux: rounding to nearest, every IEEE trap
/// disabled.
pub const START: u64 = 2 << 58 | DISABLES;
const DISABLES: u64 = DNOD | INVD | DZED | OVFD | UNFD | INED;
/// Bits that can be written; the others read as zero.
pub const WRITABLE: u64 = 0x7fff_8000_0000_0000;
/// Those that control: trap disables, rounding mode, denormals.
pub const CONTROL: u64 = WRITABLE & !STATUS;

/// What the register holds after this was written to it.
#[must_use]
pub const fn written(value: u64) -> u64 {
    summed(value & WRITABLE)
}

/// The register after exceptions, given as status bits.
#[must_use]
pub const fn raised(fpcr: u64, status: u64) -> u64 {
    summed(fpcr | status)
}

const fn summed(fpcr: u64) -> u64 {
    if fpcr & STATUS != 0 { fpcr | SUM } else { fpcr }
}

/// The exceptions whose traps aren't disabled, as status bits.
#[must_use]
pub const fn enabled(fpcr: u64) -> u64 {
    let disabled = (fpcr & (INVD | DZED | OVFD)) << 3 | (fpcr & (UNFD | INED)) >> 6;
    let denormal = (fpcr & DNOD) << 10;
    !(disabled | denormal) & STATUS
}

/// Whether instructions with /S never trap and take denormals for what they are: what a program has
/// that doesn't ask for anything else.
#[must_use]
pub const fn trapless(fpcr: u64) -> bool {
    fpcr & (DISABLES | DNZ | UNDZ) == DISABLES
}

/// The exception summary register's bits of exceptions.
#[must_use]
pub const fn summary(status: u64) -> u64 {
    (status & STATUS) >> 51
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enables() {
        // As seen on a running kernel.
        assert_eq!(START, 0x680e_8000_0000_0000);
        assert!(trapless(START));
        assert_eq!(enabled(START), 0);
        assert_eq!(enabled(2 << 58), STATUS);
        assert_eq!(enabled(START & !INVD), INV);
        assert_eq!(enabled(START & !DNOD), DNO);
        assert_eq!(enabled(START & !INED), INE);
        assert_eq!(enabled(START & !UNFD), UNF);
        assert!(!trapless(START | DNZ) && !trapless(START | UNDZ) && !trapless(START & !OVFD));
    }

    #[test]
    fn writes() {
        // The summary bit follows from the status, the low bits don't exist.
        assert_eq!(written(u64::MAX), !0 << 47);
        assert_eq!(written(SUM | 1 << 46), 0);
        assert_eq!(raised(START, INE), START | INE | SUM);
        assert_eq!(raised(START, 0), START);
        // EXC_SUM: 1 INV, 2 DZE, 3 OVF, 4 UNF, 5 INE, 6 IOV.
        assert_eq!(summary(INV | OVF), 1 << 1 | 1 << 3);
        assert_eq!(summary(IOV), 1 << 6);
    }
}
