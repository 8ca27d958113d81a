//! The protocol by itself, where gdb doesn't show what is sent.

use std::os::unix::process::ExitStatusExt;

use super::client::Client;
use super::session::{STATIC, Session, compile, tools};
use super::support::{SYSROOT, TempDir, run};

const PROGRAM: &str = r#"
#include <unistd.h>
long answer = 42;
int main() { char c; while (read(0, &c, 1) > 0) ; return answer; }
"#;

/// The address of a symbol, by nm.
fn address(program: &str, symbol: &str) -> u64 {
    let all = run("alpha-linux-gnu-nm", &[program]);
    let line = all.lines().find(|l| l.ends_with(&format!(" {symbol}"))).expect("the symbol");
    u64::from_str_radix(&line[..16], 16).expect("an address")
}

/// Text, as the protocol has names of files.
fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn memory_registers_and_files() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, STATIC);
    let (answer, main) = (address(&program, "answer"), address(&program, "main"));
    let session = Session::at_port(&[&program]);
    let mut client = Client::connect(&session.remote);
    assert!(client.ask("qSupported:swbreak+").contains("qXfer:auxv:read+"));
    assert!(client.ask("?").starts_with("T05thread:"));
    assert!(client.ask("qXfer:features:read:target.xml:0,fff").contains(">alpha<"));
    let auxv = client.ask("qXfer:auxv:read::0,1000");
    assert!(auxv.starts_with('m') && auxv.len() > 100);
    assert_eq!(client.ask("qXfer:exec-file:read::0,1000"), format!("m{program}"));

    assert_eq!(client.ask(&format!("m{answer:x},8")), "2a00000000000000");
    assert_eq!(client.ask(&format!("M{answer:x},1:15")), "OK");
    // Code, which the program itself can't write.
    let words = client.ask(&format!("m{main:x},8"));
    assert_eq!(client.ask(&format!("M{main:x},8:{words}")), "OK");
    for nothing in ["m10,8", "m3ffffffffff,8", "m7fffffffff0,8", "mffffffffffffffff,8", "M10,1:00"]
    {
        assert!(client.ask(nothing).starts_with('E'), "{nothing}");
    }

    // $1, and pc, whose number is 64.
    assert_eq!(client.ask("Hg0"), "OK");
    assert_eq!(client.ask("P1=0807060504030201"), "OK");
    assert_eq!(client.ask("p1"), "0807060504030201");
    assert_eq!(&client.ask("g")[16..32], "0807060504030201");
    let pc = client.ask("p40");
    assert_eq!(client.ask("p1f"), "0000000000000000");
    // No thread has this number.
    assert!(client.ask("vCont;s:1").starts_with("T00thread:"));
    assert_eq!(client.ask("p40"), pc);

    assert!(client.ask("vFile:open:2f6e6f6e65,0,0").starts_with("F-1,"));
    let name = hex(&format!("{SYSROOT}/lib/libc.so.6.1"));
    let fd = client.ask(&format!("vFile:open:{name},0,0"));
    let fd = fd.strip_prefix('F').expect("a file");
    assert!(client.ask(&format!("vFile:pread:{fd},4,0")).starts_with("F04;\x7fELF"));
    assert_eq!(client.ask(&format!("vFile:close:{fd}")), "F0");
    assert!(client.ask(&format!("vFile:close:{fd}")).starts_with("F-1,"));
    assert!(client.ask(&format!("vFile:open:{name},2,0")).starts_with("F-1,"), "for writing");

    // The program's own mappings, not those of its emulator, the stack's end among them.
    let fd = client.ask(&format!("vFile:open:{},0,0", hex("/proc/self/maps")));
    let fd = fd.strip_prefix('F').expect("a file");
    let maps = client.ask(&format!("vFile:pread:{fd},4000,0"));
    assert!(maps.contains("-120000000 rw-p"), "{maps}");

    assert_eq!(client.ask("D"), "OK");
    // And once more, to a program that runs.
    let mut client = Client::connect(&session.remote);
    assert!(client.ask("?").starts_with("T05thread:"));
    client.packet(b"vCont;c");
    let (status, _, _) = session.end();
    assert_eq!(client.reply().as_deref(), Some("W15"));
    assert_eq!(status.code(), Some(0x15));
}

#[test]
fn killed() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    let program = compile(&dir, PROGRAM, STATIC);
    let session = Session::at_port(&[&program]);
    Client::connect(&session.remote).packet(b"k");
    let (status, _, _) = session.end();
    assert_eq!(status.signal(), Some(libc::SIGKILL));
}
