//! Samples and records against what Linux wrote, and against another reader of them.

use std::sync::Arc;

use axperf_isa::{Reg, Regs};
use linux_perf_event_reader::{
    BranchSampleFormat, Endianness, EventRecord, PerfClock, PerfEventAttr, PerfEventType, RawData,
    RawEventRecord, RecordParseInfo, RecordType, SampleFormat, SamplingPolicy, WakeupPolicy,
};

use super::*;

/// Registers that tell which they are.
fn regs() -> Regs {
    let mut regs = Regs::default();
    for &r in Reg::ALL {
        regs.set(r, 0x1_0000_0000 + r.offset() as u64);
    }
    regs
}

/// Memory that is mapped from 0 to `end` and holds each address's low byte.
struct Memory {
    end: u64,
}

impl Stack for Memory {
    fn copy(&self, addr: u64, buf: &mut [u8]) -> usize {
        let n = self.end.saturating_sub(addr).min(buf.len() as u64) as usize;
        for (i, b) in buf[..n].iter_mut().enumerate() {
            *b = (addr + i as u64) as u8;
        }
        n
    }
}

fn attr(fields: SampleType) -> Attr {
    let mut attr = Attr::new(Event::Instructions, 1);
    attr.sample_type = fields;
    attr
}

/// Takes one sample; its words.
fn take(attr: Attr, frame: &Frame, end: u64) -> Vec<u64> {
    let ring = Arc::new(Ring::new(1 << 17).unwrap());
    let mut sampler = Sampler::new(attr, RegAbi::Extended, 42, ring).unwrap();
    sampler.advance(1);
    assert_ne!(sampler.take(frame, &Memory { end }), Pushed::Lost);
    let mut bytes = Vec::new();
    sampler.ring().drain(&mut bytes);
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!(words[0] >> 48, bytes.len() as u64, "the header's size");
    assert_eq!(words[0] as u32, kind::SAMPLE);
    words
}

/// Seen on Linux with the register patch: mask r0,r26,sp,pc and intr pc make a record of 64 bytes:
/// header, abi 2, r0, r26, sp, pc, abi 2, pc.
#[test]
fn small_masks() {
    let regs = regs();
    let user = RegMask::from_bits(0xc400_0001);
    let attr = attr(SampleType::EMPTY).user_regs(user).intr_regs(RegMask::from_bits(1 << 31));
    let words = take(attr, &Frame::user(&regs), 0);
    let at = |r: Reg| 0x1_0000_0000 + r.offset() as u64;
    let want = [2, at(Reg::R0), at(Reg::R26), at(Reg::Sp), at(Reg::Pc), 2, at(Reg::Pc)];
    assert_eq!(words[1..], want);
    assert_eq!(words.len() * 8, 64);
}

const SEEN: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::ADDR)
    .union(SampleType::ID)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD)
    .union(SampleType::CALLCHAIN);

/// Seen on Linux: IP TID TIME ADDR ID CPU PERIOD CALLCHAIN REGS_USER STACK_USER(64) REGS_INTR make
/// 576 bytes, with a call chain of nothing but the user context.
#[test]
fn full_sample_has_linux_s_layout() {
    let regs = regs();
    let attr = attr(SEEN).user_regs(RegMask::KERNEL).user_stack(64).intr_regs(RegMask::KERNEL);
    let frame = Frame { addr: 0xadd, ..Frame::user(&regs).task(5, 6).at(777).on_cpu(3) };
    let words = take(attr, &frame, u64::MAX);
    assert_eq!(words.len() * 8, 576);
    let pc = regs.get(Reg::Pc);
    assert_eq!(words[0] >> 32 & 0xffff, 2, "user mode");
    assert_eq!(words[1..10], [pc, 5 | 6 << 32, 777, 0xadd, 42, 3, 1, 1, CONTEXT_USER]);
    let user: Vec<u64> = RegMask::KERNEL.regs().map(|r| regs.get(r)).collect();
    assert_eq!(words[10], 2);
    assert_eq!(words[11..36], user);
    assert_eq!((words[36], words[45]), (64, 64));
    assert_eq!(words[37].to_le_bytes()[0], regs.get(Reg::Sp) as u8);
    assert_eq!(words[46], 2);
    assert_eq!(words[47..], user);
}

/// Seen on Linux: stack copies are cut so that the record's size fits into 16 bits. Before a copy
/// of 65520 or 65528 with 288 bytes of other fields: size 65224, record 65528; with IP and
/// REGS_USER only: size 65288, record 65528.
#[test]
fn long_stacks_are_cut() {
    let regs = regs();
    let frame = Frame::user(&regs);
    for asked in [65520, 65528] {
        let words = take(attr(SEEN).user_regs(RegMask::KERNEL).user_stack(asked), &frame, u64::MAX);
        assert_eq!((words[36], words.len() * 8), (65224, 65528));
    }
    let few = attr(SampleType::IP).user_regs(RegMask::KERNEL).user_stack(65528);
    let words = take(few, &frame, u64::MAX);
    assert_eq!((words[28], words.len() * 8), (65288, 65528));
    // Where Linux forgets the fields after the stack, the record's size wraps (to 200 here). Room
    // is kept for them instead.
    let wrapping = attr(SampleType::IP)
        .user_regs(RegMask::KERNEL)
        .user_stack(65528)
        .intr_regs(RegMask::KERNEL);
    let words = take(wrapping, &frame, u64::MAX);
    assert_eq!((words[28], words.len() * 8), (65288 - 208, 65528));
}

/// Seen on Linux: asked 0, a size word of 0 and nothing else; near the end of the mapping the size
/// stays and what was copied is said after it; a kernel thread has neither registers nor stack.
#[test]
fn short_stacks() {
    let mut regs = regs();
    let fields = SampleType::IP;
    assert_eq!(take(attr(fields).user_stack(0), &Frame::user(&regs), u64::MAX)[2..], [0]);

    regs.set(Reg::Sp, 0x1_1fff_f000);
    let words = take(attr(fields).user_stack(16384), &Frame::user(&regs), 0x1_2000_0000);
    assert_eq!((words[2], words.last()), (16384, Some(&4096)));
    assert!(words[3 + 512..words.len() - 1].iter().all(|&w| w == 0), "what wasn't copied is zero");

    let kernel = Frame { user: None, kernel: Some(&regs), ..Frame::user(&regs) };
    let words = take(attr(fields).user_regs(RegMask::KERNEL).user_stack(64), &kernel, u64::MAX);
    assert_eq!(words[2..], [0, 0]);
    assert_eq!(words[0] >> 32 & 0xffff, 1, "kernel mode");

    for sp in [0, TASK_SIZE, u64::MAX] {
        regs.set(Reg::Sp, sp);
        assert_eq!(take(attr(fields).user_stack(64), &Frame::user(&regs), u64::MAX)[2..], [0]);
    }
    regs.set(Reg::Sp, TASK_SIZE - 16);
    assert_eq!(take(attr(fields).user_stack(64), &Frame::user(&regs), u64::MAX)[2], 16);
}

/// Seen on Linux, all fields at once: IDENTIFIER first, DATA_SRC 0x1e05080021, RAW one word of
/// value 4, zeros for what there is none of.
#[test]
fn every_field() {
    let regs = regs();
    let all = SampleType::ALL.without(SampleType::BRANCH_STACK | SampleType::WEIGHT_STRUCT);
    let mut attr = attr(all).user_regs(RegMask::of(&[Reg::Pc])).intr_regs(RegMask::of(&[Reg::Sp]));
    attr.read_format = ReadFormat::ALL.without(ReadFormat::GROUP);
    let words = take(attr, &Frame::user(&regs).at(9), u64::MAX);
    let (pc, sp) = (regs.get(Reg::Pc), regs.get(Reg::Sp));
    let want = [
        vec![42, pc, 0, 9, 0, 42, 42, 0, 1],
        vec![1, 9, 9, 42, 0],
        vec![1, CONTEXT_USER],
        vec![4, 2, pc, 0],
        vec![0, 0x1e_0508_0021, 0, 2, sp],
        vec![0, 0, 0, 0, 0],
    ]
    .concat();
    assert_eq!(words[1..], want);
}

/// The attributes as the other reader has them.
fn parse_info(attr: &Attr) -> RecordParseInfo {
    let theirs = PerfEventAttr {
        type_: PerfEventType::Tracepoint(0),
        sampling_policy: SamplingPolicy::NoSampling,
        sample_format: SampleFormat::from_bits_retain(attr.sample_type.bits()),
        read_format: linux_perf_event_reader::ReadFormat::from_bits_retain(attr.read_format.bits()),
        flags: linux_perf_event_reader::AttrFlags::from_bits_retain(attr.flags.bits()),
        wakeup_policy: WakeupPolicy::Watermark(0),
        branch_sample_format: BranchSampleFormat::empty(),
        sample_regs_user: attr.sample_regs_user.bits(),
        sample_stack_user: attr.sample_stack_user,
        clock: PerfClock::Default,
        sample_regs_intr: attr.sample_regs_intr.bits(),
        aux_watermark: 0,
        sample_max_stack: 0,
        aux_sample_size: 0,
        sig_data: 0,
    };
    RecordParseInfo::new(&theirs, Endianness::LittleEndian)
}

/// Another reader reads the same, and so does our own.
#[test]
fn samples_read_back() {
    let regs = regs();
    let attr = attr(SEEN | SampleType::IDENTIFIER | SampleType::STREAM_ID)
        .user_regs(RegMask::EXTENDED)
        .user_stack(4096)
        .intr_regs(RegMask::of(&[Reg::Sp, Reg::F7]));
    let frame = Frame { addr: 0xadd, ..Frame::user(&regs).task(5, 6).at(777).on_cpu(3) };
    let end = regs.get(Reg::Sp) + 100;
    let mut bytes = Vec::new();
    append_words(&mut bytes, &take(attr.clone(), &frame, end));

    let raw = RawEventRecord {
        record_type: RecordType::SAMPLE,
        misc: 2,
        data: RawData::from(&bytes[8..]),
        parse_info: parse_info(&attr),
    };
    let Ok(EventRecord::Sample(theirs)) = raw.parse() else { panic!("no sample") };
    let ours = Sample::decode(&attr, 2, &bytes[8..]).unwrap();
    assert_eq!((theirs.id, theirs.ip, theirs.timestamp), (ours.id, ours.ip, ours.time));
    assert_eq!(
        (theirs.id, theirs.ip, theirs.timestamp),
        (Some(42), Some(regs.get(Reg::Pc)), Some(777))
    );
    assert_eq!((theirs.pid, theirs.tid, ours.task), (Some(5), Some(6), Some((5, 6))));
    assert_eq!((theirs.cpu, theirs.addr, theirs.period), (Some(3), Some(0xadd), Some(1)));
    assert_eq!((ours.cpu, ours.addr, ours.period), (Some(3), Some(0xadd), Some(1)));
    assert_eq!(theirs.callchain.unwrap().get(0), Some(CONTEXT_USER));
    assert_eq!(ours.callchain.unwrap().iter().collect::<Vec<_>>(), [CONTEXT_USER]);
    let (user, ours_user) = (theirs.user_regs.unwrap(), ours.user_regs.unwrap());
    for r in RegMask::EXTENDED.regs() {
        assert_eq!(user.get(u64::from(r.perf_index().unwrap())), Some(regs.get(r)));
        assert_eq!(ours_user.get(r), Some(regs.get(r)));
    }
    assert_eq!(theirs.intr_regs.unwrap().get(39), Some(regs.get(Reg::F7)));
    assert_eq!(ours.intr_regs.unwrap().get(Reg::F7), Some(regs.get(Reg::F7)));
    assert_eq!(ours.intr_regs.unwrap().get(Reg::R0), None);
    let (stack, valid) = theirs.user_stack.unwrap();
    assert_eq!((stack.len(), valid), (4096, 100));
    assert_eq!(ours.user_stack.unwrap(), &stack.as_slice()[..100]);
}

/// A sample cut anywhere is an error, not a panic.
#[test]
fn cut_samples_are_errors() {
    let regs = regs();
    let attr = attr(SEEN).user_regs(RegMask::KERNEL).user_stack(64).intr_regs(RegMask::KERNEL);
    let mut bytes = Vec::new();
    append_words(&mut bytes, &take(attr.clone(), &Frame::user(&regs), u64::MAX));
    for end in 8..bytes.len() {
        assert_eq!(Sample::decode(&attr, 2, &bytes[8..end]), Err(Truncated), "{end}");
    }
    // Counts that overflow whatever they are multiplied by.
    for at in (8..bytes.len()).step_by(8) {
        let mut bad = bytes.clone();
        bad[at..at + 8].fill(0xff);
        let _ = Sample::decode(&attr, 2, &bad[8..]);
    }
}

/// Records other than samples, read by another reader and by our own.
#[test]
fn side_records_read_back() {
    let mut attr = attr(SampleType::ALL.without(SampleType::BRANCH_STACK));
    attr.flags = AttrFlags::SAMPLE_ID_ALL;
    let info = parse_info(&attr);
    let id = SampleId { pid: 1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6 };
    let task = Task { pid: 10, ppid: 11, tid: 12, ptid: 13, time: 14 };
    let mmap = Mmap {
        pid: 7,
        tid: 8,
        addr: 0x1_2000_0000,
        len: 0x2000,
        pgoff: 0x1000,
        file: FileId::Inode { major: 1, minor: 2, inode: 3, generation: 4 },
        prot: 5,
        flags: 2,
        name: b"/lib/x.so",
    };
    let records = [
        Record::Mmap(mmap),
        Record::Mmap(Mmap { file: FileId::build_id(&[9; 20]), prot: 3, name: b"1234567", ..mmap }),
        Record::Comm { pid: 7, tid: 8, exec: true, name: b"12345678" },
        Record::Comm { pid: 7, tid: 8, exec: false, name: b"" },
        Record::Fork(task),
        Record::Exit(task),
        Record::Lost { id: 4, lost: 99 },
        Record::LostSamples { lost: 98 },
        Record::Throttle { time: 1, id: 2, stream_id: 3 },
        Record::Unthrottle { time: 1, id: 2, stream_id: 3 },
        Record::Switch { out: true, preempted: true },
    ];
    let mut buf = RecordBuf::default();
    for record in &records {
        let mut bytes = Vec::new();
        append_words(&mut bytes, record.encode(&attr, &id, &mut buf));
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        let (kind, misc) = (header as u32, (header >> 32) as u16);
        assert_eq!((header >> 48) as usize, bytes.len());
        let body = &bytes[8..];
        assert_eq!(Record::decode(kind, misc, body).as_ref(), Ok(record));
        assert_eq!(SampleId::decode(&attr, body), Ok(id));
        for end in 0..body.len() {
            let _ = Record::decode(kind, misc, &body[..end]);
            let _ = SampleId::decode(&attr, &body[..end]);
        }

        let raw = RawEventRecord {
            record_type: RecordType(kind),
            misc,
            data: RawData::from(body),
            parse_info: info,
        };
        let common = raw.common_data().unwrap();
        assert_eq!((common.pid, common.tid, common.timestamp), (Some(1), Some(2), Some(3)));
        assert_eq!((common.id, common.stream_id, common.cpu), (Some(4), Some(5), Some(6)));
        match (record, raw.parse().unwrap()) {
            (Record::Mmap(m), EventRecord::Mmap2(t)) => {
                assert_eq!((t.pid, t.tid, t.address), (7, 8, m.addr));
                assert_eq!((t.length, t.page_offset), (m.len, m.pgoff));
                assert_eq!((t.protection, t.flags), (m.prot, m.flags));
                assert_eq!(t.path.as_slice(), m.name);
            }
            (Record::Comm { name, exec, .. }, EventRecord::Comm(t)) => {
                assert_eq!((t.pid, t.tid, t.is_execve), (7, 8, *exec));
                assert_eq!(t.name.as_slice(), *name);
            }
            (Record::Fork(_), EventRecord::Fork(t)) | (Record::Exit(_), EventRecord::Exit(t)) => {
                assert_eq!((t.pid, t.ppid, t.tid, t.ptid, t.timestamp), (10, 11, 12, 13, 14));
            }
            (Record::Lost { .. }, EventRecord::Lost(t)) => assert_eq!((t.id, t.count), (4, 99)),
            (Record::Throttle { .. }, EventRecord::Throttle(t))
            | (Record::Unthrottle { .. }, EventRecord::Unthrottle(t)) => {
                assert_eq!((t.timestamp, t.id), (1, 2));
            }
            (Record::Switch { .. }, EventRecord::ContextSwitch(_))
            | (Record::LostSamples { .. }, EventRecord::Raw(_)) => {}
            (ours, theirs) => panic!("{ours:?} reads as {theirs:?}"),
        }
    }
}

/// Sample k of period p comes when k * p events are done, however they are counted.
#[test]
fn periods_are_exact() {
    let regs = regs();
    let ring = || Arc::new(Ring::new(1 << 16).unwrap());
    for step in [1, 2, 3, 7, 100] {
        let attr = Attr::new(Event::Instructions, 10);
        let mut s = Sampler::new(attr, RegAbi::Kernel, 1, ring()).unwrap();
        let (mut done, mut at) = (0, Vec::new());
        while done < 1000 {
            let n = step.min(s.left());
            s.advance(n);
            done += n;
            if s.is_due() {
                s.take(&Frame::user(&regs), &NoStack);
                at.push(done);
            }
        }
        assert_eq!(at, (1..=100).map(|k| k * 10).collect::<Vec<_>>());
        assert_eq!((s.stats().events, s.stats().samples), (1000, 100));
    }
    // Counting past a sample that is due shortens the next period; the grid stays.
    let mut s =
        Sampler::new(Attr::new(Event::Instructions, 10), RegAbi::Kernel, 1, ring()).unwrap();
    s.advance(13);
    assert!(s.is_due());
    s.take(&Frame::user(&regs), &NoStack);
    assert_eq!(s.left(), 7);
    s.advance(40);
    s.take(&Frame::user(&regs), &NoStack);
    assert_eq!(s.left(), 7);
}

/// A period of 0 counts and never samples.
#[test]
fn counters_only_count() {
    let ring = Arc::new(Ring::new(4096).unwrap());
    let mut s = Sampler::new(Attr::new(Event::Instructions, 0), RegAbi::Kernel, 1, ring).unwrap();
    s.advance(1 << 60);
    assert!(!s.is_due());
    assert_eq!(s.stats().events, 1 << 60);
}

/// Excluded modes give no samples; their events still count.
#[test]
fn excluded_modes_are_silent() {
    let regs = regs();
    let ring = Arc::new(Ring::new(4096).unwrap());
    let attr = Attr::new(Event::Instructions, 1).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let mut s = Sampler::new(attr, RegAbi::Kernel, 1, ring).unwrap();
    for kernel in [Some(&regs), None] {
        s.advance(1);
        s.take(&Frame { kernel, ..Frame::user(&regs) }, &NoStack);
    }
    assert_eq!((s.stats().events, s.stats().samples), (2, 1));
}

/// A full ring: the lost are counted, and the LOST record carries the event's id and trailer.
#[test]
fn lost_samples_are_told() {
    let regs = regs();
    let ring = Arc::new(Ring::new(4096).unwrap());
    let attr = Attr::new(Event::Instructions, 1).user_regs(RegMask::KERNEL);
    let mut s = Sampler::new(attr, RegAbi::Kernel, 42, ring).unwrap();
    for _ in 0..100 {
        s.advance(1);
        s.take(&Frame::user(&regs).task(5, 6).at(7), &NoStack);
    }
    let lost = s.stats().lost;
    assert!(lost > 80 && lost < 100, "{lost}");
    let mut bytes = Vec::new();
    s.ring().drain(&mut bytes);
    bytes.clear();
    s.advance(1);
    s.take(&Frame::user(&regs).task(5, 6).at(7), &NoStack);
    s.ring().drain(&mut bytes);
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(header as u32, kind::LOST);
    let body = &bytes[8..(header >> 48) as usize];
    assert_eq!(Record::decode(kind::LOST, 0, body), Ok(Record::Lost { id: 42, lost }));
    let id = SampleId::decode(s.attr(), body).unwrap();
    assert_eq!((id.pid, id.tid, id.time, id.id), (5, 6, 7, 42));
}

/// What axperf can't do is refused at the start.
#[test]
fn what_cannot_be_done_is_refused() {
    let refused = |attr| {
        let ring = Arc::new(Ring::new(4096).unwrap());
        Sampler::new(attr, RegAbi::Kernel, 1, ring).unwrap_err().errno
    };
    let attr = Attr::new(Event::Instructions, 1);
    assert_eq!(refused(attr.clone().with_flags(AttrFlags::AUX_OUTPUT)), Errno::Eopnotsupp);
    assert_eq!(refused(attr.clone().user_regs(RegMask::EXTENDED)), Errno::Einval);
    assert_eq!(refused(Attr { config: 99, ..attr }), Errno::Enoent);
}
