//! Runs an Alpha program: `alpha-run [-v] [-e] [-i] [-s FILE] [-m CPU] [-p PMU] [-k] [-n] PROG
//! [ARG...]`; -v says what isn't implemented, -e how many instructions were emulated; -i interprets
//! only; -s writes a trace of system calls to a file; -m is the CPU, as compilers have it (`ev4`); -p
//! is the performance monitor; with -k events are as the posted patch has them, with -n there are
//! none.

use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use axperf::{Engine, EngineKind};
use axperf_linux::{Config, Process};

fn main() {
    let mut args: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    let mut config = Config::new();
    let mut emulation = false;
    let mut engine = axperf::Config::new();
    engine.background(true);
    while let Some(option) = args.first().filter(|a| a.starts_with(b"-")) {
        match option.as_slice() {
            b"-v" => drop(config.verbose(true)),
            b"-e" => emulation = true,
            b"-i" => drop(engine.engine(EngineKind::Interp)),
            b"-s" if args.len() > 1 => {
                let path = std::ffi::OsString::from_vec(args.remove(1));
                let file = std::fs::File::create(path).unwrap_or_else(|e| fail(e));
                config.strace(file.into()).unwrap_or_else(|e| fail(e));
            }
            b"-m" if args.len() > 1 => {
                let name = String::from_utf8_lossy(&args.remove(1)).into_owned();
                engine.cpu(name.parse().unwrap_or_else(|e| fail(e)));
            }
            b"-p" if args.len() > 1 => {
                let name = String::from_utf8_lossy(&args.remove(1)).into_owned();
                config.pmu(name.parse().unwrap_or_else(|e: String| fail(e)));
            }
            b"-k" => drop(config.kernel_exact(true)),
            b"-n" => drop(config.guest_perf(false)),
            _ => fail(
                "usage: alpha-run [-v] [-e] [-i] [-s FILE] [-m CPU] [-p PMU] [-k] [-n] PROG [ARG...]",
            ),
        }
        args.remove(0);
    }
    let env = std::env::vars_os()
        .map(|(name, value)| [name.into_vec(), value.into_vec()].join(&b'='))
        .collect();
    let engine = Engine::new(&engine).unwrap_or_else(|e| fail(e));
    match Process::new(&engine, args, env, &config, None) {
        Ok(process) => {
            let shared = Arc::clone(process.shared());
            let status = process.run();
            if emulation {
                eprintln!("alpha-run: {} instructions emulated", shared.emulation_faults());
            }
            status.pass_on()
        }
        Err(e) => fail(e),
    }
}

fn fail(e: impl std::fmt::Display) -> ! {
    eprintln!("alpha-run: {e}");
    std::process::exit(126)
}
