//! What is known where host code may fault on the guest's memory: the guest instruction, and where
//! the budget of a counted variant is.
//!
//! The budget lives in a value like any other, which the register allocator places. To have it at a
//! fault, code could store it whenever it changes; a tenth of a loop's time went into that. Instead
//! the compiler is asked, as for a debugger, which registers hold the budget at each instruction
//! that may fault, and whoever catches the fault keeps the host's registers ([`HostFrame`]). Where
//! the compiler doesn't know, code is made anew, with the stores.

use std::collections::BTreeMap;

use axperf_isa::{Regs, word};
use cranelift_codegen::ir::{
    DataFlowGraph, Function, InstructionData, Opcode, Value, ValueDef, ValueLabel,
    ValueLabelAssignments, ValueLabelStart,
};
use cranelift_codegen::{CompiledCode, LabelValueLoc};

/// A guest instruction whose host code may fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its address.
    pub pc: u64,
    /// What was charged for instructions that didn't retire when it faults.
    pub(crate) refund: i64,
    pub(crate) budget: Budget,
}

/// Where the budget is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// In the state. Nobody asks where nothing is counted.
    Stored,
    /// In a host register, to which a constant is to be added.
    Register { number: u8, plus: i64 },
    /// In that word below the frame pointer, likewise.
    Spilled { word: u8, plus: i64 },
}

/// What the handler of a fault keeps of the host's state: a thread has one at a time.
#[derive(Clone, Copy, Debug)]
pub struct HostFrame {
    /// Integer registers, by their numbers in instructions.
    pub registers: [u64; 32],
    /// Words below the frame pointer, the nearest first; 0 where the frame has ended.
    pub spilled: [u64; SPILLED],
}

/// Words of a frame that are kept.
pub const SPILLED: usize = 64;

impl HostFrame {
    /// Of no fault.
    pub const NONE: HostFrame = HostFrame { registers: [0; 32], spilled: [0; SPILLED] };
}

impl Site {
    /// The budget that is left when the instruction faults.
    #[must_use]
    pub fn left(&self, state: &Regs, host: &HostFrame) -> u64 {
        let budget = match self.budget {
            Budget::Stored => state.word(word::RETIRED),
            Budget::Register { number, plus } => {
                host.registers[usize::from(number) % 32].wrapping_add_signed(plus)
            }
            Budget::Spilled { word, plus } => {
                host.spilled[usize::from(word) % SPILLED].wrapping_add_signed(plus)
            }
        };
        budget.wrapping_add_signed(self.refund)
    }
}

/// A guest instruction in the translator's hands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Its address.
    pub pc: u64,
    /// What was charged for instructions that don't retire when it faults.
    pub refund: i64,
    /// The budget, if it isn't stored and the instruction may fault.
    pub budget: Option<Value>,
}

/// Constants that are taken off a value at most.
const MOST_TERMS: usize = 64;

/// A value and a constant.
#[derive(Clone, Copy, Debug)]
struct Sum {
    of: Value,
    plus: i64,
}

impl Sum {
    /// Takes the constants off a value.
    fn new(dfg: &DataFlowGraph, value: Value) -> Sum {
        let mut sum = Sum { of: dfg.resolve_aliases(value), plus: 0 };
        let data = |v| match dfg.value_def(v) {
            ValueDef::Result(inst, _) => Some(dfg.insts[inst]),
            ValueDef::Param(..) | ValueDef::Union(..) => None,
        };
        // In a loop that isn't reached a value may be a sum of itself.
        for _ in 0..MOST_TERMS {
            let Some(InstructionData::Binary { opcode: Opcode::Iadd, args }) = data(sum.of) else {
                break;
            };
            let constant = data(dfg.resolve_aliases(args[1]));
            let Some(InstructionData::UnaryImm { imm, .. }) = constant else { break };
            sum.of = dfg.resolve_aliases(args[0]);
            sum.plus = sum.plus.wrapping_add(i64::from(imm));
        }
        sum
    }
}

/// The values that a function's budget takes.
#[derive(Debug, Default)]
pub(crate) struct Budgets(BTreeMap<Value, Sum>);

impl Budgets {
    /// Has the compiler follow these values of the budget.
    pub fn follow(func: &mut Function, values: &[Value], marks: &[Mark]) -> Budgets {
        if marks.iter().all(|mark| mark.budget.is_none()) {
            return Budgets::default();
        }
        let mut sums = BTreeMap::new();
        for &value in values.iter().chain(marks.iter().filter_map(|mark| mark.budget.as_ref())) {
            let sum = Sum::new(&func.dfg, value);
            sums.insert(sum.of, Sum { of: sum.of, plus: 0 });
            sums.insert(func.dfg.resolve_aliases(value), sum);
            sums.insert(value, sum);
        }
        let start = |&value: &Value| {
            let label = ValueLabel::from_u32(value.as_u32());
            let start = ValueLabelStart { from: Default::default(), label };
            (value, ValueLabelAssignments::Starts(vec![start]))
        };
        func.dfg.values_labels = Some(sums.keys().map(start).collect::<BTreeMap<_, _>>());
        Budgets(sums)
    }

    /// Where the budget `value` is at an offset of the code; None if nobody knows.
    fn at(&self, code: &CompiledCode, value: Value, offset: u32) -> Option<Budget> {
        let wanted = self.0.get(&value)?;
        self.0.iter().filter(|(_, sum)| sum.of == wanted.of).find_map(|(held, sum)| {
            let ranges = code.value_labels_ranges.get(&ValueLabel::from_u32(held.as_u32()))?;
            let here = ranges.iter().filter(|r| (r.start..r.end).contains(&offset));
            let plus = wanted.plus.wrapping_sub(sum.plus);
            here.filter_map(|r| place(r.loc, plus)).next()
        })
    }
}

/// The budget in a place that the compiler named.
fn place(place: LabelValueLoc, plus: i64) -> Option<Budget> {
    match place {
        LabelValueLoc::Reg(register) => {
            Some(Budget::Register { number: register.to_real_reg()?.hw_enc(), plus })
        }
        LabelValueLoc::CFAOffset(offset) => {
            // A frame begins with the return address and the caller's frame pointer.
            let below = offset.checked_add(16)?.checked_neg()?;
            let word = usize::try_from(below / 8 - 1).ok().filter(|&w| w < SPILLED)?;
            (below % 8 == 0).then_some(Budget::Spilled { word: word as u8, plus })
        }
    }
}

/// The sites of code, by their offsets, ascending; None if somewhere the budget isn't known.
///
/// Only code in its place in line is followed: what can fault is never in a cold block.
pub(crate) fn sites(
    code: &CompiledCode,
    marks: &[Mark],
    budgets: &Budgets,
) -> Option<Vec<(u32, Site)>> {
    let places = code.buffer.get_srclocs_sorted();
    let mut sites = Vec::new();
    for trap in code.buffer.traps() {
        let after = places.partition_point(|place| place.start <= trap.offset);
        let mark = after.checked_sub(1).and_then(|i| marks.get(places[i].loc.bits() as usize));
        let Some(&Mark { pc, refund, budget }) = mark else { continue };
        let budget = match budget {
            None => Budget::Stored,
            Some(value) => budgets.at(code, value, trap.offset)?,
        };
        sites.push((trap.offset, Site { pc, refund, budget }));
    }
    sites.sort_unstable_by_key(|(offset, _)| *offset);
    Some(sites)
}
