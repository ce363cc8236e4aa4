//! A map and its model: each operation is done on both, each answer held against the other's, and everything that a map
//! says of itself compared.

use super::model::Model;
use super::ops::{Op, VALUES};
use freehold_maple::word_map::Entry;
use freehold_maple::{AllocError, InsertError, Nodes, Request, WordMap};
use freehold_units::{Align, Span};
use std::sync::Arc;

pub(crate) struct World {
    nodes: Nodes,
    pub(crate) map: WordMap<Arc<u32>>,
    pub(crate) model: Model,
    /// One of each value: the map has clones, and each is counted.
    values: Vec<Arc<u32>>,
}

impl World {
    pub(crate) fn new(nodes: Nodes) -> Self {
        let values = (0..VALUES).map(Arc::new).collect();
        Self { nodes, map: WordMap::with_nodes(nodes), model: Model::default(), values }
    }

    pub(crate) fn value(&self, value: u32) -> Arc<u32> {
        Arc::clone(&self.values[value as usize])
    }

    /// Does an operation on both, and holds the answers against each other.
    pub(crate) fn step(&mut self, op: &Op) {
        let taken = self.map.nodes_taken();
        match op.clone() {
            Op::Store(over, value) => {
                let new = self.value(value);
                let plan = self.map.plan_store(over).unwrap();
                let nodes = plan.nodes();
                plan.commit(new);
                assert_eq!(self.map.nodes_taken() - taken, nodes, "{op:?}");
                self.model.store(over, value);
            }
            Op::Insert(over, value) => {
                let refused = self.map.insert(over, self.value(value)).err().map(|rejected| rejected.cause);
                assert_eq!(refused, self.model.in_the_way(over).map(|entry| InsertError::Occupied { entry }));
                if refused.is_none() {
                    self.model.store(over, value);
                }
            }
            Op::RemoveRange(over) => {
                let plan = self.map.plan_removal(over).unwrap();
                let nodes = plan.nodes();
                plan.commit();
                assert_eq!(self.map.nodes_taken() - taken, nodes, "{op:?}");
                self.model.remove_range(over);
            }
            Op::Take(over, value) => {
                let removed = match value {
                    Some(value) => self.map.replace_range(over, self.value(value)).unwrap(),
                    None => self.map.take_range(over).unwrap(),
                };
                let expected = self.model.within(over);
                assert_eq!(removed.len(), expected.len());
                assert!(removed.map(|(at, value)| (at, *value)).eq(expected));
                match value {
                    Some(value) => self.model.store(over, value),
                    None => self.model.remove_range(over),
                }
            }
            Op::StoreMerging(over, value) => {
                let new = self.value(value);
                let stored = self.map.store_merging(over, new).map_err(|rejected| rejected.cause);
                assert_eq!(stored, Ok(self.model.store_merging(over, value)));
            }
            Op::StoreWith(over, value) => {
                let place = |whole: Span, kept: Span, old: u32| {
                    (((kept.first() - whole.first()) % 100 + u64::from(old)) % u64::from(VALUES)) as u32
                };
                let ends: Vec<_> = [over.first(), over.last()]
                    .into_iter()
                    .zip([Span::below as fn(Span, Span) -> Option<Span>, Span::above])
                    .filter_map(|(index, part)| {
                        let (whole, old) = self.model.at(index)?;
                        let kept = part(whole, whole.intersection(over)?)?;
                        Some((kept, place(whole, kept, old)))
                    })
                    .collect();
                let (new, values) = (self.value(value), self.values.clone());
                let cut = |whole, kept, old: &u32| Arc::clone(&values[place(whole, kept, *old) as usize]);
                self.map.store_with(over, new, cut).unwrap();
                self.model.store(over, value);
                for (kept, value) in ends {
                    self.model.store(kept, value);
                }
            }
            Op::MergeIn(over) => {
                let before = self.model.0.len();
                self.model.merge_in(over);
                assert_eq!(self.map.merge_adjacent_in(over), (before - self.model.0.len()) as u64);
            }
            Op::Erase(index) => {
                let erased = self.map.erase(index).map(|(at, value)| (at, *value));
                assert_eq!(erased, self.model.erase(index));
                assert_eq!(self.map.nodes_taken(), taken, "an erase took a node");
            }
            Op::Entry(over, value) => self.entry(over, value),
            Op::EntryRemove(index) => {
                let removed = match self.map.entry(index) {
                    Entry::Occupied(entry) => Some(entry.remove()),
                    Entry::Vacant(_) => None,
                };
                assert_eq!(removed.map(|(at, value)| (at, *value)), self.model.erase(index));
                assert_eq!(self.map.nodes_taken(), taken, "an erase took a node");
            }
            Op::Alloc { size, align, window, highest, value } => {
                self.alloc(size, align, window, highest, value);
            }
            Op::Cyclic { window, next, value } => self.cyclic(window, next, value),
            Op::Cursor { index, steps, up, value } => self.cursor(index, steps, up, value),
            Op::Transaction { stores, commit } => self.transaction(stores, commit),
            Op::SplitAt { index, upper } => {
                let mut off = self.map.split_at(index).unwrap();
                let mut model_off = self.model.split_at(index);
                if upper {
                    core::mem::swap(&mut off, &mut self.map);
                    core::mem::swap(&mut model_off, &mut self.model);
                }
                compare(&off, &model_off);
            }
            Op::MergeAdjacent => {
                let before = self.model.0.len();
                self.model.merge_adjacent();
                assert_eq!(self.map.merge_adjacent(), (before - self.model.0.len()) as u64);
                assert_eq!(self.map.nodes_taken(), taken, "merging took a node");
            }
            Op::Retain(value) => {
                self.map.retain(|_, kept| *kept != value);
                self.model.0.retain(|&(_, kept)| kept != value);
                assert_eq!(self.map.nodes_taken(), taken, "an erase took a node");
            }
            Op::Rebuild => self.rebuild(),
            Op::Copy => {
                let copy = self.map.clone();
                assert!(copy == self.map);
                self.map = copy;
            }
            Op::Clear => {
                self.map.clear();
                self.model.0.clear();
            }
        }
    }

    fn entry(&mut self, over: Span, value: u32) {
        let new = self.value(value);
        match self.map.entry(over.first()) {
            Entry::Occupied(mut entry) => {
                let (at, old) = self.model.at(over.first()).unwrap();
                assert_eq!((entry.span(), *entry.get()), (at, old));
                assert_eq!(*entry.replace(new), old);
                assert_eq!(*entry.get(), value);
                self.model.store(at, value);
            }
            Entry::Vacant(gap) => {
                assert_eq!((gap.gap(), None), self.model.slot(over.first()));
                let refused = gap.insert(over, new).err().map(|rejected| rejected.cause);
                assert_eq!(refused, self.model.in_the_way(over).map(|entry| InsertError::Occupied { entry }));
                if refused.is_none() {
                    self.model.store(over, value);
                }
            }
        }
    }

    fn alloc(&mut self, size: u64, align: Align, window: Span, highest: bool, value: u32) {
        let request = Request::new(size).align(align).window(window);
        let new = self.value(value);
        let placed = if highest {
            self.map.alloc_highest(&request, new)
        } else {
            self.map.alloc_lowest(&request, new)
        };
        let expected = match size {
            0 => Err(AllocError::ZeroSize),
            _ if u128::from(size) > window.size_bytes() => Err(AllocError::TooLarge { size, window }),
            _ => {
                let found = self.model.find_gap(size, align, window, highest);
                found.ok_or(AllocError::NoSpace { size, align, window })
            }
        };
        assert_eq!(placed.map_err(|rejected| rejected.cause), expected);
        if let Ok(at) = expected {
            self.model.store(at, value);
        }
    }

    fn cyclic(&mut self, window: Span, next: u64, value: u32) {
        let ahead = Span::new(window.first().max(next), window.last());
        let found_ahead = ahead.and_then(|ahead| self.model.find_gap(1, Align::ONE, ahead, false));
        let found = found_ahead.or_else(|| self.model.find_gap(1, Align::ONE, window, false));
        let expected = found.map(|at| (at.first(), found_ahead.is_none()));
        let expected = expected.ok_or(AllocError::NoSpace { size: 1, align: Align::ONE, window });
        let mut after = next;
        let placed = self.map.alloc_cyclic(window, &mut after, self.value(value));
        assert_eq!(placed.map_err(|rejected| rejected.cause), expected);
        assert_eq!(after, found.map_or(next, |at| at.first().wrapping_add(1)));
        if let Some(at) = found {
            self.model.store(at, value);
        }
    }

    fn cursor(&mut self, index: u64, steps: u8, up: bool, value: Option<u32>) {
        let new = value.map(|value| self.value(value));
        let mut at = self.model.slot(index);
        let mut cursor = self.map.cursor_mut(index);
        for _ in 0..steps {
            let next = if up { at.0.last().checked_add(1) } else { at.0.first().checked_sub(1) };
            let expected = next.map(|next| self.model.slot(next));
            let peeked = if up { cursor.peek_next() } else { cursor.peek_prev() };
            assert_eq!(peeked.map(|(span, value)| (span, value.copied())), expected);
            let moved = if up { cursor.move_next() } else { cursor.move_prev() };
            assert_eq!(moved, expected.is_some());
            at = expected.unwrap_or(at);
            assert_eq!((cursor.span(), cursor.value().copied()), at);
        }
        match (value, new) {
            (Some(value), Some(new)) => {
                cursor.store(at.0, new).unwrap();
                assert_eq!((cursor.span(), cursor.value().copied()), (at.0, Some(value)));
                self.model.store(at.0, value);
            }
            _ => {
                let erased = cursor.erase().map(|(span, value)| (span, *value));
                assert_eq!(erased, self.model.erase(at.0.first()));
                assert_eq!((cursor.span(), None), self.model.slot(at.0.first()));
            }
        }
    }

    fn transaction(&mut self, stores: Vec<(Span, Option<u32>)>, commit: bool) {
        let values = self.values.clone();
        let mut after = self.model.clone();
        let mut transaction = self.map.transaction();
        for (over, value) in stores {
            match value {
                Some(value) => {
                    transaction.store(over, Arc::clone(&values[value as usize])).unwrap();
                    after.store(over, value);
                }
                None => {
                    transaction.remove_range(over).unwrap();
                    after.remove_range(over);
                }
            }
            compare(transaction.map(), &after);
        }
        if commit {
            transaction.commit();
            self.model = after;
        }
    }

    /// Every third entry comes from the back.
    fn rebuild(&mut self) {
        let mut entries = core::mem::take(&mut self.map).into_iter();
        assert_eq!(entries.size_hint().0, self.model.0.len());
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for count in 0.. {
            let next = if count % 3 == 2 { entries.next_back() } else { entries.next() };
            match next {
                Some(entry) if count % 3 == 2 => back.push(entry),
                Some(entry) => front.push(entry),
                None => break,
            }
        }
        front.extend(back.into_iter().rev());
        self.map = WordMap::from_sorted_with_nodes(self.nodes, front).unwrap();
    }

    /// Everything that the map says of itself; and each value is in it as often as it is held.
    pub(crate) fn compare(&self) {
        compare(&self.map, &self.model);
        for value in &self.values {
            let entries =
                self.map.iter().filter(|(_, held)| core::ptr::eq(*held, Arc::as_ptr(value))).count();
            assert_eq!(Arc::strong_count(value), 1 + entries, "of value {value}");
        }
    }

    /// What it says of an index and of a window.
    pub(crate) fn compare_at(&self, index: u64, window: Span) {
        let (map, model) = (&self.map, &self.model);
        let part: Vec<_> =
            map.range(window.first()..=window.last()).map(|(at, value)| (at, *value)).collect();
        let expected: Vec<_> = model.0.iter().copied().filter(|(at, _)| at.overlaps(window)).collect();
        assert_eq!(part, expected);
        let clipped: Vec<_> = model.gaps().into_iter().filter_map(|gap| gap.intersection(window)).collect();
        assert!(map.gaps_within(window).eq(clipped.iter().copied()));
        assert!(map.gaps_within(window).rev().eq(clipped.iter().rev().copied()));
        let below = model.0.iter().rfind(|(at, _)| at.first() < index);
        assert_eq!(map.last_before(index).map(|(at, value)| (at, *value)), below.copied());
        assert_eq!(map.get(index).copied(), model.at(index).map(|(_, value)| value));
        let (span, value) = map.slot_at(index);
        assert_eq!((span, value.copied()), model.slot(index));
        let mut cursor = map.cursor(index);
        let next = model.0.iter().find(|(at, _)| at.first() > span.last());
        assert_eq!(cursor.next_entry().map(|(at, value)| (at, *value)), next.copied());
        cursor.seek(index);
        let before = model.0.iter().rfind(|(at, _)| at.last() < span.first());
        assert_eq!(cursor.prev_entry().map(|(at, value)| (at, *value)), before.copied());
        assert_eq!(cursor.span(), before.map_or(span, |&(at, _)| at), "without an entry it stays");
    }
}

fn compare(map: &WordMap<Arc<u32>>, model: &Model) {
    map.validate().unwrap();
    assert_eq!(map.len(), model.0.len() as u64);
    assert!(map.iter().map(|(at, value)| (at, *value)).eq(model.0.iter().copied()));
    assert!(map.iter().rev().map(|(at, value)| (at, *value)).eq(model.0.iter().rev().copied()));
    let gaps = model.gaps();
    assert!(map.gaps(..).eq(gaps.iter().copied()));
    assert!(map.gaps(..).rev().eq(gaps.iter().rev().copied()));
}

/// Runs operations, and compares after each.
pub(crate) fn run(nodes: Nodes, ops: &[Op], width: u64) {
    let mut world = World::new(nodes);
    for (at, op) in ops.iter().enumerate() {
        world.step(op);
        world.compare();
        let index = super::ops::index((at % 256) as u8, width);
        let window = Span::new(index.min(width), index.max(width)).unwrap_or(Span::ALL);
        world.compare_at(index, window);
    }
    let World { map, values, .. } = world;
    // By value, and only in part.
    let mut entries = map.into_iter();
    entries.next();
    entries.next_back();
    drop(entries);
    assert!(values.iter().all(|value| Arc::strong_count(value) == 1), "a value is held by nobody");
}
