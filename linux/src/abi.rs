//! Numbers and layouts against Alpha's own headers: a C compiler for Alpha is asked whether each is
//! so. Debian's packages with both are `gcc-alpha-linux-gnu` and `linux-libc-dev-alpha-cross`.

use std::io::Write;
use std::process::{Command, Stdio};

/// Rows of a name and the host's value of it.
macro_rules! named {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name as u64)),*] };
}
pub(crate) use named;

/// Asserts that each C expression has its value, with these headers.
pub(crate) fn check(headers: &[&str], facts: impl IntoIterator<Item = (String, u64)>) {
    const COMPILER: &str = "alpha-linux-gnu-gcc";
    let mut text: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
    let mut count = 0;
    for (expression, value) in facts {
        text += &format!(
            "_Static_assert((unsigned long)({expression}) == {value}ul, \"{value} isn't\");\n"
        );
        count += 1;
    }
    assert!(count > 0);
    let compiler = Command::new(COMPILER)
        .args(["-D_GNU_SOURCE", "-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut compiler = match compiler {
        Ok(compiler) => compiler,
        Err(e) => {
            assert!(std::env::var_os("CI").is_none(), "{COMPILER}: {e}");
            println!("{COMPILER} is missing: not checked");
            return;
        }
    };
    let mut input = compiler.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let out = compiler.wait_with_output().expect("it ends");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// Sizes and offsets that handlers have as numbers.
#[test]
fn layouts() {
    let sizes = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|(name, size)| (format!("sizeof({name})"), *size)).collect()
    };
    let fields = |of: &str, list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|(field, at)| (format!("__builtin_offsetof({of}, {field})"), *at)).collect()
    };
    // stat.rs.
    check(
        &["asm/stat.h"],
        [
            sizes(&[("struct stat", 80), ("struct stat64", 136)]),
            fields(
                "struct stat",
                &[
                    ("st_ino", 4),
                    ("st_mode", 8),
                    ("st_nlink", 12),
                    ("st_uid", 16),
                    ("st_gid", 20),
                    ("st_rdev", 24),
                    ("st_size", 32),
                    ("st_atime", 40),
                    ("st_mtime", 48),
                    ("st_ctime", 56),
                    ("st_blksize", 64),
                    ("st_blocks", 68),
                ],
            ),
            fields(
                "struct stat64",
                &[
                    ("st_ino", 8),
                    ("st_rdev", 16),
                    ("st_size", 24),
                    ("st_blocks", 32),
                    ("st_mode", 40),
                    ("st_uid", 44),
                    ("st_gid", 48),
                    ("st_blksize", 52),
                    ("st_nlink", 56),
                    ("st_atime", 64),
                    ("st_atime_nsec", 72),
                    ("st_ctime", 96),
                ],
            ),
        ]
        .concat(),
    );
    check(
        &["asm/statfs.h"],
        [
            sizes(&[("struct statfs", 64), ("struct statfs64", 88)]),
            fields("struct statfs", &[("f_fsid", 28), ("f_namelen", 36), ("f_flags", 44)]),
            fields("struct statfs64", &[("f_blocks", 8), ("f_fsid", 48), ("f_flags", 64)]),
        ]
        .concat(),
    );
    // ipc.rs.
    check(
        &["asm/posix_types.h", "linux/ipc.h", "linux/msg.h", "linux/sem.h", "linux/shm.h"],
        [
            sizes(&[
                ("struct ipc64_perm", 48),
                ("struct msqid64_ds", 120),
                ("struct semid64_ds", 88),
                ("struct shmid64_ds", 112),
                ("struct seminfo", 40),
                ("struct sembuf", 6),
            ]),
            fields("struct semid64_ds", &[("sem_otime", 48), ("sem_ctime", 56), ("sem_nsems", 64)]),
            [
                ("IPC_STAT", 2),
                ("IPC_INFO", 3),
                ("GETALL", 13),
                ("SETALL", 17),
                ("SEM_STAT", 18),
                ("SEM_INFO", 19),
                ("SEM_STAT_ANY", 20),
                ("SHM_RDONLY", 0o10000),
                ("SHM_RND", 0o20000),
                ("SHM_REMAP", 0o40000),
                ("SHM_EXEC", 0o100_000),
                ("SHM_LOCK", 11),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        ]
        .concat(),
    );
    check(
        &[
            "mqueue.h",
            "signal.h",
            "sys/signalfd.h",
            "sys/epoll.h",
            "sys/timex.h",
            "sys/sysinfo.h",
            "sys/socket.h",
            "sys/resource.h",
            "sys/times.h",
            "sched.h",
            "fcntl.h",
            "linux/openat2.h",
        ],
        [
            sizes(&[
                ("struct mq_attr", 64),
                ("struct sigevent", 64),
                ("siginfo_t", 128),
                ("struct signalfd_siginfo", 128),
                ("struct epoll_event", 16),
                ("struct timex", 208),
                ("struct sysinfo", 112),
                ("struct msghdr", 56),
                ("struct mmsghdr", 64),
                ("struct rusage", 144),
                ("struct tms", 32),
                ("struct sched_param", 4),
                ("struct flock", 32),
                ("struct open_how", 24),
                ("stack_t", 24),
            ]),
            fields("struct sigevent", &[("sigev_signo", 8), ("sigev_notify", 12)]),
            fields("struct signalfd_siginfo", &[("ssi_code", 8), ("ssi_status", 40)]),
            fields("struct msghdr", &[("msg_iov", 16), ("msg_control", 32), ("msg_flags", 48)]),
            fields("struct epoll_event", &[("data", 8)]),
        ]
        .concat(),
    );
}

/// Flags of `open` and of calls that make descriptors, in their translation.
#[test]
fn descriptor_flags() {
    use crate::flags;
    let names = named![O_NONBLOCK O_APPEND O_CREAT O_TRUNC O_EXCL O_NOCTTY O_ASYNC O_DSYNC
        O_DIRECTORY O_NOFOLLOW O_DIRECT O_NOATIME O_CLOEXEC O_SYNC O_PATH O_TMPFILE O_RDWR];
    check(
        &["fcntl.h"],
        names.iter().map(|(name, host)| ((*name).to_owned(), flags::open_to_guest(*host))),
    );
    let made = |names: &[(&str, u64)], of: flags::Flags| -> Vec<(String, u64)> {
        names.iter().map(|(name, host)| ((*name).to_owned(), of.to_guest(*host))).collect()
    };
    check(
        &["sys/epoll.h", "sys/eventfd.h", "sys/signalfd.h", "sys/timerfd.h", "sys/inotify.h"],
        made(
            named![EPOLL_CLOEXEC EFD_CLOEXEC EFD_NONBLOCK SFD_CLOEXEC SFD_NONBLOCK TFD_CLOEXEC
                TFD_NONBLOCK IN_CLOEXEC IN_NONBLOCK],
            flags::DESCRIPTOR,
        ),
    );
    check(&["sys/socket.h"], made(named![SOCK_CLOEXEC SOCK_NONBLOCK], flags::SOCKET));
    check(
        &["sys/mman.h"],
        made(named![MAP_NORESERVE MAP_POPULATE MAP_NONBLOCK MAP_STACK], flags::MMAP),
    );
}

/// Resources, in their translation; advice, requests to lock.
#[test]
fn limits_and_memory() {
    use crate::limits::Resource;
    let names = named![RLIMIT_CPU RLIMIT_FSIZE RLIMIT_CORE RLIMIT_RSS RLIMIT_NPROC RLIMIT_MEMLOCK
        RLIMIT_LOCKS RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO];
    let facts = names.iter().map(|(name, host)| {
        let is = |n: &u64| Resource::new(*n).ok() == Some(Resource::Host(*host as u32));
        ((*name).to_owned(), (0..16).find(is).expect(name))
    });
    check(&["sys/resource.h"], facts);
    let values = [
        ("RLIMIT_NOFILE", 6),
        ("RLIMIT_AS", 7),
        ("RLIM_INFINITY", i64::MAX as u64),
        ("MADV_DONTNEED", 6),
        ("MCL_CURRENT", 0x2000),
        ("MCL_FUTURE", 0x4000),
        ("MCL_ONFAULT", 0x8000),
        ("MAP_FIXED", 0x100),
        ("MAP_ANONYMOUS", 0x10),
        ("MAP_HUGETLB", 0x10_0000),
        ("MAP_FIXED_NOREPLACE", 0x20_0000),
        ("F_GETLK", 7),
        ("F_SETOWN", 5),
        ("F_UNLCK", 8),
    ];
    check(
        &["asm/resource.h", "sys/mman.h", "fcntl.h"],
        values.map(|(name, value)| (name.to_owned(), value)),
    );
}
