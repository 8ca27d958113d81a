//! A thread that a debugger may look at: where it stops, how it steps.

use std::sync::Arc;

use axperf::{Access, Exit, FaultKind, Reg};

use crate::hold::{Event, Go, Hold, Order, Pass};
use crate::signal::Info;
use crate::signo::Signal;
use crate::syscall;
use crate::thread::Thread;
use crate::watch::{self, Before, Watch};

/// Instructions that a thread steps, where something is watched, before it looks around.
const STRETCH: u32 = 256;

/// What a thread is to who looks at the process.
#[derive(Debug)]
pub(crate) struct Traced {
    hold: Arc<Hold>,
    go: Go,
    /// It was told to go on, and hasn't executed anything since.
    fresh: bool,
    /// A step was done that wasn't reported yet.
    stepped: bool,
    /// An access to what is watched, likewise.
    seen: Option<(u64, Access)>,
    /// A program has begun, likewise.
    executed: bool,
}

impl Traced {
    /// A thread that runs as others do.
    pub fn new(hold: &Arc<Hold>) -> Traced {
        Traced {
            hold: Arc::clone(hold),
            go: Go::On,
            fresh: true,
            stepped: false,
            seen: None,
            executed: false,
        }
    }

    /// The thread begins to run.
    pub fn enter(&self, thread: &Thread) {
        self.hold.enter(thread.ids.tid, &thread.mailbox, thread.cpu.regs());
    }

    /// It runs another program.
    pub fn executed(&mut self) {
        self.executed = true;
    }
}

impl Thread {
    /// Stops the process.
    pub(crate) fn report(&mut self, event: Event) {
        if let Some(traced) = &self.traced {
            let order = traced.hold.stop(self.ids.tid, &mut self.cpu, Some(event));
            self.obey(order);
        }
    }

    /// Waits while threads are held; whether they were.
    pub(crate) fn was_held(&mut self) -> bool {
        let Some(traced) = &self.traced else { return false };
        if !traced.hold.wanted() {
            return false;
        }
        let order = traced.hold.stop(self.ids.tid, &mut self.cpu, None);
        let held = order.is_some();
        self.obey(order);
        held
    }

    /// Goes on as it was told.
    fn obey(&mut self, order: Option<Order>) {
        let (Some(traced), Some(order)) = (&mut self.traced, order) else { return };
        traced.go = order.go;
        traced.fresh = true;
        if let Pass::Instead(signal) = order.pass {
            self.act(Info::sent(signal));
        }
    }

    /// Tells of a signal that is about to be delivered; the one that is to be delivered, if any.
    pub(crate) fn ask(&mut self, info: Info) -> Option<Info> {
        let Some(traced) = &mut self.traced else { return Some(info) };
        if info.signal == Signal::KILL {
            return Some(info);
        }
        let pc = self.cpu.reg(Reg::Pc);
        let event = Some(Event::Signal(info.signal));
        let Some(order) = traced.hold.stop(self.ids.tid, &mut self.cpu, event) else {
            return Some(info);
        };
        traced.go = order.go;
        traced.fresh = true;
        if self.cpu.reg(Reg::Pc) != pc {
            // The debugger has taken it elsewhere.
            self.restart = None;
        }
        match order.pass {
            Pass::AsItCame => Some(info),
            Pass::Nothing => None,
            Pass::Instead(signal) if signal == info.signal => Some(info),
            Pass::Instead(signal) => Some(Info::sent(signal)),
        }
    }

    /// Entering a signal's handler is a step.
    pub(crate) fn entered_handler(&mut self) {
        if let Some(traced) = &mut self.traced {
            traced.stepped = matches!(traced.go, Go::Step(_));
        }
    }

    /// Tells of a step that was done, of an access that was watched for, of a new program.
    pub(crate) fn report_step(&mut self) {
        let Some(traced) = &mut self.traced else { return };
        let stepped = std::mem::take(&mut traced.stepped);
        let pc = self.cpu.reg(Reg::Pc);
        let outside = matches!(&traced.go, Go::Step(range) if !range.contains(&pc));
        let seen = traced.seen.take().map(|(addr, access)| Event::Watch(addr, access));
        let executed = std::mem::take(&mut traced.executed).then_some(Event::Exec);
        let step = (stepped && outside).then_some(Event::Step);
        if let Some(event) = executed.or(seen).or(step)
            && self.end.is_none()
        {
            self.report(event);
        }
    }

    /// Makes the system call that the thread has come to.
    pub(crate) fn system_call(&mut self) {
        let Some(traced) = &self.traced else { return syscall::call(self) };
        let hold = Arc::clone(&traced.hold);
        let watches = hold.watches();
        let before = (!watches.is_empty()).then(|| Before::of(&watches, &self.shared.space));
        hold.call(self.ids.tid, self.cpu.regs());
        syscall::call(self);
        let order = hold.back(self.ids.tid);
        let change = before.and_then(|before| before.change(&self.shared.space));
        if let (Some(addr), Some(traced)) = (change, &mut self.traced) {
            traced.seen = Some((addr, Access::Write));
        }
        self.obey(order);
    }

    /// Whether an exit is a breakpoint.
    pub(crate) fn is_breakpoint(&self, exit: &Exit) -> bool {
        let Exit::Fault { pc, access: Access::Execute, .. } = *exit else { return false };
        self.traced.is_some() && self.shared.space.has_breakpoint(pc)
    }

    /// Executes instructions until something is to be done; if they are translated, as many as `fuel`
    /// says at most.
    pub(crate) fn execute(&mut self, fuel: u64) -> Exit {
        let Some(traced) = &mut self.traced else { return self.cpu.run(fuel) };
        let steps = matches!(traced.go, Go::Step(_));
        let watches = traced.hold.watches();
        if !steps && watches.is_empty() {
            return self.cpu.run(fuel);
        }
        // A step is done wherever it starts.
        let fresh = std::mem::take(&mut traced.fresh);
        if steps {
            traced.stepped = true;
            return self.step(&watches, fresh).unwrap_or(Exit::Interrupted);
        }
        for _ in 0..STRETCH {
            let exit = self.step(&watches, false);
            let seen = self.traced.as_ref().is_some_and(|t| t.seen.is_some());
            if exit.is_some() || seen {
                return exit.unwrap_or(Exit::Interrupted);
            }
        }
        Exit::Interrupted
    }

    /// Executes an instruction, `over` a breakpoint that is at it.
    fn step(&mut self, watches: &[Watch], over: bool) -> Option<Exit> {
        let pc = self.cpu.reg(Reg::Pc) & !3;
        self.cpu.set_reg(Reg::Pc, pc);
        let space = &self.shared.space;
        if !over && space.has_breakpoint(pc) {
            let (access, kind) = (Access::Execute, FaultKind::Protected);
            return Some(Exit::Fault { pc, addr: pc, access, kind });
        }
        let word = match space.word(pc) {
            Ok(word) => word,
            Err(f) => {
                return Some(Exit::Fault { pc, addr: f.addr, access: f.access, kind: f.kind });
            }
        };
        let Some(insn) = self.cpu.engine().cpu().decode(word) else {
            return Some(Exit::Illegal { pc, word });
        };
        let touch = watch::touch(self.cpu.regs(), &insn);
        let exit = self.cpu.step(&insn);
        if let (Some(touch), None | Some(Exit::Unaligned { .. })) = (touch, &exit)
            && let Some(watch) = watches.iter().find(|w| w.sees(&touch))
            && let Some(traced) = &mut self.traced
        {
            traced.seen = Some((touch.addr.max(watch.addr), touch.access));
        }
        exit
    }
}
