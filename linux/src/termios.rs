//! Terminal settings: Alpha's `struct termios` and the host's `struct termios2`.
//!
//! Values: the kernel's UAPI headers `asm/termbits.h` of Alpha and of the generic architectures,
//! which x86-64 and AArch64 use.

use crate::bytes::Bytes;

/// Bytes of Alpha's structure: four words of flags, 19 control characters, the line discipline,
/// two speeds.
pub const GUEST_SIZE: usize = 44;
/// Bytes of the host's: four words of flags, the line discipline, 19 control characters, two speeds.
pub const HOST_SIZE: usize = 44;

/// A field of a flag word: the guest's mask, the host's mask. Values within a field are in the same
/// order on both, so a field is moved by the distance of the masks' lowest bits.
type Field = (u32, u32);

const INPUT: &[Field] = &[
    // IGNBRK to ICRNL; IXANY; IMAXBEL, IUTF8.
    (0x1ff, 0x1ff),
    (0x800, 0x800),
    (0x6000, 0x6000),
    // IXON, IXOFF, IUCLC.
    (0x200, 0x400),
    (0x400, 0x1000),
    (0x1000, 0x200),
];

const OUTPUT: &[Field] = &[
    // OPOST; OCRNL to OFDEL; ONLCR; OLCUC.
    (0x1, 0x1),
    (0xf8, 0xf8),
    (0x2, 0x4),
    (0x4, 0x2),
    // NLDLY (the host has one bit), TABDLY, CRDLY, FFDLY, BSDLY, VTDLY.
    (0x100, 0x100),
    (0xc00, 0x1800),
    (0x3000, 0x600),
    (0x4000, 0x8000),
    (0x8000, 0x2000),
    (0x1_0000, 0x4000),
];

const CONTROL: &[Field] = &[
    // CSIZE, CSTOPB, CREAD, PARENB, PARODD, HUPCL, CLOCAL: in one order; ADDRB, CMSPAR, CRTSCTS.
    (0xff00, 0xff0),
    (0xe000_0000, 0xe000_0000),
];

const LOCAL: &[Field] = &[
    // ISIG, ICANON, XCASE, ECHO, ECHOE, ECHOK, ECHONL, NOFLSH.
    (0x80, 0x1),
    (0x100, 0x2),
    (0x4000, 0x4),
    (0x8, 0x8),
    (0x2, 0x10),
    (0x4, 0x20),
    (0x10, 0x40),
    (0x8000_0000, 0x80),
    // TOSTOP, ECHOCTL, ECHOPRT, ECHOKE, FLUSHO, PENDIN, IEXTEN, EXTPROC.
    (0x40_0000, 0x100),
    (0x40, 0x200),
    (0x20, 0x400),
    (0x1, 0x800),
    (0x80_0000, 0x1000),
    (0x2000_0000, 0x4000),
    (0x400, 0x8000),
    (0x1000_0000, 0x1_0000),
];

const WORDS: [&[Field]; 4] = [INPUT, OUTPUT, CONTROL, LOCAL];
const CFLAG: usize = 2;

/// Control characters: the guest's index, the host's.
const CHARACTERS: [(usize, usize); 17] = [
    (0, 4),   // VEOF
    (1, 11),  // VEOL
    (2, 16),  // VEOL2
    (3, 2),   // VERASE
    (4, 14),  // VWERASE
    (5, 3),   // VKILL
    (6, 12),  // VREPRINT
    (7, 7),   // VSWTC
    (8, 0),   // VINTR
    (9, 1),   // VQUIT
    (10, 10), // VSUSP
    (12, 8),  // VSTART
    (13, 9),  // VSTOP
    (14, 15), // VLNEXT
    (15, 13), // VDISCARD
    (16, 6),  // VMIN
    (17, 5),  // VTIME
];

/// Where the control characters and the line discipline are.
const GUEST_CC: usize = 16;
const GUEST_LINE: usize = 35;
const HOST_LINE: usize = 16;
const HOST_CC: usize = 17;
const SPEEDS: usize = 36;

/// The speed in the control word: numbers 0 to 15 are the same; the host has bit 12 for those from
/// 16 on, and for "other" (31 on Alpha), which is in the speed fields.
const GUEST_SPEED: u32 = 0x1f;
const HOST_SPEED: u32 = 0x100f;
const HOST_OTHER: u32 = 0x1000;

fn speed_to_host(guest: u32) -> u32 {
    match guest & GUEST_SPEED {
        n @ 0..16 => n,
        31 => HOST_OTHER,
        n => HOST_OTHER | (n - 15),
    }
}

fn speed_to_guest(host: u32) -> u32 {
    match host & HOST_SPEED {
        n @ 0..16 => n,
        HOST_OTHER => 31,
        n => (n & 0xf) + 15,
    }
}

fn moved(word: u32, from: u32, to: u32) -> u32 {
    (word & from) >> from.trailing_zeros() << to.trailing_zeros()
}

/// The host's structure for a guest's.
#[must_use]
pub fn to_host(guest: &Bytes<GUEST_SIZE>) -> Bytes<HOST_SIZE> {
    let mut host = Bytes::zeroed();
    for (i, fields) in WORDS.iter().enumerate() {
        let word = guest.u32(4 * i);
        let mut out =
            fields.iter().fold(0, |h, (g_mask, h_mask)| h | moved(word, *g_mask, *h_mask));
        if i == CFLAG {
            out |= speed_to_host(word);
        }
        host.put_u32(4 * i, out);
    }
    for (g, h) in CHARACTERS {
        host.0[HOST_CC + h] = guest.0[GUEST_CC + g];
    }
    host.0[HOST_LINE] = guest.0[GUEST_LINE];
    host.0[SPEEDS..].copy_from_slice(&guest.0[SPEEDS..]);
    host
}

/// The guest's structure for a host's.
#[must_use]
pub fn to_guest(host: &Bytes<HOST_SIZE>) -> Bytes<GUEST_SIZE> {
    let mut guest = Bytes::zeroed();
    for (i, fields) in WORDS.iter().enumerate() {
        let word = host.u32(4 * i);
        let mut out =
            fields.iter().fold(0, |g, (g_mask, h_mask)| g | moved(word, *h_mask, *g_mask));
        if i == CFLAG {
            out |= speed_to_guest(word);
        }
        guest.put_u32(4 * i, out);
    }
    for (g, h) in CHARACTERS {
        guest.0[GUEST_CC + g] = host.0[HOST_CC + h];
    }
    guest.0[GUEST_LINE] = host.0[HOST_LINE];
    guest.0[SPEEDS..].copy_from_slice(&host.0[SPEEDS..]);
    guest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a fresh Linux terminal has (`stty -a`: icrnl ixon, opost onlcr, cs8 cread 38400, isig
    /// icanon iexten echo echoe echok echoctl echoke), as either architecture writes it.
    #[test]
    fn a_fresh_terminal() {
        let mut host = Bytes::<HOST_SIZE>::zeroed();
        for (i, word) in [0x500u32, 0x5, 0xbf, 0x8a3b].into_iter().enumerate() {
            host.put_u32(4 * i, word);
        }
        host.0[HOST_CC] = 3;
        host.0[HOST_CC + 4] = 4;
        let guest = to_guest(&host);
        // ICRNL 0x100 | IXON 0x200; OPOST 1 | ONLCR 2; B38400 15 | CS8 0x300 | CREAD 0x800;
        // ISIG 0x80 | ICANON 0x100 | ECHO 8 | ECHOE 2 | ECHOK 4 | ECHOCTL 0x40 | ECHOKE 1 |
        // IEXTEN 0x400.
        assert_eq!(guest.u32(0), 0x300);
        assert_eq!(guest.u32(4), 0x3);
        assert_eq!(guest.u32(8), 0xb0f);
        assert_eq!(guest.u32(12), 0x5cf);
        assert_eq!(guest.0[GUEST_CC + 8], 3);
        assert_eq!(guest.0[GUEST_CC], 4);
        assert_eq!(to_host(&guest), host);
    }

    /// B115200 is 17 on Alpha, 0o10002 elsewhere; TAB3 0xc00 and 0x1800.
    #[test]
    fn speeds_and_delays() {
        assert_eq!(speed_to_host(17), 0o10002);
        assert_eq!(speed_to_guest(0o10002), 17);
        assert_eq!(speed_to_host(31), 0o10000);
        for n in 0..32 {
            assert_eq!(speed_to_guest(speed_to_host(n)), n);
        }
        assert_eq!(moved(0xc00, 0xc00, 0x1800), 0x1800);
    }

    /// No bit of either word belongs to two fields.
    #[test]
    fn fields_are_disjoint() {
        for fields in WORDS {
            let (mut guest, mut host) = (0, 0);
            for (g, h) in fields {
                assert_eq!((guest & g, host & h), (0, 0), "{g:#x} {h:#x}");
                assert_eq!(g.count_ones(), h.count_ones());
                guest |= g;
                host |= h;
            }
        }
    }
}
