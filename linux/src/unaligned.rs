//! Unaligned loads and stores, done as Linux/alpha's kernel does them for a program.

use axperf::{Bus, Fault, Regs};

use crate::mm::Space;

/// Why an access isn't done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An instruction that the kernel doesn't do: locked, conditional, VAX floating.
    Instruction,
    /// The memory.
    Fault(Fault),
}

/// The memory-format opcodes that are done.
mod op {
    pub const LDWU: u32 = 0x0c;
    pub const STW: u32 = 0x0d;
    pub const LDS: u32 = 0x22;
    pub const LDT: u32 = 0x23;
    pub const STS: u32 = 0x26;
    pub const STT: u32 = 0x27;
    pub const LDL: u32 = 0x28;
    pub const LDQ: u32 = 0x29;
    pub const STL: u32 = 0x2c;
    pub const STQ: u32 = 0x2d;
}

/// Does the access of the instruction `word` at `addr`.
///
/// # Errors
/// It isn't done: nothing has changed.
pub fn access(regs: &mut Regs, space: &Space, addr: u64, word: u32) -> Result<(), Refused> {
    let ra = (word >> 21 & 31) as u8;
    let opcode = word >> 26;
    let width = match opcode {
        op::LDWU | op::STW => 2,
        op::LDL | op::STL | op::LDS | op::STS => 4,
        op::LDQ | op::STQ | op::LDT | op::STT => 8,
        _ => return Err(Refused::Instruction),
    };
    let value = match opcode {
        op::STW | op::STL | op::STQ => regs.int(ra),
        op::STS => s_to_memory(regs.fp(ra)),
        op::STT => regs.fp(ra),
        _ => {
            let mut bytes = [0; 8];
            space.read(addr, &mut bytes[..width]).map_err(Refused::Fault)?;
            let raw = u64::from_le_bytes(bytes);
            match opcode {
                op::LDL => regs.set_int(ra, raw as i32 as u64),
                op::LDS => regs.set_fp(ra, s_to_register(raw as u32)),
                op::LDT => regs.set_fp(ra, raw),
                _ => regs.set_int(ra, raw),
            }
            return Ok(());
        }
    };
    let bytes = &value.to_le_bytes()[..width];
    // All or nothing: a store that reaches into a page that isn't there stores nothing.
    let mut before = [0; 8];
    space.read(addr, &mut before[..width]).map_err(Refused::Fault)?;
    space.write(addr, bytes).map_err(|f| {
        let done = (f.addr.wrapping_sub(addr) as usize).min(width);
        // What was just written can be written again.
        let _ = space.write(addr, &before[..done]);
        Refused::Fault(f)
    })
}

/// S-floating from memory to register format (Alpha Architecture Reference Manual, 2.2.6.1).
fn s_to_register(m: u32) -> u64 {
    let m = u64::from(m);
    let (sign, exponent, fraction) = (m >> 31, m >> 23 & 0xff, m & 0x7f_ffff);
    let exponent = match exponent {
        0 => 0,
        0xff => 0x7ff,
        e => e + (1023 - 127),
    };
    sign << 63 | exponent << 52 | fraction << 29
}

/// S-floating from register to memory format: sign and exponent<10>, then what follows <58>.
fn s_to_memory(r: u64) -> u64 {
    (r >> 62) << 30 | r >> 29 & 0x3fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the host's own conversion, which is exact for these.
    #[test]
    fn s_floating_formats() {
        for x in [0.0f32, -0.0, 1.0, -1.5, 3.4e38, 1.2e-38, f32::INFINITY] {
            assert_eq!(s_to_register(x.to_bits()), f64::from(x).to_bits(), "{x}");
            assert_eq!(s_to_memory(f64::from(x).to_bits()), u64::from(x.to_bits()), "{x}");
        }
    }
}
