//! The other side of gdb's remote serial protocol, as its manual describes it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection of a debugger's.
pub struct Client {
    stream: TcpStream,
}

impl Client {
    /// Connects, to what `target remote` takes.
    pub fn connect(remote: &str) -> Client {
        let port = remote.trim_start_matches(':').parse::<u16>().expect("a port");
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        Client { stream }
    }

    /// Sends bytes as they are; the other side may have gone.
    pub fn send(&mut self, bytes: &[u8]) {
        drop(self.stream.write_all(bytes));
    }

    /// Sends a packet.
    pub fn packet(&mut self, body: &[u8]) {
        let sum = body.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
        self.send(&[b"$", body, format!("#{sum:02x}").as_bytes()].concat());
    }

    /// The next packet; None if the other side has gone. Repeated characters are written out.
    pub fn reply(&mut self) -> Option<String> {
        while self.byte()? != b'$' {}
        let mut body = Vec::new();
        loop {
            match self.byte()? {
                b'#' => break,
                b'*' => {
                    let times = self.byte()? - 29;
                    let last = *body.last().expect("something to repeat");
                    body.extend(std::iter::repeat_n(last, times.into()));
                }
                b => body.push(b),
            }
        }
        self.byte()?;
        self.byte()?;
        self.send(b"+");
        Some(String::from_utf8_lossy(&body).into_owned())
    }

    /// Sends a packet; the reply.
    #[track_caller]
    pub fn ask(&mut self, body: &str) -> String {
        self.packet(body.as_bytes());
        self.reply().unwrap_or_else(|| panic!("no reply to {body}"))
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }
}
