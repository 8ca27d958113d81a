//! What a debugger can look at and change: threads, registers, memory.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::sync::Arc;

use axperf::Bus;
use gdbstub::common::Tid;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{MultiThreadBase, MultiThreadResumeOps};
use gdbstub::target::ext::base::single_register_access::{
    SingleRegisterAccess, SingleRegisterAccessOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::ext::{auxv, breakpoints, exec_file, extended_mode, host_io};
use gdbstub::target::{Target, TargetError, TargetResult};

use super::registers::{Alpha, GdbRegister, GdbRegisters};
use crate::hold::{Hold, Order};
use crate::process::Shared;
use crate::watch::Watch;

/// The process, as the protocol sees it.
#[derive(Debug)]
pub(crate) struct Debuggee {
    pub shared: Arc<Shared>,
    pub hold: Arc<Hold>,
    /// The thread that stopped the process.
    pub current: i32,
    /// It runs, as far as the debugger knows.
    pub running: bool,
    /// How the threads are to go on that the debugger named, and whether the others stay.
    pub orders: BTreeMap<i32, Order>,
    pub locked: bool,
    pub watches: Vec<Watch>,
    /// Files that the debugger has opened.
    pub files: BTreeMap<u32, File>,
}

/// errno values of the protocol's error replies: the host's, which gdb shows as numbers.
pub(super) fn errno<E>(number: i32) -> TargetError<E> {
    TargetError::Errno(number as u8)
}

/// A thread as the protocol has it: there is none with the number 0.
pub(super) fn tid(tid: i32) -> Tid {
    Tid::new(tid as usize).unwrap_or(Tid::MIN)
}

/// The number of a thread of the protocol's; -1, which is none, for one that is too high.
pub(super) fn number(tid: Tid) -> i32 {
    i32::try_from(tid.get()).unwrap_or(-1)
}

/// The part of `data` that a reply is to have: as much of it as fits into `buf`.
pub(super) fn part(data: &[u8], offset: u64, length: usize, buf: &mut [u8]) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
    let n = (data.len() - start).min(length).min(buf.len());
    buf[..n].copy_from_slice(&data[start..start + n]);
    n
}

impl Debuggee {
    /// A process whose threads are still, with a debugger that knows nothing of it yet.
    pub fn new(shared: &Arc<Shared>, hold: &Arc<Hold>) -> Debuggee {
        Debuggee {
            shared: Arc::clone(shared),
            hold: Arc::clone(hold),
            current: hold.threads().first().copied().unwrap_or(1),
            running: false,
            orders: BTreeMap::new(),
            locked: false,
            watches: Vec::new(),
            files: BTreeMap::new(),
        }
    }
}

impl Target for Debuggee {
    type Arch = Alpha;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Alpha, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn use_fork_stop_reason(&self) -> bool {
        false
    }

    fn use_vfork_stop_reason(&self) -> bool {
        false
    }

    fn use_vforkdone_stop_reason(&self) -> bool {
        false
    }

    fn support_breakpoints(&mut self) -> Option<breakpoints::BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_extended_mode(&mut self) -> Option<extended_mode::ExtendedModeOps<'_, Self>> {
        Some(self)
    }

    fn support_host_io(&mut self) -> Option<host_io::HostIoOps<'_, Self>> {
        Some(self)
    }

    fn support_exec_file(&mut self) -> Option<exec_file::ExecFileOps<'_, Self>> {
        Some(self)
    }

    fn support_auxv(&mut self) -> Option<auxv::AuxvOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debuggee {
    fn read_registers(&mut self, regs: &mut GdbRegisters, tid: Tid) -> TargetResult<(), Self> {
        regs.0 = self.hold.regs(number(tid)).ok_or(errno(libc::ESRCH))?;
        Ok(())
    }

    fn write_registers(&mut self, regs: &GdbRegisters, tid: Tid) -> TargetResult<(), Self> {
        if self.hold.set_regs(number(tid), &regs.0) { Ok(()) } else { Err(errno(libc::ESRCH)) }
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, addr: u64, data: &mut [u8], _: Tid) -> TargetResult<usize, Self> {
        match self.shared.space.read(addr, data) {
            Ok(()) => Ok(data.len()),
            Err(fault) => match fault.addr.wrapping_sub(addr) as usize {
                0 => Err(errno(libc::EFAULT)),
                n => Ok(n.min(data.len())),
            },
        }
    }

    fn write_addrs(&mut self, addr: u64, data: &[u8], _: Tid) -> TargetResult<(), Self> {
        self.shared.space.poke(addr, data).map_err(|e| errno(e.0))
    }

    fn list_active_threads(&mut self, found: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        // The debugger takes the first for the one that stopped.
        let threads = self.hold.threads();
        if threads.contains(&self.current) {
            found(tid(self.current));
        }
        threads.into_iter().filter(|t| *t != self.current).for_each(|t| found(tid(t)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Debuggee {
    fn read_register(
        &mut self,
        tid: Tid,
        reg: GdbRegister,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let regs = self.hold.regs(number(tid)).ok_or(errno(libc::ESRCH))?;
        let value = reg.0.map_or(0, |reg| regs.get(reg));
        Ok(part(&value.to_le_bytes(), 0, buf.len(), buf))
    }

    fn write_register(
        &mut self,
        tid: Tid,
        reg: GdbRegister,
        value: &[u8],
    ) -> TargetResult<(), Self> {
        let value = value.try_into().map_err(|_| errno(libc::EINVAL))?;
        let Some(reg) = reg.0 else { return Ok(()) };
        let mut regs = self.hold.regs(number(tid)).ok_or(errno(libc::ESRCH))?;
        regs.set(reg, u64::from_le_bytes(value));
        self.write_registers(&GdbRegisters(regs), tid)
    }
}

impl ThreadExtraInfo for Debuggee {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Infallible> {
        // A thread that has gone has no name.
        let name = std::fs::read(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        Ok(part(name.trim_ascii_end(), 0, buf.len(), buf))
    }
}
