//! From frame to frame.

use std::sync::Arc;

use gimli::UnwindContext;

use super::module::Found;
use super::modules::{Modules, Snapshot};
use super::rule::{Row, Rule};
use super::sigframe;
use crate::perf::{ChainEnd, Stop, Unwind, UnwindRegs};

/// Follows the calls of a thread.
///
/// Rows of CFI are kept by address, so that a sample in known code costs no more than the reads of
/// its stack.
pub struct Unwinder {
    modules: Arc<Modules>,
    snapshot: Snapshot,
    rows: Box<[Cached]>,
    context: UnwindContext<usize>,
}

impl std::fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinder").field("modules", &self.modules).finish_non_exhaustive()
    }
}

/// Rows kept, a power of two.
const ROWS: usize = 4096;

#[derive(Clone, Copy)]
struct Cached {
    /// The address that was looked up; no instruction is at [`u64::MAX`].
    addr: u64,
    found: Frame,
}

/// What is known about the frame of an address.
#[derive(Clone, Copy)]
enum Frame {
    /// CFI describes it.
    Known(Row),
    /// There is none; by its instructions it is this.
    Guessed(Row),
    /// There is none, and the instructions say nothing.
    Bare,
    /// There is none: it is where the program starts.
    Start,
    /// No file is mapped there.
    Elsewhere,
    /// The CFI makes no sense.
    Corrupt,
}

const EMPTY: Cached = Cached { addr: u64::MAX, found: Frame::Elsewhere };

/// What one step leads to.
enum Step {
    /// The calling frame, and whether it was interrupted in place of calling.
    To(UnwindRegs, bool),
    /// No further.
    End(Stop),
}

impl Unwinder {
    /// An unwinder for a thread of the process with these files.
    #[must_use]
    pub fn new(modules: Arc<Modules>) -> Unwinder {
        Unwinder {
            snapshot: modules.snapshot().unwrap_or_default(),
            modules,
            rows: vec![EMPTY; ROWS].into_boxed_slice(),
            context: UnwindContext::new(),
        }
    }

    /// The files.
    #[must_use]
    pub fn modules(&self) -> &Arc<Modules> {
        &self.modules
    }

    /// In a process that was just forked: gives it files of its own, the same as this thread knew
    /// of. The parent's may be locked for good, by a thread that the child doesn't have.
    pub fn after_fork(&mut self) -> Arc<Modules> {
        self.modules = Arc::new(Modules::from_snapshot(&self.snapshot));
        Arc::clone(&self.modules)
    }

    /// What is known of the code at an address: that of the next instruction, or of the last byte
    /// of a call.
    fn frame(&mut self, addr: u64) -> Frame {
        let slot = (addr >> 1) as usize % ROWS;
        if self.rows[slot].addr == addr {
            return self.rows[slot].found;
        }
        let is_next = addr.is_multiple_of(4);
        let found = match self.snapshot.find(addr) {
            None => Frame::Elsewhere,
            Some((module, address)) => {
                let found = match is_next {
                    true => module.find_next(address, &mut self.context),
                    false => module.find(address, &mut self.context),
                };
                match found {
                    Found::Row(row) => Frame::Known(row),
                    Found::Corrupt => Frame::Corrupt,
                    Found::Nothing => {
                        let next = if is_next { address } else { address.wrapping_add(1) };
                        match module.guess(next) {
                            _ if module.is_start(address) => Frame::Start,
                            Some(row) => Frame::Guessed(row),
                            None => Frame::Bare,
                        }
                    }
                }
            }
        };
        self.rows[slot] = Cached { addr, found };
        found
    }

    /// Whether a call stands before an address.
    fn is_after_call(&self, addr: u64) -> bool {
        self.snapshot.find(addr).is_some_and(|(module, address)| module.is_after_call(address))
    }

    /// From the frame of `regs` to the one that called it. `interrupted` says that its pc is that
    /// of the next instruction, not of the one after a call.
    fn step(
        &mut self,
        regs: &UnwindRegs,
        interrupted: bool,
        read: &mut dyn FnMut(u64) -> Option<u64>,
        guessed: &mut bool,
    ) -> Step {
        // The instruction after a call may belong to the next function, or to another row.
        let addr = if interrupted { regs.pc } else { regs.pc.wrapping_sub(1) };
        let frame = self.frame(addr);
        let row = match frame {
            Frame::Corrupt => return Step::End(Stop::Corrupt),
            Frame::Start => return Step::End(Stop::Complete),
            Frame::Known(row) => {
                return match apply(&row, regs, read) {
                    Ok(caller) => Step::To(caller, row.signal),
                    Err(stop) => Step::End(stop),
                };
            }
            Frame::Guessed(row) => Some(row),
            Frame::Bare | Frame::Elsewhere => interrupted.then_some(Row::LEAF),
        };
        if let Some(context) = sigframe::sigcontext(regs.pc, regs.sp, read) {
            return match sigframe::interrupted(context, read) {
                Some(regs) => Step::To(regs, true),
                None => Step::End(Stop::StackUnreadable),
            };
        }
        // A guess is believed if it leads to the place after a call.
        match row.map(|row| apply(&row, regs, read)) {
            Some(Ok(caller)) if self.is_after_call(caller.pc) => {
                *guessed = true;
                Step::To(caller, false)
            }
            _ => Step::End(Stop::NoUnwindInfo),
        }
    }
}

/// The calling frame's registers.
fn apply(
    row: &Row,
    regs: &UnwindRegs,
    read: &mut dyn FnMut(u64) -> Option<u64>,
) -> Result<UnwindRegs, Stop> {
    if row.ra == Rule::Undefined {
        return Err(Stop::Complete);
    }
    let (base, offset) = row.cfa.ok_or(Stop::NoUnwindInfo)?;
    let base = base.get(regs).ok_or(Stop::RegisterUnknown)?;
    let cfa = base.wrapping_add_signed(offset);
    let mut value = |rule| match rule {
        Rule::Reg(reg) => reg.get(regs).ok_or(Stop::RegisterUnknown),
        Rule::Cfa(n) => Ok(cfa.wrapping_add_signed(n)),
        Rule::Undefined => Err(Stop::RegisterUnknown),
        Rule::Unknown => Err(Stop::NoUnwindInfo),
        Rule::At(n) => {
            let at = cfa.wrapping_add_signed(n);
            if !at.is_multiple_of(8) {
                return Err(Stop::Corrupt);
            }
            read(at).ok_or(Stop::StackUnreadable)
        }
    };
    Ok(UnwindRegs {
        pc: value(row.ra)?,
        sp: value(row.sp)?,
        // These matter only if a frame further out needs them.
        r15: value(row.r15).ok(),
        r16: value(row.r16).ok(),
        r23: value(row.r23).ok(),
        r26: value(row.r26).ok(),
    })
}

impl Unwind for Unwinder {
    fn unwind(
        &mut self,
        regs: &UnwindRegs,
        read: &mut dyn FnMut(u64) -> Option<u64>,
        max: usize,
        chain: &mut Vec<u64>,
    ) -> ChainEnd {
        if !self.modules.is_current(&self.snapshot)
            && let Some(snapshot) = self.modules.snapshot()
        {
            self.snapshot = snapshot;
            self.rows.fill(EMPTY);
        }
        let (mut regs, mut interrupted, mut guessed) = (*regs, true, false);
        let end = chain.len().saturating_add(max);
        let stop = loop {
            if chain.len() == end {
                break Stop::TooDeep;
            }
            chain.push(regs.pc);
            let (caller, signal) = match self.step(&regs, interrupted, read, &mut guessed) {
                Step::To(caller, signal) => (caller, signal),
                Step::End(stop) => break stop,
            };
            if caller.pc == 0 {
                break Stop::Complete;
            }
            let aligned = caller.pc & 3 == 0 && caller.sp & 7 == 0;
            if !aligned || (!signal && !is_outward(&regs, &caller)) {
                break Stop::Corrupt;
            }
            interrupted = signal;
            regs = caller;
        };
        ChainEnd { stop, guessed }
    }
}

/// Whether a step leads outwards: a caller's frame lies above. Functions without a frame leave the
/// stack pointer as it is, and then at least the place is another one.
fn is_outward(regs: &UnwindRegs, caller: &UnwindRegs) -> bool {
    caller.sp > regs.sp || (caller.sp == regs.sp && caller.pc != regs.pc)
}
