//! perf.data files: ours read by perf, by another reader and by our own; perf's read by ours.

mod support;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use axperf::export::perf_data::{
    DataSummary, Feature, Features, FileEvent, PerfData, PerfDataWriter, RecordKind,
};
use axperf::perf::{
    Attr, CONTEXT_USER, ChainEnd, Event, FileId, Frame, Mmap, NoStack, Record, RegAbi, RegMask,
    Ring, SampleId, Sampler, Stop, Task, Unwind, UnwindRegs,
};
use axperf::symbols::Dso;
use axperf::{Reg, Regs};
use linux_perf_data::linux_perf_event_reader::{EventRecord, Mmap2FileId};
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use support::{TempDir, have, run};

const PROGRAM: &str = r#"
__attribute__((noinline)) int leaf(int n) { return n * 7919 % 101; }
__attribute__((noinline)) int middle(int n) { return leaf(n) + 1; }
int main(int c, char **v) { return middle(c) + 1; }
"#;

/// A call chain that was agreed upon before.
struct Chain(Vec<u64>);

impl Unwind for Chain {
    fn unwind(
        &mut self,
        _: &UnwindRegs,
        _: &mut dyn FnMut(u64) -> Option<u64>,
        _: usize,
        chain: &mut Vec<u64>,
    ) -> ChainEnd {
        chain.extend(&self.0);
        ChainEnd { stop: Stop::Complete, guessed: false }
    }
}

/// Registers that tell which they are, with this pc.
fn regs(pc: u64) -> Regs {
    let mut regs = Regs::default();
    for &r in Reg::ALL {
        regs.set(r, 0x11_0000 + r.offset() as u64);
    }
    regs.set(Reg::Pc, pc);
    regs
}

/// Writes a recording of `exe`, mapped at its own addresses: ten samples in `leaf` called by
/// `middle` called by `main`, at times 1000, 2000.., then one in a child.
fn record(path: &Path, exe: &str, attr: Attr) -> (DataSummary, [u64; 3]) {
    let dso = Dso::open(exe).unwrap();
    let at = |name: &str| {
        dso.symbols().iter().find(|s| s.raw_name() == name).map(|s| s.start + 8).unwrap()
    };
    let chain = [at("leaf"), at("middle"), at("main")];
    let event = FileEvent { attr: attr.clone(), name: "instructions".into(), ids: vec![77] };
    let writer = PerfDataWriter::create(path, vec![event]).unwrap();
    let id = SampleId { pid: 100, tid: 100, time: 1, id: 77, stream_id: 77, cpu: 0 };
    let mmap = Mmap {
        pid: 100,
        tid: 100,
        addr: 0x1_2000_0000,
        len: 0x2000,
        pgoff: 0,
        file: FileId::build_id(dso.build_id()),
        prot: 5,
        flags: 2,
        name: exe.as_bytes(),
    };
    let mut batch = Vec::new();
    for record in [
        Record::Comm { pid: 100, tid: 100, exec: true, name: b"prog" },
        Record::Mmap(mmap),
        Record::Fork(Task { pid: 101, ppid: 100, tid: 101, ptid: 100, time: 5 }),
    ] {
        batch.extend(record.to_bytes(&attr, &id));
    }
    writer.append(&batch).unwrap();

    let ring = Arc::new(Ring::new(1 << 18).unwrap());
    let mut sampler = Sampler::new(attr.clone(), RegAbi::Extended, 77, ring)
        .unwrap()
        .with_unwinder(Box::new(Chain(chain.to_vec())));
    let regs = regs(chain[0]);
    // The child's sample first: the file is read in the order of times.
    for (task, time) in [(101, 10_500)].into_iter().chain((1..=10).map(|i| (100, i * 1000))) {
        sampler.advance(sampler.left());
        sampler.take(&Frame::user(&regs).task(task, task).at(time), &NoStack);
    }
    batch.clear();
    sampler.ring().drain(&mut batch);
    for record in [
        Record::Lost { id: 77, lost: 3 },
        Record::Exit(Task { pid: 101, ppid: 100, tid: 101, ptid: 100, time: 11_000 }),
    ] {
        batch.extend(record.to_bytes(&attr, &SampleId { time: 11_000, ..id }));
    }
    writer.append(&batch).unwrap();
    let mut features = Features::default();
    features.hostname = "alphaville".into();
    features.os_release = "7.2.13".into();
    features.version = "axperf-test".into();
    features.cpu_desc = "EV67".into();
    features.cpu_id = "EV67,1".into();
    features.nr_cpus = (4, 2);
    features.total_mem = 123_456;
    features.cmdline = vec!["axperf".into(), "record".into(), "prog".into()];
    (writer.finish(&features).unwrap(), chain)
}

fn attr() -> Attr {
    Attr::new(Event::Instructions, 1_000_003).callchain()
}

#[test]
fn our_reader_reads_what_was_written() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let exe = dir.compile("prog", PROGRAM, &["-O2"]);
    let path = dir.path("out.data");
    let (summary, chain) = record(&path, &exe, attr().user_regs(RegMask::EXTENDED));
    assert_eq!((summary.samples, summary.lost, summary.times), (11, 3, Some((1000, 10_500))));

    let data = PerfData::open(&path).unwrap();
    assert!(!data.is_unfinished());
    assert_eq!(data.events().len(), 1);
    assert_eq!(
        (data.events()[0].name.as_str(), &data.events()[0].ids[..]),
        ("instructions", &[77][..])
    );
    assert_eq!(data.events()[0].attr, attr().user_regs(RegMask::EXTENDED));
    assert_eq!(data.feature_string(Feature::Arch).as_deref(), Some("alpha"));
    assert_eq!(data.feature_string(Feature::Hostname).as_deref(), Some("alphaville"));
    assert_eq!(data.cmdline().unwrap(), ["axperf", "record", "prog"]);
    let records: Vec<_> = data.records().collect::<Result<_, _>>().unwrap();
    // The last one is written at the end: how many samples were lost in all.
    assert_eq!(records.len(), 3 + 11 + 2 + 1);
    assert!(records.windows(2).all(|w| w[0].time <= w[1].time));
    let samples: Vec<_> = records
        .iter()
        .filter_map(|r| match &r.kind {
            RecordKind::Sample(s) => Some(s),
            RecordKind::Other(..) => None,
        })
        .collect();
    assert_eq!(samples.len(), 11);
    assert_eq!(samples[9].time, Some(10_000));
    assert_eq!(samples[10].task, Some((101, 101)));
    for sample in samples {
        let words: Vec<u64> = sample.callchain.unwrap().iter().collect();
        assert_eq!(words, [&[CONTEXT_USER], &chain[..]].concat());
        let regs = sample.user_regs.unwrap();
        assert_eq!(regs.get(Reg::F30), Some(0x11_0000 + Reg::F30.offset() as u64));
        assert_eq!(regs.get(Reg::Pc), Some(chain[0]));
    }
}

/// Registers and stack in a sample: the sizes add up for a reader that knows nothing of axperf.
#[test]
fn another_reader_reads_what_was_written() {
    if !have("alpha-linux-gnu-gcc") {
        return;
    }
    let dir = TempDir::new();
    let exe = dir.compile("prog", PROGRAM, &["-O2"]);
    let path = dir.path("out.data");
    let attr = attr().user_regs(RegMask::KERNEL).user_stack(8192);
    let (_, chain) = record(&path, &exe, attr);
    let reader = BufReader::new(File::open(&path).unwrap());
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(reader).unwrap();
    assert_eq!(perf_file.arch().unwrap(), Some("alpha"));
    assert_eq!(perf_file.hostname().unwrap(), Some("alphaville"));
    assert_eq!(perf_file.cpu_desc().unwrap(), Some("EV67"));
    assert_eq!(perf_file.total_mem().unwrap(), Some(123_456));
    assert_eq!(perf_file.cmdline().unwrap().unwrap(), ["axperf", "record", "prog"]);
    assert_eq!(perf_file.event_attributes()[0].name(), Some("instructions"));
    let range = perf_file.sample_time_range().unwrap().unwrap();
    assert_eq!((range.first_sample_time, range.last_sample_time), (1000, 10_500));
    let build_ids = perf_file.build_ids().unwrap();
    let dso = Dso::open(&exe).unwrap();
    assert!(build_ids.values().any(|d| d.path == exe.as_bytes() && d.build_id == dso.build_id()));

    let (mut samples, mut maps) = (0, 0);
    while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        match record.parse().unwrap() {
            EventRecord::Sample(s) => {
                samples += 1;
                assert_eq!(s.ip, Some(chain[0]));
                assert_eq!(s.period, Some(1_000_003));
                assert_eq!(s.callchain.unwrap().len(), 4);
                let regs = s.user_regs.unwrap();
                assert_eq!(regs.get(31), Some(chain[0]));
                assert_eq!(regs.get(26), Some(0x11_0000 + Reg::R26.offset() as u64));
                assert_eq!(regs.get(9), None);
                assert_eq!(s.user_stack.map(|(d, n)| (d.len(), n)), Some((8192, 0)));
            }
            EventRecord::Mmap2(m) => {
                maps += 1;
                assert_eq!(m.path.as_slice(), exe.as_bytes());
                assert_eq!(m.file_id, Mmap2FileId::BuildId(dso.build_id().to_vec()));
            }
            _ => {}
        }
    }
    assert_eq!((samples, maps), (11, 1));
}

/// Stock perf of this machine reads the file: header, symbols, call chains, registers by number.
#[test]
fn perf_reads_what_was_written() {
    if !(have("alpha-linux-gnu-gcc") && have("perf")) {
        return;
    }
    let dir = TempDir::new();
    let exe = dir.compile("prog", PROGRAM, &["-O2"]);
    let path = dir.text("out.data");
    let (_, chain) = record(Path::new(&path), &exe, attr().user_regs(RegMask::KERNEL));

    let header = run("perf", &["report", "-i", &path, "--header-only"]);
    for line in [
        "# arch : alpha",
        "# hostname : alphaville",
        "# os release : 7.2.13",
        "# nrcpus online : 2",
        "# nrcpus avail : 4",
        "# cpudesc : EV67",
        "# cpuid : EV67,1",
        "# total memory : 123456 kB",
        "# cmdline : axperf record prog",
    ] {
        assert!(header.contains(line), "{line} in {header}");
    }
    assert!(header.contains("# event : name = instructions"), "{header}");

    let ids = run("perf", &["buildid-list", "-i", &path]);
    assert!(ids.contains(&exe), "{ids}");

    let script = run("perf", &["script", "-i", &path, "-F", "comm,tid,time,event,period,ip,sym"]);
    let samples: Vec<&str> = script.split("\n\n").filter(|s| !s.trim().is_empty()).collect();
    assert_eq!(samples.len(), 11, "{script}");
    for sample in &samples {
        let lines: Vec<&str> = sample.trim().lines().map(str::trim).collect();
        assert!(
            lines[0].starts_with("prog") && lines[0].contains("1000003 instructions:"),
            "{sample}"
        );
        let names: Vec<&str> =
            lines[1..].iter().filter_map(|l| l.split_whitespace().nth(1)).collect();
        assert_eq!(names, ["leaf", "middle", "main"], "{sample}");
    }
    assert!(samples[0].contains("0.000001:"), "{script}");

    let registers = run("perf", &["script", "-i", &path, "-F", "uregs"]);
    let first = registers.lines().next().unwrap();
    assert_eq!(first.matches("0x").count(), 25, "{first}");
    assert!(first.trim_end().ends_with(&format!("{:#x}", chain[0])), "the pc is last: {first}");

    let report = run("perf", &["report", "-i", &path, "--stdio", "--no-children", "-g", "none"]);
    assert!(report.contains("# Samples: 11  of event 'instructions'"), "{report}");
    assert!(report.contains("# Total Lost Samples: 3"), "{report}");
    let line = report.lines().find(|l| l.contains("leaf")).unwrap();
    assert!(line.trim().starts_with("100.00%"), "{line}");
}

fn fixture(name: &str) -> PerfData {
    PerfData::open(Path::new("tests/fixtures/perf-data").join(name)).unwrap()
}

/// The context switches of a recording by perf on Linux/alpha: without a trap frame there is no pc,
/// and the sp is a per-CPU address. What we read is what another reader reads.
#[test]
fn recordings_of_perf_are_read() {
    let data = fixture("context-switches-intr-sp-pc.data");
    assert_eq!(data.feature_string(Feature::Arch).as_deref(), Some("alpha"));
    assert_eq!(data.events()[0].name, "context-switches");
    let mut samples = 0;
    for record in data.records() {
        if let RecordKind::Sample(s) = record.unwrap().kind {
            samples += 1;
            assert!(s.kernel);
            assert_eq!(s.ip, Some(0));
            let regs: Vec<_> = s.intr_regs.unwrap().iter().collect();
            assert_eq!(regs, [(Reg::Sp, 0xffff_fc00_0002_bb80), (Reg::Pc, 0)]);
        }
    }
    assert_eq!(samples, 7);

    for name in ["context-switches-intr-sp-pc.data", "cpu-clock-thread-fork.data"] {
        let file = File::open(Path::new("tests/fixtures/perf-data").join(name)).unwrap();
        let PerfFileReader { mut perf_file, mut record_iter } =
            PerfFileReader::parse_file(BufReader::new(file)).unwrap();
        let mut theirs = Vec::new();
        while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
            if let PerfFileRecord::EventRecord { record, .. } = record
                && let EventRecord::Sample(s) = record.parse().unwrap()
            {
                theirs.push((s.ip, s.timestamp, s.pid, s.tid, s.period));
            }
        }
        let data = fixture(name);
        let mut ours = Vec::new();
        for record in data.records() {
            if let RecordKind::Sample(s) = record.unwrap().kind {
                let (pid, tid) = s.task.unwrap();
                ours.push((s.ip, s.time, Some(pid as i32), Some(tid as i32), s.period));
            }
        }
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs, "{name}");
    }
}

/// A file whose recording was cut off holds what was written until then.
#[test]
fn unfinished_files_are_read_to_their_end() {
    let dir = TempDir::new();
    let path = dir.path("out.data");
    let event = FileEvent { attr: attr(), name: "instructions".into(), ids: vec![1] };
    let writer = PerfDataWriter::create(&path, vec![event]).unwrap();
    let comm = Record::Comm { pid: 1, tid: 1, exec: true, name: b"prog" };
    writer.append(&comm.to_bytes(&attr(), &SampleId::default())).unwrap();
    writer.append(&[0; 5]).unwrap();
    let data = PerfData::open(&path).unwrap();
    assert!(data.is_unfinished());
    assert_eq!(data.len(), 1);
}

/// A part of a record, left by a process that was killed while it wrote, ends what can be read.
#[test]
fn parts_of_records_end_the_file() {
    let dir = TempDir::new();
    let path = dir.path("out.data");
    let event = FileEvent { attr: attr(), name: "instructions".into(), ids: vec![1] };
    let writer = PerfDataWriter::create(&path, vec![event]).unwrap();
    let comm = Record::Comm { pid: 1, tid: 1, exec: true, name: b"prog" };
    let comm = comm.to_bytes(&attr(), &SampleId::default());
    writer.append(&comm).unwrap();
    writer.append(&comm[..20]).unwrap();
    writer.append(&comm).unwrap();
    writer.append(&comm).unwrap();
    let summary = writer.finish(&Features::default()).unwrap();
    assert!(summary.damaged_at.is_some());
    let data = PerfData::open(&path).unwrap();
    // What follows the part may look like records by chance; the first is one.
    assert!(!data.is_empty());
    assert_eq!(data.feature_string(Feature::Arch).as_deref(), Some("alpha"));
}

/// Cut or changed anywhere, a file is an error or other contents: never a panic.
#[test]
fn damaged_files_are_harmless() {
    let try_all = |bytes: Vec<u8>| {
        let data = PerfData::parse("x", bytes)?;
        for feature in [Feature::Arch, Feature::Version, Feature::EventDesc] {
            let _ = data.feature_string(feature);
        }
        let _ = data.cmdline();
        for record in data.records() {
            record?;
        }
        Ok::<_, axperf::Error>(())
    };
    for name in ["context-switches-intr-sp-pc.data", "cpu-clock-thread-fork.data"] {
        let good = std::fs::read(Path::new("tests/fixtures/perf-data").join(name)).unwrap();
        try_all(good.clone()).unwrap();
        for end in 0..good.len().min(3200) {
            assert!(try_all(good[..end].to_vec()).is_err(), "cut at {end}");
        }
        for at in 0..good.len().min(3200) {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                let _ = try_all(bad);
            }
        }
        for at in (0..good.len().min(3200) - 8).step_by(8) {
            for word in [u64::MAX, 1 << 63, 1 << 32, 8, 0x0008_0000_0000_0009] {
                let mut bad = good.clone();
                bad[at..at + 8].copy_from_slice(&word.to_le_bytes());
                let _ = try_all(bad);
            }
        }
    }
    let say = |bytes: &[u8]| try_all(bytes.to_vec()).unwrap_err().to_string();
    assert_eq!(say(b""), "x: it is no perf.data file");
    assert_eq!(say(b"#!/bin/sh"), "x: it is no perf.data file");
    assert_eq!(say(b"2ELIFREP"), "x: it was recorded on a big-endian machine");
}

/// Attributes that a file can't hold are refused when it is made.
#[test]
fn attributes_too_new_for_the_file_are_refused() {
    let dir = TempDir::new();
    let mut new = attr();
    new.config4 = 1;
    let event = FileEvent { attr: new, name: "x".into(), ids: vec![] };
    let error = PerfDataWriter::create(dir.path("out.data"), vec![event]).unwrap_err().to_string();
    assert!(error.contains("need a newer file format"), "{error}");
}
