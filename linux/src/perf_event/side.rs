//! The records beside samples: names, mappings, births and deaths of the threads that an event is
//! about.

use std::sync::Arc;

use axperf::perf::{AttrFlags, FileId, Mmap, Record, SampleId, Task};

use crate::mm::Vma;
use crate::observer::{Ids, MapEvent};
use crate::process::map_event;
use crate::thread::Thread;

/// `PROT_EXEC`, on Alpha as elsewhere.
const PROT_EXEC: u32 = 4;

impl Thread {
    /// Writes a record for each event that counts and has one of these flags.
    fn record(&mut self, flags: AttrFlags, record: &Record<'_>) {
        let time = self.cpu.time();
        for attached in &mut self.perf.events {
            if !attached.is_active() {
                continue;
            }
            let cpu = self.perf.cpu;
            let Some(sampler) = attached.sampler(&mut self.cpu) else { continue };
            if !sampler.attr().flags.intersects(flags) {
                continue;
            }
            let (pid, tid) = (self.ids.pid as u32, self.ids.tid as u32);
            let id = SampleId { pid, tid, time, id: 0, stream_id: 0, cpu };
            sampler.record(record, id);
        }
        self.wake_readers();
    }

    /// Whether it has events.
    pub(crate) fn has_events(&self) -> bool {
        !self.perf.events.is_empty()
    }

    /// The thread has a new name; by executing a program, if that is so.
    pub(crate) fn has_name(&mut self, name: &[u8], exec: bool) {
        self.shared.observe(|o| o.comm(self.ids, name, exec));
        if self.has_events() {
            let (pid, tid) = (self.ids.pid as u32, self.ids.tid as u32);
            self.record(AttrFlags::COMM, &Record::Comm { pid, tid, exec, name });
        }
    }

    /// Something was mapped, or has another protection.
    pub(crate) fn has_mapped(&mut self, vma: &Vma) {
        self.shared.observe_map(self.ids, vma);
        if self.has_events() {
            self.record_map(&map_event(vma));
        }
    }

    fn record_map(&mut self, map: &MapEvent) {
        let file = FileId::Inode {
            major: libc::major(map.device),
            minor: libc::minor(map.device),
            inode: map.inode,
            generation: 0,
        };
        let mmap = Mmap {
            pid: self.ids.pid as u32,
            tid: self.ids.tid as u32,
            addr: map.addr,
            len: map.len,
            pgoff: map.offset,
            file: if map.inode == 0 { FileId::NONE } else { file },
            prot: map.prot,
            flags: if map.shared { 1 } else { 2 },
            name: &map.path,
        };
        let wanted = if map.prot & PROT_EXEC != 0 { AttrFlags::MMAP } else { AttrFlags::MMAP_DATA };
        self.record(wanted, &Record::Mmap(mmap));
    }

    /// The thread made another, or a process.
    pub(crate) fn record_fork(&mut self, child: Ids) {
        if self.has_events() {
            let parent = self.ids;
            let task = self.task(child, parent);
            self.record(AttrFlags::TASK, &Record::Fork(task));
        }
    }

    /// The thread ends.
    pub(crate) fn record_exit(&mut self) {
        if self.has_events() {
            let parent = std::os::unix::process::parent_id() as i32;
            let task = self.task(self.ids, Ids { pid: parent, tid: parent });
            self.record(AttrFlags::TASK, &Record::Exit(task));
        }
    }

    fn task(&self, child: Ids, parent: Ids) -> Task {
        Task {
            pid: child.pid as u32,
            ppid: parent.pid as u32,
            tid: child.tid as u32,
            ptid: parent.tid as u32,
            time: self.cpu.time(),
        }
    }

    /// The thread executes another program: events begin that waited for it.
    pub(crate) fn exec_perf(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(arena) = &shared.perf else { return };
        super::calls::closed(self);
        self.see_events();
        let mut changed = false;
        for attached in &self.perf.events {
            let slot = arena.slot(attached.slot);
            if slot.attr().flags.contains(AttrFlags::ENABLE_ON_EXEC) && !slot.is_enabled() {
                slot.enable(true);
                changed = true;
            }
        }
        if changed {
            arena.change();
            self.see_events();
        }
    }
}
