//! Constants by name: Alpha's values. Where a call takes flags, they are listed in the order in which
//! strace(1) prints them.

use crate::syscall::arg::{Name, Names};

/// Rows of names: `flags` may be together in a value, `one` of the others is all of it. A flag
/// `in` a mask is a value of that field.
macro_rules! names {
    ($($(#[$doc:meta])* $kind:ident $table:ident $unknown:literal:
        $($name:ident = $value:literal $(in $mask:literal)?),* $(,)?;)*) => {
        $($(#[$doc])*
        pub(crate) static $table: Names = Names {
            unknown: $unknown,
            rows: &[$(names!(@row $kind $name $value $($mask)?)),*],
        };)*

        /// Every table, with its name.
        #[cfg(test)]
        const ALL: &[(&str, &Names)] = &[$((stringify!($table), &$table)),*];
    };
    (@row $kind:ident $name:ident $value:literal $mask:literal) => {
        Name { name: stringify!($name), value: $value, mask: $mask }
    };
    (@row one $name:ident $value:literal) => {
        Name { name: stringify!($name), value: $value, mask: u32::MAX as u64 }
    };
    (@row flags $name:ident $value:literal) => {
        Name {
            name: stringify!($name),
            value: $value,
            mask: flag_mask($value),
        }
    };
}

/// Where a flag is looked for; what is 0 is all of its value.
const fn flag_mask(value: u64) -> u64 {
    if value == 0 { u32::MAX as u64 } else { value }
}

names! {
    /// open's flags.
    flags OPEN "O_???": O_RDONLY = 0 in 3, O_WRONLY = 1 in 3, O_RDWR = 2 in 3, O_CREAT = 0x200,
        O_EXCL = 0x800, O_NOCTTY = 0x1000, O_TRUNC = 0x400, O_APPEND = 0x8, O_NONBLOCK = 0x4,
        O_SYNC = 0x404000, O_DSYNC = 0x4000, O_ASYNC = 0x2000, O_DIRECT = 0x80000,
        O_NOFOLLOW = 0x10000, O_NOATIME = 0x100000, O_CLOEXEC = 0x200000,
        O_PATH = 0x800000, O_TMPFILE = 0x1008000, O_DIRECTORY = 0x8000;
    /// dup3's and pipe2's.
    flags OPEN_ONLY "O_???": O_NONBLOCK = 0x4, O_DIRECT = 0x80000, O_CLOEXEC = 0x200000;
    /// pidfd_open's.
    flags PIDFD "PIDFD_???": PIDFD_NONBLOCK = 0x4;
    /// Flags of calls that take a directory and a path.
    flags AT "AT_???": AT_SYMLINK_NOFOLLOW = 0x100, AT_REMOVEDIR = 0x200,
        AT_SYMLINK_FOLLOW = 0x400, AT_NO_AUTOMOUNT = 0x800, AT_EMPTY_PATH = 0x1000,
        AT_STATX_FORCE_SYNC = 0x2000, AT_STATX_DONT_SYNC = 0x4000;
    /// open_tree's.
    flags OPEN_TREE "OPEN_TREE_???": OPEN_TREE_CLONE = 1, O_CLOEXEC = 0x200000,
        AT_SYMLINK_NOFOLLOW = 0x100, AT_NO_AUTOMOUNT = 0x800, AT_EMPTY_PATH = 0x1000,
        AT_RECURSIVE = 0x8000;
    /// faccessat2's.
    flags AT_ACCESS "AT_???": AT_EACCESS = 0x200, AT_SYMLINK_NOFOLLOW = 0x100,
        AT_EMPTY_PATH = 0x1000;
    /// access's mode.
    flags ACCESS "?_OK": F_OK = 0, R_OK = 4, W_OK = 2, X_OK = 1;
    /// lseek.
    one SEEK "SEEK_???": SEEK_SET = 0, SEEK_CUR = 1, SEEK_END = 2, SEEK_DATA = 3, SEEK_HOLE = 4;
    /// Renaming.
    flags RENAME "RENAME_???": RENAME_NOREPLACE = 1, RENAME_EXCHANGE = 2, RENAME_WHITEOUT = 4;
    /// statx's mask.
    flags STATX_MASK "STATX_???": STATX_BASIC_STATS = 0x7ff, STATX_TYPE = 1, STATX_MODE = 2,
        STATX_NLINK = 4, STATX_UID = 8, STATX_GID = 0x10, STATX_ATIME = 0x20, STATX_MTIME = 0x40,
        STATX_CTIME = 0x80, STATX_INO = 0x100, STATX_SIZE = 0x200, STATX_BLOCKS = 0x400,
        STATX_BTIME = 0x800, STATX_MNT_ID = 0x1000;
    /// flock.
    flags LOCK "LOCK_???": LOCK_SH = 1 in 3, LOCK_EX = 2 in 3, LOCK_UN = 8, LOCK_NB = 4;
    /// Extended attributes.
    flags XATTR "XATTR_???": XATTR_CREATE = 1, XATTR_REPLACE = 2;
    /// fallocate.
    flags FALLOCATE "FALLOC_FL_???": FALLOC_FL_KEEP_SIZE = 1, FALLOC_FL_PUNCH_HOLE = 2,
        FALLOC_FL_COLLAPSE_RANGE = 8, FALLOC_FL_ZERO_RANGE = 0x10, FALLOC_FL_INSERT_RANGE = 0x20;
    /// fadvise64.
    one FADVISE "POSIX_FADV_???": POSIX_FADV_NORMAL = 0, POSIX_FADV_RANDOM = 1,
        POSIX_FADV_SEQUENTIAL = 2, POSIX_FADV_WILLNEED = 3, POSIX_FADV_DONTNEED = 4,
        POSIX_FADV_NOREUSE = 5;
    /// splice and its like.
    flags SPLICE "SPLICE_F_???": SPLICE_F_MOVE = 1, SPLICE_F_NONBLOCK = 2, SPLICE_F_MORE = 4,
        SPLICE_F_GIFT = 8;
    /// preadv2's and pwritev2's.
    flags RWF "RWF_???": RWF_HIPRI = 1, RWF_DSYNC = 2, RWF_SYNC = 4, RWF_NOWAIT = 8,
        RWF_APPEND = 0x10;
    /// Mounting.
    flags MOUNT "MS_???": MS_RDONLY = 1, MS_NOSUID = 2, MS_NODEV = 4, MS_NOEXEC = 8,
        MS_SYNCHRONOUS = 0x10, MS_REMOUNT = 0x20, MS_NOATIME = 0x400, MS_BIND = 0x1000,
        MS_MOVE = 0x2000, MS_REC = 0x4000, MS_SILENT = 0x8000, MS_UNBINDABLE = 0x20000,
        MS_PRIVATE = 0x40000, MS_SLAVE = 0x80000, MS_SHARED = 0x100000, MS_RELATIME = 0x200000;
    /// Unmounting.
    flags UMOUNT "MNT_???": MNT_FORCE = 1, MNT_DETACH = 2, MNT_EXPIRE = 4, UMOUNT_NOFOLLOW = 8;
    /// close_range's flags.
    flags CLOSE_RANGE "CLOSE_RANGE_???": CLOSE_RANGE_UNSHARE = 2, CLOSE_RANGE_CLOEXEC = 4;
    /// memfd_create.
    flags MEMFD "MFD_???": MFD_CLOEXEC = 1, MFD_ALLOW_SEALING = 2, MFD_HUGETLB = 4;
    /// fcntl's commands.
    one FCNTL "F_???": F_DUPFD = 0, F_GETFD = 1, F_SETFD = 2, F_GETFL = 3, F_SETFL = 4,
        F_SETOWN = 5, F_GETOWN = 6, F_GETLK = 7, F_SETLK = 8, F_SETLKW = 9, F_SETSIG = 10,
        F_GETSIG = 11, F_SETOWN_EX = 15, F_GETOWN_EX = 16, F_OFD_GETLK = 36, F_OFD_SETLK = 37,
        F_OFD_SETLKW = 38, F_SETLEASE = 1024, F_GETLEASE = 1025, F_NOTIFY = 1026,
        F_DUPFD_CLOEXEC = 1030, F_SETPIPE_SZ = 1031, F_GETPIPE_SZ = 1032, F_ADD_SEALS = 1033,
        F_GET_SEALS = 1034;
    /// Flags of a descriptor.
    flags DESCRIPTOR "FD_???": FD_CLOEXEC = 1;
    /// Types of a record lock.
    one RECORD_LOCK "F_???": F_RDLCK = 1, F_WRLCK = 2, F_UNLCK = 8;
    /// Protection.
    flags PROT "PROT_???": PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4,
        PROT_GROWSDOWN = 0x1000000, PROT_GROWSUP = 0x2000000;
    /// mmap.
    flags MAP "MAP_???": MAP_SHARED = 1 in 0xf, MAP_PRIVATE = 2 in 0xf,
        MAP_SHARED_VALIDATE = 3 in 0xf, MAP_FIXED = 0x100, MAP_ANONYMOUS = 0x10,
        MAP_NORESERVE = 0x10000, MAP_POPULATE = 0x20000, MAP_NONBLOCK = 0x40000,
        MAP_GROWSDOWN = 0x1000, MAP_DENYWRITE = 0x2000, MAP_EXECUTABLE = 0x4000,
        MAP_LOCKED = 0x8000, MAP_STACK = 0x80000, MAP_HUGETLB = 0x100000,
        MAP_FIXED_NOREPLACE = 0x200000;
    /// mremap.
    flags MREMAP "MREMAP_???": MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MREMAP_DONTUNMAP = 4;
    /// madvise.
    one MADVISE "MADV_???": MADV_NORMAL = 0, MADV_RANDOM = 1, MADV_SEQUENTIAL = 2,
        MADV_WILLNEED = 3, MADV_DONTNEED = 6, MADV_FREE = 8, MADV_REMOVE = 9, MADV_DONTFORK = 10,
        MADV_DOFORK = 11, MADV_MERGEABLE = 12, MADV_UNMERGEABLE = 13, MADV_HUGEPAGE = 14,
        MADV_NOHUGEPAGE = 15, MADV_DONTDUMP = 16, MADV_DODUMP = 17, MADV_WIPEONFORK = 18,
        MADV_KEEPONFORK = 19, MADV_COLD = 20, MADV_PAGEOUT = 21;
    /// msync.
    flags MSYNC "MS_???": MS_ASYNC = 1, MS_SYNC = 2, MS_INVALIDATE = 4;
    /// mlockall.
    flags MLOCKALL "MCL_???": MCL_CURRENT = 0x2000, MCL_FUTURE = 0x4000, MCL_ONFAULT = 0x8000;
    /// mlock2.
    flags MLOCK "MLOCK_???": MLOCK_ONFAULT = 1;
    /// clone's, without the exit signal.
    flags CLONE "CLONE_???": CLONE_VM = 0x100, CLONE_FS = 0x200, CLONE_FILES = 0x400,
        CLONE_SIGHAND = 0x800, CLONE_PIDFD = 0x1000, CLONE_PTRACE = 0x2000, CLONE_VFORK = 0x4000,
        CLONE_PARENT = 0x8000, CLONE_THREAD = 0x10000, CLONE_NEWNS = 0x20000,
        CLONE_SYSVSEM = 0x40000, CLONE_SETTLS = 0x80000, CLONE_PARENT_SETTID = 0x100000,
        CLONE_CHILD_CLEARTID = 0x200000, CLONE_DETACHED = 0x400000, CLONE_UNTRACED = 0x800000,
        CLONE_CHILD_SETTID = 0x1000000, CLONE_NEWCGROUP = 0x2000000, CLONE_NEWUTS = 0x4000000,
        CLONE_NEWIPC = 0x8000000, CLONE_NEWUSER = 0x10000000, CLONE_NEWPID = 0x20000000,
        CLONE_NEWNET = 0x40000000, CLONE_IO = 0x80000000;
    /// wait's options.
    flags WAIT "W???": WNOHANG = 1, WSTOPPED = 2, WEXITED = 4, WCONTINUED = 8,
        WNOWAIT = 0x1000000, __WNOTHREAD = 0x20000000, __WALL = 0x40000000,
        __WCLONE = 0x80000000;
    /// waitid's ids.
    one WAIT_ID "P_???": P_ALL = 0, P_PID = 1, P_PGID = 2, P_PIDFD = 3;
    /// setpriority.
    one PRIORITY "PRIO_???": PRIO_PROCESS = 0, PRIO_PGRP = 1, PRIO_USER = 2;
    /// Resources.
    one RESOURCE "RLIMIT_???": RLIMIT_CPU = 0, RLIMIT_FSIZE = 1, RLIMIT_DATA = 2, RLIMIT_STACK = 3,
        RLIMIT_CORE = 4, RLIMIT_RSS = 5, RLIMIT_NOFILE = 6, RLIMIT_AS = 7, RLIMIT_NPROC = 8,
        RLIMIT_MEMLOCK = 9, RLIMIT_LOCKS = 10, RLIMIT_SIGPENDING = 11, RLIMIT_MSGQUEUE = 12,
        RLIMIT_NICE = 13, RLIMIT_RTPRIO = 14, RLIMIT_RTTIME = 15;
    /// getrusage.
    one USAGE "RUSAGE_???": RUSAGE_SELF = 0, RUSAGE_CHILDREN = 0xffffffff, RUSAGE_THREAD = 1;
    /// Schedulers.
    one SCHEDULER "SCHED_???": SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2, SCHED_BATCH = 3,
        SCHED_IDLE = 5;
    /// prctl.
    one PRCTL "PR_???": PR_SET_PDEATHSIG = 1, PR_GET_PDEATHSIG = 2, PR_GET_DUMPABLE = 3,
        PR_SET_DUMPABLE = 4, PR_GET_UNALIGN = 5, PR_SET_UNALIGN = 6, PR_GET_KEEPCAPS = 7,
        PR_SET_KEEPCAPS = 8, PR_SET_NAME = 15, PR_GET_NAME = 16, PR_GET_SECCOMP = 21,
        PR_SET_SECCOMP = 22, PR_CAPBSET_READ = 23, PR_CAPBSET_DROP = 24, PR_SET_TIMERSLACK = 29,
        PR_GET_TIMERSLACK = 30, PR_SET_MM = 35, PR_SET_CHILD_SUBREAPER = 36,
        PR_GET_CHILD_SUBREAPER = 37, PR_SET_NO_NEW_PRIVS = 38, PR_GET_NO_NEW_PRIVS = 39,
        PR_SET_VMA = 0x53564d41;
    /// sigprocmask.
    one SIGPROCMASK "SIG_???": SIG_BLOCK = 1, SIG_UNBLOCK = 2, SIG_SETMASK = 3;
    /// Flags of an action.
    flags ACTION_FLAGS "SA_???": SA_NOCLDSTOP = 4, SA_NOCLDWAIT = 0x20, SA_SIGINFO = 0x40,
        SA_ONSTACK = 1, SA_RESTART = 2, SA_NODEFER = 8, SA_RESETHAND = 0x10;
    /// Flags of an alternate stack.
    flags STACK_FLAGS "SS_???": SS_ONSTACK = 1, SS_DISABLE = 2;
    /// poll's events.
    flags POLL "POLL???": POLLIN = 1, POLLPRI = 2, POLLOUT = 4, POLLERR = 8, POLLHUP = 0x10,
        POLLNVAL = 0x20, POLLRDNORM = 0x40, POLLRDBAND = 0x80, POLLWRNORM = 0x100,
        POLLWRBAND = 0x200, POLLMSG = 0x400, POLLRDHUP = 0x2000;
    /// epoll's events.
    flags EPOLL "EPOLL???": EPOLLIN = 1, EPOLLPRI = 2, EPOLLOUT = 4, EPOLLERR = 8, EPOLLHUP = 0x10,
        EPOLLRDNORM = 0x40, EPOLLRDBAND = 0x80, EPOLLWRNORM = 0x100, EPOLLWRBAND = 0x200,
        EPOLLMSG = 0x400, EPOLLRDHUP = 0x2000, EPOLLEXCLUSIVE = 0x10000000,
        EPOLLWAKEUP = 0x20000000, EPOLLONESHOT = 0x40000000, EPOLLET = 0x80000000;
    /// epoll_ctl.
    one EPOLL_OP "EPOLL_CTL_???": EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL = 2, EPOLL_CTL_MOD = 3;
    /// epoll_create1.
    flags EPOLL_CREATE "EPOLL_???": EPOLL_CLOEXEC = 0x200000;
    /// eventfd2.
    flags EVENTFD "EFD_???": EFD_SEMAPHORE = 1, EFD_CLOEXEC = 0x200000, EFD_NONBLOCK = 4;
    /// signalfd4.
    flags SIGNALFD "SFD_???": SFD_CLOEXEC = 0x200000, SFD_NONBLOCK = 4;
    /// timerfd_create.
    flags TIMERFD "TFD_???": TFD_CLOEXEC = 0x200000, TFD_NONBLOCK = 4;
    /// timerfd_settime.
    flags TIMERFD_SET "TFD_???": TFD_TIMER_ABSTIME = 1, TFD_TIMER_CANCEL_ON_SET = 2;
    /// inotify_init1.
    flags INOTIFY "IN_???": IN_CLOEXEC = 0x200000, IN_NONBLOCK = 4;
    /// inotify's events.
    flags INOTIFY_MASK "IN_???": IN_ACCESS = 1, IN_MODIFY = 2, IN_ATTRIB = 4, IN_CLOSE_WRITE = 8,
        IN_CLOSE_NOWRITE = 0x10, IN_OPEN = 0x20, IN_MOVED_FROM = 0x40, IN_MOVED_TO = 0x80,
        IN_CREATE = 0x100, IN_DELETE = 0x200, IN_DELETE_SELF = 0x400, IN_MOVE_SELF = 0x800,
        IN_ONLYDIR = 0x1000000, IN_DONT_FOLLOW = 0x2000000, IN_EXCL_UNLINK = 0x4000000,
        IN_MASK_ADD = 0x20000000, IN_ISDIR = 0x40000000, IN_ONESHOT = 0x80000000;
    /// Address families.
    one FAMILY "AF_???": AF_UNSPEC = 0, AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16,
        AF_PACKET = 17, AF_VSOCK = 40;
    /// Types of sockets.
    flags SOCKET "SOCK_???": SOCK_STREAM = 1 in 0xf, SOCK_DGRAM = 2 in 0xf, SOCK_RAW = 3 in 0xf,
        SOCK_RDM = 4 in 0xf, SOCK_SEQPACKET = 5 in 0xf, SOCK_PACKET = 10 in 0xf,
        SOCK_CLOEXEC = 0x200000, SOCK_NONBLOCK = 0x40000000;
    /// accept4.
    flags ACCEPT "SOCK_???": SOCK_CLOEXEC = 0x200000, SOCK_NONBLOCK = 0x40000000;
    /// Protocols.
    one PROTOCOL "IPPROTO_???": IPPROTO_IP = 0, IPPROTO_ICMP = 1, IPPROTO_TCP = 6, IPPROTO_UDP = 17,
        IPPROTO_IPV6 = 41, IPPROTO_ICMPV6 = 58, IPPROTO_RAW = 255;
    /// Flags of a message.
    flags MSG "MSG_???": MSG_OOB = 1, MSG_PEEK = 2, MSG_DONTROUTE = 4, MSG_CTRUNC = 8,
        MSG_PROXY = 0x10, MSG_TRUNC = 0x20, MSG_DONTWAIT = 0x40, MSG_EOR = 0x80,
        MSG_WAITALL = 0x100, MSG_FIN = 0x200, MSG_SYN = 0x400, MSG_CONFIRM = 0x800,
        MSG_RST = 0x1000, MSG_ERRQUEUE = 0x2000, MSG_NOSIGNAL = 0x4000, MSG_MORE = 0x8000,
        MSG_WAITFORONE = 0x10000, MSG_CMSG_CLOEXEC = 0x40000000;
    /// shutdown.
    one SHUTDOWN "SHUT_???": SHUT_RD = 0, SHUT_WR = 1, SHUT_RDWR = 2;
    /// Levels of socket options.
    one SOCKET_LEVEL "SOL_???": SOL_IP = 0, SOL_SOCKET = 0xffff, SOL_TCP = 6, SOL_IPV6 = 41,
        SOL_RAW = 255, SOL_PACKET = 263, SOL_NETLINK = 270;
    /// Options of SOL_SOCKET.
    one SOCKET_OPTION "SO_???": SO_DEBUG = 1, SO_REUSEADDR = 4, SO_KEEPALIVE = 8,
        SO_DONTROUTE = 0x10, SO_BROADCAST = 0x20, SO_LINGER = 0x80, SO_OOBINLINE = 0x100,
        SO_REUSEPORT = 0x200, SO_SNDBUF = 0x1001, SO_RCVBUF = 0x1002, SO_ERROR = 0x1007,
        SO_TYPE = 0x1008, SO_SNDBUFFORCE = 0x100a, SO_RCVBUFFORCE = 0x100b, SO_RCVLOWAT = 0x1010,
        SO_SNDLOWAT = 0x1011, SO_RCVTIMEO = 0x1012, SO_SNDTIMEO = 0x1013, SO_ACCEPTCONN = 0x1014,
        SO_PROTOCOL = 0x1028, SO_DOMAIN = 0x1029, SO_NO_CHECK = 11, SO_PRIORITY = 12,
        SO_BSDCOMPAT = 14, SO_PASSCRED = 17, SO_PEERCRED = 18, SO_BINDTODEVICE = 25,
        SO_ATTACH_FILTER = 26, SO_DETACH_FILTER = 27, SO_PEERNAME = 28, SO_TIMESTAMP = 29,
        SO_PEERSEC = 30, SO_PASSSEC = 34, SO_TIMESTAMPNS = 35, SO_MARK = 36, SO_TIMESTAMPING = 37,
        SO_RXQ_OVFL = 40, SO_PEEK_OFF = 42, SO_BUSY_POLL = 46;
    /// Options of TCP.
    one TCP_OPTION "TCP_???": TCP_NODELAY = 1, TCP_MAXSEG = 2, TCP_CORK = 3, TCP_KEEPIDLE = 4,
        TCP_KEEPINTVL = 5, TCP_KEEPCNT = 6, TCP_SYNCNT = 7, TCP_LINGER2 = 8,
        TCP_DEFER_ACCEPT = 9, TCP_WINDOW_CLAMP = 10, TCP_INFO = 11, TCP_QUICKACK = 12,
        TCP_CONGESTION = 13, TCP_USER_TIMEOUT = 18, TCP_FASTOPEN = 23;
    /// Clocks.
    one CLOCK "CLOCK_???": CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 1, CLOCK_PROCESS_CPUTIME_ID = 2,
        CLOCK_THREAD_CPUTIME_ID = 3, CLOCK_MONOTONIC_RAW = 4, CLOCK_REALTIME_COARSE = 5,
        CLOCK_MONOTONIC_COARSE = 6, CLOCK_BOOTTIME = 7, CLOCK_REALTIME_ALARM = 8,
        CLOCK_BOOTTIME_ALARM = 9, CLOCK_TAI = 11;
    /// Flags of timers.
    flags TIMER "TIMER_???": TIMER_ABSTIME = 1;
    /// Interval timers.
    one ITIMER "ITIMER_???": ITIMER_REAL = 0, ITIMER_VIRTUAL = 1, ITIMER_PROF = 2;
    /// sigevent's kinds.
    one SIGEV "SIGEV_???": SIGEV_SIGNAL = 0, SIGEV_NONE = 1, SIGEV_THREAD = 2, SIGEV_THREAD_ID = 4;
    /// Operations on futexes.
    flags FUTEX "FUTEX_???": FUTEX_WAIT = 0 in 0x7f, FUTEX_WAKE = 1 in 0x7f, FUTEX_FD = 2 in 0x7f,
        FUTEX_REQUEUE = 3 in 0x7f, FUTEX_CMP_REQUEUE = 4 in 0x7f, FUTEX_WAKE_OP = 5 in 0x7f,
        FUTEX_LOCK_PI = 6 in 0x7f, FUTEX_UNLOCK_PI = 7 in 0x7f, FUTEX_TRYLOCK_PI = 8 in 0x7f,
        FUTEX_WAIT_BITSET = 9 in 0x7f, FUTEX_WAKE_BITSET = 10 in 0x7f,
        FUTEX_WAIT_REQUEUE_PI = 11 in 0x7f, FUTEX_CMP_REQUEUE_PI = 12 in 0x7f,
        FUTEX_LOCK_PI2 = 13 in 0x7f, FUTEX_PRIVATE_FLAG = 0x80, FUTEX_CLOCK_REALTIME = 0x100;
    /// membarrier.
    flags MEMBARRIER "MEMBARRIER_CMD_???": MEMBARRIER_CMD_QUERY = 0, MEMBARRIER_CMD_GLOBAL = 1,
        MEMBARRIER_CMD_GLOBAL_EXPEDITED = 2, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED = 4,
        MEMBARRIER_CMD_PRIVATE_EXPEDITED = 8, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED = 0x10;
    /// getrandom.
    flags GETRANDOM "GRND_???": GRND_NONBLOCK = 1, GRND_RANDOM = 2, GRND_INSECURE = 4;
    /// System V IPC: flags of the get calls.
    flags IPC "IPC_???": IPC_CREAT = 0x200, IPC_EXCL = 0x400, IPC_NOWAIT = 0x800;
    /// System V IPC: commands.
    one IPC_COMMAND "IPC_???": IPC_RMID = 0, IPC_SET = 1, IPC_STAT = 2, IPC_INFO = 3, GETPID = 11,
        GETVAL = 12, GETALL = 13, GETNCNT = 14, GETZCNT = 15, SETVAL = 16, SETALL = 17;
    /// shmat.
    flags SHMAT "SHM_???": SHM_RDONLY = 0x1000, SHM_RND = 0x2000, SHM_REMAP = 0x4000,
        SHM_EXEC = 0x8000;
    /// getsysinfo.
    one GETSYSINFO "GSI_???": GSI_UACPROC = 8, GSI_IEEE_FP_CONTROL = 45,
        GSI_IEEE_STATE_AT_SIGNAL = 46, GSI_PROC_TYPE = 60, GSI_GET_HWRPB = 101;
    /// setsysinfo.
    one SETSYSINFO "SSI_???": SSI_NVPAIRS = 1, SSI_IEEE_FP_CONTROL = 14,
        SSI_IEEE_STATE_AT_SIGNAL = 15, SSI_IEEE_IGNORE_STATE_AT_SIGNAL = 16;
    /// `si_code`s that say who sent a signal.
    one SENDER "SI_???": SI_USER = 0, SI_KERNEL = 0x80, SI_QUEUE = 0xffffffff,
        SI_TIMER = 0xfffffffe, SI_MESGQ = 0xfffffffd, SI_ASYNCIO = 0xfffffffc,
        SI_SIGIO = 0xfffffffb, SI_TKILL = 0xfffffffa;
    /// `si_code`s of SIGSEGV.
    one SEGV_CODE "SEGV_???": SEGV_MAPERR = 1, SEGV_ACCERR = 2;
    /// `si_code`s of SIGBUS.
    one BUS_CODE "BUS_???": BUS_ADRALN = 1, BUS_ADRERR = 2, BUS_OBJERR = 3;
    /// `si_code`s of SIGILL.
    one ILL_CODE "ILL_???": ILL_ILLOPC = 1, ILL_ILLOPN = 2, ILL_ILLADR = 3, ILL_ILLTRP = 4;
    /// `si_code`s of SIGFPE.
    one FPE_CODE "FPE_???": FPE_INTDIV = 1, FPE_INTOVF = 2, FPE_FLTDIV = 3, FPE_FLTOVF = 4,
        FPE_FLTUND = 5, FPE_FLTRES = 6, FPE_FLTINV = 7, FPE_FLTSUB = 8, FPE_FLTUNK = 14;
    /// `si_code`s of SIGTRAP.
    one TRAP_CODE "TRAP_???": TRAP_BRKPT = 1, TRAP_TRACE = 2, TRAP_BRANCH = 3, TRAP_HWBKPT = 4,
        TRAP_UNK = 5;
    /// `si_code`s of SIGCHLD.
    one CHLD_CODE "CLD_???": CLD_EXITED = 1, CLD_KILLED = 2, CLD_DUMPED = 3, CLD_TRAPPED = 4,
        CLD_STOPPED = 5, CLD_CONTINUED = 6;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against Alpha's headers.
    #[test]
    fn values_are_the_headers() {
        let facts = ALL.iter().flat_map(|(_, table)| table.rows).map(|row| {
            // A few are enumerators, or signed: an unsigned longword is what a call is given.
            (format!("(unsigned int)({})", row.name), row.value)
        });
        crate::abi::check(
            &[
                "asm/sysinfo.h",
                "fcntl.h",
                "linux/close_range.h",
                "linux/futex.h",
                "linux/membarrier.h",
                "linux/netlink.h",
                "linux/prctl.h",
                "time.h",
                "netinet/in.h",
                "netinet/tcp.h",
                "poll.h",
                "sched.h",
                "signal.h",
                "stdio.h",
                "sys/epoll.h",
                "sys/eventfd.h",
                "sys/file.h",
                "sys/inotify.h",
                "sys/ipc.h",
                "sys/mman.h",
                "sys/mount.h",
                "sys/random.h",
                "sys/resource.h",
                "sys/sem.h",
                "sys/shm.h",
                "sys/signalfd.h",
                "sys/socket.h",
                "sys/stat.h",
                "sys/pidfd.h",
                "sys/time.h",
                "sys/timerfd.h",
                "sys/uio.h",
                "sys/wait.h",
                "sys/xattr.h",
                "unistd.h",
            ],
            facts,
        );
    }
}
