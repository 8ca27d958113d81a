//! The processes and threads of a recording, followed through its records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::dso::{Dso, Symbol};
use super::space::{AddressSpace, Mapping};
use crate::perf::{Mmap, Record};

/// A file, or another thing that was mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DsoId(usize);

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place {
    /// What is mapped there.
    pub dso: Option<DsoId>,
    /// The address as the file has it; where there is no file, the address itself.
    pub address: u64,
    /// Index of the function in its [`Dso`].
    pub symbol: Option<usize>,
}

/// What is known about a thing that was mapped.
#[derive(Debug)]
struct Entry {
    name: String,
    build_id: Vec<u8>,
    dso: Dso,
    problem: Option<String>,
}

/// Who had what mapped where, and what threads were called, up to some moment.
#[derive(Debug, Default)]
pub struct Session {
    sysroot: Option<PathBuf>,
    entries: Vec<Entry>,
    by_name: HashMap<(Vec<u8>, Vec<u8>), DsoId>,
    spaces: HashMap<u32, AddressSpace<DsoId>>,
    names: HashMap<u32, String>,
}

/// The process that the kernel's mappings belong to.
const KERNEL_PID: u32 = u32::MAX;

impl Session {
    /// A session in which nothing has happened yet.
    #[must_use]
    pub fn new() -> Session {
        Session::default()
    }

    /// Looks for files below `root` first.
    #[must_use]
    pub fn with_sysroot(mut self, root: impl Into<PathBuf>) -> Session {
        self.sysroot = Some(root.into());
        self
    }

    /// The directory that files are looked for in first.
    #[must_use]
    pub fn sysroot(&self) -> Option<&Path> {
        self.sysroot.as_deref()
    }

    /// Follows a record.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Mmap(m) => self.map(m),
            Record::Fork(t) => {
                if t.pid != t.ppid
                    && let Some(space) = self.spaces.get(&t.ppid)
                {
                    let space = space.clone();
                    self.spaces.insert(t.pid, space);
                }
                if let Some(name) = self.names.get(&t.ptid) {
                    let name = name.clone();
                    self.names.insert(t.tid, name);
                }
            }
            Record::Comm { pid, tid, exec, name } => {
                if *exec {
                    self.spaces.remove(pid);
                }
                self.names.insert(*tid, String::from_utf8_lossy(name).into_owned());
            }
            // Exited processes keep their mappings: samples of theirs may still come. A process
            // that gets the same number starts with those of its parent.
            _ => {}
        }
    }

    fn map(&mut self, m: &Mmap) {
        let build_id = m.file.as_build_id().unwrap_or_default();
        let key = (m.name.to_vec(), build_id.to_vec());
        let id = match self.by_name.get(&key) {
            Some(&id) => id,
            None => {
                let id = DsoId(self.entries.len());
                self.entries.push(load(m.name, build_id, self.sysroot.as_deref()));
                self.by_name.insert(key, id);
                id
            }
        };
        self.spaces.entry(m.pid).or_default().insert(Mapping {
            start: m.addr,
            end: m.addr.saturating_add(m.len),
            pgoff: m.pgoff,
            what: id,
        });
    }

    /// What an address of a process is.
    #[must_use]
    pub fn resolve(&self, pid: u32, addr: u64) -> Place {
        let find = |pid: &u32| self.spaces.get(pid).and_then(|s| s.find(addr));
        let Some(mapping) = find(&pid).or_else(|| find(&KERNEL_PID)) else {
            return Place { address: addr, ..Place::default() };
        };
        let dso = &self.entries[mapping.what.0].dso;
        match dso.address_of(mapping.file_offset(addr)) {
            Some(address) => Place { dso: Some(mapping.what), address, symbol: dso.find(address) },
            None => Place { dso: Some(mapping.what), address: addr, symbol: None },
        }
    }

    /// The function at a place.
    #[must_use]
    pub fn symbol(&self, place: &Place) -> Option<&Symbol> {
        self.entries[place.dso?.0].dso.symbols().get(place.symbol?)
    }

    /// Path or name of what is mapped at a place.
    #[must_use]
    pub fn dso_name(&self, place: &Place) -> Option<&str> {
        Some(&self.entries[place.dso?.0].name)
    }

    /// The last part of that path.
    #[must_use]
    pub fn dso_short_name(&self, place: &Place) -> Option<&str> {
        let name = self.dso_name(place)?;
        Some(
            name.rsplit_once('/')
                .map_or(name, |(_, last)| if last.is_empty() { name } else { last }),
        )
    }

    /// A thread's name.
    #[must_use]
    pub fn comm(&self, tid: u32) -> Option<&str> {
        self.names.get(&tid).map(String::as_str)
    }

    /// Why the symbols of files are missing, a sentence each.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|e| e.problem.as_deref())
    }

    /// The files that were mapped, with their build ids.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries.iter().map(|e| (e.name.as_str(), e.build_id.as_slice()))
    }
}

/// Whether a mapping's name is that of a file: others are `//anon`, `[heap]`, `[vdso]`.
fn is_file(name: &str) -> bool {
    name.starts_with('/') && !name.starts_with("//")
}

/// Where the file of a mapping's name is: below `sysroot` if it is there. None if the name is no
/// file's.
pub(crate) fn locate(name: &[u8], sysroot: Option<&Path>) -> Option<PathBuf> {
    let name = String::from_utf8_lossy(name);
    if !is_file(&name) {
        return None;
    }
    let below = sysroot.map(|root| root.join(name.trim_start_matches('/')));
    Some(below.filter(|p| p.exists()).unwrap_or_else(|| PathBuf::from(&*name)))
}

fn load(name: &[u8], build_id: &[u8], sysroot: Option<&Path>) -> Entry {
    let name = String::from_utf8_lossy(name).into_owned();
    let mut entry = Entry { build_id: build_id.to_vec(), dso: Dso::default(), problem: None, name };
    if !is_file(&entry.name) {
        return entry;
    }
    let below = sysroot.map(|root| root.join(entry.name.trim_start_matches('/')));
    let path = below.filter(|p| p.exists()).unwrap_or_else(|| PathBuf::from(&entry.name));
    match Dso::open(path) {
        Ok(dso) if !build_id.is_empty() && !dso.build_id().starts_with(build_id) => {
            entry.problem = Some(format!(
                "{}: it is not the file that was recorded: its build id differs",
                dso.path().display()
            ));
        }
        Ok(dso) => entry.dso = dso,
        Err(e) => entry.problem = Some(e.to_string()),
    }
    entry
}
