//! Lines, fields and headers, which every reader stands on.

use crate::{EventReader, Fields, Kind, Lines, TraceError, TraceHeader, kva, mt};

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
    let with = |from: &str, to: &str| header(Kind::Kva).replace(from, to);
    let read = |text: &str| TraceHeader::read(&mut Lines::from_text("name", text));
    fails_at(read(&with("v1", "v2")), 1, "`#vml-trace` of version \"v2\"; this program reads version v1");
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
    let header = TraceHeader::read(&mut Lines::from_text("name", &header(Kind::Vma))).unwrap();
    let expected = TraceHeader {
        kind: Kind::Vma,
        kernel: "6.18".to_owned(),
        cpus: 2,
        page_bytes: 4096,
        workload: "w".to_owned(),
        description: "d".to_owned(),
        lost_records: 3,
        words: Vec::new(),
    };
    assert_eq!(header, expected);
}

#[test]
fn malformed_headers_are_errors_with_their_line() {
    let good = header(Kind::Kva);
    let with = |from: &str, to: &str| {
        failure(TraceHeader::read(&mut Lines::from_text("name", &good.replacen(from, to, 1)))).0
    };
    assert_eq!(with("v1", "v2"), 1);
    assert_eq!(with("ncpu=2", "ncpu=4294967296"), 1);
    assert_eq!(with("pagesize", "page"), 1);
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
