//! Hand-written programs in flat memory, and a limit to how long a test may take.

use std::sync::mpsc;
use std::time::Duration;

use axperf::isa::assemble;
use axperf::{Bus, Config, Engine, EngineKind, Machine, Reg};

/// Where the programs of these tests stand.
pub const START: u64 = 0x1000;

/// The engines, and when they translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Interp,
    /// What is visited is translated before it runs.
    Jit,
    /// What is visited is translated while it runs.
    Beside,
}

pub const KINDS: [Kind; 3] = [Kind::Interp, Kind::Jit, Kind::Beside];

impl Kind {
    pub fn config(self) -> Config {
        let mut c = Config::new();
        c.engine(if self == Kind::Interp { EngineKind::Interp } else { EngineKind::Jit });
        c.hot(1).background(self == Kind::Beside);
        c
    }
}

/// An engine that translates at once, if it translates.
pub fn engine(kind: Kind) -> Engine {
    Engine::new(&kind.config()).unwrap()
}

/// Writes a program.
pub fn load<B: Bus>(bus: &B, text: &str) {
    let words = assemble(text, START).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    bus.write(START, &bytes).unwrap();
}

/// A machine at the start of a program that is in memory already.
pub fn machine<B: Bus>(engine: &Engine, bus: B) -> Machine<B> {
    let mut m = Machine::new(engine, bus).unwrap();
    m.set_reg(Reg::Pc, START);
    m
}

/// Runs `f` on another thread, and fails if it takes too long: guest code that doesn't end would
/// hang the test.
pub fn within<T: Send + 'static>(what: &str, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // Nobody waits any more if it is too late.
        let _ = send.send(f());
    });
    match receive.recv_timeout(Duration::from_secs(60)) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} takes too long"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(()) => panic!("{what} ends without a value"),
            Err(e) => std::panic::resume_unwind(e),
        },
    }
}
