//! The table of Linux/alpha's system calls: a row each.
//!
//! A row is `number name(arguments) = how;`, without arguments where none is looked at, or
//! `number name;` where there is no implementation.
//! Numbers and names: the kernel's UAPI header `asm/unistd_32.h` for Alpha.

use libc::*;

use super::Arg::{Dir, Fd, HostPath, In, InOut, Link, Num, Out, Path, Text};
use super::Size::{Array, Bytes, Len};
use super::{
    Arg, Block, How, Result, Row, descriptor, event, fs, futexes, info, ioctl, ipc, memory, mqueue,
    process, signalfd, signals, socket, stat, time, vector,
};
use crate::thread::Thread;

/// How a row is carried out; the row's facts besides its number, name and arguments.
#[derive(Clone, Copy)]
struct Plan {
    how: How,
    block: Block,
    descriptor: bool,
}

const fn plan(how: How) -> Plan {
    Plan { how, block: Block::Never, descriptor: false }
}

/// By the host's call of this number.
const fn host(number: c_long) -> Plan {
    plan(How::Host(number))
}

/// By the host's call of this number, which has a directory before the arguments.
const fn host_at(number: c_long) -> Plan {
    plan(How::HostAt(number))
}

/// Not at all: Linux/alpha has the number and no call, the facility doesn't exist on Alpha, or the
/// call would let untranslated requests through (io_uring).
const fn absent() -> Plan {
    plan(How::Absent)
}

/// As for one who lacks the capability.
const fn denied() -> Plan {
    plan(How::Denied)
}

/// By a function.
const fn call(f: fn(&mut Thread, &[u64; 6]) -> Result) -> Plan {
    plan(How::Call(f))
}

impl Plan {
    /// It can block; it is made again after a handler with SA_RESTART.
    const fn restarts(self) -> Plan {
        Plan { block: Block::Restart, ..self }
    }

    /// It can block; a handler makes it EINTR.
    const fn interrupts(self) -> Plan {
        Plan { block: Block::Interrupt, ..self }
    }

    /// It returns a new descriptor.
    const fn descriptor(self) -> Plan {
        Plan { descriptor: true, ..self }
    }
}

macro_rules! rows {
    (@plan) => { plan(How::Missing) };
    (@plan $plan:expr) => { $plan };
    ($($number:literal $name:ident $(($($arg:expr),*))? $(= $plan:expr)?;)*) => {
        static ROWS: &[Row] = &[$({
            const ARGS: &[Arg] = &[$($($arg),*)?];
            const PLAN: Plan = rows!(@plan $($plan)?);
            Row {
                number: $number,
                name: stringify!($name),
                args: ARGS,
                how: PLAN.how,
                block: PLAN.block,
                descriptor: PLAN.descriptor,
            }
        }),*];
    };
}

rows! {
    0 osf_syscall = absent();
    1 exit(Num) = call(process::exit);
    2 fork() = call(process::fork);
    3 read(Fd, Out(Len(2)), Num) = call(signalfd::read).restarts();
    4 write(Fd, In(Len(2)), Num) = host(SYS_write).restarts();
    5 osf_old_open = absent();
    6 close(Fd) = host(SYS_close);
    7 osf_wait4(Num, Out(Bytes(4)), Num, Out(Bytes(128))) = call(process::osf_wait4).restarts();
    8 osf_old_creat = absent();
    9 link(HostPath, HostPath) = call(fs::link);
    10 unlink(HostPath) = host_at(SYS_unlinkat);
    11 osf_execve = absent();
    12 chdir(Path) = host(SYS_chdir);
    13 fchdir(Fd) = host(SYS_fchdir);
    14 mknod(HostPath, Num, Num) = host_at(SYS_mknodat);
    15 chmod(HostPath, Num) = host_at(SYS_fchmodat);
    16 chown(HostPath, Num, Num) = host_at(SYS_fchownat);
    17 brk(Num) = call(memory::brk);
    18 osf_getfsstat = absent();
    19 lseek(Fd, Num, Num) = host(SYS_lseek);
    20 getxpid() = call(process::getxpid);
    21 osf_mount;
    22 umount2(HostPath, Num) = host(SYS_umount2);
    23 setuid(Num) = host(SYS_setuid);
    24 getxuid() = call(process::getxuid);
    25 exec_with_loader = absent();
    26 ptrace;
    27 osf_nrecvmsg = absent();
    28 osf_nsendmsg = absent();
    29 osf_nrecvfrom = absent();
    30 osf_naccept = absent();
    31 osf_ngetpeername = absent();
    32 osf_ngetsockname = absent();
    33 access(Path, Num) = host_at(SYS_faccessat);
    34 osf_chflags = absent();
    35 osf_fchflags = absent();
    36 sync() = host(SYS_sync);
    37 kill(Num, Num) = call(signals::kill);
    38 osf_old_stat = absent();
    39 setpgid(Num, Num) = host(SYS_setpgid);
    40 osf_old_lstat = absent();
    41 dup(Fd) = host(SYS_dup).descriptor();
    42 pipe() = call(descriptor::pipe);
    43 osf_set_program_attributes;
    44 osf_profil = absent();
    45 open(Path, Num, Num) = call(fs::open).restarts();
    46 osf_old_sigaction = absent();
    47 getxgid() = call(process::getxgid);
    48 osf_sigprocmask(Num, Num) = call(signals::osf_sigprocmask);
    49 osf_getlogin = absent();
    50 osf_setlogin = absent();
    51 acct(HostPath) = host(SYS_acct);
    52 sigpending(Out(Bytes(8))) = call(signals::sigpending);
    54 ioctl(Fd, Num, Num) = call(ioctl::ioctl).restarts();
    55 osf_reboot = absent();
    56 osf_revoke = absent();
    57 symlink(Text, HostPath) = call(fs::symlink);
    58 readlink(Link, Out(Len(2)), Num) = call(fs::readlink);
    59 execve(Path, Num, Num) = call(process::execve);
    60 umask(Num) = host(SYS_umask);
    61 chroot(HostPath) = host(SYS_chroot);
    62 osf_old_fstat = absent();
    63 getpgrp() = host(SYS_getpgid);
    64 getpagesize() = call(info::getpagesize);
    65 osf_mremap = absent();
    66 vfork() = call(process::vfork);
    67 stat(Path, Out(Bytes(80))) = call(stat::stat);
    68 lstat(Link, Out(Bytes(80))) = call(stat::lstat);
    69 osf_sbrk = absent();
    70 osf_sstk = absent();
    71 mmap(Num, Num, Num, Num, Num, Num) = call(memory::mmap);
    72 osf_old_vadvise = absent();
    73 munmap(Num, Num) = call(memory::munmap);
    74 mprotect(Num, Num, Num) = call(memory::mprotect);
    75 madvise(Num, Num, Num) = call(memory::madvise);
    76 vhangup() = host(SYS_vhangup);
    77 osf_kmodcall = absent();
    78 osf_mincore = absent();
    79 getgroups(Num, Out(Array(0, 4))) = host(SYS_getgroups);
    80 setgroups(Num, In(Array(0, 4))) = host(SYS_setgroups);
    81 osf_old_getpgrp = absent();
    82 setpgrp(Num, Num) = host(SYS_setpgid);
    83 osf_setitimer(Num, In(Bytes(16)), Out(Bytes(16))) = call(time::osf_setitimer);
    84 osf_old_wait = absent();
    85 osf_table = absent();
    86 osf_getitimer(Num, Out(Bytes(16))) = call(time::osf_getitimer);
    87 gethostname(Out(Len(1)), Num) = call(info::gethostname);
    88 sethostname(In(Len(1)), Num) = host(SYS_sethostname);
    89 getdtablesize() = call(descriptor::getdtablesize);
    90 dup2(Fd, Num) = call(descriptor::dup2);
    91 fstat(Fd, Out(Bytes(80))) = call(stat::fstat);
    92 fcntl(Fd, Num, Num) = call(descriptor::fcntl).restarts();
    93 osf_select(Num, Num, Num, Num, In(Bytes(8))) = call(event::osf_select).interrupts();
    94 poll(InOut(Array(1, 8)), Num, Num) = call(event::poll).interrupts();
    95 fsync(Fd) = host(SYS_fsync);
    96 setpriority(Num, Num, Num) = host(SYS_setpriority);
    97 socket(Num, Num, Num) = call(socket::socket).descriptor();
    98 connect(Fd, In(Len(2)), Num) = host(SYS_connect).restarts();
    99 accept(Fd, Out(Bytes(128)), InOut(Bytes(4))) = host(SYS_accept).restarts().descriptor();
    100 getpriority(Num, Num) = call(process::getpriority);
    101 send(Fd, In(Len(2)), Num, Num) = host(SYS_sendto).restarts();
    102 recv(Fd, Out(Len(2)), Num, Num) = host(SYS_recvfrom).restarts();
    103 sigreturn(Num) = call(signals::sigreturn);
    104 bind(Fd, In(Len(2)), Num) = host(SYS_bind);
    105 setsockopt(Fd, Num, Num, In(Len(4)), Num) = call(socket::setsockopt);
    106 listen(Fd, Num) = host(SYS_listen);
    107 osf_plock = absent();
    108 osf_old_sigvec = absent();
    109 osf_old_sigblock = absent();
    110 osf_old_sigsetmask = absent();
    111 sigsuspend(Num) = call(signals::sigsuspend).interrupts();
    112 osf_sigstack = absent();
    113 recvmsg(Fd, InOut(Bytes(56)), Num) = call(socket::recvmsg).restarts();
    114 sendmsg(Fd, In(Bytes(56)), Num) = call(socket::sendmsg).restarts();
    115 osf_old_vtrace = absent();
    116 osf_gettimeofday(Out(Bytes(8)), Out(Bytes(8))) = call(time::osf_gettimeofday);
    117 osf_getrusage(Num, Out(Bytes(128))) = call(time::osf_getrusage);
    118 getsockopt(Fd, Num, Num, Out(Bytes(4)), InOut(Bytes(4))) = call(socket::getsockopt);
    120 readv(Fd, In(Array(2, 16)), Num) = call(vector::readv).restarts();
    121 writev(Fd, In(Array(2, 16)), Num) = call(vector::writev).restarts();
    122 osf_settimeofday;
    123 fchown(Fd, Num, Num) = host(SYS_fchown);
    124 fchmod(Fd, Num) = host(SYS_fchmod);
    125 recvfrom(Fd, Out(Len(2)), Num, Num, Out(Bytes(128)), InOut(Bytes(4))) = host(SYS_recvfrom).restarts();
    126 setreuid(Num, Num) = host(SYS_setreuid);
    127 setregid(Num, Num) = host(SYS_setregid);
    128 rename(HostPath, HostPath) = call(fs::rename);
    129 truncate(HostPath, Num) = host(SYS_truncate);
    130 ftruncate(Fd, Num) = host(SYS_ftruncate);
    131 flock(Fd, Num) = host(SYS_flock).restarts();
    132 setgid(Num) = host(SYS_setgid);
    133 sendto(Fd, In(Len(2)), Num, Num, In(Len(5)), Num) = host(SYS_sendto).restarts();
    134 shutdown(Fd, Num) = host(SYS_shutdown);
    135 socketpair(Num, Num, Num, Out(Bytes(8))) = call(socket::socketpair);
    136 mkdir(HostPath, Num) = host_at(SYS_mkdirat);
    137 rmdir(HostPath) = call(fs::rmdir);
    138 osf_utimes(HostPath, In(Bytes(16))) = call(time::osf_utimes);
    139 osf_old_sigreturn = absent();
    140 osf_adjtime = absent();
    141 getpeername(Fd, Out(Bytes(128)), InOut(Bytes(4))) = host(SYS_getpeername);
    142 osf_gethostid = absent();
    143 osf_sethostid = absent();
    144 getrlimit(Num, Out(Bytes(16))) = call(process::getrlimit);
    145 setrlimit(Num, In(Bytes(16))) = call(process::setrlimit);
    146 osf_old_killpg = absent();
    147 setsid() = host(SYS_setsid);
    148 quotactl;
    149 osf_oldquota = absent();
    150 getsockname(Fd, Out(Bytes(128)), InOut(Bytes(4))) = host(SYS_getsockname);
    153 osf_pid_block = absent();
    154 osf_pid_unblock = absent();
    156 sigaction(Num, In(Bytes(24)), Out(Bytes(24))) = call(signals::osf_sigaction);
    157 osf_sigwaitprim = absent();
    158 osf_nfssvc = absent();
    159 osf_getdirentries;
    160 osf_statfs;
    161 osf_fstatfs;
    163 osf_asynch_daemon = absent();
    164 osf_getfh = absent();
    165 osf_getdomainname(Out(Len(1)), Num) = call(info::osf_getdomainname);
    166 setdomainname(In(Len(1)), Num) = host(SYS_setdomainname);
    169 osf_exportfs = absent();
    181 osf_alt_plock = absent();
    184 osf_getmnt = absent();
    187 osf_alt_sigpending = absent();
    188 osf_alt_setsid = absent();
    199 osf_swapon = denied();
    200 msgctl(Num, Num, Num) = call(ipc::msgctl);
    201 msgget(Num, Num) = host(SYS_msgget);
    202 msgrcv(Num, Num, Num, Num, Num) = call(ipc::msgrcv).interrupts();
    203 msgsnd(Num, Num, Num, Num) = call(ipc::msgsnd).interrupts();
    204 semctl(Num, Num, Num, Num) = call(ipc::semctl);
    205 semget(Num, Num, Num) = host(SYS_semget);
    206 semop(Num, In(Array(2, 6)), Num) = call(ipc::semop).interrupts();
    207 osf_utsname(Out(Bytes(160))) = call(info::osf_utsname);
    208 lchown(HostPath, Num, Num) = call(fs::lchown);
    209 shmat(Num, Num, Num) = call(ipc::shmat);
    210 shmctl(Num, Num, Num) = call(ipc::shmctl);
    211 shmdt(Num) = call(ipc::shmdt);
    212 shmget(Num, Num, Num) = host(SYS_shmget);
    213 osf_mvalid = absent();
    214 osf_getaddressconf = absent();
    215 osf_msleep = absent();
    216 osf_mwakeup = absent();
    217 msync(In(Len(1)), Num, Num) = host(SYS_msync);
    218 osf_signal = absent();
    219 osf_utc_gettime = absent();
    220 osf_utc_adjtime = absent();
    222 osf_security = absent();
    223 osf_kloadcall = absent();
    224 osf_stat;
    225 osf_lstat;
    226 osf_fstat;
    227 osf_statfs64;
    228 osf_fstatfs64;
    233 getpgid(Num) = host(SYS_getpgid);
    234 getsid(Num) = host(SYS_getsid);
    235 sigaltstack(In(Bytes(24)), Out(Bytes(24))) = call(signals::sigaltstack);
    236 osf_waitid = absent();
    237 osf_priocntlset = absent();
    238 osf_sigsendset = absent();
    239 osf_set_speculative = absent();
    240 osf_msfs_syscall = absent();
    241 osf_sysinfo(Num, Out(Len(2)), Num) = call(info::osf_sysinfo);
    242 osf_uadmin = absent();
    243 osf_fuser = absent();
    244 osf_proplist_syscall;
    245 osf_ntp_adjtime = absent();
    246 osf_ntp_gettime = absent();
    247 osf_pathconf = absent();
    248 osf_fpathconf = absent();
    250 osf_uswitch = absent();
    251 osf_usleep_thread(In(Bytes(8)), Out(Bytes(8))) = call(time::osf_usleep_thread).interrupts();
    252 osf_audcntl = absent();
    253 osf_audgen = absent();
    254 sysfs = absent();
    255 osf_subsys_info = absent();
    256 osf_getsysinfo(Num, Out(Bytes(8)), Num) = call(info::getsysinfo);
    257 osf_setsysinfo(Num, In(Bytes(8)), Num) = call(info::setsysinfo);
    258 osf_afs_syscall = absent();
    259 osf_swapctl = absent();
    260 osf_memcntl = absent();
    261 osf_fdatasync = absent();
    300 bdflush = absent();
    301 sethae(Num) = call(info::sethae);
    302 mount(Text, HostPath, Text, Num, Text) = host(SYS_mount);
    303 old_adjtimex;
    304 swapoff = denied();
    305 getdents(Fd, Out(Len(2)), Num) = call(fs::getdents);
    306 create_module = absent();
    307 init_module = denied();
    308 delete_module = denied();
    309 get_kernel_syms = absent();
    310 syslog;
    311 reboot = denied();
    312 clone(Num, Num, Out(Bytes(4)), Out(Bytes(4)), Num) = call(process::clone);
    313 uselib = absent();
    314 mlock(In(Len(1)), Num) = host(SYS_mlock);
    315 munlock(In(Len(1)), Num) = host(SYS_munlock);
    316 mlockall(Num) = call(memory::mlockall);
    317 munlockall() = call(memory::munlockall);
    318 sysinfo(Out(Bytes(112))) = host(SYS_sysinfo);
    319 _sysctl = absent();
    321 oldumount(HostPath) = call(fs::oldumount);
    322 swapon = denied();
    323 times(Out(Bytes(32))) = call(time::times);
    324 personality(Num) = call(info::personality);
    325 setfsuid(Num) = host(SYS_setfsuid);
    326 setfsgid(Num) = host(SYS_setfsgid);
    327 ustat = absent();
    328 statfs(Path, Out(Bytes(64))) = call(stat::statfs);
    329 fstatfs(Fd, Out(Bytes(64))) = call(stat::fstatfs);
    330 sched_setparam(Num, In(Bytes(4))) = host(SYS_sched_setparam);
    331 sched_getparam(Num, Out(Bytes(4))) = host(SYS_sched_getparam);
    332 sched_setscheduler(Num, Num, In(Bytes(4))) = host(SYS_sched_setscheduler);
    333 sched_getscheduler(Num) = host(SYS_sched_getscheduler);
    334 sched_yield() = host(SYS_sched_yield);
    335 sched_get_priority_max(Num) = host(SYS_sched_get_priority_max);
    336 sched_get_priority_min(Num) = host(SYS_sched_get_priority_min);
    337 sched_rr_get_interval(Num, Out(Bytes(16))) = host(SYS_sched_rr_get_interval);
    338 afs_syscall = absent();
    339 uname(Out(Bytes(390))) = call(info::uname);
    340 nanosleep(In(Bytes(16)), Out(Bytes(16))) = host(SYS_nanosleep).interrupts();
    341 mremap(Num, Num, Num, Num, Num) = call(memory::mremap);
    342 nfsservctl = absent();
    343 setresuid(Num, Num, Num) = host(SYS_setresuid);
    344 getresuid(Out(Bytes(4)), Out(Bytes(4)), Out(Bytes(4))) = host(SYS_getresuid);
    345 pciconfig_read = absent();
    346 pciconfig_write = absent();
    347 query_module = absent();
    348 prctl(Num, Num, Num, Num, Num) = call(info::prctl);
    349 pread64(Fd, Out(Len(2)), Num, Num) = host(SYS_pread64).restarts();
    350 pwrite64(Fd, In(Len(2)), Num, Num) = host(SYS_pwrite64).restarts();
    351 rt_sigreturn(Num) = call(signals::rt_sigreturn);
    352 rt_sigaction(Num, In(Bytes(24)), Out(Bytes(24)), Num, Num) = call(signals::rt_sigaction);
    353 rt_sigprocmask(Num, In(Bytes(8)), Out(Bytes(8)), Num) = call(signals::rt_sigprocmask);
    354 rt_sigpending(Out(Bytes(8)), Num) = call(signals::rt_sigpending);
    355 rt_sigtimedwait(In(Bytes(8)), Out(Bytes(128)), In(Bytes(16)), Num) = call(signals::rt_sigtimedwait).interrupts();
    356 rt_sigqueueinfo(Num, Num, In(Bytes(128))) = call(signals::rt_sigqueueinfo);
    357 rt_sigsuspend(In(Bytes(8)), Num) = call(signals::rt_sigsuspend).interrupts();
    358 select(Num, Num, Num, Num, InOut(Bytes(16))) = call(event::select).interrupts();
    359 gettimeofday(Out(Bytes(16)), Out(Bytes(8))) = host(SYS_gettimeofday);
    360 settimeofday(In(Bytes(16)), In(Bytes(8))) = host(SYS_settimeofday);
    361 getitimer(Num, Out(Bytes(32))) = host(SYS_getitimer);
    362 setitimer(Num, In(Bytes(32)), Out(Bytes(32))) = host(SYS_setitimer);
    363 utimes(HostPath, In(Bytes(32))) = call(time::utimes);
    364 getrusage(Num, Out(Bytes(144))) = host(SYS_getrusage);
    365 wait4(Num, Out(Bytes(4)), Num, Out(Bytes(144))) = call(process::wait4).restarts();
    366 adjtimex(InOut(Bytes(208))) = host(SYS_adjtimex);
    367 getcwd(Out(Len(1)), Num) = call(fs::getcwd);
    368 capget(InOut(Bytes(8)), Out(Bytes(24))) = host(SYS_capget);
    369 capset(InOut(Bytes(8)), In(Bytes(24))) = host(SYS_capset);
    370 sendfile(Fd, Fd, InOut(Bytes(8)), Num) = host(SYS_sendfile).restarts();
    371 setresgid(Num, Num, Num) = host(SYS_setresgid);
    372 getresgid(Out(Bytes(4)), Out(Bytes(4)), Out(Bytes(4))) = host(SYS_getresgid);
    373 dipc = absent();
    374 pivot_root(HostPath, HostPath) = host(SYS_pivot_root);
    375 mincore(Num, Num, Num) = call(memory::mincore);
    376 pciconfig_iobase = absent();
    377 getdents64(Fd, Out(Len(2)), Num) = call(fs::getdents64);
    378 gettid() = host(SYS_gettid);
    379 readahead(Fd, Num, Num) = host(SYS_readahead);
    381 tkill(Num, Num) = call(signals::tkill);
    382 setxattr(HostPath, Text, In(Len(3)), Num, Num) = host(SYS_setxattr);
    383 lsetxattr(HostPath, Text, In(Len(3)), Num, Num) = host(SYS_lsetxattr);
    384 fsetxattr(Fd, Text, In(Len(3)), Num, Num) = host(SYS_fsetxattr);
    385 getxattr(Path, Text, Out(Len(3)), Num) = host(SYS_getxattr);
    386 lgetxattr(Link, Text, Out(Len(3)), Num) = host(SYS_lgetxattr);
    387 fgetxattr(Fd, Text, Out(Len(3)), Num) = host(SYS_fgetxattr);
    388 listxattr(Path, Out(Len(2)), Num) = host(SYS_listxattr);
    389 llistxattr(Link, Out(Len(2)), Num) = host(SYS_llistxattr);
    390 flistxattr(Fd, Out(Len(2)), Num) = host(SYS_flistxattr);
    391 removexattr(HostPath, Text) = host(SYS_removexattr);
    392 lremovexattr(HostPath, Text) = host(SYS_lremovexattr);
    393 fremovexattr(Fd, Text) = host(SYS_fremovexattr);
    394 futex(InOut(Bytes(4)), Num, Num, Num, Num, Num) = call(futexes::futex).restarts();
    395 sched_setaffinity(Num, Num, In(Len(1))) = host(SYS_sched_setaffinity);
    396 sched_getaffinity(Num, Num, Out(Len(1))) = host(SYS_sched_getaffinity);
    397 tuxcall = absent();
    398 io_setup;
    399 io_destroy;
    400 io_getevents;
    401 io_submit;
    402 io_cancel;
    405 exit_group(Num) = call(process::exit_group);
    406 lookup_dcookie = absent();
    407 epoll_create(Num) = call(event::epoll_create).descriptor();
    408 epoll_ctl(Fd, Num, Fd, In(Bytes(16))) = call(event::epoll_ctl);
    409 epoll_wait(Fd, Out(Array(2, 16)), Num, Num) = call(event::epoll_wait).interrupts();
    410 remap_file_pages;
    411 set_tid_address(Num) = call(process::set_tid_address);
    412 restart_syscall() = call(info::restart_syscall);
    413 fadvise64(Fd, Num, Num, Num) = host(SYS_fadvise64);
    414 timer_create(Num, In(Bytes(64)), Out(Bytes(4))) = call(time::timer_create);
    415 timer_settime(Num, Num, In(Bytes(32)), Out(Bytes(32))) = host(SYS_timer_settime);
    416 timer_gettime(Num, Out(Bytes(32))) = host(SYS_timer_gettime);
    417 timer_getoverrun(Num) = host(SYS_timer_getoverrun);
    418 timer_delete(Num) = call(time::timer_delete);
    419 clock_settime(Num, In(Bytes(16))) = host(SYS_clock_settime);
    420 clock_gettime(Num, Out(Bytes(16))) = host(SYS_clock_gettime);
    421 clock_getres(Num, Out(Bytes(16))) = host(SYS_clock_getres);
    422 clock_nanosleep(Num, Num, In(Bytes(16)), Out(Bytes(16))) = host(SYS_clock_nanosleep).interrupts();
    423 semtimedop(Num, In(Array(2, 6)), Num, In(Bytes(16))) = host(SYS_semtimedop).interrupts();
    424 tgkill(Num, Num, Num) = call(signals::tgkill);
    425 stat64(Path, Out(Bytes(136))) = call(stat::stat64);
    426 lstat64(Link, Out(Bytes(136))) = call(stat::lstat64);
    427 fstat64(Fd, Out(Bytes(136))) = call(stat::fstat64);
    428 vserver = absent();
    429 mbind = absent();
    430 get_mempolicy = absent();
    431 set_mempolicy = absent();
    432 mq_open(Text, Num, Num, In(Bytes(64))) = call(mqueue::mq_open).descriptor();
    433 mq_unlink(Text) = host(SYS_mq_unlink);
    434 mq_timedsend(Fd, In(Len(2)), Num, Num, In(Bytes(16))) = host(SYS_mq_timedsend).restarts();
    435 mq_timedreceive(Fd, Out(Len(2)), Num, Out(Bytes(4)), In(Bytes(16))) = host(SYS_mq_timedreceive).restarts();
    436 mq_notify(Fd, In(Bytes(64))) = call(mqueue::mq_notify);
    437 mq_getsetattr(Fd, In(Bytes(64)), Out(Bytes(64))) = call(mqueue::mq_getsetattr);
    438 waitid(Num, Num, Out(Bytes(128)), Num, Out(Bytes(144))) = call(process::waitid).restarts();
    439 add_key;
    440 request_key;
    441 keyctl;
    442 ioprio_set(Num, Num, Num) = host(SYS_ioprio_set);
    443 ioprio_get(Num, Num) = host(SYS_ioprio_get);
    444 inotify_init() = host(SYS_inotify_init1).descriptor();
    445 inotify_add_watch(Fd, Path, Num) = host(SYS_inotify_add_watch);
    446 inotify_rm_watch(Fd, Num) = host(SYS_inotify_rm_watch);
    447 fdatasync(Fd) = host(SYS_fdatasync);
    448 kexec_load = denied();
    449 migrate_pages = absent();
    450 openat(Dir, Path, Num, Num) = call(fs::openat).restarts();
    451 mkdirat(Dir, HostPath, Num) = host(SYS_mkdirat);
    452 mknodat(Dir, HostPath, Num, Num) = host(SYS_mknodat);
    453 fchownat(Dir, HostPath, Num, Num, Num) = host(SYS_fchownat);
    454 futimesat(Dir, HostPath, In(Bytes(32))) = call(time::futimesat);
    455 fstatat64(Dir, Path, Out(Bytes(136)), Num) = call(stat::fstatat64);
    456 unlinkat(Dir, HostPath, Num) = host(SYS_unlinkat);
    457 renameat(Dir, HostPath, Dir, HostPath) = host(SYS_renameat2);
    458 linkat(Dir, HostPath, Dir, HostPath, Num) = host(SYS_linkat);
    459 symlinkat(Text, Dir, HostPath) = host(SYS_symlinkat);
    460 readlinkat(Dir, Link, Out(Len(3)), Num) = call(fs::readlinkat);
    461 fchmodat(Dir, HostPath, Num) = host(SYS_fchmodat);
    462 faccessat(Dir, Path, Num) = host(SYS_faccessat);
    463 pselect6(Num, Num, Num, Num, InOut(Bytes(16)), In(Bytes(16))) = call(event::pselect6).interrupts();
    464 ppoll(InOut(Array(1, 8)), Num, InOut(Bytes(16)), In(Bytes(8)), Num) = call(event::ppoll).interrupts();
    465 unshare(Num) = host(SYS_unshare);
    466 set_robust_list(Num, Num) = call(process::set_robust_list);
    467 get_robust_list(Num, Out(Bytes(8)), Out(Bytes(8))) = call(process::get_robust_list);
    468 splice(Fd, InOut(Bytes(8)), Fd, InOut(Bytes(8)), Num, Num) = host(SYS_splice).restarts();
    469 sync_file_range(Fd, Num, Num, Num) = host(SYS_sync_file_range);
    470 tee(Fd, Fd, Num, Num) = host(SYS_tee).restarts();
    471 vmsplice(Fd, In(Array(2, 16)), Num, Num) = call(vector::vmsplice).restarts();
    472 move_pages = absent();
    473 getcpu(Out(Bytes(4)), Out(Bytes(4))) = host(SYS_getcpu);
    474 epoll_pwait(Fd, Out(Array(2, 16)), Num, Num, In(Bytes(8)), Num) = call(event::epoll_pwait).interrupts();
    475 utimensat(Dir, HostPath, In(Bytes(32)), Num) = host(SYS_utimensat);
    476 signalfd(Fd, In(Bytes(8)), Num) = call(signalfd::signalfd).descriptor();
    477 timerfd = absent();
    478 eventfd(Num) = call(event::eventfd).descriptor();
    479 recvmmsg(Fd, InOut(Array(2, 64)), Num, Num, InOut(Bytes(16))) = call(socket::recvmmsg).restarts();
    480 fallocate(Fd, Num, Num, Num) = host(SYS_fallocate);
    481 timerfd_create(Num, Num) = call(event::timerfd_create).descriptor();
    482 timerfd_settime(Fd, Num, In(Bytes(32)), Out(Bytes(32))) = host(SYS_timerfd_settime);
    483 timerfd_gettime(Fd, Out(Bytes(32))) = host(SYS_timerfd_gettime);
    484 signalfd4(Fd, In(Bytes(8)), Num, Num) = call(signalfd::signalfd4).descriptor();
    485 eventfd2(Num, Num) = call(event::eventfd2).descriptor();
    486 epoll_create1(Num) = call(event::epoll_create1).descriptor();
    487 dup3(Fd, Num, Num) = call(descriptor::dup3);
    488 pipe2(Out(Bytes(8)), Num) = call(descriptor::pipe2);
    489 inotify_init1(Num) = call(event::inotify_init1).descriptor();
    490 preadv(Fd, In(Array(2, 16)), Num, Num) = call(vector::preadv).restarts();
    491 pwritev(Fd, In(Array(2, 16)), Num, Num) = call(vector::pwritev).restarts();
    492 rt_tgsigqueueinfo(Num, Num, Num, In(Bytes(128))) = call(signals::rt_tgsigqueueinfo);
    493 perf_event_open;
    494 fanotify_init(Num, Num) = call(event::fanotify_init).descriptor();
    495 fanotify_mark(Fd, Num, Num, Dir, HostPath) = host(SYS_fanotify_mark);
    496 prlimit64(Num, Num, In(Bytes(16)), Out(Bytes(16))) = call(process::prlimit64);
    497 name_to_handle_at(Dir, Path, InOut(Bytes(136)), Out(Bytes(8)), Num) = host(SYS_name_to_handle_at);
    498 open_by_handle_at(Dir, In(Bytes(136)), Num) = call(fs::open_by_handle_at).descriptor();
    499 clock_adjtime(Num, InOut(Bytes(208))) = host(SYS_clock_adjtime);
    500 syncfs(Fd) = host(SYS_syncfs);
    501 setns(Fd, Num) = host(SYS_setns);
    502 accept4(Fd, Out(Bytes(128)), InOut(Bytes(4)), Num) = call(socket::accept4).restarts().descriptor();
    503 sendmmsg(Fd, InOut(Array(2, 64)), Num, Num) = call(socket::sendmmsg).restarts();
    504 process_vm_readv(Num, In(Array(2, 16)), Num, Num, Num, Num) = call(vector::process_vm_readv);
    505 process_vm_writev(Num, In(Array(2, 16)), Num, Num, Num, Num) = call(vector::process_vm_writev);
    506 kcmp(Num, Num, Num, Num, In(Bytes(12))) = host(SYS_kcmp);
    507 finit_module = denied();
    508 sched_setattr(Num, In(Bytes(56)), Num) = host(SYS_sched_setattr);
    509 sched_getattr(Num, Out(Len(2)), Num, Num) = host(SYS_sched_getattr);
    510 renameat2(Dir, HostPath, Dir, HostPath, Num) = host(SYS_renameat2);
    511 getrandom(Out(Len(1)), Num, Num) = host(SYS_getrandom).restarts();
    512 memfd_create(Text, Num) = host(SYS_memfd_create).descriptor();
    513 execveat(Dir, Path, Num, Num, Num) = call(process::execveat);
    514 seccomp = absent();
    515 bpf;
    516 userfaultfd;
    517 membarrier(Num, Num, Num) = host(SYS_membarrier);
    518 mlock2(In(Len(1)), Num, Num) = host(SYS_mlock2);
    519 copy_file_range(Fd, InOut(Bytes(8)), Fd, InOut(Bytes(8)), Num, Num) = host(SYS_copy_file_range).restarts();
    520 preadv2(Fd, In(Array(2, 16)), Num, Num, Num, Num) = call(vector::preadv2).restarts();
    521 pwritev2(Fd, In(Array(2, 16)), Num, Num, Num, Num) = call(vector::pwritev2).restarts();
    522 statx(Dir, Path, Num, Num, Out(Bytes(256))) = call(stat::statx);
    523 io_pgetevents;
    524 pkey_mprotect = absent();
    525 pkey_alloc = absent();
    526 pkey_free = absent();
    527 rseq = absent();
    528 statfs64(Path, Num, Out(Bytes(88))) = call(stat::statfs64);
    529 fstatfs64(Fd, Num, Out(Bytes(88))) = call(stat::fstatfs64);
    530 getegid() = host(SYS_getegid);
    531 geteuid() = host(SYS_geteuid);
    532 getppid() = host(SYS_getppid);
    534 pidfd_send_signal(Fd, Num, In(Bytes(128)), Num) = call(signals::pidfd_send_signal);
    535 io_uring_setup = absent();
    536 io_uring_enter = absent();
    537 io_uring_register = absent();
    538 open_tree;
    539 move_mount;
    540 fsopen;
    541 fsconfig;
    542 fsmount;
    543 fspick;
    544 pidfd_open(Num, Num) = call(descriptor::pidfd_open).descriptor();
    546 close_range(Num, Num, Num) = call(descriptor::close_range);
    547 openat2(Dir, Path, In(Len(3)), Num) = call(fs::openat2).restarts();
    548 pidfd_getfd(Fd, Fd, Num) = host(SYS_pidfd_getfd).descriptor();
    549 faccessat2(Dir, Path, Num, Num) = host(SYS_faccessat2);
    550 process_madvise;
    551 epoll_pwait2(Fd, Out(Array(2, 16)), Num, In(Bytes(16)), In(Bytes(8)), Num) = call(event::epoll_pwait2).interrupts();
    552 mount_setattr;
    553 quotactl_fd;
    554 landlock_create_ruleset;
    555 landlock_add_rule;
    556 landlock_restrict_self;
    558 process_mrelease(Fd, Num) = host(SYS_process_mrelease);
    559 futex_waitv(In(Array(1, 24)), Num, Num, In(Bytes(16)), Num) = call(futexes::futex_waitv).restarts();
    560 set_mempolicy_home_node = absent();
}

/// One more than the last number.
const END: usize = 561;

/// The place in `ROWS` of each number, one higher; 0 for none.
static INDEX: [u16; END] = {
    let mut index = [0; END];
    let mut i = 0;
    while i < ROWS.len() {
        let number = ROWS[i].number as usize;
        assert!(index[number] == 0, "a number has two rows");
        index[number] = i as u16 + 1;
        i += 1;
    }
    index
};

/// The row of a number.
pub(super) fn row(number: u64) -> Option<&'static Row> {
    let i = INDEX.get(usize::try_from(number).ok()?)?.checked_sub(1)?;
    ROWS.get(usize::from(i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscall::Size;

    /// Pointers whose size is another argument: the argument is there, and a number.
    #[test]
    fn sizes_name_arguments() {
        for row in ROWS {
            assert!(row.args.len() <= 6, "{}", row.name);
            assert!(row.args.iter().filter(|a| matches!(a, Path | Link | HostPath)).count() <= 2);
            for arg in row.args {
                if let In(size) | Out(size) | InOut(size) = arg
                    && let Size::Len(i) | Size::Array(i, _) = size
                {
                    assert_eq!(row.args[*i], Num, "{}", row.name);
                }
            }
        }
    }

    /// Against Alpha's `asm/unistd.h`.
    #[test]
    fn numbers_are_the_kernels() {
        let facts = ROWS.iter().map(|row| (format!("__NR_{}", row.name), row.number));
        crate::abi::check(&["asm/unistd.h"], facts);
    }

    #[test]
    fn numbers_find_their_rows() {
        assert_eq!(row(4).unwrap().name, "write");
        assert_eq!(row(560).unwrap().name, "set_mempolicy_home_node");
        assert!(row(53).is_none() && row(561).is_none() && row(u64::MAX).is_none());
    }
}
