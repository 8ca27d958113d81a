//! Call chains from what a sample holds of registers and stack, after the recording.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axperf_isa::Reg;

use crate::perf::{ChainEnd, Mmap, Record, Sample, Stop, Unwind, UnwindRegs};
use crate::unwind::{Module, Modules, Unwinder};

/// Follows the records of a recording, and the calls of its samples.
#[derive(Debug, Default)]
pub struct OfflineUnwinder {
    sysroot: Option<PathBuf>,
    processes: HashMap<u32, Unwinder>,
    /// The files, each read once; None for one that can't be unwound through.
    files: HashMap<Vec<u8>, Option<Arc<Module>>>,
}

/// Most addresses in a chain.
const MAX_CHAIN: usize = 1024;

impl OfflineUnwinder {
    /// An unwinder to which nothing is known yet. Files are looked for below `sysroot` first.
    #[must_use]
    pub fn new(sysroot: Option<&Path>) -> OfflineUnwinder {
        OfflineUnwinder { sysroot: sysroot.map(Path::to_owned), ..OfflineUnwinder::default() }
    }

    /// Follows a record.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Mmap(m) => self.map(m),
            Record::Fork(t) if t.pid != t.ppid => {
                if let Some(parent) = self.processes.get(&t.ppid) {
                    let child = Unwinder::new(parent.modules().fork());
                    self.processes.insert(t.pid, child);
                }
            }
            Record::Comm { pid, exec: true, .. } => {
                self.processes.remove(pid);
            }
            _ => {}
        }
    }

    fn map(&mut self, m: &Mmap) {
        let path = crate::symbols::locate(m.name, self.sysroot.as_deref());
        let file = self.files.entry(m.name.to_vec()).or_insert_with(|| {
            // Without the file there is no unwind information: each chain says that it lacks it.
            let module = Module::open(path?).ok()?;
            let same = m.file.as_build_id().is_none_or(|id| module.build_id().starts_with(id));
            same.then(|| Arc::new(module))
        });
        let new = || Unwinder::new(Arc::new(Modules::new()));
        let modules = self.processes.entry(m.pid).or_insert_with(new).modules();
        match file {
            Some(module) => modules.map(Arc::clone(module), m.addr, m.len, m.pgoff),
            None => modules.unmap(m.addr, m.len),
        }
    }

    /// Follows the calls of a sample into `chain`; None if it lacks registers or stack.
    pub fn unwind(&mut self, sample: &Sample, chain: &mut Vec<u64>) -> Option<ChainEnd> {
        let (regs, stack) = (sample.user_regs?, sample.user_stack?);
        let (pid, _) = sample.task?;
        let Some(unwind_regs) = UnwindRegs::from_sample(&regs) else {
            // Without pc and sp there is not even a beginning.
            return Some(ChainEnd { stop: Stop::RegisterUnknown, guessed: false });
        };
        let sp = regs.get(Reg::Sp)?;
        let mut read = |addr: u64| {
            let at = usize::try_from(addr.checked_sub(sp)?).ok()?;
            Some(u64::from_le_bytes(*stack.get(at..)?.first_chunk()?))
        };
        let new = || Unwinder::new(Arc::new(Modules::new()));
        let unwinder = self.processes.entry(pid).or_insert_with(new);
        Some(unwinder.unwind(&unwind_regs, &mut read, MAX_CHAIN, chain))
    }
}
