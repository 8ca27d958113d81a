//! Processes and threads: making, replacing, waiting for, ending; ids and limits.

use std::ffi::CString;
use std::sync::{Arc, mpsc};

use axperf::Reg;

use super::{DONE, Result, Ret, is_guest, now, time};
use crate::bytes::Bytes;
use crate::elf::ElfError;
use crate::errno::Errno;
use crate::limits::{self, Limit, Resource};
use crate::load::{LoadFailure, Program};
use crate::observer::Ids;
use crate::process::{ExitStatus, live};
use crate::signal::host;
use crate::signo::Signal;
use crate::thread::{End, Thread};
use crate::vfork;

pub(super) fn exit(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.end = Some(End::Thread(a[0] as i32 & 0xff));
    Ok(Ret::Kept)
}

pub(super) fn exit_group(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.end = Some(End::Process(ExitStatus::Code(a[0] as i32 & 0xff)));
    Ok(Ret::Kept)
}

/// Puts a second result in `$20`.
fn two(t: &mut Thread, first: i64, second: i64) -> Result {
    let (first, second) = (now(first, &[0; 6])?, now(second, &[0; 6])?);
    t.cpu.set_reg(Reg::R20, second);
    Ok(first.into())
}

pub(super) fn getxpid(t: &mut Thread, _: &[u64; 6]) -> Result {
    two(t, libc::SYS_getpid, libc::SYS_getppid)
}

pub(super) fn getxuid(t: &mut Thread, _: &[u64; 6]) -> Result {
    two(t, libc::SYS_getuid, libc::SYS_geteuid)
}

pub(super) fn getxgid(t: &mut Thread, _: &[u64; 6]) -> Result {
    two(t, libc::SYS_getgid, libc::SYS_getegid)
}

/// The priority itself: Linux's own call gives 20 less it.
pub(super) fn getpriority(_: &mut Thread, a: &[u64; 6]) -> Result {
    let biased = now(libc::SYS_getpriority, &[a[0], a[1], 0, 0, 0, 0])?;
    Ok(20u64.wrapping_sub(biased).into())
}

/// clone's flags, the same everywhere.
mod flag {
    pub const SIGNAL: u64 = 0xff;
    pub const VM: u64 = libc::CLONE_VM as u64;
    pub const SIGHAND: u64 = libc::CLONE_SIGHAND as u64;
    pub const VFORK: u64 = libc::CLONE_VFORK as u64;
    pub const THREAD: u64 = libc::CLONE_THREAD as u64;
    pub const SETTLS: u64 = libc::CLONE_SETTLS as u64;
    pub const PARENT_SETTID: u64 = libc::CLONE_PARENT_SETTID as u64;
    pub const CHILD_CLEARTID: u64 = libc::CLONE_CHILD_CLEARTID as u64;
    pub const CHILD_SETTID: u64 = libc::CLONE_CHILD_SETTID as u64;
    /// What a thread shares with its process here: all that Linux can share.
    pub const SHARED: u64 = VM | SIGHAND | libc::CLONE_FS as u64 | libc::CLONE_FILES as u64;
    /// What else a thread may be made with.
    pub const THREAD_EXTRA: u64 = libc::CLONE_SYSVSEM as u64
        | SETTLS
        | PARENT_SETTID
        | CHILD_CLEARTID
        | CHILD_SETTID
        | libc::CLONE_DETACHED as u64
        | SIGNAL;
    /// What a process may be made with.
    pub const PROCESS: u64 =
        SIGNAL | VM | VFORK | SETTLS | PARENT_SETTID | CHILD_CLEARTID | CHILD_SETTID;
}

pub(super) fn fork(t: &mut Thread, _: &[u64; 6]) -> Result {
    new_process(t, u64::from(Signal::CHLD.number()), &[0; 6])
}

pub(super) fn vfork(t: &mut Thread, _: &[u64; 6]) -> Result {
    new_process(t, flag::VM | flag::VFORK | u64::from(Signal::CHLD.number()), &[0; 6])
}

/// clone(flags, stack, parent_tid, child_tid, tls).
pub(super) fn clone(t: &mut Thread, a: &[u64; 6]) -> Result {
    let flags = a[0];
    if flags & flag::THREAD != 0 {
        let extra = flags & !(flag::THREAD | flag::SHARED | flag::THREAD_EXTRA);
        if flags & flag::SHARED != flag::SHARED || extra != 0 {
            return unsupported(t, flags);
        }
        return new_thread(t, flags, a);
    }
    // Memory is shared only with a parent that waits: the child gets a copy then.
    if flags & !flag::PROCESS != 0 || (flags & flag::VM != 0 && flags & flag::VFORK == 0) {
        return unsupported(t, flags);
    }
    new_process(t, flags, a)
}

fn unsupported(t: &Thread, flags: u64) -> Result {
    t.shared.log.say(format_args!("clone with flags {flags:#x} isn't implemented"));
    Err(Errno(libc::EINVAL))
}

/// The registers with which a child starts.
fn child_regs(t: &Thread, flags: u64, a: &[u64; 6]) -> axperf::Regs {
    let mut regs = t.cpu.regs().clone();
    regs.set(Reg::R0, 0);
    regs.set(Reg::R19, 0);
    // OSF/1 tells parent and child apart by this.
    regs.set(Reg::R20, 1);
    if a[1] != 0 {
        regs.set(Reg::Sp, a[1]);
    }
    if flags & flag::SETTLS != 0 {
        regs.set(Reg::Unique, a[4]);
    }
    regs
}

fn new_thread(t: &mut Thread, flags: u64, a: &[u64; 6]) -> Result {
    let again = Errno(libc::EAGAIN);
    let mut child = Thread::new(&t.shared, t.mask).map_err(|_| again)?;
    child.cpu.set_regs(&child_regs(t, flags, a));
    child.ieee = t.ieee;
    child.unaligned = t.unaligned;
    if flags & flag::CHILD_CLEARTID != 0 {
        child.clear_tid = a[3];
    }
    let (parent_tid, child_tid) = (a[2], a[3]);
    let parent = t.ids;
    let (arrived, arrival) = mpsc::channel();
    child.perf = t.perf.for_child(t.shared.perf.as_ref(), true);
    // The new host thread starts with every signal blocked, until it can take one.
    let mask = host::block_all();
    let spawned = std::thread::Builder::new().spawn(move || {
        let _whole = WholeProcess;
        let alive = child.arrive();
        let shared = Arc::clone(&child.shared);
        // Both before either goes on. A bad address is nobody's error, as in the kernel.
        if flags & flag::PARENT_SETTID != 0 {
            let _ = shared.space.write_u32(parent_tid, child.ids.tid as u32);
        }
        if flags & flag::CHILD_SETTID != 0 {
            let _ = shared.space.write_u32(child_tid, child.ids.tid as u32);
        }
        shared.observe(|o| o.fork(parent, child.ids));
        child.update_async();
        if arrived.send(child.ids.tid).is_ok() && alive {
            live(child);
        }
    });
    let tid = spawned.ok().and_then(|_| arrival.recv().ok());
    if let Some(tid) = tid {
        t.record_fork(Ids { pid: parent.pid, tid });
    }
    host::host_mask(Some(mask));
    t.update_async();
    t.cpu.set_reg(Reg::R20, 0);
    tid.map(|tid| Ret::from(tid as u64)).ok_or(again)
}

/// A panic on a guest's thread is the end of the process: the other threads would wait for it.
struct WholeProcess;

impl Drop for WholeProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

fn new_process(t: &mut Thread, flags: u64, a: &[u64; 6]) -> Result {
    let exit_signal = flags & flag::SIGNAL;
    if exit_signal != 0 && exit_signal != u64::from(Signal::CHLD.number()) {
        return unsupported(t, flags);
    }
    let regs = child_regs(t, flags, a);
    let sp = t.cpu.reg(Reg::Sp);
    let wait =
        if flags & flag::VFORK != 0 { Some(vfork::prepare(&t.shared.space, sp)?) } else { None };
    let parent = t.ids;
    let shared = Arc::clone(&t.shared);
    let mask = host::block_all();
    if t.mailbox.is_pending() {
        // It is the parent's, not the child's.
        return Err(host::NOT_BEGUN);
    }
    let pid = {
        let engine = shared.engine.prepare_fork();
        let frozen = shared.freeze();
        let space = shared.space.freeze();
        // SAFETY: the locks that a child could find held are held by this thread, which lives on
        // in it: ours and the engine's above, the allocator's by libc.
        let pid = unsafe { libc::fork() };
        drop(space);
        if pid == 0 {
            t.become_child(frozen);
            if let Err(e) = engine.in_child() {
                shared.log.say(format_args!("fork: {e}"));
                host::die_by(Signal::KILL);
            }
        }
        pid
    };
    if pid < 0 {
        let e = Errno::last();
        host::host_mask(Some(mask));
        return Err(e);
    }
    if pid == 0 {
        t.vfork = wait.map(|(_, child)| child);
        t.cpu.set_regs(&regs);
        if flags & flag::CHILD_SETTID != 0 {
            let _ = shared.space.write_u32(a[3], t.ids.tid as u32);
        }
        t.clear_tid = if flags & flag::CHILD_CLEARTID != 0 { a[3] } else { 0 };
        shared.observe(|o| o.forked(parent, t.ids, &mut t.cpu));
        host::set_mask(&t.mailbox, t.mask);
        return Ok(Ret::Kept);
    }
    if let Some(arena) = &shared.perf {
        // Before the parent can ask for an event on it.
        arena.enter(pid, pid);
    }
    host::host_mask(Some(mask));
    if flags & flag::PARENT_SETTID != 0 {
        let _ = shared.space.write_u32(a[2], pid as u32);
    }
    shared.observe(|o| o.fork(parent, Ids { pid, tid: pid }));
    t.record_fork(Ids { pid, tid: pid });
    if let Some((parent, child)) = wait {
        drop(child);
        parent.wait(&shared.space, || shared.is_ending());
    }
    t.cpu.set_reg(Reg::R20, 0);
    Ok((pid as u64).into())
}

pub(super) fn execve(t: &mut Thread, a: &[u64; 6]) -> Result {
    let path = t.shared.space.read_string(a[0], libc::PATH_MAX as usize)?;
    execute(t, &path, a[1], a[2])
}

pub(super) fn execveat(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [dir, path, argv, envp, flags, _] = *a;
    let mut name = t.shared.space.read_string(path, libc::PATH_MAX as usize)?;
    if flags as i32 & !libc::AT_EMPTY_PATH != 0 {
        return Err(Errno(libc::EINVAL));
    }
    if dir as i32 != libc::AT_FDCWD && !name.starts_with(b"/") {
        if name.is_empty() && flags == 0 {
            return Err(Errno(libc::ENOENT));
        }
        let mut from = format!("/proc/self/fd/{}", dir as i32).into_bytes();
        if !name.is_empty() {
            from.push(b'/');
            from.extend_from_slice(&name);
        }
        name = from;
    }
    execute(t, &name, argv, envp)
}

fn execute(t: &mut Thread, path: &[u8], argv: u64, envp: u64) -> Result {
    let mut argv = strings(t, argv)?;
    let envp = strings(t, envp)?;
    if argv.is_empty() {
        argv.push(Vec::new());
    }
    let path = if t.names_own_exe(path) { t.shared.running().path.clone() } else { path.to_vec() };
    let opened = Program::open(&t.shared.config.sysroot, &path, argv.clone(), envp.clone());
    let program = match opened {
        Ok(program) => program,
        Err(e) => {
            t.shared.log.say(format_args!("execve {e}"));
            return match e.why {
                LoadFailure::Elf(ElfError::NotAlpha(_)) => by_host(t, &path, argv, envp),
                why => Err(why.errno()),
            };
        }
    };
    let shared = Arc::clone(&t.shared);
    match shared.begin_exec(t, Box::new(program)) {
        Some(program) => t.take_over(*program),
        // The leader goes on with it, or the process is ending.
        None => t.end = Some(End::Stopped),
    }
    Ok(Ret::Kept)
}

/// What isn't an Alpha program may be one of the host's, which takes the place of axperf then. Only where
/// nobody observes the process: there would be nobody to tell.
fn by_host(t: &Thread, path: &[u8], argv: Vec<Vec<u8>>, envp: Vec<Vec<u8>>) -> Result {
    let shared = &t.shared;
    if shared.observer.is_some() && !shared.is_forked() {
        return Err(Errno(libc::ENOEXEC));
    }
    // They have no NULs: they ended with one.
    let texts = |list: Vec<Vec<u8>>| -> Vec<CString> {
        list.into_iter().map(|s| CString::new(s).unwrap_or_default()).collect()
    };
    let pointers = |list: &[CString]| -> Vec<u64> {
        list.iter().map(|s| s.as_ptr() as u64).chain([0]).collect()
    };
    let path = CString::new(shared.config.sysroot.host(path, true)).unwrap_or_default();
    let (argv, envp) = (texts(argv), texts(envp));
    let (argv_at, envp_at) = (pointers(&argv), pointers(&envp));
    let files = shared.limits.give_back_files();
    let args = [path.as_ptr() as u64, argv_at.as_ptr() as u64, envp_at.as_ptr() as u64, 0, 0, 0];
    if let Some(strace) = &shared.strace {
        strace.departs();
    }
    let failed = t.block(libc::SYS_execve, &args);
    // Still here.
    drop(files);
    if let Some(strace) = &shared.strace {
        strace.arrived();
    }
    failed.map(Ret::from)
}

/// The strings of an argument vector.
fn strings(t: &Thread, addr: u64) -> Result<Vec<Vec<u8>>> {
    /// Bytes of all strings (the stack's quarter is the kernel's limit), and of one.
    const MOST: usize = 2 << 20;
    const MOST_OF_ONE: usize = 128 << 10;
    let too_big = Errno(libc::E2BIG);
    let mut list = Vec::new();
    let mut total = 0;
    if addr == 0 {
        return Ok(list);
    }
    for i in 0u64.. {
        let at = t.shared.space.read_u64(addr.wrapping_add(8 * i))?;
        if at == 0 {
            break;
        }
        let text = t
            .shared
            .space
            .read_string(at, MOST_OF_ONE)
            .map_err(|e| if e.0 == libc::ENAMETOOLONG { too_big } else { e })?;
        total += text.len() + 9;
        if total > MOST {
            return Err(too_big);
        }
        list.push(text);
    }
    Ok(list)
}

/// A status of wait: the numbers of signals in it are Alpha's.
fn guest_status(status: i32) -> u32 {
    let number = |host: i32| Signal::from_host(host).map_or(0, |s| u32::from(s.number()));
    if libc::WIFSTOPPED(status) {
        0x7f | number(libc::WSTOPSIG(status)) << 8
    } else if libc::WIFSIGNALED(status) {
        number(libc::WTERMSIG(status)) | status as u32 & 0x80
    } else {
        status as u32
    }
}

fn wait_host(t: &Thread, pid: u64, options: u64, usage: u64) -> Result<(u64, u32)> {
    let mut status = 0i32;
    let args = [pid, &raw mut status as u64, options, usage, 0, 0];
    let pid = t.block(libc::SYS_wait4, &args)?;
    Ok((pid, guest_status(status)))
}

pub(super) fn wait4(t: &mut Thread, a: &[u64; 6]) -> Result {
    let (pid, status) = wait_host(t, a[0], a[2], a[3])?;
    if a[1] != 0 && pid != 0 {
        t.shared.space.write_u32(a[1], status)?;
    }
    Ok(pid.into())
}

pub(super) fn osf_wait4(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut usage = [0u64; 18];
    let (pid, status) = wait_host(t, a[0], a[2], usage.as_mut_ptr() as u64)?;
    if a[1] != 0 && pid != 0 {
        t.shared.space.write_u32(a[1], status)?;
    }
    if a[3] != 0 {
        time::put_rusage32(t, a[3], &usage)?;
    }
    Ok(pid.into())
}

pub(super) fn waitid(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut info = [0u8; 128];
    let args = [a[0], a[1], info.as_mut_ptr() as u64, a[3], a[4], 0];
    t.block(libc::SYS_waitid, &args)?;
    if a[2] != 0 {
        // Nobody: all zero, and no signal.
        let bytes = if info[..4] == [0; 4] {
            Bytes(info)
        } else {
            crate::signal::Info::from_host(&info).bytes
        };
        bytes.write(&t.shared.space, a[2])?;
    }
    DONE
}

pub(super) fn set_tid_address(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.clear_tid = a[0];
    Ok((t.ids.tid as u64).into())
}

/// The host's kernel keeps it too, for the case that the process is killed.
pub(super) fn set_robust_list(t: &mut Thread, a: &[u64; 6]) -> Result {
    const HEAD_SIZE: u64 = 24;
    if a[1] != HEAD_SIZE {
        return Err(Errno(libc::EINVAL));
    }
    is_guest(a[0], HEAD_SIZE)?;
    now(libc::SYS_set_robust_list, &[a[0], a[1], 0, 0, 0, 0])?;
    t.robust_list = a[0];
    DONE
}

pub(super) fn getrlimit(t: &mut Thread, a: &[u64; 6]) -> Result {
    let limit = t.shared.limits.change(&t.shared.space, Resource::new(a[0])?, None)?;
    let mut b = Bytes::<16>::zeroed();
    b.put_u64(0, limits::to_guest(limit.soft));
    b.put_u64(8, limits::to_guest(limit.hard));
    b.write(&t.shared.space, a[1])?;
    DONE
}

pub(super) fn setrlimit(t: &mut Thread, a: &[u64; 6]) -> Result {
    let b = Bytes::<16>::read(&t.shared.space, a[1])?;
    let new = Limit { soft: limits::from_guest(b.u64(0)), hard: limits::from_guest(b.u64(8)) };
    t.shared.limits.change(&t.shared.space, Resource::new(a[0])?, Some(new))?;
    DONE
}

/// prlimit64's infinity is all ones, on every architecture.
pub(super) fn prlimit64(t: &mut Thread, a: &[u64; 6]) -> Result {
    let resource = Resource::new(a[1])?;
    let new = if a[2] == 0 {
        None
    } else {
        let b = Bytes::<16>::read(&t.shared.space, a[2])?;
        Some(Limit { soft: b.u64(0), hard: b.u64(8) })
    };
    let pid = a[0] as i32;
    let old = match resource {
        Resource::Host(n) => limits::host(pid, n, new)?,
        Resource::Own(_) if pid == 0 || pid == t.ids.pid => {
            t.shared.limits.change(&t.shared.space, resource, new)?
        }
        // Another process keeps its own.
        Resource::Own(_) => return Err(Errno(libc::EPERM)),
    };
    if a[3] != 0 {
        let mut b = Bytes::<16>::zeroed();
        b.put_u64(0, old.soft);
        b.put_u64(8, old.hard);
        b.write(&t.shared.space, a[3])?;
    }
    DONE
}

/// The caller's own list; those of other threads are not to be looked at.
pub(super) fn get_robust_list(t: &mut Thread, a: &[u64; 6]) -> Result {
    /// Bytes of `struct robust_list_head`.
    const SIZE: u64 = 24;
    if a[0] as i32 != 0 && a[0] as i32 != t.ids.tid {
        return Err(Errno(libc::EPERM));
    }
    t.shared.space.write_u64(a[2], SIZE)?;
    t.shared.space.write_u64(a[1], t.robust_list)?;
    DONE
}
