//! From the guest's paths to the host's: absolute paths are looked for in the sysroot first.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Symbolic links followed before giving up, as the kernel.
const MAX_LINKS: usize = 40;

/// A directory that holds an Alpha system, and stands in for `/` where it has the file.
#[derive(Clone, Debug, Default)]
pub struct Sysroot(Option<PathBuf>);

impl Sysroot {
    /// The sysroot at `root`; without one, every path is the host's.
    #[must_use]
    pub fn new(root: Option<PathBuf>) -> Sysroot {
        Sysroot(root.filter(|r| r != Path::new("/")))
    }

    /// Its directory.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// The host's path of what the guest calls `path`: in the sysroot if it is there, else itself.
    ///
    /// With `follow`, a symbolic link in the sysroot that names an absolute path is followed from
    /// the sysroot on. (Links among a path's directories are left to the host.)
    #[must_use]
    pub fn host(&self, path: &[u8], follow: bool) -> Vec<u8> {
        let Some(root) = &self.0 else { return path.to_vec() };
        let mut path = path.to_vec();
        for _ in 0..MAX_LINKS {
            if !path.starts_with(b"/") {
                break;
            }
            let mut inside = root.as_os_str().as_bytes().to_vec();
            inside.extend_from_slice(&path);
            let Ok(meta) = Path::new(OsStr::from_bytes(&inside)).symlink_metadata() else { break };
            if follow
                && meta.is_symlink()
                && let Ok(target) = Path::new(OsStr::from_bytes(&inside)).read_link()
                && target.is_absolute()
            {
                path = target.as_os_str().as_bytes().to_vec();
                continue;
            }
            return inside;
        }
        path
    }

    /// The guest's name for a host path: without the sysroot's.
    #[must_use]
    pub fn guest<'a>(&self, host: &'a [u8]) -> &'a [u8] {
        let root = self.0.as_ref().map_or(&b""[..], |r| r.as_os_str().as_bytes());
        match host.strip_prefix(root) {
            Some(rest) if rest.starts_with(b"/") => rest,
            _ => host,
        }
    }

    /// The guest's path of a program: itself if it has a slash, else the first of that name in
    /// `search` (the text of PATH) that is an executable file.
    #[must_use]
    pub fn find_program(&self, name: &[u8], search: Option<&[u8]>) -> Option<Vec<u8>> {
        if name.contains(&b'/') {
            return Some(name.to_vec());
        }
        // Without PATH, glibc's execvp looks here too.
        search.unwrap_or(b"/bin:/usr/bin").split(|b| *b == b':').find_map(|dir| {
            let mut path = if dir.is_empty() { b".".to_vec() } else { dir.to_vec() };
            path.push(b'/');
            path.extend_from_slice(name);
            is_executable(&self.host(&path, true)).then_some(path)
        })
    }
}

fn is_executable(host: &[u8]) -> bool {
    use std::os::unix::fs::PermissionsExt;
    Path::new(OsStr::from_bytes(host))
        .metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_sysroot_comes_first() {
        let dir = std::env::temp_dir().join(format!("axperf-path-{}", std::process::id()));
        fs::create_dir_all(dir.join("lib")).unwrap();
        fs::create_dir_all(dir.join("bin")).unwrap();
        fs::write(dir.join("lib/real"), "").unwrap();
        symlink("/lib/real", dir.join("lib/absolute")).unwrap();
        symlink("/lib/loop", dir.join("lib/loop")).unwrap();
        symlink("real", dir.join("lib/relative")).unwrap();
        fs::write(dir.join("bin/tool"), "").unwrap();
        fs::set_permissions(dir.join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();

        let root = Sysroot::new(Some(dir.clone()));
        let inside = |p: &str| dir.join(p).into_os_string().into_encoded_bytes();
        assert_eq!(root.host(b"/lib/real", true), inside("lib/real"));
        assert_eq!(root.host(b"/lib/absolute", true), inside("lib/real"));
        assert_eq!(root.host(b"/lib/absolute", false), inside("lib/absolute"));
        assert_eq!(root.host(b"/lib/relative", true), inside("lib/relative"));
        assert_eq!(root.host(b"/lib/loop", true), b"/lib/loop");
        assert_eq!(root.host(b"/lib/none", true), b"/lib/none");
        assert_eq!(root.host(b"lib/real", true), b"lib/real");
        assert_eq!(root.guest(&inside("lib/real")), b"/lib/real");
        assert_eq!(root.guest(b"/etc/passwd"), b"/etc/passwd");
        assert_eq!(root.find_program(b"tool", Some(b"/lib:/bin")), Some(b"/bin/tool".to_vec()));
        assert_eq!(root.find_program(b"real", Some(b"/lib:/bin")), None);
        assert_eq!(root.find_program(b"./x", None), Some(b"./x".to_vec()));
        fs::remove_dir_all(dir).unwrap();
    }
}
