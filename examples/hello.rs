//! First contact: assemble a few Alpha instructions, run them, sample the registers.
//!
//! `cargo run --example hello`

use std::sync::Arc;

use axperf::isa::assemble;
use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sample, Sampler};
use axperf::{Config, Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Sums 1 to 1000, then asks the operating system (us) for attention.
    let code = assemble(
        "
            li      $1, 1000
        loop:
            addq    $0, $1, $0
            subq    $1, 1, $1
            bne     $1, loop
            call_pal 0x83           ; callsys
        ",
        0x1000,
    )?;

    let engine = Engine::new(&Config::new())?;
    let mut machine = Machine::new(&engine, FlatMemory::new(1 << 16))?;
    for (i, word) in code.iter().enumerate() {
        machine.write(0x1000 + 4 * i as u64, &word.to_le_bytes())?;
    }
    machine.set_reg(Reg::Pc, 0x1000);

    // Every 500 instructions, three registers.
    let mask = RegMask::of(&[Reg::R0, Reg::R1, Reg::Pc]);
    let attr = Attr::new(Event::Instructions, 500).user_regs(mask);
    let ring = Arc::new(Ring::new(1 << 16)?);
    let sampler = machine.attach(Sampler::new(attr.clone(), RegAbi::Kernel, 1, ring.clone())?);

    assert_eq!(machine.run(UNLIMITED), Exit::Pal { function: 0x83 });
    println!("the sum is {}", machine.reg(Reg::R0));
    assert_eq!(machine.reg(Reg::R0), 500_500);

    let mut bytes = Vec::new();
    ring.drain(&mut bytes);
    let mut records = bytes.as_slice();
    while let [_, _, _, _, misc0, misc1, size0, size1, ..] = *records {
        let size = usize::from(u16::from_le_bytes([size0, size1]));
        let misc = u16::from_le_bytes([misc0, misc1]);
        let sample = Sample::decode(&attr, misc, &records[8..size])?;
        let regs: Vec<String> = sample
            .user_regs
            .iter()
            .flat_map(|regs| regs.iter())
            .map(|(reg, value)| format!("{}:{value:#x}", reg.name()))
            .collect();
        println!("{}", regs.join(" "));
        records = &records[size..];
    }
    let stats = machine.detach(sampler).map(|s| s.stats()).unwrap_or_default();
    println!("{} samples of {} instructions", stats.samples, stats.events);
    Ok(())
}
