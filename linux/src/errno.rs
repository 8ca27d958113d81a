//! Error numbers: the host's inside this crate, Alpha's in the guest's `$0`.

use std::fmt;

/// An error number, in the host's numbering (`libc::ENOENT`...).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

/// Numbers up to 34 are Linux's everywhere, but for EDEADLK's; above, Alpha follows OSF/1.
/// Source: the kernel's UAPI header `asm/errno.h` for Alpha.
macro_rules! for_each_errno {
    ($m:ident) => {
        $m! {
            EDEADLK = 11, EAGAIN = 35, EINPROGRESS = 36, EALREADY = 37, ENOTSOCK = 38,
            EDESTADDRREQ = 39, EMSGSIZE = 40, EPROTOTYPE = 41, ENOPROTOOPT = 42,
            EPROTONOSUPPORT = 43, ESOCKTNOSUPPORT = 44, EOPNOTSUPP = 45, EPFNOSUPPORT = 46,
            EAFNOSUPPORT = 47, EADDRINUSE = 48, EADDRNOTAVAIL = 49, ENETDOWN = 50,
            ENETUNREACH = 51, ENETRESET = 52, ECONNABORTED = 53, ECONNRESET = 54, ENOBUFS = 55,
            EISCONN = 56, ENOTCONN = 57, ESHUTDOWN = 58, ETOOMANYREFS = 59, ETIMEDOUT = 60,
            ECONNREFUSED = 61, ELOOP = 62, ENAMETOOLONG = 63, EHOSTDOWN = 64, EHOSTUNREACH = 65,
            ENOTEMPTY = 66, EUSERS = 68, EDQUOT = 69, ESTALE = 70, EREMOTE = 71, ENOLCK = 77,
            ENOSYS = 78, ENOMSG = 80, EIDRM = 81, ENOSR = 82, ETIME = 83, EBADMSG = 84,
            EPROTO = 85, ENODATA = 86, ENOSTR = 87, ECHRNG = 88, EL2NSYNC = 89, EL3HLT = 90,
            EL3RST = 91, ENOPKG = 92, ELNRNG = 93, EUNATCH = 94, ENOCSI = 95, EL2HLT = 96,
            EBADE = 97, EBADR = 98, EXFULL = 99, ENOANO = 100, EBADRQC = 101, EBADSLT = 102,
            EBFONT = 104, ENONET = 105, ENOLINK = 106, EADV = 107, ESRMNT = 108, ECOMM = 109,
            EMULTIHOP = 110, EDOTDOT = 111, EOVERFLOW = 112, ENOTUNIQ = 113, EBADFD = 114,
            EREMCHG = 115, EILSEQ = 116, EUCLEAN = 117, ENOTNAM = 118, ENAVAIL = 119,
            EISNAM = 120, EREMOTEIO = 121, ELIBACC = 122, ELIBBAD = 123, ELIBSCN = 124,
            ELIBMAX = 125, ELIBEXEC = 126, ERESTART = 127, ESTRPIPE = 128, ENOMEDIUM = 129,
            EMEDIUMTYPE = 130, ECANCELED = 131, ENOKEY = 132, EKEYEXPIRED = 133,
            EKEYREVOKED = 134, EKEYREJECTED = 135, EOWNERDEAD = 136, ENOTRECOVERABLE = 137,
            ERFKILL = 138, EHWPOISON = 139,
        }
    };
}

macro_rules! define_table {
    ($($name:ident = $alpha:literal,)*) => {
        /// Alpha's number for each of the host's.
        const TO_GUEST: [u8; 134] = {
            // A host number without a row has no meaning to a guest.
            let mut table = [libc::EIO as u8; 134];
            let mut n = 0;
            while n < 35 {
                table[n] = n as u8;
                n += 1;
            }
            $(table[libc::$name as usize] = $alpha;)*
            table
        };

        /// Those of the host's numbers that differ, by name.
        const ROWS: &[(&str, i32, u8)] = &[$((stringify!($name), libc::$name, $alpha)),*];
    };
}
for_each_errno!(define_table);

/// The names of the numbers that are the same everywhere, from 1 on; 11 is in the table.
const COMMON: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

impl Errno {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let common = || COMMON.get(usize::try_from(self.0).ok()?.checked_sub(1)?).copied();
        let row = ROWS.iter().find(|row| row.1 == self.0).map(|row| row.0);
        row.or_else(common).unwrap_or("E???")
    }

    /// What it means, in a few words.
    #[must_use]
    pub fn text(self) -> String {
        let whole = self.to_string();
        // Rust's text ends with the number.
        whole.split(" (os error").next().unwrap_or_default().to_owned()
    }

    /// The number that an Alpha program sees.
    #[must_use]
    pub fn guest(self) -> u64 {
        u64::from(TO_GUEST.get(self.0 as usize).copied().unwrap_or(libc::EIO as u8))
    }

    /// The calling thread's errno.
    #[must_use]
    pub fn last() -> Errno {
        std::io::Error::last_os_error().into()
    }
}

impl From<std::io::Error> for Errno {
    fn from(e: std::io::Error) -> Errno {
        Errno(e.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// A guest pointer that can't be followed is EFAULT.
impl From<axperf::Fault> for Errno {
    fn from(_: axperf::Fault) -> Errno {
        Errno(libc::EFAULT)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

impl std::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are sorted by nothing, so at least no number is given twice.
    #[test]
    fn guest_numbers_are_distinct() {
        let mut seen = std::collections::HashMap::new();
        for host in 1..134 {
            let guest = Errno(host).guest();
            if guest != libc::EIO as u64 || host == libc::EIO {
                assert_eq!(seen.insert(guest, host), None, "host {host} guest {guest}");
            }
        }
    }

    /// Values: Alpha's `asm/errno.h`, which the cross compiler's libc prints in `tests/abi.rs` too.
    #[test]
    fn numbers_that_differ() {
        assert_eq!(Errno(libc::ENOENT).guest(), 2);
        assert_eq!(Errno(libc::EAGAIN).guest(), 35);
        assert_eq!(Errno(libc::EDEADLK).guest(), 11);
        assert_eq!(Errno(libc::ENOSYS).guest(), 78);
        assert_eq!(Errno(9999).guest(), 5);
        assert!(ROWS.len() > 90);
    }
}
