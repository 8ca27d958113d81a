//! The bit sets of `struct perf_event_attr`: a row a bit, all else derived.

/// Defines a set of named bits over `u64`.
macro_rules! bit_set {
    ($(#[$doc:meta])* $set:ident { $($(#[$bit_doc:meta])* $id:ident = $bit:literal $name:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $set(u64);

        impl $set {
            $($(#[$bit_doc])* pub const $id: $set = $set(1 << $bit);)*

            /// No bit.
            pub const EMPTY: $set = $set(0);

            /// Every bit that has a name.
            pub const ALL: $set = $set(0 $(| 1 << $bit)*);

            /// The set with exactly these bits, named or not.
            #[must_use]
            pub const fn from_bits(bits: u64) -> $set { $set(bits) }

            /// The bits.
            #[must_use]
            pub const fn bits(self) -> u64 { self.0 }

            /// Whether every bit of `other` is set.
            #[must_use]
            pub const fn contains(self, other: $set) -> bool { self.0 & other.0 == other.0 }

            /// Whether some bit of `other` is set.
            #[must_use]
            pub const fn intersects(self, other: $set) -> bool { self.0 & other.0 != 0 }

            /// Both sets together.
            #[must_use]
            pub const fn union(self, other: $set) -> $set { $set(self.0 | other.0) }

            /// Bits of both sets.
            #[must_use]
            pub const fn intersection(self, other: $set) -> $set { $set(self.0 & other.0) }

            /// This set without `other`.
            #[must_use]
            pub const fn without(self, other: $set) -> $set { $set(self.0 & !other.0) }

            /// Number of bits set.
            #[must_use]
            pub const fn len(self) -> u32 { self.0.count_ones() }

            /// Whether no bit is set.
            #[must_use]
            pub const fn is_empty(self) -> bool { self.0 == 0 }

            /// Names of the bits set, in ascending order.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                [$((1u64 << $bit, $name)),*].into_iter().filter(move |(b, _)| self.0 & b != 0).map(|(_, n)| n)
            }
        }

        impl std::ops::BitOr for $set {
            type Output = $set;
            fn bitor(self, other: $set) -> $set { self.union(other) }
        }

        impl std::ops::BitOrAssign for $set {
            fn bitor_assign(&mut self, other: $set) { self.0 |= other.0 }
        }

        impl std::fmt::Debug for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($set), "("))?;
                for (i, name) in self.names().enumerate() {
                    write!(f, "{}{name}", if i == 0 { "" } else { "|" })?;
                }
                match self.0 & !$set::ALL.0 {
                    0 => f.write_str(")"),
                    rest => write!(f, " and {rest:#x})"),
                }
            }
        }
    };
}

bit_set! {
    /// `PERF_SAMPLE_*`: the fields of a sample.
    SampleType {
        /// Address of the next instruction.
        IP = 0 "IP";
        /// Process and thread.
        TID = 1 "TID";
        /// When.
        TIME = 2 "TIME";
        /// Address that belongs to the event, a page fault's say.
        ADDR = 3 "ADDR";
        /// The counter's value.
        READ = 4 "READ";
        /// Addresses of the calls that are under way.
        CALLCHAIN = 5 "CALLCHAIN";
        /// Id of the event; for an inherited one, its parent's.
        ID = 6 "ID";
        /// Which CPU.
        CPU = 7 "CPU";
        /// Events that this sample stands for.
        PERIOD = 8 "PERIOD";
        /// Id of the very event that fired.
        STREAM_ID = 9 "STREAM_ID";
        /// Data of the event's own.
        RAW = 10 "RAW";
        /// Branches taken.
        BRANCH_STACK = 11 "BRANCH_STACK";
        /// User registers.
        REGS_USER = 12 "REGS_USER";
        /// A copy of the top of the user stack.
        STACK_USER = 13 "STACK_USER";
        /// Weight.
        WEIGHT = 14 "WEIGHT";
        /// Where data came from.
        DATA_SRC = 15 "DATA_SRC";
        /// Id of the event, at a place that doesn't depend on the other bits.
        IDENTIFIER = 16 "IDENTIFIER";
        /// Transaction flags.
        TRANSACTION = 17 "TRANSACTION";
        /// Registers where the event struck, kernel or user.
        REGS_INTR = 18 "REGS_INTR";
        /// Physical address.
        PHYS_ADDR = 19 "PHYS_ADDR";
        /// A piece of an AUX trace.
        AUX = 20 "AUX";
        /// Control group.
        CGROUP = 21 "CGROUP";
        /// Page size of the data address.
        DATA_PAGE_SIZE = 22 "DATA_PAGE_SIZE";
        /// Page size of the code address.
        CODE_PAGE_SIZE = 23 "CODE_PAGE_SIZE";
        /// Weight, in parts.
        WEIGHT_STRUCT = 24 "WEIGHT_STRUCT";
    }
}

bit_set! {
    /// `PERF_FORMAT_*`: what a read of a counter gives.
    ReadFormat {
        /// Time that the event was enabled.
        TOTAL_TIME_ENABLED = 0 "TOTAL_TIME_ENABLED";
        /// Time that the event was counting.
        TOTAL_TIME_RUNNING = 1 "TOTAL_TIME_RUNNING";
        /// Id of the event.
        ID = 2 "ID";
        /// All events of the group.
        GROUP = 3 "GROUP";
        /// Samples lost.
        LOST = 4 "LOST";
    }
}

bit_set! {
    /// The flag word of `struct perf_event_attr`. `precise_ip` is two bits of it.
    AttrFlags {
        /// Off until it is enabled.
        DISABLED = 0 "disabled";
        /// Children inherit it.
        INHERIT = 1 "inherit";
        /// Must always be on the PMU.
        PINNED = 2 "pinned";
        /// Only group on the PMU.
        EXCLUSIVE = 3 "exclusive";
        /// Don't count user mode.
        EXCLUDE_USER = 4 "exclude_user";
        /// Don't count kernel mode.
        EXCLUDE_KERNEL = 5 "exclude_kernel";
        /// Don't count the hypervisor.
        EXCLUDE_HV = 6 "exclude_hv";
        /// Don't count while idle.
        EXCLUDE_IDLE = 7 "exclude_idle";
        /// Write MMAP records.
        MMAP = 8 "mmap";
        /// Write COMM records.
        COMM = 9 "comm";
        /// The period word is a frequency.
        FREQ = 10 "freq";
        /// Counts per task.
        INHERIT_STAT = 11 "inherit_stat";
        /// The next exec enables it.
        ENABLE_ON_EXEC = 12 "enable_on_exec";
        /// Write FORK and EXIT records.
        TASK = 13 "task";
        /// The wake-up word is bytes.
        WATERMARK = 14 "watermark";
        /// Lower bit of `precise_ip`.
        PRECISE_IP_LO = 15 "precise_ip";
        /// Upper bit of `precise_ip`.
        PRECISE_IP_HI = 16 "precise_ip";
        /// MMAP records for data mappings too.
        MMAP_DATA = 17 "mmap_data";
        /// Every record ends with its identification.
        SAMPLE_ID_ALL = 18 "sample_id_all";
        /// Don't count the host.
        EXCLUDE_HOST = 19 "exclude_host";
        /// Don't count guests.
        EXCLUDE_GUEST = 20 "exclude_guest";
        /// No kernel addresses in call chains.
        EXCLUDE_CALLCHAIN_KERNEL = 21 "exclude_callchain_kernel";
        /// No user addresses in call chains.
        EXCLUDE_CALLCHAIN_USER = 22 "exclude_callchain_user";
        /// MMAP2 records instead of MMAP.
        MMAP2 = 23 "mmap2";
        /// COMM records say whether an exec did it.
        COMM_EXEC = 24 "comm_exec";
        /// Times are of the clock `clockid`.
        USE_CLOCKID = 25 "use_clockid";
        /// Write SWITCH records.
        CONTEXT_SWITCH = 26 "context_switch";
        /// Write the ring from its end to its start.
        WRITE_BACKWARD = 27 "write_backward";
        /// Write NAMESPACES records.
        NAMESPACES = 28 "namespaces";
        /// Write KSYMBOL records.
        KSYMBOL = 29 "ksymbol";
        /// Write BPF_EVENT records.
        BPF_EVENT = 30 "bpf_event";
        /// Output goes to an AUX area.
        AUX_OUTPUT = 31 "aux_output";
        /// Write CGROUP records.
        CGROUP = 32 "cgroup";
        /// Write TEXT_POKE records.
        TEXT_POKE = 33 "text_poke";
        /// MMAP2 records carry build ids.
        BUILD_ID = 34 "build_id";
        /// Only threads inherit it, not processes.
        INHERIT_THREAD = 35 "inherit_thread";
        /// The next exec closes it.
        REMOVE_ON_EXEC = 36 "remove_on_exec";
        /// Send SIGTRAP.
        SIGTRAP = 37 "sigtrap";
        /// Defer user call chains.
        DEFER_CALLCHAIN = 38 "defer_callchain";
        /// Write CALLCHAIN_DEFERRED records.
        DEFER_OUTPUT = 39 "defer_output";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_print_their_names() {
        assert_eq!(format!("{:?}", SampleType::IP | SampleType::TID), "SampleType(IP|TID)");
        assert_eq!(
            format!("{:?}", ReadFormat::from_bits(1 << 40 | 4)),
            "ReadFormat(ID and 0x10000000000)"
        );
    }

    /// Linux 7.2: sample_type has 25 bits, read_format 5, the flag word 40.
    #[test]
    fn no_bit_is_missing() {
        assert_eq!(SampleType::ALL.bits(), (1 << 25) - 1);
        assert_eq!(ReadFormat::ALL.bits(), (1 << 5) - 1);
        assert_eq!(AttrFlags::ALL.bits(), (1 << 40) - 1);
    }
}
