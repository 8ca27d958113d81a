//! Samples by their call chains: what formats without a time axis are made from.

use std::collections::HashMap;

use super::perf_data::PerfData;
use super::profile::UNKNOWN;
use super::samples::for_each_sample;
use crate::error::{Error, Result};
use crate::symbols::{Place, Session};

/// A frame: a place in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// What is mapped there, and the address in it.
    pub place: Place,
    /// The function's name, or `[unknown]`.
    pub function: String,
    /// Name of what is mapped there, in full, or `[unknown]`.
    pub file: String,
}

/// Samples of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weight {
    /// Samples.
    pub samples: u64,
    /// Events that they stand for.
    pub events: u64,
}

/// A call chain and the samples that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stack {
    /// The thread's name.
    pub comm: String,
    /// Indices of its frames, innermost first.
    pub frames: Vec<usize>,
    /// By event.
    pub weights: Vec<Weight>,
}

/// The call chains of a recording, in the order in which they first came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stacks {
    /// The events' names.
    pub events: Vec<String>,
    /// All frames.
    pub frames: Vec<Frame>,
    /// All call chains.
    pub stacks: Vec<Stack>,
    /// Records that were lost.
    pub lost: u64,
}

impl Stacks {
    /// Goes through a recording.
    ///
    /// # Errors
    /// It can't be read.
    pub fn collect(data: &PerfData, session: &mut Session) -> Result<Stacks> {
        let events: Vec<String> = data.events().iter().map(|e| e.name.clone()).collect();
        let (mut frames, mut stacks) = (Vec::<Frame>::new(), Vec::<Stack>::new());
        let (mut places, mut chains) = (HashMap::new(), HashMap::new());
        let lost = for_each_sample::<Error>(data, session, |s| {
            let chain: Vec<usize> = s
                .frames()
                .map(|(_, place)| {
                    *places.entry(place).or_insert_with(|| {
                        frames.push(Frame {
                            place,
                            function: s.session.symbol(&place).map_or(UNKNOWN, |f| f.name()).into(),
                            file: s.session.dso_name(&place).unwrap_or(UNKNOWN).into(),
                        });
                        frames.len() - 1
                    })
                })
                .collect();
            let new = stacks.len();
            let stack = *chains.entry((s.comm(), chain)).or_insert_with_key(|(comm, frames)| {
                let weights = vec![Weight::default(); events.len()];
                stacks.push(Stack { comm: comm.clone(), frames: frames.clone(), weights });
                new
            });
            let weight = &mut stacks[stack].weights[s.event];
            weight.samples += 1;
            weight.events = weight.events.saturating_add(s.sample.period.unwrap_or(1));
            Ok(())
        })?;
        Ok(Stacks { events, frames, stacks, lost })
    }
}
