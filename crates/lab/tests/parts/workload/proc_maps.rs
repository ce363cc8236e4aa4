//! Lists of areas.

use freehold_trace::vma::{Listed, compare};
use std::collections::BTreeSet;

fn listed(text: &str) -> BTreeSet<Listed> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn differences_are_named() {
    let recorded = listed(
        "1000-2000 rw-p 0 00:00 0\n2000-3000 rw-p 0 00:00 0\n4000-5000 r--s 0 00:00 0\n\
         6000-7000 r-xp 0 00:00 0 [vdso]\n9000-b000 rw-p 0 00:00 0",
    );
    let ours = listed(
        "1000-3000 rw-p 0 00:00 0\n4000-5000 r--s 0 00:00 0\n7000-8000 r-xp 0 00:00 0\n\
         9000-a000 rw-p 0 00:00 0\na000-b000 rw-p 0 00:00 0\nc000-d000 ---p 0 00:00 0",
    );
    let (same, differences) = compare(&recorded, &ours);
    let text: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(same, 1);
    assert_eq!(
        text,
        [
            "2 recorded areas are one of ours: 1000-3000 rw-p",
            "recorded alone: 6000-7000 r-xp",
            "ours alone: 7000-8000 r-xp",
            "2 of ours are one recorded area: 9000-b000 rw-p",
            "ours alone: c000-d000 ---p",
        ]
    );
}

#[test]
fn what_is_no_list_is_refused() {
    for text in ["", "1000 rw-p", "2000-1000 rw-p", "1000-2000 rw", "1000-2000-3000 rw-p"] {
        assert!(text.parse::<Listed>().is_err(), "{text:?}");
    }
}
