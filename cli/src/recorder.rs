//! Writes down what happens in the program: the observer behind `axperf record`.
//!
//! The processes that the program forks go on recording into the same file: each thread has a
//! sampler and a ring of its own, whose contents are appended in whole batches. After a fork the
//! child has copies of everything; a lock that another thread held at that moment would stay held
//! in it for ever. So nothing that a child goes on to use is behind a lock: what has locks is
//! replaced ([`Files`]).

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axperf::export::perf_data::PerfDataWriter;
use axperf::perf::{
    Attr, ChainEnd, FileId, Mmap, Record, RegAbi, Ring, SampleId, SampleType, Sampler,
    SamplerStats, Stop, Task, Unwind, UnwindRegs,
};
use axperf::unwind::{Modules, Unwinder};
use axperf::{Clock, SamplerId};
use axperf_linux::{Cpu, Ids, MapEvent, Observer};

use crate::progress::Progress;

/// The id of the first event; the others' follow. Records that are no samples carry this one.
pub const FIRST_ID: u64 = 1;

/// Bytes of a thread's ring.
const RING: usize = 1 << 20;

/// `PROT_EXEC`, on Alpha as elsewhere.
const PROT_EXEC: u32 = 4;

/// Records what it observes.
pub struct Recorder {
    writer: PerfDataWriter,
    events: Vec<Recorded>,
    /// Before this time there are no samples.
    starts_at: u64,
    files: Files,
    /// What samplers counted, told by each thread at its end, in all processes.
    totals: Ring,
    progress: Progress,
    failed: AtomicBool,
}

/// An event that is recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its attributes.
    pub attr: Attr,
    /// Which of the events leads its group: itself, without one.
    pub leader: usize,
}

/// What is known of the files that are mapped; a forked process has a new one.
struct Files {
    modules: Arc<Modules>,
    build_ids: Mutex<HashMap<PathBuf, Vec<u8>>>,
    after_fork: OnceLock<Box<Files>>,
}

impl Files {
    fn new(modules: Arc<Modules>) -> Files {
        Files { modules, build_ids: Mutex::default(), after_fork: OnceLock::new() }
    }

    /// This process's.
    fn current(&self) -> &Files {
        self.after_fork.get().map_or(self, |next| next.current())
    }
}

/// What belongs to a thread.
struct ThreadState {
    /// In the order of events.
    samplers: Vec<SamplerId>,
    ring: Arc<Ring>,
    unwinder: Arc<Mutex<Unwinder>>,
}

thread_local! {
    static THREAD: RefCell<Option<ThreadState>> = const { RefCell::new(None) };
}

/// An unwinder that its thread can still reach while a sampler has it.
struct Reachable(Arc<Mutex<Unwinder>>);

impl Unwind for Reachable {
    fn unwind(
        &mut self,
        regs: &UnwindRegs,
        read: &mut dyn FnMut(u64) -> Option<u64>,
        max: usize,
        chain: &mut Vec<u64>,
    ) -> ChainEnd {
        // Only this thread has it.
        let mut unwinder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unwinder.unwind(regs, read, max, chain)
    }
}

impl Recorder {
    /// Writes to `writer`, which has these events, from a time on.
    pub fn new(
        writer: PerfDataWriter,
        events: Vec<Recorded>,
        starts_at: u64,
    ) -> Result<Recorder, axperf::Error> {
        Ok(Recorder {
            writer,
            events,
            starts_at,
            files: Files::new(Arc::new(Modules::new())),
            totals: Ring::shared(RING)?,
            progress: Progress::new(),
            failed: AtomicBool::new(false),
        })
    }

    /// The recording is over: the file, and what the samplers of all threads counted.
    pub fn end(self) -> (PerfDataWriter, SamplerStats) {
        self.progress.end();
        let mut bytes = Vec::new();
        self.totals.drain(&mut bytes);
        (self.writer, sum(&bytes))
    }

    fn id(&self, ids: Ids) -> SampleId {
        SampleId {
            pid: ids.pid as u32,
            tid: ids.tid as u32,
            time: Clock::Host.now(0),
            id: FIRST_ID,
            stream_id: FIRST_ID,
            cpu: 0,
        }
    }

    fn write(&self, record: &Record, ids: Ids) {
        self.append(&record.to_bytes(&self.events[0].attr, &self.id(ids)));
    }

    fn append(&self, bytes: &[u8]) {
        match self.writer.append(bytes) {
            Ok(()) => self.progress.add(bytes.len()),
            Err(e) => self.fail(&e),
        }
    }

    /// Says what is wrong, once.
    fn fail(&self, error: &dyn std::fmt::Display) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            eprintln!("axperf: the recording is incomplete: {error}");
        }
    }

    /// Attaches samplers to a thread that is about to run.
    fn attach(&self, ids: Ids, cpu: &mut Cpu, unwinder: Arc<Mutex<Unwinder>>) {
        let ring = match Ring::new(RING) {
            Ok(ring) => Arc::new(ring),
            Err(e) => return self.fail(&e),
        };
        cpu.set_task(ids.pid as u32, ids.tid as u32);
        cpu.set_clock(Clock::Host);
        let mut samplers = Vec::new();
        for (i, event) in self.events.iter().enumerate() {
            let id = |i: usize| FIRST_ID + i as u64;
            let attr = event.attr.clone();
            let sampler = match Sampler::new(attr, RegAbi::Extended, id(i), Arc::clone(&ring)) {
                Ok(sampler) => sampler.in_group(id(event.leader)).starting_at(self.starts_at),
                Err(e) => return self.fail(&e),
            };
            let sampler = match event.attr.sample_type.contains(SampleType::CALLCHAIN) {
                true => sampler.with_unwinder(Box::new(Reachable(Arc::clone(&unwinder)))),
                false => sampler,
            };
            samplers.push(cpu.attach(sampler));
        }
        THREAD.set(Some(ThreadState { samplers, ring, unwinder }));
    }

    /// Writes what is in the thread's ring.
    fn drain(&self) {
        let mut batch = Vec::new();
        THREAD.with_borrow(|t| t.as_ref().map(|t| t.ring.drain(&mut batch)));
        if !batch.is_empty() {
            self.append(&batch);
        }
    }

    /// What identifies a mapped file; remembers it for unwinding.
    fn identify(&self, map: &MapEvent) -> FileId {
        let files = self.files.current();
        let path = Path::new(OsStr::from_bytes(&map.path));
        if map.device == 0 && map.inode == 0 {
            files.modules.unmap(map.addr, map.len);
            return FileId::NONE;
        }
        let inode = FileId::Inode {
            major: libc::major(map.device),
            minor: libc::minor(map.device),
            inode: map.inode,
            generation: 0,
        };
        // A file that isn't ELF has no build id and can't be unwound through.
        let Ok(module) = files.modules.map_file(path, map.addr, map.len, map.offset) else {
            return inode;
        };
        let mut known = files.build_ids.lock().unwrap_or_else(PoisonError::into_inner);
        let id = known.entry(path.to_owned()).or_insert_with(|| module.build_id().to_vec());
        if id.is_empty() { inode } else { FileId::build_id(id) }
    }
}

impl Observer for Recorder {
    fn thread_start(&self, ids: Ids, cpu: &mut Cpu) {
        let modules = Arc::clone(&self.files.current().modules);
        self.attach(ids, cpu, Arc::new(Mutex::new(Unwinder::new(modules))));
    }

    fn thread_exit(&self, ids: Ids, cpu: &mut Cpu, _: bool) {
        self.drain();
        let parent = std::os::unix::process::parent_id();
        self.write(&Record::Exit(task(ids, Ids { pid: parent as i32, tid: parent as i32 })), ids);
        for id in THREAD.take().map(|state| state.samplers).unwrap_or_default() {
            if let Some(sampler) = cpu.detach(id) {
                // Should there be no room, the totals are a little low.
                self.totals.push(&totals_record(&sampler.stats()), |_| Vec::new());
            }
        }
    }

    fn fork(&self, parent: Ids, child: Ids) {
        // A process tells of itself, before anything that it does.
        if child.pid == parent.pid {
            self.write(&Record::Fork(task(child, parent)), parent);
        }
    }

    fn forked(&self, parent: Ids, child: Ids, cpu: &mut Cpu) {
        self.write(&Record::Fork(task(child, parent)), parent);
        let Some(state) = THREAD.take() else { return };
        // The copy of the parent's ring holds what the parent writes.
        for id in state.samplers {
            drop(cpu.detach(id));
        }
        let unwinder = state.unwinder;
        let modules = unwinder.lock().unwrap_or_else(PoisonError::into_inner).after_fork();
        // Nobody else is there to have done it before.
        let _ = self.files.current().after_fork.set(Box::new(Files::new(modules)));
        self.attach(child, cpu, unwinder);
    }

    fn comm(&self, ids: Ids, name: &[u8], exec: bool) {
        if exec {
            self.files.current().modules.clear();
        }
        self.write(&Record::Comm { pid: ids.pid as u32, tid: ids.tid as u32, exec, name }, ids);
    }

    fn map(&self, ids: Ids, map: &MapEvent) {
        if map.prot & PROT_EXEC == 0 {
            self.files.current().modules.unmap(map.addr, map.len);
            return;
        }
        let mmap = Mmap {
            pid: ids.pid as u32,
            tid: ids.tid as u32,
            addr: map.addr,
            len: map.len,
            pgoff: map.offset,
            file: self.identify(map),
            prot: map.prot,
            flags: if map.shared { 1 } else { 2 },
            name: &map.path,
        };
        self.write(&Record::Mmap(mmap), ids);
    }

    fn watermark(&self, _: Ids, _: &mut Cpu) {
        self.drain();
    }
}

fn task(child: Ids, parent: Ids) -> Task {
    Task {
        pid: child.pid as u32,
        ppid: parent.pid as u32,
        tid: child.tid as u32,
        ptid: parent.tid as u32,
        time: Clock::Host.now(0),
    }
}

/// Words of a sampler's totals: a header with the size, samples, lost, chains, guessed.
const TOTALS: usize = 4 + Stop::ALL.len();

fn totals_record(stats: &SamplerStats) -> Vec<u64> {
    let mut words = vec![(TOTALS as u64 * 8) << 48, stats.samples, stats.lost, stats.guessed];
    words.extend(stats.chains);
    words
}

fn sum(records: &[u8]) -> SamplerStats {
    let mut total = SamplerStats::default();
    for record in records.chunks_exact(TOTALS * 8) {
        let mut words = record.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).skip(1);
        let mut next = || words.next().unwrap_or(0);
        total.samples += next();
        total.lost += next();
        total.guessed += next();
        for chains in &mut total.chains {
            *chains += next();
        }
    }
    total
}
