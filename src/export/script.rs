//! Samples as lines of text, as `perf script` prints them, with Alpha's register names.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use super::format::WriteError;
use super::perf_data::PerfData;
use super::samples::{Sampled, for_each_sample};
use crate::perf::{SampleRegs, Stop};
use crate::symbols::{Place, Session};

/// Defines [`Field`] from one row a field.
macro_rules! fields {
    ($($(#[$doc:meta])* $id:ident = $name:literal;)*) => {
        /// A field of a line, by perf's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Field { $($(#[$doc])* $id),* }

        impl Field {
            /// Every field.
            pub const ALL: &'static [Field] = &[$(Field::$id),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Field::$id => $name),* } }
        }
    };
}

fields! {
    /// Name of the thread.
    Comm = "comm";
    /// Process.
    Pid = "pid";
    /// Thread.
    Tid = "tid";
    /// CPU.
    Cpu = "cpu";
    /// Seconds.
    Time = "time";
    /// Events that the sample stands for.
    Period = "period";
    /// Event.
    Event = "event";
    /// Address that belongs to the event.
    Addr = "addr";
    /// Address of the next instruction; of each frame where there is a call chain.
    Ip = "ip";
    /// Its function.
    Sym = "sym";
    /// Distance from the function's start.
    Symoff = "symoff";
    /// Its file.
    Dso = "dso";
    /// User registers.
    Uregs = "uregs";
    /// Registers where the event struck.
    Iregs = "iregs";
}

/// Which fields are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Vec<Field>);

impl Default for Fields {
    /// What perf prints without being asked for anything: all but `pid`, `addr` and registers.
    fn default() -> Self {
        let left_out = [Field::Pid, Field::Addr, Field::Uregs, Field::Iregs];
        Fields(Field::ALL.iter().copied().filter(|f| !left_out.contains(f)).collect())
    }
}

impl Fields {
    fn has(&self, field: Field) -> bool {
        self.0.contains(&field)
    }
}

/// A list of fields with an unknown name in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no field `{0}`: use {list}", list = Field::ALL.iter().map(|f| f.name()).collect::<Vec<_>>().join(","))]
pub struct UnknownField(String);

impl FromStr for Fields {
    type Err = UnknownField;

    fn from_str(list: &str) -> Result<Fields, UnknownField> {
        let field = |name: &str| {
            let found = Field::ALL.iter().copied().find(|f| f.name() == name.trim());
            found.ok_or_else(|| UnknownField(name.trim().to_owned()))
        };
        list.split(',').map(field).collect::<Result<_, _>>().map(Fields)
    }
}

/// Writes every sample of a recording.
///
/// # Errors
/// The recording can't be read, or the text can't be written.
pub fn write_script(
    data: &PerfData,
    session: &mut Session,
    fields: &Fields,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    for_each_sample(data, session, |s| {
        Ok::<_, WriteError>(write_sample(s, &data.events()[s.event].name, fields, out)?)
    })?;
    Ok(())
}

fn write_sample(s: &Sampled, event: &str, fields: &Fields, out: &mut dyn Write) -> io::Result<()> {
    let has = |f| fields.has(f);
    let frames = has(Field::Ip) || has(Field::Sym);
    let multi_line = frames && s.has_chain();
    if has(Field::Comm) {
        match multi_line {
            true => write!(out, "{} ", s.comm())?,
            false => write!(out, "{:>16} ", s.comm())?,
        }
    }
    match (has(Field::Pid), has(Field::Tid)) {
        (true, true) => write!(out, "{:>5}/{:<5} ", s.pid(), s.tid())?,
        (true, false) => write!(out, "{:>5} ", s.pid())?,
        (false, true) => write!(out, "{:>5} ", s.tid())?,
        (false, false) => {}
    }
    if let Some(cpu) = s.sample.cpu.filter(|_| has(Field::Cpu)) {
        write!(out, "[{cpu:03}] ")?;
    }
    if let Some(time) = s.sample.time.filter(|_| has(Field::Time)) {
        write!(out, "{:>5}.{:06}: ", time / 1_000_000_000, time / 1000 % 1_000_000)?;
    }
    if let Some(period) = s.sample.period.filter(|_| has(Field::Period)) {
        write!(out, "{period:>10} ")?;
    }
    if has(Field::Event) {
        write!(out, "{event}: ")?;
    }
    if let Some(addr) = s.sample.addr.filter(|_| has(Field::Addr)) {
        write!(out, "{addr:>16x} ")?;
    }
    if multi_line {
        writeln!(out)?;
        for (addr, place) in s.frames() {
            write!(out, "\t")?;
            write_frame(s.session, addr, &place, fields, out)?;
            writeln!(out)?;
        }
        if let Some(end) = s.unwound.filter(|end| end.stop != Stop::Complete) {
            writeln!(out, "\t{:>16} {}", "...", end.stop.text())?;
        }
    } else if let Some((addr, place)) = s.frames().next().filter(|_| frames) {
        write!(out, " ")?;
        write_frame(s.session, addr, &place, fields, out)?;
    }
    for (field, regs) in [(Field::Iregs, s.sample.intr_regs), (Field::Uregs, s.sample.user_regs)] {
        if let Some(regs) = regs.filter(|_| has(field)) {
            write!(out, "{}", Registers(&regs))?;
        }
    }
    writeln!(out)
}

fn write_frame(
    session: &Session,
    addr: u64,
    place: &Place,
    fields: &Fields,
    out: &mut dyn Write,
) -> io::Result<()> {
    if fields.has(Field::Ip) {
        write!(out, "{addr:>16x}")?;
    }
    if fields.has(Field::Sym) {
        match session.symbol(place) {
            Some(symbol) => {
                write!(out, " {}", symbol.name())?;
                if fields.has(Field::Symoff) {
                    // A caller's place is that of the byte before its address.
                    let past = place.address % 2;
                    write!(out, "+{:#x}", place.address + past - symbol.start)?;
                }
            }
            None => write!(out, " [unknown]")?,
        }
    }
    if fields.has(Field::Dso) {
        write!(out, " ({})", session.dso_name(place).unwrap_or("[unknown]"))?;
    }
    Ok(())
}

/// Registers as perf prints them: ABI, then each with its name.
struct Registers<'a>(&'a SampleRegs<'a>);

impl fmt::Display for Registers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " ABI:2 ")?;
        for (reg, value) in self.0.iter() {
            write!(f, "{:>5}:{value:#x} ", reg.name())?;
        }
        Ok(())
    }
}
