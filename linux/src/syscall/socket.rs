//! Sockets: addresses and messages have the host's layouts, types and options other numbers.

use std::time::{Duration, Instant};

use axperf::Bus;

use super::descriptor::admit_both;
use super::vector::buffers;
use super::{DONE, Result, Ret, is_guest, now};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::flags;
use crate::thread::Thread;

/// The host's type for a guest's: SOCK_STREAM and its like are the same.
fn kind(guest: u64) -> Result<u64> {
    const TYPE: u64 = 0xf;
    let flags = flags::SOCKET.to_host(guest & 0xffff_ffff & !TYPE).ok_or(Errno(libc::EINVAL))?;
    Ok(guest & TYPE | flags)
}

pub(super) fn socket(_: &mut Thread, a: &[u64; 6]) -> Result {
    Ok(now(libc::SYS_socket, &[a[0], kind(a[1])?, a[2], 0, 0, 0])?.into())
}

pub(super) fn socketpair(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut both = [0i32; 2];
    let at = both.as_mut_ptr() as u64;
    now(libc::SYS_socketpair, &[a[0], kind(a[1])?, a[2], at, 0, 0])?;
    let both = admit_both(t, both)?;
    let mut bytes = Bytes::<8>::zeroed();
    bytes.put_u32(0, both[0] as u32);
    bytes.put_u32(4, both[1] as u32);
    bytes.write(&t.shared.space, a[3])?;
    DONE
}

pub(super) fn accept4(t: &mut Thread, a: &[u64; 6]) -> Result {
    let flags = flags::SOCKET.to_host(a[3]).ok_or(Errno(libc::EINVAL))?;
    Ok(t.block(libc::SYS_accept4, &[a[0], a[1], a[2], flags, 0, 0])?.into())
}

/// Alpha's SOL_SOCKET; other levels are protocols, the same everywhere.
const SOL_SOCKET: u64 = 0xffff;

/// Options of SOL_SOCKET whose values have one layout: Alpha's number, the host's.
const OPTIONS: &[(u64, i32)] = &[
    (0x0001, libc::SO_DEBUG),
    (0x0004, libc::SO_REUSEADDR),
    (0x0008, libc::SO_KEEPALIVE),
    (0x0010, libc::SO_DONTROUTE),
    (0x0020, libc::SO_BROADCAST),
    (0x0080, libc::SO_LINGER),
    (0x0100, libc::SO_OOBINLINE),
    (0x0200, libc::SO_REUSEPORT),
    (0x1001, libc::SO_SNDBUF),
    (0x1002, libc::SO_RCVBUF),
    (0x1007, libc::SO_ERROR),
    (0x1008, libc::SO_TYPE),
    (0x100a, libc::SO_SNDBUFFORCE),
    (0x100b, libc::SO_RCVBUFFORCE),
    (0x1010, libc::SO_RCVLOWAT),
    (0x1011, libc::SO_SNDLOWAT),
    (0x1012, libc::SO_RCVTIMEO),
    (0x1013, libc::SO_SNDTIMEO),
    (0x1014, libc::SO_ACCEPTCONN),
    (0x1028, libc::SO_PROTOCOL),
    (0x1029, libc::SO_DOMAIN),
    (11, libc::SO_NO_CHECK),
    (12, libc::SO_PRIORITY),
    (17, libc::SO_PASSCRED),
    (18, libc::SO_PEERCRED),
    (25, libc::SO_BINDTODEVICE),
    (28, libc::SO_PEERNAME),
    (29, libc::SO_TIMESTAMP),
    (34, libc::SO_PASSSEC),
    (35, libc::SO_TIMESTAMPNS),
    (36, libc::SO_MARK),
    (26, libc::SO_ATTACH_FILTER),
    (27, libc::SO_DETACH_FILTER),
    (30, libc::SO_PEERSEC),
    (37, libc::SO_TIMESTAMPING),
];

/// Options from here on have one number everywhere.
const SAME: std::ops::RangeInclusive<u64> = 40..=83;
/// SO_ATTACH_FILTER and SO_ATTACH_REUSEPORT_CBPF: a program that the value points to.
const PROGRAMS: [u64; 2] = [26, 51];

/// The host's level and option.
fn option(level: u64, name: u64) -> Result<[u64; 2]> {
    if level & 0xffff_ffff != SOL_SOCKET {
        return Ok([level, name]);
    }
    if SAME.contains(&name) {
        return Ok([libc::SOL_SOCKET as u64, name]);
    }
    let row = OPTIONS.iter().find(|o| o.0 == name).ok_or(Errno(libc::ENOPROTOOPT))?;
    Ok([libc::SOL_SOCKET as u64, row.1 as u64])
}

pub(super) fn setsockopt(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [level, name] = option(a[1], a[2] & 0xffff_ffff)?;
    if level == libc::SOL_SOCKET as u64 && PROGRAMS.contains(&(a[2] & 0xffff_ffff)) {
        return attach(t, a, name);
    }
    now(libc::SYS_setsockopt, &[a[0], level, name, a[3], a[4], 0])?;
    DONE
}

/// `struct sock_fprog`: a count, and a pointer to as many instructions of 8 bytes.
fn attach(t: &Thread, a: &[u64; 6], name: u64) -> Result {
    if a[4] as u32 != 16 {
        return Err(Errno(libc::EINVAL));
    }
    let program = Bytes::<16>::read(&t.shared.space, a[3])?;
    is_guest(program.u64(8), u64::from(program.u16(0)) * 8)?;
    let (level, at) = (libc::SOL_SOCKET as u64, program.0.as_ptr() as u64);
    now(libc::SYS_setsockopt, &[a[0], level, name, at, 16, 0])?;
    DONE
}

pub(super) fn getsockopt(t: &mut Thread, a: &[u64; 6]) -> Result {
    const SO_ERROR: u64 = 0x1007;
    let [level, name] = option(a[1], a[2])?;
    // The length is read once: the host gets a copy.
    let mut len = t.shared.space.read_u32(a[4])?;
    is_guest(a[3], u64::from(len))?;
    now(libc::SYS_getsockopt, &[a[0], level, name, a[3], &raw mut len as u64, 0])?;
    if a[1] & 0xffff_ffff == SOL_SOCKET && a[2] == SO_ERROR && len == 4 {
        let error = t.shared.space.read_u32(a[3])?;
        if error != 0 {
            t.shared.space.write_u32(a[3], Errno(error as i32).guest() as u32)?;
        }
    }
    t.shared.space.write_u32(a[4], len)?;
    DONE
}

/// Offsets in `struct msghdr`, the host's and the guest's.
mod msg {
    pub const NAME: usize = 0;
    pub const NAME_LEN: usize = 8;
    pub const IOV: usize = 16;
    pub const IOV_LEN: usize = 24;
    pub const CONTROL: usize = 32;
    pub const CONTROL_LEN: usize = 40;
    pub const FLAGS: usize = 48;
    pub const SIZE: usize = 56;
}

/// Control messages are copied, for the level of those of SOL_SOCKET differs.
const MAX_CONTROL: u64 = 20480;
const CMSG_HEADER: usize = 16;

/// A `struct msghdr` for the host, and what its pointers point to.
struct Message {
    header: Bytes<{ msg::SIZE }>,
    buffers: Vec<[u64; 2]>,
    control: Vec<u8>,
}

impl Message {
    fn of(t: &Thread, addr: u64) -> Result<Message> {
        let header = Bytes::<{ msg::SIZE }>::read(&t.shared.space, addr)?;
        is_guest(header.u64(msg::NAME), u64::from(header.u32(msg::NAME_LEN)).max(128))?;
        let buffers = buffers(t, header.u64(msg::IOV), header.u64(msg::IOV_LEN))
            .map_err(|e| if e.0 == libc::EINVAL { Errno(libc::EMSGSIZE) } else { e })?;
        let len = header.u64(msg::CONTROL_LEN);
        if len > MAX_CONTROL {
            return Err(Errno(libc::ENOBUFS));
        }
        is_guest(header.u64(msg::CONTROL), len)?;
        let mut message = Message { header, buffers, control: vec![0; len as usize] };
        let (iov, control) = (message.buffers.as_ptr() as u64, message.control.as_mut_ptr() as u64);
        message.header.put_u64(msg::IOV, iov);
        if !message.control.is_empty() {
            message.header.put_u64(msg::CONTROL, control);
        }
        Ok(message)
    }

    /// Changes the level of control messages from one number of SOL_SOCKET to the other.
    fn translate(&mut self, len: usize, from: u32, to: u32) {
        let mut at = 0;
        while let Some(head) = self.control.get(at..at + CMSG_HEADER)
            && at + CMSG_HEADER <= len
        {
            let size = u64::from_le_bytes(head[..8].try_into().expect("eight bytes")) as usize;
            if head[8..12] == from.to_le_bytes() {
                self.control[at + 8..at + 12].copy_from_slice(&to.to_le_bytes());
            }
            if size < CMSG_HEADER {
                break;
            }
            let Some(next) = size.checked_next_multiple_of(8).and_then(|s| at.checked_add(s))
            else {
                break;
            };
            at = next;
        }
    }
}

pub(super) fn sendmsg(t: &mut Thread, a: &[u64; 6]) -> Result {
    let guest = Bytes::<{ msg::SIZE }>::read(&t.shared.space, a[1])?;
    let mut message = Message::of(t, a[1])?;
    let len = message.control.len();
    if len > 0 {
        t.shared.space.read(guest.u64(msg::CONTROL), &mut message.control)?;
        message.translate(len, SOL_SOCKET as u32, libc::SOL_SOCKET as u32);
    }
    let header = message.header.0.as_ptr() as u64;
    Ok(t.block(libc::SYS_sendmsg, &[a[0], header, a[2], 0, 0, 0])?.into())
}

/// Messages one after the other; what was sent before an error counts.
pub(super) fn sendmmsg(t: &mut Thread, a: &[u64; 6]) -> Result {
    const EACH: u64 = 64;
    const SENT: u64 = msg::SIZE as u64;
    let mut count = 0;
    while count < a[2].min(1024) {
        let at = a[1] + count * EACH;
        match sendmsg(t, &[a[0], at, a[3], 0, 0, 0]) {
            Ok(Ret::Value(sent)) => t.shared.space.write_u32(at + SENT, sent as u32)?,
            Err(e) if count == 0 => return Err(e),
            _ => break,
        }
        count += 1;
    }
    Ok(count.into())
}

/// Messages one after the other, until there are enough, the time is over, or (with
/// MSG_WAITFORONE) there is one and no other waits.
pub(super) fn recvmmsg(t: &mut Thread, a: &[u64; 6]) -> Result {
    const EACH: u64 = 64;
    const RECEIVED: u64 = msg::SIZE as u64;
    const WAIT_FOR_ONE: u64 = libc::MSG_WAITFORONE as u64;
    let deadline = match a[4] {
        0 => None,
        at => {
            let b = Bytes::<16>::read(&t.shared.space, at)?;
            let (seconds, nano) = (b.i64(0), b.i64(8));
            if seconds < 0 || !(0..1_000_000_000).contains(&nano) {
                return Err(Errno(libc::EINVAL));
            }
            Instant::now().checked_add(Duration::new(seconds as u64, nano as u32))
        }
    };
    let mut count = 0;
    let mut flags = a[3] & !WAIT_FOR_ONE;
    while count < a[2].min(1024) {
        let at = a[1] + count * EACH;
        match recvmsg(t, &[a[0], at, flags, 0, 0, 0]) {
            Ok(Ret::Value(got)) => t.shared.space.write_u32(at + RECEIVED, got as u32)?,
            Err(e) if count == 0 => return Err(e),
            _ => break,
        }
        count += 1;
        if a[3] & WAIT_FOR_ONE != 0 {
            flags |= libc::MSG_DONTWAIT as u64;
        }
        if deadline.is_some_and(|d| Instant::now() >= d) {
            break;
        }
    }
    if let Some(deadline) = deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut b = Bytes::<16>::zeroed();
        b.put_u64(0, left.as_secs());
        b.put_u64(8, left.subsec_nanos().into());
        b.write(&t.shared.space, a[4])?;
    }
    Ok(count.into())
}

pub(super) fn recvmsg(t: &mut Thread, a: &[u64; 6]) -> Result {
    let guest = Bytes::<{ msg::SIZE }>::read(&t.shared.space, a[1])?;
    let mut message = Message::of(t, a[1])?;
    let header = message.header.0.as_mut_ptr() as u64;
    let got = t.block(libc::SYS_recvmsg, &[a[0], header, a[2], 0, 0, 0])?;
    let control_len = message.header.u64(msg::CONTROL_LEN);
    let used = (control_len as usize).min(message.control.len());
    if used > 0 {
        message.translate(used, libc::SOL_SOCKET as u32, SOL_SOCKET as u32);
        t.shared.space.write(guest.u64(msg::CONTROL), &message.control[..used])?;
    }
    let mut back = guest;
    back.put_u32(msg::NAME_LEN, message.header.u32(msg::NAME_LEN));
    back.put_u64(msg::CONTROL_LEN, control_len);
    back.put_u32(msg::FLAGS, message.header.u32(msg::FLAGS));
    back.write(&t.shared.space, a[1])?;
    Ok(got.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{check, named};

    /// The number of Alpha's that becomes the host's.
    fn guest(host: u64) -> u64 {
        let row = OPTIONS.iter().find(|o| o.1 as u64 == host);
        row.map_or(host, |row| row.0)
    }

    /// Against Alpha's `asm/socket.h`.
    #[test]
    fn options() {
        let names = named![SO_DEBUG SO_REUSEADDR SO_KEEPALIVE SO_DONTROUTE SO_BROADCAST SO_LINGER
            SO_OOBINLINE SO_REUSEPORT SO_SNDBUF SO_RCVBUF SO_ERROR SO_TYPE SO_SNDBUFFORCE
            SO_RCVBUFFORCE SO_RCVLOWAT SO_SNDLOWAT SO_RCVTIMEO SO_SNDTIMEO SO_ACCEPTCONN
            SO_PROTOCOL SO_DOMAIN SO_NO_CHECK SO_PRIORITY SO_PASSCRED SO_PEERCRED SO_BINDTODEVICE
            SO_PEERNAME SO_TIMESTAMP SO_PASSSEC SO_TIMESTAMPNS SO_MARK SO_RXQ_OVFL SO_INCOMING_CPU
            SO_ATTACH_FILTER SO_DETACH_FILTER SO_PEERSEC SO_TIMESTAMPING SO_PEEK_OFF SO_NOFCS
            SO_LOCK_FILTER SO_BUSY_POLL SO_ZEROCOPY SO_BINDTOIFINDEX];
        check(
            &["sys/socket.h"],
            names.iter().map(|(name, host)| ((*name).to_owned(), guest(*host))),
        );
        check(&["sys/socket.h"], [("SOL_SOCKET".to_owned(), SOL_SOCKET)]);
    }
}
