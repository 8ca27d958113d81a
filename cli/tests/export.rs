//! Formats of other programs: the same call chains as Linux's perf finds in the same file.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{TempDir, have};

/// The period that axperf samples instructions at unless told otherwise.
const PERIOD: u64 = 1_000_003;

/// Events by call chain: the thread's name and the functions, outermost first.
type Chains = BTreeMap<Vec<String>, u64>;

fn axperf(arguments: &[&str]) -> Vec<u8> {
    let out = Command::new(env!("CARGO_BIN_EXE_axperf")).args(arguments).output().expect("runs");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// Records `demo` with call chains.
fn record(dir: &TempDir) -> String {
    let data = dir.path("perf.data").to_str().expect("text").to_owned();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/guest/demo");
    let demo = demo.to_str().expect("text");
    axperf(&["record", "--no-cache", "-g", "-o", &data, "--", demo]);
    data
}

fn export(data: &str, format: &str) -> Vec<u8> {
    axperf(&["export", "-i", data, "-f", format])
}

fn add(chains: &mut Chains, chain: Vec<String>, events: u64) {
    *chains.entry(chain).or_default() += events;
}

fn folded(data: &str) -> Chains {
    let text = String::from_utf8(export(data, "folded")).expect("text");
    let mut chains = Chains::new();
    for line in text.lines() {
        let (chain, events) = line.rsplit_once(' ').expect("a chain and a number");
        let chain: Vec<String> = chain.split(';').map(str::to_owned).collect();
        assert!(chains.insert(chain, events.parse().expect("a number")).is_none(), "{line}");
    }
    chains
}

/// What `perf script` prints.
fn by_perf(data: &str) -> Chains {
    let out = Command::new("perf")
        .args(["script", "-F", "comm,period,ip,sym", "-i", data])
        .output()
        .expect("perf runs");
    let text = String::from_utf8(out.stdout).expect("text");
    let mut chains = Chains::new();
    for sample in text.split("\n\n").filter(|s| !s.trim().is_empty()) {
        let mut lines = sample.trim_start_matches('\n').lines();
        let head: Vec<&str> = lines.next().expect("a head").split_whitespace().collect();
        let mut chain: Vec<String> =
            lines.map(|l| l.split_whitespace().nth(1).expect("a function").to_owned()).collect();
        chain.push(head[0].to_owned());
        chain.reverse();
        add(&mut chains, chain, head[1].parse().expect("a period"));
    }
    chains
}

#[test]
fn chains_are_those_that_perf_finds() {
    if !have("perf") {
        return;
    }
    let dir = TempDir::new();
    let data = record(&dir);
    let want = by_perf(&data);
    assert!(want.len() > 10, "{want:?}");
    assert_eq!(folded(&data), want);
}

#[test]
fn all_formats_say_the_same() {
    let dir = TempDir::new();
    let data = record(&dir);
    let want = folded(&data);
    assert_eq!(json_lines(&export(&data, "jsonl")), want, "jsonl");
    // These have functions alone.
    let mut functions = Chains::new();
    for (chain, events) in want {
        add(&mut functions, chain[1..].to_vec(), events);
    }
    assert_eq!(speedscope(&export(&data, "speedscope")), functions, "speedscope");
    assert_eq!(firefox(&export(&data, "firefox")), samples(&functions), "firefox");
    assert_eq!(pprof(&export(&data, "pprof")), functions, "pprof");
}

fn json_lines(bytes: &[u8]) -> Chains {
    let mut chains = Chains::new();
    for line in bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        let sample: Value = serde_json::from_slice(line).expect("JSON");
        let frames = sample["frames"].as_array().expect("frames");
        let name = |f: &Value| f["symbol"].as_str().unwrap_or("[unknown]").to_owned();
        let mut chain: Vec<String> = frames.iter().map(name).collect();
        chain.push(sample["comm"].as_str().expect("a name").to_owned());
        chain.reverse();
        add(&mut chains, chain, sample["period"].as_u64().expect("a period"));
    }
    chains
}

fn speedscope(bytes: &[u8]) -> Chains {
    let file: Value = serde_json::from_slice(bytes).expect("JSON");
    let frames = file["shared"]["frames"].as_array().expect("frames");
    let profile = &file["profiles"][0];
    let (samples, weights) = (profile["samples"].as_array(), profile["weights"].as_array());
    let mut chains = Chains::new();
    for (sample, weight) in samples.expect("samples").iter().zip(weights.expect("weights")) {
        let frame = |i: &Value| &frames[i.as_u64().expect("an index") as usize]["name"];
        let names = sample.as_array().expect("a chain").iter();
        let chain = names.map(|i| frame(i).as_str().expect("a name").to_owned()).collect();
        add(&mut chains, chain, weight.as_u64().expect("a weight"));
    }
    let sum: u64 = chains.values().sum();
    assert_eq!(profile["endValue"], sum);
    chains
}

/// As many samples as events, with the period that all have.
fn samples(chains: &Chains) -> Chains {
    chains.iter().map(|(chain, events)| (chain.clone(), events / PERIOD)).collect()
}

/// By the processed format's tables: a sample has a stack, which has a frame and the stack of its
/// caller; a frame has a function, which has a name.
fn firefox(bytes: &[u8]) -> Chains {
    let file: Value = serde_json::from_slice(bytes).expect("JSON");
    let threads = file["threads"].as_array().expect("threads");
    assert_eq!(threads.len(), 1);
    let thread = &threads[0];
    let at = |table: &Value, i: usize| table[i].as_u64().map(|n| n as usize);
    let strings = match &thread["stringArray"] {
        Value::Null => &file["shared"]["stringArray"],
        strings => strings,
    };
    let mut chains = Chains::new();
    for stack in thread["samples"]["stack"].as_array().expect("samples") {
        let mut chain = Vec::new();
        let mut stack = stack.as_u64().map(|n| n as usize);
        while let Some(s) = stack {
            let frame = at(&thread["stackTable"]["frame"], s).expect("a frame");
            let function = at(&thread["frameTable"]["func"], frame).expect("a function");
            let name = at(&thread["funcTable"]["name"], function).expect("a name");
            let name = strings[name].as_str().expect("text");
            chain.push(name.rsplit_once(" (").map_or(name, |(name, _)| name).to_owned());
            stack = at(&thread["stackTable"]["prefix"], s);
        }
        chain.reverse();
        add(&mut chains, chain, 1);
    }
    chains
}

/// A field of a message of protobuf: its number, and its integer or bytes.
enum Field<'a> {
    Integer(u64, u64),
    Bytes(u64, &'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a byte");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The fields of a message, by protobuf's encoding: keys are number and wire type.
fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => list.push(Field::Integer(key >> 3, varint(&mut bytes))),
            2 => {
                let len = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(len);
                bytes = rest;
                list.push(Field::Bytes(key >> 3, value));
            }
            other => panic!("wire type {other}"),
        }
    }
    list
}

fn integer(message: &[u8], number: u64) -> u64 {
    let find = |f: Field| match f {
        Field::Integer(n, value) if n == number => Some(value),
        Field::Integer(..) | Field::Bytes(..) => None,
    };
    fields(message).into_iter().find_map(find).unwrap_or(0)
}

fn messages(message: &[u8], number: u64) -> Vec<&[u8]> {
    let find = |f| match f {
        Field::Bytes(n, value) if n == number => Some(value),
        Field::Integer(..) | Field::Bytes(..) => None,
    };
    fields(message).into_iter().filter_map(find).collect()
}

fn packed(message: &[u8], number: u64) -> Vec<u64> {
    let mut list = Vec::new();
    for mut bytes in messages(message, number) {
        while !bytes.is_empty() {
            list.push(varint(&mut bytes));
        }
    }
    list
}

/// Numbers of fields are those of pprof's profile.proto.
fn pprof(bytes: &[u8]) -> Chains {
    let mut profile = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut profile).expect("gzip");
    let strings = messages(&profile, 6);
    assert_eq!(strings[0], b"");
    let text = |i: u64| String::from_utf8(strings[i as usize].to_vec()).expect("text");
    let functions: BTreeMap<u64, String> =
        messages(&profile, 5).iter().map(|f| (integer(f, 1), text(integer(f, 2)))).collect();
    let locations: BTreeMap<u64, String> = messages(&profile, 4)
        .iter()
        .map(|l| (integer(l, 1), functions[&integer(messages(l, 4)[0], 1)].clone()))
        .collect();
    let kinds = messages(&profile, 1).iter().map(|t| text(integer(t, 1))).collect::<Vec<_>>();
    assert_eq!(kinds, ["samples", "instructions"]);
    assert_eq!(text(integer(&profile, 14)), "instructions");
    let mut chains = Chains::new();
    for sample in messages(&profile, 2) {
        let chain = packed(sample, 1).iter().rev().map(|l| locations[l].clone()).collect();
        add(&mut chains, chain, packed(sample, 2)[1]);
    }
    chains
}

/// Each function of the recording has a frame of its own, by its name.
#[test]
#[cfg(feature = "flamegraph")]
fn a_flame_graph_has_the_functions() {
    let dir = TempDir::new();
    let data = record(&dir);
    let svg = String::from_utf8(export(&data, "flamegraph")).expect("text");
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
    for function in folded(&data).keys().flatten() {
        assert!(svg.contains(&format!("<title>{function} (")), "{function}");
    }
}

#[test]
fn what_is_no_format_is_said() {
    let out = Command::new(env!("CARGO_BIN_EXE_axperf"))
        .args(["export", "-f", "gmon"])
        .output()
        .expect("runs");
    assert_eq!(out.status.code(), Some(2));
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(message.contains("gmon") && message.contains("speedscope"), "{message}");
}
