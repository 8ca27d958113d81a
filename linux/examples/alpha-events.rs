//! Runs an Alpha program and says on stderr what an observer is told of it.

use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use axperf::Engine;
use axperf_linux::{Config, Cpu, Ids, MapEvent, Observer, Process};

/// Says everything.
struct Events;

/// A line on stderr; nobody may be there to read it.
macro_rules! say {
    ($($arg:tt)*) => { drop(writeln!(std::io::stderr(), $($arg)*)) };
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

impl Observer for Events {
    fn thread_start(&self, ids: Ids, _: &mut Cpu) {
        say!("start {}/{}", ids.pid, ids.tid);
    }

    fn thread_exit(&self, ids: Ids, cpu: &mut Cpu, process: bool) {
        let counted = cpu.icount().map_or("uncounted".into(), |n| n.to_string());
        say!("exit {}/{} last {process} instructions {counted}", ids.pid, ids.tid);
    }

    fn fork(&self, parent: Ids, child: Ids) {
        say!("fork {}/{} -> {}/{}", parent.pid, parent.tid, child.pid, child.tid);
    }

    fn forked(&self, parent: Ids, child: Ids, _: &mut Cpu) {
        say!("forked {} from {}", child.pid, parent.pid);
    }

    fn comm(&self, ids: Ids, name: &[u8], exec: bool) {
        say!("comm {}/{} {} exec {exec}", ids.pid, ids.tid, text(name));
    }

    fn map(&self, ids: Ids, m: &MapEvent) {
        let (addr, len, offset, prot) = (m.addr, m.len, m.offset, m.prot);
        say!("map {} {addr:#x}+{len:#x}@{offset:#x} prot {prot} {}", ids.pid, text(&m.path));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let env = std::env::vars_os()
        .map(|(name, value)| [name.into_vec(), value.into_vec()].join(&b'='))
        .collect();
    let engine = Engine::new(&axperf::Config::new())?;
    let process = Process::new(&engine, args, env, &Config::new(), Some(Arc::new(Events)))?;
    let status = process.run();
    say!("ended: {status}");
    status.pass_on()
}
