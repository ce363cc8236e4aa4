//! Small files of every kind, good and bad.

use super::*;
use crate::tests::fails_at;
use crate::{Lines, TraceError};
use freehold_units::Span;

const LOG: &str = "\
# maple-vectors 1
# name small
# seed 1
# universe tiny 0..63 (n=64)
# alloc_tree 1
# rcu_flag 0
# profile 0 reserved_pct 0 check_every 500
s a 1f 12 = 0
s 3 2 - = -22
i a a Z = -17
e b = 12
l b = -
f 0 ffffffffffffffff = 7 20
fa 20 ff = - 20
n 0 ff = Z
p ff 0 = -
af 10 0 ff 3 = 0 0
ar 10 0 ff 3 = -16
ac 0 ff fe 3 = 1 5 6
ac 0 ff fe 3 = -16
ef 0 ff 10 = 0 20 2f
eg 4 = 0 20 2f
er 1 0 1 = -22
ms 5
mw = - 0 ffffffffffffffff n ~
mf ff = 3 10 1f a
mV 0 = - 0 f u
mp
mr
mS 0 5 - = ? 0 f
mG 0 5 9999 = 0 0 5
mP 0 0 1 = 0 0 ~
mE 0 = 1 0 5
L 0 10 4 = cbf29ce484222325
E 0 10 4 = cbf29ce484222325
S 0 10 8 4 1
F 0 ff 0 = 4 cbf29ce484222325
C ff 0 2 = 2 cbf29ce484222325
d 0 1 = 0
t 1
x 0
| a 1f 12
| 20 20 Z
c 2 0123456789abcdef
c 4 0123456789abcdef
h 2 node 3 1 0
h 0 ptr
x 1
# ops 99
";

fn content() -> Vec<ContentEntry> {
    let entry = |first, last, value| ContentEntry { span: Span::new(first, last).unwrap(), value };
    vec![entry(10, 31, Value::Number(12)), entry(32, 32, Value::Reserved)]
}

/// The good log, with the digest of what it lists.
fn good() -> String {
    let mut digest = Digest::default();
    for ContentEntry { span, value } in content() {
        for word in [span.first(), span.last(), value.word()] {
            digest.push(word);
        }
    }
    LOG.replacen("0123456789abcdef", &format!("{:016x}", digest.value()), 1)
}

fn read(text: &str) -> Result<Vec<Record>, TraceError> {
    Vectors::new(Lines::from_text("file", text))?.collect()
}

#[test]
fn every_line_of_a_log_is_read() {
    let records = read(&good()).unwrap();
    let lines: Vec<&str> = LOG.lines().collect();
    // All lines but seven of header, two of content and the last.
    assert_eq!(records.len(), lines.len() - 10);
    let operation = |text: &str| {
        let at = lines.iter().position(|line| *line == text).unwrap() - 7;
        match &records[at] {
            Record::Op(op, expected) => (*op, expected.answer),
            other => panic!("{other:?}"),
        }
    };
    let twelve = Value::Number(12);
    let store = Op::Store { first: 10, last: 31, value: twelve };
    assert_eq!(operation("s a 1f 12 = 0"), (store, Answer::Done(Ok(()))));
    let insert = Op::Insert { first: 10, last: 10, value: Value::Reserved };
    assert_eq!(operation("i a a Z = -17"), (insert, Answer::Done(Err(Refusal::Exists))));
    assert_eq!(operation("e b = 12"), (Op::Erase { index: 11 }, Answer::Value(twelve)));
    let find = Op::Find { index: 32, max: 255, after: true };
    assert_eq!(operation("fa 20 ff = - 20"), (find, Answer::Found { value: Value::Null, next: 32 }));
    let alloc = Op::AllocRange { end: End::Highest, size: 16, min: 0, max: 255, value: Value::Number(3) };
    assert_eq!(operation("ar 10 0 ff 3 = -16"), (alloc, Answer::Placed(Err(Refusal::Busy))));
    let cyclic = Op::AllocCyclic { low: 0, high: 255, next: 254, value: Value::Number(3) };
    let cycled = Cycled { index: 5, next: 6, wrapped: true };
    assert_eq!(operation("ac 0 ff fe 3 = 1 5 6"), (cyclic, Answer::Cycled(Ok(cycled))));
    let gap = Op::EmptyArea { end: End::Lowest, min: 0, max: 255, size: 16 };
    let span = Span::new(32, 47).unwrap();
    assert_eq!(operation("ef 0 ff 10 = 0 20 2f"), (gap, Answer::Gap(Ok(span))));
    let step = Op::CursorStep { step: Step::FindRangeRev, limit: 0 };
    let stopped = Answer::Cursor { value: Value::Null, index: 0, last: 15, state: CursorState::Underflow };
    assert_eq!(operation("mV 0 = - 0 f u"), (step, stopped));
    let call = StoreCall::Store;
    let store = Op::CursorStore { call, first: 0, last: 5, value: Value::Null };
    let replaced = Answer::Replaced { old: None, index: 0, last: 15 };
    assert_eq!(operation("mS 0 5 - = ? 0 f"), (store, replaced));
    let many = Op::StoreMany { first: 0, stride: 16, len: 8, count: 4, value: Value::Number(1) };
    assert_eq!(operation("S 0 10 8 4 1"), (many, Answer::Nothing));
    let steps = Op::StepMany { step: Step::Find, index: 0, limit: 255, most: None };
    let walked = Answer::Walked { count: 4, digest: Digest::default().value() };
    assert_eq!(operation("F 0 ff 0 = 4 cbf29ce484222325"), (steps, walked));
    let copy = Op::Duplicate { from: 0, into: 1 };
    assert_eq!(operation("d 0 1 = 0"), (copy, Answer::Done(Ok(()))));
}

#[test]
fn content_is_listed_or_only_summed_up() {
    let records = read(&good()).unwrap();
    let contents: Vec<(u64, usize)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Content { count, entries, .. } => Some((*count, entries.len())),
            _ => None,
        })
        .collect();
    assert_eq!(contents, [(2, 2), (4, 0)]);
    assert!(
        records
            .iter()
            .any(|record| matches!(record, Record::Content { entries, .. } if *entries == content()))
    );
    let shape = Shape::Nodes { height: 2, leaves: 3, ranges: 1, alloc_ranges: 0 };
    assert!(records.contains(&Record::Shape(shape)) && records.contains(&Record::Shape(Shape::Pointer)));
}

#[test]
fn the_header_is_kept() {
    let log = Vectors::new(Lines::from_text("file", &good())).unwrap();
    let expected = Header {
        name: "small".to_owned(),
        seed: 1,
        universe: "tiny 0..63 (n=64)".to_owned(),
        alloc_tree: true,
        rcu: false,
        profile: "0 reserved_pct 0 check_every 500".to_owned(),
    };
    assert_eq!(*log.header(), expected);
}

#[test]
fn malformed_logs_are_errors_with_their_line() {
    let good = good();
    let with = |from: &str, to: &str| read(&good.replacen(from, to, 1));
    fails_at(read(""), 1, "not maple vectors");
    fails_at(with("# seed 1", "# seed x"), 3, "no number");
    fails_at(with("# alloc_tree 1", "# alloc_tree 2"), 5, "0 or 1");
    fails_at(with("# rcu_flag 0\n", ""), 6, "rcu_flag");
    fails_at(with("s a 1f 12 = 0", "S"), 8, "first is missing");
    fails_at(with("s a 1f 12 = 0", "y a 1f 12 = 0"), 8, "unknown op");
    fails_at(with("s a 1f 12 = 0", "s a 1f 12 = 1"), 8, "unknown code");
    fails_at(with("s a 1f 12 = 0", "s a 1f 12 0"), 8, "must stand");
    fails_at(with("s a 1f 12 = 0", "s a 1f 10000 = 0"), 8, "no value");
    fails_at(with("s a 1f 12 = 0", "s a 1f 0 = 0"), 8, "no value");
    fails_at(with("s a 1f 12 = 0", "s a 1f 12 = 0 0"), 8, "at the end");
    fails_at(with("s a 1f 12 = 0", "s a 1f 12 = 0 ~"), 8, "cursors alone");
    fails_at(with("s a 1f 12 = 0", "s a 10000000000000000 12 = 0"), 8, "not hexadecimal");
    fails_at(with("er 1 0 1 = -22", "eg 4 = 0 20 2f"), 23, "no gap");
    fails_at(with("= 0 20 2f\n", "= 0 2f 20\n"), 21, "is above last");
    fails_at(with("n ~", "n"), 25, "marked");
    fails_at(with("3 10 1f a", "3 10 1f b"), 26, "unknown state");
    fails_at(with("S 0 10 8 4 1", "S 0 10 0 4 1"), 36, "len is 0");
    fails_at(with("S 0 10 8 4 1", "S 0 10 8 4 Z"), 36, "no number");
    let too_many = format!("S 0 10 8 {} 1", crate::MOST_LINES + 1);
    fails_at(with("S 0 10 8 4 1", &too_many), 36, "n is above 2097152");
    fails_at(with("d 0 1 = 0", "d 2 1 = 0"), 39, "tree 2 does not exist");
    fails_at(with("t 1", "t 2"), 40, "tree 2 does not exist");
    fails_at(with("t 1\nx 0\n", "x 0\nl 0 = -\n"), 41, "tree 0 does not exist");
    fails_at(with("| 20 20 Z", "| 1f 20 Z"), 43, "ascending");
    fails_at(with("| 20 20 Z", "| 20 20 -"), 43, "without a value");
    fails_at(with("| 20 20 Z", "l 0 = -"), 43, "must follow");
    fails_at(with("| 20 20 Z", "| 20 21 Z"), 44, "count or digest");
    fails_at(with("h 2 node", "h 0 node"), 46, "no tree of height");
    fails_at(with("# ops 99\n", ""), 49, "cut off");
    fails_at(read(&format!("{good}l 0 = -\n")), 50, "after the end");
}

#[test]
fn what_binds_of_an_answer() {
    let cursor = |value, index, state| Answer::Cursor { value, index, last: 9, state };
    let answer = cursor(Value::Null, 0, CursorState::None);
    let (loose, strict) = (Expected { answer, loose: true }, Expected { answer, loose: false });
    let other = cursor(Value::Null, 5, CursorState::Active);
    assert!(loose.accepts(&other) && !strict.accepts(&other) && strict.accepts(&answer));
    assert!(!loose.accepts(&cursor(Value::Reserved, 0, CursorState::None)));
    let replaced = |old, index| Answer::Replaced { old, index, last: 9 };
    let any_old = Expected { answer: replaced(None, 0), loose: false };
    assert!(any_old.accepts(&replaced(Some(Value::Number(3)), 0)));
    assert!(!any_old.accepts(&replaced(Some(Value::Number(3)), 1)));
    let null = Expected { answer: replaced(Some(Value::Null), 0), loose: true };
    assert!(null.accepts(&replaced(Some(Value::Null), 7)) && !null.accepts(&Answer::Unsupported));
}

#[test]
fn values_count_up_and_begin_again() {
    assert_eq!(Value::Number(9998).successor(), Value::Number(9999));
    assert_eq!(Value::Number(9999).successor(), Value::Number(1));
    assert_eq!(Value::Null.successor(), Value::Null);
}

const COLUMNS: [(&str, &[u8]); 12] = [
    ("op", &[0, 1, 9, 10, 1, 3, 4, 2, 6]),
    // Tree 3 throughout, then 4, which becomes a copy of it.
    ("tree", &[0, 6, 0, 0, 2, 0, 0, 0, 1]),
    ("meta", &[0x30, 0x32, 0x75, 0x30, 0x37]),
    ("height", &[0, 2, 1]),
    ("vacsuf", &[0x00, 0x21, 0x10]),
    ("req", &[1, 1, 3, 5, 0, 0]),
    ("used", &[1, 0, 3, 2]),
    // The first record is relative to index 1.
    ("first", &[18, 20, 0]),
    ("len", &[0xff, 0x01, 4, 0]),
    ("ext", &[0, 0, 0, 1, 2, 2, 0, 0]),
    ("hafter", &[2, 1]),
    ("digest", &[1, 0, 0, 0, 0, 0, 0, 0x80, 5]),
];

fn stream(columns: &[(&str, &[u8])], records: usize) -> Vec<u8> {
    let mut file = format!(
        "maple-stream 1\nversion 6.16\ncalls_per_group_limit 0\nrecords {records}\ngroup 0 check_one\n"
    )
    .into_bytes();
    for (name, bytes) in columns {
        file.extend(format!("column {name} {}\n", bytes.len()).bytes());
    }
    file.extend(b"end\n");
    for (_, bytes) in columns {
        file.extend(*bytes);
    }
    file
}

fn read_stream(bytes: Vec<u8>) -> Result<Vec<StreamRecord>, TraceError> {
    Stream::new(Lines::from_bytes("file", bytes))?.collect()
}

#[test]
fn a_good_stream_is_read_to_its_end() {
    let records = read_stream(stream(&COLUMNS, 9)).unwrap();
    let flags = TreeFlags { alloc: true, rcu: true };
    assert_eq!(records[0], StreamRecord::Group(0));
    assert_eq!(records[1], StreamRecord::Appear { tree: 3, flags });
    let first = StreamWrite {
        store_type: StoreType::StoreRoot,
        flags,
        null: false,
        bulk: false,
        height: 0,
        span: Span::new(10, 265).unwrap(),
        calculation: Some(Calculation {
            times: 1,
            vacant_height: 0,
            sufficient_height: 0,
            requested: 1,
            requested_6_12: 1,
            asked: Span::new(10, 265).unwrap(),
        }),
        used: Some(Used { taken: 1, handed_back: 0, height: 1 }),
    };
    assert_eq!(records[2], StreamRecord::Write { tree: 3, write: first });
    let StreamRecord::Write { tree: 3, write } = records[3] else { panic!("{:?}", records[3]) };
    assert_eq!((write.store_type, write.null, write.height), (StoreType::Split, true, 2));
    assert_eq!(write.span, Span::new(276, 280).unwrap());
    let calculation = write.calculation.unwrap();
    assert_eq!((calculation.times, calculation.vacant_height, calculation.sufficient_height), (2, 2, 1));
    assert_eq!((calculation.requested, calculation.requested_6_12), (3, 5));
    assert_eq!(calculation.asked, Span::new(277, 278).unwrap());
    assert_eq!(write.used, Some(Used { taken: 3, handed_back: 2, height: 1 }));
    assert_eq!(records[5], StreamRecord::Duplicate { tree: 4, source: 3 });
    let StreamRecord::Write { tree: 4, write } = records[6] else { panic!("{:?}", records[6]) };
    assert_eq!((write.span, write.used), (Span::new(281, 281).unwrap(), None));
    assert_eq!(records[7], StreamRecord::Destroy { tree: 4, entries: 5, digest: (0x80 << 56) | 1 });
    assert_eq!(records[8], StreamRecord::Forget { tree: 3 });
    assert_eq!(records.len(), 9);
}

/// The good stream with another column.
fn with_column(name: &str, bytes: &[u8]) -> Result<Vec<StreamRecord>, TraceError> {
    let replaced = COLUMNS.map(|column| if column.0 == name { (column.0, bytes) } else { column });
    read_stream(stream(&replaced, 9))
}

#[test]
fn malformed_streams_are_errors_with_their_record() {
    let fails = |name: &str, bytes: &[u8], at: u64, words: &str| match with_column(name, bytes) {
        Err(TraceError::Record { record, reason, .. }) => {
            assert!(record == at && reason.contains(words), "record {record}: {reason}");
        }
        other => panic!("{other:?}"),
    };
    fails("op", &[0, 1, 7], 3, "unknown op");
    fails("op", &[0, 1], 3, "column op ends");
    fails("op", &[0, 9], 2, "tree 3 does not exist");
    fails("op", &[0, 1, 1], 3, "tree 3 exists");
    fails("op", &[0, 1, 9, 10, 1, 3, 4, 2, 6, 0], 9, "column op goes on");
    fails("tree", &[1], 1, "no tree has that number");
    fails("meta", &[0x30, 0x3a], 3, "unknown store type");
    fails("meta", &[0x31], 2, "no kind of tree");
    fails("ext", &[1], 1, "unknown group");
    fails("ext", &[0, 0, 0, 3, 2], 4, "not within the range");
    fails("hafter", &[1], 3, "no tree has that height");
    fails("len", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], 3, "passes 2^64");
    fails("len", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 3, "passes 2^64");
    fails("digest", &[1], 8, "column digest ends");
}

#[test]
fn malformed_stream_headers_are_errors_with_their_line() {
    let good = stream(&COLUMNS, 9);
    let with = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&good[..200]).replacen(from, to, 1);
        read_stream([text.as_bytes(), &good[200..]].concat())
    };
    fails_at(read_stream(b"maple-stream 2\n".to_vec()), 1, "of version \"2\"");
    fails_at(read_stream(b"stream 2\n".to_vec()), 1, "not a stream");
    fails_at(with("group 0", "group 1"), 5, "others");
    fails_at(with("column op", "column oops"), 6, "unknown column");
    fails_at(with("column tree", "column op"), 7, "twice");
    fails_at(with("column op 9", "column op 9999999999"), 6, "more than");
    fails_at(with("version", "versions"), 2, "unknown header");
    fails_at(with("records 9\n", ""), 17, "lacks");
    fails_at(read_stream(stream(&COLUMNS[..11], 9)), 17, "lacks");
    fails_at(with("records 9", "records 0"), 18, "lacks");
    let end = stream(&COLUMNS, 9).len();
    fails_at(read_stream(good[..end - 1].to_vec()), 18, "promised");
    fails_at(read_stream([&good[..], b"x\n"].concat()), 19, "after the end");
    fails_at(read_stream(b"maple-stream 1\nversion 1\n".to_vec()), 3, "within its header");
}

const EXAMPLES: &str = "\
example 1
  tree: plain, height 0
  root: empty
  store: entry over 84..85 (after widening to neighbouring NULLs 84..85)
  store_type: store_root   vacant_height 0   sufficient_height 0
  requested: 6.12 1   6.16 1
  used (6.16): nodes taken 1, old nodes handed back for reuse 0, net 1; height after 1

example 2
  tree: alloc_range, height 2
  first depth 0 arange_64 end=1 (used 2 of 10, min_slots 4) offset=0 covers 0..18446744073709551615  vacant:yes sufficient:no
  first depth 1 leaf_64 end=1 (used 2 of 16, min_slots 6) offset=1 covers 0..9
  first leaf slots: 0-4(-) 5-9
  last  depth 0 arange_64 end=1 (used 2 of 10, min_slots 4) offset=1 covers 0..18446744073709551615  vacant:yes sufficient:no
  last  depth 1 leaf_64 end=0 (used 1 of 16, min_slots 6) offset=0 covers 10..18446744073709551615
  last  leaf slots: 10-18446744073709551615
  store: NULL over 5..10 (spanning: not widened)
  store_type: spanning   vacant_height 0   sufficient_height 0
  requested: 6.12 7   6.16 7
  used (6.16): nodes taken 2, old nodes handed back for reuse 3, net -1; height after 2
";

fn read_examples(text: &str) -> Result<Vec<Example>, TraceError> {
    Examples::new(Lines::from_text("file", text))?.collect()
}

#[test]
fn good_examples_are_read_to_the_end() {
    let examples = read_examples(EXAMPLES).unwrap();
    assert_eq!(examples.len(), 2);
    assert_eq!((examples[0].height, examples[0].first.nodes.len(), &examples[0].last), (0, 0, &None));
    assert_eq!(examples[0].widened, Span::new(84, 85));
    let second = &examples[1];
    assert!(second.alloc_tree && second.null && second.widened.is_none());
    assert_eq!((second.store_type, second.requested_6_16), (StoreType::Spanning, 7));
    assert_eq!(second.used, Usage { taken: 2, handed_back: 3, net: -1, height: 2 });
    let root = second.first.nodes[0];
    assert_eq!((root.kind, root.slots, root.min_slots), (NodeKind::Arange64, 10, 4));
    assert_eq!((root.vacant, root.sufficient, root.span), (Some(true), Some(false), Span::ALL));
    let slots = [(0, 4, true), (5, 9, false)];
    let slots = slots.map(|(first, last, null)| LeafSlot { span: Span::new(first, last).unwrap(), null });
    assert_eq!(second.first.leaf, slots);
    assert_eq!(second.last.as_ref().map(|path| path.nodes.len()), Some(2));
}

#[test]
fn malformed_examples_are_errors_with_their_line() {
    let with = |from: &str, to: &str| read_examples(&EXAMPLES.replacen(from, to, 1));
    fails_at(read_examples(""), 1, "no example");
    fails_at(with("example 2", "example 3"), 9, "example 2");
    fails_at(with("plain,", "odd,"), 2, "unknown tree");
    fails_at(with("  root: empty", "  root: full"), 3, "unknown or repeated");
    fails_at(with("entry over", "thing over"), 4, "unknown store of");
    fails_at(with("84..85 (", "85..84 ("), 4, "is empty");
    fails_at(with("store_root", "store_tree"), 5, "unknown store type");
    fails_at(with("6.16 1", "6.16 x"), 6, "unreadable number");
    fails_at(with("net 1", "net 2"), 7, "net is not");
    fails_at(with("  requested: 6.12 1   6.16 1\n", ""), 7, "lacks what was requested");
    fails_at(with("end=1 (used 2 of 10", "end=2 (used 2 of 10"), 11, "contradict");
    fails_at(with("vacant:yes", "vacant:maybe"), 11, "vacant:yes or");
    fails_at(with("covers 0..9", "covers 0..9 vacant:yes sufficient:no"), 12, "inner nodes alone");
    fails_at(with("5-9", "6-9"), 13, "does not follow");
    fails_at(with("first depth 1", "first depth 2"), 12, "does not follow");
    fails_at(with("  last  leaf slots: 10-18446744073709551615\n", ""), 20, "does not lead to a leaf");
    fails_at(read_examples(EXAMPLES.trim_end()), 20, "within this line");
}

#[test]
fn lines_are_written_as_they_are_read() {
    let lines: Vec<&str> = LOG.lines().collect();
    let mut log = Vectors::new(Lines::from_text("file", &good())).unwrap();
    let mut written = 0;
    while let Some(record) = log.next() {
        if let Record::Op(op, expected) = record.unwrap() {
            let line = lines[log.line() as usize - 1];
            assert_eq!(log_line(&op, &expected), Some(format!("{line}\n")), "{op:?}");
            written += 1;
        }
    }
    assert_eq!(written, 35);
    let (end, align) = (End::Lowest, freehold_units::Align::ONE);
    let gap = Op::AlignedGap { end, size: 1, align, window: Span::ALL };
    assert_eq!(log_line(&gap, &Expected { answer: Answer::Gap(Ok(Span::ALL)), loose: false }), None);
    let flags = TreeFlags { alloc: true, rcu: false };
    let text = log_header("one", "tiny", flags) + &log_content(&content()) + "# ops 0\n";
    let read = read(&text).unwrap();
    assert!(matches!(&read[..], [Record::Content { count: 2, entries, .. }] if *entries == content()));
}
