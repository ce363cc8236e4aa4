//! Reads every public file to its end and compares what is in it with what the files' own descriptions say.
//!
//! The files lie beside the repository, or where `FREEHOLD_SHARED` says. Without them nothing is read, and every
//! test says so.

use freehold_trace::maple::StoreType;
use freehold_trace::{Lines, kva, maple, mt, percpu, vma};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

type Outcome = Result<(), Box<dyn Error>>;

/// The directory of the files, if there is one.
fn shared(test: &str) -> Option<PathBuf> {
    let given = std::env::var_os("FREEHOLD_SHARED").map(PathBuf::from);
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let directory = given.unwrap_or_else(default);
    if directory.is_dir() {
        return Some(directory);
    }
    // Not through the test harness, which would swallow it.
    let mut stderr = std::io::stderr();
    let _ = writeln!(
        stderr,
        "{test}: NOTHING WAS READ, {} is no directory (FREEHOLD_SHARED names it)",
        directory.display()
    );
    None
}

/// The files of a directory whose names end so, sorted.
fn files(directory: &Path, suffix: &str) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(suffix) {
            found.push((name, path));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {suffix} in {}", directory.display());
    Ok(found)
}

#[test]
fn kva_vectors() -> Outcome {
    let Some(shared) = shared("kva_vectors") else { return Ok(()) };
    let directory = shared.join("vectors/kva");
    let (mut congruent, mut congruent_failed) = (0, 0);
    for (name, file) in files(&directory, ".txt.zst")? {
        let mut ops = 0_u64;
        for record in kva::Vectors::open(&file)? {
            let kva::Record::Op(op, answers) = record? else { continue };
            ops += 1;
            if let (kva::Op::Congruent { .. }, [kva::Expected::Alloc(answer)]) = (op, answers.as_slice()) {
                congruent += 1;
                congruent_failed += u32::from(answer.start.is_none());
            }
        }
        assert_ne!(ops, 0, "{name}");
    }
    assert_eq!((congruent, congruent_failed), (3644, 825));
    let talk = kva::Talk::read(&directory.join("talk.txt"))?;
    assert_eq!(talk.layout.len(), 5);
    for table in ["anchors.tsv", "gap_anchors.tsv"] {
        assert!(!kva::Anchors::read(&directory.join(table))?.rows.is_empty());
    }
    Ok(())
}

/// Allocations, frees, runs of background work, failures.
type PercpuCounts = [u64; 4];

/// The table at the end of the description.
fn percpu_table(readme: &Path) -> Result<BTreeMap<String, PercpuCounts>, Box<dyn Error>> {
    let mut table = BTreeMap::new();
    for line in std::fs::read_to_string(readme)?.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", file, _, allocs, frees, balance, failed, _, _, ""] = cells.as_slice() else { continue };
        if file.ends_with(".zst") {
            let counts = [allocs.parse()?, frees.parse()?, balance.parse()?, failed.parse()?];
            table.insert((*file).to_owned(), counts);
        }
    }
    Ok(table)
}

#[test]
fn percpu_vectors() -> Outcome {
    let Some(shared) = shared("percpu_vectors") else { return Ok(()) };
    let directory = shared.join("vectors/percpu");
    let mut table = percpu_table(&directory.join("README.md"))?;
    assert_eq!(table.len(), 58);
    for (name, file) in files(&directory, ".txt.zst")? {
        if name.starts_with("area-") {
            continue;
        }
        let [mut allocs, mut frees, mut balance, mut failed] = [0; 4];
        for record in percpu::Vectors::open(&file)? {
            match record? {
                percpu::Record::Op(percpu::Op::Alloc { .. }, answer) => {
                    allocs += 1;
                    failed += u64::from(answer == percpu::Answer::NoRoom);
                }
                percpu::Record::Op(percpu::Op::Free { .. }, answer) => {
                    frees += 1;
                    assert_eq!(answer, percpu::Answer::Freed);
                }
                percpu::Record::Balance => balance += 1,
                percpu::Record::Digest(_) | percpu::Record::Statistics(_) => {}
            }
        }
        assert_eq!(table.remove(&name), Some([allocs, frees, balance, failed]), "{name}");
    }
    assert!(table.is_empty(), "described, but not there: {table:?}");
    Ok(())
}

#[test]
fn area_vectors() -> Outcome {
    let Some(shared) = shared("area_vectors") else { return Ok(()) };
    for name in ["area-32k.txt.zst", "area-256k.txt.zst"] {
        let (mut runs, mut scanned, mut probes) = (0, 0, 0);
        for record in percpu::AreaVectors::open(&shared.join("vectors/percpu").join(name))? {
            match record? {
                percpu::AreaRecord::Run(run) => {
                    runs += 1;
                    (scanned, probes) = (0, 0);
                    assert_eq!(run.unit_bytes, if name.contains("32k") { 32 << 10 } else { 256 << 10 });
                }
                percpu::AreaRecord::Alloc(_, _, work) | percpu::AreaRecord::AllocSum(_, work) => {
                    scanned += work.scanned;
                }
                percpu::AreaRecord::Free(_, work) | percpu::AreaRecord::FreeSum(_, work) => {
                    probes += work.probes;
                }
                percpu::AreaRecord::AllocTotals(totals) => assert_eq!(totals.work.scanned, scanned),
                percpu::AreaRecord::FreeTotals(work) => assert_eq!(work.probes, probes),
            }
        }
        assert_eq!(runs, 80);
    }
    Ok(())
}

/// Rows of every trace.
const ROWS: [(&str, u64); 25] = [
    ("bpfmaps.pcpu", 639_586),
    ("bpfmaps.kva", 1_977),
    ("bpfvm.kva", 22_107),
    ("bpfvm.pcpu", 78_243),
    ("netns.pcpu", 248_102),
    ("netns.kva", 2_270),
    ("forkshell.pcpu", 65_610),
    ("forkshell.kva", 9_815),
    ("fsmount.pcpu", 89_803),
    ("fsmount.kva", 10_283),
    ("pthread.kva", 120_455),
    ("pthread.pcpu", 1_428),
    ("chromium_k.kva", 2_156),
    ("bpfstorm.kva", 14_818),
    ("bpfstorm24.kva", 44_842),
    ("threads.kva", 158_858),
    ("chromium_k.pcpu", 281),
    ("stress_mmap.vma", 332_103),
    ("chromium.vma", 29_450),
    ("cargo.vma", 18_096),
    ("pynumpy.vma", 2_031),
    ("gcc.vma", 2_225),
    ("redis.vma", 1_305),
    ("mt_all_stress.mt", 251_792),
    ("mt_w_stress.mt", 415_355),
];

fn rows_of(name: &str) -> u64 {
    let stem = name.trim_end_matches(".csv.zst");
    ROWS.iter().find(|(known, _)| *known == stem).map_or(0, |(_, rows)| *rows)
}

#[test]
fn every_trace_is_of_a_known_kind() -> Outcome {
    let Some(shared) = shared("every_trace_is_of_a_known_kind") else { return Ok(()) };
    let names: HashSet<String> =
        files(&shared.join("traces"), ".csv.zst")?.into_iter().map(|(name, _)| name).collect();
    let known: HashSet<String> = ROWS.iter().map(|(name, _)| format!("{name}.csv.zst")).collect();
    assert_eq!(names, known);
    Ok(())
}

#[test]
fn kva_traces() -> Outcome {
    let Some(shared) = shared("kva_traces") else { return Ok(()) };
    // Allocations, frees, purges where the description has them.
    let described: HashMap<&str, (u64, u64, Option<u64>)> = HashMap::from([
        ("bpfmaps.kva.csv.zst", (88, 16, None)),
        ("bpfvm.kva.csv.zst", (10_769, 10_791, Some(88))),
        ("netns.kva.csv.zst", (930, 930, None)),
        ("forkshell.kva.csv.zst", (4_229, 4_228, None)),
        ("fsmount.kva.csv.zst", (3_767, 3_781, None)),
        ("pthread.kva.csv.zst", (60_014, 60_001, Some(19))),
        ("chromium_k.kva.csv.zst", (140, 137, None)),
        ("bpfstorm.kva.csv.zst", (5_918, 5_826, Some(376))),
        ("bpfstorm24.kva.csv.zst", (21_484, 21_156, None)),
        ("threads.kva.csv.zst", (78_559, 78_319, Some(21))),
    ]);
    for (name, file) in files(&shared.join("traces"), ".kva.csv.zst")? {
        let mut counts: BTreeMap<kva::EventKind, u64> = BTreeMap::new();
        for event in kva::Events::open(&file)? {
            *counts.entry(event?.kind).or_insert(0) += 1;
        }
        assert_eq!(counts.values().sum::<u64>(), rows_of(&name), "{name}");
        let count = |kind| counts.get(&kind).copied().unwrap_or(0);
        let purges = count(kva::EventKind::Purge);
        let (allocs, frees, described_purges) = described[name.as_str()];
        assert_eq!((count(kva::EventKind::Alloc), count(kva::EventKind::Free)), (allocs, frees), "{name}");
        assert_eq!(purges, described_purges.unwrap_or(purges), "{name}");
        let recording = kva::Recording::read(&file)?;
        let skipped: u64 = recording.skipped.values().sum();
        assert_eq!(recording.ops.len() as u64 + skipped, rows_of(&name), "{name}");
    }
    Ok(())
}

#[test]
fn percpu_traces() -> Outcome {
    let Some(shared) = shared("percpu_traces") else { return Ok(()) };
    // Allocations, frees, frees of unknown objects, implied frees.
    let described: HashMap<&str, [u64; 4]> = HashMap::from([
        ("bpfmaps.pcpu.csv.zst", [343_931, 295_480, 24, 0]),
        ("bpfvm.pcpu.csv.zst", [39_110, 39_077, 52, 4]),
        ("netns.pcpu.csv.zst", [124_050, 124_021, 24, 6]),
        ("forkshell.pcpu.csv.zst", [32_807, 32_753, 24, 26]),
        ("fsmount.pcpu.csv.zst", [44_889, 44_781, 33, 100]),
        ("pthread.pcpu.csv.zst", [723, 681, 22, 2]),
    ]);
    for (name, file) in files(&shared.join("traces"), ".pcpu.csv.zst")? {
        use percpu::EventKind::{Alloc, ChunkCreated, Failed, Free, FreeImplied, FreeUnknown};
        let mut counts: BTreeMap<percpu::EventKind, u64> = BTreeMap::new();
        for event in percpu::Events::open(&file)? {
            *counts.entry(event?.kind).or_insert(0) += 1;
        }
        assert_eq!(counts.values().sum::<u64>(), rows_of(&name), "{name}");
        let count = |kind| counts.get(&kind).copied().unwrap_or(0);
        let found = [Alloc, Free, FreeUnknown, FreeImplied].map(count);
        match described.get(name.as_str()) {
            Some(described) => assert_eq!(found, *described, "{name}"),
            // The one line that gives two of the four.
            None => assert_eq!(found[..2], [140, 131], "{name}"),
        }
        if name.starts_with("bpfmaps") {
            assert_eq!((count(Failed), count(ChunkCreated)), (147, 4));
        }
        let recording = percpu::Recording::read(&file)?;
        assert_eq!(recording.ops.len() as u64, found[0] + found[1] + found[3], "{name}");
        assert_eq!(recording.at_ns.len(), recording.ops.len());
        let skipped: u64 = recording.skipped.values().sum();
        assert_eq!(recording.ops.len() as u64 + skipped, rows_of(&name), "{name}");
    }
    Ok(())
}

/// A few words for each action of a process.
fn action_name(action: &vma::Action) -> &'static str {
    match action {
        vma::Action::Map { .. } => "mmap",
        vma::Action::Unmap { .. } => "munmap",
        vma::Action::Protect { .. } => "mprotect",
        vma::Action::Break { .. } => "brk",
        vma::Action::Advise { .. } => "madvise",
        vma::Action::Fork { .. } => "fork",
        vma::Action::Exec { .. } => "exec",
        _ => "other",
    }
}

#[test]
fn vma_traces() -> Outcome {
    let Some(shared) = shared("vma_traces") else { return Ok(()) };
    // What the description says, where it gives whole numbers; all calls of brk, as in the statistics
    // beside the traces, where the description leaves some out (1,147 and 260).
    let described: HashMap<&str, Vec<(&str, u64)>> = HashMap::from([
        ("stress_mmap.vma.csv.zst", vec![]),
        ("chromium.vma.csv.zst", vec![("spaces", 47)]),
        ("cargo.vma.csv.zst", vec![("spaces", 110), ("exec", 74)]),
        ("pynumpy.vma.csv.zst", vec![("mmap", 652), ("munmap", 151), ("brk", 277)]),
        ("gcc.vma.csv.zst", vec![("mmap", 487), ("brk", 1_157)]),
        ("redis.vma.csv.zst", vec![("mmap", 630), ("fork", 11)]),
    ]);
    for (name, file) in files(&shared.join("traces"), ".vma.csv.zst")? {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        let (mut rows, mut spaces) = (0, HashSet::new());
        for event in vma::Events::open(&file)? {
            let event = event?;
            rows += 1;
            // Those created; the last exits of tasks that nothing was recorded of name one more.
            match event.action {
                vma::Action::Exec { new_space } | vma::Action::Fork { new_space, .. } => {
                    spaces.insert(new_space);
                }
                _ => {}
            }
            *counts.entry(action_name(&event.action)).or_insert(0) += 1;
        }
        assert_eq!(rows, rows_of(&name), "{name}");
        counts.insert("spaces", spaces.len() as u64);
        for (what, count) in &described[name.as_str()] {
            assert_eq!(counts.get(what), Some(count), "{name}: {what}");
        }
        if name.starts_with("stress_mmap") {
            let thousands = ["munmap", "madvise"].map(|what| (counts[what] + 500) / 1000);
            assert_eq!((thousands, (counts["mmap"] + 50) / 100), ([131, 135], 657));
        }
    }
    Ok(())
}

#[test]
fn mt_traces() -> Outcome {
    let Some(shared) = shared("mt_traces") else { return Ok(()) };
    // Thousands of reads, writes and changes of structure; the description cuts them off.
    for (name, thousands) in [("mt_all_stress", [36, 196, 20]), ("mt_w_stress", [0, 380, 36])] {
        let name = format!("{name}.mt.csv.zst");
        let mut counts = [0_u64; 3];
        for event in mt::Events::open(&shared.join("traces").join(&name))? {
            match event?.action {
                mt::Action::Read => counts[0] += 1,
                mt::Action::Write { .. } => counts[1] += 1,
                mt::Action::Restructure => counts[2] += 1,
            }
        }
        assert_eq!(counts.iter().sum::<u64>(), rows_of(&name), "{name}");
        for (count, thousands) in counts.into_iter().zip(thousands) {
            assert!(count.abs_diff(thousands * 1000) < 1000, "{name}: {count}");
        }
    }
    Ok(())
}

#[test]
fn maple_vectors() -> Outcome {
    let Some(shared) = shared("maple_vectors") else { return Ok(()) };
    let logs = files(&shared.join("vectors/maple"), ".txt.zst")?;
    assert_eq!(logs.len(), 12);
    let (mut ops, mut within_blocks) = (0_u64, 0_u64);
    for (name, file) in logs {
        let mut listed = 0;
        let log = maple::Vectors::open(&file)?;
        assert_eq!(format!("{}.txt.zst", log.header().name), name);
        for record in log {
            match record? {
                maple::Record::Op(op, expected) => {
                    ops += 1;
                    within_blocks += operations_within(&op, &expected.answer);
                    assert!(expected.accepts(&expected.answer));
                }
                maple::Record::Content { entries, .. } => listed += entries.len(),
                maple::Record::Shape(_) => {}
            }
        }
        assert_ne!(listed, 0, "{name}");
    }
    let millions = (ops + within_blocks) as f64 / 1e6;
    assert!((6.0..7.5).contains(&millions), "{millions} M operations, said to be 6.8 M");
    Ok(())
}

/// Operations inside a block operation.
fn operations_within(op: &maple::Op, answer: &maple::Answer) -> u64 {
    match (op, answer) {
        (
            maple::Op::LoadMany { count, .. }
            | maple::Op::EraseMany { count, .. }
            | maple::Op::StoreMany { count, .. },
            _,
        ) => *count,
        (_, maple::Answer::Walked { count, .. }) => *count,
        _ => 0,
    }
}

#[test]
fn maple_examples() -> Outcome {
    let Some(shared) = shared("maple_examples") else { return Ok(()) };
    let examples = maple::Examples::open(&shared.join("vectors/maple/prealloc_examples.txt"))?;
    let examples: Vec<maple::Example> = examples.collect::<Result<_, _>>()?;
    assert_eq!(examples.len(), 47);
    for example in examples {
        let spanning = example.store_type == StoreType::Spanning;
        assert_eq!(spanning, example.last.is_some(), "example {}", example.number);
        assert_eq!(spanning, example.widened.is_none(), "example {}", example.number);
        let (height, vacant) = (i64::from(example.height), i64::from(example.vacant_height));
        let sufficient = i64::from(example.sufficient_height);
        if let Some(asks) = rule_6_16(example.store_type, height, vacant, sufficient, false) {
            assert_eq!(asks, i64::from(example.requested_6_16), "example {}", example.number);
        }
    }
    Ok(())
}

/// The nodes that 6.16 asks for; `None` for a store into a tree without nodes, where the description leaves
/// room.
fn rule_6_16(store: StoreType, height: i64, vacant: i64, sufficient: i64, rcu: bool) -> Option<i64> {
    let converges = height - if sufficient < vacant { sufficient } else { vacant };
    Some(match store {
        StoreType::ExactFit | StoreType::Append | StoreType::SlotStore => 0,
        StoreType::NodeStore => i64::from(rcu),
        StoreType::NewRoot => 1,
        StoreType::Split => 2 * (height - vacant) + 1,
        StoreType::Rebalance => 2 * converges + 1,
        StoreType::Spanning => 3 * converges + 1,
        StoreType::StoreRoot => return None,
    })
}

/// Calls by the number of nodes asked for, as the description tabulates them.
const VALUES: [u8; 9] = [0, 1, 3, 5, 7, 9, 10, 11, 13];

struct DescribedStream {
    file: &'static str,
    records: u64,
    stores: u64,
    nodes: u64,
    nodes_6_12: u64,
    calls: [u64; 9],
    calls_6_12: [u64; 9],
}

const STREAM_6_12_CALLS: [u64; 9] =
    [7_176_431, 15_058, 11_836, 271_224, 2_329_745, 534_460, 435, 704_306, 409_787];

const STREAMS: [DescribedStream; 2] = [
    DescribedStream {
        file: "seed_stream_6.12.mstream.zst",
        records: 18_178_728,
        stores: 18_154_788,
        nodes: 35_603_988,
        nodes_6_12: 35_603_988,
        calls: STREAM_6_12_CALLS,
        calls_6_12: STREAM_6_12_CALLS,
    },
    DescribedStream {
        file: "seed_stream_6.16.mstream.zst",
        records: 18_404_818,
        stores: 18_377_440,
        nodes: 14_766_757,
        nodes_6_12: 36_310_705,
        calls: [7_362_011, 15_082, 3_586_469, 653_754, 73_479, 17_234, 343, 4_511, 76],
        calls_6_12: [7_362_011, 15_082, 11_898, 271_786, 2_334_664, 576_742, 437, 730_552, 409_787],
    },
];

fn tabulate(calls: &BTreeMap<u8, u64>) -> ([u64; 9], u64) {
    assert!(calls.keys().all(|value| VALUES.contains(value)), "{calls:?}");
    let nodes = calls.iter().map(|(value, count)| u64::from(*value) * count).sum();
    (VALUES.map(|value| calls.get(&value).copied().unwrap_or(0)), nodes)
}

/// The present ranges of a tree: last index by first index.
type Ranges = BTreeMap<u64, u64>;

fn store(ranges: &mut Ranges, write: &maple::StreamWrite) {
    let (first, last) = (write.span.first(), write.span.last());
    let mut cut = Vec::new();
    for (&start, &end) in ranges.range(..=last).rev() {
        if end < first {
            break;
        }
        cut.push((start, end));
    }
    for (start, end) in cut {
        ranges.remove(&start);
        if start < first {
            ranges.insert(start, first - 1);
        }
        if end > last {
            ranges.insert(last + 1, end);
        }
    }
    if !write.null {
        ranges.insert(first, last);
    }
}

fn digest(ranges: &Ranges) -> u64 {
    let mut digest = maple::Digest::default();
    for (first, last) in ranges {
        digest.push(*first);
        digest.push(*last);
    }
    digest.value()
}

/// Decodes a stream, replays it into plain lists of ranges and compares each with its digest.
fn check_stream(directory: &Path, described: &DescribedStream) -> Outcome {
    let stream = maple::Stream::open(&directory.join(described.file))?;
    assert_eq!(stream.header().records, described.records);
    let is_6_16 = stream.header().version == "6.16";
    let (mut records, mut stores, mut destroyed) = (0, 0, 0);
    let (mut calls, mut calls_6_12) = (BTreeMap::new(), BTreeMap::new());
    let mut trees: HashMap<u32, Ranges> = HashMap::new();
    for record in stream {
        records += 1;
        match record? {
            maple::StreamRecord::Group(_) => {}
            maple::StreamRecord::Appear { tree, .. } => {
                trees.insert(tree, Ranges::new());
            }
            maple::StreamRecord::Destroy { tree, entries, digest: expected } => {
                destroyed += 1;
                let ranges = trees.remove(&tree).unwrap_or_default();
                assert_eq!((ranges.len() as u64, digest(&ranges)), (entries, expected), "record {records}");
            }
            maple::StreamRecord::Duplicate { tree, source } => {
                let copy = trees.get(&source).cloned().unwrap_or_default();
                trees.insert(tree, copy);
            }
            maple::StreamRecord::Forget { tree } => {
                trees.remove(&tree);
            }
            maple::StreamRecord::Write { tree, write } => {
                if let Some(calculation) = &write.calculation {
                    let times = u64::from(calculation.times);
                    *calls.entry(calculation.requested).or_insert(0) += times;
                    *calls_6_12.entry(calculation.requested_6_12).or_insert(0) += times;
                    let heights = [write.height, calculation.vacant_height, calculation.sufficient_height];
                    let [height, vacant, sufficient] = heights.map(i64::from);
                    let asks = rule_6_16(write.store_type, height, vacant, sufficient, write.flags.rcu);
                    if let Some(asks) = asks.filter(|_| is_6_16) {
                        assert_eq!(asks, i64::from(calculation.requested), "record {records}");
                    }
                }
                if write.used.is_some() {
                    stores += 1;
                    store(trees.entry(tree).or_default(), &write);
                }
            }
        }
    }
    assert_eq!((records, stores), (described.records, described.stores));
    assert_eq!(tabulate(&calls), (described.calls, described.nodes));
    assert_eq!(tabulate(&calls_6_12), (described.calls_6_12, described.nodes_6_12));
    assert_eq!(destroyed, if is_6_16 { 11_528 } else { 11_518 });
    Ok(())
}

#[test]
fn maple_stream_6_12() -> Outcome {
    let Some(shared) = shared("maple_stream_6_12") else { return Ok(()) };
    check_stream(&shared.join("vectors/maple"), &STREAMS[0])
}

#[test]
fn maple_stream_6_16() -> Outcome {
    let Some(shared) = shared("maple_stream_6_16") else { return Ok(()) };
    check_stream(&shared.join("vectors/maple"), &STREAMS[1])
}

#[test]
fn the_directories_hold_nothing_unread() -> Outcome {
    let Some(shared) = shared("the_directories_hold_nothing_unread") else { return Ok(()) };
    for (family, others) in [("kva", 1), ("percpu", 0), ("maple", 2)] {
        let compressed = files(&shared.join("vectors").join(family), ".zst")?.len();
        let text = files(&shared.join("vectors").join(family), ".txt.zst")?.len();
        let streams = if family == "maple" { others } else { 0 };
        assert_eq!(compressed, text + streams, "{family}");
    }
    // Damage is noticed: half of a compressed file is not a file.
    let whole = std::fs::read(shared.join("vectors/percpu/u-mix-stock.txt.zst"))?;
    let half = std::env::temp_dir().join(format!("freehold-half-{}.txt.zst", std::process::id()));
    std::fs::write(&half, &whole[..whole.len() / 2])?;
    let mut lines = Lines::open(&half)?;
    let outcome = loop {
        match lines.advance() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    std::fs::remove_file(&half)?;
    assert!(outcome.is_err());
    Ok(())
}
