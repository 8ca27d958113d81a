//! Decoded blocks by address: what the interpreter runs, and where hot code is noticed.
//!
//! # Safety
//! Blocks, links and recorded jumps point to blocks and recorded jumps of the same [`Blocks`]. What
//! is dropped is unlinked first. Nothing is dropped while a block runs, since that borrows.

#![allow(unsafe_code)]

use std::collections::{HashMap, HashSet};

use axperf_isa::{Flags, Insn, Regs};

use crate::machine::block::{Block, CALL_TARGETS, JUMP_TARGETS, Jump, Link, Pinned};
use crate::machine::bus::{Access, Bus, Fault, FaultKind, Shape};
use crate::machine::changes::{self, Pages};
use crate::machine::cpu::Cpu;
use crate::machine::exit::Exit;
use crate::machine::footprint::Footprint;
use crate::machine::front::Front;
use crate::machine::interp::{Ran, run_block};
use crate::machine::step::Step;
use crate::machine::threaded;

/// Longest block in instructions.
const LONGEST: usize = 64;
/// Instructions in all blocks at most: those of hostile code may begin at every word.
const MOST: usize = 1 << 20;

/// Blocks by address.
#[derive(Debug)]
pub(crate) struct Blocks {
    cpu: Cpu,
    /// Shape of the memory that steps are made for.
    shape: Shape,
    /// Entries that make a block hot; None: nothing does.
    hot: Option<u32>,
    list: Vec<Pinned<Block>>,
    /// Instructions in all of them.
    insns: usize,
    index: HashMap<u64, *const Block>,
    front: Front,
    /// The block that is none: no fuel is enough for it.
    nothing: Pinned<Block>,
    /// Computed jumps by address.
    jumps: HashMap<u64, Pinned<Jump>>,
    /// Code that ran.
    footprint: Footprint,
    /// A link that led to no block, and where it is to lead.
    missed: Option<(*const Link, u64)>,
}

// SAFETY: what the pointers lead to is the value's own, and nobody else's.
unsafe impl Send for Blocks {}

impl Blocks {
    /// None yet, of memory of this shape. A block is hot when it was entered `hot` times.
    pub fn new(cpu: Cpu, shape: Shape, hot: Option<u32>) -> Blocks {
        let steps = Step::all(&[], shape);
        let nothing = Pinned::new(Block {
            len: i64::MAX as u64,
            left: 0.into(),
            lease: 0.into(),
            heat: 0.into(),
            asked: 0.into(),
            code: steps[0].code,
            steps,
            taken: std::ptr::null::<Block>().into(),
            fall: std::ptr::null::<Block>().into(),
            pc: 0,
            end: 0,
            target: 0,
            jump: std::ptr::null(),
            insns: Box::default(),
            slot: None.into(),
        });
        Blocks {
            cpu,
            shape,
            hot,
            list: Vec::new(),
            insns: 0,
            index: HashMap::new(),
            front: Front::new(nothing.as_ptr()),
            nothing,
            jumps: HashMap::new(),
            footprint: Footprint::default(),
            missed: None,
        }
    }

    /// The block at `pc`, decoded if need be; or the exit that its first instruction is.
    #[inline]
    pub fn at(&mut self, bus: &dyn Bus, pc: u64) -> Result<&Block, Exit> {
        let block = match self.front.find(pc) {
            Some(block) => block,
            None => self.find(bus, pc)?,
        };
        if let Some((link, to)) = self.missed.take()
            && to == pc
        {
            // SAFETY: see the module.
            unsafe { (*link).set(block) };
        }
        // SAFETY: see the module.
        Ok(unsafe { &*block })
    }

    /// Runs the block at the pc, and those that it leads to as far as they are known and not hot,
    /// for `fuel` instructions at most. The pc is the next instruction afterwards. `clock` is the
    /// cycle counter, given the instructions retired in this run.
    pub fn run(
        &mut self,
        regs: &mut Regs,
        bus: &dyn Bus,
        clock: &mut dyn FnMut(u64) -> u64,
        fuel: u64,
    ) -> Ran {
        let pc = regs.pc();
        let never_hot = self.hot.is_none();
        let block = match self.at(bus, pc) {
            Ok(block) => block,
            Err(exit) => return Ran { retired: 0, exit: Some(exit) },
        };
        if never_hot {
            block.left.set(u32::MAX);
        }
        if fuel < block.len {
            return run_block(regs, bus, clock, &block.insns[..fuel as usize]);
        }
        let block = std::ptr::from_ref(block);
        debug_assert!(
            std::mem::discriminant(&bus.shape().0) == std::mem::discriminant(&self.shape)
        );
        // SAFETY: see the module: nothing is dropped before this comes back.
        let came = unsafe { threaded::run(regs, bus, clock, &self.front, &*block, fuel) };
        self.missed = came.missed.map(|link| (link, regs.pc()));
        came.ran
    }

    #[cold]
    fn find(&mut self, bus: &dyn Bus, pc: u64) -> Result<*const Block, Exit> {
        let block = match self.index.get(&pc) {
            Some(&block) => block,
            None => {
                let insns = decode_block(self.cpu, bus, pc)?;
                if self.insns + insns.len() > MOST {
                    self.forget();
                }
                self.insns += insns.len();
                let block = Pinned::new(self.block(pc, insns));
                let at = block.as_ptr();
                self.list.push(block);
                self.index.insert(pc, at);
                at
            }
        };
        self.front.put(pc, block);
        Ok(block)
    }

    fn block(&mut self, pc: u64, insns: Box<[Insn]>) -> Block {
        let len = insns.len() as u64;
        let end = pc.wrapping_add(4 * len);
        self.footprint.note(pc, len);
        let nothing = self.nothing.as_ptr();
        let last = insns.last().map(|insn| (insn, end.wrapping_sub(4)));
        let target = last.and_then(|(insn, pc)| insn.branch_target(pc)).unwrap_or(end);
        let jump = match last {
            Some((insn, pc)) if is_recorded(insn) => {
                let is_call = insn.desc().is(Flags::CALL);
                let room = if is_call { CALL_TARGETS } else { JUMP_TARGETS };
                let jump = || Pinned::new(Jump::new(room, nothing));
                self.jumps.entry(pc).or_insert_with(jump).as_ptr()
            }
            _ => std::ptr::null(),
        };
        let steps = Step::all(&insns, self.shape);
        Block {
            len,
            left: self.hot().into(),
            lease: self.hot().into(),
            heat: 0.into(),
            asked: 0.into(),
            code: steps[0].code,
            steps,
            taken: nothing.into(),
            fall: nothing.into(),
            pc,
            end,
            target,
            jump,
            insns,
            slot: None.into(),
        }
    }

    /// Where the computed jump or call at `pc`, which isn't a return, has led while it was
    /// interpreted, what was most frequent first: 16 targets at most, of a call four.
    pub fn targets(&self, pc: u64) -> Vec<u64> {
        let jump = self.jumps.get(&pc);
        let seen = jump.into_iter().flat_map(|jump| &jump.targets);
        let seen = seen.map(|target| (target.times.get(), target.pc.get()));
        let mut seen: Vec<(u32, u64)> = seen.filter(|&(_, pc)| pc != Jump::NOWHERE).collect();
        seen.sort_by_key(|&(times, _)| std::cmp::Reverse(times));
        seen.into_iter().map(|(_, pc)| pc).collect()
    }

    /// Whether the instruction at `pc` was in a block that was interpreted.
    pub fn has_run(&self, pc: u64) -> bool {
        self.footprint.has(pc)
    }

    /// Entries until a new block is hot.
    fn hot(&self) -> u32 {
        self.hot.unwrap_or(u32::MAX)
    }

    fn forget(&mut self) {
        self.unlink();
        self.list.clear();
        self.insns = 0;
        self.index.clear();
        self.jumps.clear();
    }

    /// No way leads to any block any more.
    fn unlink(&mut self) {
        let nothing = self.nothing.as_ptr();
        self.missed = None;
        self.front.clear();
        for block in &self.list {
            block.taken.set(nothing);
            block.fall.set(nothing);
        }
        for jump in self.jumps.values() {
            for target in &jump.targets {
                target.block.set(nothing);
            }
        }
    }

    /// Forgets every block whose words are no longer what memory holds.
    /// Only `pages` may have changed.
    pub fn revalidate(&mut self, bus: &dyn Bus, pages: &mut Pages<'_>) {
        let mut changed = |b: &Block| {
            let words = b.insns.iter().map(|i| i.word);
            pages.have(b.pc, 4 * b.len) && !changes::holds(bus, b.pc, words)
        };
        let gone: HashSet<u64> = self.list.iter().filter(|b| changed(b)).map(|b| b.pc).collect();
        if gone.is_empty() {
            return;
        }
        self.unlink();
        self.list.retain(|b| !gone.contains(&b.pc));
        self.insns = self.list.iter().map(|b| b.insns.len()).sum();
        self.index = self.list.iter().map(|b| (b.pc, b.as_ptr())).collect();
        let still: HashSet<*const Jump> = self.list.iter().map(|b| b.jump).collect();
        self.jumps.retain(|_, jump| still.contains(&jump.as_ptr()));
    }

    /// Forgets what was hot.
    pub fn cool(&mut self) {
        for b in &self.list {
            b.left.set(self.hot());
            b.lease.set(self.hot());
            b.heat.set(0);
            b.asked.set(0);
        }
    }

    /// Forgets where translations are found.
    pub fn forget_slots(&mut self) {
        for b in &self.list {
            b.slot.set(None);
            b.asked.set(0);
        }
    }
}

/// Whether the targets of an instruction are worth recording: a return's aren't.
fn is_recorded(insn: &Insn) -> bool {
    let flags = insn.desc();
    flags.is(Flags::INDIRECT) && !flags.is(Flags::RETURN)
}

fn decode_block(cpu: Cpu, bus: &dyn Bus, pc: u64) -> Result<Box<[Insn]>, Exit> {
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
        let mut blocks = Blocks::new(Cpu::default(), Shape::Tlb, None);
        for i in 0..WORDS {
            let block = blocks.at(&memory, 4 * i).unwrap();
            assert_eq!((block.pc, block.insns.len() as u64), (4 * i, (WORDS - i).min(64)));
            assert!(blocks.insns <= MOST);
        }
        assert_eq!(blocks.insns, blocks.list.iter().map(|b| b.insns.len()).sum::<usize>());
        assert!(blocks.insns > MOST / 4);
    }

    fn machine(text: &str) -> (Blocks, Regs, FlatMemory) {
        let memory = FlatMemory::new(1 << 16);
        for (i, word) in axperf_isa::assemble(text, 0).unwrap().iter().enumerate() {
            memory.write(4 * i as u64, &word.to_le_bytes()).unwrap();
        }
        (Blocks::new(Cpu::default(), memory.shape().0, None), Regs::default(), memory)
    }

    /// Runs until `fuel` is used up; how many times that took.
    fn run(blocks: &mut Blocks, regs: &mut Regs, memory: &FlatMemory, mut fuel: u64) -> u32 {
        let mut runs = 0;
        while fuel > 0 {
            let ran = blocks.run(regs, memory, &mut |n| n, fuel);
            assert!(ran.exit.is_none() && ran.retired <= fuel, "{ran:?}");
            fuel -= ran.retired;
            runs += 1;
        }
        runs
    }

    /// A loop of instructions of each sort that has code of its own, a call, a return, and a pair.
    const LOOP: &str = "
        lda $30, 0x4000($31)
    start:
        bsr $26, next
    next:
        lda $26, 8($26)
        ret $31, ($26)
        addq $1, 1, $1
        stq $1, 0($30)
        ldt $f1, 0($30)
        cvtqt $f1, $f2
        addt $f2, $f2, $f3
        mult $f3, $f2, $f4
        cmptle $f3, $f4, $f5
        stt $f4, 8($30)
        ldq $2, 8($30)
        cmovne $2, 5, $3
        ftoit $f3, $4
        mulq/v $3, $3, $5
        fbeq $f5, over
        ldl $6, 4($30)
    over:
        mb
        unop
        cmpeq $6, 99, $7
        beq $7, again
    again:
        br $31, start
    ";

    /// The stack grows by steps that don't go on by a jump: without optimisation all, with it those
    /// that call something on their way. A run ends where it has grown too far.
    #[test]
    fn the_stack_is_bounded() {
        const FUEL: u64 = 1 << 20;
        let (mut blocks, mut regs, memory) = machine(LOOP);
        // Which links the blocks.
        run(&mut blocks, &mut regs, &memory, 1000);
        let runs = run(&mut blocks, &mut regs, &memory, FUEL);
        assert!(runs < 20_000, "{runs}");
    }

    /// A run in pieces of any size is the run.
    #[test]
    fn fuel_is_exact() {
        let whole = {
            let (mut blocks, mut regs, memory) = machine(LOOP);
            run(&mut blocks, &mut regs, &memory, 500);
            regs
        };
        for piece in 1..60 {
            let (mut blocks, mut regs, memory) = machine(LOOP);
            let mut left = 500;
            while left > 0 {
                run(&mut blocks, &mut regs, &memory, piece.min(left));
                left -= piece.min(left);
            }
            assert!(regs == whole, "{piece}: {regs:?} {whole:?}");
        }
    }

    /// Twenty functions called in turn: four are recorded. Twenty cases jumped to: sixteen are.
    #[test]
    fn targets_are_recorded() {
        let text = "
            lda $1, 0x100($31)
            lda $2, 0x200($31)
        again:
            jsr $26, ($1)
            jmp $31, ($2)
        ";
        let (mut blocks, mut regs, memory) = machine(text);
        let write = |at: u64, text: &str| {
            for (i, word) in axperf_isa::assemble(text, at).unwrap().iter().enumerate() {
                memory.write(at + 4 * i as u64, &word.to_le_bytes()).unwrap();
            }
        };
        for i in 0..20 {
            write(0x100 + 8 * i, "lda $1, 8($1)\n ret $31, ($26)");
            write(0x200 + 8 * i, "lda $2, 8($2)\n br $31, 0x8");
        }
        run(&mut blocks, &mut regs, &memory, 2 + 20 * 6);
        let nth = |base: u64, n: u64| (0..n).map(|i| base + 8 * i).collect::<Vec<u64>>();
        assert_eq!(blocks.targets(8), nth(0x100, 4));
        assert_eq!(blocks.targets(12), nth(0x200, 16));
        assert_eq!(blocks.targets(0).len(), 0);
    }
}
