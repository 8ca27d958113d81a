//! Values as strace(1) shows them.

use std::fmt::Write;

use axperf::Bus;

use super::names;
use crate::mm::Space;
use crate::signo::Signal;
use crate::syscall::arg::{Data, Form, Look, Names, Struct, What};

/// Bytes of a buffer, and elements of an array, that are shown.
const MOST: u64 = 32;

/// A value by its constants' names.
pub(crate) fn named(value: u64, names: &Names) -> String {
    let value = value & u64::from(u32::MAX);
    let mut left = value;
    let mut found = Vec::new();
    for row in names.rows {
        // What is 0 in its field has no bits left to be looked for.
        let of = if row.value == 0 { value } else { left };
        if of & row.mask == row.value {
            found.push(row.name);
            left &= !row.mask;
        }
    }
    let known = found.join("|");
    match (found.is_empty(), left) {
        (false, 0) => known,
        (true, 0) => "0".into(),
        (false, left) => format!("{known}|{left:#x}"),
        (true, left) => format!("{left:#x} /* {} */", names.unknown),
    }
}

/// An address, or NULL.
pub(crate) fn address(value: u64) -> String {
    if value == 0 { "NULL".into() } else { format!("{value:#x}") }
}

/// A number, 0 without a prefix.
pub(crate) fn hex(value: u64) -> String {
    if value == 0 { "0".into() } else { format!("{value:#x}") }
}

/// Permissions.
pub(crate) fn octal(value: u64) -> String {
    // As C's %#03o.
    if value == 0 { "000".into() } else { format!("0{value:02o}") }
}

/// A signal's number.
pub(crate) fn signal(value: u64) -> String {
    match Signal::new(u64::from(value as u32)) {
        Some(signal) => signal.to_string(),
        None => (value as i32).to_string(),
    }
}

fn file_mode(value: u64) -> String {
    let kind = match value as u32 & libc::S_IFMT {
        libc::S_IFREG => "S_IFREG|",
        libc::S_IFDIR => "S_IFDIR|",
        libc::S_IFCHR => "S_IFCHR|",
        libc::S_IFBLK => "S_IFBLK|",
        libc::S_IFIFO => "S_IFIFO|",
        libc::S_IFLNK => "S_IFLNK|",
        libc::S_IFSOCK => "S_IFSOCK|",
        _ => "",
    };
    if kind.is_empty() {
        return octal(value);
    }
    let bits = [(0o4000, "S_ISUID|"), (0o2000, "S_ISGID|"), (0o1000, "S_ISVTX|")];
    let special: String = bits.iter().filter(|b| value & b.0 != 0).map(|b| b.1).collect();
    format!("{kind}{special}{}", octal(value & 0o777))
}

fn limit(value: u64) -> String {
    match value {
        u64::MAX => "RLIM64_INFINITY".into(),
        n if n == i64::MAX as u64 => "RLIM_INFINITY".into(),
        n if n > 1024 && n % 1024 == 0 => format!("{}*1024", n / 1024),
        n => n.to_string(),
    }
}

/// A number that is none of a call's own kind.
fn number(value: u64, look: Look) -> String {
    match look {
        Look::Int => (value as i32).to_string(),
        Look::Uint => (value as u32).to_string(),
        Look::Long => (value as i64).to_string(),
        Look::Ulong => value.to_string(),
        Look::Hex => hex(value),
        Look::Addr => address(value),
        Look::Octal => octal(value & 0xffff_ffff),
        Look::FileMode => file_mode(value),
        Look::Device => {
            format!("makedev({:#x}, {:#x})", libc::major(value), libc::minor(value))
        }
        Look::Limit => limit(value),
        Look::Signal => signal(value),
        Look::Of(names) => named(value, names),
        // Only an argument has those beside it.
        Look::By(_) => hex(value),
    }
}

/// An argument; None if the call has none there.
pub(crate) fn argument(space: &Space, value: u64, look: Look, args: &[u64; 6]) -> Option<String> {
    match look {
        Look::By(f) => f(space, value, args),
        look => Some(number(value, look)),
    }
}

/// A string in quotation marks, as C has it.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from('"');
    for (i, b) in bytes.iter().enumerate() {
        match b {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            0x0b => text.push_str("\\v"),
            0x0c => text.push_str("\\f"),
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(*b));
            }
            0x20..=0x7e => text.push(char::from(*b)),
            _ => {
                // A digit after it would be taken for one of the number's.
                let wide = bytes.get(i + 1).is_some_and(u8::is_ascii_digit);
                let width = if wide { 3 } else { 0 };
                write!(text, "\\{b:0width$o}").expect("a string takes everything");
            }
        }
    }
    text.push('"');
    text
}

/// `len` bytes at `addr`, the first of them.
pub(crate) fn buffer(space: &Space, addr: u64, len: u64) -> String {
    let mut bytes = vec![0; len.min(MOST) as usize];
    if addr == 0 || space.read(addr, &mut bytes).is_err() {
        return address(addr);
    }
    quoted(&bytes) + if len > MOST { "..." } else { "" }
}

/// The string at `addr`, whole if it is a path.
pub(crate) fn string(space: &Space, addr: u64, whole: bool) -> String {
    let most = if whole { libc::PATH_MAX as usize } else { MOST as usize };
    // One more byte, for the NUL.
    match space.read_string(addr, most + 1) {
        Ok(text) => quoted(&text),
        Err(e) if e.0 == libc::ENAMETOOLONG => buffer(space, addr, MOST + 1),
        Err(_) => address(addr),
    }
}

/// A structure by its bytes.
pub(super) fn fields(space: &Space, bytes: &[u8], of: &Struct) -> String {
    let (fields, more) = match &of.form {
        Form::By(f) => return f(space, bytes),
        Form::Fields { fields, more } => (fields, more),
    };
    let mut shown = Vec::new();
    for field in *fields {
        let part = bytes.get(field.at..).unwrap_or_default();
        let value = match &field.what {
            // A word's sign; a longword's is the look's.
            What::Num(2, Look::Int) => load(part, 2).map(|v| (v as i16).to_string()),
            What::Num(size, look) => load(part, *size).map(|value| number(value, *look)),
            What::Struct(of) => {
                part.get(..of.size as usize).map(|bytes| self::fields(space, bytes, of))
            }
        };
        // A structure that was cut.
        let Some(value) = value else { break };
        shown.push(format!("{}={value}", field.name));
    }
    let more = if *more { ", ..." } else { "" };
    format!("{{{}{more}}}", shown.join(", "))
}

/// The little-endian number of `size` bytes that `bytes` begin with.
pub(crate) fn load(bytes: &[u8], size: usize) -> Option<u64> {
    let mut all = [0; 8];
    all[..size].copy_from_slice(bytes.get(..size)?);
    Some(u64::from_le_bytes(all))
}

fn structure(space: &Space, addr: u64, size: u64, of: &Struct) -> String {
    let mut bytes = vec![0; size as usize];
    if addr == 0 || space.read(addr, &mut bytes).is_err() {
        return address(addr);
    }
    fields(space, &bytes, of)
}

/// What `addr` points to. `count` is how many elements of an array, or bytes, there are if not as many
/// as the arguments say.
pub(crate) fn pointed(
    space: &Space,
    addr: u64,
    data: Data,
    args: &[u64; 6],
    count: Option<u64>,
) -> String {
    match data {
        Data::Bytes(_) | Data::Raw(_) => address(addr),
        Data::Len(i) => buffer(space, addr, count.unwrap_or(args[i]).min(args[i])),
        Data::Sized(i, of) => structure(space, addr, u64::from(args[i] as u32).min(of.size), of),
        Data::One(of) => structure(space, addr, of.size, of),
        Data::Array(i, of) => array(space, addr, count.unwrap_or(args[i]), of),
    }
}

/// As many structures from `addr` on, the first of them.
pub(crate) fn array(space: &Space, addr: u64, count: u64, of: &Struct) -> String {
    if addr == 0 {
        return address(addr);
    }
    let mut shown = Vec::new();
    for i in 0..u64::from(count as u32) {
        if i == MOST {
            shown.push("...".to_owned());
            break;
        }
        let mut bytes = vec![0; of.size as usize];
        let at = addr.wrapping_add(i * of.size);
        if space.read(at, &mut bytes).is_err() {
            // strace(1) says where it stopped.
            if i == 0 {
                return address(addr);
            }
            shown.push(format!("... /* {at:#x} */"));
            break;
        }
        shown.push(fields(space, &bytes, of));
    }
    format!("[{}]", shown.join(", "))
}

/// The signals of a set, without SIG.
pub(crate) fn signals(set: u64) -> String {
    let has = |n: u8| set & 1 << (n - 1) != 0;
    let all = |invert: bool| {
        let names: Vec<String> = Signal::all()
            .filter(|s| has(s.number()) != invert)
            .map(|s| s.to_string().trim_start_matches("SIG").to_owned())
            .collect();
        names.join(" ")
    };
    // Of the larger half it shows the others.
    if set.count_ones() >= 43 { format!("~[{}]", all(true)) } else { format!("[{}]", all(false)) }
}

/// `si_code` by the names that its signal has.
pub(crate) fn code(signal: Signal, code: u32) -> String {
    let of_signal = match signal {
        Signal::SEGV => &names::SEGV_CODE,
        Signal::BUS => &names::BUS_CODE,
        Signal::ILL => &names::ILL_CODE,
        Signal::FPE => &names::FPE_CODE,
        Signal::TRAP => &names::TRAP_CODE,
        Signal::CHLD => &names::CHLD_CODE,
        _ => &names::SENDER,
    };
    let from_kernel = (1..0x80).contains(&(code as i32));
    named(u64::from(code), if from_kernel { of_signal } else { &names::SENDER })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What strace 6.1 prints for the same values, where they are the same on its machine.
    #[test]
    fn as_strace_has_them() {
        assert_eq!(quoted(b"a\"\\\n\t\x01\x012\xff"), r#""a\"\\\n\t\1\0012\377""#);
        assert_eq!(named(0, &names::PROT), "PROT_NONE");
        assert_eq!(named(3, &names::PROT), "PROT_READ|PROT_WRITE");
        assert_eq!(named(0x55, &names::CLOCK), "0x55 /* CLOCK_??? */");
        assert_eq!(named(0, &names::MREMAP), "0");
        assert_eq!(file_mode(0o100644), "S_IFREG|0644");
        assert_eq!(file_mode(0o104755), "S_IFREG|S_ISUID|0755");
        assert_eq!(octal(0o22), "022");
        assert_eq!(octal(0), "000");
        assert_eq!(limit(8 << 20), "8192*1024");
        assert_eq!(signals(1 << 1 | 1 << 29), "[INT USR1]");
        assert_eq!(signals(0), "[]");
        assert_eq!(signals(!(1 << 1)), "~[INT]");
    }

    /// Values: Alpha's `fcntl.h`.
    #[test]
    fn open_flags() {
        assert_eq!(named(0x200601, &names::OPEN), "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC");
        assert_eq!(named(0x404000, &names::OPEN), "O_RDONLY|O_SYNC");
        assert_eq!(named(0x8000, &names::OPEN), "O_RDONLY|O_DIRECTORY");
        assert_eq!(named(0x40000000, &names::OPEN), "O_RDONLY|0x40000000");
    }
}
