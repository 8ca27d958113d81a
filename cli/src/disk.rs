//! Where translations are kept between runs.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Names the directory, or, empty, none.
const VARIABLE: &str = "AXPERF_CACHE_DIR";

/// The directory: the one given, that of the environment, or `axperf` in the user's caches. None if
/// the environment says so, or says nothing at all.
pub fn directory(given: Option<PathBuf>) -> Option<PathBuf> {
    choose(given, |name| std::env::var_os(name))
}

fn choose(given: Option<PathBuf>, var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if given.is_some() {
        return given;
    }
    if let Some(dir) = var(VARIABLE) {
        return (!dir.is_empty()).then(|| dir.into());
    }
    // The XDG Base Directory Specification: relative paths are ignored.
    let absolute = |name| var(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|caches| caches.join("axperf"))
}

/// The file for a program that is run in some configuration. Its directory is made if it isn't
/// there, for this user alone.
pub fn file(directory: &Path, program: &[u8], configuration: &str) -> std::io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let program = Path::new(std::ffi::OsStr::from_bytes(program));
    // What can't be found isn't run, either.
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let parts = [path.as_os_str().as_bytes(), b"\0", configuration.as_bytes()];
    // FNV-1a.
    let hash = parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325u64, |h, byte| {
        (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    Ok(directory.join(format!("{hash:016x}.code")))
}

/// Files in the directory at most.
const MOST: usize = 1000;

/// Removes the files that were written longest ago, if there are too many.
pub fn prune(directory: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in directory.read_dir()? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "code") {
            files.push((path.symlink_metadata()?.modified()?, path));
        }
    }
    files.sort_unstable();
    let many = files.len().saturating_sub(MOST);
    files.into_iter().take(many).try_for_each(|(_, path)| std::fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_files_go() {
        let dir = std::env::temp_dir().join(format!("axperf-prune-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        let now = std::time::SystemTime::now();
        for i in 0..MOST as u64 + 3 {
            let file = std::fs::File::create(dir.join(format!("{i}.code"))).unwrap();
            file.set_modified(now - std::time::Duration::from_secs(i)).unwrap();
        }
        std::fs::write(dir.join("other"), "").unwrap();
        prune(&dir).unwrap();
        let is_there = |name: String| dir.join(name).exists();
        for i in 0..MOST + 3 {
            assert_eq!(is_there(format!("{i}.code")), i < MOST, "{i}");
        }
        assert!(is_there("other".into()));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    /// Values: the XDG Base Directory Specification.
    #[test]
    fn directories() {
        let choose = |given: Option<&str>, vars: &[(&str, &str)]| {
            let var =
                |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
            super::choose(given.map(PathBuf::from), var)
        };
        let home = [("HOME", "/home/me"), ("XDG_CACHE_HOME", "/caches")];
        assert_eq!(choose(Some("here"), &home), Some("here".into()));
        assert_eq!(choose(None, &home), Some("/caches/axperf".into()));
        assert_eq!(choose(None, &home[..1]), Some("/home/me/.cache/axperf".into()));
        let relative = [("HOME", "/home/me"), ("XDG_CACHE_HOME", "caches")];
        assert_eq!(choose(None, &relative), Some("/home/me/.cache/axperf".into()));
        assert_eq!(choose(None, &[]), None);
        assert_eq!(choose(None, &[("HOME", "/h"), (VARIABLE, "")]), None);
        assert_eq!(choose(None, &[("HOME", "/h"), (VARIABLE, "/v")]), Some("/v".into()));
    }
}
