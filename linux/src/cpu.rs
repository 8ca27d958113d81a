//! The CPU, in Linux/alpha's words.

use axperf::Cpu;

/// What AT_PLATFORM says of it: Linux tells by IMPLVER and AMASK, and knows no PCA56.
pub(crate) const fn platform(cpu: Cpu) -> &'static str {
    match cpu {
        Cpu::Ev4 => "ev4",
        Cpu::Ev5 => "ev5",
        Cpu::Ev56 | Cpu::Pca56 => "ev56",
        Cpu::Ev6 => "ev6",
        Cpu::Ev67 => "ev67",
    }
}

/// Its type in the console's parameter block (`asm/hwrpb.h`), which getsysinfo tells.
pub(crate) const fn hwrpb_type(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Ev4 => 2,
        Cpu::Ev5 => 5,
        Cpu::Ev56 => 7,
        Cpu::Ev6 => 8,
        Cpu::Pca56 => 9,
        Cpu::Ev67 => 11,
    }
}
