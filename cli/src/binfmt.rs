//! axperf as the interpreter that the kernel runs for Alpha programs (binfmt_misc).

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The name by which the kernel calls it.
const NAME: &str = "axperf-binfmt";

/// Set in AT_FLAGS if the program's own `argv[0]` follows its path (`linux/binfmts.h`).
const PRESERVE_ARGV0: u64 = 1;

/// The command line that is meant: called as `axperf-binfmt`, the arguments are a program's path, with
/// the flag P its `argv[0]`, and its other arguments.
pub fn arguments(args: Vec<OsString>) -> Vec<OsString> {
    // SAFETY: getauxval has no preconditions.
    let flags = unsafe { libc::getauxval(libc::AT_FLAGS) };
    meant(args, flags & PRESERVE_ARGV0 != 0)
}

fn meant(args: Vec<OsString>, preserved: bool) -> Vec<OsString> {
    let mut list = args.into_iter();
    let own = list.next().unwrap_or_default();
    if Path::new(&own).file_name() != Some(OsStr::new(NAME)) {
        return [own].into_iter().chain(list).collect();
    }
    let mut meant: Vec<OsString> = vec![own, "run".into()];
    let program = list.next();
    if preserved && let Some(name) = list.next() {
        // One word, for the name may begin with a dash: a login shell's does.
        let mut option = OsString::from("--argv0=");
        option.push(name);
        meant.push(option);
    }
    meant.push("--".into());
    meant.extend(program);
    meant.extend(list);
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], preserved: bool, want: &[&str]) {
        let args = args.iter().map(OsString::from).collect();
        assert_eq!(meant(args, preserved), want);
    }

    /// The kernel's `Documentation/admin-guide/binfmt-misc.rst`.
    #[test]
    fn arguments_are_the_kernels() {
        check(&["axperf", "run", "x"], false, &["axperf", "run", "x"]);
        let own = "/usr/bin/axperf-binfmt";
        check(&[own, "/bin/ls", "-l"], false, &[own, "run", "--", "/bin/ls", "-l"]);
        let want = [own, "run", "--argv0=-sh", "--", "/bin/sh", "-c", "x"];
        check(&[own, "/bin/sh", "-sh", "-c", "x"], true, &want);
    }
}
