//! The rows of the [table](crate::table) as values.

use crate::format::{Form, QualifierSet};

/// What the body of an instruction takes and gives; [`exec`](crate::exec()) has an adapter for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// rc from ra and operand b.
    Int,
    /// Likewise, with an overflow trap.
    IntV,
    /// rc becomes operand b if ra meets a condition.
    Cmov,
    /// ra from rb and the displacement.
    Lda,
    /// ra from memory. With ra = 31 a prefetch, which never faults.
    Load,
    /// ra from memory, locked.
    LoadL,
    /// ra to memory.
    Store,
    /// ra to memory if the reservation holds; ra becomes whether it did.
    StoreC,
    /// fa from memory. With fa = 31 a prefetch, which never faults.
    FLoad,
    /// fa to memory.
    FStore,
    /// A branch if ra meets a condition.
    Branch,
    /// A branch if fa meets a condition.
    FBranch,
    /// A branch always; ra becomes the return address.
    Br,
    /// A jump to rb; ra becomes the return address.
    Jump,
    /// fc from fa and fb.
    Fp2,
    /// fc from fb.
    Fp1,
    /// fc becomes fb if fa meets a condition.
    FCmov,
    /// rc from fa.
    FToI,
    /// fc from ra.
    IToF,
    /// fa from FPCR.
    MfFpcr,
    /// FPCR from fa.
    MtFpcr,
    /// ra from something of the CPU's.
    ReadMisc,
    /// No operands.
    Effect,
    /// To PALcode: `$0`, `$16` and the thread pointer, or never goes on.
    Pal,
    /// Never goes on.
    Stop,
}

/// What an instruction does with the register that a field of its word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It has no such field, or doesn't look at it.
    None,
    /// Reads an integer register.
    Int,
    /// Writes an integer register.
    IntOut,
    /// Reads an integer register, then writes it.
    IntInOut,
    /// Reads a floating-point register.
    Fp,
    /// Writes a floating-point register.
    FpOut,
    /// Reads a floating-point register, then writes it.
    FpInOut,
}

impl Use {
    /// Whether it reads a register, integer or floating-point.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Use::Int | Use::IntInOut | Use::Fp | Use::FpInOut)
    }

    /// Whether it writes a register, integer or floating-point.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Use::IntOut | Use::IntInOut | Use::FpOut | Use::FpInOut)
    }

    /// Whether it is of an integer register.
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self, Use::Int | Use::IntOut | Use::IntInOut)
    }
}

impl Shape {
    /// What the fields ra, rb and rc are for. (CALL_PAL uses registers that no field names.)
    #[must_use]
    pub const fn uses(self) -> [Use; 3] {
        match self {
            Shape::Int | Shape::IntV => [Use::Int, Use::Int, Use::IntOut],
            Shape::Cmov => [Use::Int, Use::Int, Use::IntInOut],
            Shape::Lda | Shape::Load | Shape::LoadL => [Use::IntOut, Use::Int, Use::None],
            Shape::Store => [Use::Int, Use::Int, Use::None],
            Shape::StoreC => [Use::IntInOut, Use::Int, Use::None],
            Shape::FLoad => [Use::FpOut, Use::Int, Use::None],
            Shape::FStore => [Use::Fp, Use::Int, Use::None],
            Shape::Branch => [Use::Int, Use::None, Use::None],
            Shape::FBranch => [Use::Fp, Use::None, Use::None],
            Shape::Br | Shape::ReadMisc => [Use::IntOut, Use::None, Use::None],
            Shape::Jump => [Use::IntOut, Use::Int, Use::None],
            Shape::Fp2 => [Use::Fp, Use::Fp, Use::FpOut],
            Shape::Fp1 => [Use::None, Use::Fp, Use::FpOut],
            Shape::FCmov => [Use::Fp, Use::Fp, Use::FpInOut],
            Shape::FToI => [Use::Fp, Use::None, Use::IntOut],
            Shape::IToF => [Use::Int, Use::None, Use::FpOut],
            Shape::MfFpcr => [Use::FpOut, Use::None, Use::None],
            Shape::MtFpcr => [Use::Fp, Use::None, Use::None],
            Shape::Effect | Shape::Pal | Shape::Stop => [Use::None, Use::None, Use::None],
        }
    }

    /// The flags that every instruction of this shape has.
    const fn flags(self) -> Flags {
        match self {
            Shape::Load => Flags::LOAD,
            Shape::LoadL => Flags::LOAD.with(Flags::LOCKED),
            Shape::Store => Flags::STORE,
            Shape::StoreC => Flags::STORE.with(Flags::LOCKED),
            Shape::FLoad => Flags::LOAD.with(Flags::FP),
            Shape::FStore => Flags::STORE.with(Flags::FP),
            Shape::Branch => Flags::BRANCH.with(Flags::CONDITIONAL),
            Shape::FBranch => Flags::BRANCH.with(Flags::CONDITIONAL).with(Flags::FP),
            Shape::Br => Flags::BRANCH,
            Shape::Jump => Flags::BRANCH.with(Flags::INDIRECT),
            Shape::Fp2 | Shape::Fp1 | Shape::FCmov | Shape::FToI | Shape::IToF => Flags::FP,
            Shape::MfFpcr | Shape::MtFpcr => Flags::FP,
            Shape::IntV => Flags::TRAPS,
            Shape::Int | Shape::Cmov | Shape::Lda | Shape::ReadMisc => Flags::NONE,
            Shape::Effect | Shape::Pal | Shape::Stop => Flags::NONE,
        }
    }
}

/// The architecture extension that an instruction came with, as AMASK numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extension(u16);

/// The constants of a set of bits, and their names.
macro_rules! define_bits {
    ($set:ident: $bits:ty; $($(#[doc = $doc:literal])* $id:ident = $value:expr, $name:literal;)*) => {
        impl $set {
            $($(#[doc = $doc])* pub const $id: $set = $set($value);)*

            /// Names of those that it has, in the order above.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                const ALL: &[($bits, &str)] = &[$(($value, $name)),*];
                ALL.iter().filter(move |(bits, _)| *bits & self.0 != 0).map(|(_, name)| *name)
            }
        }
    };
}

define_bits! { Extension: u16;
    /// What every Alpha has.
    BASE = 0, "";
    /// Bytes and words (EV56).
    BWX = 1 << 0, "BWX";
    /// Square root and moves between register files (EV6).
    FIX = 1 << 1, "FIX";
    /// Counts (EV67).
    CIX = 1 << 2, "CIX";
    /// Motion video (PCA56).
    MVI = 1 << 8, "MVI";
}

impl Extension {
    /// Its bit in AMASK; 0 for what every Alpha has.
    #[must_use]
    pub const fn amask(self) -> u64 {
        self.0 as u64
    }
}

/// Facts about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags(u16);

define_bits! { Flags: u16;
    /// None.
    NONE = 0, "";
    /// Loads from memory.
    LOAD = 1 << 0, "load";
    /// Stores to memory.
    STORE = 1 << 1, "store";
    /// Takes or uses the reservation.
    LOCKED = 1 << 2, "locked";
    /// May go elsewhere than to the next instruction: branches and jumps.
    BRANCH = 1 << 3, "branch";
    /// A branch that may not be taken.
    CONDITIONAL = 1 << 4, "conditional";
    /// A jump through a register.
    INDIRECT = 1 << 5, "indirect";
    /// Calls: pushes a return address on the branch predictor's stack.
    CALL = 1 << 6, "call";
    /// Returns: pops one.
    RETURN = 1 << 7, "return";
    /// Uses floating-point registers.
    FP = 1 << 8, "fp";
    /// VAX floating point.
    VAX = 1 << 9, "vax";
    /// Orders memory accesses or traps.
    BARRIER = 1 << 10, "barrier";
    /// May take an arithmetic trap.
    TRAPS = 1 << 11, "traps";
    /// Goes to PALcode, or is reserved to it.
    PAL = 1 << 12, "pal";
    /// No instruction of a user program.
    RESERVED = 1 << 13, "reserved";
}

impl Flags {
    /// Both.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct InsnDesc {
    /// Which instruction.
    pub op: Op,
    /// Its name in assembly language, without qualifiers: `addq`, `addl/v`, `addt`.
    pub mnemonic: &'static str,
    /// How its words are laid out.
    pub form: Form,
    /// What its body takes and gives.
    pub shape: Shape,
    /// Where it came from.
    pub extension: Extension,
    /// Facts about it.
    pub flags: Flags,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// The qualifiers that it may have.
    pub qualifiers: QualifierSet,
}

impl InsnDesc {
    /// Whether it has all these flags.
    #[must_use]
    #[inline]
    pub const fn is(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }
}

/// The name with `/v` for `_v`, which no identifier can spell.
const fn spell<const N: usize>(name: &str) -> [u8; N] {
    let name = name.as_bytes();
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        let v = name[i] == b'_' && i + 2 == N && name[i + 1] == b'v';
        out[i] = if v { b'/' } else { name[i] };
        i += 1;
    }
    out
}

/// A doc comment without the space that starts it.
const fn sentence(doc: &str) -> &str {
    doc.split_at(1).1
}

macro_rules! define_insns {
    ($($(#[doc = $doc:literal])* $id:ident = $form:ident($($arg:literal),*) $shape:ident $module:ident { $ext:ident $(, $flag:ident)* };)*) => {
        /// An instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        // The names are the manual's, in lower case, as the bodies and the mnemonics are.
        #[allow(non_camel_case_types)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $id),* }

        /// The table, in the order of [`Op`].
        pub static INSNS: [InsnDesc; [$(Op::$id),*].len()] = [$(InsnDesc {
            op: Op::$id,
            mnemonic: {
                const SPELLED: [u8; stringify!($id).len()] = spell(stringify!($id));
                match core::str::from_utf8(&SPELLED) {
                    Ok(name) => name,
                    Err(_) => panic!("names are ASCII"),
                }
            },
            form: Form::$form($($arg),*),
            shape: Shape::$shape,
            extension: Extension::$ext,
            flags: Shape::$shape.flags()$(.with(Flags::$flag))*,
            doc: sentence(concat!($($doc),*)),
            qualifiers: Form::$form($($arg),*).qualifiers(),
        }),*];
    };
}
crate::for_each_insn!(define_insns);

impl Op {
    /// Its row of the table.
    #[must_use]
    #[inline]
    pub const fn desc(self) -> &'static InsnDesc {
        &INSNS[self as usize]
    }
}
