//! Small files, good and bad.

use super::*;
use crate::tests::fails_at;
use crate::{Lines, TraceError};

const TRACE: &str = "\
#vml-trace v1 kind=mt kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,fn,node,min,max,index,last,piv,val
10,0,7,r,mt_find,0,0,ffffffffffffffff,7fffffffe000,7fffffffe000,,
5,1,7,w,mas_store_prealloc,3,0,ffff,10,1f,0,ffff8883c241ce40
5,1,8,o,mas_split,18,0,ffffffffffffffff,0,ffffffffffffffff,,
";

fn read(text: &str) -> Result<Vec<Event>, TraceError> {
    Events::new(Lines::from_text("file", text))?.collect()
}

#[track_caller]
fn changed_fails_at(from: &str, to: &str, line: u64, words: &str) {
    fails_at(read(&TRACE.replacen(from, to, 1)), line, words);
}

#[test]
fn a_good_file_is_read_to_its_end() {
    let events = read(TRACE).unwrap();
    assert_eq!(events.len(), 3);
    assert_eq!((events[0].action, events[0].function.as_str()), (Action::Read, "mt_find"));
    let write = &events[1];
    assert_eq!((write.stamp.at_ns, write.stamp.cpu, write.stamp.tid, write.node), (15, 1, 7, 3));
    assert_eq!(write.action, Action::Write { pivot: 0, value: 0xffff_8883_c241_ce40 });
    assert_eq!((write.node_span, write.span), (Span::new(0, 0xffff).unwrap(), Span::new(16, 31).unwrap()));
    assert_eq!((events[2].action, events[2].span), (Action::Restructure, Span::ALL));
}

#[test]
fn malformed_lines_are_errors_with_their_line() {
    changed_fails_at("kind=mt", "kind=vma", 4, "columns");
    changed_fails_at(",r,mt", ",q,mt", 5, "unknown op");
    changed_fails_at("7fffffffe000,,", "7fffffffe000,", 5, "val is missing");
    changed_fails_at("7fffffffe000,,", "7fffffffe000,,1", 5, "belong to writes");
    changed_fails_at(",0,ffff8883c241ce40", ",,", 6, "belong to writes");
    changed_fails_at("10,1f", "20,1f", 6, "is above last");
    changed_fails_at("10,1f", "10,1g", 6, "not hexadecimal");
    changed_fails_at(",3,0,ffff", ",-3,0,ffff", 6, "unreadable");
    changed_fails_at("ffffffffffffffff,,\n", "1ffffffffffffffff,,\n", 7, "not hexadecimal");
    changed_fails_at("ffffffffffffffff,,\n", "ffffffffffffffff,,,\n", 7, "at the end");
}
