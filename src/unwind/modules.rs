//! Which files are mapped where in a process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use super::module::Module;
use crate::error::Result;
use crate::symbols::{AddressSpace, Mapping};

/// The files that are mapped in a process, for all its threads.
///
/// Who looks something up holds a snapshot and no lock; so a process that is forked while
/// another thread changes this can still use what its own threads hold.
#[derive(Debug, Default)]
pub struct Modules {
    state: Mutex<State>,
    version: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    snapshot: Snapshot,
    by_path: HashMap<PathBuf, Arc<Module>>,
}

/// The files that were mapped at some moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) version: u64,
    space: Arc<AddressSpace<Arc<Module>>>,
}

impl Modules {
    /// No files.
    #[must_use]
    pub fn new() -> Modules {
        Modules::default()
    }

    /// `len` bytes from `start` on are now the file at `path`, from its offset `pgoff` on. A file
    /// is read once, however often it is mapped. Gives the file.
    ///
    /// # Errors
    /// The file can't be read, or isn't ELF; then nothing is known about these addresses.
    pub fn map_file(
        &self,
        path: impl AsRef<Path>,
        start: u64,
        len: u64,
        pgoff: u64,
    ) -> Result<Arc<Module>> {
        let path = path.as_ref();
        let known = self.lock().by_path.get(path).cloned();
        let module = match known.map_or_else(|| Module::open(path).map(Arc::new), Ok) {
            Ok(module) => module,
            Err(e) => {
                self.unmap(start, len);
                return Err(e);
            }
        };
        self.lock().by_path.insert(path.to_owned(), Arc::clone(&module));
        self.map(Arc::clone(&module), start, len, pgoff);
        Ok(module)
    }

    /// `len` bytes from `start` on are now `module`, from its offset `pgoff` on.
    pub fn map(&self, module: Arc<Module>, start: u64, len: u64, pgoff: u64) {
        self.change(|space| {
            space.insert(Mapping { start, end: start.saturating_add(len), pgoff, what: module });
        });
    }

    /// `len` bytes from `start` on are no longer what they were.
    pub fn unmap(&self, start: u64, len: u64) {
        self.change(|space| space.remove(start, start.saturating_add(len)));
    }

    /// Nothing is mapped any more.
    pub fn clear(&self) {
        self.change(|space| *space = AddressSpace::default());
    }

    fn change(&self, change: impl FnOnce(&mut AddressSpace<Arc<Module>>)) {
        let mut state = self.lock();
        change(Arc::make_mut(&mut state.snapshot.space));
        state.snapshot.version += 1;
        self.version.store(state.snapshot.version, Ordering::Release);
    }

    /// What is mapped now; None if it is just being changed.
    ///
    /// It doesn't wait: in a process that was forked during a change nobody would ever end it.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        match self.state.try_lock() {
            Ok(state) => Some(state.snapshot.clone()),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner().snapshot.clone()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether a snapshot is what is mapped now.
    pub(super) fn is_current(&self, snapshot: &Snapshot) -> bool {
        self.version.load(Ordering::Acquire) == snapshot.version
    }

    /// The same files, for a process that was forked from this one.
    #[must_use]
    pub fn fork(&self) -> Arc<Modules> {
        Arc::new(Modules::from_snapshot(&self.lock().snapshot))
    }

    /// The same as a snapshot, with locks that nobody holds: for a process that was just forked.
    pub(super) fn from_snapshot(snapshot: &Snapshot) -> Modules {
        Modules {
            version: AtomicU64::new(snapshot.version),
            state: Mutex::new(State { snapshot: snapshot.clone(), by_path: HashMap::new() }),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A change that panicked left the space as it was before or after it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    /// The file at an address, and the file's own address for it.
    pub(super) fn find(&self, addr: u64) -> Option<(&Arc<Module>, u64)> {
        let mapping = self.space.find(addr)?;
        Some((&mapping.what, mapping.what.address_of(mapping.file_offset(addr))?))
    }
}
