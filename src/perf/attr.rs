//! `struct perf_event_attr`: its words, their encoding, and what Linux refuses.

use std::borrow::Cow;

use super::bits::{AttrFlags, ReadFormat, SampleType};
use super::event::Event;
use super::regs::RegMask;

/// Bytes of the attribute block that axperf reads and writes (Linux 7.2's, `PERF_ATTR_SIZE_VER9`).
pub const ATTR_SIZE: usize = 144;

/// Bytes of the first version of the block, the least that is valid.
pub const ATTR_SIZE_VER0: usize = 64;

/// The most that a block can be: a page of the guest.
pub const ATTR_SIZE_MAX: usize = 8192;

/// The error that Linux gives, by name: numbers differ between architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Errno {
    /// The argument list is too long: here, a block of unknown size.
    E2big,
    /// An argument is invalid.
    Einval,
    /// The event can't be counted on this CPU.
    Eperm,
    /// No such event.
    Enoent,
    /// The event can't do this.
    Eopnotsupp,
}

impl Errno {
    /// Its name in C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Errno::E2big => "E2BIG",
            Errno::Einval => "EINVAL",
            Errno::Eperm => "EPERM",
            Errno::Enoent => "ENOENT",
            Errno::Eopnotsupp => "EOPNOTSUPP",
        }
    }
}

/// Attributes that `perf_event_open` refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {field}: {why}", errno.name())]
#[non_exhaustive]
pub struct AttrError {
    /// What Linux returns.
    pub errno: Errno,
    /// The word of `struct perf_event_attr` at fault.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: Cow<'static, str>,
}

impl AttrError {
    pub(crate) fn new(
        errno: Errno,
        field: &'static str,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        AttrError { errno, field, why: why.into() }
    }
}

/// A word of the attribute block.
trait Word: Copy {
    const SIZE: usize;
    fn put(self, to: &mut [u8]);
    fn get(from: &[u8]) -> Self;
}

macro_rules! int_words {
    ($($t:ty)*) => { $(impl Word for $t {
        const SIZE: usize = size_of::<$t>();
        fn put(self, to: &mut [u8]) { to[..Self::SIZE].copy_from_slice(&self.to_le_bytes()) }
        fn get(from: &[u8]) -> Self {
            let mut bytes = [0; Self::SIZE];
            bytes.copy_from_slice(&from[..Self::SIZE]);
            <$t>::from_le_bytes(bytes)
        }
    })* };
}
int_words!(u16 u32 i32 u64);

macro_rules! set_words {
    ($($t:ty)*) => { $(impl Word for $t {
        const SIZE: usize = 8;
        fn put(self, to: &mut [u8]) { self.bits().put(to) }
        fn get(from: &[u8]) -> Self { <$t>::from_bits(u64::get(from)) }
    })* };
}
set_words!(SampleType ReadFormat AttrFlags RegMask);

/// Defines [`Attr`] from one row a word: `name @ offset: type`.
macro_rules! attr_words {
    ($($(#[$doc:meta])* $name:ident @ $at:literal: $t:ty;)*) => {
        /// `struct perf_event_attr`: which event, how often, what a sample holds.
        ///
        /// The fields are the kernel's words under the kernel's names; the methods are shorter.
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Attr { $($(#[$doc])* pub $name: $t,)* }

        impl Attr {
            /// The block as the kernel reads it.
            #[must_use]
            pub fn to_bytes(&self) -> [u8; ATTR_SIZE] {
                let mut block = [0; ATTR_SIZE];
                (ATTR_SIZE as u32).put(&mut block[4..]);
                $(self.$name.put(&mut block[$at..]);)*
                block
            }

            fn from_block(block: &[u8; ATTR_SIZE]) -> Attr {
                Attr { $($name: <$t>::get(&block[$at..]),)* }
            }
        }

        const _: () = {
            let words = [$(($at, <$t as Word>::SIZE)),*];
            let mut i = 0;
            while i < words.len() {
                assert!(words[i].0 % words[i].1 == 0 && words[i].0 + words[i].1 <= ATTR_SIZE);
                i += 1;
            }
        };
    };
}

attr_words! {
    /// `PERF_TYPE_*`: which kind of event.
    kind @ 0: u32;
    /// Which event of the kind.
    config @ 8: u64;
    /// Events between two samples, or samples a second with [`AttrFlags::FREQ`]; 0 counts only.
    sample_period @ 16: u64;
    /// What a sample holds.
    sample_type @ 24: SampleType;
    /// What a read of the counter gives.
    read_format @ 32: ReadFormat;
    /// The flags.
    flags @ 40: AttrFlags;
    /// Samples, or bytes with [`AttrFlags::WATERMARK`], until a reader is woken.
    wakeup @ 48: u32;
    /// Kind of a breakpoint.
    bp_type @ 52: u32;
    /// More of `config`.
    config1 @ 56: u64;
    /// More of `config`.
    config2 @ 64: u64;
    /// Which branches a branch stack holds.
    branch_sample_type @ 72: u64;
    /// User registers of a sample.
    sample_regs_user @ 80: RegMask;
    /// Bytes of user stack in a sample.
    sample_stack_user @ 88: u32;
    /// Clock of the sample's time, with [`AttrFlags::USE_CLOCKID`].
    clockid @ 92: i32;
    /// Registers of a sample where the event struck.
    sample_regs_intr @ 96: RegMask;
    /// AUX bytes until a reader is woken.
    aux_watermark @ 104: u32;
    /// Most addresses in a call chain; 0 is the kernel's default, 127.
    sample_max_stack @ 108: u16;
    /// Must be zero.
    reserved_2 @ 110: u16;
    /// AUX bytes in a sample.
    aux_sample_size @ 112: u32;
    /// What to do to an AUX trace.
    aux_action @ 116: u32;
    /// Data of a SIGTRAP.
    sig_data @ 120: u64;
    /// More of `config`.
    config3 @ 128: u64;
    /// More of `config`.
    config4 @ 136: u64;
}

/// Most addresses in a call chain when the attributes don't say: `perf_event_max_stack`.
pub const DEFAULT_MAX_STACK: u16 = 127;

/// Which register masks are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RegAbi {
    /// Linux's: [`RegMask::KERNEL`] and its parts.
    #[default]
    Kernel,
    /// axperf's own too: any register that has an index.
    Extended,
}

impl Attr {
    /// Samples of `event` once every `period` events: its address, process and thread, time, CPU
    /// and period.
    #[must_use]
    pub fn new(event: Event, period: u64) -> Attr {
        let (kind, config) = event.kind_config();
        Attr {
            kind,
            config,
            sample_period: period,
            sample_type: SampleType::IDENTIFIER
                | SampleType::IP
                | SampleType::TID
                | SampleType::TIME
                | SampleType::CPU
                | SampleType::PERIOD,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..Attr::default()
        }
    }

    /// Adds the user registers of `mask`.
    #[must_use]
    pub fn user_regs(mut self, mask: RegMask) -> Attr {
        self.sample_type |= SampleType::REGS_USER;
        self.sample_regs_user = mask;
        self
    }

    /// Adds the registers of `mask` where the event struck.
    #[must_use]
    pub fn intr_regs(mut self, mask: RegMask) -> Attr {
        self.sample_type |= SampleType::REGS_INTR;
        self.sample_regs_intr = mask;
        self
    }

    /// Adds a copy of `bytes` bytes from the top of the user stack: a multiple of 8 below 65535.
    #[must_use]
    pub fn user_stack(mut self, bytes: u32) -> Attr {
        self.sample_type |= SampleType::STACK_USER;
        self.sample_stack_user = bytes;
        self
    }

    /// Adds a call chain.
    #[must_use]
    pub fn callchain(mut self) -> Attr {
        self.sample_type |= SampleType::CALLCHAIN;
        self
    }

    /// Sets more flags.
    #[must_use]
    pub fn with_flags(mut self, flags: AttrFlags) -> Attr {
        self.flags |= flags;
        self
    }

    /// The event, if axperf has it.
    pub fn event(&self) -> Result<Event, AttrError> {
        Event::from_kind_config(self.kind, self.config).ok_or_else(|| {
            AttrError::new(
                Errno::Enoent,
                "config",
                format!("there is no event of type {} and config {:#x}", self.kind, self.config),
            )
        })
    }

    /// Most addresses in a call chain.
    #[must_use]
    pub fn max_stack(&self) -> usize {
        usize::from(match self.sample_max_stack {
            0 => DEFAULT_MAX_STACK,
            n => n,
        })
    }

    /// `precise_ip`: how much skid is tolerated, 0 to 3. axperf has none whatever is asked.
    #[must_use]
    pub fn precise_ip(&self) -> u8 {
        (self.flags.bits() >> 15 & 3) as u8
    }

    /// The block cut to `size` bytes, for readers that know no more; None if that loses something.
    #[must_use]
    pub fn to_bytes_of(&self, size: usize) -> Option<Vec<u8>> {
        let mut block = self.to_bytes();
        if size > ATTR_SIZE || block[size..].iter().any(|&b| b != 0) {
            return None;
        }
        (size as u32).put(&mut block[4..]);
        Some(block[..size].to_vec())
    }

    /// The size that a block declares in its second word, checked as the kernel does; `head` is
    /// its first 8 bytes. 0 stands for the first version's.
    pub fn declared_size(head: &[u8; 8]) -> Result<usize, AttrError> {
        match u32::get(&head[4..]) as usize {
            0 => Ok(ATTR_SIZE_VER0),
            n @ ATTR_SIZE_VER0..=ATTR_SIZE_MAX => Ok(n),
            n => Err(AttrError::new(Errno::E2big, "size", format!("{n} bytes is no valid size"))),
        }
    }

    /// Reads a block, whose length is what it [declares](Attr::declared_size). Words beyond its
    /// end are zero; a longer block is fine as long as all that axperf doesn't know is zero.
    pub fn from_bytes(block: &[u8]) -> Result<Attr, AttrError> {
        let (known, rest) = block.split_at(block.len().min(ATTR_SIZE));
        if let Some(at) = rest.iter().position(|&b| b != 0) {
            let why = format!("byte {} of the block isn't known here", ATTR_SIZE + at);
            return Err(AttrError::new(Errno::E2big, "size", why));
        }
        let mut full = [0; ATTR_SIZE];
        full[..known.len()].copy_from_slice(known);
        Ok(Attr::from_block(&full))
    }

    /// Refuses what `perf_event_open` refuses whatever the event is, with the same error.
    pub fn check(&self, abi: RegAbi) -> Result<(), AttrError> {
        let einval = |field, why: &'static str| Err(AttrError::new(Errno::Einval, field, why));
        let unsupported = |field, why: &'static str| {
            Err(AttrError::new(Errno::Eopnotsupp, field, format!("{why} isn't supported")))
        };
        let has = |t| self.sample_type.contains(t);
        let flag = |f| self.flags.contains(f);

        if self.flags.bits() & !AttrFlags::ALL.bits() != 0 {
            return einval("flags", "a reserved bit is set");
        }
        if self.reserved_2 != 0 || self.aux_action & !AUX_START_PAUSED != 0 {
            return einval("reserved", "a reserved word isn't zero");
        }
        if self.sample_type.bits() & !SampleType::ALL.bits() != 0 {
            return einval("sample_type", "an unknown bit is set");
        }
        if self.read_format.bits() & !ReadFormat::ALL.bits() != 0 {
            return einval("read_format", "an unknown bit is set");
        }
        if has(SampleType::BRANCH_STACK) {
            return match self.branch_sample_type & !BRANCH_PRIVILEGES {
                0 => einval("branch_sample_type", "no kind of branch is selected"),
                _ => unsupported("sample_type", "BRANCH_STACK"),
            };
        }
        if has(SampleType::REGS_USER) {
            check_mask(abi, self.sample_regs_user, "sample_regs_user")?;
        }
        if has(SampleType::STACK_USER)
            && (self.sample_stack_user >= 65535 || !self.sample_stack_user.is_multiple_of(8))
        {
            return einval("sample_stack_user", "must be a multiple of 8 below 65535");
        }
        if has(SampleType::REGS_INTR) {
            check_mask(abi, self.sample_regs_intr, "sample_regs_intr")?;
        }
        if has(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT) {
            return einval("sample_type", "WEIGHT and WEIGHT_STRUCT exclude each other");
        }
        if flag(AttrFlags::INHERIT_THREAD) && !flag(AttrFlags::INHERIT) {
            return einval("inherit_thread", "needs inherit");
        }
        if flag(AttrFlags::REMOVE_ON_EXEC) && flag(AttrFlags::ENABLE_ON_EXEC) {
            return einval("remove_on_exec", "excludes enable_on_exec");
        }
        if flag(AttrFlags::SIGTRAP) && !flag(AttrFlags::REMOVE_ON_EXEC) {
            return einval("sigtrap", "needs remove_on_exec");
        }
        if flag(AttrFlags::FREQ) {
            if self.sample_period > MAX_SAMPLE_RATE {
                return einval("sample_freq", "is above perf_event_max_sample_rate, 100000");
            }
        } else if self.sample_period >> 63 != 0 {
            return einval("sample_period", "must be below 1 << 63");
        }
        if self.aux_sample_size != 0 {
            return einval("aux_sample_size", "there is no AUX trace");
        }
        if self.aux_action != 0 || flag(AttrFlags::AUX_OUTPUT) {
            return unsupported("aux_output", "an AUX trace");
        }
        Ok(())
    }
}

/// `perf_event_max_sample_rate` as Linux starts with it.
pub const MAX_SAMPLE_RATE: u64 = 100_000;

/// `aux_start_paused` of `aux_action`.
const AUX_START_PAUSED: u32 = 1;

/// `PERF_SAMPLE_BRANCH_{USER,KERNEL,HV}`.
const BRANCH_PRIVILEGES: u64 = 7;

fn check_mask(abi: RegAbi, mask: RegMask, field: &'static str) -> Result<(), AttrError> {
    match abi {
        RegAbi::Kernel => mask.check_kernel(field),
        RegAbi::Extended if mask.is_empty() => {
            Err(AttrError::new(Errno::Einval, field, "no register is selected"))
        }
        RegAbi::Extended => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attributes that perf 7.2.13 passed on Linux/alpha for
    /// `record --call-graph dwarf`, word by word.
    fn dwarf() -> Attr {
        let mut attr =
            Attr::new(Event::Instructions, 0).user_regs(RegMask::KERNEL).user_stack(8192);
        attr.sample_type = SampleType::from_bits(0x3127);
        attr
    }

    /// Offsets of Linux's `struct perf_event_attr`.
    #[test]
    fn words_are_where_linux_has_them() {
        let mut attr = dwarf();
        attr.sample_period = 4000;
        attr.sample_max_stack = 0x1234;
        attr.clockid = -1;
        attr.config4 = 7;
        let block = attr.to_bytes();
        let long = |at| u32::get(&block[at..]);
        let quad = |at| u64::get(&block[at..]);
        assert_eq!((long(0), long(4), quad(8)), (0, 144, 1));
        assert_eq!((quad(16), quad(24), quad(40)), (4000, 0x3127, 1 << 18));
        assert_eq!((quad(80), long(88), long(92)), (0xffff_01ff, 8192, u32::MAX));
        assert_eq!((u16::get(&block[108..]), quad(136)), (0x1234, 7));
        assert_eq!(Attr::from_bytes(&block), Ok(attr));
    }

    /// Seen on Linux 7.2: sizes 0, 64 to 8192 are fine with a zero tail, odd ones too; 1, 63, 8193
    /// and a tail that isn't zero are E2BIG.
    #[test]
    fn sizes() {
        let head = |n: u32| {
            let mut head = [0; 8];
            n.put(&mut head[4..]);
            Attr::declared_size(&head).map_err(|e| e.errno)
        };
        assert_eq!(head(0), Ok(64));
        for n in [64, 65, 72, 140, 144, 145, 152, 4096, 8192] {
            assert_eq!(head(n), Ok(n as usize));
            assert!(Attr::from_bytes(&vec![0; n as usize]).is_ok());
        }
        for n in [1, 63, 8193, 65536] {
            assert_eq!(head(n), Err(Errno::E2big));
        }
        let mut long = vec![0; 152];
        long[151] = 1;
        assert_eq!(Attr::from_bytes(&long).unwrap_err().errno, Errno::E2big);
    }

    /// Seen on Linux 7.2 with the register patch, field by field; what is refused there is refused
    /// here, with the same error.
    #[test]
    fn checks_agree_with_linux() {
        use Errno::{Einval, Eopnotsupp};
        type Edit = fn(&mut Attr);
        let cases: &[(&str, Edit, Option<Errno>)] = &[
            ("stack 0", |a| a.sample_stack_user = 0, None),
            ("stack 65528", |a| a.sample_stack_user = 65528, None),
            ("stack 7", |a| a.sample_stack_user = 7, Some(Einval)),
            ("stack 65535", |a| a.sample_stack_user = 65535, Some(Einval)),
            ("stack 65536", |a| a.sample_stack_user = 65536, Some(Einval)),
            ("mask 0", |a| a.sample_regs_user = RegMask::EMPTY, Some(Einval)),
            ("r9", |a| a.sample_regs_user = RegMask::from_bits(1 << 9), Some(Einval)),
            ("f0", |a| a.sample_regs_user = RegMask::from_bits(1 << 32), Some(Einval)),
            (
                "bad mask, not asked",
                |a| {
                    a.sample_type = SampleType::IP;
                    a.sample_regs_user = RegMask::EXTENDED;
                },
                None,
            ),
            ("intr 0", |a| a.sample_type |= SampleType::REGS_INTR, Some(Einval)),
            ("type bit 25", |a| a.sample_type = SampleType::from_bits(1 << 25), Some(Einval)),
            ("branches", |a| a.sample_type |= SampleType::BRANCH_STACK, Some(Einval)),
            (
                "branches of a kind",
                |a| {
                    a.sample_type |= SampleType::BRANCH_STACK;
                    a.branch_sample_type = 1 | 1 << 3;
                },
                Some(Eopnotsupp),
            ),
            (
                "both weights",
                |a| a.sample_type |= SampleType::WEIGHT | SampleType::WEIGHT_STRUCT,
                Some(Einval),
            ),
            ("aux", |a| a.sample_type |= SampleType::AUX, None),
            ("read 4", |a| a.read_format = ReadFormat::LOST, None),
            ("read 5", |a| a.read_format = ReadFormat::from_bits(1 << 5), Some(Einval)),
            ("flag 40", |a| a.flags = AttrFlags::from_bits(1 << 40), Some(Einval)),
            ("aux_output", |a| a.flags |= AttrFlags::AUX_OUTPUT, Some(Eopnotsupp)),
            ("inherit_thread", |a| a.flags |= AttrFlags::INHERIT_THREAD, Some(Einval)),
            ("sigtrap", |a| a.flags |= AttrFlags::SIGTRAP, Some(Einval)),
            (
                "precise_ip",
                |a| a.flags |= AttrFlags::PRECISE_IP_LO | AttrFlags::PRECISE_IP_HI,
                None,
            ),
            ("period 1 << 63", |a| a.sample_period = 1 << 63, Some(Einval)),
            ("period 1 << 62", |a| a.sample_period = 1 << 62, None),
            (
                "freq 100000",
                |a| {
                    a.flags |= AttrFlags::FREQ;
                    a.sample_period = 100_000;
                },
                None,
            ),
            (
                "freq 100001",
                |a| {
                    a.flags |= AttrFlags::FREQ;
                    a.sample_period = 100_001;
                },
                Some(Einval),
            ),
            ("reserved_2", |a| a.reserved_2 = 1, Some(Einval)),
            ("aux_sample_size", |a| a.aux_sample_size = 8, Some(Einval)),
            ("aux_start_paused", |a| a.aux_action = 1, Some(Eopnotsupp)),
            ("config3, bp_type", |a| (a.config3, a.bp_type, a.sig_data) = (1, 1, 1), None),
        ];
        for (name, edit, want) in cases {
            let mut attr = dwarf();
            edit(&mut attr);
            assert_eq!(attr.check(RegAbi::Kernel).err().map(|e| e.errno), *want, "{name}");
        }
    }

    #[test]
    fn extended_masks_are_ours_alone() {
        let attr = dwarf().user_regs(RegMask::EXTENDED);
        assert!(attr.check(RegAbi::Kernel).is_err());
        assert_eq!(attr.check(RegAbi::Extended), Ok(()));
        assert!(dwarf().user_regs(RegMask::EMPTY).check(RegAbi::Extended).is_err());
    }
}
