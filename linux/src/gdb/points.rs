//! Breakpoints and watchpoints.

use gdbstub::target::TargetResult;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};

use super::Debuggee;
use crate::watch::Watch;

/// Watchpoints at most: each is looked at for every access.
const MOST_WATCHES: usize = 64;

impl Breakpoints for Debuggee {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debuggee {
    fn add_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.shared.space.set_breakpoint(addr))
    }

    fn remove_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        self.shared.space.clear_breakpoint(addr);
        Ok(true)
    }
}

impl HwBreakpoint for Debuggee {
    fn add_hw_breakpoint(&mut self, addr: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(addr, kind)
    }

    fn remove_hw_breakpoint(&mut self, addr: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(addr, kind)
    }
}

fn watch(addr: u64, len: u64, kind: WatchKind) -> Watch {
    let (reads, writes) = match kind {
        WatchKind::Read => (true, false),
        WatchKind::Write => (false, true),
        WatchKind::ReadWrite => (true, true),
    };
    Watch { addr, len, reads, writes }
}

impl HwWatchpoint for Debuggee {
    fn add_hw_watchpoint(
        &mut self,
        addr: u64,
        len: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let watch = watch(addr, len, kind);
        if !self.watches.contains(&watch) {
            if self.watches.len() >= MOST_WATCHES {
                return Ok(false);
            }
            self.watches.push(watch);
            self.hold.set_watches(&self.watches);
        }
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        addr: u64,
        len: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let watch = watch(addr, len, kind);
        self.watches.retain(|w| *w != watch);
        self.hold.set_watches(&self.watches);
        Ok(true)
    }
}
