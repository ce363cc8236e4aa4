//! Every short string of operations on a few indexes, both ends of the space among them, on nodes as small as can be:
//! from nothing, and from trees of two and three levels.

use crate::common::model::Model;
use freehold_maple::{Nodes, WordMap};
use freehold_units::Span;

type Map = WordMap<u32>;

#[derive(Clone, Copy, Debug)]
enum Op {
    Store(Span),
    RemoveRange(Span),
    Erase(u64),
}

/// Stores over all ranges between some indexes, erasing and cutting at each.
fn alphabet(indexes: &[u64]) -> Vec<Op> {
    let ranges = indexes.iter().enumerate().flat_map(|(at, &first)| {
        indexes[at..].iter().map(move |&last| Op::Store(Span::new(first, last).unwrap()))
    });
    let ones = indexes.iter().map(|&index| Op::RemoveRange(Span::new(index, index).unwrap()));
    let whole = indexes.iter().map(|&index| Op::Erase(index));
    ranges.chain(ones).chain(whole).collect()
}

struct Search {
    alphabet: Vec<Op>,
    ops: Vec<Op>,
    strings: u64,
}

impl Search {
    fn extend(&mut self, map: &Map, model: &Model, length: usize) {
        if self.ops.len() == length {
            self.strings += 1;
            return;
        }
        for at in 0..self.alphabet.len() {
            let op = self.alphabet[at];
            let (mut map, mut model) = (map.clone(), model.clone());
            self.ops.push(op);
            self.step(&mut map, &mut model, op);
            self.extend(&map, &model, length);
            self.ops.pop();
        }
    }

    fn step(&self, map: &mut Map, model: &mut Model, op: Op) {
        // Neighbours are told apart by when they came.
        let value = 1000 + self.ops.len() as u32;
        match op {
            Op::Store(over) => {
                map.store(over, value).unwrap();
                model.store(over, value);
            }
            Op::RemoveRange(over) => {
                map.remove_range(over).unwrap();
                model.remove_range(over);
            }
            Op::Erase(index) => {
                assert_eq!(map.erase(index), model.erase(index), "at the end of {:?}", self.ops)
            }
        }
        let same = map.iter().eq(model.0.iter().copied()) && map.gaps(..).eq(model.gaps());
        assert!(same, "{map:?} is not {model:?} at the end of {:?}", self.ops);
        let valid = map.validate();
        assert!(valid.is_ok(), "{valid:?} at the end of {:?}", self.ops);
    }
}

/// All strings from a map of these entries. Returns how many there were.
fn search(indexes: &[u64], start: &[(Span, u32)], length: usize) -> u64 {
    let map = Map::from_sorted_with_nodes(Nodes::Small, start.iter().copied());
    let mut search = Search { alphabet: alphabet(indexes), ops: Vec::new(), strings: 0 };
    search.extend(&map.unwrap(), &Model(start.to_vec()), length);
    search.strings
}

const TOP: u64 = u64::MAX;

#[test]
fn four_operations_from_nothing() {
    let length = if cfg!(miri) { 1 } else { 4 };
    let strings = search(&[0, 1, 2, 3, TOP - 1, TOP], &[], length);
    assert_eq!(strings, 33u64.pow(length as u32));
}

#[test]
fn five_operations_from_nothing() {
    let length = if cfg!(miri) { 1 } else { 5 };
    let strings = search(&[0, 1, TOP], &[], length);
    assert_eq!(strings, 12u64.pow(length as u32));
}

/// Entries of two indexes that touch, from 0 on and up to the last index.
fn dense(count: u64) -> Vec<(Span, u32)> {
    let low = (0..count / 2).map(|at| Span::new(2 * at, 2 * at + 1).unwrap());
    let high = (0..count / 2).rev().map(|at| Span::new(TOP - 2 * at - 1, TOP - 2 * at).unwrap());
    low.chain(high).zip(0..).collect()
}

/// Entries of two indexes with as many between them.
fn with_gaps(count: u64) -> Vec<(Span, u32)> {
    (0..count).map(|at| Span::new(4 * at + 1, 4 * at + 2).unwrap()).zip(0..).collect()
}

#[test]
fn two_operations_on_trees_of_some_height() {
    let starts = [(with_gaps(10), 41), (dense(14), 11), (dense(40), 39), (with_gaps(40), 160)];
    for (start, far) in starts.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
        let height = Map::from_sorted_with_nodes(Nodes::Small, start.iter().copied()).unwrap().height();
        assert!(height >= 2, "{height}");
        let length = if cfg!(miri) { 1 } else { 2 };
        // In an entry, at its end, in the next leaf, far away, at the end of the space.
        let mut indexes = [0, 1, 4, 5, 8, 9, 13, 22, far, TOP - 9, TOP - 1, TOP];
        indexes.sort_unstable();
        // Under Miri, which is slow, every third.
        let indexes: Vec<u64> = indexes.into_iter().step_by(if cfg!(miri) { 3 } else { 1 }).collect();
        assert!(search(&indexes, &start, length) > if cfg!(miri) { 17 } else { 90 });
    }
}
