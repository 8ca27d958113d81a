//! From a program's path to a process that can start: opening, scripts, mapping.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use axperf::{Bus, Cpu};

use crate::descriptors::lift;
use crate::elf::{ElfError, Image, Segment};
use crate::errno::Errno;
use crate::layout::{DYN_BASE, PAGE, STACK_TOP, page_down, page_up};
use crate::mm::{Mapping, Placement, Prot, Space};
use crate::path::Sysroot;
use crate::stack::{self, Auxv};

/// Scripts whose interpreter is a script, as deep as the kernel goes.
const MAX_SCRIPTS: usize = 5;
/// Bytes of a script's first line that count.
const SCRIPT_LINE: usize = 256;

/// Why a program can't be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct LoadError {
    /// The file, as the guest calls it.
    pub path: String,
    /// What is wrong with it.
    pub why: LoadFailure,
}

/// What is wrong with a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadFailure {
    /// It isn't there, or can't be opened.
    #[error("{0}")]
    Open(Errno),
    /// It is a directory, a device...
    #[error("it is not a regular file")]
    NotAFile,
    /// Nobody may execute it.
    #[error("it is not executable (chmod +x)")]
    NotExecutable,
    /// Its format.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Its dynamic linker isn't there: the message says where it was looked for.
    #[error("its dynamic linker {0} is not there (is --sysroot right?)")]
    NoInterpreter(String),
    /// Its dynamic linker isn't one.
    #[error("its dynamic linker {0}: {1}")]
    BadInterpreter(String, ElfError),
    /// Scripts in a circle.
    #[error("its interpreter is a script, whose interpreter is a script...")]
    ScriptLoop,
    /// It can't be mapped.
    #[error("it can't be mapped: {0}")]
    Map(Errno),
}

impl LoadFailure {
    /// What execve gives for it.
    #[must_use]
    pub fn errno(&self) -> Errno {
        match self {
            LoadFailure::Open(e) | LoadFailure::Map(e) => *e,
            LoadFailure::NotAFile | LoadFailure::NotExecutable => Errno(libc::EACCES),
            LoadFailure::Elf(ElfError::Io(e)) => Errno(e.raw_os_error().unwrap_or(libc::EIO)),
            LoadFailure::Elf(_) => Errno(libc::ENOEXEC),
            LoadFailure::NoInterpreter(_) => Errno(libc::ENOENT),
            LoadFailure::BadInterpreter(..) => Errno(libc::ELIBBAD),
            LoadFailure::ScriptLoop => Errno(libc::ELOOP),
        }
    }
}

/// A program that has been opened and read, but not mapped.
#[derive(Debug)]
pub struct Program {
    /// The program's path, as the guest calls it.
    pub path: Vec<u8>,
    /// What was executed: the script, where that is what it was.
    pub execfn: Vec<u8>,
    /// Its path on the host.
    pub host_path: Vec<u8>,
    /// Arguments.
    pub argv: Vec<Vec<u8>>,
    /// Environment.
    pub envp: Vec<Vec<u8>>,
    main: Binary,
    interpreter: Option<Binary>,
}

#[derive(Debug)]
struct Binary {
    file: File,
    image: Image,
}

/// Where a program starts.
#[derive(Clone, Debug)]
pub struct Start {
    /// The first instruction.
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The auxiliary vector, as it lies on the stack.
    pub auxv: Vec<u8>,
    /// Where the parts of the program are.
    pub layout: Layout,
}

/// Where the parts of a program are, for `/proc/self/stat`.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Its code: the segment that can be executed.
    pub code: Range<u64>,
    /// Its initialised data: the segment that can be written.
    pub data: Range<u64>,
    /// The strings of its arguments.
    pub args: Range<u64>,
    /// The strings of its environment.
    pub env: Range<u64>,
    /// Where the stack pointer started.
    pub stack: u64,
}

impl Program {
    /// Opens the program at the guest's `path`, its interpreters and its dynamic linker.
    ///
    /// # Errors
    /// It isn't there, isn't executable or isn't an Alpha program.
    pub fn open(
        sysroot: &Sysroot,
        path: &[u8],
        argv: Vec<Vec<u8>>,
        envp: Vec<Vec<u8>>,
    ) -> Result<Program, LoadError> {
        let execfn = path.to_vec();
        let (mut path, mut argv) = (path.to_vec(), argv);
        for _ in 0..MAX_SCRIPTS {
            let host_path = sysroot.host(&path, true);
            let fail = |why| LoadError { path: String::from_utf8_lossy(&path).into_owned(), why };
            let file = open(&host_path).map_err(fail)?;
            match script(&file).map_err(|e| fail(e.into()))? {
                None => {
                    let image = Image::read(&file).map_err(|e| fail(e.into()))?;
                    let interpreter = image
                        .interpreter
                        .as_deref()
                        .map(|i| open_interpreter(sysroot, i))
                        .transpose()
                        .map_err(fail)?;
                    let main = Binary { file, image };
                    return Ok(Program { path, execfn, host_path, argv, envp, main, interpreter });
                }
                Some((interpreter, argument)) => {
                    let rest = argv.into_iter().skip(1);
                    argv = vec![interpreter.clone()];
                    argv.extend(argument);
                    argv.push(path);
                    argv.extend(rest);
                    path = interpreter;
                }
            }
        }
        let path = String::from_utf8_lossy(&execfn).into_owned();
        Err(LoadError { path, why: LoadFailure::ScriptLoop })
    }

    /// The name of a process that runs it: 15 bytes at most.
    #[must_use]
    pub fn comm(&self) -> &[u8] {
        let name = self.execfn.rsplit(|b| *b == b'/').next().unwrap_or_default();
        &name[..name.len().min(15)]
    }

    /// Maps it into an empty address space, with a stack, to run on this CPU.
    ///
    /// # Errors
    /// The host can't, or the file is shorter than its headers say.
    pub fn map(
        &self,
        space: &Space,
        stack_len: u64,
        random: Option<[u8; 16]>,
        cpu: Cpu,
    ) -> Result<Start, Errno> {
        let main = &self.main;
        let bias = if main.image.relocatable {
            let place = if self.interpreter.is_some() {
                Placement::Free(align_up(DYN_BASE, main.image.align))
            } else {
                Placement::Anywhere(0)
            };
            main.reserve(space, place)?
        } else {
            0
        };
        main.map(space, bias)?;
        let heap = main.image.range().end.wrapping_add(bias);
        let entry = main.image.entry.wrapping_add(bias);
        let (base, pc) = match &self.interpreter {
            Some(i) => {
                let bias =
                    if i.image.relocatable { i.reserve(space, Placement::Anywhere(0))? } else { 0 };
                i.map(space, bias)?;
                (i.image.range().start.wrapping_add(bias), i.image.entry.wrapping_add(bias))
            }
            None => (0, entry),
        };
        space.set_heap(heap);

        let stack_len = page_up(stack_len).unwrap_or(0).clamp(16 * PAGE, STACK_TOP / 2);
        space.map(&Mapping {
            place: Placement::Free(STACK_TOP - stack_len),
            len: stack_len,
            prot: if main.image.executable_stack { Prot::RWX } else { Prot::RW },
            shared: false,
            file: None,
            name: Some("[stack]"),
            host_flags: libc::MAP_NORESERVE,
        })?;
        let auxv = Auxv {
            cpu,
            headers: main.image.headers.wrapping_add(bias),
            header_count: main.image.header_count,
            base,
            entry,
            random,
        };
        let built = stack::build(space, stack_len, &self.argv, &self.envp, &self.execfn, &auxv)?;
        let segment = |wanted: fn(&Segment) -> bool| {
            let mut found = main.image.segments.iter().filter(|s| wanted(s));
            found.next().map_or(0..0, |s| {
                let start = s.addr.wrapping_add(bias);
                start..start.saturating_add(s.file_len)
            })
        };
        let layout = Layout {
            code: segment(|s| s.flags.execute),
            data: segment(|s| s.flags.write),
            args: built.args,
            env: built.env,
            stack: built.sp,
        };
        Ok(Start { pc, sp: built.sp, auxv: built.auxv, layout })
    }
}

impl Binary {
    /// Takes a range for all of a relocatable image; returns what to add to its addresses.
    fn reserve(&self, space: &Space, place: Placement) -> Result<u64, Errno> {
        let range = self.image.range();
        let align = self.image.align.max(PAGE);
        let len = range.end - range.start;
        let whole = len.checked_add(align).ok_or(Errno(libc::ENOMEM))?;
        let at = space.map(&Mapping {
            place,
            len: whole,
            prot: Prot::NONE,
            shared: false,
            file: None,
            name: None,
            host_flags: libc::MAP_NORESERVE,
        })?;
        let start = align_up(at, align);
        space.unmap(at, whole)?;
        Ok(start.wrapping_sub(range.start))
    }

    fn map(&self, space: &Space, bias: u64) -> Result<(), Errno> {
        self.image.segments.iter().try_for_each(|s| self.map_segment(space, s, bias))
    }

    fn map_segment(&self, space: &Space, s: &Segment, bias: u64) -> Result<(), Errno> {
        let addr = s.addr.wrapping_add(bias);
        let prot = Prot::from_bits(
            u64::from(s.flags.read)
                | u64::from(s.flags.write) << 1
                | u64::from(s.flags.execute) << 2,
        );
        let (start, end) = (page_down(addr), addr + s.mem_len);
        let mut file_end = start;
        if s.file_len > 0 {
            let data_end = addr + s.file_len;
            file_end = page_up(data_end).ok_or(Errno(libc::ENOMEM))?;
            let zeros = if s.mem_len > s.file_len { data_end..file_end } else { 0..0 };
            let writable = Prot::from_bits(u64::from(prot.bits()) | 2);
            let mapping = Mapping {
                place: Placement::Fixed(start),
                len: file_end - start,
                prot: if zeros.is_empty() { prot } else { writable },
                shared: false,
                file: Some((self.file.as_fd(), page_down(s.offset))),
                name: None,
                host_flags: 0,
            };
            space.map(&mapping)?;
            if !zeros.is_empty() {
                space.write(zeros.start, &vec![0; (zeros.end - zeros.start) as usize])?;
                if prot != writable {
                    space.protect(start, file_end - start, prot)?;
                }
            }
        }
        let mem_end = page_up(end).ok_or(Errno(libc::ENOMEM))?;
        if mem_end > file_end {
            // The kernel makes what follows the file's bytes like the heap.
            space.map(&Mapping {
                place: Placement::Fixed(file_end),
                len: mem_end - file_end,
                prot: Prot::RWX,
                shared: false,
                file: None,
                name: None,
                host_flags: 0,
            })?;
        }
        Ok(())
    }
}

fn align_up(addr: u64, align: u64) -> u64 {
    addr.checked_next_multiple_of(align.max(PAGE)).unwrap_or(addr)
}

/// Opens a file where the guest doesn't see it.
fn open_lifted(host_path: &[u8]) -> std::io::Result<File> {
    let file = File::open(Path::new(OsStr::from_bytes(host_path)))?;
    Ok(lift(file.into())?.into())
}

/// Opens a file that is to be executed.
fn open(host_path: &[u8]) -> Result<File, LoadFailure> {
    let file = open_lifted(host_path).map_err(|e| LoadFailure::Open(e.into()))?;
    let meta = file.metadata().map_err(|e| LoadFailure::Open(e.into()))?;
    if !meta.is_file() {
        return Err(LoadFailure::NotAFile);
    }
    // SAFETY: geteuid has no preconditions.
    let euid = unsafe { libc::geteuid() };
    let mode = meta.permissions().mode();
    // A rough check, for the message: the host has the last word on reading.
    let may = if euid == meta.uid() { mode & 0o100 } else { mode & 0o111 };
    if (euid == 0 && mode & 0o111 == 0) || (euid != 0 && may == 0) {
        return Err(LoadFailure::NotExecutable);
    }
    Ok(file)
}

fn open_interpreter(sysroot: &Sysroot, path: &[u8]) -> Result<Binary, LoadFailure> {
    let host_path = sysroot.host(path, true);
    let shown = || String::from_utf8_lossy(path).into_owned();
    let file = open_lifted(&host_path).map_err(|_| LoadFailure::NoInterpreter(shown()))?;
    let image = Image::read(&file).map_err(|e| LoadFailure::BadInterpreter(shown(), e))?;
    Ok(Binary { file, image })
}

/// A script's interpreter and its one argument.
type Script = (Vec<u8>, Option<Vec<u8>>);

/// The interpreter that a script's first line names; None if the file isn't a script.
fn script(file: &File) -> Result<Option<Script>, ElfError> {
    let mut head = [0; SCRIPT_LINE];
    let have = file.read_at(&mut head, 0)?;
    let Some(line) = head[..have].strip_prefix(b"#!") else { return Ok(None) };
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    let trim = |b: &[u8]| b.trim_ascii().to_vec();
    let line = trim(line);
    let space = line.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(line.len());
    let (interpreter, argument) = (trim(&line[..space]), trim(&line[space..]));
    if interpreter.is_empty() {
        return Err(ElfError::NotAlpha("a script without an interpreter".into()));
    }
    Ok(Some((interpreter, (!argument.is_empty()).then_some(argument))))
}
