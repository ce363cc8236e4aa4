//! Small files of every kind, good and bad.

use super::*;
use crate::tests::fails_at;
use crate::{Lines, TraceError, TraceEvent};
use freehold_units::Span;

const VECTORS: &str = "\
# kva-vectors 1
name small
unit 4096
init 0 16
zone z0 0 16
cols k l
every 2
begin
a 4 1 z0 L0 =
a 4 1 0:6 -!1 L8
f 0 0N
f 1 .P
D k 1 16 16 00ff 0a 1 0+16
D l 0 0 0 1f -
end 4
";

fn read(text: &str) -> Result<Vec<Record>, TraceError> {
    Vectors::new(Lines::from_text("file", text))?.collect()
}

#[test]
fn a_good_file_is_read_to_its_end() {
    let records = read(VECTORS).unwrap();
    assert_eq!(records.len(), 6);
    let Record::Op(op, answers) = &records[1] else { panic!("{:?}", records[1]) };
    assert!(matches!(op, Op::Alloc { object: 1, size_bytes: 16384, .. }));
    let [Expected::Alloc(linux), Expected::Alloc(lowest)] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((linux.start, linux.lowest), (None, Some(4096)));
    assert_eq!((lowest.start, lowest.letters.as_str()), (Some(32768), "L"));
    let Record::Op(Op::Free { object: 1 }, answers) = &records[3] else { panic!("{:?}", records[3]) };
    assert_eq!(answers[0], Expected::Free(ExpectedFree { letters: None }));
}

#[test]
fn malformed_vectors_are_errors_with_their_line() {
    let with = |from: &str, to: &str| read(&VECTORS.replacen(from, to, 1));
    fails_at(read(""), 1, "not kva vectors");
    fails_at(with("init 0 16", "init 16 16"), 4, "is empty");
    fails_at(with("cols k l", "cols k q"), 6, "unknown column");
    fails_at(with("every 2", "always 2"), 7, "unknown header");
    fails_at(with("unit 4096\n", ""), 3, "before the unit");
    fails_at(with("unit 4096\n", "unit 4096\nunit 1\n"), 4, "a second unit");
    fails_at(with("a 4 1 z0 L0 =", "a +4 1 z0 L0 ="), 9, "unreadable");
    fails_at(with("a 4 1 z0 L0 =", "a 4 1 z1 L0 ="), 9, "unknown zone");
    fails_at(with("a 4 1 z0 L0 =", "a 4 3 z0 L0 ="), 9, "power of two");
    fails_at(with("a 4 1 z0 L0 =", "a 4 1 z0 L0"), 9, "ANS is missing");
    fails_at(with("a 4 1 z0 L0 =", "a 4 1 z0 L0 L+"), 9, "without a previous");
    fails_at(with("f 0 0N", "f 2 0N"), 11, "never allocated");
    fails_at(with("f 0 0N", "f 0 0"), 11, "merge letter is missing");
    fails_at(with("f 1 .P", "f 1 PP"), 12, "stands where");
    fails_at(with("end 4", "end 5"), 15, "has 4");
    fails_at(with("end 4\n", ""), 15, "cut off");
    fails_at(read(&format!("{VECTORS}f 0 0N\n")), 16, "after the end");
}

const TRACE: &str = "\
#vml-trace v1 kind=kva kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux
0,0,0,I,1,10000,4096,,,,caller
5,0,7,A,2,20000,8192,4096,10000,40000,
5,0,7,F,1,10000,4096,,,,0/100
5,0,7,P,,10000,4096,,,,1
";

fn replay(text: &str) -> Result<Recording, TraceError> {
    Recording::from_events(Events::new(Lines::from_text("file", text))?)
}

#[test]
fn a_recording_starts_with_what_was_live() {
    let recording = replay(TRACE).unwrap();
    assert_eq!((recording.ops.len(), recording.initial), (3, 1));
    assert_eq!(recording.at_ns, [0, 5, 10]);
    assert_eq!(recording.space, Span::new(0x10000, 0x3ffff).unwrap());
    assert_eq!(recording.skipped, [(EventKind::Purge, 1)].into());
}

#[test]
fn a_window_may_reach_to_the_last_address() {
    let text = TRACE.replace("10000,40000", "10000,0");
    let mut events = Events::new(Lines::from_text("file", &text)).unwrap();
    let event = events.nth(1).unwrap().unwrap();
    assert_eq!(event.window, Span::new(0x10000, u64::MAX));
    let mut written = Vec::new();
    TraceEvent::write(&event, &mut written).unwrap();
    assert!(text.contains(std::str::from_utf8(&written).unwrap()));
    assert_eq!(replay(&text).unwrap().space, event.window.unwrap());
}

#[test]
fn frees_alone_are_a_recording() {
    let header: String = TRACE.lines().take(4).map(|line| format!("{line}\n")).collect();
    let recording = replay(&(header + "5,0,7,U,,10000,,,,,0/100\n5,0,7,F,1,20000,,,,,0/100\n")).unwrap();
    assert!(recording.ops.is_empty());
    assert_eq!(recording.skipped, [(EventKind::FreeUnknown, 2)].into());
}

#[test]
fn malformed_traces_are_errors_with_their_line() {
    let with = |from: &str, to: &str| replay(&TRACE.replacen(from, to, 1));
    fails_at(with("I,1,", "I,,"), 5, "a field that is needed is missing");
    fails_at(with(",A,2", ",B,2"), 6, "unknown op");
    fails_at(with("10000,40000", "40000,40000"), 6, "window is empty");
    fails_at(with("8192,4096", "8192,4095"), 6, "power of two");
    fails_at(with("F,1,10000,4096,,,,0/100", "F,1,10000,4096,,,"), 7, "aux is missing");
    fails_at(with("P,,10000,4096", "P,,10000,-1"), 8, "unreadable");
    let twice = with("5,0,7,A,2,", "0,0,0,I,9,f000,8192,,,,\n5,0,7,A,2,");
    fails_at(twice, 6, "0xf000..=0x10fff is live at the start, and so is 0x10000..=0x10fff");
}
