//! Where a program spends its instructions: a histogram of sampled addresses, with the registers
//! and the stack of the hottest one.
//!
//! `cargo run --example sampler`

use std::collections::BTreeMap;
use std::sync::Arc;

use axperf::isa::{assemble, disasm};
use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sample, Sampler, SamplerStats};
use axperf::{Config, Engine, Exit, FlatMemory, Machine, Reg, UNLIMITED};

const PROGRAM: &str = "
        lda     $16, 22($31)
        bsr     $26, fib
        call_pal 0x83
    fib:
        cmple   $16, 1, $1
        beq     $1, deep
        bis     $31, $16, $0
        ret     $31, ($26)
    deep:
        lda     $30, -32($30)
        stq     $26, 0($30)
        stq     $9, 8($30)
        stq     $10, 16($30)
        bis     $31, $16, $9
        subq    $16, 1, $16
        bsr     $26, fib
        bis     $31, $0, $10
        subq    $9, 2, $16
        bsr     $26, fib
        addq    $0, $10, $0
        ldq     $26, 0($30)
        ldq     $9, 8($30)
        ldq     $10, 16($30)
        lda     $30, 32($30)
        ret     $31, ($26)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let code = assemble(PROGRAM, 0x1000)?;
    let engine = Engine::new(&Config::new())?;
    let mut machine = Machine::new(&engine, FlatMemory::new(1 << 16))?;
    for (i, word) in code.iter().enumerate() {
        machine.write(0x1000 + 4 * i as u64, &word.to_le_bytes())?;
    }
    machine.set_reg(Reg::Pc, 0x1000);
    machine.set_reg(Reg::Sp, 0xff00);

    // A prime period keeps step with no loop.
    let attr = Attr::new(Event::Instructions, 997).user_regs(RegMask::KERNEL).user_stack(256);
    let ring = Arc::new(Ring::new(1 << 16)?);
    let id = machine.attach(Sampler::new(attr.clone(), RegAbi::Kernel, 1, ring.clone())?);

    let mut bytes = Vec::new();
    loop {
        // A ring that is half full comes back as a watermark: nothing is lost.
        let exit = machine.run(UNLIMITED);
        ring.drain(&mut bytes);
        match exit {
            Exit::Watermark => {}
            Exit::Pal { function: 0x83 } => break,
            other => return Err(format!("stopped by {other:?}").into()),
        }
    }
    assert_eq!(machine.reg(Reg::R0), 17711);

    let mut hits: BTreeMap<u64, u64> = BTreeMap::new();
    let mut stacks = 0;
    let mut records = bytes.as_slice();
    while let [_, _, _, _, misc0, misc1, size0, size1, ..] = *records {
        let size = usize::from(u16::from_le_bytes([size0, size1]));
        let misc = u16::from_le_bytes([misc0, misc1]);
        let sample = Sample::decode(&attr, misc, &records[8..size])?;
        *hits.entry(sample.ip.unwrap_or(0)).or_default() += 1;
        stacks += sample.user_stack.map_or(0, <[u8]>::len);
        records = &records[size..];
    }
    let SamplerStats { samples, lost, events, .. } =
        machine.detach(id).map(|s| s.stats()).unwrap_or_default();
    for (pc, n) in &hits {
        let word = code[(pc - 0x1000) as usize / 4];
        println!("{:5.1}%  {pc:#x}  {}", *n as f64 * 100.0 / samples as f64, disasm(word, *pc));
    }
    println!("{samples} samples ({lost} lost) of {events} instructions, {stacks} stack bytes");
    Ok(())
}
