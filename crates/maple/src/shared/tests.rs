//! Readers that are stopped between any two loads, on trees of three and four levels. Each answer must have been true
//! at some moment since the reader began. Mutants of the writer must be caught.

#![allow(clippy::unwrap_used, reason = "a test stops at once")]

#[path = "../../tests/common/model.rs"]
#[allow(dead_code, reason = "other tests ask more of it")]
mod model;

use super::arena::PublishedLeaf;
use super::view::Walk;
use super::{MapleTree, Reading, Reclaim};
use crate::node::Nodes;
use crate::tree::{ReadLeaf, SHARES_EQUAL_COPIES, indexes};
use core::sync::atomic::Ordering;
use freehold_rcu::Domain;
use freehold_units::Span;
use model::Model;
use std::sync::Arc;
use std::vec::Vec;

/// From one entry to the next.
const STRIDE: u64 = 10;

type Map = MapleTree<u32>;

/// A store, or a removal.
type Op = (Span, Option<u32>);

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

/// A map of `entries` entries on small nodes, with gaps between them if `gaps`, and its model.
fn filled(entries: u64, gaps: bool) -> (Map, Model) {
    let (map, mut model) = (Map::with_nodes(Nodes::Small), Model::default());
    for at in 0..entries {
        let first = STRIDE * at;
        apply(&map, &mut model, (span(first, first + if gaps { 6 } else { STRIDE - 1 }), Some(at as u32)));
    }
    (map, model)
}

fn apply(map: &Map, model: &mut Model, (over, value): Op) {
    match value {
        Some(value) => {
            map.store(over, value).unwrap();
            model.store(over, value);
        }
        None => {
            map.remove_range(over).unwrap();
            model.remove_range(over);
        }
    }
}

/// A look-up that has gone some steps: down to its leaf, and then to its slot's word.
struct Reader<'r> {
    reading: &'r Reading<'r, u32>,
    walk: Walk,
    found: Option<(PublishedLeaf<'r>, Span)>,
    index: u64,
    answer: Option<(Span, Option<u32>)>,
}

impl<'r> Reader<'r> {
    fn new(reading: &'r Reading<'r, u32>, index: u64, steps: usize) -> Self {
        let mut reader = Self { reading, walk: reading.view().walk(), found: None, index, answer: None };
        reader.go(steps);
        reader
    }

    fn go(&mut self, steps: usize) {
        for _ in 0..steps {
            if let Some((leaf, whole)) = self.found {
                let slot = leaf.shape().slot_of(self.index);
                let (first, last) = leaf.shape().span(slot, whole);
                let value = || leaf.entry(slot).map(|word| self.reading.borrow(word));
                self.answer.get_or_insert_with(|| (indexes(first, last), value()));
            } else {
                self.found = self.reading.view().step(&mut self.walk, self.index);
            }
        }
    }
}

/// How the test makes a store.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    /// As a map does.
    Whole,
    /// In two steps, which readers see separately.
    InTwo,
}

/// Runs readers of all indexes for some steps, then the first store, more steps, the second store, and the rest.
/// Returns how many answers were never true.
fn wrong_answers(entries: u64, gaps: bool, ops: [Op; 2], indexes: &[u64], writer: Writer) -> usize {
    let (map, mut model) = filled(entries, gaps);
    let height = map.height();
    let reading = map.read();
    let readers = indexes.iter().flat_map(|&index| {
        let most = height + 1;
        let stops = (0..=most).flat_map(move |first| (0..=most - first).map(move |second| (first, second)));
        stops.map(move |(first, second)| (index, first, second))
    });
    let mut readers: Vec<_> =
        readers.map(|(index, first, second)| (Reader::new(&reading, index, first), second)).collect();
    let slots = |model: &Model| indexes.iter().map(|&index| model.slot(index)).collect::<Vec<_>>();
    let mut moments = std::vec![slots(&model)];
    for op in ops {
        if writer == Writer::InTwo {
            map.remove_range(op.0).unwrap();
            readers.iter_mut().for_each(|(reader, _)| reader.go(1));
        }
        apply(&map, &mut model, op);
        moments.push(slots(&model));
        readers.iter_mut().for_each(|(reader, steps)| reader.go(std::mem::take(steps)));
    }
    map.validate().unwrap();
    let was_so = |reader: &Reader<'_>| {
        let place = indexes.iter().position(|&index| index == reader.index).unwrap();
        moments.iter().any(|moment| Some(moment[place]) == reader.answer)
    };
    readers.iter_mut().for_each(|(reader, _)| reader.go(height + 2));
    readers.iter().filter(|(reader, _)| !was_so(reader)).count()
}

/// Whether no reader is wrong, for any pair of stores and removals between some indexes.
fn all_are_right(entries: u64, gaps: bool, ends: &[u64], writer: Writer) -> bool {
    let spans: Vec<_> = ends
        .iter()
        .enumerate()
        .flat_map(|(at, &first)| ends[at..].iter().map(move |&last| span(first, last)))
        .collect();
    let ops = |value: u32| spans.iter().flat_map(move |&over| [(over, Some(value)), (over, None)]);
    let mut pairs = ops(1 << 20).flat_map(|first| ops(1 << 21).map(move |second| [first, second]));
    pairs.all(|ops| wrong_answers(entries, gaps, ops, ends, writer) == 0)
}

/// Indexes around the edge between the root's first two children. Of the last entry before it and the first after it:
/// the first index, the last, and two between. Keeps each `every`th.
fn ends(entries: u64, gaps: bool, every: usize) -> Vec<u64> {
    let (map, _) = filled(entries, gaps);
    let writer = map.lock();
    let edge = writer.tree.inner(writer.tree.base().root).pivot(0) / STRIDE;
    let offs = if gaps { [0, 2, 3, 6] } else { [0, 2, 3, 9] };
    (edge - 1..=edge + 1).flat_map(|at| offs.map(|off| STRIDE * at + off)).step_by(every).collect()
}

#[test]
fn every_answer_was_so_at_some_moment() {
    // Only a few under Miri, which takes a second for each tree.
    let trees: &[_] = if cfg!(miri) { &[(20, 3, 12)] } else { &[(64, 3, 1), (240, 4, 3)] };
    for &(entries, height, every) in trees {
        for gaps in if cfg!(miri) { [true].as_slice() } else { &[true, false] } {
            assert!(filled(entries, *gaps).0.height() >= height);
            let ends = ends(entries, *gaps, every);
            assert!(all_are_right(entries, *gaps, &ends, Writer::Whole), "{entries} entries, gaps: {gaps}");
        }
    }
}

/// A store that appears in two steps is caught.
#[test]
#[cfg_attr(miri, ignore = "it looks at no memory that the others do not")]
fn a_store_in_two_steps_is_caught() {
    assert!(!all_are_right(48, true, &ends(48, true, 3), Writer::InTwo));
}

/// The nodes after a store that ends in the first slot of a node keep their content, though their first index moves. A
/// writer that shares them between the old tree and the new one is caught: the next store changes a link or a word in
/// such a node, and a reader of the old tree takes it for the old content.
#[test]
#[cfg_attr(miri, ignore = "it looks at no memory that the others do not")]
fn a_node_whose_indexes_change_and_which_is_shared_is_caught() {
    SHARES_EQUAL_COPIES.set(true);
    let right = [64, 12].map(|entries| {
        let ends = ends(entries, false, 1);
        (filled(entries, false).0.height(), all_are_right(entries, false, &ends, Writer::Whole))
    });
    SHARES_EQUAL_COPIES.set(false);
    assert_eq!(right, [(3, false), (2, false)]);
}

/// [`MapleTree::drop_leftovers`] takes no lock if nothing is left.
#[test]
fn a_map_knows_when_nothing_is_left_to_drop() {
    type Shared = MapleTree<Arc<u32>>;
    let drops: [fn(&Shared); 2] = [Shared::drop_leftovers, |map| assert_eq!(map.reclaim(), Ok(0))];
    for drop_all in drops {
        let map: Shared = Shared::builder().domain(Domain::new()).reclaim(Reclaim::Prompt).build();
        map.store(span(0, 9), Arc::new(1)).unwrap();
        let reading = map.read();
        map.erase(5).unwrap();
        drop(reading);
        assert!(map.has_leftovers.load(Ordering::Relaxed));
        drop_all(&map);
        assert!(!map.has_leftovers.load(Ordering::Relaxed));
    }
}

/// A thread with one transaction after the other lets a waiting thread in.
#[test]
fn a_thread_that_waits_is_the_next_to_write() {
    let map = Map::new();
    let first = map.transaction();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| map.store(span(0, 9), 1).unwrap());
        while map.lock().next.is_none() {
            std::thread::yield_now();
        }
        first.commit();
        // Waits, although no transaction is open.
        let second = map.transaction();
        assert_eq!(second.get(5), Some(1));
        drop(second);
        waiting.join().unwrap();
    });
    let turn = map.lock().turn();
    assert_eq!((turn, map.validate()), ((None, None), Ok(())));
}
