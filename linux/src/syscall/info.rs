//! What the system is, and what a thread wants of it.

use axperf::{Bus, Reg};

use super::{DONE, Result, is_guest, now};
use crate::bytes::Bytes;
use crate::cpu;
use crate::errno::Errno;
use crate::ieee;
use crate::layout::PAGE;
use crate::signal::Info;
use crate::signo::Signal;
use crate::thread::Thread;
use crate::trap::uac;

/// The fields of uname: system, node, release, version, machine, domain.
fn names(t: &Thread) -> Result<[Vec<u8>; 6]> {
    // SAFETY: zero is a valid value of the structure, which uname fills.
    let host = unsafe {
        let mut u: libc::utsname = std::mem::zeroed();
        if libc::uname(&mut u) != 0 {
            return Err(Errno::last());
        }
        u
    };
    let text = |field: &[libc::c_char]| -> Vec<u8> {
        field.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect()
    };
    Ok([
        b"Linux".to_vec(),
        text(&host.nodename),
        t.shared.config.release.clone().into_bytes(),
        b"#1 SMP".to_vec(),
        b"alpha".to_vec(),
        text(&host.domainname),
    ])
}

/// Puts strings into fields of `width` bytes; each keeps a NUL.
fn fields(names: &[Vec<u8>], width: usize) -> Vec<u8> {
    let mut all = Vec::with_capacity(names.len() * width);
    for name in names {
        let shown = &name[..name.len().min(width - 1)];
        all.extend_from_slice(shown);
        all.resize(all.len() + width - shown.len(), 0);
    }
    all
}

pub(super) fn uname(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.write(a[0], &fields(&names(t)?, 65))?;
    DONE
}

pub(super) fn osf_utsname(t: &mut Thread, a: &[u64; 6]) -> Result {
    t.shared.space.write(a[0], &fields(&names(t)?[..5], 32))?;
    DONE
}

pub(super) fn gethostname(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [_, node, ..] = names(t)?;
    let len = usize::try_from(a[1] as i32).map_err(|_| Errno(libc::EINVAL))?;
    let mut node = node;
    node.push(0);
    t.shared.space.write(a[0], &node[..node.len().min(len)])?;
    DONE
}

/// osf_getdomainname.
pub(super) fn osf_getdomainname(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [.., domain] = names(t)?;
    let len = usize::try_from(a[1] as i32).map_err(|_| Errno(libc::EINVAL))?;
    let mut domain = domain;
    domain.push(0);
    t.shared.space.write(a[0], &domain[..domain.len().min(len)])?;
    DONE
}

/// OSF/1's sysinfo: strings by number.
pub(super) fn osf_sysinfo(t: &mut Thread, a: &[u64; 6]) -> Result {
    let mut all = names(t)?.to_vec();
    all.truncate(5);
    // Instruction set; serial number, manufacturer and RPC domain are dummies in Linux too.
    all.push(b"alpha".to_vec());
    all.extend(std::iter::repeat_n(b"dummy".to_vec(), 3));
    let index = (a[0] as u32).wrapping_sub(1) as usize;
    let mut text = all.get(index).ok_or(Errno(libc::EINVAL))?.clone();
    text.push(0);
    let len = text.len().min(a[2] as usize);
    t.shared.space.write(a[1], &text[..len])?;
    DONE
}

pub(super) fn getpagesize(_: &mut Thread, _: &[u64; 6]) -> Result {
    Ok(PAGE.into())
}

/// The HAE register is of no use to a program without a bus.
pub(super) fn sethae(_: &mut Thread, _: &[u64; 6]) -> Result {
    DONE
}

/// Nothing is left to be restarted by the time a program can call it.
pub(super) fn restart_syscall(_: &mut Thread, _: &[u64; 6]) -> Result {
    Err(Errno(libc::EINTR))
}

/// PER_LINUX is all there is.
pub(super) fn personality(_: &mut Thread, a: &[u64; 6]) -> Result {
    const QUERY: u32 = u32::MAX;
    match a[0] as u32 {
        0 | QUERY => DONE,
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Operations of getsysinfo and setsysinfo (`asm/sysinfo.h`).
mod op {
    pub const GSI_UACPROC: u64 = 8;
    pub const GSI_IEEE_FP_CONTROL: u64 = 45;
    pub const GSI_PROC_TYPE: u64 = 60;
    pub const SSI_NVPAIRS: u64 = 1;
    pub const SSI_LMF: u64 = 7;
    pub const SSI_IEEE_FP_CONTROL: u64 = 14;
    pub const SSI_IEEE_RAISE_EXCEPTION: u64 = 1001;
    pub const SSIN_UACPROC: u32 = 6;
}

pub(super) fn getsysinfo(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [operation, buffer, bytes, ..] = *a;
    let space = &t.shared.space;
    match operation {
        op::GSI_IEEE_FP_CONTROL => {
            space.write_u64(buffer, ieee::control(t.ieee, t.cpu.reg(Reg::Fpcr)))?;
            DONE
        }
        op::GSI_UACPROC if bytes >= 4 => {
            space.write_u32(buffer, t.unaligned)?;
            Ok(1.into())
        }
        op::GSI_PROC_TYPE if bytes >= 8 => {
            space.write_u64(buffer, cpu::hwrpb_type(t.shared.engine.cpu()))?;
            Ok(1.into())
        }
        op::GSI_UACPROC | op::GSI_PROC_TYPE => Err(Errno(libc::EINVAL)),
        _ => Err(Errno(libc::EOPNOTSUPP)),
    }
}

pub(super) fn setsysinfo(t: &mut Thread, a: &[u64; 6]) -> Result {
    let [operation, buffer, count, ..] = *a;
    let fpcr = t.cpu.reg(Reg::Fpcr);
    match operation {
        op::SSI_IEEE_FP_CONTROL => {
            let control = t.shared.space.read_u64(buffer)? & ieee::CONTROL;
            t.ieee = control;
            t.cpu.set_reg(Reg::Fpcr, ieee::set_control(fpcr, control));
            DONE
        }
        op::SSI_IEEE_RAISE_EXCEPTION => {
            let raised = ieee::raise(t.ieee, fpcr, t.shared.space.read_u64(buffer)?);
            t.ieee = raised.state;
            t.cpu.set_reg(Reg::Fpcr, raised.fpcr);
            if let Some(code) = raised.code {
                // The handler is entered as if after the call.
                t.cpu.set_reg(Reg::R0, 0);
                t.cpu.set_reg(Reg::R19, 0);
                t.post(Info::fault(Signal::FPE, code, 0, 0));
                return Ok(super::Ret::Kept);
            }
            DONE
        }
        op::SSI_NVPAIRS => {
            // Pairs of a name and a value, longwords. The count is the program's own.
            let mut at = buffer;
            for _ in 0..count {
                is_guest(at, 8)?;
                let pair = Bytes::<8>::read(&t.shared.space, at)?;
                if pair.u32(0) != op::SSIN_UACPROC {
                    return Err(Errno(libc::EOPNOTSUPP));
                }
                t.unaligned = pair.u32(4) & uac::ALL;
                at += 8;
            }
            DONE
        }
        op::SSI_LMF => DONE,
        _ => Err(Errno(libc::EOPNOTSUPP)),
    }
}

/// The prctl options whose arguments are numbers alone, and mean the guest's process as well as the
/// host's: dumpable, keep capabilities, timer slack, child subreaper, no new privileges.
const PLAIN: [i32; 10] = [
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_GET_KEEPCAPS,
    libc::PR_SET_KEEPCAPS,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_TIMERSLACK,
    libc::PR_SET_CHILD_SUBREAPER,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_CAPBSET_READ,
];

pub(super) fn prctl(t: &mut Thread, a: &[u64; 6]) -> Result {
    const NAME: usize = 16;
    /// PR_UNALIGN_ bits are UAC_ bits without the lowest: NOPRINT 1, SIGBUS 2.
    const UNALIGN_SIGBUS: u64 = 2;
    let host = |a: &[u64; 6]| now(libc::SYS_prctl, a);
    let option = a[0] as i32;
    match option {
        libc::PR_SET_NAME => {
            let name = t.shared.space.read_string(a[1], NAME);
            let name = match name {
                Ok(name) => name,
                // Longer names are cut.
                Err(Errno(libc::ENAMETOOLONG)) => {
                    Bytes::<{ NAME - 1 }>::read(&t.shared.space, a[1])?.0.to_vec()
                }
                Err(e) => return Err(e),
            };
            let mut text = name.clone();
            text.push(0);
            host(&[a[0], text.as_ptr() as u64, 0, 0, 0, 0])?;
            t.has_name(&name, false);
            DONE
        }
        libc::PR_GET_NAME => {
            let mut name = [0u8; NAME];
            host(&[a[0], name.as_mut_ptr() as u64, 0, 0, 0, 0])?;
            t.shared.space.write(a[1], &name)?;
            DONE
        }
        libc::PR_SET_PDEATHSIG => {
            let signal =
                if a[1] == 0 { 0 } else { Signal::new(a[1]).ok_or(Errno(libc::EINVAL))?.host() };
            Ok(host(&[a[0], signal as u64, 0, 0, 0, 0])?.into())
        }
        libc::PR_GET_PDEATHSIG => {
            let mut signal = 0i32;
            host(&[a[0], &raw mut signal as u64, 0, 0, 0, 0])?;
            let guest = Signal::from_host(signal).map_or(0, |s| u32::from(s.number()));
            t.shared.space.write_u32(a[1], guest)?;
            DONE
        }
        libc::PR_SET_UNALIGN => {
            t.unaligned = if a[1] & UNALIGN_SIGBUS != 0 { uac::SIGBUS } else { 0 };
            DONE
        }
        libc::PR_GET_UNALIGN => {
            let value = if t.unaligned & uac::SIGBUS != 0 { UNALIGN_SIGBUS } else { 0 };
            t.shared.space.write_u32(a[1], value as u32)?;
            DONE
        }
        _ if PLAIN.contains(&option) => Ok(host(&[a[0], a[1], a[2], a[3], a[4], 0])?.into()),
        _ => Err(Errno(libc::EINVAL)),
    }
}
