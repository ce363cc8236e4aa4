//! Small files of every kind, good and bad.

use super::*;
use crate::tests::fails_at;
use crate::{Lines, TraceError};
use freehold_units::Align;

const VECTORS: &str = "\
# unit 32768 page 4096 cpus 1 variant stock balance sync seed 7 digest_every 1
a 6 4 0 0
a 8 16 +
A 4 4 !
b
f 0
f +2
D 5 1 8 7 1 32752 bc97225ea3f22d5e
c 14 0 32744 32744 24 0 8 7 1 0
s   nr_alloc            :            1
s 
d 5 1 8 7 1 32752 0000000000000001
f -1
# end ops 6 handles 3 live 0
";

fn read(text: &str) -> Result<Vec<Record>, TraceError> {
    Vectors::new(Lines::from_text("file", text))?.collect()
}

/// The good file with its hash put right, as the hash is not what these tests are about.
fn good() -> String {
    let line = ChunkLine {
        slot: 14,
        chunk: Some(0),
        free_bytes: 32744,
        contig_bytes: 32744,
        contig_start_bytes: Some(24),
        first_free_bytes: 0,
        populated_pages: 8,
        empty_pages: 7,
        objects: 1,
        isolated: false,
    };
    VECTORS.replace("bc97225ea3f22d5e", &format!("{:016x}", chunk_lines_hash(&[line])))
}

#[test]
fn a_good_file_is_read_to_its_end() {
    let records = read(&good()).unwrap();
    let alloc = |object, size_bytes, align, atomic| Op::Alloc {
        object,
        size_bytes,
        align: Align::new(align).unwrap(),
        atomic,
    };
    let at = |offset_bytes| Answer::At { chunk: 0, offset_bytes };
    assert_eq!(records[0], Record::Op(alloc(0, 6, 4, false), at(0)));
    // 6 bytes take 8, and the next multiple of 16 is 16.
    assert_eq!(records[1], Record::Op(alloc(1, 8, 16, false), at(16)));
    assert_eq!(records[2], Record::Op(alloc(2, 4, 4, true), Answer::NoRoom));
    assert_eq!(records[3], Record::Balance);
    assert_eq!(records[4], Record::Op(Op::Free { object: 0 }, Answer::Freed));
    assert_eq!(records[5], Record::Op(Op::Free { object: 2 }, Answer::NotLive));
    let Record::Digest(digest) = &records[6] else { panic!("{:?}", records[6]) };
    assert_eq!((digest.ops, digest.live, digest.lines.as_ref().map(Vec::len)), (5, 1, Some(1)));
    assert_eq!(records[8], Record::Statistics(String::new()));
    let Record::Digest(digest) = &records[9] else { panic!("{:?}", records[9]) };
    assert_eq!((digest.hash, &digest.lines), (1, &None));
    assert_eq!(records[10], Record::Op(Op::Free { object: 1 }, Answer::Freed));
    assert_eq!(records.len(), 11);
}

#[test]
fn setup_is_what_the_first_line_says() {
    let vectors = Vectors::new(Lines::from_text("file", &good())).unwrap();
    let setup = vectors.setup();
    assert_eq!((setup.unit_bytes, setup.page_bytes, setup.cpus), (32768, 4096, 1));
    assert_eq!((setup.variant, setup.balance), (Variant::Stock, true));
    assert_eq!((setup.seed, setup.digest_every), (7, 1));
}

#[test]
fn hashes_are_those_of_the_kernel() {
    // The first digest of u-min-stale-stock.
    let line = ChunkLine {
        slot: 12,
        chunk: Some(0),
        free_bytes: 28672,
        contig_bytes: 28672,
        contig_start_bytes: Some(4096),
        first_free_bytes: 4096,
        populated_pages: 8,
        empty_pages: 7,
        objects: 1,
        isolated: false,
    };
    assert_eq!(line.to_string(), "c 12 0 28672 28672 4096 4096 8 7 1 0");
    assert_eq!(chunk_lines_hash(&[line]), 0x295d_2ea2_d1cf_bf59);
    let unused = ChunkLine { chunk: None, contig_start_bytes: None, isolated: true, ..line };
    assert_eq!(unused.to_string(), "c 12 -1 28672 28672 -1 4096 8 7 1 1");
}

#[test]
fn malformed_vectors_are_errors_with_their_line() {
    let good = good();
    let with = |from: &str, to: &str| read(&good.replacen(from, to, 1));
    fails_at(read(""), 1, "empty");
    fails_at(with("stock", "other"), 1, "unknown variant");
    fails_at(with("sync", "later"), 1, "unknown balance");
    fails_at(with("# unit", "unit"), 1, "not percpu vectors");
    fails_at(with("a 6 4 0 0", "q 6 4 0 0"), 2, "unknown op");
    fails_at(with("a 6 4 0 0", "a 6 4 0"), 2, "OFF is missing");
    fails_at(with("a 6 4 0 0", "a 6 4 0 0 0"), 2, "at the end");
    fails_at(with("a 6 4 0 0", "a 6 3 0 0"), 2, "power of two");
    fails_at(with("a 6 4 0 0", "a 0 4 0 0"), 2, "size is 0");
    fails_at(with("a 6 4 0 0", "a 6 4 0 2"), 2, "not a multiple");
    fails_at(with("a 6 4 0 0", "a 6 4 1 0"), 2, "before chunk");
    fails_at(with("a 6 4 0 0", "a 6 4 0 32764"), 2, "end of its unit");
    fails_at(with("a 6 4 0 0", "a 18446744073709551615 4 0 0"), 2, "end of its unit");
    fails_at(with("a 6 4 0 0", "a 6 4 0 99999999999999999999"), 2, "unreadable");
    fails_at(with("a 6 4 0 0", "a 6 4 +"), 2, "without a previous");
    fails_at(with("f 0", "f 3"), 6, "never allocated");
    fails_at(with("f 0", "f +0"), 6, "without one freed");
    fails_at(with("f +2", "f +0"), 7, "freed before");
    fails_at(with("f +2", "f -1"), 7, "is none");
    fails_at(with("D 5", "D 6"), 8, "operations");
    fails_at(with("7 1 0\n", "7 1 2\n"), 9, "ISOLATED");
    fails_at(with("c 14", "c 15"), 9, "hash of the digest");
    fails_at(with("c 14", "d 14"), 9, "must stand");
    fails_at(with("D 5 1", "D 5 2"), 10, "must stand");
    fails_at(with("ops 6", "ops 7"), 14, "operations");
    fails_at(with("handles 3", "handles 4"), 14, "allocations");
    fails_at(with("live 0", "live 1"), 14, "live objects");
}

#[test]
fn cut_off_vectors_are_errors() {
    let good = good();
    for end in 0..good.len() {
        assert!(read(&good[..end]).is_err(), "the first {end} bytes are taken for the whole");
    }
    let no_end = good.trim_end_matches("# end ops 6 handles 3 live 0\n");
    fails_at(read(no_end), 14, "cut off");
    fails_at(read(&format!("{good}b\n")), 15, "after the end");
}

#[test]
fn nothing_follows_an_error() {
    let mut vectors = Vectors::new(Lines::from_text("file", &good().replace("a 6", "a x"))).unwrap();
    assert!(vectors.next().unwrap().is_err());
    assert!(vectors.next().is_none());
}

const AREA: &str = "\
@run unit 32768 size 16 align 8 half 0 n 2 order rev
a 0 0 1 1 1 0
a + 2 1 1 14
A scanned 3 moved 2 chunks_checked 2 extend_copied 14 chunks 1 map_entries 4 map_capacity 16
f 1 3 2
f 0 2 1
F probes 5 moved 3
@run unit 32768 size 16 align 8 half 1 n 2000 order alt
w 1000 5 4 3 2
A scanned 5 moved 4 chunks_checked 3 extend_copied 2 chunks 2 map_entries 9 map_capacity 16
v 2000 7 6
F probes 7 moved 6
";

fn read_area(text: &str) -> Result<Vec<AreaRecord>, TraceError> {
    AreaVectors::new(Lines::from_text("file", text))?.collect()
}

#[test]
fn a_good_area_file_is_read_to_its_end() {
    let records = read_area(AREA).unwrap();
    assert_eq!(records.len(), 12);
    let AreaRecord::Run(run) = records[0] else { panic!("{:?}", records[0]) };
    assert_eq!((run.size_bytes, run.half, run.objects, run.order), (16, false, 2, FreeOrder::Reverse));
    let work = AllocWork { scanned: 2, moved: 1, chunks_checked: 1, copied: 14 };
    let op = Op::Alloc { object: 1, size_bytes: 16, align: run.align, atomic: false };
    let answer = Answer::At { chunk: 0, offset_bytes: 16 };
    assert_eq!(records[2], AreaRecord::Alloc(op, answer, work));
    assert_eq!(records[4], AreaRecord::Free(Op::Free { object: 1 }, FreeWork { probes: 3, moved: 2 }));
    assert_eq!(records[10], AreaRecord::FreeSum(2000, FreeWork { probes: 7, moved: 6 }));
}

#[test]
fn a_run_over_half_filled_units_starts_with_their_chunks() {
    let text = AREA.replace("half 0 n 2 ", "half 1 n 2 ").replace("a 0 0 1", "a 1 0 1");
    // One chunk is there, so the next new one has number 1.
    assert!(read_area(&text).is_ok());
    fails_at(read_area(&text.replace("a 1 0 1", "a 2 0 1")), 2, "before chunk");
}

#[test]
fn half_filled_units_hold_objects_at_multiples_of_their_alignment() {
    let run = AreaRun {
        unit_bytes: 32_768,
        size_bytes: 4,
        align: Align::new(8).unwrap(),
        half: true,
        objects: 4096,
        order: FreeOrder::InOrder,
    };
    assert_eq!(run.chunks_before(), Ok(2), "2048 to a lower half, 8 bytes apart");
}

#[test]
fn malformed_area_files_are_errors_with_their_line() {
    let with = |from: &str, to: &str| read_area(&AREA.replacen(from, to, 1));
    fails_at(read_area(""), 1, "cut off");
    fails_at(with("@run", "run"), 1, "outside of a run");
    fails_at(with("order rev", "order any"), 1, "unknown order");
    fails_at(with("half 0", "half 2"), 1, "half is");
    fails_at(with("size 16 align 8 half 0", "size 0 align 8 half 1"), 1, "lower half");
    fails_at(with("a 0 0 1 1 1 0", "a 0 0 1 1 1"), 2, "COPIED is missing");
    fails_at(with("a 0 0 1 1 1 0", "f 0 1 1"), 2, "in this phase");
    fails_at(with("a + 2 1 1 14\n", ""), 3, "lists 1");
    fails_at(with("f 1 3 2", "f 2 3 2"), 5, "never allocated");
    fails_at(with("f 0 2 1", "f 1 2 1"), 6, "freed before");
    fails_at(with("f 0 2 1\n", ""), 6, "objects live");
    fails_at(with("F probes 5", "F probe 5"), 7, "must stand");
    fails_at(with("F probes 5 moved 3\n", ""), 7, "within another");
    fails_at(with("w 1000", "w 2001"), 9, "of 2000");
    fails_at(with("F probes 7 moved 6\n", ""), 12, "cut off");
}

const TRACE: &str = "\
#vml-trace v1 kind=pcpu kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words: more words
#lost_records=0
#dt_ns,cpu,tid,op,obj,chunk,off,size,align,flags,bytes_alloc,site
10,1,7,A,1,0,71796,4,4,6,16,caller
5,0,7,U,,0,114448,,,,,
5,0,7,X,,,,8,8,2,,
5,0,7,C,,1,,,,,,
5,0,0,G,1,0,71796,4,,,,
5,0,7,A,2,0,71796,4,4,0,16,caller
5,0,7,F,2,0,71796,4,,,,
5,0,7,D,,1,,,,,,
";

fn replay(text: &str) -> Result<Recording, TraceError> {
    Recording::from_events(Events::new(Lines::from_text("file", text))?)
}

#[test]
fn events_have_their_times_and_fields() {
    let events: Vec<Event> =
        Events::new(Lines::from_text("file", TRACE)).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(events.len(), 8);
    let first = &events[0];
    assert_eq!(
        (first.stamp.at_ns, first.stamp.cpu, first.stamp.tid, first.kind),
        (10, 1, 7, EventKind::Alloc)
    );
    assert_eq!(first.flags, Some(AllocFlags { reserved: false, atomic: true, accounted: true }));
    assert_eq!((first.offset_bytes, first.charged_bytes), (Some(71796), Some(16)));
    assert_eq!(first.site, "caller");
    assert_eq!(events[7].stamp.at_ns, 45);
}

#[test]
fn a_recording_counts_what_it_cannot_replay() {
    let recording = replay(TRACE).unwrap();
    let align = Align::new(4).unwrap();
    let alloc = |object, atomic| Op::Alloc { object, size_bytes: 4, align, atomic };
    let free = |object| Op::Free { object };
    assert_eq!(recording.ops, [alloc(0, true), free(0), alloc(1, false), free(1)]);
    assert_eq!(recording.at_ns, [10, 30, 35, 40]);
    let kinds =
        [EventKind::FreeUnknown, EventKind::Failed, EventKind::ChunkCreated, EventKind::ChunkDestroyed];
    assert_eq!(recording.skipped, kinds.into_iter().map(|kind| (kind, 1)).collect());
}

/// As of address ranges.
#[test]
fn a_free_of_an_object_that_never_came_is_counted() {
    for (from, to) in [("5,0,0,G,1", "5,0,0,G,3"), ("F,2", "F,9")] {
        let recording = replay(&TRACE.replacen(from, to, 1)).unwrap();
        assert_eq!((recording.ops.len(), recording.skipped[&EventKind::FreeUnknown]), (3, 2), "{to}");
    }
}

#[test]
fn malformed_traces_are_errors_with_their_line() {
    let with = |from: &str, to: &str| replay(&TRACE.replacen(from, to, 1));
    fails_at(with("kind=pcpu", "kind=kva"), 4, "columns");
    fails_at(with(",bytes_alloc", ""), 4, "columns");
    fails_at(with("10,1,7,A,1", "10,1,7,Q,1"), 5, "unknown op");
    fails_at(with("10,1,7,A,1", "10,1,7,A,"), 5, "a field that is needed is missing");
    fails_at(with("10,1,7", "10,1"), 5, "tid is unreadable");
    fails_at(with("4,4,6", "4,3,6"), 5, "power of two");
    fails_at(with("4,4,6", "4,4,8"), 5, "unknown flags");
    for (place, said) in [
        ("71796,0,4,6", "0 bytes at offset 71796 are no object"),
        ("71796,18446744073709551615,4,6", "18446744073709551615 bytes at offset 71796"),
        ("4294967293,4,4,6", "4 bytes at offset 4294967293 are no object"),
    ] {
        fails_at(with("71796,4,4,6", place), 5, said);
    }
    assert!(with("71796,4,4,6", "4294967292,4,4,6").is_ok());
    fails_at(with("4,4,6,16,caller", "4,4,6,16"), 5, "site is missing");
    fails_at(with("4,4,6,16,caller", "4,4,6,16,caller,"), 5, "at the end");
    fails_at(with("10,1,7,A,1", "10,1,7,A,4294967296"), 5, "unreadable");
    fails_at(with("5,0,7,U,,0,114448", "5,0,7,U,,,114448"), 6, "a field that is needed is missing");
    fails_at(with("5,0,7,U", "18446744073709551615,0,7,U"), 6, "passes 2^64 ns");
    fails_at(with("5,0,0,G,1,0,71796,4,,,,\n5,0,7,A,2", "5,0,7,A,1"), 9, "while it is live");
    fails_at(with("kind=pcpu", "kind=what"), 1, "unknown kind");
    let header: String = TRACE.lines().take(4).map(|line| format!("{line}\n")).collect();
    assert!(replay(&header).unwrap().ops.is_empty());
    fails_at(replay(&TRACE[..TRACE.len() - 1]), 12, "within this line");
    fails_at(replay("#vml-trace v1 kind=pcpu kernel=1 ncpu=1 pagesize=4096\n"), 2, "within its header");
}
