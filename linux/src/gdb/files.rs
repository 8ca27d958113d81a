//! What gdb reads to find symbols: the auxiliary vector, the program's name, the guest's files.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

use gdbstub::common::Pid;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::auxv::Auxv;
use gdbstub::target::ext::exec_file::ExecFile;
use gdbstub::target::ext::host_io::{
    FsKind, HostIo, HostIoClose, HostIoCloseOps, HostIoErrno, HostIoError, HostIoFstat,
    HostIoFstatOps, HostIoOpen, HostIoOpenFlags, HostIoOpenMode, HostIoOpenOps, HostIoPread,
    HostIoPreadOps, HostIoReadlink, HostIoReadlinkOps, HostIoResult, HostIoSetfs, HostIoSetfsOps,
    HostIoStat,
};

use super::Debuggee;
use super::debuggee::part;
use crate::descriptors::lift;
use crate::procfs;

/// Files that a debugger may have open.
const MOST: usize = 32;

impl Auxv for Debuggee {
    fn get_auxv(&self, offset: u64, length: usize, buf: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(part(&self.shared.running().auxv, offset, length, buf))
    }
}

impl ExecFile for Debuggee {
    fn get_exec_file(
        &self,
        _: Option<Pid>,
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let host = self.shared.running().host_path.clone();
        let full = std::fs::canonicalize(OsStr::from_bytes(&host))?.into_os_string().into_vec();
        Ok(part(self.shared.config.sysroot.guest(&full), offset, length, buf))
    }
}

impl HostIo for Debuggee {
    fn support_open(&mut self) -> Option<HostIoOpenOps<'_, Self>> {
        Some(self)
    }

    fn support_close(&mut self) -> Option<HostIoCloseOps<'_, Self>> {
        Some(self)
    }

    fn support_pread(&mut self) -> Option<HostIoPreadOps<'_, Self>> {
        Some(self)
    }

    fn support_fstat(&mut self) -> Option<HostIoFstatOps<'_, Self>> {
        Some(self)
    }

    fn support_readlink(&mut self) -> Option<HostIoReadlinkOps<'_, Self>> {
        Some(self)
    }

    fn support_setfs(&mut self) -> Option<HostIoSetfsOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee {
    /// The content of a file of /proc that tells of the program.
    fn proc_file(&self, path: &[u8]) -> Option<Vec<u8>> {
        let path = path.strip_prefix(b"/proc/")?;
        let (pid, name) = path.split_at_checked(path.iter().position(|b| *b == b'/')?)?;
        let name = &name[1..];
        let own = pid == b"self" || pid == std::process::id().to_string().as_bytes();
        if own { procfs::of_process(&self.shared, name) } else { None }
    }

    fn file(&self, fd: u32) -> HostIoResult<&File, Self> {
        self.files.get(&fd).ok_or(HostIoError::Errno(HostIoErrno::EBADF))
    }
}

impl HostIoOpen for Debuggee {
    /// Opens a file of the guest's, to read it.
    fn open(
        &mut self,
        filename: &[u8],
        flags: HostIoOpenFlags,
        _: HostIoOpenMode,
    ) -> HostIoResult<u32, Self> {
        if flags != HostIoOpenFlags::O_RDONLY {
            return Err(HostIoError::Errno(HostIoErrno::EROFS));
        }
        let fd = (0..MOST as u32).find(|fd| !self.files.contains_key(fd));
        let fd = fd.ok_or(HostIoError::Errno(HostIoErrno::EMFILE))?;
        let file = match self.proc_file(filename) {
            Some(content) => in_memory(&content)?,
            None => {
                let path = self.shared.config.sysroot.host(filename, true);
                // A pipe would be waited for.
                OpenOptions::new()
                    .read(true)
                    .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
                    .open(OsStr::from_bytes(&path))?
            }
        };
        self.files.insert(fd, lift(file.into())?.into());
        Ok(fd)
    }
}

/// A file with this content that no directory has.
fn in_memory(content: &[u8]) -> io::Result<File> {
    // SAFETY: a string with its NUL; the descriptor is ours.
    let file = unsafe {
        let fd = libc::memfd_create(c"gdb".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(fd)
    };
    file.write_all_at(content, 0)?;
    Ok(file)
}

impl HostIoClose for Debuggee {
    fn close(&mut self, fd: u32) -> HostIoResult<(), Self> {
        self.file(fd)?;
        self.files.remove(&fd);
        Ok(())
    }
}

impl HostIoPread for Debuggee {
    fn pread(
        &mut self,
        fd: u32,
        count: usize,
        offset: u64,
        buf: &mut [u8],
    ) -> HostIoResult<usize, Self> {
        let n = count.min(buf.len());
        Ok(self.file(fd)?.read_at(&mut buf[..n], offset)?)
    }
}

impl HostIoFstat for Debuggee {
    fn fstat(&mut self, fd: u32) -> HostIoResult<HostIoStat, Self> {
        let meta = self.file(fd)?.metadata()?;
        Ok(HostIoStat {
            st_dev: meta.dev() as u32,
            st_ino: meta.ino() as u32,
            st_mode: HostIoOpenMode::from_bits_truncate(meta.mode()),
            st_nlink: meta.nlink() as u32,
            st_uid: meta.uid(),
            st_gid: meta.gid(),
            st_rdev: meta.rdev() as u32,
            st_size: meta.size(),
            st_blksize: meta.blksize(),
            st_blocks: meta.blocks(),
            st_atime: meta.atime() as u32,
            st_mtime: meta.mtime() as u32,
            st_ctime: meta.ctime() as u32,
        })
    }
}

impl HostIoReadlink for Debuggee {
    fn readlink(&mut self, filename: &[u8], buf: &mut [u8]) -> HostIoResult<usize, Self> {
        let path = self.shared.config.sysroot.host(filename, false);
        let target = std::fs::read_link(OsStr::from_bytes(&path))?;
        Ok(part(target.as_os_str().as_bytes(), 0, buf.len(), buf))
    }
}

impl HostIoSetfs for Debuggee {
    /// The debugger and the program see the same files.
    fn setfs(&mut self, _: FsKind) -> HostIoResult<(), Self> {
        Ok(())
    }
}
