//! The feature sections of a file: what it says about the machine and the recording.

use super::{FILE_ATTR_SIZE, FileEvent, SECTION_SIZE};

/// Strings are padded to a multiple of this.
const STRING_ALIGN: usize = 64;

/// Defines [`Feature`] from a row a feature: bit and meaning.
macro_rules! features {
    ($($(#[$doc:meta])* $id:ident = $bit:literal;)*) => {
        /// A kind of feature section.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Feature { $($(#[$doc])* $id = $bit),* }

        impl Feature {
            /// The feature of a bit of the header's bitmap.
            #[must_use]
            pub const fn from_bit(bit: u32) -> Option<Feature> {
                match bit { $($bit => Some(Feature::$id),)* _ => None }
            }
        }
    };
}

features! {
    /// Build ids of the files that were mapped.
    BuildIds = 2;
    /// Name of the host.
    Hostname = 3;
    /// Release of its kernel.
    OsRelease = 4;
    /// Version of the tool that recorded.
    Version = 5;
    /// Architecture of what was recorded.
    Arch = 6;
    /// Number of CPUs.
    NrCpus = 7;
    /// The CPU, in words.
    CpuDesc = 8;
    /// The CPU, for programs.
    CpuId = 9;
    /// Memory in kilobytes.
    TotalMem = 10;
    /// Command line of the recording.
    CmdLine = 11;
    /// The events with their names.
    EventDesc = 12;
    /// Time of the first sample and of the last.
    SampleTime = 21;
    /// Resolution of the clock in nanoseconds.
    ClockId = 23;
}

/// A file that was mapped, with its build id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BuildId {
    /// Its path.
    pub path: Vec<u8>,
    /// The build id, of at most 20 bytes.
    pub id: Vec<u8>,
}

/// What is said about a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// Name of the host.
    pub hostname: String,
    /// Release of its kernel.
    pub os_release: String,
    /// Version of the tool that recorded.
    pub version: String,
    /// The CPU, in words.
    pub cpu_desc: String,
    /// The CPU, for programs.
    pub cpu_id: String,
    /// CPUs that the host has, and those that are on line.
    pub nr_cpus: (u32, u32),
    /// Memory in kilobytes.
    pub total_mem: u64,
    /// Command line of the recording.
    pub cmdline: Vec<String>,
}

impl Features {
    /// The sections' bodies, in the order of their bits.
    pub(super) fn sections(
        &self,
        events: &[FileEvent],
        build_ids: &[BuildId],
        times: (u64, u64),
    ) -> Vec<(Feature, Vec<u8>)> {
        vec![
            (Feature::BuildIds, build_ids.iter().flat_map(build_id_event).collect()),
            (Feature::Hostname, string(&self.hostname)),
            (Feature::OsRelease, string(&self.os_release)),
            (Feature::Version, string(&self.version)),
            (Feature::Arch, string("alpha")),
            (Feature::NrCpus, [self.nr_cpus.0, self.nr_cpus.1].map(u32::to_le_bytes).concat()),
            (Feature::CpuDesc, string(&self.cpu_desc)),
            (Feature::CpuId, string(&self.cpu_id)),
            (Feature::TotalMem, self.total_mem.to_le_bytes().to_vec()),
            (Feature::CmdLine, string_list(&self.cmdline)),
            (Feature::EventDesc, event_desc(events)),
            (Feature::SampleTime, [times.0, times.1].map(u64::to_le_bytes).concat()),
            (Feature::ClockId, 1u64.to_le_bytes().to_vec()),
        ]
    }
}

/// The table of places and the bodies, as they stand in a file from `at` on; and the bitmap.
pub(super) fn lay_out(sections: &[(Feature, Vec<u8>)], at: u64) -> ([u64; 4], Vec<u8>) {
    let mut bits = [0; 4];
    let mut next = at + (sections.len() * SECTION_SIZE) as u64;
    let (mut table, mut bodies) = (Vec::new(), Vec::new());
    for (feature, body) in sections {
        bits[*feature as usize / 64] |= 1 << (*feature as usize % 64);
        table.extend(next.to_le_bytes());
        table.extend((body.len() as u64).to_le_bytes());
        next += body.len() as u64;
        bodies.extend(body);
    }
    table.append(&mut bodies);
    (bits, table)
}

/// A length, the bytes, and zeros up to the next multiple of 64: at least one.
fn string(text: &str) -> Vec<u8> {
    let padded = (text.len() + 1).next_multiple_of(STRING_ALIGN);
    let mut out = (padded as u32).to_le_bytes().to_vec();
    out.extend(text.as_bytes());
    out.resize(4 + padded, 0);
    out
}

fn string_list(list: &[String]) -> Vec<u8> {
    let mut out = (list.len() as u32).to_le_bytes().to_vec();
    out.extend(list.iter().flat_map(|s| string(s)));
    out
}

fn event_desc(events: &[FileEvent]) -> Vec<u8> {
    let mut out = [events.len() as u32, FILE_ATTR_SIZE as u32].map(u32::to_le_bytes).concat();
    for event in events {
        out.extend(event.attr_bytes());
        out.extend((event.ids.len() as u32).to_le_bytes());
        out.extend(string(&event.name));
        out.extend(event.ids.iter().flat_map(|id| id.to_le_bytes()));
    }
    out
}

/// `struct perf_record_header_build_id`.
fn build_id_event(file: &BuildId) -> Vec<u8> {
    /// The size of the build id is given.
    const SIZE_VALID: u16 = 1 << 15;
    const USER: u16 = 2;
    let id = &file.id[..file.id.len().min(20)];
    let padded = (file.path.len() + 1).next_multiple_of(STRING_ALIGN);
    let mut out = 67u32.to_le_bytes().to_vec();
    out.extend((USER | SIZE_VALID).to_le_bytes());
    out.extend(((8 + 4 + 24 + padded) as u16).to_le_bytes());
    out.extend((-1i32).to_le_bytes());
    out.extend(id);
    out.resize(8 + 4 + 20, 0);
    out.extend([id.len() as u8, 0, 0, 0]);
    out.extend(&file.path);
    out.resize(8 + 4 + 24 + padded, 0);
    out
}
