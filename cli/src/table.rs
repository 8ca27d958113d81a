//! Tables of functions and call chains.

use std::io::{self, Write};

use axperf::export::profile::Profile;
use axperf::perf::Stop;

/// Rows with a share of at least `limit` percent, at most `most` of them.
pub fn functions(
    profile: &Profile,
    limit: f64,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let share = |n: u64| percent(n, profile.weight);
    let rows = profile.functions.iter().take(most);
    let rows: Vec<_> =
        rows.filter(|l| share(if profile.has_chains { l.total } else { l.own }) >= limit).collect();
    let width = |name: &str, of: fn(&axperf::export::profile::FunctionLine) -> &str| {
        rows.iter().map(|l| of(l).chars().count()).max().unwrap_or(0).max(name.len())
    };
    let comm = width("Command", |l| &l.comm);
    let dso = width("Object", |l| &l.dso);
    let head = if profile.has_chains { "# Children     Self" } else { "# Overhead" };
    writeln!(out, "{head}  {:<comm$}  {:<dso$}  Function", "Command", "Object")?;
    for line in rows {
        if profile.has_chains {
            write!(out, "  {:>7.2}%  ", share(line.total))?;
        }
        write!(
            out,
            "{:>width$.2}%",
            share(line.own),
            width = if profile.has_chains { 6 } else { 9 }
        )?;
        writeln!(out, "  {:<comm$}  {:<dso$}  {}", line.comm, line.dso, line.function)?;
    }
    Ok(())
}

/// Chains with a share of at least `limit` percent, at most `most` of them, outermost first.
pub fn chains(profile: &Profile, limit: f64, most: usize, out: &mut dyn Write) -> io::Result<()> {
    for chain in profile.chains.iter().take(most) {
        let share = percent(chain.own, profile.weight);
        if share >= limit {
            writeln!(out, "{share:>9.2}%  {}", chain.functions.join(" > "))?;
        }
    }
    Ok(())
}

/// How call chains ended, in words; None if there are none. The counts are in the order of
/// [`Stop::ALL`].
pub fn chain_ends(counts: &[u64; Stop::ALL.len()]) -> Option<String> {
    let all: u64 = counts.iter().sum();
    let complete = percent(counts[Stop::Complete as usize], all);
    let mut text = format!("{complete:.1}% of the call chains are complete");
    for stop in Stop::ALL.into_iter().skip(1).filter(|s| counts[*s as usize] > 0) {
        text += &format!(", {} {}", counts[stop as usize], stop.text());
    }
    (all > 0).then_some(text)
}

/// What `n` is of `all`, in percent.
pub fn percent(n: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { n as f64 * 100.0 / all as f64 }
}
