//! What the kernel does for a program.

use crate::support::TempDir;
use crate::{ENGINES, Native, alpha, run_alpha, source, text, tools};

#[test]
fn system_calls() {
    if tools() {
        Native::of(source("calls.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn newer_system_calls() {
    if tools() {
        Native::of(source("newer.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn the_guests_view() {
    if tools() {
        Native::of(source("guest.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn proc_self() {
    if tools() {
        Native::of(source("procself.c")).compare(&["-O1"], ENGINES);
    }
}

#[test]
fn ipc() {
    if tools() {
        Native::of(source("ipc.c")).compare(&["-O1"], ENGINES);
    }
}

/// Every system call with bad pointers: the program stays, and gets one of Alpha's errors.
#[test]
fn bad_pointers() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("badpointers.c"), &dir.path("badpointers"), &[]);
    let got = run_alpha(&dir.path(""), "badpointers", &["-i"], &[]);
    assert_eq!(text(&got.stdout), "done\n", "{}", text(&got.stderr));
    assert!(got.status.success());
}

/// The translator's thread is none of the program's.
#[test]
fn tasks() {
    if tools() {
        Native::of(source("tasks.c")).compare(&["-O1"], ENGINES);
    }
}

/// Traps, on Alpha alone. The lines are what Linux's `arch/alpha/kernel/traps.c` and `mm/fault.c`
/// give for each; qemu-alpha prints the same, but for gentrap -4, clrfen, and the unaligned load, of which
/// it makes no trap. The PAL functions are those of OSF/1's unprivileged ones that Linux uses
/// (`asm/pal.h`).
#[test]
fn traps() {
    const WANT: &str = "\
opcode 1: ILL code 1, pc 0, address 0
halt: ILL code 1
bpt: TRAP code 1, pc 0
bugchk: TRAP code 5
gentrap -1: FPE code 2
gentrap -2: FPE code 1
gentrap -3: FPE code 4
gentrap -4: FPE code 3
gentrap -5: FPE code 5
gentrap -6: FPE code 7
gentrap -7: FPE code 6
gentrap -8: TRAP code 5
gentrap -9: TRAP code 5
gentrap -10: TRAP code 5
gentrap -11: FPE code 14
gentrap -12: TRAP code 5
integer division by zero: FPE code 1
addl/v: FPE code 7
addl/v without overflow: none
divt by zero: FPE code 7
divt/su by zero: none inf
addt of infinities: FPE code 7
ldq unaligned: none 0011223344556677
ldq_l unaligned: BUS code 1, address 1
execute data: SEGV code 2, pc 0
execute code: none
changed code: 1 2
PAL functions: 80 81 86 9e 9f aa ae
clrfen: none 6
execute nothing: SEGV code 1, pc 0
read nothing: SEGV code 1, address 0
read kernel: SEGV code 1, address fffffc0000000008
read beyond the space: SEGV code 1, address 40000000000
write protected: SEGV code 2, address 8
stq_c after callsys: 0 1122334455667788
stq_c alone: 0
stq_c: 1 5
stq_c after an unaligned load: 0 5
stq_c after a handler: 0 5 FPE
";
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("traps.c"), &dir.path("traps"), &["-O1", "-mcpu=ev67"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "traps", options, &[]);
        assert_eq!(text(&got.stdout), WANT, "{options:?}: {}", text(&got.stderr));
        assert!(got.status.success());
    }
}

/// What a program finds that is Alpha's alone. Values: seen on a running Linux/alpha.
#[test]
fn the_machine_is_an_alpha() {
    const WANT: &str = "\
machine alpha
page 8192, ticks 1024, hwcap 0x1307, platform ev67
phdr 0x120000040, entry in text 1, base 0x20000000000
l1i 0x10062, l1d 0x10062, l3 -1, vdso 0
text 0x120000000, stack below it 1, mapping above 1
fpcr 0x680e800000000000
pipe second 1
errno 35 11 78 66 62
signals 20 10 30
r1 4 r2 4 a3 0
error a3 1 v0 9
";
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("alpha.c"), &dir.path("alpha"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "alpha", options, &[]);
        assert_eq!(text(&got.stdout), WANT, "{options:?}: {}", text(&got.stderr));
    }
}

/// OSF/1's calls, beside Linux's own of the same process. What they give: Linux
/// `arch/alpha/kernel/osf_sys.c`.
#[test]
fn calls_of_osf1() {
    const WANT: &str = "\
stat: 0
mode: 1
links: 1
size: 1
inode: 1
time: 1
blocks: 1
lstat: 0
a link: 1
fstat: 0
inode: 1
stat to nowhere: Bad address
stat of nothing: No such file or directory
statfs: 0
sizes: 1
short: 1
statfs64: 0
sizes: 1
fstatfs: 0
as much as fits: 1
fstatfs64: 0
files: 1
base: 0
end: 0
in more than one call: 1
entries: 5
the same: 1
no room: Invalid argument
old_adjtimex: 1
the time: 1
settimeofday: Invalid argument
mount: Invalid argument
mount a CD: No such file or directory
mount to nowhere: Bad address
properties: 1234
get: 0
none: 0
no such: Operation not supported
attributes: 0
heap: 1
grows: 1
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
elsewhere: Cannot allocate memory
";
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("osf.c"), &dir.path("osf"), &["-O1"]);
    let got = run_alpha(&dir.path(""), "osf", &["-i"], &[]);
    assert_eq!(text(&got.stdout), WANT, "{}", text(&got.stderr));
}

/// By Linux's `arch/alpha/kernel/traps.c`, do_entUnaUser: with UAC_SIGBUS a signal of code BUS_ADRALN (1)
/// and the address; with UAC_NOFIX the instruction is passed over; else the access is done. Of the
/// million, seven of eight aren't aligned; each byte of "89abcdef" is met 125000 times.
#[test]
fn unaligned_accesses_as_asked_for() {
    if !tools() {
        return;
    }
    let want = "\
nothing: set 0, get 1: 0; 3837363534333231
SIGBUS: set 0, get 1: 5; SIGBUS, code 1, at byte 1
NOFIX: set 0, get 1: 3; 1111
NOPRINT: set 0, get 1: 1; 3837363534333231
a million: 88750000
";
    let dir = TempDir::new();
    alpha(&source("uac.c"), &dir.path("uac"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "uac", options, &[]);
        assert_eq!(text(&got.stdout), want, "{options:?}: {}", text(&got.stderr));
    }
}

/// An LDQ_U faults at the address that it rounds down (Architecture Reference Manual, "Load Unaligned"),
/// as a read. Forty thousand handlers that never return leave no stack behind: axperf would run out.
#[test]
fn faults_that_are_jumped_out_of() {
    if !tools() {
        return;
    }
    let dir = TempDir::new();
    alpha(&source("faulting.c"), &dir.path("faulting"), &["-O1"]);
    for options in ENGINES {
        let got = run_alpha(&dir.path(""), "faulting", options, &[]);
        let want = "stored 0, rounded 40000, protected 40000\n";
        assert_eq!(text(&got.stdout), want, "{options:?}: {}", text(&got.stderr));
    }
}
