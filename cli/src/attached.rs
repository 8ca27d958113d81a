//! Values that stand at their option: `-Isp,pc`, `-c1000`.
//!
//! The parser takes such a word for the program where a program with any arguments may follow. So
//! they are taken apart before, up to the program.

use std::ffi::OsString;

use clap::Command;

/// The arguments, with values apart from their short options, for the subcommand that they name.
pub fn apart(args: impl IntoIterator<Item = OsString>, command: &Command) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut out: Vec<OsString> = args.by_ref().take(2).collect();
    let name = out.get(1).and_then(|a| a.to_str());
    let Some(command) = name.and_then(|name| command.find_subcommand(name)) else {
        out.extend(args);
        return out;
    };
    let takes_value = |short: Option<char>, long: Option<&str>| {
        command.get_arguments().any(|a| {
            let is_it = match (short, long) {
                (Some(_), _) => a.get_short() == short,
                (None, Some(_)) => a.get_long() == long,
                (None, None) => false,
            };
            // One that needs a `=` has its value there or not at all.
            is_it && a.get_action().takes_values() && !a.is_require_equals_set()
        })
    };
    while let Some(arg) = args.next() {
        let Some(text) = arg.to_str().filter(|t| t.len() > 1 && t.starts_with('-') && *t != "--")
        else {
            // The program, or the end of options.
            out.push(arg);
            break;
        };
        let value_follows = match text.strip_prefix("--") {
            Some(long) => !long.contains('=') && takes_value(None, Some(long)),
            None => {
                let mut letters = text.char_indices().skip(1);
                let valued = letters.find(|(_, c)| takes_value(Some(*c), None));
                match valued {
                    Some((at, c)) if at + c.len_utf8() < text.len() => {
                        let (option, value) = text.split_at(at + c.len_utf8());
                        out.push(option.into());
                        out.push(value.strip_prefix('=').unwrap_or(value).into());
                        continue;
                    }
                    other => other.is_some(),
                }
            }
        };
        out.push(arg);
        if value_follows {
            out.extend(args.next());
        }
    }
    out.extend(args);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn words(text: &str) -> Vec<String> {
        let args = text.split(' ').map(OsString::from);
        let all = apart(args, &crate::args::Cli::command());
        all.into_iter().map(|w| w.into_string().expect("text")).collect()
    }

    #[test]
    fn values_are_set_apart_up_to_the_program() {
        for (given, want) in [
            ("axperf record -e cs -c1 -Isp,pc ls -c1", "axperf record -e cs -c 1 -I sp,pc ls -c1"),
            ("axperf record -gc10 -- ls -Isp", "axperf record -gc 10 -- ls -Isp"),
            ("axperf record -o -x -c=7 ls -c=7", "axperf record -o -x -c 7 ls -c=7"),
            ("axperf record --event cs -c1 ls", "axperf record --event cs -c 1 ls"),
            ("axperf record --event=cs ./-c1 -c1", "axperf record --event=cs ./-c1 -c1"),
            ("axperf run -LX ls -LX", "axperf run -L X ls -LX"),
            ("axperf run --core ls -LX", "axperf run --core ls -LX"),
            ("axperf nothing -c1", "axperf nothing -c1"),
            ("axperf", "axperf"),
        ] {
            let want: Vec<_> = want.split(' ').collect();
            assert_eq!(words(given), want, "{given}");
        }
    }
}
