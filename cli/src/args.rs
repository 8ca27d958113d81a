//! The command line. Each command's arguments become a plain structure of its own; no other module
//! knows of clap.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use axperf::Cpu;
use axperf::export::Format;
use axperf_linux::{GdbAddress, Pmu};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    cmd_disasm, cmd_export, cmd_overhead, cmd_record, cmd_report, cmd_run, cmd_script, cmd_stat,
    disk, guest,
};

const EXAMPLES: &str = "\
EXAMPLES:
  axperf run ./hello                       run an Alpha program
  axperf stat ./hello                      count its instructions, its time, its waits
  axperf record -g ./hello                 record where it spends its instructions
  axperf report                            show the functions and call chains of perf.data
  axperf script -F comm,ip,sym,uregs       show each sample with its registers
  axperf export -f pprof -o p.pb.gz        write perf.data in another program's format
  axperf disasm ./hello                    disassemble it
  axperf disasm 0x47ff041f                 disassemble a word

perf.data is Linux perf's format: perf report, perf script and others read it too.";

const RUN_EXAMPLES: &str = "\
EXAMPLES:
  axperf run ./hello world
  axperf run --sysroot /srv/alpha -E LANG=C -- bzip2 -k file
  axperf run --engine interp --stats ./hello
  axperf run --strace=calls.txt ./hello    its system calls and signals
  axperf run --gdb 1234 ./hello            and in gdb-multiarch: target remote :1234";

const RECORD_EXAMPLES: &str = "\
EXAMPLES:
  axperf record ./hello                          a sample every 1000003 instructions
  axperf record -c 10007 -g ./hello              more of them, with call chains
  axperf record -e cpu-clock -F 1000 ./hello     1000 a second of its time
  axperf record -e context-switches -c 1 -Isp,pc ./hello
                                                 each time it waits, and where in the kernel
  axperf record --user-regs all ./hello          with the registers that Linux can sample
  axperf record --user-regs ext --stack-size 8192 -o full.data ./hello
                                                 with all registers and a copy of the stack";

const STAT_EXAMPLES: &str = "\
EXAMPLES:
  axperf stat ./hello
  axperf stat -e instructions:u,context-switches ./hello";

const OVERHEAD_EXAMPLES: &str = "\
EXAMPLES:
  axperf overhead ./hello
  axperf overhead -r 5 -c 1000003,10007 -- bzip2 -k file

The program runs once without a sampler and once for each period and kind of sample, in every round.";

const REPORT_EXAMPLES: &str = "\
EXAMPLES:
  axperf report
  axperf report -i full.data --percent-limit 1";

const SCRIPT_EXAMPLES: &str = "\
EXAMPLES:
  axperf script
  axperf script -i full.data -F comm,tid,time,ip,sym,symoff
  axperf script -F ip,uregs                registers by their Alpha names";

const EXPORT_EXAMPLES: &str = "\
EXAMPLES:
  axperf export -f pprof -o profile.pb.gz  then: pprof -http=: profile.pb.gz
  axperf export -f speedscope -o profile.speedscope.json
  axperf export -f flamegraph -o flame.svg then open it in a browser
  axperf export -f folded                  for other programs that draw
  axperf export -f jsonl | jq .user_regs";

const DISASM_EXAMPLES: &str = "\
EXAMPLES:
  axperf disasm ./hello
  axperf disasm 0x43de1520 47ff041f";

/// Run DEC Alpha programs and see where they spend their instructions, register by register.
#[derive(Debug, Parser)]
#[command(name = "axperf", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an Alpha program
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Run an Alpha program and record samples of it
    #[command(after_help = RECORD_EXAMPLES)]
    Record(RecordArgs),
    /// Run an Alpha program and count events
    #[command(after_help = STAT_EXAMPLES)]
    Stat(StatArgs),
    /// Measure what sampling an Alpha program costs
    #[command(after_help = OVERHEAD_EXAMPLES)]
    Overhead(OverheadArgs),
    /// Show the functions and call chains of a recording
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Show each sample of a recording
    #[command(after_help = SCRIPT_EXAMPLES)]
    Script(ScriptArgs),
    /// Write a recording in another program's format
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Disassemble a program's code, or words
    #[command(after_help = DISASM_EXAMPLES)]
    Disasm(DisasmArgs),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Engine {
    /// Interpret only
    Interp,
    /// Translate what is hot
    Jit,
}

#[derive(Debug, Args)]
struct GuestArgs {
    /// Look for the program's absolute paths below this directory first [default:
    /// /usr/alpha-linux-gnu, where it exists]
    #[arg(short = 'L', long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// How to run it
    #[arg(long, value_enum, default_value = "jit")]
    engine: Engine,
    /// The CPU that the program finds; instructions that it lacks are illegal
    #[arg(long, default_value_t, value_parser = cpu())]
    cpu: Cpu,
    /// Set a variable of the program's environment; the rest is that of axperf
    #[arg(short = 'E', value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(OsString, OsString)>,
    /// Start the program with random bytes made from this number, the same each time; with that,
    /// what a C library does at random it does alike
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Let the program wait while hot code is translated, instead of translating beside it
    #[arg(long)]
    no_background: bool,
    /// Don't use translations of an earlier run, and keep none
    #[arg(long, conflicts_with = "cache_dir")]
    no_cache: bool,
    /// Keep translations in this directory [default: $AXPERF_CACHE_DIR, or axperf in the user's
    /// caches]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Say at the end what the engine did
    #[arg(long)]
    stats: bool,
    /// Keep registers exact at memory faults, and print them when a signal ends the program
    #[arg(long)]
    fault_regs: bool,
    /// Let the program have no perf_event_open
    #[arg(long)]
    no_guest_perf: bool,
    /// The performance monitor that the program finds: all that axperf can do, what Linux's driver for
    /// an EV67 does, or none
    #[arg(long, default_value_t = Pmu::Full.name().to_owned(), value_parser = pmu())]
    pmu: String,
    /// Report events as Linux with the posted register patch does, where axperf knows better
    #[arg(long)]
    kernel_exact: bool,
    /// Run the interpreter beside translated code and stop where they differ
    #[arg(long)]
    crosscheck: bool,
    /// What the program finds as its own name, argv[0], instead of PROG
    #[arg(long, value_name = "NAME")]
    argv0: Option<OsString>,
    /// Say what isn't implemented when the program asks for it
    #[arg(long)]
    verbose: bool,
    /// Write each system call and signal, as strace(1) does, to standard error or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    strace: Option<Option<PathBuf>>,
    /// The program and its arguments
    #[arg(
        value_name = "PROG",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// The names of the CPUs.
fn cpu() -> impl TypedValueParser<Value = Cpu> {
    PossibleValuesParser::new(Cpu::ALL.iter().map(|cpu| cpu.name()))
        .try_map(|name| name.parse::<Cpu>())
}

/// The names of the performance monitors.
fn pmu() -> PossibleValuesParser {
    PossibleValuesParser::new(Pmu::ALL.iter().map(|pmu| pmu.name()))
}

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("it has the form NAME=VALUE".into()),
    }
}

impl From<GuestArgs> for guest::Options {
    fn from(args: GuestArgs) -> Self {
        guest::Options {
            sysroot: args.sysroot,
            interpret: matches!(args.engine, Engine::Interp),
            cpu: args.cpu,
            env: args.env.into_iter().map(|(n, v)| (n.into_vec(), v.into_vec())).collect(),
            seed: args.seed,
            background: !args.no_background,
            cache: if args.no_cache { None } else { disk::directory(args.cache_dir) },
            stats: args.stats,
            fault_regs: args.fault_regs,
            crosscheck: args.crosscheck,
            guest_perf: !args.no_guest_perf,
            pmu: args.pmu.parse().unwrap_or_default(),
            kernel_exact: args.kernel_exact,
            verbose: args.verbose,
            strace: args.strace,
            argv0: args.argv0.map(OsStringExt::into_vec),
            argv: args.command.into_iter().map(OsStringExt::into_vec).collect(),
        }
    }
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Wait for gdb before the first instruction, at a port of the loopback interface, at HOST:PORT,
    /// or at a socket (unix:PATH)
    #[arg(long, value_name = "PORT", value_parser = str::parse::<GdbAddress>)]
    gdb: Option<GdbAddress>,
    /// Write a core dump if a signal ends the program that does so on Linux; %p in the name is the
    /// process's number
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "core.%p"
    )]
    core: Option<PathBuf>,
    #[command(flatten)]
    guest: GuestArgs,
}

impl From<RunArgs> for cmd_run::Options {
    fn from(args: RunArgs) -> Self {
        cmd_run::Options { gdb: args.gdb, core: args.core, guest: args.guest.into() }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CallGraph {
    /// By the program's call frame information
    Cfi,
    /// None
    None,
}

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The events that are sampled, as perf has them: names with modifiers (`cycles:u`), several with
    /// commas between them, groups in braces [default: instructions]
    #[arg(short, long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Events between samples [default: 1000003 for instructions and cycles, 1 for what happens more
    /// rarely]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 63))]
    count: Option<u64>,
    /// Samples a second [default: 4000 for clocks]
    #[arg(short = 'F', long = "freq", value_name = "N", conflicts_with = "count", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    frequency: Option<u64>,
    /// Take no samples in the first milliseconds
    #[arg(short = 'D', long, value_name = "MS", default_value_t = 0)]
    delay: u64,
    /// Not possible: axperf sees only what it runs itself
    #[arg(short, long, value_name = "PID", hide = true, value_parser = attach_to)]
    pid: Option<String>,
    /// Record call chains: the same as --call-graph cfi
    #[arg(short = 'g')]
    chains: bool,
    /// How call chains are found
    #[arg(long, value_enum, value_name = "HOW")]
    call_graph: Option<CallGraph>,
    /// Record user registers: `all` that Linux can sample, `ext` for all there are, or a list
    #[arg(long, value_name = "all|ext|LIST")]
    user_regs: Option<String>,
    /// Record the registers where the event struck, in the kernel if that was there: as above
    #[arg(short = 'I', long, value_name = "all|ext|LIST")]
    intr_regs: Option<String>,
    /// Record as many bytes from the top of the user stack: a multiple of 8, at most 65528
    #[arg(long, value_name = "BYTES")]
    stack_size: Option<u32>,
    /// Where to write
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    output: PathBuf,
    #[command(flatten)]
    guest: GuestArgs,
}

fn attach_to(_: &str) -> Result<String, String> {
    Err("axperf can't attach to a process: it sees only what it runs itself".into())
}

/// The lists that were given, as one.
fn event_list(given: Vec<String>, default: &str) -> String {
    if given.is_empty() { default.to_owned() } else { given.join(",") }
}

impl From<RecordArgs> for cmd_record::Options {
    fn from(args: RecordArgs) -> Self {
        cmd_record::Options {
            events: event_list(args.events, "instructions"),
            rate: match (args.count, args.frequency) {
                (Some(n), _) => cmd_record::Rate::Period(n),
                (None, Some(n)) => cmd_record::Rate::Frequency(n),
                (None, None) => cmd_record::Rate::Default,
            },
            delay: args.delay,
            intr_regs: args.intr_regs,
            chains: match args.call_graph {
                Some(how) => matches!(how, CallGraph::Cfi),
                None => args.chains,
            },
            user_regs: args.user_regs,
            stack_size: args.stack_size,
            output: args.output,
            guest: args.guest.into(),
        }
    }
}

#[derive(Debug, Args)]
pub struct StatArgs {
    /// The events that are counted, as for record [default: task-clock, context-switches,
    /// cpu-migrations, cycles, instructions]
    #[arg(short, long = "event", value_name = "EVENT")]
    events: Vec<String>,
    #[command(flatten)]
    guest: GuestArgs,
}

impl From<StatArgs> for cmd_stat::Options {
    fn from(args: StatArgs) -> Self {
        const EVENTS: &str = "task-clock,context-switches,cpu-migrations,cycles,instructions";
        cmd_stat::Options { events: event_list(args.events, EVENTS), guest: args.guest.into() }
    }
}

#[derive(Debug, Args)]
pub struct OverheadArgs {
    /// Runs of each kind, of which the median is shown
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..1000))]
    rounds: u64,
    /// Instructions between samples, with commas between them
    #[arg(short, long = "count", value_name = "N,...", value_delimiter = ',', default_values_t = [1_000_003, 100_003], value_parser = clap::value_parser!(u64).range(1..1 << 63))]
    counts: Vec<u64>,
    /// Look for the program's absolute paths below this directory first
    #[arg(short = 'L', long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        value_name = "PROG",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

impl From<OverheadArgs> for cmd_overhead::Options {
    fn from(args: OverheadArgs) -> Self {
        cmd_overhead::Options {
            rounds: args.rounds as usize,
            periods: args.counts,
            sysroot: args.sysroot,
            command: args.command,
        }
    }
}

#[derive(Debug, Args)]
struct InputArgs {
    /// The recording
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    input: PathBuf,
    /// Look for programs and libraries below this directory first
    #[arg(short = 'L', long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Leave out what has a smaller share
    #[arg(long, value_name = "PERCENT", default_value_t = 0.5)]
    percent_limit: f64,
    /// Show as many call chains
    #[arg(long, value_name = "N", default_value_t = 20)]
    chains: usize,
}

impl From<ReportArgs> for cmd_report::Options {
    fn from(args: ReportArgs) -> Self {
        cmd_report::Options {
            input: args.input.input,
            sysroot: args.input.sysroot,
            percent_limit: args.percent_limit,
            chains: args.chains,
        }
    }
}

#[derive(Debug, Args)]
pub struct ScriptArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The fields to show, with commas between them: comm,pid,tid,cpu,time,period,event,addr,ip,sym,
    /// symoff,dso,uregs,iregs
    #[arg(short = 'F', long, value_name = "FIELDS")]
    fields: Option<String>,
}

impl From<ScriptArgs> for cmd_script::Options {
    fn from(args: ScriptArgs) -> Self {
        cmd_script::Options {
            input: args.input.input,
            sysroot: args.input.sysroot,
            fields: args.fields,
        }
    }
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The format
    #[arg(short, long, value_parser = format())]
    format: Format,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The names of the formats.
fn format() -> impl TypedValueParser<Value = Format> {
    let name = |format: &Format| PossibleValue::new(format.name()).help(format.about());
    PossibleValuesParser::new(Format::ALL.iter().map(name)).try_map(|name| name.parse::<Format>())
}

impl From<ExportArgs> for cmd_export::Options {
    fn from(args: ExportArgs) -> Self {
        cmd_export::Options {
            input: args.input.input,
            sysroot: args.input.sysroot,
            format: args.format,
            output: args.output,
        }
    }
}

#[derive(Debug, Args)]
pub struct DisasmArgs {
    /// Know the instructions of this CPU's PALmode, as in a file of PALcode [default: none]
    #[arg(long, value_parser = cpu())]
    cpu: Option<Cpu>,
    /// An Alpha ELF file, or words as hexadecimal numbers
    #[arg(value_name = "FILE|WORD", required = true)]
    what: Vec<OsString>,
}

impl From<DisasmArgs> for cmd_disasm::Options {
    fn from(args: DisasmArgs) -> Self {
        cmd_disasm::Options { what: args.what, cpu: args.cpu }
    }
}
