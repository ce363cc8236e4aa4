//! The same calls of this crate and of the crate rangemap have the same answers.

use core::ops::{Range, RangeInclusive};
use proptest::prelude::*;

/// The two crates' maps and sets of one form of range, driven by the same calls.
macro_rules! same {
    ($test:ident, $map:ident, $set:ident, $range:ty, $key:ty, $of:expr, $empty:expr) => {
        proptest! {
            #[test]
            fn $test(calls in prop::collection::vec((0..3u8, 0..60i32, 0..12i32, 0..3u8), 0..60)) {
                let of: fn(i32, i32) -> $range = $of;
                let (mut ours, mut theirs) = (rangemap::$map::new(), original::$map::new());
                let (mut set, mut original_set) = (rangemap::$set::new(), original::$set::new());
                for (kind, first, len, value) in calls {
                    let range = of(first, first + len);
                    if kind == 0 {
                        ours.remove(range.clone());
                        theirs.remove(range.clone());
                        set.remove(range.clone());
                        original_set.remove(range.clone());
                    } else {
                        ours.insert(range.clone(), value);
                        theirs.insert(range.clone(), value);
                        set.insert(range.clone());
                        original_set.insert(range.clone());
                    }
                    let all: Vec<_> = theirs.iter().map(|(range, value)| (range.clone(), value)).collect();
                    prop_assert!(ours.iter().eq(all.iter().cloned()) && ours.iter().rev().eq(all.iter().cloned().rev()));
                    prop_assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
                    prop_assert_eq!(format!("{ours:?} {set:?}"), format!("{theirs:?} {original_set:?}"));
                    prop_assert!(set.iter().eq(original_set.iter().cloned()));
                    // Also a range without keys, in the middle of another.
                    for (at, window) in [range, of(10, 40), $empty(first)].into_iter().enumerate() {
                        let key: $key = (first + at as i32) as $key;
                        prop_assert_eq!(ours.get(&key), theirs.get(&key));
                        let pair = theirs.get_key_value(&key).map(|(range, value)| (range.clone(), value));
                        prop_assert_eq!(ours.get_key_value(&key), pair);
                        prop_assert_eq!(ours.contains_key(&key), theirs.contains_key(&key));
                        prop_assert_eq!(set.get(&key), original_set.get(&key).cloned());
                        prop_assert!(ours.gaps(&window).eq(theirs.gaps(&window)));
                        prop_assert!(set.gaps(&window).eq(original_set.gaps(&window)));
                        let cloned = |(range, value): (&$range, _)| (range.clone(), value);
                        prop_assert!(ours.overlapping(&window).eq(theirs.overlapping(&window).map(cloned)));
                        prop_assert!(ours.overlapping(&window).rev().eq(theirs.overlapping(&window).rev().map(cloned)));
                        prop_assert_eq!(ours.overlaps(&window), theirs.overlaps(&window));
                        prop_assert!(set.overlapping(&window).eq(original_set.overlapping(&window).cloned()));
                    }
                    let ends = (theirs.first_range_value().map(|(range, value)| (range.clone(), value)),
                        theirs.last_range_value().map(|(range, value)| (range.clone(), value)));
                    prop_assert_eq!((ours.first_range_value(), ours.last_range_value()), ends);
                    prop_assert_eq!((set.first(), set.last()), (original_set.first().cloned(), original_set.last().cloned()));
                }
                let other = [of(3, 9), of(20, 35), of(50, 58)];
                let (both, original_both) = (rangemap::$set::from(other.clone()), original::$set::from(other));
                prop_assert!(set.intersection(&both).eq(original_set.intersection(&original_both)));
                prop_assert!((&set & &both).iter().eq((&original_set & &original_both).iter().cloned()));
                prop_assert!((&set | &both).iter().eq((&original_set | &original_both).iter().cloned()));
                prop_assert!(ours.clone() == ours && ours.clone().into_iter().eq(theirs.clone()));
                prop_assert!(ours == theirs.into_iter().collect());
                prop_assert_eq!(ours.cmp(&rangemap::$map::new()).is_gt(), !ours.is_empty());
                ours.clear();
                prop_assert!(ours == rangemap::$map::default());
            }
        }
    };
}

same! { half_open_u32, RangeMap, RangeSet, Range<u32>, u32, |a, b| a as u32..b as u32 + 1, |at| at as u32..at as u32 }
same! { half_open_i64, RangeMap, RangeSet, Range<i64>, i64, |a, b| i64::from(a) - 30..i64::from(b) - 29, |at| i64::from(at) - 30..i64::from(at) - 30 }
same! {
    inclusive_u8, RangeInclusiveMap, RangeInclusiveSet, RangeInclusive<u8>, u8,
    // Up to the last key of all.
    |a, b| (a + 184) as u8..=(b + 184) as u8, empty_inclusive
}
same! { inclusive_u64, RangeInclusiveMap, RangeInclusiveSet, RangeInclusive<u64>, u64, |a, b| a as u64..=b as u64, empty_wide }

#[allow(clippy::reversed_empty_ranges, reason = "it is tested what an empty range finds")]
fn empty_inclusive(at: i32) -> RangeInclusive<u8> {
    (at + 185) as u8..=(at + 184) as u8
}

#[allow(clippy::reversed_empty_ranges, reason = "it is tested what an empty range finds")]
fn empty_wide(at: i32) -> RangeInclusive<u64> {
    at as u64 + 1..=at as u64
}

/// An address as programs have it: made of a `u64`, with a signed difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Address(u64);

impl From<u64> for Address {
    fn from(word: u64) -> Self {
        Self(word)
    }
}

impl From<i64> for Address {
    fn from(word: i64) -> Self {
        Self(word as u64)
    }
}

impl core::ops::Sub for Address {
    type Output = i64;

    fn sub(self, other: Self) -> i64 {
        if self.0 > other.0 { (self.0 - other.0) as i64 } else { -((other.0 - self.0) as i64) }
    }
}

#[test]
fn addresses_have_words_up_to_the_last() {
    let mut map = rangemap::RangeMap::new();
    for at in [0, 1 << 32, 1 << 63, u64::MAX - 9] {
        map.insert(Address(at)..Address(at + 9), at);
    }
    assert!(
        map.iter().eq(map
            .clone()
            .into_iter()
            .collect::<Vec<_>>()
            .iter()
            .map(|(range, value)| (range.clone(), value)))
    );
    assert_eq!(
        map.get_key_value(&Address(u64::MAX - 1)),
        Some((Address(u64::MAX - 9)..Address(u64::MAX), &(u64::MAX - 9)))
    );
    assert_eq!(map.get(&Address(u64::MAX)), None);
    let all = Address(0)..Address(u64::MAX);
    assert_eq!(map.gaps(&all).next(), Some(Address(9)..Address(1 << 32)));
}
