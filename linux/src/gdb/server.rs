//! The thread that debuggers connect to.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use gdbstub::common::Signal as GdbSignal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStubBuilder, MultiThreadStopReason};
use gdbstub::target::ext::breakpoints::WatchKind;

use super::Debuggee;
use super::debuggee::tid;
use super::signals::to_gdb;
use super::wire::{GdbAddress, Listener, Wire};
use crate::hold::{Event, Hold};
use crate::process::{ExitStatus, Shared};
use crate::signal::host;
use crate::signo::Signal;

/// Bytes of the longest packet: files are read in such pieces.
const PACKET: usize = 64 << 10;

type StopReason = MultiThreadStopReason<u64>;

/// Waits for debuggers, one after the other.
#[derive(Debug)]
pub(crate) struct Server {
    listener: Listener,
}

/// How a session ended.
enum Outcome {
    /// The program goes on without a debugger.
    Detached,
    Killed,
    /// The debugger knows that the process has ended.
    Told,
}

impl Server {
    /// Listens; nobody is served yet.
    pub fn bind(address: &GdbAddress) -> io::Result<Server> {
        Ok(Server { listener: Listener::bind(address)? })
    }

    /// Where it listens.
    pub fn address(&self) -> &GdbAddress {
        self.listener.address()
    }

    /// Serves on a thread of its own, until the process ends.
    pub fn spawn(self, shared: &Arc<Shared>, hold: &Arc<Hold>) -> io::Result<JoinHandle<()>> {
        let (shared, hold) = (Arc::clone(shared), Arc::clone(hold));
        // It takes none of the guest's signals.
        let mask = host::block_all();
        let thread = std::thread::Builder::new()
            .name("axperf-gdb".into())
            .spawn(move || self.serve(&shared, &hold));
        host::host_mask(Some(mask));
        thread
    }

    fn serve(&self, shared: &Arc<Shared>, hold: &Arc<Hold>) {
        hold.serve();
        hold.own(0, Some(self.listener.as_fd()));
        while hold.end().is_none() {
            if let Some(wire) = self.next(hold) {
                hold.own(1, Some(wire.as_fd()));
                hold.stop_all();
                let session = catch_unwind(AssertUnwindSafe(|| session(wire, shared, hold)));
                let outcome = match session {
                    Ok(Ok(outcome)) => outcome,
                    Ok(Err(why)) => {
                        shared.log.tell(format_args!("gdb: {why}: the program goes on without it"));
                        Outcome::Detached
                    }
                    Err(_) => {
                        shared.log.tell(format_args!("gdb: the session failed"));
                        Outcome::Detached
                    }
                };
                hold.own(1, None);
                shared.space.clear_breakpoints();
                match outcome {
                    Outcome::Detached => hold.detach(),
                    Outcome::Told => hold.told(),
                    Outcome::Killed => {
                        // Nobody is to hear of it any more.
                        hold.told();
                        shared.end(ExitStatus::Signal(Signal::KILL), 0);
                    }
                }
            }
        }
        hold.told();
        hold.own(0, None);
    }

    /// The next debugger; None if there is something else to look at.
    fn next(&self, hold: &Hold) -> Option<Wire> {
        let [called, _] = ready([self.listener.as_fd(), hold.bell()]);
        hold.heard();
        // One that came and went is nobody's error.
        if called { self.listener.accept().ok() } else { None }
    }
}

/// Waits until one of two descriptors is readable; which are.
fn ready(fds: [BorrowedFd<'_>; 2]) -> [bool; 2] {
    let poll =
        |fd: BorrowedFd<'_>| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut fds = fds.map(poll);
    // SAFETY: two structures, which outlive the call. Interrupted, none is ready.
    let n = unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
    fds.map(|fd| n > 0 && fd.revents != 0)
}

/// Serves a debugger; all threads are still at first.
fn session(wire: Wire, shared: &Arc<Shared>, hold: &Arc<Hold>) -> Result<Outcome, String> {
    let mut target = Debuggee::new(shared, hold);
    let stub =
        GdbStubBuilder::new(wire).packet_buffer_size(PACKET).build().map_err(|e| e.to_string())?;
    let mut machine = stub.run_state_machine(&mut target).map_err(|e| e.to_string())?;
    let mut bytes = [0; 4096];
    let (mut at, mut have) = (0, 0);
    loop {
        machine = match machine {
            GdbStubStateMachine::Disconnected(end) => {
                return Ok(match end.get_reason() {
                    DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_) => {
                        Outcome::Told
                    }
                    DisconnectReason::Kill => Outcome::Killed,
                    DisconnectReason::Disconnect => Outcome::Detached,
                });
            }
            GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                // While it is still there is nothing to interrupt.
                let reason = target.running.then(|| interrupted(&mut target));
                interrupt.interrupt_handled(&mut target, reason).map_err(|e| e.to_string())?
            }
            GdbStubStateMachine::Idle(mut idle) => {
                if at == have {
                    let [came, _] = ready([idle.borrow_conn().as_fd(), hold.bell()]);
                    hold.heard();
                    if came {
                        (at, have) = (0, read(idle.borrow_conn(), &mut bytes)?);
                    }
                    idle.into()
                } else {
                    at += 1;
                    idle.incoming_data(&mut target, bytes[at - 1]).map_err(|e| e.to_string())?
                }
            }
            GdbStubStateMachine::Running(mut running) => {
                if let Some(reason) = happened(&mut target) {
                    running.report_stop(&mut target, reason).map_err(|e| e.to_string())?
                } else if at == have {
                    let [came, _] = ready([running.borrow_conn().as_fd(), hold.bell()]);
                    hold.heard();
                    if came {
                        (at, have) = (0, read(running.borrow_conn(), &mut bytes)?);
                    }
                    running.into()
                } else {
                    at += 1;
                    running.incoming_data(&mut target, bytes[at - 1]).map_err(|e| e.to_string())?
                }
            }
        };
    }
}

fn read(wire: &mut Wire, bytes: &mut [u8]) -> Result<usize, String> {
    match wire.read(bytes) {
        Ok(0) => Err("the debugger has gone".into()),
        Ok(n) => Ok(n),
        Err(e) => Err(e.to_string()),
    }
}

fn signal(thread: i32, signal: GdbSignal) -> StopReason {
    MultiThreadStopReason::SignalWithThread { tid: tid(thread), signal }
}

/// Stops the process for the debugger. What a thread stopped it for meanwhile comes first, or it
/// would be lost.
fn interrupted(target: &mut Debuggee) -> StopReason {
    target.hold.stop_all();
    if let Some(reason) = happened(target) {
        return reason;
    }
    let threads = target.hold.threads();
    let current = Some(target.current).filter(|tid| threads.contains(tid));
    let tid = current.or(threads.first().copied()).unwrap_or(target.current);
    target.stopped(tid);
    signal(tid, GdbSignal::SIGINT)
}

/// What has stopped the process, if something has.
fn happened(target: &mut Debuggee) -> Option<StopReason> {
    if let Some(status) = target.hold.end() {
        return Some(match status {
            ExitStatus::Code(code) => MultiThreadStopReason::Exited(code as u8),
            ExitStatus::Signal(signal) => MultiThreadStopReason::Terminated(to_gdb(signal)),
        });
    }
    let (thread, event) = target.hold.event()?;
    target.stopped(thread);
    Some(match event {
        Event::Breakpoint => MultiThreadStopReason::SwBreak(tid(thread)),
        Event::Step | Event::Exec => signal(thread, GdbSignal::SIGTRAP),
        Event::Signal(s) => signal(thread, to_gdb(s)),
        Event::Alone => signal(thread, GdbSignal::SIGZERO),
        Event::Watch(addr, access) => MultiThreadStopReason::Watch {
            tid: tid(thread),
            kind: match access {
                axperf::Access::Read | axperf::Access::Execute => WatchKind::Read,
                axperf::Access::Write => WatchKind::Write,
            },
            addr,
        },
    })
}
