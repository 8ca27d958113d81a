//! `axperf overhead`.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// What to measure.
#[derive(Debug)]
pub struct Options {
    pub rounds: usize,
    pub periods: Vec<u64>,
    pub sysroot: Option<PathBuf>,
    pub command: Vec<std::ffi::OsString>,
}

/// Registers and bytes of stack that a sample has, as options have them.
const SAMPLES: &[(&str, &str)] =
    &[("none", "0"), ("all", "0"), ("ext", "0"), ("none", "8192"), ("all", "8192")];

/// A way to run the program, and what that cost, round by round.
struct Way {
    /// Registers, stack, period; None without a sampler.
    sample: Option<(&'static str, &'static str, u64)>,
    seconds: Vec<f64>,
    bytes: u64,
}

/// Runs the program in every way, each once a round, and prints what sampling costs.
pub fn run(options: &Options) -> Result<(), Failure> {
    let axperf = std::env::current_exe()?;
    let file = std::env::temp_dir().join(format!("axperf-overhead-{}", std::process::id()));
    let mut ways = vec![Way { sample: None, seconds: Vec::new(), bytes: 0 }];
    for &period in &options.periods {
        for &(regs, stack) in SAMPLES {
            let sample = Some((regs, stack, period));
            ways.push(Way { sample, seconds: Vec::new(), bytes: 0 });
        }
    }
    let all = ways.len() * options.rounds;
    let mut done = 0;
    let shown = stderr().is_terminal();
    for _ in 0..options.rounds {
        for way in &mut ways {
            let measured = measure(&axperf, options, way, &file);
            // Not there if that failed.
            way.bytes = std::fs::metadata(&file).map_or(0, |m| m.len());
            drop(std::fs::remove_file(&file));
            way.seconds.push(measured?);
            done += 1;
            if shown {
                eprint!("\raxperf: {done} of {all} runs ");
            }
        }
    }
    if shown {
        eprint!("\r\x1b[K");
    }
    Ok(show(&mut ways, &mut stdout().lock())?)
}

/// Runs the program once; the CPU time of that, in seconds.
fn measure(axperf: &Path, options: &Options, way: &Way, file: &Path) -> Result<f64, Failure> {
    let mut command = Command::new(axperf);
    match way.sample {
        None => drop(command.arg("run")),
        Some((regs, stack, period)) => {
            command.args(["record", "-c", &period.to_string()]).arg("-o").arg(file);
            if regs != "none" {
                command.args(["--user-regs", regs]);
            }
            if stack != "0" {
                command.args(["--stack-size", stack]);
            }
        }
    }
    if let Some(root) = &options.sysroot {
        command.arg("--sysroot").arg(root);
    }
    command.arg("--").args(&options.command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = children_seconds();
    let status = command.status()?;
    // Which status is the program's own business, but for those of one that can't be run.
    if matches!(status.code(), Some(126 | 127)) {
        let program = options.command.first().map(|c| c.display().to_string()).unwrap_or_default();
        return Err(Failure::Said(format!("{program} can't be run: try axperf run {program}")));
    }
    Ok(children_seconds() - before)
}

/// CPU time of the processes that were waited for, in seconds.
fn children_seconds() -> f64 {
    // SAFETY: zero is a valid value of the structure, which getrusage fills.
    #[allow(unsafe_code)]
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn show(ways: &mut [Way], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "# CPU time, the median of {} runs", ways[0].seconds.len())?;
    writeln!(out, "# registers  stack      period   seconds  overhead   written")?;
    let plain = median(&mut ways[0].seconds);
    for way in ways {
        let seconds = median(&mut way.seconds);
        match way.sample {
            None => writeln!(out, "{:>11}  {:>5}  {:>10}  {seconds:>8.3}", "-", "-", "-")?,
            Some((regs, stack, period)) => writeln!(
                out,
                "{regs:>11}  {stack:>5}  {period:>10}  {seconds:>8.3}  {:>7.1}%  {:>7.2} MB",
                (seconds / plain.max(1e-6) - 1.0) * 100.0,
                way.bytes as f64 / 1e6,
            )?,
        }
    }
    Ok(())
}
