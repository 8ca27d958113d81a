//! Runs an Alpha program: `alpha-run [-v] [-i] PROG [ARG...]`; -v says what isn't implemented, -i
//! interprets only.

use std::os::unix::ffi::OsStringExt;

use axperf::{Engine, EngineKind};
use axperf_linux::{Config, Process};

fn main() {
    let mut args: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let mut config = Config::new();
    let mut engine = axperf::Config::new();
    while let Some(option) = args.first().filter(|a| a.starts_with(b"-")) {
        match option.as_slice() {
            b"-v" => drop(config.verbose(true)),
            b"-i" => drop(engine.engine(EngineKind::Interp)),
            _ => fail("usage: alpha-run [-v] [-i] PROG [ARG...]"),
        }
        args.remove(0);
    }
    let env = std::env::vars_os()
        .map(|(name, value)| [name.into_vec(), value.into_vec()].join(&b'='))
        .collect();
    let engine = Engine::new(&engine).unwrap_or_else(|e| fail(e));
    match Process::new(&engine, args, env, &config, None) {
        Ok(process) => process.run().pass_on(),
        Err(e) => fail(e),
    }
}

fn fail(e: impl std::fmt::Display) -> ! {
    eprintln!("alpha-run: {e}");
    std::process::exit(126)
}
