//! The table of Linux/alpha's system calls: a row each.
//!
//! A row is `number name(arguments) = how;`, without arguments where none is looked at, or
//! `number name;` where there is no implementation.
//! Numbers and names: the kernel's UAPI header `asm/unistd_32.h` for Alpha.

use libc::*;

use super::arg::Arg::{self, Dir, Fd, HostPath, In, InOut, Link, Num, Out, Path, Text};
use super::arg::Data::{Array, Bytes, Len, One, Raw, Sized};
use super::arg::{Look, Names};
use super::{
    Block, How, Result, Row, descriptor, event, fs, futexes, info, ioctl, ipc, keys, memory, mount,
    mqueue, osf, process, signalfd, signals, socket, stat, time, vector,
};
use crate::mm::Space;
use crate::strace::names::*;
use crate::strace::structs::*;
use crate::strace::{Returns, special};
use crate::thread::Thread;

/// How a row is carried out; the row's facts besides its number, name and arguments.
#[derive(Clone, Copy)]
struct Plan {
    how: How,
    block: Block,
    descriptor: bool,
    returns: Returns,
}

const fn plan(how: How) -> Plan {
    Plan { how, block: Block::Never, descriptor: false, returns: Returns::Number }
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

    /// It returns an address.
    const fn address(self) -> Plan {
        Plan { returns: Returns::Address, ..self }
    }

    /// It returns permissions.
    const fn octal(self) -> Plan {
        Plan { returns: Returns::Octal, ..self }
    }

    /// What it returns means more.
    const fn meaning(self, show: fn(&Space, u64, &[u64; 6]) -> String) -> Plan {
        Plan { returns: Returns::By(show), ..self }
    }

    /// It returns two numbers; the second is called this.
    const fn and(self, name: &'static str) -> Plan {
        Plan { returns: Returns::Two(name), ..self }
    }
}

const INT: Arg = Num(Look::Int);
const UINT: Arg = Num(Look::Uint);
const LONG: Arg = Num(Look::Long);
const ULONG: Arg = Num(Look::Ulong);
const HEX: Arg = Num(Look::Hex);
const ADDR: Arg = Num(Look::Addr);
const OCTAL: Arg = Num(Look::Octal);
const FILE_MODE: Arg = Num(Look::FileMode);
const DEVICE: Arg = Num(Look::Device);
const SIGNAL: Arg = Num(Look::Signal);

/// A constant, or flags.
const fn of(names: &'static Names) -> Arg {
    Num(Look::Of(names))
}

/// A number that is shown in a way of its own.
const fn by(show: fn(&Space, u64, &[u64; 6]) -> Option<String>) -> Arg {
    Num(Look::By(show))
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
                returns: PLAN.returns,
            }
        }),*];
    };
}

rows! {
    0 osf_syscall = absent();
    1 exit(INT) = call(process::exit);
    2 fork() = call(process::fork);
    3 read(Fd, Out(Len(2)), ULONG) = call(signalfd::read).restarts();
    4 write(Fd, In(Len(2)), ULONG) = call(vector::write).restarts();
    5 osf_old_open = absent();
    6 close(Fd) = call(descriptor::close);
    7 osf_wait4(INT, Out(One(&STATUS)), of(&WAIT), Out(One(&RUSAGE32))) = call(process::osf_wait4).restarts();
    8 osf_old_creat = absent();
    9 link(HostPath, HostPath) = call(fs::link);
    10 unlink(HostPath) = host_at(SYS_unlinkat);
    11 osf_execve = absent();
    12 chdir(Path) = host(SYS_chdir);
    13 fchdir(Fd) = host(SYS_fchdir);
    14 mknod(HostPath, FILE_MODE, DEVICE) = host_at(SYS_mknodat);
    15 chmod(HostPath, OCTAL) = host_at(SYS_fchmodat);
    16 chown(HostPath, INT, INT) = host_at(SYS_fchownat);
    17 brk(ADDR) = call(memory::brk).address();
    18 osf_getfsstat = absent();
    19 lseek(Fd, LONG, of(&SEEK)) = host(SYS_lseek);
    20 getxpid() = call(process::getxpid).and("ppid");
    21 osf_mount(INT, HostPath, HEX, In(Bytes(16))) = call(osf::osf_mount);
    22 umount2(HostPath, of(&UMOUNT)) = host(SYS_umount2);
    23 setuid(INT) = host(SYS_setuid);
    24 getxuid() = call(process::getxuid).and("euid");
    25 exec_with_loader = absent();
    26 ptrace;
    27 osf_nrecvmsg = absent();
    28 osf_nsendmsg = absent();
    29 osf_nrecvfrom = absent();
    30 osf_naccept = absent();
    31 osf_ngetpeername = absent();
    32 osf_ngetsockname = absent();
    33 access(Path, of(&ACCESS)) = host_at(SYS_faccessat);
    34 osf_chflags = absent();
    35 osf_fchflags = absent();
    36 sync() = host(SYS_sync);
    37 kill(INT, SIGNAL) = call(signals::kill);
    38 osf_old_stat = absent();
    39 setpgid(INT, INT) = host(SYS_setpgid);
    40 osf_old_lstat = absent();
    41 dup(Fd) = host(SYS_dup).descriptor();
    42 pipe() = call(descriptor::pipe);
    43 osf_set_program_attributes(ADDR, ULONG, ADDR, ULONG) = call(osf::osf_set_program_attributes);
    44 osf_profil = absent();
    45 open(Path, of(&OPEN), by(special::open_mode)) = call(fs::open).restarts();
    46 osf_old_sigaction = absent();
    47 getxgid() = call(process::getxgid).and("egid");
    48 osf_sigprocmask(of(&SIGPROCMASK), by(special::signal_set)) = call(signals::osf_sigprocmask);
    49 osf_getlogin = absent();
    50 osf_setlogin = absent();
    51 acct(HostPath) = host(SYS_acct);
    52 sigpending(Out(One(&SIGSET))) = call(signals::sigpending);
    54 ioctl(Fd, by(ioctl::name), by(ioctl::argument)) = call(ioctl::ioctl).restarts();
    55 osf_reboot = absent();
    56 osf_revoke = absent();
    57 symlink(Text, HostPath) = call(fs::symlink);
    58 readlink(Link, Out(Len(2)), ULONG) = call(fs::readlink);
    59 execve(Path, by(special::argv), by(special::environment)) = call(process::execve);
    60 umask(OCTAL) = host(SYS_umask).octal();
    61 chroot(HostPath) = host(SYS_chroot);
    62 osf_old_fstat = absent();
    63 getpgrp() = host(SYS_getpgid);
    64 getpagesize() = call(info::getpagesize);
    65 osf_mremap = absent();
    66 vfork() = call(process::vfork);
    67 stat(Path, Out(One(&STAT))) = call(stat::stat);
    68 lstat(Link, Out(One(&STAT))) = call(stat::lstat);
    69 osf_sbrk = absent();
    70 osf_sstk = absent();
    71 mmap(ADDR, ULONG, of(&PROT), of(&MAP), INT, HEX) = call(memory::mmap).address();
    72 osf_old_vadvise = absent();
    73 munmap(ADDR, ULONG) = call(memory::munmap);
    74 mprotect(ADDR, ULONG, of(&PROT)) = call(memory::mprotect);
    75 madvise(ADDR, ULONG, of(&MADVISE)) = call(memory::madvise);
    76 vhangup() = host(SYS_vhangup);
    77 osf_kmodcall = absent();
    78 osf_mincore = absent();
    79 getgroups(INT, Out(Array(0, &GID))) = host(SYS_getgroups);
    80 setgroups(INT, In(Array(0, &GID))) = host(SYS_setgroups);
    81 osf_old_getpgrp = absent();
    82 setpgrp(INT, INT) = host(SYS_setpgid);
    83 osf_setitimer(of(&ITIMER), In(One(&ITIMERVAL32)), Out(One(&ITIMERVAL32))) = call(time::osf_setitimer);
    84 osf_old_wait = absent();
    85 osf_table = absent();
    86 osf_getitimer(of(&ITIMER), Out(One(&ITIMERVAL32))) = call(time::osf_getitimer);
    87 gethostname(Out(Sized(1, &NAME)), ULONG) = call(info::gethostname);
    88 sethostname(In(Len(1)), ULONG) = host(SYS_sethostname);
    89 getdtablesize() = call(descriptor::getdtablesize);
    90 dup2(Fd, INT) = call(descriptor::dup2);
    91 fstat(Fd, Out(One(&STAT))) = call(stat::fstat);
    92 fcntl(Fd, of(&FCNTL), by(special::fcntl_argument)) = call(descriptor::fcntl).restarts().meaning(special::fcntl_result);
    93 osf_select(INT, by(special::fd_set), by(special::fd_set), by(special::fd_set), In(One(&TIMEVAL32))) = call(event::osf_select).interrupts();
    94 poll(InOut(Array(1, &POLLFD)), ULONG, INT) = call(event::poll).interrupts().meaning(special::poll_result);
    95 fsync(Fd) = host(SYS_fsync);
    96 setpriority(of(&PRIORITY), INT, INT) = host(SYS_setpriority);
    97 socket(of(&FAMILY), of(&SOCKET), by(special::protocol)) = call(socket::socket).descriptor();
    98 connect(Fd, In(Sized(2, &SOCKADDR)), INT) = host(SYS_connect).restarts();
    99 accept(Fd, Out(One(&SOCKADDR)), InOut(One(&INT_AT))) = host(SYS_accept).restarts().descriptor();
    100 getpriority(of(&PRIORITY), INT) = call(process::getpriority);
    101 send(Fd, In(Len(2)), ULONG, of(&MSG)) = host(SYS_sendto).restarts();
    102 recv(Fd, Out(Len(2)), ULONG, of(&MSG)) = host(SYS_recvfrom).restarts();
    103 sigreturn(ADDR) = call(signals::sigreturn);
    104 bind(Fd, In(Sized(2, &SOCKADDR)), INT) = host(SYS_bind);
    105 setsockopt(Fd, of(&SOCKET_LEVEL), by(special::socket_option), In(Sized(4, &OPTION)), INT) = call(socket::setsockopt);
    106 listen(Fd, INT) = host(SYS_listen);
    107 osf_plock = absent();
    108 osf_old_sigvec = absent();
    109 osf_old_sigblock = absent();
    110 osf_old_sigsetmask = absent();
    111 sigsuspend(by(special::signal_set)) = call(signals::sigsuspend).interrupts();
    112 osf_sigstack = absent();
    113 recvmsg(Fd, InOut(One(&MSGHDR)), of(&MSG)) = call(socket::recvmsg).restarts();
    114 sendmsg(Fd, In(One(&MSGHDR)), of(&MSG)) = call(socket::sendmsg).restarts();
    115 osf_old_vtrace = absent();
    116 osf_gettimeofday(Out(One(&TIMEVAL32)), Out(One(&TIMEZONE))) = call(time::osf_gettimeofday);
    117 osf_getrusage(of(&USAGE), Out(One(&RUSAGE32))) = call(time::osf_getrusage);
    118 getsockopt(Fd, of(&SOCKET_LEVEL), by(special::socket_option), Out(One(&INT_AT)), InOut(One(&INT_AT))) = call(socket::getsockopt);
    120 readv(Fd, In(Array(2, &SPACE)), INT) = call(vector::readv).restarts();
    121 writev(Fd, In(Array(2, &IOVEC)), INT) = call(vector::writev).restarts();
    122 osf_settimeofday(In(One(&TIMEVAL32)), In(One(&TIMEZONE))) = call(time::osf_settimeofday);
    123 fchown(Fd, INT, INT) = host(SYS_fchown);
    124 fchmod(Fd, OCTAL) = host(SYS_fchmod);
    125 recvfrom(Fd, Out(Len(2)), ULONG, of(&MSG), Out(One(&SOCKADDR)), InOut(One(&INT_AT))) = host(SYS_recvfrom).restarts();
    126 setreuid(INT, INT) = host(SYS_setreuid);
    127 setregid(INT, INT) = host(SYS_setregid);
    128 rename(HostPath, HostPath) = call(fs::rename);
    129 truncate(HostPath, LONG) = host(SYS_truncate);
    130 ftruncate(Fd, LONG) = host(SYS_ftruncate);
    131 flock(Fd, of(&LOCK)) = host(SYS_flock).restarts();
    132 setgid(INT) = host(SYS_setgid);
    133 sendto(Fd, In(Len(2)), ULONG, of(&MSG), In(Sized(5, &SOCKADDR)), INT) = host(SYS_sendto).restarts();
    134 shutdown(Fd, of(&SHUTDOWN)) = host(SYS_shutdown);
    135 socketpair(of(&FAMILY), of(&SOCKET), by(special::protocol), Out(One(&INTS))) = call(socket::socketpair);
    136 mkdir(HostPath, OCTAL) = host_at(SYS_mkdirat);
    137 rmdir(HostPath) = call(fs::rmdir);
    138 osf_utimes(HostPath, In(One(&TIMEVALS32))) = call(time::osf_utimes);
    139 osf_old_sigreturn = absent();
    140 osf_adjtime = absent();
    141 getpeername(Fd, Out(One(&SOCKADDR)), InOut(One(&INT_AT))) = host(SYS_getpeername);
    142 osf_gethostid = absent();
    143 osf_sethostid = absent();
    144 getrlimit(of(&RESOURCE), Out(One(&RLIMIT))) = call(process::getrlimit);
    145 setrlimit(of(&RESOURCE), In(One(&RLIMIT))) = call(process::setrlimit);
    146 osf_old_killpg = absent();
    147 setsid() = host(SYS_setsid);
    148 quotactl(HEX, HostPath, INT, InOut(Bytes(1))) = host(SYS_quotactl);
    149 osf_oldquota = absent();
    150 getsockname(Fd, Out(One(&SOCKADDR)), InOut(One(&INT_AT))) = host(SYS_getsockname);
    153 osf_pid_block = absent();
    154 osf_pid_unblock = absent();
    156 sigaction(SIGNAL, In(One(&OSF_SIGACTION)), Out(One(&OSF_SIGACTION))) = call(signals::osf_sigaction);
    157 osf_sigwaitprim = absent();
    158 osf_nfssvc = absent();
    159 osf_getdirentries(Fd, Out(Raw(2)), UINT, Out(One(&LONG_AT))) = call(osf::osf_getdirentries);
    160 osf_statfs(Path, Out(Raw(2)), ULONG) = call(osf::osf_statfs);
    161 osf_fstatfs(Fd, Out(Raw(2)), ULONG) = call(osf::osf_fstatfs);
    163 osf_asynch_daemon = absent();
    164 osf_getfh = absent();
    165 osf_getdomainname(Out(Sized(1, &NAME)), INT) = call(info::osf_getdomainname);
    166 setdomainname(In(Len(1)), ULONG) = host(SYS_setdomainname);
    169 osf_exportfs = absent();
    181 osf_alt_plock = absent();
    184 osf_getmnt = absent();
    187 osf_alt_sigpending = absent();
    188 osf_alt_setsid = absent();
    199 osf_swapon = denied();
    200 msgctl(INT, of(&IPC_COMMAND), ADDR) = call(ipc::msgctl);
    201 msgget(HEX, of(&IPC)) = host(SYS_msgget);
    202 msgrcv(INT, ADDR, ULONG, LONG, of(&IPC)) = call(ipc::msgrcv).interrupts();
    203 msgsnd(INT, ADDR, ULONG, of(&IPC)) = call(ipc::msgsnd).interrupts();
    204 semctl(INT, INT, of(&IPC_COMMAND), HEX) = call(ipc::semctl);
    205 semget(HEX, INT, of(&IPC)) = host(SYS_semget);
    206 semop(INT, In(Array(2, &SEMBUF)), ULONG) = call(ipc::semop).interrupts();
    207 osf_utsname(Out(Bytes(160))) = call(info::osf_utsname);
    208 lchown(HostPath, INT, INT) = call(fs::lchown);
    209 shmat(INT, ADDR, of(&SHMAT)) = call(ipc::shmat).address();
    210 shmctl(INT, of(&IPC_COMMAND), ADDR) = call(ipc::shmctl);
    211 shmdt(ADDR) = call(ipc::shmdt);
    212 shmget(HEX, ULONG, of(&IPC)) = host(SYS_shmget);
    213 osf_mvalid = absent();
    214 osf_getaddressconf = absent();
    215 osf_msleep = absent();
    216 osf_mwakeup = absent();
    217 msync(In(Raw(1)), ULONG, of(&MSYNC)) = host(SYS_msync);
    218 osf_signal = absent();
    219 osf_utc_gettime = absent();
    220 osf_utc_adjtime = absent();
    222 osf_security = absent();
    223 osf_kloadcall = absent();
    224 osf_stat(Path, Out(One(&OSF_STAT))) = call(osf::osf_stat);
    225 osf_lstat(Link, Out(One(&OSF_STAT))) = call(osf::osf_lstat);
    226 osf_fstat(Fd, Out(One(&OSF_STAT))) = call(osf::osf_fstat);
    227 osf_statfs64(Path, Out(Raw(2)), ULONG) = call(osf::osf_statfs64);
    228 osf_fstatfs64(Fd, Out(Raw(2)), ULONG) = call(osf::osf_fstatfs64);
    233 getpgid(INT) = host(SYS_getpgid);
    234 getsid(INT) = host(SYS_getsid);
    235 sigaltstack(In(One(&STACK)), Out(One(&STACK))) = call(signals::sigaltstack);
    236 osf_waitid = absent();
    237 osf_priocntlset = absent();
    238 osf_sigsendset = absent();
    239 osf_set_speculative = absent();
    240 osf_msfs_syscall = absent();
    241 osf_sysinfo(INT, Out(Sized(2, &NAME)), LONG) = call(info::osf_sysinfo);
    242 osf_uadmin = absent();
    243 osf_fuser = absent();
    244 osf_proplist_syscall(INT, In(Bytes(8))) = call(osf::osf_proplist_syscall);
    245 osf_ntp_adjtime = absent();
    246 osf_ntp_gettime = absent();
    247 osf_pathconf = absent();
    248 osf_fpathconf = absent();
    250 osf_uswitch = absent();
    251 osf_usleep_thread(In(One(&TIMEVAL32)), Out(One(&TIMEVAL32))) = call(time::osf_usleep_thread).interrupts();
    252 osf_audcntl = absent();
    253 osf_audgen = absent();
    254 sysfs = absent();
    255 osf_subsys_info = absent();
    256 osf_getsysinfo(of(&GETSYSINFO), Out(One(&LONG_AT)), ULONG) = call(info::getsysinfo);
    257 osf_setsysinfo(of(&SETSYSINFO), In(One(&LONG_AT)), ULONG) = call(info::setsysinfo);
    258 osf_afs_syscall = absent();
    259 osf_swapctl = absent();
    260 osf_memcntl = absent();
    261 osf_fdatasync = absent();
    300 bdflush = absent();
    301 sethae(HEX) = call(info::sethae);
    302 mount(Text, HostPath, Text, of(&MOUNT), Text) = host(SYS_mount);
    303 old_adjtimex(InOut(Bytes(200))) = call(time::old_adjtimex);
    304 swapoff = denied();
    305 getdents(Fd, Out(Raw(2)), UINT) = call(fs::getdents);
    306 create_module = absent();
    307 init_module = denied();
    308 delete_module = denied();
    309 get_kernel_syms = absent();
    310 syslog(INT, Out(Len(2)), INT) = host(SYS_syslog).restarts();
    311 reboot = denied();
    312 clone(by(special::clone_flags), ADDR, Out(One(&INT_AT)), Out(Bytes(4)), ADDR) = call(process::clone);
    313 uselib = absent();
    314 mlock(In(Raw(1)), ULONG) = host(SYS_mlock);
    315 munlock(In(Raw(1)), ULONG) = host(SYS_munlock);
    316 mlockall(of(&MLOCKALL)) = call(memory::mlockall);
    317 munlockall() = call(memory::munlockall);
    318 sysinfo(Out(One(&SYSINFO))) = host(SYS_sysinfo);
    319 _sysctl = absent();
    321 oldumount(HostPath) = call(fs::oldumount);
    322 swapon = denied();
    323 times(Out(One(&TMS))) = call(time::times);
    324 personality(HEX) = call(info::personality);
    325 setfsuid(INT) = host(SYS_setfsuid);
    326 setfsgid(INT) = host(SYS_setfsgid);
    327 ustat = absent();
    328 statfs(Path, Out(One(&STATFS))) = call(stat::statfs);
    329 fstatfs(Fd, Out(One(&STATFS))) = call(stat::fstatfs);
    330 sched_setparam(INT, In(One(&INT_AT))) = host(SYS_sched_setparam);
    331 sched_getparam(INT, Out(One(&INT_AT))) = host(SYS_sched_getparam);
    332 sched_setscheduler(INT, of(&SCHEDULER), In(One(&INT_AT))) = host(SYS_sched_setscheduler);
    333 sched_getscheduler(INT) = host(SYS_sched_getscheduler);
    334 sched_yield() = host(SYS_sched_yield);
    335 sched_get_priority_max(of(&SCHEDULER)) = host(SYS_sched_get_priority_max);
    336 sched_get_priority_min(of(&SCHEDULER)) = host(SYS_sched_get_priority_min);
    337 sched_rr_get_interval(INT, Out(One(&TIMESPEC))) = host(SYS_sched_rr_get_interval);
    338 afs_syscall = absent();
    339 uname(Out(One(&UTSNAME))) = call(info::uname);
    340 nanosleep(In(One(&TIMESPEC)), Out(One(&TIMESPEC))) = host(SYS_nanosleep).interrupts();
    341 mremap(ADDR, ULONG, ULONG, of(&MREMAP), ADDR) = call(memory::mremap).address();
    342 nfsservctl = absent();
    343 setresuid(INT, INT, INT) = host(SYS_setresuid);
    344 getresuid(Out(One(&INT_AT)), Out(One(&INT_AT)), Out(One(&INT_AT))) = host(SYS_getresuid);
    345 pciconfig_read = absent();
    346 pciconfig_write = absent();
    347 query_module = absent();
    348 prctl(of(&PRCTL), by(special::prctl_argument), HEX, HEX, HEX) = call(info::prctl);
    349 pread64(Fd, Out(Len(2)), ULONG, LONG) = call(vector::pread64).restarts();
    350 pwrite64(Fd, In(Len(2)), ULONG, LONG) = call(vector::pwrite64).restarts();
    351 rt_sigreturn(ADDR) = call(signals::rt_sigreturn);
    352 rt_sigaction(SIGNAL, In(One(&SIGACTION)), Out(One(&SIGACTION)), ULONG, ADDR) = call(signals::rt_sigaction);
    353 rt_sigprocmask(of(&SIGPROCMASK), In(One(&SIGSET)), Out(One(&SIGSET)), ULONG) = call(signals::rt_sigprocmask);
    354 rt_sigpending(Out(One(&SIGSET)), ULONG) = call(signals::rt_sigpending);
    355 rt_sigtimedwait(In(One(&SIGSET)), Out(One(&SIGINFO)), In(One(&TIMESPEC)), ULONG) = call(signals::rt_sigtimedwait).interrupts();
    356 rt_sigqueueinfo(INT, SIGNAL, In(One(&SIGINFO))) = call(signals::rt_sigqueueinfo);
    357 rt_sigsuspend(In(One(&SIGSET)), ULONG) = call(signals::rt_sigsuspend).interrupts();
    358 select(INT, by(special::fd_set), by(special::fd_set), by(special::fd_set), InOut(One(&TIMEVAL))) = call(event::select).interrupts();
    359 gettimeofday(Out(One(&TIMEVAL)), Out(One(&TIMEZONE))) = host(SYS_gettimeofday);
    360 settimeofday(In(One(&TIMEVAL)), In(One(&TIMEZONE))) = host(SYS_settimeofday);
    361 getitimer(of(&ITIMER), Out(One(&ITIMERVAL))) = host(SYS_getitimer);
    362 setitimer(of(&ITIMER), In(One(&ITIMERVAL)), Out(One(&ITIMERVAL))) = host(SYS_setitimer);
    363 utimes(HostPath, In(One(&TIMEVALS))) = call(time::utimes);
    364 getrusage(of(&USAGE), Out(One(&RUSAGE))) = host(SYS_getrusage);
    365 wait4(INT, Out(One(&STATUS)), of(&WAIT), Out(One(&RUSAGE))) = call(process::wait4).restarts();
    366 adjtimex(InOut(One(&TIMEX))) = host(SYS_adjtimex);
    367 getcwd(Out(Sized(1, &PATH_NAME)), ULONG) = call(fs::getcwd);
    368 capget(InOut(One(&CAP_HEADER)), Out(Bytes(24))) = host(SYS_capget);
    369 capset(InOut(One(&CAP_HEADER)), In(Bytes(24))) = host(SYS_capset);
    370 sendfile(Fd, Fd, InOut(One(&LONG_AT)), ULONG) = host(SYS_sendfile).restarts();
    371 setresgid(INT, INT, INT) = host(SYS_setresgid);
    372 getresgid(Out(One(&INT_AT)), Out(One(&INT_AT)), Out(One(&INT_AT))) = host(SYS_getresgid);
    373 dipc = absent();
    374 pivot_root(HostPath, HostPath) = host(SYS_pivot_root);
    375 mincore(ADDR, ULONG, ADDR) = call(memory::mincore);
    376 pciconfig_iobase = absent();
    377 getdents64(Fd, Out(Raw(2)), ULONG) = call(fs::getdents64);
    378 gettid() = host(SYS_gettid);
    379 readahead(Fd, LONG, ULONG) = host(SYS_readahead);
    381 tkill(INT, SIGNAL) = call(signals::tkill);
    382 setxattr(HostPath, Text, In(Len(3)), ULONG, of(&XATTR)) = host(SYS_setxattr);
    383 lsetxattr(HostPath, Text, In(Len(3)), ULONG, of(&XATTR)) = host(SYS_lsetxattr);
    384 fsetxattr(Fd, Text, In(Len(3)), ULONG, of(&XATTR)) = host(SYS_fsetxattr);
    385 getxattr(Path, Text, Out(Len(3)), ULONG) = host(SYS_getxattr);
    386 lgetxattr(Link, Text, Out(Len(3)), ULONG) = host(SYS_lgetxattr);
    387 fgetxattr(Fd, Text, Out(Len(3)), ULONG) = host(SYS_fgetxattr);
    388 listxattr(Path, Out(Len(2)), ULONG) = host(SYS_listxattr);
    389 llistxattr(Link, Out(Len(2)), ULONG) = host(SYS_llistxattr);
    390 flistxattr(Fd, Out(Len(2)), ULONG) = host(SYS_flistxattr);
    391 removexattr(HostPath, Text) = host(SYS_removexattr);
    392 lremovexattr(HostPath, Text) = host(SYS_lremovexattr);
    393 fremovexattr(Fd, Text) = host(SYS_fremovexattr);
    394 futex(InOut(Bytes(4)), of(&FUTEX), UINT, by(special::futex_timeout), by(special::futex_other), by(special::futex_bits)) = call(futexes::futex).restarts();
    395 sched_setaffinity(INT, ULONG, In(Raw(1))) = host(SYS_sched_setaffinity);
    396 sched_getaffinity(INT, ULONG, Out(Raw(1))) = host(SYS_sched_getaffinity);
    397 tuxcall = absent();
    398 io_setup = absent();
    399 io_destroy = absent();
    400 io_getevents = absent();
    401 io_submit = absent();
    402 io_cancel = absent();
    405 exit_group(INT) = call(process::exit_group);
    406 lookup_dcookie = absent();
    407 epoll_create(INT) = call(event::epoll_create).descriptor();
    408 epoll_ctl(Fd, of(&EPOLL_OP), Fd, In(One(&EPOLL_EVENT))) = call(event::epoll_ctl);
    409 epoll_wait(Fd, Out(Array(2, &EPOLL_EVENT)), INT, INT) = call(event::epoll_wait).interrupts();
    410 remap_file_pages(ADDR, ULONG, of(&PROT), ULONG, of(&MAP)) = call(memory::remap_file_pages);
    411 set_tid_address(ADDR) = call(process::set_tid_address);
    412 restart_syscall() = call(info::restart_syscall);
    413 fadvise64(Fd, LONG, LONG, of(&FADVISE)) = host(SYS_fadvise64);
    414 timer_create(of(&CLOCK), In(One(&SIGEVENT)), Out(One(&INT_AT))) = call(time::timer_create);
    415 timer_settime(INT, of(&TIMER), In(One(&ITIMERSPEC)), Out(One(&ITIMERSPEC))) = host(SYS_timer_settime);
    416 timer_gettime(INT, Out(One(&ITIMERSPEC))) = host(SYS_timer_gettime);
    417 timer_getoverrun(INT) = host(SYS_timer_getoverrun);
    418 timer_delete(INT) = call(time::timer_delete);
    419 clock_settime(of(&CLOCK), In(One(&TIMESPEC))) = host(SYS_clock_settime);
    420 clock_gettime(of(&CLOCK), Out(One(&TIMESPEC))) = host(SYS_clock_gettime);
    421 clock_getres(of(&CLOCK), Out(One(&TIMESPEC))) = host(SYS_clock_getres);
    422 clock_nanosleep(of(&CLOCK), of(&TIMER), In(One(&TIMESPEC)), Out(One(&TIMESPEC))) = host(SYS_clock_nanosleep).interrupts();
    423 semtimedop(INT, In(Array(2, &SEMBUF)), ULONG, In(One(&TIMESPEC))) = host(SYS_semtimedop).interrupts();
    424 tgkill(INT, INT, SIGNAL) = call(signals::tgkill);
    425 stat64(Path, Out(One(&STAT64))) = call(stat::stat64);
    426 lstat64(Link, Out(One(&STAT64))) = call(stat::lstat64);
    427 fstat64(Fd, Out(One(&STAT64))) = call(stat::fstat64);
    428 vserver = absent();
    429 mbind = absent();
    430 get_mempolicy = absent();
    431 set_mempolicy = absent();
    432 mq_open(Text, of(&OPEN), OCTAL, In(One(&MQ_ATTR))) = call(mqueue::mq_open).descriptor();
    433 mq_unlink(Text) = host(SYS_mq_unlink);
    434 mq_timedsend(Fd, In(Len(2)), ULONG, UINT, In(One(&TIMESPEC))) = host(SYS_mq_timedsend).restarts();
    435 mq_timedreceive(Fd, Out(Len(2)), ULONG, Out(One(&UINT_AT)), In(One(&TIMESPEC))) = host(SYS_mq_timedreceive).restarts();
    436 mq_notify(Fd, In(One(&SIGEVENT))) = call(mqueue::mq_notify);
    437 mq_getsetattr(Fd, In(One(&MQ_ATTR)), Out(One(&MQ_ATTR))) = call(mqueue::mq_getsetattr);
    438 waitid(of(&WAIT_ID), INT, Out(One(&SIGINFO)), of(&WAIT), Out(One(&RUSAGE))) = call(process::waitid).restarts();
    439 add_key(Text, Text, In(Len(3)), ULONG, INT) = host(SYS_add_key);
    440 request_key(Text, Text, Text, INT) = host(SYS_request_key).restarts();
    441 keyctl(INT, HEX, HEX, HEX, HEX) = call(keys::keyctl);
    442 ioprio_set(INT, INT, HEX) = host(SYS_ioprio_set);
    443 ioprio_get(INT, INT) = host(SYS_ioprio_get);
    444 inotify_init() = host(SYS_inotify_init1).descriptor();
    445 inotify_add_watch(Fd, Path, of(&INOTIFY_MASK)) = host(SYS_inotify_add_watch);
    446 inotify_rm_watch(Fd, INT) = host(SYS_inotify_rm_watch);
    447 fdatasync(Fd) = host(SYS_fdatasync);
    448 kexec_load = denied();
    449 migrate_pages = absent();
    450 openat(Dir, Path, of(&OPEN), by(special::openat_mode)) = call(fs::openat).restarts();
    451 mkdirat(Dir, HostPath, OCTAL) = host(SYS_mkdirat);
    452 mknodat(Dir, HostPath, FILE_MODE, DEVICE) = host(SYS_mknodat);
    453 fchownat(Dir, HostPath, INT, INT, of(&AT)) = host(SYS_fchownat);
    454 futimesat(Dir, HostPath, In(One(&TIMEVALS))) = call(time::futimesat);
    455 fstatat64(Dir, Path, Out(One(&STAT64)), of(&AT)) = call(stat::fstatat64);
    456 unlinkat(Dir, HostPath, of(&AT)) = host(SYS_unlinkat);
    457 renameat(Dir, HostPath, Dir, HostPath) = host(SYS_renameat2);
    458 linkat(Dir, HostPath, Dir, HostPath, of(&AT)) = host(SYS_linkat);
    459 symlinkat(Text, Dir, HostPath) = host(SYS_symlinkat);
    460 readlinkat(Dir, Link, Out(Len(3)), ULONG) = call(fs::readlinkat);
    461 fchmodat(Dir, HostPath, OCTAL) = host(SYS_fchmodat);
    462 faccessat(Dir, Path, of(&ACCESS)) = host(SYS_faccessat);
    463 pselect6(INT, by(special::fd_set), by(special::fd_set), by(special::fd_set), InOut(One(&TIMESPEC)), In(One(&MASK))) = call(event::pselect6).interrupts();
    464 ppoll(InOut(Array(1, &POLLFD)), ULONG, InOut(One(&TIMESPEC)), In(One(&SIGSET)), ULONG) = call(event::ppoll).interrupts().meaning(special::poll_result);
    465 unshare(of(&CLONE)) = host(SYS_unshare);
    466 set_robust_list(ADDR, ULONG) = call(process::set_robust_list);
    467 get_robust_list(INT, Out(One(&POINTER)), Out(One(&LONG_AT))) = call(process::get_robust_list);
    468 splice(Fd, InOut(One(&LONG_AT)), Fd, InOut(One(&LONG_AT)), ULONG, of(&SPLICE)) = host(SYS_splice).restarts();
    469 sync_file_range(Fd, LONG, LONG, HEX) = host(SYS_sync_file_range);
    470 tee(Fd, Fd, ULONG, of(&SPLICE)) = host(SYS_tee).restarts();
    471 vmsplice(Fd, In(Array(2, &SPACE)), ULONG, of(&SPLICE)) = call(vector::vmsplice).restarts();
    472 move_pages = absent();
    473 getcpu(Out(One(&UINT_AT)), Out(One(&UINT_AT))) = host(SYS_getcpu);
    474 epoll_pwait(Fd, Out(Array(2, &EPOLL_EVENT)), INT, INT, In(One(&SIGSET)), ULONG) = call(event::epoll_pwait).interrupts();
    475 utimensat(Dir, HostPath, In(One(&TIMESPECS)), of(&AT)) = host(SYS_utimensat);
    476 signalfd(Fd, In(One(&SIGSET)), ULONG) = call(signalfd::signalfd).descriptor();
    477 timerfd = absent();
    478 eventfd(UINT) = call(event::eventfd).descriptor();
    479 recvmmsg(Fd, InOut(Array(2, &MMSGHDR)), UINT, of(&MSG), InOut(One(&TIMESPEC))) = call(socket::recvmmsg).restarts();
    480 fallocate(Fd, of(&FALLOCATE), LONG, LONG) = host(SYS_fallocate);
    481 timerfd_create(of(&CLOCK), of(&TIMERFD)) = call(event::timerfd_create).descriptor();
    482 timerfd_settime(Fd, of(&TIMERFD_SET), In(One(&ITIMERSPEC)), Out(One(&ITIMERSPEC))) = host(SYS_timerfd_settime);
    483 timerfd_gettime(Fd, Out(One(&ITIMERSPEC))) = host(SYS_timerfd_gettime);
    484 signalfd4(Fd, In(One(&SIGSET)), ULONG, of(&SIGNALFD)) = call(signalfd::signalfd4).descriptor();
    485 eventfd2(UINT, of(&EVENTFD)) = call(event::eventfd2).descriptor();
    486 epoll_create1(of(&EPOLL_CREATE)) = call(event::epoll_create1).descriptor();
    487 dup3(Fd, INT, of(&OPEN_ONLY)) = call(descriptor::dup3);
    488 pipe2(Out(One(&INTS)), of(&OPEN_ONLY)) = call(descriptor::pipe2);
    489 inotify_init1(of(&INOTIFY)) = call(event::inotify_init1).descriptor();
    490 preadv(Fd, In(Array(2, &SPACE)), INT, LONG) = call(vector::preadv).restarts();
    491 pwritev(Fd, In(Array(2, &IOVEC)), INT, LONG) = call(vector::pwritev).restarts();
    492 rt_tgsigqueueinfo(INT, INT, SIGNAL, In(One(&SIGINFO))) = call(signals::rt_tgsigqueueinfo);
    493 perf_event_open(ADDR, INT, INT, INT, HEX) = call(descriptor::perf_event_open);
    494 fanotify_init(HEX, of(&OPEN)) = call(event::fanotify_init).descriptor();
    495 fanotify_mark(Fd, HEX, HEX, Dir, HostPath) = host(SYS_fanotify_mark);
    496 prlimit64(INT, of(&RESOURCE), In(One(&RLIMIT)), Out(One(&RLIMIT))) = call(process::prlimit64);
    497 name_to_handle_at(Dir, Path, InOut(Bytes(136)), Out(One(&INT_AT)), of(&AT)) = host(SYS_name_to_handle_at);
    498 open_by_handle_at(Dir, In(Bytes(136)), of(&OPEN)) = call(fs::open_by_handle_at).descriptor();
    499 clock_adjtime(of(&CLOCK), InOut(One(&TIMEX))) = host(SYS_clock_adjtime);
    500 syncfs(Fd) = host(SYS_syncfs);
    501 setns(Fd, of(&CLONE)) = host(SYS_setns);
    502 accept4(Fd, Out(One(&SOCKADDR)), InOut(One(&INT_AT)), of(&ACCEPT)) = call(socket::accept4).restarts().descriptor();
    503 sendmmsg(Fd, InOut(Array(2, &MMSGHDR)), UINT, of(&MSG)) = call(socket::sendmmsg).restarts();
    504 process_vm_readv(INT, In(Array(2, &SPACE)), ULONG, ADDR, ULONG, HEX) = call(vector::process_vm_readv);
    505 process_vm_writev(INT, In(Array(2, &IOVEC)), ULONG, ADDR, ULONG, HEX) = call(vector::process_vm_writev);
    506 kcmp(INT, INT, INT, HEX, In(One(&EPOLL_SLOT))) = host(SYS_kcmp);
    507 finit_module = denied();
    508 sched_setattr(INT, In(Bytes(56)), HEX) = host(SYS_sched_setattr);
    509 sched_getattr(INT, Out(Raw(2)), UINT, HEX) = host(SYS_sched_getattr);
    510 renameat2(Dir, HostPath, Dir, HostPath, of(&RENAME)) = host(SYS_renameat2);
    511 getrandom(Out(Len(1)), ULONG, of(&GETRANDOM)) = host(SYS_getrandom).restarts();
    512 memfd_create(Text, of(&MEMFD)) = host(SYS_memfd_create).descriptor();
    513 execveat(Dir, Path, by(special::argv), by(special::environment), of(&AT)) = call(process::execveat);
    514 seccomp = absent();
    515 bpf = denied();
    516 userfaultfd = absent();
    517 membarrier(of(&MEMBARRIER), HEX, INT) = host(SYS_membarrier);
    518 mlock2(In(Raw(1)), ULONG, of(&MLOCK)) = host(SYS_mlock2);
    519 copy_file_range(Fd, InOut(One(&LONG_AT)), Fd, InOut(One(&LONG_AT)), ULONG, HEX) = host(SYS_copy_file_range).restarts();
    520 preadv2(Fd, In(Array(2, &SPACE)), INT, LONG, HEX, of(&RWF)) = call(vector::preadv2).restarts();
    521 pwritev2(Fd, In(Array(2, &IOVEC)), INT, LONG, HEX, of(&RWF)) = call(vector::pwritev2).restarts();
    522 statx(Dir, Path, of(&AT), of(&STATX_MASK), Out(One(&STATX))) = call(stat::statx);
    523 io_pgetevents = absent();
    524 pkey_mprotect = absent();
    525 pkey_alloc = absent();
    526 pkey_free = absent();
    527 rseq = absent();
    528 statfs64(Path, ULONG, Out(One(&STATFS64))) = call(stat::statfs64);
    529 fstatfs64(Fd, ULONG, Out(One(&STATFS64))) = call(stat::fstatfs64);
    530 getegid() = host(SYS_getegid);
    531 geteuid() = host(SYS_geteuid);
    532 getppid() = host(SYS_getppid);
    534 pidfd_send_signal(Fd, SIGNAL, In(One(&SIGINFO)), HEX) = call(signals::pidfd_send_signal);
    535 io_uring_setup = absent();
    536 io_uring_enter = absent();
    537 io_uring_register = absent();
    538 open_tree(Dir, HostPath, of(&OPEN_TREE)) = call(mount::open_tree).descriptor();
    539 move_mount(Dir, HostPath, Dir, HostPath, HEX) = host(SYS_move_mount);
    540 fsopen(Text, HEX) = host(SYS_fsopen).descriptor();
    541 fsconfig(Fd, INT, Text, HEX, INT) = call(mount::fsconfig);
    542 fsmount(Fd, HEX, HEX) = host(SYS_fsmount).descriptor();
    543 fspick(Dir, HostPath, HEX) = host(SYS_fspick).descriptor();
    544 pidfd_open(INT, of(&PIDFD)) = call(descriptor::pidfd_open).descriptor();
    546 close_range(UINT, UINT, of(&CLOSE_RANGE)) = call(descriptor::close_range);
    547 openat2(Dir, Path, In(Sized(3, &OPEN_HOW)), ULONG) = call(fs::openat2).restarts();
    548 pidfd_getfd(Fd, Fd, HEX) = host(SYS_pidfd_getfd).descriptor();
    549 faccessat2(Dir, Path, of(&ACCESS), of(&AT_ACCESS)) = host(SYS_faccessat2);
    550 process_madvise(Fd, In(Array(2, &SPACE)), ULONG, of(&MADVISE), HEX) = call(vector::process_madvise);
    551 epoll_pwait2(Fd, Out(Array(2, &EPOLL_EVENT)), INT, In(One(&TIMESPEC)), In(One(&SIGSET)), ULONG) = call(event::epoll_pwait2).interrupts();
    552 mount_setattr(Dir, HostPath, of(&AT), In(Len(4)), ULONG) = host(SYS_mount_setattr);
    553 quotactl_fd(Fd, HEX, INT, InOut(Bytes(1))) = host(SYS_quotactl_fd);
    554 landlock_create_ruleset(In(Raw(1)), ULONG, HEX) = call(descriptor::landlock_create_ruleset);
    555 landlock_add_rule(Fd, INT, In(Bytes(1)), HEX) = host(SYS_landlock_add_rule);
    556 landlock_restrict_self(Fd, HEX) = host(SYS_landlock_restrict_self);
    558 process_mrelease(Fd, HEX) = host(SYS_process_mrelease);
    559 futex_waitv(In(Array(1, &FUTEX_WAITV)), UINT, HEX, In(One(&TIMESPEC)), of(&CLOCK)) = call(futexes::futex_waitv).restarts();
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

    /// Pointers whose size is another argument: the argument is there, and a number.
    #[test]
    fn sizes_name_arguments() {
        for row in ROWS {
            assert!(row.args.len() <= 6, "{}", row.name);
            assert!(row.args.iter().filter(|a| matches!(a, Path | Link | HostPath)).count() <= 2);
            for arg in row.args {
                if let In(data) | Out(data) | InOut(data) = arg
                    && let Len(i) | Raw(i) | Sized(i, _) | Array(i, _) = data
                {
                    assert!(matches!(row.args[*i], Num(_)), "{}", row.name);
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
