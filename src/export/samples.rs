//! Going through a recording, sample by sample, with names at hand.

use super::perf_data::{FileRecord, PerfData, RecordKind};
use crate::error::Result;
use crate::perf::{CONTEXT_MAX, Sample};
use crate::symbols::{Place, Session};

/// A sample, and what was known of its process when it was taken.
#[derive(Debug)]
pub struct Sampled<'a> {
    /// What had happened until then.
    pub session: &'a Session,
    /// The sample.
    pub sample: Sample<'a>,
    /// Index of its event.
    pub event: usize,
}

impl Sampled<'_> {
    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.sample.task.map_or(0, |(pid, _)| pid)
    }

    /// Its thread.
    #[must_use]
    pub fn tid(&self) -> u32 {
        self.sample.task.map_or(0, |(_, tid)| tid)
    }

    /// Its thread's name, or `:` and its number.
    #[must_use]
    pub fn comm(&self) -> String {
        let tid = self.tid();
        self.session.comm(tid).map_or_else(|| format!(":{tid}"), str::to_owned)
    }

    /// Addresses and what they are, innermost first. Without a call chain it is the sample's own.
    ///
    /// A calling frame's address is the one after its call: what it is, is asked of the byte before.
    pub fn frames(&self) -> impl Iterator<Item = (u64, Place)> {
        let pid = self.pid();
        let chain = self.sample.callchain.unwrap_or_default();
        let own = if chain.iter().all(is_context) { self.sample.ip } else { None };
        let addresses = chain.iter().filter(|&word| !is_context(word));
        own.into_iter().chain(addresses).enumerate().map(move |(i, addr)| {
            let at = if i == 0 { addr } else { addr.wrapping_sub(1) };
            (addr, self.session.resolve(pid, at))
        })
    }
}

/// Whether a word of a call chain is no address but says whose the next ones are.
fn is_context(word: u64) -> bool {
    word >= CONTEXT_MAX
}

/// Calls `each` for every sample, in the order of their times; counts the records that were lost.
/// Records of other kinds are followed by `session`.
///
/// # Errors
/// A record can't be read, or `each` fails.
pub fn for_each_sample<E: From<crate::Error>>(
    data: &PerfData,
    session: &mut Session,
    mut each: impl FnMut(&Sampled) -> Result<(), E>,
) -> Result<u64, E> {
    use crate::perf::Record::{Lost, LostSamples};
    let (mut lost, mut lost_samples) = (0u64, 0u64);
    for record in data.records() {
        let FileRecord { event, kind, .. } = record?;
        match kind {
            RecordKind::Sample(sample) => each(&Sampled { session, sample, event })?,
            RecordKind::Other(record, _) => match record {
                Lost { lost: n, .. } => lost = lost.saturating_add(n),
                LostSamples { lost: n } => lost_samples = lost_samples.saturating_add(n),
                other => session.apply(&other),
            },
        }
    }
    // The second kind tells of the same losses, at the end of a recording.
    Ok(lost.max(lost_samples))
}
