//! Going through a recording, sample by sample, with names at hand.

use super::offline::OfflineUnwinder;
use super::perf_data::{FileRecord, PerfData, RecordKind};
use crate::error::Result;
use crate::perf::{CONTEXT_MAX, ChainEnd, Sample};
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
    /// How the calls end that were followed by the sample's registers and stack, since it has no
    /// call chain of its own.
    pub unwound: Option<ChainEnd>,
    chain: &'a [u64],
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

    /// Whether there is a call chain: the sample's own, or by registers and stack.
    #[must_use]
    pub fn has_chain(&self) -> bool {
        self.sample.callchain.is_some() || self.unwound.is_some()
    }

    /// Addresses and what they are, innermost first. Without a call chain it is the sample's own.
    ///
    /// A calling frame's address is the one after its call: what it is, is asked of the byte before.
    pub fn frames(&self) -> impl Iterator<Item = (u64, Place)> {
        let pid = self.pid();
        let own = if self.chain.is_empty() { self.sample.ip } else { None };
        own.into_iter().chain(self.chain.iter().copied()).enumerate().map(move |(i, addr)| {
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
    let mut offline = OfflineUnwinder::new(session.sysroot());
    let mut chain = Vec::new();
    for record in data.records() {
        let FileRecord { event, kind, .. } = record?;
        match kind {
            RecordKind::Sample(sample) => {
                chain.clear();
                let unwound = match &sample.callchain {
                    Some(words) => {
                        chain.extend(words.iter().filter(|&word| !is_context(word)));
                        None
                    }
                    None => offline.unwind(&sample, &mut chain),
                };
                each(&Sampled { session, sample, event, unwound, chain: &chain })?;
            }
            RecordKind::Other(record, _) => match record {
                Lost { lost: n, .. } => lost = lost.saturating_add(n),
                LostSamples { lost: n } => lost_samples = lost_samples.saturating_add(n),
                other => {
                    session.apply(&other);
                    offline.apply(&other);
                }
            },
        }
    }
    // The second kind tells of the same losses, at the end of a recording.
    Ok(lost.max(lost_samples))
}
