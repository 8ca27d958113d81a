//! ioctl: the commands that are known, for an unknown one's argument may be anything.

use super::{DONE, Result, is_guest};
use crate::bytes::Bytes;
use crate::errno::Errno;
use crate::mm::Space;
use crate::termios;
use crate::thread::Thread;

/// What a command's argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    /// A number, or nothing.
    Number,
    /// Points to so many bytes, of the same layout as the host's.
    Bytes(u64),
    /// A descriptor.
    Descriptor,
    /// Points to a `struct ifconf`: a size, and a pointer to as many bytes.
    List,
    /// A new descriptor is the result.
    NewDescriptor,
    /// Points to a `struct termios` that is read or written.
    GetTermios,
    SetTermios,
}
use Argument::{Bytes as Plain, Descriptor, GetTermios, List, NewDescriptor, Number, SetTermios};

/// A command: its name, Alpha's number (`asm/ioctls.h`, `asm/sockios.h`), the host's, the argument.
struct Command {
    name: &'static str,
    number: u32,
    host: u64,
    argument: Argument,
}

macro_rules! commands {
    ($($name:ident = $number:literal, $host:expr, $argument:expr;)*) => {
        /// Alpha encodes direction and size in other bits; those without them are the same.
        const COMMANDS: &[Command] = &[$(Command {
            name: stringify!($name),
            number: $number,
            host: $host as u64,
            argument: $argument,
        }),*];
    };
}

commands! {
    FIOCLEX = 0x2000_6601, libc::FIOCLEX, Number;
    FIONCLEX = 0x2000_6602, libc::FIONCLEX, Number;
    FIOASYNC = 0x8004_667d, libc::FIOASYNC, Plain(4);
    FIONBIO = 0x8004_667e, libc::FIONBIO, Plain(4);
    FIONREAD = 0x4004_667f, libc::FIONREAD, Plain(4);
    TCGETS = 0x402c_7413, libc::TCGETS2, GetTermios;
    TCSETS = 0x802c_7414, libc::TCSETS2, SetTermios;
    TCSETSW = 0x802c_7415, libc::TCSETSW2, SetTermios;
    TCSETSF = 0x802c_7416, libc::TCSETSF2, SetTermios;
    TCGETS2 = 0x402c_542a, libc::TCGETS2, GetTermios;
    TCSETS2 = 0x802c_542b, libc::TCSETS2, SetTermios;
    TCSETSW2 = 0x802c_542c, libc::TCSETSW2, SetTermios;
    TCSETSF2 = 0x802c_542d, libc::TCSETSF2, SetTermios;
    TCSBRK = 0x2000_741d, libc::TCSBRK, Number;
    TCXONC = 0x2000_741e, libc::TCXONC, Number;
    TCFLSH = 0x2000_741f, libc::TCFLSH, Number;
    TIOCSWINSZ = 0x8008_7467, libc::TIOCSWINSZ, Plain(8);
    TIOCGWINSZ = 0x4008_7468, libc::TIOCGWINSZ, Plain(8);
    TIOCOUTQ = 0x4004_7473, libc::TIOCOUTQ, Plain(4);
    TIOCSPGRP = 0x8004_7476, libc::TIOCSPGRP, Plain(4);
    TIOCGPGRP = 0x4004_7477, libc::TIOCGPGRP, Plain(4);
    TIOCEXCL = 0x540c, libc::TIOCEXCL, Number;
    TIOCNXCL = 0x540d, libc::TIOCNXCL, Number;
    TIOCSCTTY = 0x540e, libc::TIOCSCTTY, Number;
    TIOCSTI = 0x5412, libc::TIOCSTI, Plain(1);
    TIOCPKT = 0x5420, libc::TIOCPKT, Plain(4);
    TIOCNOTTY = 0x5422, libc::TIOCNOTTY, Number;
    TCSBRKP = 0x5425, libc::TCSBRKP, Number;
    TIOCSBRK = 0x5427, libc::TIOCSBRK, Number;
    TIOCCBRK = 0x5428, libc::TIOCCBRK, Number;
    TIOCGSID = 0x5429, libc::TIOCGSID, Plain(4);
    TIOCGPTN = 0x4004_5430, libc::TIOCGPTN, Plain(4);
    TIOCSPTLCK = 0x8004_5431, libc::TIOCSPTLCK, Plain(4);
    TIOCGPTPEER = 0x2000_5441, TIOCGPTPEER, NewDescriptor;
    SIOCATMARK = 0x4004_7307, 0x8905, Plain(4);
    FIGETBSZ = 0x2000_0002, 2, Plain(4);
    // Owner of a socket.
    SIOCSPGRP = 0x8004_7308, SIOCSPGRP, Plain(4);
    SIOCGPGRP = 0x4004_7309, SIOCGPGRP, Plain(4);
    FIOQSIZE = 0x4008_6680, libc::FIOQSIZE, Plain(8);
    // Files and block devices.
    FICLONE = 0x8004_9409, libc::FICLONE, Descriptor;
    FS_IOC_GETFLAGS = 0x4008_6601, FS_IOC_GETFLAGS, Plain(8);
    FS_IOC_SETFLAGS = 0x8008_6602, FS_IOC_SETFLAGS, Plain(8);
    FS_IOC_GETVERSION = 0x4008_7601, FS_IOC_GETVERSION, Plain(8);
    FS_IOC_FSGETXATTR = 0x401c_581f, FS_IOC_FSGETXATTR, Plain(28);
    BLKGETSIZE64 = 0x4008_1272, BLKGETSIZE64, Plain(8);
    BLKSSZGET = 0x2000_1268, BLKSSZGET, Plain(4);
    BLKGETSIZE = 0x2000_1260, BLKGETSIZE, Plain(8);
    // Network interfaces: a `struct ifreq`.
    SIOCGIFNAME = 0x8910, libc::SIOCGIFNAME, Plain(40);
    SIOCGIFCONF = 0x8912, libc::SIOCGIFCONF, List;
    SIOCGIFFLAGS = 0x8913, libc::SIOCGIFFLAGS, Plain(40);
    SIOCGIFADDR = 0x8915, libc::SIOCGIFADDR, Plain(40);
    SIOCGIFDSTADDR = 0x8917, libc::SIOCGIFDSTADDR, Plain(40);
    SIOCGIFBRDADDR = 0x8919, libc::SIOCGIFBRDADDR, Plain(40);
    SIOCGIFNETMASK = 0x891b, libc::SIOCGIFNETMASK, Plain(40);
    SIOCGIFMETRIC = 0x891d, libc::SIOCGIFMETRIC, Plain(40);
    SIOCGIFMTU = 0x8921, libc::SIOCGIFMTU, Plain(40);
    SIOCGIFHWADDR = 0x8927, libc::SIOCGIFHWADDR, Plain(40);
    SIOCGIFINDEX = 0x8933, libc::SIOCGIFINDEX, Plain(40);
}

// `linux/sockios.h` and `linux/fs.h`: libc lacks these.
const SIOCSPGRP: u64 = 0x8902;
const SIOCGPGRP: u64 = 0x8904;
const FS_IOC_GETFLAGS: u64 = 0x8008_6601;
const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
const FS_IOC_GETVERSION: u64 = 0x8008_7601;
const FS_IOC_FSGETXATTR: u64 = 0x801c_581f;
const BLKGETSIZE64: u64 = 0x8008_1272;
const BLKSSZGET: u64 = 0x1268;
const BLKGETSIZE: u64 = 0x1260;

/// Opens the other end of a pseudoterminal.
const TIOCGPTPEER: u64 = 0x5441;

fn known(number: u64) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.number == number as u32)
}

/// A command, for a trace.
pub(super) fn name(_: &Space, value: u64, _: &[u64; 6]) -> Option<String> {
    Some(known(value).map_or_else(|| format!("{:#x}", value as u32), |c| c.name.to_owned()))
}

/// A command's argument, for a trace.
pub(super) fn argument(_: &Space, value: u64, args: &[u64; 6]) -> Option<String> {
    Some(match known(args[1]).map(|c| c.argument) {
        Some(Number | Descriptor | NewDescriptor) => (value as i64).to_string(),
        _ => format!("{value:#x}"),
    })
}

pub(super) fn ioctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [fd, command, arg, ..] = *a;
    if let Some(done) = crate::perf_event::calls::ioctl(t, a) {
        return Ok(done?.into());
    }
    let Some(Command { host, argument, .. }) = known(command) else {
        t.shared.log.say(format_args!("ioctl {:#x} isn't implemented", command as u32));
        return Err(Errno(libc::ENOTTY));
    };
    let call = |arg: u64| t.block(libc::SYS_ioctl, &[fd, *host, arg, 0, 0, 0]);
    match *argument {
        Number => Ok(call(arg)?.into()),
        NewDescriptor => {
            let flags = crate::flags::open_to_host(arg) as u64;
            Ok(t.shared.descriptors.admit(call(flags)?)?.into())
        }
        Plain(size) => {
            is_guest(arg, size)?;
            Ok(call(arg)?.into())
        }
        Descriptor => {
            t.shared.descriptors.check(arg)?;
            Ok(call(arg)?.into())
        }
        List => {
            let mut list = Bytes::<16>::read(&t.shared.space, arg)?;
            is_guest(list.u64(8), u64::from(list.u32(0)))?;
            call(list.0.as_mut_ptr() as u64)?;
            list.write(&t.shared.space, arg)?;
            DONE
        }
        GetTermios => {
            let mut settings = Bytes::<{ termios::HOST_SIZE }>::zeroed();
            call(settings.0.as_mut_ptr() as u64)?;
            termios::to_guest(&settings).write(&t.shared.space, arg)?;
            DONE
        }
        SetTermios => {
            let settings = termios::to_host(&Bytes::read(&t.shared.space, arg)?);
            call(settings.0.as_ptr() as u64)?;
            DONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against Alpha's headers. The structures of the C library's `termios.h` and the kernel's exclude
    /// each other.
    #[test]
    fn commands() {
        let headers =
            ["sys/types.h", "asm/termios.h", "asm/ioctls.h", "linux/sockios.h", "linux/fs.h"];
        let facts =
            COMMANDS.iter().map(|c| (format!("(unsigned int)({})", c.name), u64::from(c.number)));
        crate::abi::check(&headers, facts);
    }
}
