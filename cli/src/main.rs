//! The `axperf` command: runs DEC Alpha programs, records where they spend their instructions, and
//! shows it.

mod args;
mod attached;
mod binfmt;
mod cmd_disasm;
mod cmd_export;
mod cmd_overhead;
mod cmd_record;
mod cmd_report;
mod cmd_run;
mod cmd_script;
mod cmd_stat;
mod counter;
mod disk;
mod failure;
mod guest;
mod host;
mod progress;
mod recorder;
mod table;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};

fn main() {
    let args = binfmt::arguments(std::env::args_os().collect());
    let args = attached::apart(args, &Cli::command());
    let result = match Cli::parse_from(args).command {
        Command::Run(args) => cmd_run::run(args.into()),
        Command::Record(args) => cmd_record::run(args.into()),
        Command::Stat(args) => cmd_stat::run(args.into()),
        Command::Overhead(args) => cmd_overhead::run(&args.into()),
        Command::Report(args) => cmd_report::run(args.into()),
        Command::Script(args) => cmd_script::run(args.into()),
        Command::Export(args) => cmd_export::run(args.into()),
        Command::Disasm(args) => cmd_disasm::run(args.into()),
    };
    if let Err(failure) = result {
        failure.exit();
    }
}
