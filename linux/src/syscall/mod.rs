//! System calls: the table, and how a row of it is carried out.

pub(crate) mod arg;
mod descriptor;
mod event;
mod fs;
mod futexes;
mod info;
mod ioctl;
mod ipc;
mod keys;
mod memory;
mod mount;
mod mqueue;
mod osf;
mod process;
mod signalfd;
mod signals;
mod socket;
mod stat;
mod table;
mod time;
mod vector;

use std::ffi::CString;
use std::sync::Arc;

use arg::{Arg, Data};
use axperf::Reg;

use crate::errno::Errno;
use crate::layout::TASK_SIZE;
use crate::procfs;
use crate::signal::host::NOT_BEGUN;
use crate::strace::{Outcome, Returns};
use crate::thread::{Cpu, Thread};

/// What a handler gives.
type Result<T = Ret> = std::result::Result<T, Errno>;

/// What becomes of the registers after a call that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ret {
    /// `$0` is this, `$19` is 0.
    Value(u64),
    /// The handler has set them.
    Kept,
}

impl From<u64> for Ret {
    fn from(value: u64) -> Ret {
        Ret::Value(value)
    }
}

/// EINTR, whatever the handler's flags: part of a given time is over.
const NO_RESTART: Errno = Errno(514);

/// A call that succeeds with 0.
const DONE: Result = Ok(Ret::Value(0));

/// How a call is carried out.
#[derive(Clone, Copy, Debug)]
enum How {
    /// It isn't, though Linux/alpha has it: ENOSYS, and a line in the log.
    Missing,
    /// A kernel doesn't have it either: ENOSYS.
    Absent,
    /// EPERM.
    Denied,
    /// By the host's call of this number, with the same arguments.
    Host(i64),
    /// By the host's call of this number, with AT_FDCWD before the arguments.
    HostAt(i64),
    /// By this function.
    Call(fn(&mut Thread, &[u64; 6]) -> Result),
}

/// Whether a call can block, and what a signal's handler does to it then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// It doesn't.
    Never,
    /// It is made again if the handler has SA_RESTART, else EINTR.
    Restart,
    /// EINTR.
    Interrupt,
}

/// A system call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    number: u64,
    pub name: &'static str,
    pub args: &'static [Arg],
    how: How,
    block: Block,
    /// It returns a new descriptor.
    descriptor: bool,
    pub returns: Returns,
}

impl Row {
    /// Whether it is said what its arguments are.
    pub fn shows_arguments(&self) -> bool {
        !self.args.is_empty() || !matches!(self.how, How::Missing | How::Absent | How::Denied)
    }
}

/// A call that a signal interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restart {
    number: u64,
    a3: u64,
    /// It may be made again after a handler too.
    pub with_handler: bool,
}

/// Makes a call again, which has returned to the instruction after it.
pub(crate) fn again(cpu: &mut Cpu, restart: &Restart) {
    cpu.set_reg(Reg::R0, restart.number);
    cpu.set_reg(Reg::R19, restart.a3);
    cpu.set_reg(Reg::Pc, cpu.reg(Reg::Pc).wrapping_sub(4));
}

/// Carries out the system call that the thread has made.
pub(crate) fn call(t: &mut Thread) {
    let number = t.cpu.reg(Reg::R0);
    let a3 = t.cpu.reg(Reg::R19);
    let args = [Reg::R16, Reg::R17, Reg::R18, Reg::R19, Reg::R20, Reg::R21].map(|r| t.cpu.reg(r));
    // The kernel's entry code leaves the number in both.
    t.cpu.set_reg(Reg::R1, number);
    t.cpu.set_reg(Reg::R2, number);
    let entry = t.perf_enter();
    let row = table::row(number);
    let shared = Arc::clone(&t.shared);
    let trace = shared.strace.as_ref().map(|s| (s, s.enter(t, number, row, &args)));
    let (result, block) = match row {
        Some(row) => (carry_out(t, row, &args), row.block),
        None => {
            t.shared.log.say(format_args!("system call {number} doesn't exist"));
            (Err(Errno(libc::ENOSYS)), Block::Never)
        }
    };
    let outcome = match result {
        Ok(Ret::Value(value)) => {
            t.cpu.set_reg(Reg::R0, value);
            t.cpu.set_reg(Reg::R19, 0);
            Outcome::Value(value)
        }
        Ok(Ret::Kept) if t.end.is_some() => Outcome::Gone,
        Ok(Ret::Kept) => Outcome::Value(t.cpu.reg(Reg::R0)),
        Err(NOT_BEGUN) => {
            again(&mut t.cpu, &Restart { number, a3, with_handler: true });
            Outcome::NotBegun
        }
        Err(e) => {
            let (e, with_handler) = match e {
                NO_RESTART => (Errno(libc::EINTR), false),
                e => (e, block == Block::Restart),
            };
            t.cpu.set_reg(Reg::R0, e.guest());
            t.cpu.set_reg(Reg::R19, 1);
            if e == Errno(libc::EINTR) && block != Block::Never {
                t.restart = Some(Restart { number, a3, with_handler });
                Outcome::Interrupted { with_handler }
            } else {
                Outcome::Error(e)
            }
        }
    };
    if let Some((strace, entry)) = trace {
        strace.leave(t, &entry, outcome);
    }
    if let Some(entry) = entry {
        t.perf_leave(&entry, block != Block::Never);
    }
}

fn carry_out(t: &mut Thread, row: &Row, args: &[u64; 6]) -> Result {
    for (kind, value) in row.args.iter().zip(args) {
        check(t, *kind, *value, args)?;
    }
    let result = match row.how {
        How::Missing => {
            t.shared
                .log
                .say(format_args!("system call {} ({}) isn't implemented", row.name, row.number));
            return Err(Errno(libc::ENOSYS));
        }
        How::Absent => return Err(Errno(libc::ENOSYS)),
        How::Denied => return Err(Errno(libc::EPERM)),
        How::Call(f) => f(t, args),
        How::Host(number) => by_host(t, row, number, args, 0),
        How::HostAt(number) => by_host(t, row, number, args, 1),
    }?;
    match result {
        Ret::Value(fd) if row.descriptor => Ok(t.shared.descriptors.admit(fd)?.into()),
        other => Ok(other),
    }
}

/// Checks an argument.
fn check(t: &Thread, kind: Arg, value: u64, args: &[u64; 6]) -> Result<()> {
    let data = match kind {
        Arg::Fd => return t.shared.descriptors.check(value).map(drop),
        Arg::Dir if value as i32 == libc::AT_FDCWD => return Ok(()),
        Arg::Dir => return t.shared.descriptors.check(value).map(drop),
        Arg::In(data) | Arg::Out(data) | Arg::InOut(data) => data,
        Arg::Text => Data::Bytes(1),
        Arg::Num(_) | Arg::Path | Arg::Link | Arg::HostPath => return Ok(()),
    };
    let bytes = match data {
        Data::Bytes(n) => n,
        Data::Len(i) | Data::Raw(i) | Data::Sized(i, _) => args[i],
        Data::One(of) => of.size,
        Data::Array(i, of) => args[i].saturating_mul(of.size),
    };
    is_guest(value, bytes)
}

/// Whether a range lies in the guest's address space: EFAULT if not.
fn is_guest(addr: u64, bytes: u64) -> Result<()> {
    match addr.checked_add(bytes) {
        Some(end) if end <= TASK_SIZE => Ok(()),
        _ => Err(Errno(libc::EFAULT)),
    }
}

/// Lets the host carry out a call, `shift` arguments further on.
fn by_host(t: &Thread, row: &Row, number: i64, args: &[u64; 6], shift: usize) -> Result {
    let mut paths: [Option<CString>; 2] = [None, None];
    let mut free = paths.iter_mut();
    let mut host = [0; 6];
    if shift == 1 {
        host[0] = libc::AT_FDCWD as u64;
    }
    for (i, kind) in row.args.iter().enumerate() {
        host[i + shift] = match kind {
            Arg::Path | Arg::Link | Arg::HostPath if args[i] != 0 => {
                let path = t.path(args[i], *kind)?;
                let slot = free.next().expect("no call has three paths");
                slot.insert(path).as_ptr() as u64
            }
            _ => args[i],
        };
    }
    let result =
        if row.block == Block::Never { now(number, &host) } else { t.block(number, &host) };
    Ok(result?.into())
}

/// Makes a call of the host's that doesn't block.
///
/// Its pointers are the guest's, which were checked, or point to what the caller holds.
fn now(number: i64, a: &[u64; 6]) -> Result<u64> {
    // SAFETY: see above; the kernel checks the guest's pointers itself.
    let r = unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) };
    if r == -1 { Err(Errno::last()) } else { Ok(r as u64) }
}

impl Thread {
    /// Makes a call of the host's that can block; NOT_BEGUN if a signal came first.
    ///
    /// Pointers are as for [`now`].
    fn block(&self, number: i64, args: &[u64; 6]) -> Result<u64> {
        // SAFETY: see `now`.
        unsafe { self.mailbox.syscall(number, args) }
    }

    /// The host's path for one in the guest's memory.
    fn path(&self, addr: u64, kind: Arg) -> Result<CString> {
        let path = self.shared.space.read_string(addr, libc::PATH_MAX as usize)?;
        let host = match kind {
            Arg::HostPath => path,
            _ => self.host_path(&path, !matches!(kind, Arg::Link)),
        };
        // It ends at its first NUL.
        Ok(CString::new(host).unwrap_or_default())
    }

    /// The host's path of what the guest calls `path`.
    fn host_path(&self, path: &[u8], follow: bool) -> Vec<u8> {
        if follow && self.names_own_exe(path) {
            return self.shared.running().host_path.clone();
        }
        self.shared.config.sysroot.host(path, follow)
    }

    /// Whether a path is `/proc/self/exe`, by any of its names.
    fn names_own_exe(&self, path: &[u8]) -> bool {
        matches!(procfs::find(self, path), Some((procfs::Whose::Own(_), b"exe")))
    }
}
