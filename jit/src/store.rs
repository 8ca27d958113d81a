//! Translations kept on disk: objects by guest address and mode, with the words they were made from.
//!
//! docs/formats.md describes the file. What is wrong in any way is as if it weren't there: the code
//! is translated again. A file is trusted as the user's own programs are, so only one that nobody
//! else could write is read.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::abi::Stub;
use crate::compile::{Object, Relocation, Target, Words};
use crate::faults::{self, Budget, Site};
use crate::variant::{Class, Mode, Poll, Shape};

const MAGIC: &[u8; 8] = b"AXPERFTC";
const VERSION: u32 = 2;
/// Bytes of the header, and of an entry of the index.
const HEADER: usize = 40;
const ENTRY: usize = 40;
/// Bytes of a file at most.
const MOST: u64 = 64 << 20;
/// Where a site's budget is.
const STORED: u32 = 0;
const IN_REGISTER: u32 = 1;
const SPILLED: u32 = 2;

/// Why a file of translations isn't used, or wasn't written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The host says so.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// Others could have written it, or can replace it.
    #[error("{0}: others can write to it, or it belongs to somebody else")]
    Unsafe(PathBuf),
    /// It is no such file, or was damaged.
    #[error("{0}: not a file of translations, or damaged")]
    Damaged(PathBuf),
    /// It is another build's, another host's, or of another configuration.
    #[error("{0}: made by another build, for another host, or for another configuration")]
    Foreign(PathBuf),
}

/// What is in a file of translations.
#[derive(Debug, Default)]
pub(crate) struct Store {
    bytes: Vec<u8>,
    index: HashMap<(u64, u32), Vec<Entry>>,
    entries: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    end: usize,
    sum: u64,
}

/// A translation as it is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    pub words: Words,
    pub object: Object,
}

/// A digest of 64 bits, to find damage; no protection against intent.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64 ^ bytes.len() as u64;
    let mut mix = |w: u64| {
        h = (h ^ w).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h ^= h >> 29;
    };
    let mut chunks = bytes.chunks_exact(8);
    for c in &mut chunks {
        mix(c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b)));
    }
    chunks.remainder().iter().for_each(|b| mix(u64::from(*b)));
    h ^ h >> 32
}

/// A mode as the file has it.
pub(crate) fn mode_bits(mode: Mode) -> u32 {
    let Mode { shape, poll, class, precise, trapless } = mode;
    let shape = match shape {
        Shape::Identity => 0,
        Shape::Flat => 1,
        Shape::Tlb => 2,
    };
    let poll = match poll {
        Poll::Free => 0,
        Poll::Flag => 1,
        Poll::Counted => 2,
    };
    let class = match class {
        Class::Live => 0,
        Class::Unwind => 1,
        Class::Full => 2,
    };
    shape | poll << 4 | class << 8 | u32::from(precise) << 12 | u32::from(trapless) << 13
}

impl Store {
    /// Reads a file; an empty store if there is none.
    pub fn read(path: &Path, fingerprint: u64) -> Result<Store, StoreError> {
        let io = |e| StoreError::Io(path.into(), e);
        check_directory(path)?;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path);
        let mut file = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Store::default()),
            Err(e) => return Err(io(e)),
        };
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() || !is_mine(&meta) {
            return Err(StoreError::Unsafe(path.into()));
        }
        if meta.len() > MOST {
            return Err(StoreError::Damaged(path.into()));
        }
        let mut bytes = Vec::with_capacity(meta.len() as usize);
        // It may grow meanwhile; then it is damaged.
        Read::by_ref(&mut file).take(MOST + 1).read_to_end(&mut bytes).map_err(io)?;
        Store::parse(bytes, fingerprint, path)
    }

    fn parse(bytes: Vec<u8>, fingerprint: u64, path: &Path) -> Result<Store, StoreError> {
        let damaged = || StoreError::Damaged(path.into());
        let mut r = Reader(&bytes);
        let header = (|| Some((r.take(8)?, r.u32()?, r.u32()?, r.u64()?, r.u64()?, r.u64()?)))();
        let (magic, version, count, made_by, length, sum) = header.ok_or_else(damaged)?;
        if magic != MAGIC {
            return Err(damaged());
        }
        if version != VERSION || made_by != fingerprint {
            return Err(StoreError::Foreign(path.into()));
        }
        let index = r.take((count as usize).checked_mul(ENTRY).ok_or_else(damaged)?);
        let index = index.ok_or_else(damaged)?;
        if length != bytes.len() as u64 || sum != digest(index) {
            return Err(damaged());
        }
        let mut store = Store { entries: count as usize, ..Store::default() };
        let mut r = Reader(index);
        for _ in 0..count {
            let entry = (|| Some((r.u64()?, r.u32()?, r.u32()?, r.u64()?, r.u64()?, r.u64()?)))();
            let (pc, mode, _, start, size, sum) = entry.ok_or_else(damaged)?;
            let end = start.checked_add(size).filter(|e| *e <= length).ok_or_else(damaged)?;
            let entry = Entry { start: start as usize, end: end as usize, sum };
            store.index.entry((pc, mode)).or_default().push(entry);
        }
        store.bytes = bytes;
        Ok(store)
    }

    /// Translations in it.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// Those at a guest address, in a mode, that aren't damaged.
    pub fn find(&self, pc: u64, mode: Mode) -> impl Iterator<Item = Kept> {
        self.index.get(&(pc, mode_bits(mode))).into_iter().flatten().filter_map(move |e| {
            let bytes = self.bytes.get(e.start..e.end)?;
            if digest(bytes) != e.sum {
                return None;
            }
            Kept::parse(bytes).filter(|k| k.words.first().is_some_and(|(p, _)| *p == pc))
        })
    }

    /// What is in it beside `others`, as it stands there: address, mode, bytes.
    fn beside<'a>(
        &'a self,
        others: &'a [(u64, u32, Vec<u8>)],
    ) -> impl Iterator<Item = (u64, u32, &'a [u8])> {
        let new: std::collections::HashSet<(u64, u32)> =
            others.iter().map(|(pc, mode, _)| (*pc, *mode)).collect();
        let mut old: Vec<_> = self.index.iter().filter(|(key, _)| !new.contains(key)).collect();
        old.sort_unstable_by_key(|(key, _)| **key);
        old.into_iter().flat_map(move |(&(pc, mode), entries)| {
            entries.iter().filter_map(move |e| Some((pc, mode, self.bytes.get(e.start..e.end)?)))
        })
    }

    /// Writes these translations, and those in the store at other addresses, in place of the file.
    pub fn write(
        &self,
        path: &Path,
        fingerprint: u64,
        new: &[(u64, u32, Vec<u8>)],
    ) -> Result<(), StoreError> {
        let io = |e| StoreError::Io(path.into(), e);
        check_directory(path)?;
        let mut chosen = Vec::new();
        let mut size = HEADER as u64;
        let fresh = new.iter().map(|(pc, mode, bytes)| (*pc, *mode, bytes.as_slice()));
        for t in fresh.chain(self.beside(new)) {
            let more = (ENTRY + t.2.len()) as u64;
            if size + more <= MOST {
                size += more;
                chosen.push(t);
            }
        }
        let mut index = Vec::with_capacity(chosen.len() * ENTRY);
        let mut at = (HEADER + chosen.len() * ENTRY) as u64;
        for (pc, mode, bytes) in &chosen {
            put(&mut index, &[*pc, u64::from(*mode), at, bytes.len() as u64, digest(bytes)]);
            at += bytes.len() as u64;
        }
        let mut header = MAGIC.to_vec();
        header.extend(VERSION.to_le_bytes());
        header.extend((chosen.len() as u32).to_le_bytes());
        put(&mut header, &[fingerprint, at, digest(&index)]);
        // A name of this process's own: what two write at a time doesn't mix.
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let written = (|| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            let mut file: File = options.open(&temporary)?;
            let parts = chosen.iter().map(|(_, _, bytes)| *bytes);
            let whole: Vec<u8> =
                [header.as_slice(), &index].into_iter().chain(parts).flatten().copied().collect();
            file.write_all(&whole)?;
            fs::rename(&temporary, path)
        })();
        written.map_err(|e| {
            // It may not even exist.
            let _ = fs::remove_file(&temporary);
            io(e)
        })
    }
}

impl Kept {
    fn parse(bytes: &[u8]) -> Option<Kept> {
        let mut r = Reader(bytes);
        let [runs, size, align, relocations, sites] =
            [r.u32()?, r.u32()?, r.u32()?, r.u32()?, r.u32()?].map(|n| n as usize);
        let mut words = Words::new();
        for _ in 0..runs {
            let (pc, n) = (r.u64()?, r.u32()? as usize);
            let bytes = r.take(n.checked_mul(4)?)?;
            let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            words.push((pc, bytes.chunks_exact(4).map(word).collect()));
        }
        let code = r.take(size)?.to_vec();
        let mut object = Object { code, align, relocations: Vec::new(), sites: Vec::new() };
        for _ in 0..relocations {
            let (offset, kind, value) = (r.u32()?, r.u32()?, r.u64()?);
            let target = match kind {
                0 => Target::Slot(value),
                1 => Target::Stub(Stub::from_number(value)?),
                _ => return None,
            };
            if offset as usize + 8 > size {
                return None;
            }
            object.relocations.push(Relocation { offset, target });
        }
        for _ in 0..sites {
            let offset = r.u32()?;
            let (pc, refund) = (r.u64()?, r.u64()? as i64);
            let budget = match r.u32()? {
                STORED => Budget::Stored,
                IN_REGISTER => Budget::Register { number: r.small(32)?, plus: r.u64()? as i64 },
                SPILLED => {
                    Budget::Spilled { word: r.small(faults::SPILLED)?, plus: r.u64()? as i64 }
                }
                _ => return None,
            };
            object.sites.push((offset, Site { pc, refund, budget }));
        }
        let sound = r.0.is_empty() && align.is_power_of_two() && align <= 64;
        sound.then_some(Kept { words, object })
    }
}

/// A translation in the file's form. `code` may have addresses in it already.
pub(crate) fn encode(
    words: &Words,
    code: &[u8],
    align: usize,
    relocations: &[Relocation],
    sites: &[(u32, Site)],
) -> Vec<u8> {
    let mut out = Vec::new();
    for n in [words.len(), code.len(), align, relocations.len(), sites.len()] {
        out.extend((n as u32).to_le_bytes());
    }
    for (pc, list) in words {
        out.extend(pc.to_le_bytes());
        out.extend((list.len() as u32).to_le_bytes());
        list.iter().for_each(|w| out.extend(w.to_le_bytes()));
    }
    let start = out.len();
    out.extend(code);
    for r in relocations {
        // What stands there means nothing in another process.
        let at = start + r.offset as usize;
        out[at..at + 8].fill(0);
        let (kind, value) = match r.target {
            Target::Slot(pc) => (0u32, pc),
            Target::Stub(stub) => (1, stub.number()),
        };
        out.extend(r.offset.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    for (offset, site) in sites {
        out.extend(offset.to_le_bytes());
        put(&mut out, &[site.pc, site.refund as u64]);
        let (kind, place) = match site.budget {
            Budget::Stored => (STORED, None),
            Budget::Register { number, plus } => (IN_REGISTER, Some((number, plus))),
            Budget::Spilled { word, plus } => (SPILLED, Some((word, plus))),
        };
        out.extend(kind.to_le_bytes());
        if let Some((n, plus)) = place {
            out.extend(u32::from(n).to_le_bytes());
            put(&mut out, &[plus as u64]);
        }
    }
    out
}

fn put(out: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

/// Whether only this user can write to it.
fn is_mine(meta: &fs::Metadata) -> bool {
    // SAFETY: geteuid has no preconditions and doesn't fail.
    #[allow(unsafe_code)]
    let me = unsafe { libc::geteuid() };
    meta.uid() == me && meta.mode() & 0o022 == 0
}

fn check_directory(path: &Path) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    match fs::metadata(directory) {
        Ok(meta) if meta.is_dir() && is_mine(&meta) => Ok(()),
        Ok(_) => Err(StoreError::Unsafe(directory.into())),
        Err(e) => Err(StoreError::Io(directory.into(), e)),
    }
}

/// Takes values from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
    /// A number below `limit`.
    fn small(&mut self, limit: usize) -> Option<u8> {
        let n = self.u32()?;
        u8::try_from(n).ok().filter(|n| usize::from(*n) < limit)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::MODE;
    use std::os::unix::fs::PermissionsExt;

    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Dir {
            let name = format!("axperf-store-{}-{name}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            fs::create_dir_all(&dir).unwrap();
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
            Dir(dir)
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const RELOCATIONS: [Relocation; 2] = [
        Relocation { offset: 8, target: Target::Slot(0x1_2000_0040) },
        Relocation { offset: 24, target: Target::Stub(Stub::WriteFlags) },
    ];

    fn in_register(pc: u64) -> Site {
        Site { pc, refund: -1, budget: Budget::Register { number: 12, plus: -7 } }
    }

    /// A translation of two runs at `pc`; its code has something where addresses go.
    fn encoded(pc: u64, n: u8) -> (u64, u32, Vec<u8>) {
        let words = vec![(pc, vec![1, 2, u32::from(n)]), (pc + 0x100, vec![4])];
        let sites =
            [(0, Site { pc, refund: 3, budget: Budget::Stored }), (20, in_register(pc + 4))];
        (pc, mode_bits(MODE), encode(&words, &[n; 40], 16, &RELOCATIONS, &sites))
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = Dir::new("read");
        let path = dir.0.join("a.code");
        assert_eq!(Store::read(&path, 7).unwrap().len(), 0);
        let new = [encoded(0x1000, 9), encoded(0x2000, 8)];
        Store::default().write(&path, 7, &new).unwrap();
        let store = Store::read(&path, 7).unwrap();
        assert_eq!(store.len(), 2);
        let kept: Vec<Kept> = store.find(0x1000, MODE).collect();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].words, [(0x1000, vec![1, 2, 9]), (0x1100, vec![4])]);
        let object = &kept[0].object;
        let mut code = [9; 40];
        code[8..16].fill(0);
        code[24..32].fill(0);
        assert_eq!((object.code.as_slice(), object.align), (&code[..], 16));
        assert_eq!(object.relocations, RELOCATIONS);
        let stored = Site { pc: 0x1000, refund: 3, budget: Budget::Stored };
        assert_eq!(object.sites, [(0, stored), (20, in_register(0x1004))]);
        assert_eq!(store.find(0x1004, MODE).count(), 0);
        assert_eq!(store.find(0x1000, Mode { precise: true, ..MODE }).count(), 0);

        // What is new replaces what was at its address; the rest stays.
        store.write(&path, 7, &[encoded(0x2000, 5), encoded(0x3000, 6)]).unwrap();
        let store = Store::read(&path, 7).unwrap();
        let last = |pc| store.find(pc, MODE).map(|k| k.words[0].1[2]).collect::<Vec<_>>();
        assert_eq!([last(0x1000), last(0x2000), last(0x3000)], [[9], [5], [6]]);
        assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 1);
    }

    /// Whatever is changed in a file, or missing of it: what is still found is what was written.
    #[test]
    fn damage_is_noticed() {
        let dir = Dir::new("damage");
        let path = dir.0.join("a.code");
        Store::default().write(&path, 7, &[encoded(0x1000, 9), encoded(0x2000, 8)]).unwrap();
        let good = fs::read(&path).unwrap();
        let check = |bytes: &[u8]| {
            let Ok(store) = Store::parse(bytes.to_vec(), 7, &path) else { return };
            for (pc, n) in [(0x1000, 9), (0x2000, 8)] {
                for kept in store.find(pc, MODE) {
                    assert_eq!(kept.words, [(pc, vec![1, 2, n]), (pc + 0x100, vec![4])]);
                    assert_eq!(kept.object.relocations, RELOCATIONS);
                    assert_eq!(kept.object.code[0], n as u8);
                }
            }
        };
        for i in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[i] ^= 1 << bit;
                check(&bad);
            }
            check(&good[..i]);
        }
        check(&[good.as_slice(), &[0]].concat());
        // With a sum that is right, too, nothing is out of bounds.
        let (_, _, bytes) = encoded(0x1000, 9);
        for i in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bad = bytes.clone();
                bad[i] = value;
                drop(Kept::parse(&bad));
            }
            assert!(Kept::parse(&bytes[..i]).is_none());
        }
    }

    #[test]
    fn what_is_not_ours_is_not_used() {
        let dir = Dir::new("ours");
        let path = dir.0.join("a.code");
        Store::default().write(&path, 7, &[encoded(0x1000, 9)]).unwrap();
        assert!(matches!(Store::read(&path, 8), Err(StoreError::Foreign(_))));
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(&path, 0o620);
        assert!(matches!(Store::read(&path, 7), Err(StoreError::Unsafe(_))));
        mode(&path, 0o600);
        mode(&dir.0, 0o777);
        assert!(matches!(Store::read(&path, 7), Err(StoreError::Unsafe(_))));
        assert!(matches!(Store::default().write(&path, 7, &[]), Err(StoreError::Unsafe(_))));
        mode(&dir.0, 0o700);
        let link = dir.0.join("link.code");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Store::read(&link, 7), Err(StoreError::Io(..))));
        assert!(matches!(Store::read(&dir.0.join("no/a.code"), 7), Err(StoreError::Io(..))));
        fs::write(&path, b"something else that is long enough for a header").unwrap();
        assert!(matches!(Store::read(&path, 7), Err(StoreError::Damaged(_))));
        assert!(Store::read(&dir.0.join("none.code"), 7).is_ok());
    }
}
