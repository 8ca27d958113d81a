//! A trace of system calls and signals, in the form of strace(1).
//!
//! What is shown of a call's arguments is said by its row in the table of system calls.

mod board;
pub(crate) mod names;
mod print;
pub(crate) mod special;
pub(crate) mod structs;

use std::fs::File;
use std::io::{self, Write};

use crate::errno::Errno;
use crate::mm::Space;
use crate::observer::Ids;
use crate::process::ExitStatus;
use crate::signal::Info;
use crate::syscall::Row;
use crate::syscall::arg::{Arg, Data};
use crate::thread::Thread;
use board::Board;

/// What a call's result looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Returns {
    /// A signed number.
    Number,
    /// An address.
    Address,
    /// Permissions.
    Octal,
    /// A number, and another in `$20` of this name.
    Two(&'static str),
    /// A number, and what it means by the arguments.
    By(fn(&Space, u64, &[u64; 6]) -> String),
}

/// How a call has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// It returned this.
    Value(u64),
    /// It doesn't return.
    Gone,
    /// It failed.
    Error(Errno),
    /// A signal interrupted it. It isn't known yet whether it will be made again.
    Interrupted {
        /// A handler with SA_RESTART lets it be.
        with_handler: bool,
    },
    /// A signal came before it began.
    NotBegun,
}

/// Where a trace goes, and the state of its last line.
#[derive(Debug)]
pub(crate) struct Strace {
    file: File,
    board: Board,
}

/// A call that has begun.
#[derive(Debug)]
pub(crate) struct Entry {
    pid: i32,
    name: String,
    args: [u64; 6],
    row: Option<&'static Row>,
    /// Each argument, if it could be shown at once.
    shown: Vec<Shown>,
    /// Columns that its beginning took.
    columns: usize,
    /// Arguments that are in it.
    printed: usize,
}

/// What is known of an argument before a call has ended.
#[derive(Debug)]
enum Shown {
    Text(String),
    /// It isn't there, nor any after it.
    None,
    /// It is the call's result.
    Later(u64, Data),
}

/// The column of the result.
const RESULT: usize = 40;

impl Strace {
    /// A trace that goes to this file.
    ///
    /// # Errors
    /// The host has no memory to be shared with children.
    pub fn new(file: File) -> io::Result<Strace> {
        Ok(Strace { file, board: Board::new()? })
    }

    /// A thread that is traced begins.
    pub fn arrived(&self) {
        self.board.count(1);
    }

    /// A program of the host's takes a traced thread's place, unless [`Strace::arrived`] says otherwise.
    pub fn departs(&self) {
        self.board.count(-1);
    }

    /// A thread ends in this way.
    pub fn exited(&self, tid: i32, status: ExitStatus) {
        let how = match status {
            ExitStatus::Code(code) => format!("exited with {code}"),
            ExitStatus::Signal(signal) => format!("killed by {signal}"),
        };
        self.line(tid, &format!("+++ {how} +++"));
        self.board.count(-1);
    }

    /// A signal is delivered.
    pub fn signal(&self, ids: Ids, info: &Info) {
        let mut info = *info;
        info.bytes.put_u32(0, u32::from(info.signal.number()));
        let text = special::siginfo_text(&info.bytes.0);
        self.line(ids.tid, &format!("--- {} {text} ---", info.signal));
    }

    /// A whole line.
    fn line(&self, tid: i32, text: &str) {
        let _held = self.board.hold(tid);
        let end = self.unfinished();
        self.write(&format!("{end}{}{text}\n", self.prefix(tid)));
        self.board.set_open(0);
    }

    /// What ends the line that another thread's call has open, or this one's.
    fn unfinished(&self) -> &'static str {
        if self.board.open() == 0 { "" } else { " <unfinished ...>\n" }
    }

    fn prefix(&self, tid: i32) -> String {
        if self.board.is_alone() { String::new() } else { format!("[pid {tid:5}] ") }
    }

    fn write(&self, text: &str) {
        // A reader that went away is no reason to stop the program.
        drop((&self.file).write_all(text.as_bytes()));
    }

    /// A call begins; a number without a row is shown as that.
    pub fn enter(
        &self,
        t: &Thread,
        number: u64,
        row: Option<&'static Row>,
        args: &[u64; 6],
    ) -> Entry {
        let name = match row {
            Some(row) => row.name.to_owned(),
            None => format!("syscall_{number:#x}"),
        };
        let shown = match row {
            Some(row) if row.shows_arguments() => row
                .args
                .iter()
                .zip(args)
                .map(|(arg, value)| before(t, *arg, *value, args))
                .collect(),
            _ => args.iter().map(|value| Shown::Text(print::hex(*value))).collect(),
        };
        let mut entry =
            Entry { pid: t.ids.pid, name, args: *args, row, shown, columns: 0, printed: 0 };
        let mut text = format!("{}(", entry.name);
        for (i, shown) in entry.shown.iter().enumerate() {
            let Shown::Text(argument) = shown else { break };
            text += if i == 0 { "" } else { ", " };
            text += argument;
            entry.printed = i + 1;
        }
        if entry.printed > 0 && matches!(entry.shown.get(entry.printed), Some(Shown::Later(..))) {
            text += ", ";
        }
        let _held = self.board.hold(t.ids.tid);
        let text = format!("{}{text}", self.prefix(t.ids.tid));
        entry.columns = text.chars().count();
        self.write(&format!("{}{text}", self.unfinished()));
        self.board.set_open(t.ids.tid);
        entry
    }

    /// A call has ended. In a forked child there is nothing to be said: the call is its parent's.
    pub fn leave(&self, t: &Thread, entry: &Entry, outcome: Outcome) {
        let tid = t.ids.tid;
        if entry.pid != t.ids.pid {
            return;
        }
        let mut rest = String::new();
        for (i, shown) in entry.shown.iter().enumerate().skip(entry.printed) {
            let argument = match shown {
                Shown::Text(text) => text.clone(),
                Shown::None => break,
                Shown::Later(addr, data) => after(t, *addr, *data, entry, outcome),
            };
            rest += if i == entry.printed { "" } else { ", " };
            rest += &argument;
        }
        rest.push(')');
        let result = self.result(t, entry, outcome);
        let _held = self.board.hold(tid);
        let (begin, columns) = if self.board.open() == tid {
            (String::new(), entry.columns)
        } else {
            let resumed = format!("{}<... {} resumed>", self.prefix(tid), entry.name);
            let columns = resumed.chars().count();
            (self.unfinished().to_owned() + &resumed, columns)
        };
        let pad = RESULT.saturating_sub(columns + rest.chars().count() + 1);
        self.write(&format!("{begin}{rest}{:pad$} = {result}\n", ""));
        self.board.set_open(0);
    }

    fn result(&self, t: &Thread, entry: &Entry, outcome: Outcome) -> String {
        let returns = entry.row.map_or(Returns::Number, |row| row.returns);
        match outcome {
            Outcome::Gone => "?".into(),
            Outcome::Value(value) => match returns {
                Returns::Number => (value as i64).to_string(),
                Returns::By(f) => {
                    format!("{}{}", value as i64, f(&t.shared.space, value, &entry.args))
                }
                Returns::Address => print::hex(value),
                Returns::Octal => print::octal(value),
                Returns::Two(name) => {
                    let second = t.cpu.reg(axperf::Reg::R20) as i64;
                    format!("{} ({name} {second})", value as i64)
                }
            },
            Outcome::Error(e) => format!("-1 {} ({})", e.name(), e.text()),
            Outcome::Interrupted { with_handler: true } => {
                "? ERESTARTSYS (To be restarted if SA_RESTART is set)".into()
            }
            Outcome::Interrupted { with_handler: false } => {
                "? ERESTARTNOHAND (To be restarted if no handler)".into()
            }
            Outcome::NotBegun => "? ERESTARTNOINTR (To be restarted)".into(),
        }
    }
}

/// An argument before the call.
fn before(t: &Thread, arg: Arg, value: u64, args: &[u64; 6]) -> Shown {
    let space = &t.shared.space;
    Shown::Text(match arg {
        Arg::Num(look) => match print::argument(space, value, look, args) {
            Some(text) => text,
            None => return Shown::None,
        },
        Arg::Fd => (value as i32).to_string(),
        Arg::Dir if value as i32 == libc::AT_FDCWD => "AT_FDCWD".into(),
        Arg::Dir => (value as i32).to_string(),
        Arg::Path | Arg::Link | Arg::HostPath => print::string(space, value, true),
        Arg::Text => print::string(space, value, false),
        Arg::Out(Data::Bytes(_) | Data::Raw(_)) | Arg::InOut(Data::Bytes(_) | Data::Raw(_)) => {
            print::address(value)
        }
        // What an array asks for is known before, what became of it after.
        Arg::In(data) | Arg::InOut(data @ Data::Array(..)) => {
            print::pointed(space, value, data, args, None)
        }
        Arg::Out(data) | Arg::InOut(data) => return Shown::Later(value, data),
    })
}

/// An argument that is a result.
fn after(t: &Thread, addr: u64, data: Data, entry: &Entry, outcome: Outcome) -> String {
    let Outcome::Value(value) = outcome else { return print::address(addr) };
    // Nobody has ended.
    if value == 0 && matches!(data, Data::One(of) if std::ptr::eq(of, &structs::STATUS)) {
        return print::address(addr);
    }
    // A call that fills a buffer or an array returns how much of it.
    print::pointed(&t.shared.space, addr, data, &entry.args, Some(value))
}
