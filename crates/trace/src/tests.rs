//! Lines, fields and headers, which every reader stands on.

use crate::{
    EventReader, EventWriter, Fields, Kind, Lines, TraceError, TraceEvent, TraceHeader, kva, mt, percpu, vma,
};

/// Where and why reading fails.
pub(crate) fn failure<T>(result: Result<T, TraceError>) -> (u64, String) {
    match result {
        Err(TraceError::Line { line, reason, .. }) => (line, reason),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the file is taken for good"),
    }
}

/// Fails at the line, for a reason in which the words stand.
#[track_caller]
pub(crate) fn fails_at<T>(result: Result<T, TraceError>, line: u64, words: &str) {
    let (at, reason) = failure(result);
    assert!(at == line && reason.contains(words), "line {at}: {reason}");
}

#[test]
fn lines_are_numbered_and_must_end() {
    let mut lines = Lines::from_text("name", "one\ntwo\r\n\nfour");
    assert_eq!(lines.advance().unwrap(), Some("one"));
    assert_eq!(lines.advance().unwrap(), Some("two"));
    assert_eq!(lines.number(), 2);
    assert_eq!(lines.require("more").unwrap(), "");
    let (line, text) = failure(lines.advance().map(|_| ()));
    assert_eq!((line, text.as_str()), (4, "the file ends within this line"));
}

#[test]
fn what_must_follow_and_what_must_not() {
    let mut lines = Lines::from_text("name", "one\ntwo\n");
    assert_eq!(failure(lines.finish()), (1, "text after the end".to_owned()));
    lines.advance().unwrap();
    assert_eq!(failure(lines.require("more").map(|_| ())), (3, "more".to_owned()));
    assert!(lines.finish().is_ok());
}

#[test]
fn bytes_follow_text() {
    let mut lines = Lines::from_bytes("name", b"text\n\xff\0rest".to_vec());
    lines.advance().unwrap();
    assert_eq!(lines.bytes(2).unwrap(), [0xff, 0]);
    fails_at(lines.bytes(5), 1, "only 4 follow");
    fails_at(lines.bytes(u64::MAX), 1, "longer than 2097152 lines or 512 MiB");
}

#[test]
fn what_is_no_text_is_an_error() {
    let mut lines = Lines::from_bytes("name", b"good\n\xff\n".to_vec());
    assert!(lines.advance().is_ok());
    assert_eq!(failure(lines.advance().map(|_| ())).0, 2);
    let mut lines = Lines::from_bytes("name", vec![b'a'; 2 << 20]);
    assert_eq!(failure(lines.advance().map(|_| ())), (1, "the line is longer than 1 MiB".to_owned()));
}

/// The reason is in the text alone: whoever shows the sources, too, would say it twice.
#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Lines::open(std::path::Path::new("/nowhere/at/all")).err().unwrap();
    assert!(error.to_string().starts_with("/nowhere/at/all: "), "{error}");
    assert!(std::error::Error::source(&error).is_none());
}

/// A small file can be the compressed form of any number of lines.
#[test]
fn a_file_of_too_many_lines_is_an_error() {
    let file = std::env::temp_dir().join(format!("freehold-lines-{}", std::process::id()));
    std::fs::write(&file, zstd::encode_all(&*header(Kind::Kva).repeat(1 << 19 | 1).into_bytes(), 1).unwrap())
        .unwrap();
    assert!(file.metadata().unwrap().len() < 1 << 20);
    let mut lines = Lines::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let failed = std::iter::repeat_with(|| lines.advance().map(|_| ())).find(Result::is_err).unwrap();
    fails_at(failed, (1 << 21) + 1, "longer than 2097152 lines or 512 MiB: split the file");
}

#[test]
fn what_is_compressed_needs_no_name_that_says_so() {
    let file = std::env::temp_dir().join(format!("freehold-plain-{}", std::process::id()));
    std::fs::write(&file, zstd::encode_all(&b"text\n"[..], 1).unwrap()).unwrap();
    let mut lines = Lines::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(lines.advance().unwrap(), Some("text"));
}

#[test]
fn encodings_and_versions_are_named() {
    let first = |bytes: &[u8]| Lines::from_bytes("name", bytes.to_vec()).advance().map(|_| ());
    fails_at(first(b"\xef\xbb\xbf#vml-trace v1\n"), 1, "byte order mark");
    for utf16 in [&b"\xff\xfe#\0v\0\n\0"[..], b"#\0v\0\n\0", b"\0#\0v\0\n"] {
        fails_at(first(utf16), 1, "UTF-16");
    }
    fails_at(first(b"\xe9t\xe9\n"), 1, "not text in UTF-8");
    fails_at(first(b"\x1f\x8b\x08\0"), 1, "compressed with gzip: unpack it");
    let lossy = |bytes: &[u8]| {
        Lines::from_bytes("name", bytes.to_vec()).lossy().advance().unwrap().map(str::to_owned)
    };
    assert_eq!(lossy(b"\xe9t\xe9\r\n").as_deref(), Some("\u{fffd}t\u{fffd}"));
    assert_eq!(lossy(b""), None);
    let with = |from: &str, to: &str| header(Kind::Kva).replace(from, to);
    let read = |text: &str| TraceHeader::read(&mut Lines::from_text("name", text));
    fails_at(read(&with("ncpu=2", "ncpu=2 ncpu=4")), 1, "ncpu= is there twice");
    fails_at(read(&with("v1", "v3")), 1, "`#vml-trace` of version \"v3\"; this program reads version v2");
    assert!(read(&with("\n", "\r\n")).is_ok());
    let vectors = kva::Vectors::new(Lines::from_text("name", "# kva-vectors 2\n"));
    fails_at(vectors.map(|_| ()), 1, "`# kva-vectors` of version \"2\"; this program reads version 1");
}

#[test]
fn fields_name_what_is_wrong() {
    let mut fields = Fields::new("unit 5 ff  12 x", ' ');
    assert_eq!(fields.named::<u64>("unit"), Ok(5));
    assert_eq!(fields.hex("hash"), Ok(255));
    assert_eq!(fields.optional_align("align"), Ok(None));
    assert!(fields.align("align").unwrap_err().contains("12 is not a power of two"));
    assert!(fields.word("y").is_err());
    assert_eq!(fields.text("more"), Err("more is missing".to_owned()));
    assert!(Fields::new("+f", ' ').hex("number").is_err());
}

fn header(kind: Kind) -> String {
    let (name, columns) = (kind.name(), kind.columns());
    format!(
        "#vml-trace v1 kind={name} kernel=6.18 ncpu=2 pagesize=4096\n#workload w: d\n#lost_records=3\n#{columns}\n"
    )
}

#[test]
fn headers_say_what_is_recorded() {
    let text = header(Kind::Vma).replacen("=4096", "=4096 possible=4", 1);
    let header = TraceHeader::read(&mut Lines::from_text("name", &text)).unwrap();
    let expected = TraceHeader {
        kind: Kind::Vma,
        kernel: "6.18".to_owned(),
        cpus: 2,
        page_bytes: 4096,
        workload: "w".to_owned(),
        description: "d".to_owned(),
        lost_records: 3,
        words: vec![("possible".to_owned(), "4".to_owned())],
    };
    assert_eq!(header, expected);
    assert_eq!((header.word("possible"), header.word("kind")), (Some("4"), None));
}

#[test]
fn malformed_headers_are_errors_with_their_line() {
    let good = header(Kind::Kva);
    let with = |from: &str, to: &str| {
        failure(TraceHeader::read(&mut Lines::from_text("name", &good.replacen(from, to, 1)))).0
    };
    assert_eq!(with("v1", "v3"), 1);
    assert_eq!(with("ncpu=2", "ncpu=4294967296"), 1);
    assert_eq!(with("pagesize", "page"), 1);
    assert_eq!(with("pagesize=4096", "pagesize=0"), 1);
    assert_eq!(with("pagesize=4096", "pagesize=4095"), 1);
    assert_eq!(with("#workload", "#work"), 2);
    assert_eq!(with("=3", "=x"), 3);
    assert_eq!(with("dt_ns", "dt_us"), 4);
    assert_eq!(failure(TraceHeader::read(&mut Lines::from_text("name", ""))).0, 1);
}

#[test]
fn a_trace_of_another_kind_is_refused() {
    let lines = || Lines::from_text("name", &header(Kind::Mt));
    let (line, text) = failure(EventReader::<kva::Event>::new(lines()));
    assert_eq!((line, text.as_str()), (4, "a trace of kind mt, not kva"));
    assert!(mt::Events::new(lines()).unwrap().next().is_none());
}

/// Each line of a file of version 2 is written as it was read.
#[track_caller]
fn written_as_read<E: TraceEvent>(rows: &[&str]) {
    let text = format!(
        "#vml-trace v2 kind={} kernel=6.18 ncpu=2 pagesize=4096 clock=mono possible=4 pools=drained\n#workload w: d e\n\
         #lost_records=3\n#{}\n{}\n",
        E::KIND.name(),
        E::KIND.columns(),
        rows.join("\n")
    );
    let mut events = EventReader::<E>::new(Lines::from_text("name", &text)).unwrap();
    let mut out = Vec::new();
    events.header().write(&mut out).unwrap();
    let mut writer = EventWriter::new(&mut out);
    events.try_for_each(|event| writer.event(&event.unwrap())).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn traces_are_written_as_they_are_read() {
    written_as_read::<kva::Event>(&[
        "0,0,0,I,1,ffffc90000000000,20480,,,,irq_init",
        "0,0,0,L,,ffffc90000158000,20480,,,,1",
        "7,1,12,A,2,ffffc90000e15000,20480,16384,ffffc90000000000,ffffe8ffffffffff,",
        "0,1,12,F,2,ffffc90000e15000,,,,,1987/16384",
        "3,0,0,U,,ffffc90000f00000,,,,,1/16384",
        "3,0,0,G,1,,,,,,",
        "3,0,9,P,,ffffc90000e15000,20480,,,,1",
        "3,0,9,P,,,,,,,0",
        "3,0,9,X,,,20480,16384,ffffc90000000000,ffffe8ffffffffff,",
        "3,0,9,W,,,,,,,start",
        "3,0,9,C,,ffffe8ffffc00000,,,,,",
        "3,0,9,D,,ffffe8ffffc00000,,,,,",
    ]);
    written_as_read::<percpu::Event>(&[
        "91667,0,3424,A,1,0,73208,4,4,0,16,futex_hash_allocate",
        "1,0,3424,A,2,0,73212,4,4,7,,",
        "1,0,3424,F,1,0,73208,,,,,",
        "557752,0,3487,U,,0,114480,,,,,",
        "1,0,3487,X,,,,65536,8,2,,",
        "1,0,3487,C,,1,,,,,,",
    ]);
    written_as_read::<mt::Event>(&[
        "10,0,7,r,mt_find,0,0,ffffffffffffffff,7fffffffe000,7fffffffe000,,",
        "5,1,7,w,mas_store_prealloc,3,0,ffff,10,1f,0,ffff8883c241ce40",
        "5,1,8,o,mas_split,18,0,ffffffffffffffff,0,ffffffffffffffff,,",
    ]);
    written_as_read::<vma::Event>(&[
        "5,0,7,x,,,,,,,,0",
        "5,0,7,k,0,7fd503796000,217088,1,fileS,2,1000,7fd503796000",
        "5,0,7,m,0,0,8192,3,22,0,0,7fd503700000",
        "5,0,7,m,0,0,8192,3,2,-1,1000,-12",
        "5,0,7,u,0,7fd503700000,8192,,,,,0",
        "5,0,7,p,0,7fd503700000,4096,1,,,,0",
        "5,0,7,a,0,7fd503700000,4096,10,,,,0",
        "5,0,7,r,0,7fd503700000,4096,8192,1,,,7fd503600000",
        "5,0,7,r,0,7fd503600000,4096,8192,3,,7fd503500000,7fd503500000",
        "5,0,7,b,0,55a0000,,,,,,55a1000",
        "5,0,7,g,0,1000-7fd503796000,8192,0,1,,0,7fd503700000",
        "5,0,7,f,0,,,8,11,,,1",
        "5,0,7,t,0,,,9,3d0f00,,,0",
        "5,0,9,e,0,,,,,,,0",
        "5,0,7,z,0,,,,,,,",
    ]);
}

#[test]
fn gaps_and_names_of_tasks_stand_among_the_rows() {
    let mut out = header(Kind::Mt).into_bytes();
    let mut writer = EventWriter::new(&mut out);
    writer.lost(Some(7), 1).unwrap();
    writer.lost(None, 0).unwrap();
    writer.task(12, "kworker/1:2-mm percpu\n").unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("# lost 7 cpu 1\n# lost ? cpu 0\n#task 12 kworker/1:2-mm percpu \n"), "{text}");
    assert!(mt::Events::new(Lines::from_text("name", &text)).unwrap().next().is_none());
    for (from, to) in
        [("lost 7", "lost x"), ("cpu 1", "cpu"), ("#task 12", "#task x"), ("# lost 7", "# last 7")]
    {
        let damaged = text.replacen(from, to, 1);
        let read = mt::Events::new(Lines::from_text("name", &damaged)).unwrap().next().unwrap();
        assert!(failure(read).0 >= 5, "{to}");
    }
}
