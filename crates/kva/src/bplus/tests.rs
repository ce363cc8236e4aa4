use super::{Columns, Nothing, Summaries, Tree, array};
use crate::OutOfMemory;
use crate::arena::Link;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

/// One column of values, for a tree of width `W`.
#[derive(Clone, Debug)]
struct Values<const W: usize>([u64; W]);

impl<const W: usize> Columns for Values<W> {
    type Key = u64;
    type Item = u64;
    fn empty() -> Self {
        Self([0; W])
    }
    fn insert(&mut self, len: usize, at: usize, item: u64) {
        array::insert(&mut self.0, len, at, item);
    }
    fn remove(&mut self, len: usize, at: usize) -> u64 {
        array::remove(&mut self.0, len, at)
    }
    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        array::move_tail(&self.0, len, keep, &mut right.0, right_len);
    }
    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        array::move_head(&mut self.0, len, count, &mut right.0, right_len);
    }
}

impl<const W: usize> Values<W> {
    fn largest(&self, len: usize) -> u64 {
        self.0[..len].iter().copied().max().unwrap_or(0)
    }
}

/// The largest value below each child.
#[derive(Clone, Debug, Default)]
struct Largest<const W: usize>(Vec<Values<W>>);

impl<const W: usize> Largest<W> {
    fn row(&mut self, node: Link) -> &mut Values<W> {
        &mut self.0[node.number() as usize]
    }
}

impl<const W: usize> Summaries<Values<W>> for Largest<W> {
    type One = u64;
    fn reserve(&mut self, nodes: usize) -> Result<(), OutOfMemory> {
        self.0.resize(nodes, Values::empty());
        Ok(())
    }
    fn bytes(&self) -> usize {
        0
    }
    fn of_leaf(&self, keys: &[u64], columns: &Values<W>) -> u64 {
        columns.largest(keys.len())
    }
    fn get(&self, node: Link, at: usize) -> u64 {
        self.0[node.number() as usize].0[at]
    }
    fn set(&mut self, node: Link, at: usize, one: u64) {
        self.row(node).0[at] = one;
    }
    fn total(&self, node: Link, len: usize) -> u64 {
        self.0[node.number() as usize].largest(len)
    }
    fn insert(&mut self, node: Link, len: usize, at: usize, one: u64) {
        self.row(node).insert(len, at, one);
    }
    fn remove(&mut self, node: Link, len: usize, at: usize) {
        self.row(node).remove(len, at);
    }
    fn move_tail(&mut self, node: Link, len: usize, keep: usize, right: Link, right_len: usize) {
        let mut moved = self.row(right).clone();
        self.row(node).move_tail(len, keep, &mut moved, right_len);
        *self.row(right) = moved;
    }
    fn move_head(&mut self, node: Link, len: usize, count: usize, right: Link, right_len: usize) {
        let mut moved = self.row(right).clone();
        self.row(node).move_head(len, count, &mut moved, right_len);
        *self.row(right) = moved;
    }
}

/// Drives a tree and a `BTreeMap` by the same keys: present ones are removed, absent ones inserted.
fn agrees<const W: usize>(keys: &[u64]) {
    let mut tree = Tree::<Values<W>, Largest<W>, W, W>::new(Largest::default()).unwrap();
    let mut model = BTreeMap::new();
    for &key in keys {
        let value = key * 7 % 64;
        if model.remove(&key).is_some() {
            let found = tree.find(key).unwrap();
            let (item, removed) = tree.remove(found);
            assert_eq!(item, value);
            if removed == super::Removed::InPlace {
                tree.refresh_leaf(found.way());
            }
        } else {
            tree.reserve(1).unwrap();
            let way = tree.way_to(key);
            let at = tree.leaves[way.end()].first_above(key);
            if tree.insert_at(way, at, key, value) == super::Inserted::InPlace {
                tree.refresh_leaf(way);
            }
            model.insert(key, value);
        }
        tree.validate().unwrap();
        for probe in [key.saturating_sub(1), key, key + 1, u64::MAX] {
            let expected = model.range(..=probe).next_back().map(|(&key, _)| key);
            assert_eq!(tree.at_or_below(probe).and_then(|at| tree.key(at)), expected);
            assert_eq!(tree.find(probe).is_some(), model.contains_key(&probe));
        }
    }
    let mut listed = Vec::new();
    let mut at = tree.first();
    while let Some(position) = at {
        listed.push((tree.key(position).unwrap(), tree.columns(position).0[position.at]));
        at = tree.next(position);
    }
    assert_eq!(listed, model.into_iter().collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn agrees_with_std_when_narrow(keys in prop::collection::vec(0u64..200, 0..600)) {
        agrees::<4>(&keys);
        agrees::<5>(&keys);
    }

    #[test]
    fn agrees_with_std_as_used(keys in prop::collection::vec(0u64..400, 0..900)) {
        agrees::<32>(&keys);
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
    let mut tree = Tree::<Nothing<u64>, Nothing<u64>>::new(Nothing::NEW).unwrap();
    for key in 0..10_000 {
        tree.reserve(1).unwrap();
        tree.insert(tree.way_to(key), key, ());
    }
    assert_eq!(tree.leaves.in_use(), 10_000usize.div_ceil(super::LEAF_WIDTH));
}
