//! `validate` sees sets that no call makes.

use super::RangeSet;
use crate::key::Key;
use crate::map::WordMap;
use freehold_units::Span;

/// The invariant that a set of these ranges breaks.
fn broken<K: Key>(ranges: &[(u64, u64)]) -> Option<&'static str> {
    let ranges = ranges.iter().map(|&(first, last)| (Span::new(first, last).unwrap(), ()));
    let set = RangeSet::<K>::of_ranges(WordMap::from_sorted(ranges).unwrap());
    set.validate().err().map(|broken| broken.invariant)
}

#[test]
fn ranges_that_touch_and_words_without_a_key_are_seen() {
    assert_eq!(broken::<u8>(&[(0, 9), (11, 255)]), None);
    assert_eq!(broken::<u8>(&[(0, 9), (10, 20)]), Some("M13"));
    assert_eq!(broken::<u8>(&[(0, 9), (200, 256)]), Some("M14"));
}
