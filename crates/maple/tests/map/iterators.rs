//! Every iterator of the maps with one owner, from both ends in many orders: each entry or gap once and in order, and then none.
//! Mutable references are written through while all are held, so that Miri sees whether two are to one value; it looks at nothing
//! else here, since nothing else is `unsafe`.

use crate::ends::{few_orders, orders};
use crate::layouts::{ALL, Bounds, bounds, gaps_of, layouts, sizes, within};
use freehold_maple::{Nodes, RangeMap, WordMap};
use freehold_units::Span;
use std::sync::Arc;

/// A map of each kind with the same entries, whose values are numbers.
struct Maps {
    spans: Vec<Span>,
    words: WordMap<u64>,
    /// Filled from the last entry to the first: its leaves are other ones than those of `words`, which are built at once.
    ranges: RangeMap<u64>,
}

impl Maps {
    fn new(nodes: Nodes, spans: &[Span]) -> Self {
        let words = WordMap::from_sorted_with_nodes(nodes, spans.iter().copied().zip(100..)).unwrap();
        let mut ranges = RangeMap::with_nodes(nodes);
        for (span, value) in words.iter().rev() {
            ranges.insert(span, value).unwrap();
        }
        Self { spans: spans.to_vec(), words, ranges }
    }

    /// The entries within some bounds.
    fn entries(&self, bounds: &Bounds) -> Vec<(Span, u64)> {
        let passed = self.spans.partition_point(|span| span.last() < *bounds.start());
        within(&self.spans, bounds).into_iter().zip(100 + passed as u64..).collect()
    }
}

/// Maps of all sizes and layouts, on small nodes and on full ones.
fn for_all_maps(check: impl Fn(Maps)) {
    for nodes in [Nodes::Small, Nodes::Full] {
        for spans in sizes().into_iter().flat_map(layouts) {
            check(Maps::new(nodes, &spans));
        }
    }
}

fn entry((span, value): (Span, &u64)) -> (Span, u64) {
    (span, *value)
}

/// Writes through each of the references while all are held.
fn write_all<'a>(held: impl IntoIterator<Item = &'a mut u64>, wanted: &[(Span, u64)]) {
    let mut held: Vec<&mut u64> = held.into_iter().collect();
    held.iter_mut().for_each(|value| **value += 1000);
    held.iter_mut().for_each(|value| **value -= 1000);
    assert!(held.iter().map(|value| **value).eq(wanted.iter().map(|&(_, value)| value)));
}

#[test]
fn whole_maps() {
    for_all_maps(|mut maps| {
        let wanted = maps.entries(&ALL);
        for order in orders(wanted.len()) {
            write_all(order.take(maps.ranges.values_mut(), wanted.len()), &wanted);
            let held = order.take(maps.ranges.iter_mut(), wanted.len());
            assert!(held.iter().map(|(span, _)| span).eq(&maps.spans));
            write_all(held.into_iter().map(|(_, value)| value), &wanted);
            if cfg!(miri) {
                continue;
            }
            order.check(maps.words.iter(), &wanted);
            order.check(maps.ranges.iter().map(entry), &wanted);
            order.check(maps.ranges.spans(), &maps.spans);
            let values = order.take(maps.ranges.values(), wanted.len());
            assert!(values.into_iter().eq(wanted.iter().map(|(_, value)| value)));
        }
        if cfg!(miri) {
            return;
        }
        let gaps = gaps_of(&maps.spans);
        for order in orders(gaps.len()) {
            order.check(maps.words.gaps(..), &gaps);
            order.check(maps.ranges.gaps(..), &gaps);
        }
    });
}

#[test]
fn bounds_within_entries_and_gaps() {
    for_all_maps(|mut maps| {
        let gaps = gaps_of(&maps.spans);
        // Under Miri, which is slow, every third of them.
        for bounds in bounds(&maps.spans).into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
            let wanted = maps.entries(&bounds);
            for order in few_orders(wanted.len()) {
                let held = order.take(maps.ranges.range_mut(bounds.clone()), wanted.len());
                assert!(held.iter().map(|(span, _)| span).eq(wanted.iter().map(|(span, _)| span)));
                write_all(held.into_iter().map(|(_, value)| value), &wanted);
                if cfg!(miri) {
                    continue;
                }
                order.check(maps.words.range(bounds.clone()), &wanted);
                order.check(maps.ranges.range(bounds.clone()).map(entry), &wanted);
            }
            if cfg!(miri) {
                continue;
            }
            let gaps = within(&gaps, &bounds);
            for order in few_orders(gaps.len()) {
                order.check(maps.words.gaps(bounds.clone()), &gaps);
                order.check(maps.ranges.gaps(bounds.clone()), &gaps);
            }
        }
    });
}

#[test]
fn entries_that_are_moved_out() {
    for_all_maps(|maps| {
        let wanted = maps.entries(&ALL);
        for order in few_orders(wanted.len()) {
            let words = maps.words.try_clone().unwrap();
            assert_eq!(order.take_exact(words.into_iter(), wanted.len()), wanted);
            assert_eq!(order.take_exact(maps.ranges.clone().into_iter(), wanted.len()), wanted);
        }
        for bounds in bounds(&maps.spans) {
            let cut = |(span, value): (Span, u64)| {
                (Span::from_bounds(&bounds).unwrap().intersection(span).unwrap(), value)
            };
            let wanted: Vec<_> = maps.entries(&bounds).into_iter().map(cut).collect();
            for order in few_orders(wanted.len()).into_iter().step_by(7) {
                let (mut words, mut ranges) = (maps.words.try_clone().unwrap(), maps.ranges.clone());
                assert_eq!(order.take_exact(words.take_range(bounds.clone()).unwrap(), wanted.len()), wanted);
                assert_eq!(
                    order.take_exact(ranges.take_range(bounds.clone()).unwrap(), wanted.len()),
                    wanted
                );
                assert!(words.is_free(bounds.clone()) && ranges.is_free(bounds.clone()));
            }
        }
    });
}

/// What was given is its taker's, and what is left is dropped with the iterator: each value once.
#[test]
fn entries_that_are_left() {
    let spans = layouts(if cfg!(miri) { 21 } else { 60 }).swap_remove(0);
    let values: Vec<Arc<usize>> = (0..spans.len()).map(Arc::new).collect();
    let entries = || spans.iter().copied().zip(values.iter().cloned());
    let words = || WordMap::from_sorted_with_nodes(Nodes::Small, entries()).unwrap();
    let ranges = || RangeMap::from_sorted(entries()).unwrap();
    for order in few_orders(spans.len()) {
        for given in if cfg!(miri) { vec![16] } else { vec![0, 1, 16, spans.len()] } {
            let mut iters: [Box<dyn DoubleEndedIterator<Item = (Span, Arc<usize>)>>; 4] = [
                Box::new(words().into_iter()),
                Box::new(ranges().into_iter()),
                Box::new(words().take_range(..).unwrap()),
                Box::new(ranges().take_range(..).unwrap()),
            ];
            let held = iters.each_mut().map(|iter| order.begin(iter, given));
            assert!(values.iter().all(|value| Arc::strong_count(value) == 5));
            drop(iters);
            for held in held {
                assert_eq!(held.len(), given);
                drop(held);
            }
            assert!(values.iter().all(|value| Arc::strong_count(value) == 1));
        }
    }
}

/// Iterators show what is left in them, but for those of mutable references, which are held elsewhere.
#[test]
fn what_debug_shows() {
    let entries = [(1..3, 7), (5..6, 8)];
    let mut ranges = RangeMap::from(entries.clone());
    let words: WordMap<u64> =
        entries.map(|(range, value)| (Span::try_from(range).unwrap(), value)).into_iter().collect();
    let left = "[(0x5..=0x5, 8)]";
    let (mut of_words, mut of_ranges) = (words.iter(), ranges.iter());
    assert_eq!(of_words.next().map(|(at, _)| at), of_ranges.next().map(|(at, _)| at));
    assert_eq!([format!("{of_words:?}"), format!("{of_ranges:?}")], [left; 2]);
    assert_eq!(format!("{:?} {:?}", ranges.spans(), ranges.values()), "[0x1..=0x2, 0x5..=0x5] [7, 8]");
    let gaps = "[0x0..=0x0, 0x3..=0x4]";
    assert_eq!([format!("{:?}", words.gaps(..6)), format!("{:?}", ranges.gaps_within(..5))], [gaps; 2]);
    assert_eq!(format!("{words:?}"), format!("{ranges:?}"));
    assert_eq!(format!("{:?}", ranges.iter_mut()), "IterMut { .. }");
    assert_eq!(format!("{:?}", ranges.values_mut()), "ValuesMut { .. }");
    assert_eq!(format!("{:?}", ranges.into_iter()), "IntoIter { left: 2, .. }");
}
