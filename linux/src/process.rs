//! A guest process: what its threads share, and its life from start to exit status.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use axperf::Engine;

use crate::config::Config;
use crate::descriptors::{self, Descriptors};
use crate::errno::Errno;
use crate::gdb::{self, GdbAddress};
use crate::hold::{self, Hold};
use crate::limits::Limits;
use crate::load::{Layout, LoadError, LoadFailure, Program};
use crate::log::Log;
use crate::mm::{Backing, Space, SpaceError, Vma};
use crate::observer::{Ids, MapEvent, Observer};
use crate::perf_event::arena::Arena;
use crate::signal::host::Mailbox;
use crate::signal::{Action, Actions, SIG_IGN, host};
use crate::signo::{DefaultAction, SigSet, Signal};
use crate::strace::Strace;
use crate::thread::{End, Thread};
use crate::timers::Timers;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(Signal),
}

impl ExitStatus {
    /// Ends this host process in the same way.
    pub fn pass_on(self) -> ! {
        match self {
            ExitStatus::Code(code) => std::process::exit(code),
            ExitStatus::Signal(signal) => host::die_by(signal),
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitStatus::Code(code) => write!(f, "exit status {code}"),
            ExitStatus::Signal(signal) => write!(f, "{signal}"),
        }
    }
}

/// Why a process can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program isn't in PATH.
    #[error("{0}: not found in PATH")]
    NotFound(String),
    /// The program can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no room for it.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] axperf::Error),
    /// A debugger can't be waited for.
    #[error("can't wait for gdb at {0}: {1}")]
    Gdb(GdbAddress, std::io::Error),
    /// The host allows too few open files.
    #[error("the hard limit of open files (ulimit -Hn) is below {needed}, which axperf needs", needed = descriptors::NEEDED)]
    OpenFiles,
    /// The host refused something.
    #[error("the host: {0}")]
    Host(Errno),
}

/// A guest process, ready to run on the calling thread.
#[derive(Debug)]
pub struct Process {
    thread: Thread,
    /// The host's signal mask before, and whether it ignored SIGPIPE, as Rust's runtime does.
    host_mask: u64,
    pipe_ignored: bool,
    /// Where debuggers connect.
    gdb: Option<gdb::Server>,
}

impl Process {
    /// Loads the program `argv[0]` (looked for in the environment's PATH, if it has no slash) into a
    /// new process. A host process has at most one.
    ///
    /// # Errors
    /// It can't be found or loaded; this host process can't hold it.
    pub fn new(
        engine: &Engine,
        argv: Vec<Vec<u8>>,
        envp: Vec<Vec<u8>>,
        config: &Config,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<Process, Error> {
        let descriptors = Descriptors::new().map_err(|e| match e.0 {
            libc::EMFILE => Error::OpenFiles,
            _ => Error::Host(e),
        })?;
        let name = argv.first().cloned().unwrap_or_default();
        let search = envp.iter().find_map(|e| e.strip_prefix(b"PATH="));
        let path = config
            .sysroot
            .find_program(&name, search)
            .ok_or_else(|| Error::NotFound(String::from_utf8_lossy(&name).into_owned()))?;
        let mut argv = argv;
        if let (Some(first), Some(own)) = (argv.first_mut(), &config.argv0) {
            first.clone_from(own);
        }
        let program = Program::open(&config.sysroot, &path, argv, envp)?;
        let space = Arc::new(Space::new(engine.clone())?);
        let gdb = config
            .gdb
            .as_ref()
            .map(|address| gdb::Server::bind(address).map_err(|e| Error::Gdb(address.clone(), e)));
        let gdb = gdb.transpose()?;
        let held = gdb.is_some() || config.core.is_some();
        let hold = held.then(|| Hold::new(gdb.is_some())).transpose();
        let hold = hold.map_err(|e| Error::Host(e.into()))?;
        let host_mask = host::host_mask(None);
        let pipe_ignored = host::is_ignored(Signal::PIPE);
        let strace = match &config.strace {
            None => None,
            Some(to) => Some(open_trace(to).map_err(|e| Error::Host(e.into()))?),
        };
        let log = Log::new(config.verbose);
        let perf = match config.guest_perf.then(Arena::new) {
            Some(Ok(arena)) => Some(arena),
            Some(Err(e)) => {
                // Under tight limits a program can do without.
                log.say(format_args!("the program has no perf_event_open: {e}"));
                None
            }
            None => None,
        };
        let shared = Arc::new(Shared {
            strace,
            perf,
            log,
            config: config.clone(),
            engine: engine.clone(),
            space,
            observer,
            hold: hold.map(Arc::new),
            descriptors,
            limits: Limits::new(config.stack, descriptors.limit() as u64),
            timers: Timers::default(),
            actions: Mutex::new(inherited_actions()),
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            running: RwLock::default(),
            forked: AtomicBool::new(false),
            leader: AtomicI32::new(0),
            unaligned: AtomicU64::new(0),
            emulated: AtomicU64::new(0),
        });
        host::install_stop();
        for signal in [Signal::SEGV, Signal::BUS] {
            host::set_disposition(signal, host::Disposition::Record);
        }
        let mut thread = Thread::first(&shared)?;
        thread.start_program(&program).map_err(|e| LoadError {
            path: String::from_utf8_lossy(&program.path).into_owned(),
            why: LoadFailure::Map(e),
        })?;
        Ok(Process { thread, host_mask, pipe_ignored, gdb })
    }

    /// Runs it until it ends. In a host process that the guest forked this doesn't return.
    pub fn run(self) -> ExitStatus {
        let shared = Arc::clone(&self.thread.shared);
        let (mask, pipe_ignored) = (self.host_mask, self.pipe_ignored);
        shared.catch_fatal_signals();
        let serving = match (self.gdb, &shared.hold) {
            (Some(server), Some(hold)) => {
                shared.log.tell(format_args!("gdb: target remote {}", server.address()));
                // A debugger that is quick finds it.
                hold.enter(self.thread.ids.tid, &self.thread.mailbox, self.thread.cpu.regs());
                let serving = server.spawn(&shared, hold);
                if let Err(e) = &serving {
                    shared.log.tell(format_args!("gdb: {e}"));
                    hold.detach();
                }
                serving.ok()
            }
            (None, _) | (_, None) => None,
        };
        let status = live(self.thread);
        if let Some(serving) = serving {
            // It has caught its panics.
            drop(serving.join());
        }
        shared.give_back_signals();
        if pipe_ignored {
            host::set_disposition(Signal::PIPE, host::Disposition::Ignore);
        }
        host::host_mask(Some(mask));
        status
    }

    /// Unaligned accesses that were fixed up.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.thread.shared
    }
}

/// A trace to a copy of this descriptor, which the guest can't close.
fn open_trace(to: &OwnedFd) -> io::Result<Strace> {
    Strace::new(descriptors::lift(to.try_clone()?)?.into())
}

/// Runs a thread, and whatever program it goes on with, on the calling host thread. Returns where
/// the first process ends; the end of any other process ends the host process.
pub(crate) fn live(mut thread: Thread) -> ExitStatus {
    loop {
        let shared = Arc::clone(&thread.shared);
        let end = thread.run();
        if let Some(hold) = &shared.hold {
            hold.leave(thread.ids.tid);
        }
        let is_leader = shared.leader.load(Ordering::Acquire) == thread.ids.tid;
        if !is_leader {
            thread.trace_end(shared.thread_status(end));
        }
        match end {
            End::Thread(_) => thread.retire(),
            End::Process(status) => shared.end(status, thread.ids.tid),
            End::Stopped => {}
        }
        if !is_leader {
            thread.finish(false);
            // A thread's host thread: nobody looks at the status.
            return ExitStatus::Code(0);
        }
        let status = match shared.wait_for_last(&thread, end) {
            Last::Exec((program, mask)) => {
                thread.mask = mask;
                thread.take_over(*program);
                continue;
            }
            Last::Ended(status) => status,
        };
        thread.trace_end(status);
        if let Some(hold) = &shared.hold {
            hold.ended(status);
        }
        thread.finish(true);
        if shared.forked.load(Ordering::Acquire) {
            drop(thread);
            match status {
                // SAFETY: ends the process, without the exit handlers of the process it was
                // forked from.
                ExitStatus::Code(code) => unsafe { libc::_exit(code) },
                ExitStatus::Signal(signal) => host::die_by(signal),
            }
        }
        return status;
    }
}

/// How the process goes on once its first thread is the last.
enum Last {
    Ended(ExitStatus),
    Exec(Handover),
}

/// What the threads of a process share.
pub struct Shared {
    pub(crate) config: Config,
    pub(crate) log: Log,
    pub(crate) strace: Option<Strace>,
    pub(crate) engine: Engine,
    pub(crate) space: Arc<Space>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// What the guest's processes share of perf; None if it has no perf.
    pub(crate) perf: Option<Arena>,
    /// Stops threads for who looks at the process, if somebody may.
    pub(crate) hold: Option<Arc<Hold>>,
    pub(crate) descriptors: Descriptors,
    pub(crate) limits: Limits,
    pub(crate) timers: Timers,
    actions: Mutex<Actions>,
    state: Mutex<State>,
    /// A thread has gone, or the process is ending.
    changed: Condvar,
    pub(crate) running: RwLock<Running>,
    /// Whether the guest made this host process by forking.
    forked: AtomicBool,
    /// The thread whose id is the process's.
    leader: AtomicI32,
    /// Unaligned accesses fixed up.
    pub(crate) unaligned: AtomicU64,
    pub(crate) emulated: AtomicU64,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("leader", &self.leader).finish_non_exhaustive()
    }
}

/// The program that runs, for `/proc/self`.
#[derive(Debug, Default)]
pub struct Running {
    /// Its path, as the guest calls it.
    pub path: Vec<u8>,
    /// Its path on the host.
    pub host_path: Vec<u8>,
    /// The auxiliary vector.
    pub auxv: Vec<u8>,
    /// Where its parts are.
    pub(crate) layout: Layout,
}

#[derive(Debug, Default)]
struct State {
    threads: HashMap<i32, Arc<Mailbox>>,
    ending: Option<Ending>,
}

/// Why all threads are to stop.
#[derive(Debug)]
enum Ending {
    Exit(ExitStatus),
    /// A thread other than the leader executes this program; the leader is to go on with it.
    Exec(Option<Handover>),
}

/// A program for the leader, and the signal mask of the thread that executes it.
type Handover = (Box<Program>, SigSet);

/// What is held still for a fork.
pub(crate) struct Frozen<'a> {
    state: MutexGuard<'a, State>,
    hold: Option<hold::Still<'a>>,
    _actions: MutexGuard<'a, Actions>,
    _running: std::sync::RwLockWriteGuard<'a, Running>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The signal actions.
    pub(crate) fn actions(&self) -> MutexGuard<'_, Actions> {
        lock(&self.actions)
    }

    /// The program that runs.
    pub(crate) fn running(&self) -> std::sync::RwLockReadGuard<'_, Running> {
        self.running.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host's threads that aren't the program's: the translator's, the debugger's.
    pub(crate) fn own_threads(&self) -> impl Iterator<Item = i32> {
        let server = self.hold.as_ref().and_then(|hold| hold.server());
        self.engine.background_thread().into_iter().chain(server)
    }

    /// Tells the observer, if there is one.
    pub(crate) fn observe(&self, f: impl FnOnce(&dyn Observer)) {
        if let Some(o) = &self.observer {
            f(&**o);
        }
    }

    /// Tells the observer of a mapping.
    pub(crate) fn observe_map(&self, ids: Ids, vma: &Vma) {
        self.observe(|o| o.map(ids, &map_event(vma)));
    }

    /// Unaligned accesses that were fixed up, by all threads.
    #[must_use]
    pub fn unaligned_accesses(&self) -> u64 {
        self.unaligned.load(Ordering::Relaxed)
    }

    /// Instructions that the CPU lacks and that were executed for it, by all threads: perf's
    /// `emulation-faults`.
    #[must_use]
    pub fn emulation_faults(&self) -> u64 {
        self.emulated.load(Ordering::Relaxed)
    }

    /// Whether the process has more than one thread.
    pub(crate) fn is_threaded(&self) -> bool {
        lock(&self.state).threads.len() > 1
    }

    /// Whether the guest made this host process.
    pub(crate) fn is_forked(&self) -> bool {
        self.forked.load(Ordering::Acquire)
    }

    /// Takes in a thread; false if the process is ending.
    pub(crate) fn enter(&self, tid: i32, mailbox: &Arc<Mailbox>) -> bool {
        let mut state = lock(&self.state);
        if state.ending.is_some() {
            return false;
        }
        if state.threads.is_empty() {
            self.leader.store(tid, Ordering::Release);
        }
        state.threads.insert(tid, Arc::clone(mailbox));
        true
    }

    /// Lets a thread go.
    pub(crate) fn leave(&self, tid: i32) {
        lock(&self.state).threads.remove(&tid);
        self.changed.notify_all();
    }

    /// What a thread that isn't the first ends with: its own status, the process's, or none if a
    /// program takes its place.
    fn thread_status(&self, end: End) -> ExitStatus {
        let state = lock(&self.state);
        match (end, &state.ending) {
            (End::Thread(code), _) => ExitStatus::Code(code),
            (End::Process(status), _) => status,
            (End::Stopped, Some(Ending::Exit(status))) => *status,
            (End::Stopped, _) => ExitStatus::Code(0),
        }
    }

    /// Ends the process with this status, if it isn't ending already.
    pub(crate) fn end(&self, status: ExitStatus, by: i32) {
        self.begin_ending(Ending::Exit(status), by);
    }

    /// Whether the calling thread is to stop.
    pub(crate) fn is_ending(&self) -> bool {
        lock(&self.state).ending.is_some()
    }

    /// Makes every other thread stop, so that the leader goes on with `program`; true if it is for
    /// the caller to go on with it. False too if the process is ending already.
    pub(crate) fn begin_exec(
        &self,
        thread: &Thread,
        program: Box<Program>,
    ) -> Option<Box<Program>> {
        let tid = thread.ids.tid;
        let is_leader = self.leader.load(Ordering::Acquire) == tid;
        let (mine, theirs) =
            if is_leader { (Some(program), None) } else { (None, Some((program, thread.mask))) };
        if !self.begin_ending(Ending::Exec(theirs), tid) {
            return None;
        }
        if is_leader {
            self.wait_until_alone(tid);
            lock(&self.state).ending = None;
        }
        mine
    }

    fn begin_ending(&self, ending: Ending, by: i32) -> bool {
        let mut state = lock(&self.state);
        let exec_may_be_overruled = matches!(ending, Ending::Exit(_));
        match &state.ending {
            Some(Ending::Exec(_)) if exec_may_be_overruled => {}
            Some(_) => return false,
            None => {}
        }
        state.ending = Some(ending);
        call_others(&state, by);
        drop(state);
        if let Some(hold) = &self.hold {
            hold.set_ending(true);
        }
        self.changed.notify_all();
        true
    }

    /// Waits until no thread but this is left, calling the others again and again: one may have
    /// been on its way into a system call.
    fn wait_until_alone(&self, tid: i32) {
        let mut state = lock(&self.state);
        while state.threads.keys().any(|t| *t != tid) {
            let waited = self.changed.wait_timeout(state, Duration::from_millis(10));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.ending.is_some() {
                call_others(&state, tid);
            }
        }
    }

    /// The leader has ended as `end` says: waits for the rest of the process.
    fn wait_for_last(&self, leader: &Thread, end: End) -> Last {
        self.wait_until_alone(leader.ids.tid);
        let ending = lock(&self.state).ending.take();
        match (ending, end) {
            (Some(Ending::Exec(Some(program))), _) => Last::Exec(program),
            (Some(Ending::Exit(status)), _) | (_, End::Process(status)) => Last::Ended(status),
            (_, End::Thread(code)) => Last::Ended(ExitStatus::Code(code)),
            // Only an ending makes a thread stop.
            (_, End::Stopped) => Last::Ended(ExitStatus::Code(0)),
        }
    }

    /// Holds still what a forked child is to find whole.
    pub(crate) fn freeze(&self) -> Frozen<'_> {
        Frozen {
            state: lock(&self.state),
            hold: self.hold.as_ref().map(|hold| hold.still()),
            _actions: self.actions(),
            _running: self.running.write().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// In a forked child: this thread is all there is.
    pub(crate) fn become_child(&self, mut frozen: Frozen<'_>, tid: i32, mailbox: &Arc<Mailbox>) {
        frozen.state.threads.clear();
        frozen.state.threads.insert(tid, Arc::clone(mailbox));
        frozen.state.ending = None;
        if let Some(hold) = frozen.hold {
            hold.become_child();
        }
        self.forked.store(true, Ordering::Release);
        self.leader.store(tid, Ordering::Release);
    }

    /// Sees to it that signals that would end the process come to the guest's threads, for an
    /// observer that wants the last word.
    pub(crate) fn catch_fatal_signals(&self) {
        if !self.catches_fatal() {
            return;
        }
        let actions = self.actions();
        for signal in Signal::all() {
            self.tell_host(signal, actions.get(signal));
        }
    }

    /// Signals are the host's again: there is no guest to have them.
    fn give_back_signals(&self) {
        let actions = self.actions();
        for signal in Signal::all().filter(|s| actions.get(*s).handler != SIG_IGN) {
            // What is still pending was for the guest; ignoring a signal discards it.
            host::set_disposition(signal, host::Disposition::Ignore);
            host::set_disposition(signal, host::Disposition::Default);
        }
    }

    /// Whether there ever was an event of perf, in any process: then counts are told at the end.
    pub(crate) fn has_perf_events(&self) -> bool {
        self.perf.as_ref().is_some_and(Arena::is_used)
    }

    /// Whether signals that end the process are to come to the guest's threads.
    pub(crate) fn catches_fatal(&self) -> bool {
        self.hold.is_some()
            || self.strace.is_some()
            || self.has_perf_events()
            || self.observer.as_ref().is_some_and(|o| o.wants_last_word())
    }

    /// Tells the host what a signal's action is.
    pub(crate) fn tell_host(&self, signal: Signal, action: Action) {
        let ends = signal.ends();
        // The host would stop the thread that tells the debugger, too.
        let stops = signal.default_action() == DefaultAction::Stop && self.config.gdb.is_some();
        let disposition = match action.handler {
            0 if stops || ends && self.catches_fatal() => host::Disposition::Record,
            0 => host::Disposition::Default,
            SIG_IGN => host::Disposition::Ignore,
            _ => host::Disposition::Record,
        };
        host::set_disposition(signal, disposition);
    }
}

fn call_others(state: &State, by: i32) {
    for (tid, mailbox) in state.threads.iter().filter(|(tid, _)| **tid != by) {
        mailbox.call(*tid);
    }
}

/// The actions that this process inherited: what is ignored stays so.
fn inherited_actions() -> Actions {
    let mut actions = Actions::default();
    for signal in Signal::all().filter(|s| host::is_ignored(*s)) {
        // Rust's runtime ignores SIGPIPE; a guest starts with the default.
        if signal == Signal::PIPE {
            host::set_disposition(signal, host::Disposition::Default);
        } else {
            actions.set(signal, Action { handler: SIG_IGN, ..Action::default() });
        }
    }
    actions
}

/// A mapping, as an observer is told of it.
pub(crate) fn map_event(vma: &Vma) -> MapEvent {
    let (path, offset, device, inode) = match &vma.backing {
        Backing::Anonymous => (b"//anon".to_vec(), 0, 0, 0),
        Backing::Named(name) => (name.as_bytes().to_vec(), 0, 0, 0),
        Backing::Shm(id, offset) => (format!("/SYSV{id:08x}").into_bytes(), *offset, 0, 0),
        Backing::File(file, offset) => (file.path.clone(), *offset, file.device, file.inode),
    };
    MapEvent {
        addr: vma.start,
        len: vma.end - vma.start,
        offset,
        device,
        inode,
        prot: vma.prot.bits(),
        shared: vma.shared,
        path,
    }
}
