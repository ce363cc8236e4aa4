//! Small files, good and bad.

use super::*;
use crate::tests::fails_at;
use crate::{Lines, TraceError};

const TRACE: &str = "\
#vml-trace v1 kind=vma kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,mm,addr,len,prot,flags,file,off_or_newaddr,ret
10,0,7,x,,,,,,,,0
1,0,7,k,0,7ffea21ca000,135168,3,stack,0,0,7ffea21ca000
1,0,7,k,0,400000,4096,5,fileS,2,1000,400000
1,0,7,m,0,0,217088,3,22,-1,0,-12
1,0,7,g,0,1000-7f821fa19000,217088,fff,1,,1000,7f821f9e4000
1,0,7,u,0,400000,4096,,,,,0
1,0,7,p,0,400000,4096,1,,,,0
1,0,7,r,0,400000,4096,8192,1,,,500000
1,0,7,b,0,0,,,,,,555555576000
1,0,7,a,0,400000,4096,14,,,,-22
1,0,7,f,0,,,8,1200000,,,12
1,0,7,t,12,,,9,3d0f00,,,c
1,0,9,e,12,,,,,,,0
1,0,7,z,12,,,,,,,
";

fn read(text: &str) -> Result<Vec<Event>, TraceError> {
    Events::new(Lines::from_text("file", text))?.collect()
}

#[track_caller]
fn changed_fails_at(from: &str, to: &str, line: u64, words: &str) {
    fails_at(read(&TRACE.replacen(from, to, 1)), line, words);
}

#[test]
fn every_op_is_read() {
    let events = read(TRACE).unwrap();
    assert_eq!((events[0].stamp.at_ns, events[0].space), (10, None));
    assert_eq!((events[13].stamp.at_ns, events[13].space, events[13].stamp.tid), (23, Some(12), 7));
    let actions: Vec<Action> = events.into_iter().map(|event| event.action).collect();
    let (address, len_bytes) = (0x40_0000, 4096);
    let segment = Mapping {
        address,
        len_bytes,
        prot: 5,
        source: MappingSource::File,
        shared: true,
        backing: Backing::File(2),
        offset_bytes: 4096,
    };
    let stack = Mapping {
        address: 0x7ffe_a21c_a000,
        len_bytes: 135_168,
        prot: 3,
        source: MappingSource::Stack,
        shared: false,
        backing: Backing::Anonymous,
        offset_bytes: 0,
    };
    let expected = [
        Action::Exec { new_space: 0 },
        Action::KernelMap(stack),
        Action::KernelMap(segment),
        Action::Map {
            address: 0,
            len_bytes: 217_088,
            prot: 3,
            flags: 0x22,
            backing: Backing::Unknown,
            offset_bytes: 0,
            outcome: Err(Errno(12)),
        },
        Action::GapSearch {
            low: 0x1000,
            high: 0x7f82_1fa1_9000,
            len_bytes: 217_088,
            align_mask: 0xfff,
            top_down: true,
            align_offset: 0x1000,
            outcome: Ok(0x7f82_1f9e_4000),
        },
        Action::Unmap { address, len_bytes, outcome: Ok(0) },
        Action::Protect { address, len_bytes, prot: 1, outcome: Ok(0) },
        Action::Remap {
            address,
            old_len_bytes: 4096,
            new_len_bytes: 8192,
            flags: 1,
            new_address: None,
            outcome: Ok(0x50_0000),
        },
        Action::Break { request: 0, outcome: Ok(0x5555_5557_6000) },
        Action::Advise { address, len_bytes, advice: 14, outcome: Err(Errno(22)) },
        Action::Fork { child: 8, flags: 0x120_0000, new_space: 12 },
        Action::Thread { child: 9, flags: 0x3d_0f00 },
        Action::Exit { last: false },
        Action::Destroy,
    ];
    assert_eq!(actions, expected);
}

#[test]
fn malformed_lines_are_errors_with_their_line() {
    changed_fails_at("kind=vma", "kind=pcpu", 4, "columns");
    changed_fails_at(",x,,", ",y,,", 5, "unknown op");
    changed_fails_at(",x,,,,,,,,0", ",x,,,,,,,0", 5, "off must be empty");
    changed_fails_at(",x,,,,,,,,0", ",x,,,,,,,", 5, "ret is missing");
    changed_fails_at(",x,,,,,,,,0", ",x,,,,,,,,0,0", 5, "at the end");
    changed_fails_at("stack", "heap", 6, "unknown source");
    changed_fails_at("0,0,7ffea21ca000", "0,0,7ffea21cb000", 6, "not the mapping's address");
    changed_fails_at("fileS,2", "fileS,-2", 7, "file is unreadable");
    changed_fails_at(",m,0,", ",m,,", 8, "mm is empty");
    changed_fails_at(",-12\n", ",-0\n", 8, "no error");
    changed_fails_at(",-12\n", ",-4096\n", 8, "no error");
    changed_fails_at("1000-7f821fa19000", "1000", 9, "hi is missing");
    changed_fails_at("fff,1,,", "fff,2,,", 9, "flags is 0 or 1");
    changed_fails_at("u,0,400000,4096,,", "u,0,400000,4096,3,", 10, "prot must be empty");
    changed_fails_at("p,0,400000,4096,1", "p,0,400000,18446744073709551616,1", 11, "unreadable");
    changed_fails_at("9,3d0f00,,,c", "9,3d0f00,,,12", 16, "creator's space");
    changed_fails_at("e,12,,,,,,,0", "e,12,,,,,,,2", 17, "0 or 1");
    changed_fails_at("z,12,,,,,,,", "z,12,,,,,,,0", 18, "ret must be empty");
}

#[test]
fn a_number_of_a_space_takes_no_more_memory_than_there_are_lines() {
    let file = std::env::temp_dir().join(format!("freehold-spaces-{}.csv", std::process::id()));
    let read = |from: &str, to: &str| {
        std::fs::write(&file, TRACE.replacen(from, to, 1)).unwrap();
        Recording::read(&file).map(drop)
    };
    for (from, to, line) in [
        ("7,k,0,400000", "7,k,4294967295,400000", 7),
        ("1200000,,,12", "1200000,,,4294967295", 15),
        (",x,,,,,,,,0", ",x,,,,,,,,1044", 5),
    ] {
        fails_at(read(from, to), line, "spaces are numbered from 0 without holes");
    }
    read(",x,,,,,,,,0", ",x,,,,,,,,1043").unwrap();
    std::fs::remove_file(&file).unwrap();
}
