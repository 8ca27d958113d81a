//! Letting threads go on.

use std::convert::Infallible;
use std::ops::Range;

use gdbstub::common::{Signal as GdbSignal, Tid};
use gdbstub::target::ext::base::multithread::{
    MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume,
    MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps, MultiThreadSingleStep,
    MultiThreadSingleStepOps,
};

use super::Debuggee;
use super::debuggee::number;
use super::signals::from_gdb;
use crate::hold::{Go, Order, Pass};

impl Debuggee {
    /// A thread goes on in this way.
    fn order(&mut self, tid: Tid, go: Go, signal: Option<GdbSignal>) {
        let pass = signal.and_then(from_gdb).map_or(Pass::Nothing, Pass::Instead);
        self.orders.insert(number(tid), Order { go, pass });
    }

    /// It has stopped again, because of this thread.
    pub fn stopped(&mut self, tid: i32) {
        self.running = false;
        self.current = tid;
    }
}

impl MultiThreadResume for Debuggee {
    fn resume(&mut self) -> Result<(), Infallible> {
        let others = if self.locked { Go::Stay } else { Go::On };
        self.hold.resume(|tid| match self.orders.get(&tid) {
            Some(order) => order.clone(),
            None => Order { go: others.clone(), pass: Pass::Nothing },
        });
        self.running = true;
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.orders.clear();
        self.locked = false;
        Ok(())
    }

    fn set_resume_action_continue(
        &mut self,
        tid: Tid,
        signal: Option<GdbSignal>,
    ) -> Result<(), Infallible> {
        self.order(tid, Go::On, signal);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Debuggee {
    fn set_resume_action_step(
        &mut self,
        tid: Tid,
        signal: Option<GdbSignal>,
    ) -> Result<(), Infallible> {
        self.order(tid, Go::Step(Range::default()), signal);
        Ok(())
    }
}

impl MultiThreadRangeStepping for Debuggee {
    fn set_resume_action_range_step(
        &mut self,
        tid: Tid,
        start: u64,
        end: u64,
    ) -> Result<(), Infallible> {
        self.order(tid, Go::Step(start..end), None);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Debuggee {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.locked = true;
        Ok(())
    }
}
