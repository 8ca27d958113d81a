//! The registers: one row each, all else derived.

/// Calls `$m!` with one row per register.
///
/// A row is `ID = "name" "ABI name" @ state offset, perf index, DWARF number, gdb number;`
/// where the perf index is `-` for a register that perf's kernel ABI doesn't have.
///
/// Sources: offsets below 240 are Linux 7.x `struct pt_regs` for Alpha; perf indices are the
/// `enum perf_event_alpha_regs` of "alpha: add HAVE_PERF_REGS and HAVE_PERF_USER_STACK_DUMP
/// support" for 0..=31, and axperf's own extension (docs/formats.md) from 32 on; DWARF numbers
/// are gcc's (64 is its alternate frame return column); gdb numbers are `alpha-core`'s.
#[macro_export]
macro_rules! for_each_reg {
    ($m:ident) => {
        $m! {
            R0 = "r0" "v0" @ 0, 0, 0, 0;
            R1 = "r1" "t0" @ 8, 1, 1, 1;
            R2 = "r2" "t1" @ 16, 2, 2, 2;
            R3 = "r3" "t2" @ 24, 3, 3, 3;
            R4 = "r4" "t3" @ 32, 4, 4, 4;
            R5 = "r5" "t4" @ 40, 5, 5, 5;
            R6 = "r6" "t5" @ 48, 6, 6, 6;
            R7 = "r7" "t6" @ 56, 7, 7, 7;
            R8 = "r8" "t7" @ 64, 8, 8, 8;
            R9 = "r9" "s0" @ 240, 9, 9, 9;
            R10 = "r10" "s1" @ 248, 10, 10, 10;
            R11 = "r11" "s2" @ 256, 11, 11, 11;
            R12 = "r12" "s3" @ 264, 12, 12, 12;
            R13 = "r13" "s4" @ 272, 13, 13, 13;
            R14 = "r14" "s5" @ 280, 14, 14, 14;
            R15 = "r15" "fp" @ 288, 15, 15, 15;
            R16 = "r16" "a0" @ 216, 16, 16, 16;
            R17 = "r17" "a1" @ 224, 17, 17, 17;
            R18 = "r18" "a2" @ 232, 18, 18, 18;
            R19 = "r19" "a3" @ 72, 19, 19, 19;
            R20 = "r20" "a4" @ 80, 20, 20, 20;
            R21 = "r21" "a5" @ 88, 21, 21, 21;
            R22 = "r22" "t8" @ 96, 22, 22, 22;
            R23 = "r23" "t9" @ 104, 23, 23, 23;
            R24 = "r24" "t10" @ 112, 24, 24, 24;
            R25 = "r25" "t11" @ 120, 25, 25, 25;
            R26 = "r26" "ra" @ 128, 26, 26, 26;
            R27 = "r27" "t12" @ 136, 27, 27, 27;
            R28 = "r28" "at" @ 144, 28, 28, 28;
            Gp = "gp" "r29" @ 208, 29, 29, 29;
            Sp = "sp" "r30" @ 184, 30, 30, 30;
            Pc = "pc" "pc" @ 200, 31, 64, 64;
            F0 = "f0" "f0" @ 296, 32, 32, 32;
            F1 = "f1" "f1" @ 304, 33, 33, 33;
            F2 = "f2" "f2" @ 312, 34, 34, 34;
            F3 = "f3" "f3" @ 320, 35, 35, 35;
            F4 = "f4" "f4" @ 328, 36, 36, 36;
            F5 = "f5" "f5" @ 336, 37, 37, 37;
            F6 = "f6" "f6" @ 344, 38, 38, 38;
            F7 = "f7" "f7" @ 352, 39, 39, 39;
            F8 = "f8" "f8" @ 360, 40, 40, 40;
            F9 = "f9" "f9" @ 368, 41, 41, 41;
            F10 = "f10" "f10" @ 376, 42, 42, 42;
            F11 = "f11" "f11" @ 384, 43, 43, 43;
            F12 = "f12" "f12" @ 392, 44, 44, 44;
            F13 = "f13" "f13" @ 400, 45, 45, 45;
            F14 = "f14" "f14" @ 408, 46, 46, 46;
            F15 = "f15" "f15" @ 416, 47, 47, 47;
            F16 = "f16" "f16" @ 424, 48, 48, 48;
            F17 = "f17" "f17" @ 432, 49, 49, 49;
            F18 = "f18" "f18" @ 440, 50, 50, 50;
            F19 = "f19" "f19" @ 448, 51, 51, 51;
            F20 = "f20" "f20" @ 456, 52, 52, 52;
            F21 = "f21" "f21" @ 464, 53, 53, 53;
            F22 = "f22" "f22" @ 472, 54, 54, 54;
            F23 = "f23" "f23" @ 480, 55, 55, 55;
            F24 = "f24" "f24" @ 488, 56, 56, 56;
            F25 = "f25" "f25" @ 496, 57, 57, 57;
            F26 = "f26" "f26" @ 504, 58, 58, 58;
            F27 = "f27" "f27" @ 512, 59, 59, 59;
            F28 = "f28" "f28" @ 520, 60, 60, 60;
            F29 = "f29" "f29" @ 528, 61, 61, 61;
            F30 = "f30" "f30" @ 536, 62, 62, 62;
            Fpcr = "fpcr" "fpcr" @ 544, 63, 63, 63;
            Unique = "unique" "unique" @ 552, -, -, 66;
        }
    };
}

macro_rules! number {
    (-) => {
        None
    };
    ($n:literal) => {
        Some($n)
    };
}

macro_rules! define_regs {
    ($($id:ident = $name:literal $abi:literal @ $off:literal, $perf:tt, $dwarf:tt, $gdb:tt;)*) => {
        /// A register of the guest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Reg { $(#[doc = concat!("`", $name, "`, ", $abi)] $id),* }

        impl Reg {
            /// Every register, in the table's order.
            pub const ALL: &'static [Reg] = &[$(Reg::$id),*];

            /// The name perf prints: `r0`..`r28`, `gp`, `sp`, `pc`, `f0`..`f30`, `fpcr`.
            #[must_use]
            #[inline(always)]
            pub const fn name(self) -> &'static str { match self { $(Reg::$id => $name),* } }

            /// The name of the calling standard: `v0`, `t0`, `s0`, `a0`, `ra`...
            #[must_use]
            #[inline(always)]
            pub const fn abi_name(self) -> &'static str { match self { $(Reg::$id => $abi),* } }

            /// Byte offset in [`Regs`](crate::Regs).
            #[must_use]
            #[inline(always)]
            pub const fn offset(self) -> usize { match self { $(Reg::$id => $off),* } }

            /// perf's index: the kernel's up to 31, axperf's extension from 32 on.
            #[must_use]
            #[inline(always)]
            pub const fn perf_index(self) -> Option<u8> { match self { $(Reg::$id => number!($perf)),* } }

            /// gcc's DWARF number.
            #[must_use]
            #[inline(always)]
            pub const fn dwarf(self) -> Option<u16> { match self { $(Reg::$id => number!($dwarf)),* } }

            /// gdb's number in the `alpha-core` feature.
            #[must_use]
            #[inline(always)]
            pub const fn gdb(self) -> Option<u16> { match self { $(Reg::$id => number!($gdb)),* } }
        }
    };
}
for_each_reg!(define_regs);

impl Reg {
    /// The register with this name: perf's (`r26`, `gp`), the calling standard's (`ra`, `t0`),
    /// the manual's (`$26`, `$f1`), in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Reg> {
        let name = name.trim();
        if let Some(n) = name.strip_prefix('$') {
            if let Some(f) = n.strip_prefix(['f', 'F']) {
                return f.parse().ok().and_then(Reg::fp);
            }
            return n.parse().ok().and_then(Reg::int);
        }
        Reg::ALL.iter().copied().find(|r| {
            r.name().eq_ignore_ascii_case(name) || r.abi_name().eq_ignore_ascii_case(name)
        })
    }

    /// Integer register `n`; None for 31, which is no storage, and above.
    #[must_use]
    #[inline]
    pub const fn int(n: u8) -> Option<Reg> {
        if n < 31 { Some(Reg::ALL[n as usize]) } else { None }
    }

    /// Floating-point register `n`; None for 31, which is no storage, and above.
    #[must_use]
    #[inline]
    pub const fn fp(n: u8) -> Option<Reg> {
        if n < 31 { Some(Reg::ALL[32 + n as usize]) } else { None }
    }

    /// The register with this index of perf's register mask.
    #[must_use]
    pub const fn from_perf_index(index: u8) -> Option<Reg> {
        if index < 64 { Some(Reg::ALL[index as usize]) } else { None }
    }
}

// `int`, `fp` and `from_perf_index` index the table directly: the order of its rows is checked.
const _: () = {
    let mut i = 0;
    while i < 64 {
        match Reg::ALL[i].perf_index() {
            Some(p) => assert!(p as usize == i, "rows stand in the order of perf's indices"),
            None => panic!("the first 64 rows have a perf index"),
        }
        i += 1;
    }
    let mut i = 0;
    while i < Reg::ALL.len() {
        let mut j = i + 1;
        while j < Reg::ALL.len() {
            assert!(Reg::ALL[i].offset() != Reg::ALL[j].offset(), "two registers share an offset");
            j += 1;
        }
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The names, from the three conventions.
    #[test]
    fn names_resolve() {
        for (name, reg) in [
            ("r26", Reg::R26),
            ("ra", Reg::R26),
            ("$26", Reg::R26),
            ("SP", Reg::Sp),
            ("$30", Reg::Sp),
            ("r29", Reg::Gp),
            ("$f10", Reg::F10),
            ("fp", Reg::R15),
            ("pc", Reg::Pc),
        ] {
            assert_eq!(Reg::from_name(name), Some(reg), "{name}");
        }
        for name in ["$31", "$f31", "r31", "x0", ""] {
            assert_eq!(Reg::from_name(name), None, "{name}");
        }
    }

    /// perf's index equals the DWARF number up to 30; perf's 31 is the pc, which in
    /// DWARF is 64 (gcc's DWARF_ALT_FRAME_RETURN_COLUMN); DWARF's 31 is $31 and no register.
    #[test]
    fn perf_and_dwarf_numbers_part_at_31() {
        for i in 0..=30u8 {
            let reg = Reg::from_perf_index(i).unwrap();
            assert_eq!(reg.dwarf(), Some(u16::from(i)));
        }
        assert_eq!(Reg::from_perf_index(31), Some(Reg::Pc));
        assert_eq!(Reg::Pc.dwarf(), Some(64));
        assert!(Reg::ALL.iter().all(|r| r.dwarf() != Some(31)));
    }
}
