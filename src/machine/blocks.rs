//! Decoded blocks: what the interpreter runs, and where hot code is noticed.

use std::collections::HashMap;

use axperf_isa::Insn;
use axperf_jit::Slot;

use crate::machine::bus::{Access, Bus, Fault, FaultKind};
use crate::machine::cpu::Cpu;
use crate::machine::exit::Exit;

/// Longest block in instructions.
const LONGEST: usize = 64;
/// Instructions in all blocks at most: those of hostile code may begin at every word.
const MOST: usize = 1 << 20;
/// Entries of the direct-mapped front of the map.
const FRONT: usize = 4096;

/// Instructions that run one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    pub pc: u64,
    pub insns: Box<[Insn]>,
    /// Times that it was interpreted.
    pub heat: u32,
    /// Its heat when its translation was asked for; 0 if it wasn't.
    pub asked: u32,
    /// Where its translation is found, once it was looked up.
    pub slot: Option<Slot>,
}

/// Blocks by address.
#[derive(Debug)]
pub(crate) struct Blocks {
    cpu: Cpu,
    list: Vec<Block>,
    /// Instructions in all of them.
    insns: usize,
    index: HashMap<u64, u32>,
    front: Box<[(u64, u32)]>,
}

impl Blocks {
    pub fn new(cpu: Cpu) -> Blocks {
        Blocks {
            cpu,
            list: Vec::new(),
            insns: 0,
            index: HashMap::new(),
            front: vec![(u64::MAX, 0); FRONT].into_boxed_slice(),
        }
    }

    /// The block at `pc`, decoded if need be; or the exit that its first instruction is.
    #[inline]
    pub fn at<B: Bus>(&mut self, bus: &B, pc: u64) -> Result<&mut Block, Exit> {
        let f = (pc >> 2) as usize % FRONT;
        let (tag, i) = self.front[f];
        let i = if tag == pc { i } else { self.find(bus, pc)? };
        Ok(&mut self.list[i as usize])
    }

    #[cold]
    fn find<B: Bus>(&mut self, bus: &B, pc: u64) -> Result<u32, Exit> {
        let i = match self.index.get(&pc) {
            Some(&i) => i,
            None => {
                let insns = decode_block(self.cpu, bus, pc)?;
                if self.insns + insns.len() > MOST {
                    self.forget();
                }
                self.insns += insns.len();
                let i = self.list.len() as u32;
                self.list.push(Block { pc, insns, heat: 0, asked: 0, slot: None });
                self.index.insert(pc, i);
                i
            }
        };
        self.front[(pc >> 2) as usize % FRONT] = (pc, i);
        Ok(i)
    }

    fn forget(&mut self) {
        self.list.clear();
        self.insns = 0;
        self.index.clear();
        self.front.fill((u64::MAX, 0));
    }

    /// Forgets every block whose words are no longer what memory holds.
    pub fn revalidate<B: Bus>(&mut self, bus: &B) {
        let mut words = [0u32; LONGEST];
        self.list.retain(|b| {
            let n = b.insns.len();
            let mut have = 0;
            while have < n {
                match bus.fetch(b.pc.wrapping_add(4 * have as u64), &mut words[have..n]) {
                    Ok(got) if got > 0 => have += got,
                    Ok(_) | Err(_) => return false,
                }
            }
            b.insns.iter().zip(&words).all(|(i, w)| i.word == *w)
        });
        self.insns = self.list.iter().map(|b| b.insns.len()).sum();
        self.index = self.list.iter().enumerate().map(|(i, b)| (b.pc, i as u32)).collect();
        self.front.fill((u64::MAX, 0));
    }

    /// Forgets what was hot.
    pub fn cool(&mut self) {
        for b in &mut self.list {
            b.heat = 0;
            b.asked = 0;
        }
    }

    /// Forgets where translations are found.
    pub fn forget_slots(&mut self) {
        for b in &mut self.list {
            b.slot = None;
            b.asked = 0;
        }
    }
}

fn decode_block<B: Bus>(cpu: Cpu, bus: &B, pc: u64) -> Result<Box<[Insn]>, Exit> {
    let mut insns = Vec::new();
    let mut words = [0u32; 16];
    while insns.len() < LONGEST {
        let at = pc.wrapping_add(4 * insns.len() as u64);
        let n = match bus.fetch(at, &mut words) {
            Ok(0) if insns.is_empty() => {
                let (access, kind) = (Access::Execute, FaultKind::Unmapped);
                return Err(Exit::Fault { pc, addr: pc, access, kind });
            }
            Ok(n) => n.min(words.len()),
            Err(Fault { addr, access, kind }) if insns.is_empty() => {
                return Err(Exit::Fault { pc, addr, access, kind });
            }
            Err(_) => break,
        };
        for &word in &words[..n] {
            match cpu.decode(word) {
                Some(insn) => {
                    insns.push(insn);
                    if insn.ends_block() || insns.len() == LONGEST {
                        return Ok(insns.into_boxed_slice());
                    }
                }
                None if insns.is_empty() => return Err(Exit::Illegal { pc, word }),
                None => return Ok(insns.into_boxed_slice()),
            }
        }
        if n < words.len() {
            break;
        }
    }
    Ok(insns.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlatMemory;

    /// Code that is entered at every word makes blocks of 64 instructions, each of which is in 64.
    #[test]
    fn blocks_are_bounded() {
        const WORDS: u64 = 2 * MOST as u64 / LONGEST as u64;
        let memory = FlatMemory::new(4 * WORDS as usize);
        let nop = 0x47ff_041fu32;
        for i in 0..WORDS {
            memory.write(4 * i, &nop.to_le_bytes()).unwrap();
        }
        let mut blocks = Blocks::new(Cpu::default());
        for i in 0..WORDS {
            let block = blocks.at(&memory, 4 * i).unwrap();
            assert_eq!((block.pc, block.insns.len() as u64), (4 * i, (WORDS - i).min(64)));
            assert!(blocks.insns <= MOST);
        }
        assert_eq!(blocks.insns, blocks.list.iter().map(|b| b.insns.len()).sum::<usize>());
        assert!(blocks.insns > MOST / 4);
    }
}
