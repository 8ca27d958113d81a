//! Tells builds of the translator apart: code that one has kept on disk is for that one alone.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = DefaultHasher::new();
    // What code is made of, and what it is made for. Outside the workspace the version of the
    // package stands for the latter.
    for directory in [here.join("src"), here.join("../isa/src")] {
        if directory.is_dir() {
            println!("cargo::rerun-if-changed={}", directory.display());
            hash(&directory, &mut hasher)?;
        }
    }
    println!("cargo::rustc-env=AXPERF_JIT_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn hash(directory: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|e| e.map(|e| e.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(&path, hasher)?;
        } else {
            path.file_name().hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
