use super::BusyIndex;
use freehold_units::Span;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

/// Drives the index and a `BTreeMap` by the same keys: present ones are removed, absent ones inserted.
fn agrees<const W: usize>(keys: &[u64]) {
    let mut index = BusyIndex::<u64, W>::new().unwrap();
    let mut model = BTreeMap::new();
    for &key in keys {
        let first = key * 4;
        match model.remove(&first) {
            Some(value) => {
                let found = index.find(first).unwrap();
                assert_eq!(index.remove(&found), Some(value));
            }
            None => {
                index.reserve(1).unwrap();
                index.insert(Span::new(first, first + 2).unwrap(), 1, key);
                model.insert(first, key);
            }
        }
        index.validate().unwrap();
        assert!(index.find(first + 1).is_none());
        for probe in [first.saturating_sub(1), first, first + 3, u64::MAX] {
            let expected = model.range(..=probe).next_back().map(|(&first, &value)| (first, value));
            let got = index.at_or_below(probe).and_then(|at| index.entry(at));
            assert_eq!(got.map(|entry| (entry.span.first(), *entry.value)), expected);
        }
    }
    let mut listed = Vec::new();
    let mut at = index.first();
    while let Some(position) = at {
        listed.push(index.entry(position).unwrap().span.first());
        at = index.next(position);
    }
    assert_eq!(listed, model.keys().copied().collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn agrees_with_std_when_narrow(keys in prop::collection::vec(0u64..200, 0..600)) {
        agrees::<4>(&keys);
        agrees::<5>(&keys);
    }

    #[test]
    fn agrees_with_std_as_used(keys in prop::collection::vec(0u64..400, 0..900)) {
        agrees::<{ super::WIDTH }>(&keys);
    }
}

#[test]
fn rising_and_falling_keys_pass_every_height() {
    let up: Vec<u64> = (0..300).collect();
    let down: Vec<u64> = (0..300).rev().collect();
    for (fill, drain) in [(&up, &up), (&up, &down), (&down, &up), (&down, &down)] {
        let keys: Vec<u64> = fill.iter().chain(drain).copied().collect();
        agrees::<4>(&keys);
        agrees::<7>(&keys);
    }
}

#[test]
fn order_of_arrival_fills_leaves() {
    let mut index = BusyIndex::<()>::new().unwrap();
    for first in 0..10_000 {
        index.reserve(1).unwrap();
        index.insert(Span::new(first, first).unwrap(), 0, ());
    }
    assert_eq!(index.leaves.in_use(), 10_000usize.div_ceil(super::WIDTH));
}
