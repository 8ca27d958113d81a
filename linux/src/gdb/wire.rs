//! Where gdb connects, and the connection.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use gdbstub::conn::Connection;

use crate::descriptors::lift;

/// How long a debugger may take to read what it is sent.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a debugger is waited for: a TCP port, or a socket in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GdbAddress {
    /// A port of this host, by its name; of the loopback interface if the name is empty.
    Tcp(String, u16),
    /// A socket.
    Unix(PathBuf),
}

/// No address has this form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is a port, HOST:PORT or unix:PATH")]
pub struct BadAddress;

impl FromStr for GdbAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<GdbAddress, BadAddress> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err(BadAddress)
            } else {
                Ok(GdbAddress::Unix(path.into()))
            };
        }
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        Ok(GdbAddress::Tcp(host.into(), port.parse().map_err(|_| BadAddress)?))
    }
}

impl fmt::Display for GdbAddress {
    /// As gdb's `target remote` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GdbAddress::Tcp(host, port) => write!(f, "{host}:{port}"),
            GdbAddress::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Waits for debuggers.
#[derive(Debug)]
pub(crate) struct Listener {
    kind: Kind,
    address: GdbAddress,
}

#[derive(Debug)]
enum Kind {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens at an address.
    pub fn bind(address: &GdbAddress) -> io::Result<Listener> {
        match address {
            GdbAddress::Tcp(host, port) => {
                let name = if host.is_empty() { "127.0.0.1" } else { host };
                let socket = TcpListener::bind((name, *port))?;
                let port = socket.local_addr()?.port();
                let kind = Kind::Tcp(lift(OwnedFd::from(socket))?.into());
                Ok(Listener { kind, address: GdbAddress::Tcp(host.clone(), port) })
            }
            GdbAddress::Unix(path) => {
                let socket = UnixListener::bind(path)?;
                let kind = Kind::Unix(lift(OwnedFd::from(socket))?.into());
                // The program may change its directory.
                let path = std::path::absolute(path)?;
                Ok(Listener { kind, address: GdbAddress::Unix(path) })
            }
        }
    }

    /// The address, with the port that it has.
    pub fn address(&self) -> &GdbAddress {
        &self.address
    }

    /// Takes the debugger that has come.
    pub fn accept(&self) -> io::Result<Wire> {
        let stream = match &self.kind {
            Kind::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Stream::Tcp(lift(stream.into())?.into())
            }
            Kind::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Stream::Unix(lift(stream.into())?.into())
            }
        };
        Ok(Wire { stream, out: Vec::new() })
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp(listener) => listener.as_fd(),
            Kind::Unix(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let GdbAddress::Unix(path) = &self.address {
            // If somebody took it away, so much the better.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The connection to a debugger.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    out: Vec<u8>,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Wire {
    /// What has come; nothing if the debugger has gone.
    pub fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Tcp(s) => s.read(buf),
            Stream::Unix(s) => s.read(buf),
        }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Tcp(s) => s.as_fd(),
            Stream::Unix(s) => s.as_fd(),
        }
    }
}

impl Connection for Wire {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.out.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let out = std::mem::take(&mut self.out);
        match &mut self.stream {
            Stream::Tcp(s) => Write::write_all(s, &out),
            Stream::Unix(s) => Write::write_all(s, &out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let tcp = |host: &str, port| Ok(GdbAddress::Tcp(host.into(), port));
        assert_eq!("1234".parse(), tcp("", 1234));
        assert_eq!(":1234".parse(), tcp("", 1234));
        assert_eq!("0.0.0.0:0".parse(), tcp("0.0.0.0", 0));
        assert_eq!("::1:9".parse(), tcp("::1", 9));
        assert_eq!("unix:/a:b".parse(), Ok(GdbAddress::Unix("/a:b".into())));
        for bad in ["", "unix:", "x", "65536", "host:", "-1"] {
            assert_eq!(bad.parse::<GdbAddress>(), Err(BadAddress), "{bad}");
        }
        assert_eq!(GdbAddress::Tcp(String::new(), 7).to_string(), ":7");
    }
}
