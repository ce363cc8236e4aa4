//! Kinds of areas.

use freehold_trace::vma::{Change, Kind, Kinds, Shown};

#[test]
fn pieces_of_one_mapping_are_of_one_kind() {
    let file = |address, offset| Kind::new(5, false, Shown::File(3), address, offset);
    assert_eq!(file(0x1000, 0x4000), file(0x2000, 0x5000));
    assert_ne!(file(0x1000, 0x4000), file(0x2000, 0x4000));
    let memory = |address| Kind::new(3, false, Shown::Memory, address, 0);
    assert_eq!(memory(0x1000), memory(0x9000));
    let mut kinds = Kinds::default();
    let there = kinds.number(memory(0x1000));
    let moved = kinds.changed(there, Change::Move(0x1000));
    assert_ne!(moved, there, "moved memory does not continue what is there");
    assert_eq!(kinds.changed(moved, Change::Move(0u64.wrapping_sub(0x1000))), there);
}

#[test]
fn advice_is_taken_back_by_its_opposite() {
    let mut kinds = Kinds::default();
    let plain = kinds.number(Kind::new(3, false, Shown::Memory, 0, 0));
    let mut changed = |kind, advice| kinds.changed(kind, Change::Advise(advice));
    for (on, off) in [(1, 0), (2, 0), (10, 11), (12, 13), (16, 17), (18, 19)] {
        let advised = changed(plain, on);
        assert_ne!(advised, plain);
        assert_eq!(changed(advised, off), plain);
    }
    assert_ne!(changed(plain, 14), changed(plain, 15));
    let kept = changed(plain, 10);
    let inherited = |kind| kinds.get(kind).is_some_and(Kind::is_inherited);
    assert!(inherited(plain) && !inherited(kept));
}
