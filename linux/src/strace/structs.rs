//! Structures that calls point to: sizes, and the fields that a trace shows. Layouts: Alpha's headers.

use super::{names, special};
use crate::syscall::arg::Look::{
    Addr, FileMode, Hex, Int, Limit, Long, Octal, Of, Signal, Uint, Ulong,
};
use crate::syscall::arg::{Field, Form, Struct, What};

/// Structures field by field: `size NAME { field = offset bytes look }`, with `...` at the end where
/// others aren't shown. `size NAME by function` is one that is shown by that function.
macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident $size:literal $body:tt;)*) => {
        $($(#[$doc])*
        pub(crate) static $name: Struct = Struct { size: $size, form: structs!(@form $body) };)*
    };
    (@form { $($field:ident $at:literal $what:tt),* ; more }) => {
        Form::Fields { fields: &[$(structs!(@field $field $at $what)),*], more: true }
    };
    (@form { $($field:ident $at:literal $what:tt),* }) => {
        Form::Fields { fields: &[$(structs!(@field $field $at $what)),*], more: false }
    };
    (@form ($by:expr)) => { Form::By($by) };
    (@field $field:ident $at:literal (struct $of:expr)) => {
        Field { name: stringify!($field), at: $at, what: What::Struct(&$of) }
    };
    (@field $field:ident $at:literal ($bytes:literal $look:expr)) => {
        Field { name: stringify!($field), at: $at, what: What::Num($bytes, $look) }
    };
}

structs! {
    /// An `int`, by itself.
    INT_AT 4 (special::int);
    /// Two, such as a pipe's descriptors.
    INTS 8 (special::ints);
    /// An `unsigned int`.
    UINT_AT 4 (special::uint);
    /// An offset or a size.
    LONG_AT 8 (special::long);
    /// An address.
    POINTER 8 (special::pointer);
    /// A status of wait.
    STATUS 4 (special::status);
    /// `sigset_t`, the kernel's.
    SIGSET 8 (special::sigset);
    /// A temporary mask: pointer and size.
    MASK 16 (special::mask);
    /// `struct sigaction`.
    SIGACTION 24 (special::sigaction);
    /// OSF/1's `struct sigaction`.
    OSF_SIGACTION 24 (special::osf_sigaction);
    /// `siginfo_t`.
    SIGINFO 128 (special::siginfo);
    /// `struct sockaddr`, of any family.
    SOCKADDR 128 (special::sockaddr);
    /// A group, in a list of them.
    GID 4 (special::gid);
    /// A string in a buffer.
    NAME 256 (special::name);
    /// A path in a buffer.
    PATH_NAME 4096 (special::name);
    /// The value of a socket option.
    OPTION 32 (special::option);
    /// `struct iovec` with what it points to.
    IOVEC 16 (special::iovec);
    /// `struct iovec` of what is still to be filled.
    SPACE 16 { iov_base 0 (8 Addr), iov_len 8 (8 Ulong) };
    /// `struct msghdr`.
    MSGHDR 56 (special::msghdr);
    /// `struct pollfd`.
    POLLFD 8 (special::pollfd);
    /// `struct utsname`.
    UTSNAME 390 (special::utsname);
    /// `struct timespec`.
    TIMESPEC 16 { tv_sec 0 (8 Long), tv_nsec 8 (8 Long) };
    /// `struct timeval`.
    TIMEVAL 16 { tv_sec 0 (8 Long), tv_usec 8 (8 Long) };
    /// OSF/1's `struct timeval`.
    TIMEVAL32 8 { tv_sec 0 (4 Int), tv_usec 4 (4 Int) };
    /// `struct timezone`.
    TIMEZONE 8 { tz_minuteswest 0 (4 Int), tz_dsttime 4 (4 Int) };
    /// `struct timespec` twice.
    TIMESPECS 32 (special::timespecs);
    /// `struct timeval` twice.
    TIMEVALS 32 (special::timevals);
    /// OSF/1's `struct timeval` twice.
    TIMEVALS32 16 (special::timevals32);
    /// `struct itimerspec`.
    ITIMERSPEC 32 { it_interval 0 (struct TIMESPEC), it_value 16 (struct TIMESPEC) };
    /// `struct itimerval`.
    ITIMERVAL 32 { it_interval 0 (struct TIMEVAL), it_value 16 (struct TIMEVAL) };
    /// OSF/1's `struct itimerval`.
    ITIMERVAL32 16 { it_interval 0 (struct TIMEVAL32), it_value 8 (struct TIMEVAL32) };
    /// `struct stat`.
    STAT 80 { st_mode 8 (4 FileMode), st_size 32 (8 Long) ; more };
    /// `struct stat64`.
    STAT64 136 { st_mode 40 (4 FileMode), st_size 24 (8 Long) ; more };
    /// OSF/1's `struct stat`.
    OSF_STAT 160 { st_mode 8 (4 FileMode), st_size 32 (8 Long) ; more };
    /// `struct statx`.
    STATX 256 { stx_mask 0 (4 Of(&names::STATX_MASK)), stx_mode 28 (2 FileMode), stx_size 40 (8 Ulong) ; more };
    /// `struct statfs`.
    STATFS 64 { f_type 0 (4 Hex), f_bsize 4 (4 Uint), f_blocks 8 (4 Uint), f_bfree 12 (4 Uint) ; more };
    /// `struct statfs64`.
    STATFS64 88 { f_type 0 (4 Hex), f_bsize 4 (4 Uint), f_blocks 8 (8 Ulong), f_bfree 16 (8 Ulong) ; more };
    /// `struct open_how`.
    OPEN_HOW 24 { flags 0 (8 Of(&names::OPEN)), mode 8 (8 Octal), resolve 16 (8 Hex) };
    /// `struct flock`.
    FLOCK 32 { l_type 0 (2 Of(&names::RECORD_LOCK)), l_whence 2 (2 Of(&names::SEEK)), l_start 8 (8 Long), l_len 16 (8 Long) };
    /// `struct rlimit`.
    RLIMIT 16 { rlim_cur 0 (8 Limit), rlim_max 8 (8 Limit) };
    /// `struct rusage`.
    RUSAGE 144 { ru_utime 0 (struct TIMEVAL), ru_stime 16 (struct TIMEVAL) ; more };
    /// OSF/1's `struct rusage`.
    RUSAGE32 128 { ru_utime 0 (struct TIMEVAL32), ru_stime 8 (struct TIMEVAL32) ; more };
    /// `struct tms`.
    TMS 32 { tms_utime 0 (8 Long), tms_stime 8 (8 Long), tms_cutime 16 (8 Long), tms_cstime 24 (8 Long) };
    /// `struct sysinfo`.
    SYSINFO 112 { uptime 0 (8 Long), totalram 32 (8 Ulong), freeram 40 (8 Ulong), procs 80 (2 Uint) ; more };
    /// `struct timex`.
    TIMEX 208 { modes 0 (4 Hex), offset 8 (8 Long), freq 16 (8 Long), status 40 (4 Hex) ; more };
    /// `stack_t`.
    STACK 24 { ss_sp 0 (8 Addr), ss_flags 8 (4 Of(&names::STACK_FLAGS)), ss_size 16 (8 Ulong) };
    /// `struct sigevent`.
    SIGEVENT 64 { sigev_signo 8 (4 Signal), sigev_notify 12 (4 Of(&names::SIGEV)) ; more };
    /// `struct epoll_event`, whose data is a union.
    EPOLL_EVENT 16 { events 0 (4 Of(&names::EPOLL)), data 8 (struct EPOLL_DATA) };
    /// `epoll_data_t`.
    EPOLL_DATA 8 { u32 0 (4 Uint), u64 0 (8 Ulong) };
    /// `struct mq_attr`.
    MQ_ATTR 64 { mq_flags 0 (8 Hex), mq_maxmsg 8 (8 Long), mq_msgsize 16 (8 Long), mq_curmsgs 24 (8 Long) };
    /// `struct sembuf`.
    SEMBUF 6 { sem_num 0 (2 Uint), sem_op 2 (2 Int), sem_flg 4 (2 Of(&names::IPC)) };
    /// `struct mmsghdr`.
    MMSGHDR 64 { msg_hdr 0 (struct MSGHDR), msg_len 56 (4 Uint) };
    /// `struct __user_cap_header_struct`.
    CAP_HEADER 8 { version 0 (4 Hex), pid 4 (4 Int) };
    /// `struct futex_waitv`.
    FUTEX_WAITV 24 { val 0 (8 Hex), uaddr 8 (8 Addr), flags 16 (4 Hex) };
    /// A longword and a place, `struct kcmp_epoll_slot`.
    EPOLL_SLOT 12 { efd 0 (4 Uint), tfd 4 (4 Uint), toff 8 (4 Uint) };
}
