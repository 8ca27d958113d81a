//! One line that says how a long recording goes.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long a recording goes on before anything is said, and between two lines.
const FIRST: Duration = Duration::from_secs(2);
const NEXT: Duration = Duration::from_millis(500);

/// Says how it goes, where nobody is disturbed: on a terminal that the program doesn't write to.
#[derive(Debug)]
pub struct Progress {
    state: Option<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    due: Instant,
    bytes: u64,
    shown: bool,
}

impl Progress {
    pub fn new() -> Progress {
        let wanted = stderr().is_terminal() && !stdout().is_terminal();
        let state = State { due: Instant::now() + FIRST, bytes: 0, shown: false };
        Progress { state: wanted.then(|| Mutex::new(state)) }
    }

    /// More was recorded.
    pub fn add(&self, bytes: usize) {
        // Who finds it taken leaves the line to the other.
        let Some(Ok(mut state)) = self.state.as_ref().map(Mutex::try_lock) else { return };
        state.bytes += bytes as u64;
        let now = Instant::now();
        if now >= state.due {
            state.due = now + NEXT;
            state.shown = true;
            eprint!("\raxperf: {} recorded ", size(state.bytes));
        }
    }

    /// Removes the line.
    pub fn end(&self) {
        if let Some(Ok(state)) = self.state.as_ref().map(Mutex::try_lock)
            && state.shown
        {
            eprint!("\r\x1b[K");
        }
    }
}

/// Bytes, as people read them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
