//! What an observer is told of a process: what perf's kernel side would record.

use crate::thread::Cpu;

/// A process and one of its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ids {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
}

/// A mapping that was made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEvent {
    /// Its address.
    pub addr: u64,
    /// Its length.
    pub len: u64,
    /// Its offset in the file, in bytes.
    pub offset: u64,
    /// The file's device, as `st_dev` has it; 0 without a file.
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
    /// PROT_ bits.
    pub prot: u32,
    /// Whether it is shared.
    pub shared: bool,
    /// The file's path on the host; `//anon`, `[heap]` or `[stack]` without one.
    pub path: Vec<u8>,
}

/// Told what happens in a process and its children.
///
/// Calls come on the thread that they are about (but for `fork`, on the parent's), between two of
/// its instructions. A forked child has its own copy of the observer, in its own process.
pub trait Observer: Send + Sync {
    /// A thread is about to run its first instruction: samplers can be attached.
    fn thread_start(&self, ids: Ids, cpu: &mut Cpu) {
        let _ = (ids, cpu);
    }

    /// A thread has run its last instruction. It is the last of the process if `process` says so.
    fn thread_exit(&self, ids: Ids, cpu: &mut Cpu, process: bool) {
        let _ = (ids, cpu, process);
    }

    /// A thread or process was made.
    fn fork(&self, parent: Ids, child: Ids) {
        let _ = (parent, child);
    }

    /// This process is the new one that `parent` made; its thread goes on with what `cpu` is.
    fn forked(&self, parent: Ids, child: Ids, cpu: &mut Cpu) {
        let _ = (parent, child, cpu);
    }

    /// A thread has a new name; by exec if that is so. Mappings follow an exec.
    fn comm(&self, ids: Ids, name: &[u8], exec: bool) {
        let _ = (ids, name, exec);
    }

    /// Something was mapped, or has another protection.
    fn map(&self, ids: Ids, map: &MapEvent) {
        let _ = (ids, map);
    }

    /// The machine came back with [`Exit::Watermark`](axperf::Exit::Watermark).
    fn watermark(&self, ids: Ids, cpu: &mut Cpu) {
        let _ = (ids, cpu);
    }

    /// Whether signals that would end the process without a word are to be caught, so that
    /// `thread_exit` is called. The guest's code polls then.
    fn wants_last_word(&self) -> bool {
        true
    }
}
