//! `--cpu`: what a program finds, and that it dies of an instruction which the CPU lacks.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use support::{SYSROOT, TempDir, have, have_file};

const PROGRAM: &str = r#"
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    unsigned long lacks, implver, type = 0;
    char line[80] = "";
    asm("amask %1,%0" : "=r"(lacks) : "r"(-1L));
    asm("implver %0" : "=r"(implver));
    syscall(SYS_osf_getsysinfo, 60 /* GSI_PROC_TYPE */, &type, sizeof type);
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info) && sscanf(line, "cpu model : %s", line) != 1);
    printf("%s implver %lu amask %#lx hwcap %#lx platform %s type %lu\n", line, implver, ~lacks,
           getauxval(AT_HWCAP), (char *)getauxval(AT_PLATFORM), type);
    fflush(stdout);
    unsigned long bits;
    asm volatile(".arch ev67\n\tctpop %1,%0" : "=r"(bits) : "r"(7L));
    return bits;
}
"#;

/// AMASK and IMPLVER by appendix D of the Architecture Reference Manual. Linux derives AT_HWCAP and
/// AT_PLATFORM from them (`asm/elf.h`: there is no platform "pca56"); types are those of
/// `asm/hwrpb.h`. CTPOP came with EV67; SIGILL is 4.
#[test]
fn programs_find_the_cpu() {
    if !(have("alpha-linux-gnu-gcc") && have_file(&format!("{SYSROOT}/lib/libc.so.6.1"))) {
        return;
    }
    let dir = TempDir::new();
    let program = dir.compile("cpu", PROGRAM, &["-O1", "-mcpu=ev4"]);
    let killed = (None, Some(4));
    for (cpu, found, ended) in [
        ("ev4", "EV4 implver 0 amask 0 hwcap 0 platform ev4 type 2\n", killed),
        ("ev5", "EV5 implver 1 amask 0 hwcap 0 platform ev5 type 5\n", killed),
        ("ev56", "EV56 implver 1 amask 0x1 hwcap 0x1 platform ev56 type 7\n", killed),
        ("pca56", "PCA56 implver 1 amask 0x101 hwcap 0x101 platform ev56 type 9\n", killed),
        ("ev6", "EV6 implver 2 amask 0x303 hwcap 0x303 platform ev6 type 8\n", killed),
        (
            "ev67",
            "EV67 implver 2 amask 0x1307 hwcap 0x1307 platform ev67 type 11\n",
            (Some(3), None),
        ),
    ] {
        let out = Command::new(env!("CARGO_BIN_EXE_axperf"))
            .env("AXPERF_CACHE_DIR", "")
            .args(["run", "--cpu", cpu, &program])
            .output()
            .expect("axperf starts");
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(String::from_utf8_lossy(&out.stdout), found, "{cpu}: {said}");
        assert_eq!((out.status.code(), out.status.signal()), ended, "{cpu}: {said}");
    }
}
