//! Whatever a debugger sends, the program goes on when it has gone.

use super::client::Client;
use super::session::{STATIC, Session, compile, tools};
use super::support::TempDir;

const PROGRAM: &str = r#"
#include <unistd.h>
int main() { char c; while (read(0, &c, 1) > 0) ; return 9; }
"#;

#[test]
fn bytes_that_are_no_packets() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, STATIC);
    let session = Session::at_port(&[&program]);
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut noise = |n: usize| -> Vec<u8> {
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 32) as u8
        };
        (0..n).map(|_| next()).collect()
    };
    let garbage = [
        Vec::new(),
        b"-".to_vec(),
        b"\x03\x03\x03".to_vec(),
        b"$".to_vec(),
        b"$#".to_vec(),
        b"$#00$#00".to_vec(),
        b"$m0,#zz".to_vec(),
        vec![b'$'; 1 << 18],
        [b"$".to_vec(), vec![b'a'; 1 << 18]].concat(),
        noise(1 << 16),
        noise(1 << 16),
    ];
    for bytes in garbage {
        Client::connect(&session.remote).send(&bytes);
    }
    for body in [
        "mffffffffffffffff,ffffffffffffffff",
        "m0,ffffffffffffffff",
        "m120000000,7fffffffffffffff",
        "Mfffffffffffffff8,10:00",
        "X120000000,ffffffff:",
        "Z0,ffffffffffffffff,4",
        "Z0,120000001,ffffffffffffffff",
        "Z2,ffffffffffffffff,ffffffffffffffff",
        "Z9,0,0",
        "z0,0,0",
        "vCont;",
        "vCont;x",
        "vCont;s",
        "vCont;r8,4:1",
        "vCont;c:0",
        "vCont;c:pffffffffffffffff.ffffffffffffffff",
        "vCont;Cff:1",
        "G00",
        "Gzz",
        "p",
        "pffffffffffffffff",
        "P40=",
        "P40=zz",
        "P40=01",
        "Hgp0.0",
        "Hg-1",
        "T0",
        "qXfer:auxv:read::ffffffffffffffff,ffffffffffffffff",
        "qXfer:auxv:read::",
        "qXfer:exec-file:read:zz:0,ffffffffffffffff",
        "qXfer:features:read:no.xml:0,10",
        "vFile:open:2f,ffffffff,ffffffff",
        "vFile:pread:ffffffff,ffffffffffffffff,ffffffffffffffff",
        "vFile:fstat:0",
        "vFile:readlink:",
        "vRun;",
        "vAttach;1",
        "R00",
        "QSetWorkingDir:00",
        "qThreadExtraInfo,0",
        "\u{0}",
    ] {
        let mut client = Client::connect(&session.remote);
        client.packet(b"qSupported:multiprocess+");
        client.packet(body.as_bytes());
        // Cut short, too.
        client.send(format!("${}", &body[..body.len() / 2]).as_bytes());
    }
    // It still serves one that behaves.
    let mut client = Client::connect(&session.remote);
    assert!(client.ask("?").starts_with("T05thread:"));
    assert_eq!(client.ask("D"), "OK");
    let (status, _, said) = session.end();
    assert_eq!(status.code(), Some(9), "{said}");
    // Why each of those sessions ended is said, and none by a panic.
    assert!(said.lines().all(|l| l.starts_with("axperf: gdb: ")), "{said}");
    assert!(!said.contains("the session failed"), "{said}");
}

/// Registers and memory that make no sense are the program's end, not axperf's.
#[test]
fn a_program_taken_elsewhere() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, STATIC);
    for pc in ["0000000000000000", "ffffffffffffffff", "0100002001000000", "0000000000040000"] {
        let session = Session::at_port(&[&program]);
        let mut client = Client::connect(&session.remote);
        assert_eq!(client.ask("Hg0"), "OK");
        assert_eq!(client.ask(&format!("P40={pc}")), "OK");
        let stop = client.ask("vCont;c");
        // SIGSEGV; or SIGBUS where it ran into something else.
        assert!(stop.starts_with("T0b") || stop.starts_with("T04"), "{pc}: {stop}");
        client.packet(b"k");
        session.end();
    }
}
