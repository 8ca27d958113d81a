//! A guest thread: a machine, what the kernel keeps for a thread, and the loop that runs it.

use std::sync::Arc;

use axperf::{Exit, Machine, Reg};

use crate::errno::Errno;
use crate::futex;
use crate::hold::Event;
use crate::ieee;
use crate::load::Program;
use crate::mm::Space;
use crate::observer::Ids;
use crate::perf_event;
use crate::process::{Error, ExitStatus, Frozen, Running, Shared};
use crate::signal::host::{self, Mailbox, Registration};
use crate::signal::{AltStack, Info};
use crate::signo::SigSet;
use crate::syscall;
use crate::traced::Traced;
use crate::vfork;

/// The CPU of a guest thread.
pub type Cpu = Machine<Arc<Space>>;

/// CALL_PAL callsys.
const CALLSYS: u32 = 0x83;

/// Why a thread runs no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It exited: the status counts if it was the last.
    Thread(i32),
    /// The process ends.
    Process(ExitStatus),
    /// Another thread ends the process, or executes a program.
    Stopped,
}

/// A guest thread.
#[derive(Debug)]
pub(crate) struct Thread {
    pub cpu: Cpu,
    pub shared: Arc<Shared>,
    pub ids: Ids,
    pub mailbox: Arc<Mailbox>,
    /// Set while the thread is on its host thread.
    registration: Option<Registration>,
    /// Signals that are blocked.
    pub mask: SigSet,
    /// Signals that came though they are blocked: the host never blocks SIGSEGV and SIGBUS.
    pub held: Vec<Info>,
    pub stack: AltStack,
    /// Where to store 0 and wake when the thread exits; 0 for nowhere.
    pub clear_tid: u64,
    /// Head of the list of robust futexes that it holds, or 0.
    pub robust_list: u64,
    /// IEEE software control word.
    pub ieee: u64,
    /// UAC_ bits: what to do about unaligned accesses.
    pub unaligned: u32,
    /// An interrupted system call, which a signal may have made again.
    pub restart: Option<syscall::Restart>,
    pub end: Option<End>,
    /// It has run: an observer knows it.
    started: bool,
    /// A parent that waits until this one executes a program or exits.
    pub vfork: Option<vfork::Child>,
    /// Its events of perf.
    pub perf: perf_event::Own,
    /// What it is to a debugger, or who else may look at the process.
    pub traced: Option<Traced>,
}

impl Thread {
    /// The first thread of a process, on the calling host thread, without a program.
    pub fn first(shared: &Arc<Shared>) -> Result<Thread, Error> {
        let mask = SigSet::from_host(host::host_mask(None)).without(SigSet::UNBLOCKABLE);
        let mut thread = Thread::new(shared, mask)?;
        thread.arrive();
        Ok(thread)
    }

    /// A thread that isn't on a host thread yet.
    pub fn new(shared: &Arc<Shared>, mask: SigSet) -> Result<Thread, Error> {
        let cpu = Machine::new(&shared.engine, Arc::clone(&shared.space))?;
        let mailbox = Arc::new(Mailbox::new(cpu.kick()));
        Ok(Thread {
            cpu,
            shared: Arc::clone(shared),
            ids: Ids { pid: 0, tid: 0 },
            mailbox,
            registration: None,
            mask,
            held: Vec::new(),
            stack: AltStack::NONE,
            clear_tid: 0,
            robust_list: 0,
            ieee: 0,
            unaligned: 0,
            restart: None,
            end: None,
            started: false,
            vfork: None,
            perf: perf_event::Own::default(),
            traced: shared.hold.as_ref().map(Traced::new),
        })
    }

    /// Makes this the thread of the calling host thread; false if the process is ending.
    pub fn arrive(&mut self) -> bool {
        // SAFETY: no pointers.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
        self.ids = Ids { pid: std::process::id() as i32, tid };
        host::block_all();
        self.registration = Some(self.mailbox.register());
        if let Some(strace) = &self.shared.strace {
            strace.arrived();
        }
        self.enter_perf();
        self.shared.enter(tid, &self.mailbox)
    }

    /// Maps a program and goes to its start; the address space is empty.
    pub fn start_program(&mut self, program: &Program) -> Result<(), Errno> {
        let shared = Arc::clone(&self.shared);
        let start = program.map(
            &shared.space,
            shared.limits.stack(),
            shared.config.random,
            shared.engine.cpu(),
        )?;
        for &reg in Reg::ALL {
            self.cpu.set_reg(reg, 0);
        }
        self.cpu.set_reg(Reg::Pc, start.pc);
        self.cpu.set_reg(Reg::Sp, start.sp);
        self.cpu.set_reg(Reg::Fpcr, ieee::INITIAL_FPCR);
        self.cpu.clear_reservation();
        self.ieee = 0;
        self.unaligned = 0;
        self.stack = AltStack::NONE;
        self.clear_tid = 0;
        self.robust_list = 0;
        self.restart = None;
        let mut name = program.comm().to_vec();
        name.push(0);
        // SAFETY: a string with its NUL.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
        *self.shared.running.write().unwrap_or_else(|e| e.into_inner()) = Running {
            path: program.path.clone(),
            host_path: program.host_path.clone(),
            auxv: start.auxv,
            layout: start.layout,
        };
        self.exec_perf();
        self.has_name(program.comm(), true);
        let maps: Vec<_> = self.shared.space.table().iter().cloned().collect();
        for vma in &maps {
            self.has_mapped(vma);
        }
        self.shared.engine.set_precise_faults(self.traced.is_some());
        self.update_async();
        Ok(())
    }

    /// Replaces the program that runs, with no other thread left.
    pub fn take_over(&mut self, program: Program) {
        if let Some(hold) = &self.shared.hold {
            hold.set_ending(false);
        }
        futex::release_robust_list(self);
        self.end_vfork();
        self.shared.timers.delete_all();
        if let Some(info) = self.mailbox.take() {
            // A timer's signal goes with the timer.
            if !info.is_timers() {
                self.held.push(info);
            }
            host::set_mask(&self.mailbox, self.mask);
        }
        self.shared.descriptors.close_on_exec();
        self.shared.space.clear();
        let actions = {
            let mut actions = self.shared.actions();
            actions.reset();
            crate::signo::Signal::all().map(|s| (s, actions.get(s))).collect::<Vec<_>>()
        };
        for (signal, action) in actions {
            self.shared.tell_host(signal, action);
        }
        self.end = None;
        if let Err(e) = self.start_program(&program) {
            // There is no program to go back to.
            self.shared.log.say(format_args!(
                "{}: can't be mapped: {e}",
                String::from_utf8_lossy(&program.path)
            ));
            self.end = Some(End::Process(ExitStatus::Signal(crate::signo::Signal::KILL)));
        } else if let Some(traced) = &mut self.traced {
            traced.executed();
        }
    }

    /// Lets a parent that vforked go on.
    fn end_vfork(&mut self) {
        if let Some(child) = self.vfork.take() {
            child.done(&self.shared.space);
        }
    }

    /// Whether kicks can come, so that translated code must look for them.
    pub fn update_async(&mut self) {
        let shared = &self.shared;
        let handler = shared.actions().any_handler();
        self.cpu.set_async(shared.is_threaded() || shared.catches_fatal() || handler);
        // Only a handler's frame shows a register that the program won't read again, and a debugger.
        self.cpu.set_exact_exits(handler || self.traced.is_some());
    }

    /// Runs the thread until it ends. Signals are as the guest's mask has them meanwhile, and all
    /// blocked afterwards.
    pub fn run(&mut self) -> End {
        if !std::mem::replace(&mut self.started, true) {
            self.shared.observe(|o| o.thread_start(self.ids, &mut self.cpu));
        }
        host::set_mask(&self.mailbox, self.mask);
        if let Some(traced) = &self.traced {
            traced.enter(self);
        }
        let end = loop {
            if self.mailbox.take_attention() && self.shared.is_ending() {
                break End::Stopped;
            }
            self.report_step();
            self.deliver_signals();
            if self.was_held() {
                continue;
            }
            if let Some(end) = self.end.take() {
                break end;
            }
            self.see_events();
            let fuel = self.perf_fuel();
            match self.execute(fuel) {
                Exit::Pal { function: CALLSYS } => self.system_call(),
                Exit::Interrupted => {}
                Exit::Fuel => self.perf_tick(None, true),
                Exit::Watermark => {
                    let shared = Arc::clone(&self.shared);
                    shared.observe(|o| o.watermark(self.ids, &mut self.cpu));
                    self.wake_readers();
                }
                exit if self.is_breakpoint(&exit) => self.report(Event::Breakpoint),
                exit => self.trap(&exit),
            }
        };
        host::block_all();
        end
    }

    /// In a forked child: this is its one thread.
    pub fn become_child(&mut self, frozen: Frozen<'_>) {
        // SAFETY: no pointers.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
        self.ids = Ids { pid: std::process::id() as i32, tid };
        self.held.clear();
        self.vfork = None;
        self.shared.timers.forget();
        self.shared.become_child(frozen, tid, &self.mailbox);
        if let Some(hold) = &self.shared.hold {
            let traced = Traced::new(hold);
            traced.enter(self);
            self.traced = Some(traced);
            self.shared.space.forget_breakpoints();
        }
        if let Some(strace) = &self.shared.strace {
            strace.arrived();
        }
        self.fork_perf();
    }

    /// Says in the trace how the thread ended.
    pub fn trace_end(&self, status: ExitStatus) {
        if let Some(strace) = &self.shared.strace {
            strace.exited(self.ids.tid, status);
        }
    }

    /// Does what the kernel does when a thread exits, while others may go on.
    pub fn retire(&mut self) {
        futex::release_robust_list(self);
        let clear = std::mem::take(&mut self.clear_tid);
        if clear != 0 && self.shared.space.write_u32(clear, 0).is_ok() {
            futex::wake(clear, 1);
        }
    }

    /// The thread is gone; the last of its process if `process` says so.
    pub fn finish(&mut self, process: bool) {
        self.record_exit();
        self.leave_perf();
        let shared = Arc::clone(&self.shared);
        shared.observe(|o| o.thread_exit(self.ids, &mut self.cpu, process));
        self.end_vfork();
        self.registration = None;
        shared.leave(self.ids.tid);
    }
}
