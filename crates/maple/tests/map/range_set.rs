//! Sets of ranges, and maps laid over each other, against one cell for each index.

use freehold_maple::{RangeMap, RangeSet, SortedError, StoreError};
use freehold_units::Span;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

/// The highest indexes of the space, so that its end is met.
const BASE: u64 = u64::MAX - WIDTH as u64 + 1;
const WIDTH: usize = 90;

fn span(first: usize, last: usize) -> Span {
    Span::new(BASE + first as u64, BASE + last as u64).unwrap()
}

/// The runs of equal cells, with what they hold.
fn runs<T: Clone + PartialEq>(cells: &[T]) -> Vec<(Span, T)> {
    let mut runs: Vec<(usize, usize, T)> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        match runs.last_mut() {
            Some((_, last, held)) if held == cell => *last = at,
            _ => runs.push((at, at, cell.clone())),
        }
    }
    runs.into_iter().map(|(first, last, cell)| (span(first, last), cell)).collect()
}

fn ranges(cells: &[bool], wanted: bool) -> Vec<Span> {
    runs(cells).into_iter().filter(|(_, is)| *is == wanted).map(|(span, _)| span).collect()
}

fn check(set: &RangeSet, cells: &[bool]) {
    set.validate().unwrap();
    let wanted = ranges(cells, true);
    assert_eq!(set.iter().collect::<Vec<_>>(), wanted);
    assert!(set.iter().rev().eq(wanted.iter().rev().copied()));
    assert_eq!((set.len(), set.is_empty()), (wanted.len() as u64, wanted.is_empty()));
    assert_eq!((set.first(), set.last()), (wanted.first().copied(), wanted.last().copied()));
    assert!(set.gaps_within(BASE..).eq(ranges(cells, false)));
    assert_eq!(*set, RangeSet::from_sorted(wanted.iter().copied()).unwrap());
    for (at, &is) in cells.iter().enumerate() {
        let index = BASE + at as u64;
        assert_eq!(set.contains(index), is);
        assert_eq!(set.range_at(index), wanted.iter().copied().find(|span| span.contains(index)));
        let window = span(at, (at + 7).min(WIDTH - 1));
        let cells = &cells[at..=(at + 7).min(WIDTH - 1)];
        assert_eq!(
            (set.covers(window), set.is_free(window)),
            (!cells.contains(&false), !cells.contains(&true))
        );
    }
}

/// A set and its cells, of changes that are four bytes each.
fn built(changes: &[[u8; 3]]) -> (RangeSet, Vec<bool>) {
    let (mut set, mut cells) = (RangeSet::new(), vec![false; WIDTH]);
    for &[kind, first, len] in changes {
        let first = first as usize % WIDTH;
        let last = (first + len as usize % 9).min(WIDTH - 1);
        if kind % 3 == 0 {
            set.remove(span(first, last)).unwrap();
        } else {
            cells[first..=last].fill(true);
            let whole = ranges(&cells, true).into_iter().find(|range| range.covers(span(first, last)));
            assert_eq!(set.insert(span(first, last)).ok(), whole);
        }
        cells[first..=last].fill(kind % 3 != 0);
        check(&set, &cells);
    }
    (set, cells)
}

/// A map and its cells: number and value of an entry.
fn map_of(changes: &[[u8; 3]]) -> (RangeMap<u8>, Vec<Option<(usize, u8)>>) {
    let (mut map, mut cells) = (RangeMap::new(), vec![None; WIDTH]);
    for (number, &[value, first, len]) in changes.iter().enumerate() {
        let first = first as usize % WIDTH;
        let last = (first + len as usize % 9).min(WIDTH - 1);
        if cells[first..=last].iter().all(Option::is_none) {
            map.insert(span(first, last), value).unwrap();
            cells[first..=last].fill(Some((number, value)));
        }
    }
    (map, cells)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 100 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sets_agree_with_one_cell_for_each_index(
        a in prop::collection::vec(any::<[u8; 3]>(), 0..(if cfg!(miri) { 6 } else { 40 })),
        b in prop::collection::vec(any::<[u8; 3]>(), 0..(if cfg!(miri) { 6 } else { 40 })),
    ) {
        let ((a, in_a), (b, in_b)) = (built(&a), built(&b));
        let cells = |keeps: fn(bool, bool) -> bool| -> Vec<bool> {
            in_a.iter().zip(&in_b).map(|(&a, &b)| keeps(a, b)).collect()
        };
        check(&a.union(&b).unwrap(), &cells(|a, b| a || b));
        check(&a.intersection(&b).unwrap(), &cells(|a, b| a && b));
        check(&a.difference(&b).unwrap(), &cells(|a, b| a && !b));
        prop_assert_eq!(&a.clone(), &a);
        prop_assert_eq!(a.iter().collect::<RangeSet>(), a);
    }

    #[test]
    fn overlays_agree_with_one_cell_for_each_index(
        a in prop::collection::vec(any::<[u8; 3]>(), 0..(if cfg!(miri) { 6 } else { 40 })),
        b in prop::collection::vec(any::<[u8; 3]>(), 0..(if cfg!(miri) { 6 } else { 40 })),
    ) {
        let ((a, in_a), (b, in_b)) = (map_of(&a), map_of(&b));
        let both: Vec<_> = in_a.iter().copied().zip(in_b.iter().copied()).collect();
        let wanted = runs(&both).into_iter().map(|(span, (a, b))| (span, a.map(|a| a.1), b.map(|b| b.1)));
        let wanted: Vec<_> = wanted.filter(|(_, a, b)| a.is_some() || b.is_some()).collect();
        let union = a.union_with(&b, |span, a, b| (span, a.copied(), b.copied())).unwrap();
        union.validate().unwrap();
        prop_assert!(union.iter().all(|(span, value)| span == value.0));
        prop_assert_eq!(union.into_iter().map(|(_, value)| value).collect::<Vec<_>>(), wanted.clone());
        let common = a.intersection_with(&b, |span, a, b| (span, Some(*a), Some(*b))).unwrap();
        common.validate().unwrap();
        let wanted = wanted.into_iter().filter(|(_, a, b)| a.is_some() && b.is_some());
        prop_assert_eq!(common.into_iter().map(|(_, value)| value).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }
}

#[test]
fn whole_spaces_and_nothing() {
    let (all, none) = (RangeSet::from([..]), RangeSet::new());
    check(&none, &[false; WIDTH]);
    assert_eq!(all.union(&none), Ok(all.clone()));
    assert_eq!(all.intersection(&none), Ok(none.clone()));
    assert_eq!(none.union(&none), Ok(RangeSet::default()));
    let lowest = RangeSet::from([..=0]);
    assert_eq!(all.difference(&lowest), Ok(RangeSet::from([1..])));
    let mut set = all.clone();
    assert_eq!(set.insert(7..7), Err(StoreError::EmptyRange));
    assert_eq!((set.remove(7..7), set.covers(7..7), set.len()), (Ok(()), true, 1));
    set.clear();
    assert_eq!(set, none);
    assert_eq!(format!("{lowest:?}"), "{0x0..=0x0}");
}

#[test]
fn sorted_ranges_that_touch_are_one() {
    let spans = [(0, 3), (4, 4), (6, 7), (8, 9)].map(|(first, last)| span(first, last));
    let set = RangeSet::from_sorted(spans).unwrap();
    assert!(set.iter().eq([span(0, 4), span(6, 9)]));
    for wrong in [[span(4, 6), span(0, 3)], [span(4, 6), span(6, 8)], [span(4, 6), span(5, 5)]] {
        let error = RangeSet::from_sorted(wrong).unwrap_err();
        assert_eq!(error, SortedError::NotSorted { position: 1, span: wrong[1], before: wrong[0] });
        // The same behind two that are joined, and before one that it would be joined with.
        let (low, high) = (span(0, 3), Span::new(wrong[1].last() + 1, span(20, 20).last()).unwrap());
        let error = RangeSet::from_sorted([low, wrong[0], wrong[1], high]).unwrap_err();
        assert_eq!(error, SortedError::NotSorted { position: 2, span: wrong[1], before: wrong[0] });
    }
}

/// By their ranges, whatever the order in which these came; a negative key is below 0.
#[test]
fn maps_and_sets_are_keys_of_stds_maps() {
    let set = |ranges: &[Range<i8>]| ranges.iter().cloned().collect::<RangeSet<i8>>();
    let sets = [&[][..], &[-2..0, 3..4], &[-2..1, 3..4], &[-1..3, 4..6], &[0..3, 4..5]].map(set);
    assert!(sets.is_sorted_by(|one, next| one < next), "{sets:?}");
    let turned: RangeSet<i8> = [4..6, -1..1, 1..3].into_iter().collect();
    assert!(HashSet::from(sets).contains(&turned));
    let map = |value: &'static str| RangeMap::from([(20..29, "b"), (0..9, value)]);
    assert!(map("a") < map("b") && map("b") < RangeMap::from([(0..10, "a")]) && RangeMap::new() < map("a"));
    assert_eq!(map("a").cmp(&RangeMap::from([(0..9, "a"), (20..29, "b")])), Ordering::Equal);
    assert!(HashSet::from([map("a")]).contains(&RangeMap::from([(0..9, "a"), (20..29, "b")])));
    assert_eq!(RangeMap::from([(0..9, f64::NAN)]).partial_cmp(&RangeMap::from([(0..9, 1.0)])), None);
}
