//! The process itself: its number, killing it. Programs aren't started and not attached to.

use std::convert::Infallible;

use gdbstub::common::Pid;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::extended_mode::{
    Args, AttachKind, CurrentActivePid, CurrentActivePidOps, ExtendedMode, ShouldTerminate,
};

use super::Debuggee;
use super::debuggee::errno;

impl ExtendedMode for Debuggee {
    fn run(&mut self, _: Option<&[u8]>, _: Args<'_, '_>) -> TargetResult<Pid, Self> {
        Err(errno(libc::EPERM))
    }

    fn attach(&mut self, _: Pid) -> TargetResult<(), Self> {
        Err(errno(libc::EPERM))
    }

    fn query_if_attached(&mut self, _: Pid) -> TargetResult<AttachKind, Self> {
        // A debugger that quits is to end the program, as one that has started it.
        Ok(AttachKind::Run)
    }

    fn kill(&mut self, _: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        Ok(ShouldTerminate::Yes)
    }

    fn restart(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn support_current_active_pid(&mut self) -> Option<CurrentActivePidOps<'_, Self>> {
        Some(self)
    }
}

impl CurrentActivePid for Debuggee {
    fn current_active_pid(&mut self) -> Result<Pid, Infallible> {
        Ok(Pid::new(std::process::id() as usize).unwrap_or(Pid::MIN))
    }
}
