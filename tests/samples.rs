//! Samples of the event `instructions`: exact at any period, and the same from both engines.

use std::sync::Arc;

use axperf::isa::assemble;
use axperf::perf::{Attr, Event, RegAbi, RegMask, Ring, Sample, SampleType, Sampler, SamplerStats};
use axperf::{Config, Engine, EngineKind, Exit, FlatMemory, Machine, Reg, SamplerId, UNLIMITED};

const CODE: u64 = 0x1000;
const END: Exit = Exit::Pal { function: 0x83 };

fn machine(text: &str, kind: EngineKind) -> Machine<FlatMemory> {
    let words = assemble(text, CODE).unwrap();
    let mut config = Config::new();
    config.engine(kind).hot(2);
    let engine = Engine::new(&config).unwrap();
    let mut m = Machine::new(&engine, FlatMemory::new(0x10000)).unwrap();
    for (i, w) in words.iter().enumerate() {
        m.write(CODE + 4 * i as u64, &w.to_le_bytes()).unwrap();
    }
    m.set_reg(Reg::Pc, CODE);
    m.set_reg(Reg::Sp, 0xf000);
    m
}

fn attach(m: &mut Machine<FlatMemory>, attr: Attr) -> SamplerId {
    let ring = Arc::new(Ring::new(1 << 22).unwrap());
    m.attach(Sampler::new(attr, RegAbi::Extended, 7, ring).unwrap())
}

/// Runs to the end; the ring's bytes and the statistics.
fn record(m: &mut Machine<FlatMemory>, id: SamplerId, fuel: u64) -> (Vec<u8>, SamplerStats) {
    let mut bytes = Vec::new();
    loop {
        let exit = m.run(fuel);
        m.sampler(id).unwrap().ring().drain(&mut bytes);
        match exit {
            END => return (bytes, m.sampler(id).unwrap().stats()),
            Exit::Fuel | Exit::Watermark => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Each record's body, which starts after its header.
fn samples<'a>(attr: &Attr, bytes: &'a [u8]) -> Vec<Sample<'a>> {
    let mut rest = bytes;
    let mut list = Vec::new();
    while !rest.is_empty() {
        let misc = u16::from_le_bytes([rest[4], rest[5]]);
        let size = usize::from(u16::from_le_bytes([rest[6], rest[7]]));
        list.push(Sample::decode(attr, misc, &rest[8..size]).unwrap());
        rest = &rest[size..];
    }
    list
}

/// By hand: after instruction k, the pc is the next one and the registers are those that the first
/// k instructions left. The callsys is instruction 9 and retires.
#[test]
fn period_1_is_every_instruction() {
    let text = "
        lda $1, 2($31)
    loop:
        addq $2, $1, $2
        subq $1, 1, $1
        bgt $1, loop
        sll $2, 4, $3
        call_pal 0x83
    ";
    let pc = |i: u64| CODE + 4 * i;
    // pc, $1, $2, $3
    let want = [
        (pc(1), 2, 0, 0),
        (pc(2), 2, 2, 0),
        (pc(3), 1, 2, 0),
        (pc(1), 1, 2, 0),
        (pc(2), 1, 3, 0),
        (pc(3), 0, 3, 0),
        (pc(4), 0, 3, 0),
        (pc(5), 0, 3, 48),
        (pc(6), 0, 3, 48),
    ];
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        let mut m = machine(text, kind);
        let attr = Attr::new(Event::Instructions, 1).user_regs(RegMask::KERNEL);
        let id = attach(&mut m, attr.clone());
        let (bytes, stats) = record(&mut m, id, UNLIMITED);
        let got: Vec<_> = samples(&attr, &bytes)
            .iter()
            .map(|s| {
                let regs = s.user_regs.as_ref().unwrap();
                let get = |r| regs.get(r).unwrap();
                assert_eq!(s.ip, Some(get(Reg::Pc)));
                (get(Reg::Pc), get(Reg::R1), get(Reg::R2), get(Reg::R3))
            })
            .collect();
        assert_eq!(got, want, "{kind:?}");
        assert_eq!((stats.samples, stats.lost), (9, 0));
    }
}

/// A sort of a list, with calls, memory and floating point, long enough for all periods.
const WORK: &str = "
    li $9, 60
round:
    bis $31, $9, $16
    bsr $26, fill
    bsr $26, sort
    subq $9, 1, $9
    bgt $9, round
    call_pal 0x83
fill:
    li $1, 0x8000
    lda $2, 64($31)
    cpys $f31, $f31, $f1
f1:
    mulq $16, 77, $16
    addq $16, 13, $16
    stq $16, 0($1)
    ldt $f2, 0($1)
    cvtqt $f2, $f2
    addt/su $f1, $f2, $f1
    and $16, 255, $3
    stq $3, 0($1)
    lda $1, 8($1)
    subq $2, 1, $2
    bgt $2, f1
    ret $31, ($26)
sort:
    lda $30, -16($30)
    stq $26, 0($30)
    lda $4, 63($31)
s1:
    li $1, 0x8000
    bis $31, $4, $2
s2:
    ldq $5, 0($1)
    ldq $6, 8($1)
    cmple $5, $6, $7
    bne $7, s3
    stq $6, 0($1)
    stq $5, 8($1)
s3:
    lda $1, 8($1)
    subq $2, 1, $2
    bgt $2, s2
    subq $4, 1, $4
    bgt $4, s1
    ldq $26, 0($30)
    lda $30, 16($30)
    ret $31, ($26)
";

#[test]
fn engines_take_the_same_samples() {
    for (period, mask, stack) in [
        (1, RegMask::EXTENDED, 0),
        (997, RegMask::KERNEL, 512),
        (997, RegMask::UNWIND, 0),
        (997, RegMask::of(&[Reg::Pc]), 0),
        (100_003, RegMask::EXTENDED, 4096),
    ] {
        let mut attr = Attr::new(Event::Instructions, period).user_regs(mask);
        if stack != 0 {
            attr = attr.user_stack(stack);
        }
        attr.sample_type |= SampleType::TIME;
        let mut first: Option<(Vec<u8>, SamplerStats)> = None;
        for kind in [EngineKind::Interp, EngineKind::Jit] {
            for (fuel, exact) in [(UNLIMITED, true), (UNLIMITED, false), (4099, true)] {
                // A sample of every instruction is a lot of samples: two rounds will do.
                let text = WORK.replace("60", if period == 1 { "2" } else { "60" });
                let mut m = machine(&text, kind);
                m.set_exact_exits(exact);
                m.set_task(12, 13);
                let id = attach(&mut m, attr.clone());
                let got = record(&mut m, id, fuel);
                assert_eq!(got.1.lost, 0);
                assert_eq!(got.1.samples, m.icount().unwrap() / period);
                match &first {
                    None => first = Some(got),
                    Some(want) => {
                        assert!(*want == got, "{kind:?} {period} {mask:?} {fuel} {exact}");
                    }
                }
            }
        }
        let (bytes, stats) = first.unwrap();
        assert_eq!(samples(&attr, &bytes).len() as u64, stats.samples);
        assert!(stats.samples > 5);
    }
}
