//! What the arguments of system calls are: what is checked before a call, and what a trace shows.

use crate::mm::Space;

/// What an argument is. Pointers are checked before a handler runs: what they point to, to this
/// size, lies in the guest's address space. So a handler (and the host's kernel) can follow them,
/// and a bad one is EFAULT.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    /// A number, flags, or an address that isn't followed.
    Num(Look),
    /// A file descriptor of the guest's.
    Fd,
    /// A descriptor of a directory, or AT_FDCWD.
    Dir,
    /// A path that is looked for in the sysroot first.
    Path,
    /// Such a path, whose last component isn't followed if it is a symbolic link.
    Link,
    /// A path that the call makes, changes or removes: never in the sysroot.
    HostPath,
    /// A string that isn't a path. The guard above the address space ends a string without a NUL.
    Text,
    /// Points to what the call reads; may be 0 where the call allows it.
    In(Data),
    /// Points to what the call writes.
    Out(Data),
    /// Points to what the call reads and writes.
    InOut(Data),
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Data {
    /// So many bytes, which a trace doesn't show.
    Bytes(u64),
    /// As many bytes as another argument says.
    Len(usize),
    /// As many bytes as another argument says, which a trace doesn't show.
    Raw(usize),
    /// As many bytes as another argument says: this structure, or the beginning of it.
    Sized(usize, &'static Struct),
    /// A structure.
    One(&'static Struct),
    /// As many structures as another argument says.
    Array(usize, &'static Struct),
}

/// How a number is shown.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// A signed longword.
    Int,
    /// An unsigned longword.
    Uint,
    /// A signed quadword.
    Long,
    /// An unsigned quadword.
    Ulong,
    /// Hexadecimal.
    Hex,
    /// An address.
    Addr,
    /// Permissions, octal.
    Octal,
    /// A file's type and permissions.
    FileMode,
    /// A device.
    Device,
    /// A resource limit.
    Limit,
    /// A signal's number.
    Signal,
    /// Constants by name.
    Of(&'static Names),
    /// In a way of its own, by the value and all arguments; None if the call has no such argument.
    By(fn(&Space, u64, &[u64; 6]) -> Option<String>),
}

impl std::fmt::Debug for Look {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Look")
    }
}

/// A structure: its size, and how it is shown.
pub(crate) struct Struct {
    pub size: u64,
    pub form: Form,
}

impl std::fmt::Debug for Struct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a structure of {} bytes", self.size)
    }
}

/// How a structure is shown.
pub(crate) enum Form {
    /// Field by field; `more` if there are others.
    Fields { fields: &'static [Field], more: bool },
    /// In a way of its own, by its bytes. A trace may have fewer than its size.
    By(fn(&Space, &[u8]) -> String),
}

/// A field of a structure.
pub(crate) struct Field {
    pub name: &'static str,
    pub at: usize,
    pub what: What,
}

/// What a field is.
pub(crate) enum What {
    /// A number of so many bytes.
    Num(usize, Look),
    /// A structure.
    Struct(&'static Struct),
}

/// Names of constants.
pub(crate) struct Names {
    /// What a value without a name is one of: `O_???`.
    pub unknown: &'static str,
    pub rows: &'static [Name],
}

/// A constant: a value has it where it equals `value` in the bits of `mask`.
pub(crate) struct Name {
    pub name: &'static str,
    pub value: u64,
    pub mask: u64,
}
