//! Structures and arguments that are shown in a way of their own.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::print::{
    address, array, buffer, code, hex, load, named, octal, quoted, signal, signals, string,
};
use super::{names, structs};
use crate::bytes::Bytes;
use crate::mm::Space;
use crate::signo::Signal;
use crate::syscall::arg::{Data, Struct};

/// The number of `size` bytes at `at`; 0 where the bytes end before.
fn at(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes.get(at..).and_then(|b| load(b, size)).unwrap_or(0)
}

pub(super) fn int(_: &Space, b: &[u8]) -> String {
    format!("[{}]", at(b, 0, 4) as i32)
}

pub(super) fn uint(_: &Space, b: &[u8]) -> String {
    format!("[{}]", at(b, 0, 4))
}

pub(super) fn gid(_: &Space, b: &[u8]) -> String {
    at(b, 0, 4).to_string()
}

/// It ends at its NUL.
pub(super) fn name(_: &Space, b: &[u8]) -> String {
    quoted(b.split(|c| *c == 0).next().unwrap_or_default())
}

pub(super) fn ints(_: &Space, b: &[u8]) -> String {
    format!("[{}, {}]", at(b, 0, 4) as i32, at(b, 4, 4) as i32)
}

pub(super) fn long(_: &Space, b: &[u8]) -> String {
    format!("[{}]", at(b, 0, 8) as i64)
}

pub(super) fn pointer(_: &Space, b: &[u8]) -> String {
    format!("[{}]", address(at(b, 0, 8)))
}

/// Its signals are Alpha's.
pub(super) fn status(_: &Space, b: &[u8]) -> String {
    let status = at(b, 0, 4) as i32;
    let signal = |n: i32| signal(n as u64);
    let text = if libc::WIFEXITED(status) {
        format!("WIFEXITED(s) && WEXITSTATUS(s) == {}", libc::WEXITSTATUS(status))
    } else if libc::WIFSTOPPED(status) {
        format!("WIFSTOPPED(s) && WSTOPSIG(s) == {}", signal(libc::WSTOPSIG(status)))
    } else if libc::WIFCONTINUED(status) {
        "WIFCONTINUED(s)".into()
    } else {
        let core = if libc::WCOREDUMP(status) { " && WCOREDUMP(s)" } else { "" };
        format!("WIFSIGNALED(s) && WTERMSIG(s) == {}{core}", signal(libc::WTERMSIG(status)))
    };
    format!("[{{{text}}}]")
}

pub(super) fn sigset(_: &Space, b: &[u8]) -> String {
    signals(at(b, 0, 8))
}

pub(super) fn mask(space: &Space, b: &[u8]) -> String {
    let set = at(b, 0, 8);
    let shown = space.read_u64(set).map_or_else(|_| address(set), signals);
    format!("{{sigmask={shown}, sigsetsize={}}}", at(b, 8, 8))
}

fn handler(value: u64) -> String {
    match value {
        0 => "SIG_DFL".into(),
        1 => "SIG_IGN".into(),
        other => hex(other),
    }
}

fn action(handler_: u64, mask: u64, flags: u64) -> String {
    let (handler, mask) = (handler(handler_), signals(mask));
    format!(
        "{{sa_handler={handler}, sa_mask={mask}, sa_flags={}}}",
        named(flags, &names::ACTION_FLAGS)
    )
}

pub(super) fn sigaction(_: &Space, b: &[u8]) -> String {
    action(at(b, 0, 8), at(b, 16, 8), at(b, 8, 8))
}

pub(super) fn osf_sigaction(_: &Space, b: &[u8]) -> String {
    action(at(b, 0, 8), at(b, 8, 8), at(b, 16, 4))
}

pub(super) fn siginfo(_: &Space, b: &[u8]) -> String {
    siginfo_text(b)
}

/// What of it counts goes by the code, and by the signal.
pub(super) fn siginfo_text(b: &[u8]) -> String {
    let (number, si_code) = (at(b, 0, 4), at(b, 8, 4) as i32);
    let Some(of) = Signal::new(number) else { return "{}".into() };
    let mut text = format!("{{si_signo={of}, si_code={}", code(of, si_code as u32));
    let field = |at_: usize| at(b, at_, 4) as i32;
    let sent = si_code <= 0 && si_code != libc::SI_TIMER;
    if [Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE, Signal::TRAP].contains(&of) && !sent {
        text += &format!(", si_addr={}", address(at(b, 16, 8)));
    } else if of == Signal::CHLD && !sent {
        let status = field(24);
        let status =
            if si_code == 1 { status.to_string() } else { signal(u64::from(status as u32)) };
        let (pid, uid, utime, stime) = (field(16), field(20), at(b, 32, 8), at(b, 40, 8));
        text += &format!(
            ", si_pid={pid}, si_uid={uid}, si_status={status}, si_utime={utime}, si_stime={stime}"
        );
    } else if si_code == libc::SI_TIMER {
        text += &format!(", si_timerid={}, si_overrun={}", field(16), field(20));
    } else if sent {
        text += &format!(", si_pid={}, si_uid={}", field(16), field(20));
    }
    if [libc::SI_QUEUE, libc::SI_TIMER].contains(&si_code) {
        text +=
            &format!(", si_value={{sival_int={}, sival_ptr={}}}", field(24), address(at(b, 24, 8)));
    }
    text + "}"
}

pub(super) fn sockaddr(_: &Space, b: &[u8]) -> String {
    let port = || u16::from_be_bytes([at(b, 2, 1) as u8, at(b, 3, 1) as u8]);
    let family = at(b, 0, 2);
    let rest = match family {
        1 => {
            let path = b.get(2..).unwrap_or_default();
            let end = |p: &[u8]| p.iter().position(|c| *c == 0).unwrap_or(p.len());
            match path.first() {
                None => String::new(),
                // In a space of names of its own.
                Some(0) => format!(", sun_path=@{}", quoted(&path[1..][..end(&path[1..])])),
                Some(_) => format!(", sun_path={}", quoted(&path[..end(path)])),
            }
        }
        2 => {
            let ip = Ipv4Addr::from((at(b, 4, 4) as u32).swap_bytes());
            format!(", sin_port=htons({}), sin_addr=inet_addr(\"{ip}\")", port())
        }
        10 => {
            let mut ip = [0; 16];
            ip.copy_from_slice(b.get(8..24).unwrap_or(&[0; 16]));
            let (ip, flow, scope) = (Ipv6Addr::from(ip), at(b, 4, 4) as u32, at(b, 24, 4));
            format!(
                ", sin6_port=htons({}), sin6_flowinfo=htonl({}), inet_pton(AF_INET6, \"{ip}\", &sin6_addr), sin6_scope_id={scope}",
                port(),
                flow.swap_bytes()
            )
        }
        16 => format!(", nl_pid={}, nl_groups={:08x}", at(b, 4, 4), at(b, 8, 4)),
        _ => format!(", sa_data={}", quoted(b.get(2..16.min(b.len())).unwrap_or_default())),
    };
    format!("{{sa_family={}{rest}}}", named(family, &names::FAMILY))
}

pub(super) fn iovec(space: &Space, b: &[u8]) -> String {
    let (base, len) = (at(b, 0, 8), at(b, 8, 8));
    format!("{{iov_base={}, iov_len={len}}}", buffer(space, base, len))
}

pub(super) fn msghdr(space: &Space, b: &[u8]) -> String {
    let (name, name_len) = (at(b, 0, 8), at(b, 8, 4));
    let name = super::print::pointed(
        space,
        name,
        Data::Sized(0, &structs::SOCKADDR),
        &[name_len, 0, 0, 0, 0, 0],
        None,
    );
    let (iov, count) = (at(b, 16, 8), at(b, 24, 8));
    let (control, control_len) = (at(b, 32, 8), at(b, 40, 8));
    let control = if control == 0 { String::new() } else { format!("msg_control={control:#x}, ") };
    format!(
        "{{msg_name={name}, msg_namelen={name_len}, msg_iov={}, msg_iovlen={count}, {control}msg_controllen={control_len}, msg_flags={}}}",
        array(space, iov, count, &structs::IOVEC),
        named(at(b, 48, 4), &names::MSG),
    )
}

pub(super) fn pollfd(_: &Space, b: &[u8]) -> String {
    format!("{{fd={}, events={}}}", at(b, 0, 4) as i32, named(at(b, 4, 2), &names::POLL))
}

pub(super) fn utsname(_: &Space, b: &[u8]) -> String {
    let field = |i: usize| {
        let bytes = b.get(65 * i..65 * (i + 1)).unwrap_or_default();
        quoted(bytes.split(|c| *c == 0).next().unwrap_or_default())
    };
    format!("{{sysname={}, nodename={}, release={}, ...}}", field(0), field(1), field(2))
}

/// Two of a structure, in an array.
fn two(space: &Space, b: &[u8], of: &Struct) -> String {
    let shown: Vec<String> = b
        .chunks_exact(of.size as usize)
        .map(|part| super::print::fields(space, part, of))
        .collect();
    format!("[{}]", shown.join(", "))
}

pub(super) fn timespecs(space: &Space, b: &[u8]) -> String {
    two(space, b, &structs::TIMESPEC)
}

pub(super) fn timevals(space: &Space, b: &[u8]) -> String {
    two(space, b, &structs::TIMEVAL)
}

pub(super) fn timevals32(space: &Space, b: &[u8]) -> String {
    two(space, b, &structs::TIMEVAL32)
}

/// The mode of open, the third argument, which is there only if a file may be made.
pub(crate) fn open_mode(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    mode_if_made(value, args[1])
}

/// The mode of openat, the fourth.
pub(crate) fn openat_mode(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    mode_if_made(value, args[2])
}

fn mode_if_made(mode: u64, flags: u64) -> Option<String> {
    const O_CREAT: u64 = 0x200;
    const TMPFILE: u64 = 0x100_0000;
    (flags & (O_CREAT | TMPFILE) != 0).then(|| octal(mode & 0xffff))
}

/// The argument of fcntl, by the command before it.
pub(crate) fn fcntl_argument(space: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    let lock = || super::print::pointed(space, value, Data::One(&structs::FLOCK), args, None);
    match args[1] {
        // GETFD, GETFL, GETOWN, GETSIG, GETLEASE, GETPIPE_SZ, GET_SEALS.
        1 | 3 | 6 | 11 | 1025 | 1032 | 1034 => None,
        2 => Some(named(value, &names::DESCRIPTOR)),
        4 => Some(named(value, &names::OPEN)),
        7..=9 | 36..=38 => Some(lock()),
        10 => Some(signal(value)),
        15 | 16 => Some(address(value)),
        _ => Some((value as i64).to_string()),
    }
}

/// What fcntl's result is, by the command.
pub(crate) fn fcntl_result(_: &Space, value: u64, args: &[u64; 6]) -> String {
    match args[1] {
        1 if value != 0 => format!(" (flags {})", named(value, &names::DESCRIPTOR)),
        3 => format!(" (flags {})", named(value, &names::OPEN)),
        _ => String::new(),
    }
}

/// The descriptors that poll found.
pub(crate) fn poll_result(space: &Space, value: u64, args: &[u64; 6]) -> String {
    if value == 0 {
        return " (Timeout)".into();
    }
    let mut found = Vec::new();
    // As many as a table of descriptors has.
    for i in 0..args[1].min(65536) {
        let Ok(fd) = Bytes::<8>::read(space, args[0].wrapping_add(8 * i)) else { break };
        if fd.u16(6) != 0 {
            let events = named(u64::from(fd.u16(6)), &names::POLL);
            found.push(format!("{{fd={}, revents={events}}}", fd.i32(0)));
        }
    }
    format!(" ([{}])", found.join(", "))
}

/// clone's flags, with the exit signal.
pub(crate) fn clone_flags(_: &Space, value: u64, _: &[u64; 6]) -> Option<String> {
    let (flags, exit) = (value & !0xff, value & 0xff);
    let signal = if exit == 0 { "0".into() } else { signal(exit) };
    Some(match (flags, exit) {
        (0, _) => signal,
        (_, 0) => named(flags, &names::CLONE),
        _ => format!("{}|{signal}", named(flags, &names::CLONE)),
    })
}

/// futex's fourth argument: a time to wait, or a number.
pub(crate) fn futex_timeout(space: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    match args[1] & 0x7f {
        // WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2.
        0 | 6 | 9 | 11 | 13 => {
            Some(super::print::pointed(space, value, Data::One(&structs::TIMESPEC), args, None))
        }
        // REQUEUE, CMP_REQUEUE, WAKE_OP, CMP_REQUEUE_PI.
        3..=5 | 12 => Some(value.to_string()),
        10 => Some(address(value)),
        _ => None,
    }
}

/// futex's fifth argument: another futex.
pub(crate) fn futex_other(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    [3, 4, 5, 9, 10, 11, 12].contains(&(args[1] & 0x7f)).then(|| address(value))
}

/// futex's sixth argument: bits, or a value.
pub(crate) fn futex_bits(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    let bits = value & 0xffff_ffff;
    match args[1] & 0x7f {
        9 | 10 if bits == 0xffff_ffff => Some("FUTEX_BITSET_MATCH_ANY".into()),
        4 | 5 | 9 | 10 | 12 => Some(hex(bits)),
        _ => None,
    }
}

/// The name of an option of the level before it.
pub(crate) fn socket_option(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    Some(match args[1] as u32 {
        0xffff => named(value, &names::SOCKET_OPTION),
        6 => named(value, &names::TCP_OPTION),
        _ => (value as i32).to_string(),
    })
}

/// The first of prctl's arguments, where it is a string.
pub(crate) fn prctl_argument(space: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    const PR_SET_NAME: u64 = 15;
    Some(if args[0] == PR_SET_NAME { string(space, value, false) } else { hex(value) })
}

/// A set of descriptors, for select: there are as many as the first argument says.
pub(crate) fn fd_set(space: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    if value == 0 {
        return Some(address(value));
    }
    let count = (args[0] as i32).clamp(0, 1024) as u64;
    let mut set = Vec::new();
    for word in 0..count.div_ceil(64) {
        let Ok(bits) = space.read_u64(value.wrapping_add(8 * word)) else {
            return Some(address(value));
        };
        let members = (0..64).filter(|b| bits >> b & 1 != 0).map(|b| 64 * word + b);
        set.extend(members.filter(|n| *n < count).map(|n| n.to_string()));
    }
    Some(format!("[{}]", set.join(" ")))
}

/// The strings of a program's arguments.
pub(crate) fn argv(space: &Space, value: u64, _: &[u64; 6]) -> Option<String> {
    /// Strings that are shown.
    const MOST: u64 = 32;
    if value == 0 {
        return Some(address(value));
    }
    let mut shown = Vec::new();
    for i in 0..=MOST {
        match space.read_u64(value.wrapping_add(8 * i)) {
            Ok(0) => break,
            Ok(_) if i == MOST => shown.push("...".into()),
            Ok(at) => shown.push(string(space, at, false)),
            Err(_) => return Some(address(value)),
        }
    }
    Some(format!("[{}]", shown.join(", ")))
}

/// The number of a program's variables.
pub(crate) fn environment(space: &Space, value: u64, _: &[u64; 6]) -> Option<String> {
    /// More aren't counted.
    const MOST: u64 = 100_000;
    let is_end = |i: &u64| !matches!(space.read_u64(value.wrapping_add(8 * i)), Ok(1..));
    let count = if value == 0 { None } else { (0..MOST).find(is_end) };
    Some(match count {
        Some(n) => {
            let s = if n == 1 { "" } else { "s" };
            format!("{value:#x} /* {n} var{s} */")
        }
        None => address(value),
    })
}

/// A set of signals in a register.
pub(crate) fn signal_set(_: &Space, value: u64, _: &[u64; 6]) -> Option<String> {
    Some(signals(value))
}

/// A protocol, which has a name for sockets of the Internet.
pub(crate) fn protocol(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    Some(match args[0] {
        2 | 10 => named(value, &names::PROTOCOL),
        _ => (value as i32).to_string(),
    })
}

/// The value of a socket option: a longword, if it has the size of one.
pub(super) fn option(_: &Space, b: &[u8]) -> String {
    match b.len() {
        4 => format!("[{}]", at(b, 0, 4) as i32),
        _ => quoted(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscall::arg::{Form, What};

    /// Fields lie within their structures, and those of a union's first member aren't beyond it.
    #[test]
    fn fields_are_inside() {
        for of in [&structs::STAT, &structs::STAT64, &structs::STATX, &structs::TIMEX] {
            let Form::Fields { fields, .. } = &of.form else { panic!("fields") };
            for field in *fields {
                let size = match field.what {
                    What::Num(size, _) => size,
                    What::Struct(of) => of.size as usize,
                };
                assert!((field.at + size) as u64 <= of.size, "{}", field.name);
            }
        }
    }
}
