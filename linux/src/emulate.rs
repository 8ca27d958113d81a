//! Instructions that the CPU lacks and Linux/alpha's kernel executes for it.
//!
//! On a 21064 these are the IEEE instructions that it leaves to software: rounding to an infinity, and
//! square roots. The kernel takes all for such with software completion and every exception watched,
//! whatever their qualifiers. On later CPUs it executes none. Source: `arch/alpha/kernel/traps.c`
//! (`do_entIF`) and `arch/alpha/math-emu`.
//!
//! There the kernel looks at the function bits alone, and takes some instructions that aren't
//! floating-point (ITOFT, LDBU with certain displacements) for ones that are. Here they are illegal.

use axperf::isa::fpcr::{INV, IOV};
use axperf::isa::sem::Qualifiers;
use axperf::isa::{Fields, Flags, Op, decode, encode};
use axperf::{Cpu, Exit, Insn, Reg};

use crate::thread;

/// The instruction that the kernel executes in place of the word that is illegal on the CPU; None if
/// it is no such word.
fn substitute(cpu: Cpu, word: u32) -> Option<Insn> {
    let insn = decode(word).filter(|insn| cpu == Cpu::Ev4 && insn.desc().is(Flags::FP))?;
    let fields = insn.fields();
    let watched =
        Qualifiers { underflow: true, software: true, inexact: true, ..fields.qualifiers? };
    // VAX instructions don't have these qualifiers.
    let word = encode(insn.op, &Fields { qualifiers: Some(watched), ..fields }).ok()?;
    decode(word)
}

/// Executes the word at the pc, which is illegal on the CPU, as the kernel does; None if it doesn't.
pub(crate) fn instruction(cpu: &mut thread::Cpu, word: u32) -> Option<Result<(), Exit>> {
    let insn = substitute(cpu.engine().cpu(), word)?;
    let (before, operand) = (cpu.reg(Reg::Fpcr), cpu.regs().fp(insn.rb));
    cpu.set_reg(Reg::Fpcr, before & !IOV);
    let result = cpu.emulate(&insn);
    let mut after = cpu.reg(Reg::Fpcr);
    if insn.op == Op::cvttq && after & IOV != 0 && operand >> 52 & 0x7ff != 0 {
        // To the kernel, an integer that overflows is an invalid operation. (The bit also says that
        // an operand is denormal.)
        after = after & !IOV | INV;
    }
    cpu.set_reg(Reg::Fpcr, after | before & IOV);
    Some(result)
}

#[cfg(test)]
mod tests {
    use axperf::isa::asm;

    use super::*;

    fn text(cpu: Cpu, text: &str) -> Option<String> {
        let word = asm(text, 0).expect("an instruction");
        substitute(cpu, word).map(|insn| insn.disasm(0).to_string().replace('\t', " "))
    }

    #[test]
    fn what_the_kernel_takes() {
        for (given, taken) in [
            ("addt/m $f1,$f2,$f3", Some("addt/suim $f1,$f2,$f3")),
            ("divs/sud $f1,$f2,$f3", Some("divs/suid $f1,$f2,$f3")),
            ("cvttq/svm $f1,$f3", Some("cvttq/svim $f1,$f3")),
            ("cvtqs/d $f1,$f3", Some("cvtqs/suid $f1,$f3")),
            ("cvtts/d $f1,$f3", Some("cvtts/suid $f1,$f3")),
            ("sqrtt $f1,$f3", Some("sqrtt/sui $f1,$f3")),
            ("sqrts/suc $f1,$f3", Some("sqrts/suic $f1,$f3")),
            ("sqrtg $f1,$f3", None),
            ("itoft $1,$f3", None),
            ("ftoit $f1,$3", None),
            ("ldbu $1,0($2)", None),
            ("sextb $1,$2", None),
            ("ctpop $1,$2", None),
            ("minub8 $1,$2,$3", None),
        ] {
            assert_eq!(text(Cpu::Ev4, given).as_deref(), taken, "{given}");
            for &cpu in Cpu::ALL.iter().filter(|cpu| **cpu != Cpu::Ev4) {
                assert_eq!(text(cpu, given), None, "{given} on {cpu}");
            }
        }
        assert!(substitute(Cpu::Ev4, 0x0400_0000).is_none());
    }
}
