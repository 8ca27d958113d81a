//! Call chains against the true stack, which is known by watching every call and return.

mod support;

use std::sync::Arc;

use axperf::perf::{ChainEnd, Stop, Unwind, UnwindRegs};
use axperf::unwind::{Module, Modules, Unwinder};
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg};
use object::{Object, ObjectSegment};
use support::{SYSROOT, TempDir, have, have_file, run};

/// Frames of all kinds: leaves, recursion, a frame pointer, division routines that are called with
/// their return address in `$23` as the C library's are, calls through pointers, tail calls, a
/// frame that is opened late.
const PROGRAM: &str = r#"
typedef unsigned long u64;
#define NI __attribute__((noinline))
__asm__(".text\n.globl _start\n.ent _start\n_start:\n.cfi_startproc\n.cfi_undefined $26\n"
        "br $27,1f\n1: ldgp $29,0($27)\nbsr $26,run !samegp\n.long 0x83\n.cfi_endproc\n.end _start\n");
#define DIVISION(name, result) __asm__(".globl " name "\n.ent " name "\n" name ":\n.cfi_startproc\n" \
    ".cfi_return_column 23\nlda $30,-32($30)\n.cfi_def_cfa_offset 32\nstq $24,0($30)\nstq $1,8($30)\n" \
    "stq $2,16($30)\nmov $31,$2\n1: cmpult $24,$25,$1\nbne $1,2f\nsubq $24,$25,$24\naddq $2,1,$2\nbr 1b\n" \
    "2: mov " result ",$27\nldq $24,0($30)\nldq $1,8($30)\nldq $2,16($30)\nlda $30,32($30)\n" \
    ".cfi_def_cfa_offset 0\nret $31,($23),1\n.cfi_endproc\n.end " name "\n")
DIVISION("__divqu", "$2");
DIVISION("__remqu", "$24");
static volatile u64 sink;
NI static u64 leaf(u64 a) { return a * 3 + 1; }
NI u64 divide(u64 a, u64 b) { return a / (b | 1) + a % (b | 3); }
NI u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
NI u64 vla(u64 n) {
    volatile u64 a[n + 1];
    for (u64 i = 0; i <= n; i++) a[i] = leaf(i);
    return a[n] + divide(a[0], n);
}
NI u64 tail(u64 n) { return vla(n + 1); }
static u64 (*volatile indirect)(u64) = tail;
NI u64 wrap(u64 n) {
    if (n & 1) return n;
    u64 s = 0;
    for (u64 i = 0; i < n; i++) s += indirect(i) + fib(i & 3);
    return s;
}
NI u64 deep(u64 n) {
    volatile char pad[100];
    pad[n % 100] = 1;
    return n ? deep(n - 1) + pad[n % 100] : wrap(4);
}
u64 run(void) { sink = deep(5); sink += wrap(6); return sink; }
"#;

const STACK_TOP: u64 = 0xf_fff0;

/// A program in a machine, one instruction at a time, with the addresses that its calls return to.
struct Watched {
    machine: Machine<FlatMemory>,
    returns: Vec<u64>,
}

impl Watched {
    fn new(path: &str) -> Watched {
        let mut config = Config::new();
        config.engine(EngineKind::Interp);
        let engine = Engine::new(&config).unwrap();
        let machine = Machine::new(&engine, FlatMemory::new(0x10_0000)).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let mut watched = Watched { machine, returns: Vec::new() };
        for segment in file.segments() {
            watched.machine.write(segment.address(), segment.data().unwrap()).unwrap();
        }
        watched.machine.set_reg(Reg::Pc, file.entry());
        watched.machine.set_reg(Reg::Sp, STACK_TOP);
        watched
    }

    fn word(&self, addr: u64) -> u32 {
        let mut word = [0; 4];
        self.machine.read(addr, &mut word).unwrap();
        u32::from_le_bytes(word)
    }

    /// Runs one instruction; false at the program's end.
    fn step(&mut self) -> bool {
        let pc = self.machine.reg(Reg::Pc);
        let word = self.word(pc);
        let (opcode, ra) = (word >> 26, word >> 21 & 31);
        match self.machine.run(1) {
            Exit::Fuel => {}
            Exit::Pal { function: 0x83 } => return false,
            other => panic!("{other:?} at {pc:#x}"),
        }
        let to = self.machine.reg(Reg::Pc);
        // bsr, br and jumps that leave their address, except the one that only asks for the pc.
        if (opcode == 0x34 || opcode == 0x1a) && ra != 31 {
            self.returns.push(pc + 4);
        } else if opcode == 0x1a && self.returns.last() == Some(&to) {
            self.returns.pop();
        }
        true
    }

    /// The true chain, innermost first.
    fn truth(&self) -> Vec<u64> {
        let mut chain = vec![self.machine.reg(Reg::Pc)];
        chain.extend(self.returns.iter().rev());
        chain
    }

    fn unwind(
        &self,
        unwinder: &mut Unwinder,
        regs: UnwindRegs,
        stack_end: u64,
        max: usize,
    ) -> (Vec<u64>, ChainEnd) {
        let mut chain = Vec::new();
        let mut read = |addr: u64| {
            let mut word = [0; 8];
            (addr < stack_end && self.machine.read(addr, &mut word).is_ok())
                .then(|| u64::from_le_bytes(word))
        };
        let end = unwinder.unwind(&regs, &mut read, max, &mut chain);
        (chain, end)
    }
}

fn unwinder(path: &str) -> Unwinder {
    let modules = Modules::new();
    // The whole file, mapped as Linux maps the first segment.
    modules.map_file(path, 0x10000, 0x10000, 0).unwrap();
    Unwinder::new(Arc::new(modules))
}

fn compile(dir: &TempDir, name: &str, flags: &[&str]) -> String {
    let mut all = vec!["-mcpu=ev67", "-static", "-nostdlib", "-Wl,-Ttext-segment=0x10000"];
    all.extend(flags);
    dir.compile(name, PROGRAM, &all)
}

fn is_prefix(chain: &[u64], truth: &[u64]) -> bool {
    truth.starts_with(chain)
}

/// At every instruction of the program, however it was compiled.
#[test]
fn chains_are_the_true_stack() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    for (name, flags) in [
        ("o0", &["-O0"][..]),
        ("o1", &["-O1"]),
        ("o2", &["-O2"]),
        ("o2-table", &["-O2", "-Wl,--eh-frame-hdr"]),
        ("o3", &["-O3"]),
        ("os", &["-Os"]),
        ("fp", &["-O2", "-fno-omit-frame-pointer"]),
    ] {
        let path = compile(&dir, name, flags);
        let (mut unwinder, mut program) = (unwinder(&path), Watched::new(&path));
        let mut steps = 0;
        while program.step() {
            steps += 1;
            let regs = UnwindRegs::from_regs(program.machine.regs());
            let (chain, end) = program.unwind(&mut unwinder, regs, u64::MAX, 100);
            assert_eq!(chain, program.truth(), "{name}: {end:?}");
            assert_eq!(end, ChainEnd { stop: Stop::Complete, guessed: false }, "{name}");
        }
        assert!(steps > 2000, "{name}: {steps} steps");
    }
}

/// With Linux's registers, which lack `$15`, a chain ends at the first frame that needs it, and
/// says so; what there is of it is true.
#[test]
fn without_the_frame_pointer_chains_end_early_and_true() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    for (name, flags) in [("o0", "-O0"), ("o2", "-O2")] {
        let path = compile(&dir, name, &[flags]);
        let (mut unwinder, mut program) = (unwinder(&path), Watched::new(&path));
        let (mut complete, mut cut) = (0, 0);
        while program.step() {
            let full = UnwindRegs::from_regs(program.machine.regs());
            let (with, end) = program.unwind(&mut unwinder, full, u64::MAX, 100);
            assert_eq!((with, end.stop), (program.truth(), Stop::Complete));
            let regs = UnwindRegs { r15: None, ..full };
            let (chain, end) = program.unwind(&mut unwinder, regs, u64::MAX, 100);
            assert!(is_prefix(&chain, &program.truth()), "{chain:x?}");
            match end.stop {
                Stop::Complete => {
                    assert_eq!(chain, program.truth());
                    complete += 1;
                }
                Stop::RegisterUnknown => cut += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(complete > 0 && cut > 0, "{complete} complete, {cut} cut");
        assert!(cut > complete * 10 || name != "o0", "{complete} complete, {cut} cut");
    }
}

/// A stack that was copied only in part, and a chain longer than asked for: the beginning, and the
/// reason.
#[test]
fn cut_stacks_give_the_beginning() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = compile(&dir, "o2", &["-O2"]);
    let (mut unwinder, mut program) = (unwinder(&path), Watched::new(&path));
    let mut cut = 0;
    while program.step() {
        let regs = UnwindRegs::from_regs(program.machine.regs());
        let truth = program.truth();
        let (chain, end) = program.unwind(&mut unwinder, regs, regs.sp + 512, 100);
        assert!(is_prefix(&chain, &truth));
        match end.stop {
            Stop::Complete => assert_eq!(chain, truth),
            Stop::StackUnreadable => cut += 1,
            other => panic!("{other:?}"),
        }
        for max in 0..truth.len() {
            let (chain, end) = program.unwind(&mut unwinder, regs, u64::MAX, max);
            assert_eq!((&chain[..], end.stop), (&truth[..max], Stop::TooDeep));
        }
    }
    assert!(cut > 0);
}

/// Random registers over a stack of random words: chains end, and read nothing but the stack.
#[test]
fn garbage_ends() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = compile(&dir, "fp", &["-O2", "-fno-omit-frame-pointer"]);
    let mut unwinder = unwinder(&path);
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 16
    };
    for _ in 0..20_000 {
        let code = 0x10000 + random() % 0x1000;
        let sp = [0x8000, 0, u64::MAX - 8, 0x8001][random() as usize % 4];
        let regs = UnwindRegs {
            pc: code & !3,
            sp,
            r15: Some(sp.wrapping_add(random() % 256)),
            r16: None,
            r23: Some(random()),
            r26: Some(0x10000 + random() % 0x1000),
        };
        let mut read = |_| Some(0x10000 + ((random() % 0x1000) & !3));
        let mut chain = Vec::new();
        unwinder.unwind(&regs, &mut read, 64, &mut chain);
        assert!(chain.len() <= 64);
    }
}

/// Writes a signal frame with the registers and the pc as Linux lays it out below `sp`; where it
/// is. `rt` has a siginfo before it, and after it both have the code that returns.
fn signal_frame(machine: &mut Machine<FlatMemory>, regs: &axperf::Regs, rt: bool) -> u64 {
    let at = (regs.get(Reg::Sp) - 1024) & !31;
    let context = at + if rt { 176 } else { 0 };
    let mut write = |addr: u64, bytes: &[u8]| machine.write(addr, bytes).unwrap();
    write(context + 16, &regs.pc().to_le_bytes());
    for n in 0..31 {
        write(context + 32 + 8 * u64::from(n), &regs.int(n).to_le_bytes());
    }
    let code = [0x47fe_0410, if rt { 0x201f_015f } else { 0x201f_0067 }, 0x83u32];
    write(at + RETCODE, &code.map(u32::to_le_bytes).concat());
    at
}

/// Where [`signal_frame`] puts the code.
const RETCODE: u64 = 1000;

/// Where the C library's code for returning from signals is: `sigreturn`'s, after 16 bytes of nops
/// for look-ups by the byte before it, and after a nop more `rt_sigreturn`'s.
fn restorers(libc: &str) -> [u64; 2] {
    let text = run("alpha-linux-gnu-readelf", &["-wF", libc]);
    let cie = text.lines().find(|l| l.contains("CIE \"zRS\"")).unwrap();
    let cie = format!("cie={} ", cie.split_whitespace().next().unwrap());
    let fde = text.lines().find(|l| l.contains(&cie)).unwrap();
    let start = fde.split("pc=").nth(1).unwrap().split("..").next().unwrap();
    let start = u64::from_str_radix(start, 16).unwrap();
    [start + 16, start + 32]
}

/// A handler that was called from a signal's frame, and a second signal in it: through both to the
/// code that was interrupted, whose pc is that of the next instruction, not of a call.
#[test]
fn signal_frames_are_crossed() {
    let libc = format!("{SYSROOT}/lib/libc.so.6.1");
    if !(have("alpha-linux-gnu-gcc") && have("alpha-linux-gnu-readelf") && have_file(&libc)) {
        return;
    }
    const LIBC: u64 = 0x200_0005_0000;
    let dir = TempDir::new();
    let path = compile(&dir, "o2", &["-O2"]);
    let leaf = axperf::symbols::Dso::open(&path).unwrap();
    let leaf = leaf.symbols().iter().find(|s| s.raw_name() == "leaf").unwrap().start;
    let (mut unwinder, mut program) = (unwinder(&path), Watched::new(&path));
    unwinder.modules().map_file(&libc, LIBC, 0x20_0000, 0).unwrap();
    let restorers = restorers(&libc);
    let mut steps = 0;
    while program.step() {
        steps += 1;
        if steps % 7 != 0 {
            continue;
        }
        let mut want = program.truth();
        let mut regs = program.machine.regs().clone();
        // The code that returns: the C library's, or what Linux puts into the frame.
        for (rt, own) in [(false, true), (true, true), (true, false), (false, false)] {
            let frame = signal_frame(&mut program.machine, &regs, rt);
            let back = match own {
                true => LIBC + restorers[usize::from(rt)],
                false => frame + RETCODE,
            };
            regs.set(Reg::Sp, frame);
            regs.set(Reg::R15, 0xbad);
            // In the code itself.
            for done in 0..3 {
                regs.set_pc(back + 4 * done);
                let (chain, end) =
                    program.unwind(&mut unwinder, UnwindRegs::from_regs(&regs), u64::MAX, 100);
                assert_eq!(chain[1..], want, "{end:?}");
                assert_eq!(end, ChainEnd { stop: Stop::Complete, guessed: false });
            }
            // In a handler that returns to it.
            regs.set(Reg::R26, back);
            regs.set_pc(leaf);
            want.splice(0..0, [leaf, back]);
            let (chain, end) =
                program.unwind(&mut unwinder, UnwindRegs::from_regs(&regs), u64::MAX, 100);
            assert_eq!((chain, end.stop), (want.clone(), Stop::Complete));
        }
    }
    assert!(steps > 1000);
}

/// Code without CFI: the innermost frame by `$26` if that is after a call; else nothing is made up.
#[test]
fn code_without_cfi_is_guessed_with_care() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path =
        compile(&dir, "bare", &["-O1", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"]);
    let (mut unwinder, mut program) = (unwinder(&path), Watched::new(&path));
    let (mut steps, mut complete) = (0, 0);
    while program.step() {
        steps += 1;
        let regs = UnwindRegs::from_regs(program.machine.regs());
        let (chain, end) = program.unwind(&mut unwinder, regs, u64::MAX, 100);
        let truth = program.truth();
        if end.stop == Stop::Complete {
            assert!(end.guessed || chain.len() == 1);
            complete += u32::from(chain == truth);
        }
    }
    assert!(complete * 4 > steps, "{complete} of {steps}");
}

/// What changes in the mappings is seen by an unwinder that was made before.
#[test]
fn mappings_can_change() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let path = compile(&dir, "o2", &["-O2"]);
    let modules = Arc::new(Modules::new());
    let mut unwinder = Unwinder::new(Arc::clone(&modules));
    let mut program = Watched::new(&path);
    // Into the middle of something.
    while program.returns.len() < 4 {
        assert!(program.step());
    }
    let regs = UnwindRegs::from_regs(program.machine.regs());
    let stop = |unwinder: &mut Unwinder| program.unwind(unwinder, regs, u64::MAX, 100).1.stop;
    assert_eq!(stop(&mut unwinder), Stop::NoUnwindInfo);
    let module = Arc::new(Module::open(&path).unwrap());
    modules.map(module, 0x10000, 0x10000, 0);
    assert_eq!(stop(&mut unwinder), Stop::Complete);
    let forked = unwinder.after_fork();
    modules.clear();
    assert_eq!(stop(&mut unwinder), Stop::Complete, "the child has mappings of its own");
    forked.unmap(0x10000, 0x10000);
    assert_eq!(stop(&mut unwinder), Stop::NoUnwindInfo);
    assert!(forked.map_file(dir.path("none"), 0, 1, 0).is_err());
}
