//! Where the samples fell: functions and call chains by their share.

use std::collections::{HashMap, HashSet};

use super::perf_data::PerfData;
use super::samples::for_each_sample;
use crate::error::{Error, Result};
use crate::perf::Stop;
use crate::symbols::{Place, Session};

/// A function's share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionLine {
    /// Events in the function itself.
    pub own: u64,
    /// Events in it and in what it called, if there are call chains.
    pub total: u64,
    /// Name of the thread.
    pub comm: String,
    /// File, or another thing that was mapped.
    pub dso: String,
    /// Name, or `[unknown]`.
    pub function: String,
}

/// A call chain's share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainLine {
    /// Events in it.
    pub own: u64,
    /// Names of the functions, outermost first.
    pub functions: Vec<String>,
}

/// The samples of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The event's name.
    pub event: String,
    /// Samples.
    pub samples: u64,
    /// Events that they stand for.
    pub weight: u64,
    /// Whether the samples have call chains.
    pub has_chains: bool,
    /// Functions, those with the greatest share first: by total where there are chains.
    pub functions: Vec<FunctionLine>,
    /// Call chains, those with the greatest share first.
    pub chains: Vec<ChainLine>,
    /// How call chains ended that were followed by registers and stack, in the order of
    /// [`Stop::ALL`].
    pub unwound: [u64; Stop::ALL.len()],
}

/// The samples of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profiles {
    /// One profile an event.
    pub events: Vec<Profile>,
    /// Records that were lost.
    pub lost: u64,
}

/// What cannot be named.
pub const UNKNOWN: &str = "[unknown]";

/// A function: by its place, without the address.
type FunctionKey = (Option<crate::symbols::DsoId>, Option<usize>);

#[derive(Default)]
struct Counts {
    samples: u64,
    weight: u64,
    has_chains: bool,
    unwound: [u64; Stop::ALL.len()],
    /// By thread's name and function: own and total.
    functions: HashMap<(usize, FunctionKey), (u64, u64)>,
    /// By functions, innermost first.
    chains: HashMap<Vec<FunctionKey>, u64>,
}

impl Profiles {
    /// Goes through a recording.
    ///
    /// # Errors
    /// It can't be read.
    pub fn collect(data: &PerfData, session: &mut Session) -> Result<Profiles> {
        let mut counts: Vec<Counts> = data.events().iter().map(|_| Counts::default()).collect();
        let (mut comms, mut comm_ids) = (Vec::new(), HashMap::new());
        let mut seen = HashSet::new();
        let lost = for_each_sample::<Error>(data, session, |s| {
            let comm = s.comm();
            let comm = *comm_ids.entry(comm).or_insert_with_key(|comm| {
                comms.push(comm.clone());
                comms.len() - 1
            });
            let counts = &mut counts[s.event];
            let weight = s.sample.period.unwrap_or(1);
            counts.samples += 1;
            counts.weight = counts.weight.saturating_add(weight);
            let chain: Vec<FunctionKey> = s.frames().map(|(_, p)| (p.dso, p.symbol)).collect();
            seen.clear();
            for (i, &function) in chain.iter().enumerate() {
                let line = counts.functions.entry((comm, function)).or_default();
                if i == 0 {
                    line.0 = line.0.saturating_add(weight);
                }
                if seen.insert(function) {
                    line.1 = line.1.saturating_add(weight);
                }
            }
            if let Some(end) = s.unwound {
                counts.unwound[end.stop as usize] += 1;
            }
            if s.has_chain() {
                counts.has_chains = true;
                let sum = counts.chains.entry(chain).or_default();
                *sum = sum.saturating_add(weight);
            }
            Ok(())
        })?;
        let events = data.events().iter().zip(counts);
        let events = events.map(|(e, counts)| counts.into_profile(&e.name, session, &comms));
        Ok(Profiles { events: events.collect(), lost })
    }
}

impl Counts {
    fn into_profile(self, event: &str, session: &Session, comms: &[String]) -> Profile {
        let mut functions: Vec<FunctionLine> = self
            .functions
            .into_iter()
            .map(|((comm, key), (own, total))| FunctionLine {
                own,
                total,
                comm: comms[comm].clone(),
                dso: dso_name(session, key),
                function: function_name(session, key),
            })
            .collect();
        let has_chains = self.has_chains;
        let share = |l: &FunctionLine| if has_chains { (l.total, l.own) } else { (l.own, l.total) };
        functions.sort_by(|a, b| {
            share(b)
                .cmp(&share(a))
                .then_with(|| (&a.function, &a.dso, &a.comm).cmp(&(&b.function, &b.dso, &b.comm)))
        });
        let name = |key: &FunctionKey| function_name(session, *key);
        let mut chains: Vec<ChainLine> = self
            .chains
            .into_iter()
            .map(|(keys, own)| ChainLine { own, functions: keys.iter().rev().map(name).collect() })
            .collect();
        chains.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.functions.cmp(&b.functions)));
        Profile {
            event: event.to_owned(),
            samples: self.samples,
            weight: self.weight,
            has_chains,
            functions,
            chains,
            unwound: self.unwound,
        }
    }
}

fn place((dso, symbol): FunctionKey) -> Place {
    Place { dso, symbol, address: 0 }
}

fn function_name(session: &Session, key: FunctionKey) -> String {
    session.symbol(&place(key)).map_or_else(|| UNKNOWN.to_owned(), |s| s.name().to_owned())
}

fn dso_name(session: &Session, key: FunctionKey) -> String {
    session.dso_short_name(&place(key)).unwrap_or(UNKNOWN).to_owned()
}
