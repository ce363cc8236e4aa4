//! Transactions of the shared map: readers see all stores or none; what is dropped has changed nothing; what fails inside leaves
//! the stores before.

use crate::common::{
    Map, Model, Random, STRIDE, alone, beside_others, compare, ends, filled, filled_with, span,
};
use crate::fuse::{DROP_CALLS, DROP_PANICS, Fuse, SPLIT_PANICS};
use freehold_maple::maple_tree::{MapleTree, Snapshot, Transaction, WriteError};
use freehold_maple::{Nodes, Plain, PlainValue};
use freehold_units::Span;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

/// One store inside, of a value that is one of `values`; the answers are the model's.
fn step(inside: &mut Transaction<'_, Arc<u32>>, model: &mut Model, over: Span, kind: u64, value: &Arc<u32>) {
    match kind {
        0 => {
            inside.remove_range(over).unwrap();
            model.remove_range(over);
        }
        1 => {
            let in_the_way = model.in_the_way(over);
            match inside.insert(over, Arc::clone(value)) {
                Ok(()) => {
                    assert_eq!(in_the_way, None);
                    model.store(over, **value);
                }
                Err(refused) => {
                    assert!(Arc::ptr_eq(&refused.value, value));
                    assert_eq!(refused.cause, WriteError::Occupied { entry: in_the_way.unwrap() });
                }
            }
        }
        2 => {
            let refused = inside.store(over.first()..over.first(), Arc::clone(value)).unwrap_err();
            assert_eq!(refused.cause, WriteError::EmptyRange);
            inside.remove_range(over.first()..over.first()).unwrap();
        }
        _ => {
            inside.store(over, Arc::clone(value)).unwrap_or_else(|refused| panic!("{:?}", refused.cause));
            model.store(over, **value);
        }
    }
}

fn is_so(map: &Map, model: &Model, indexes: &[u64]) {
    let reading = map.read();
    assert!(reading.iter().map(|(at, value)| (at, *value)).eq(model.0.iter().copied()));
    for &index in indexes {
        let (at, value) = reading.slot_at(index);
        assert_eq!((at, value.copied()), model.slot(index));
        assert_eq!(reading.get(index).copied(), model.at(index).map(|(_, value)| value));
    }
}

/// What a dropped transaction may not change. Values and nodes that wait may come back, which polls do.
fn held(map: &Map, values: &[Arc<u32>]) -> (u64, [u64; 2], usize, Vec<usize>) {
    let stats = map.backlog();
    let counts = values.iter().map(Arc::strong_count).collect();
    (stats.polls, [stats.retired, stats.held as u64], map.nodes(), counts)
}

/// Transactions of 1 to 30 stores, committed or dropped, beside snapshots.
#[test]
fn random_transactions() {
    let _alone = alone();
    let (rounds, entries) = if cfg!(miri) { (4, 12) } else { (900, 60) };
    let width = STRIDE * entries;
    let values: Vec<_> = (0..8).map(|at| Arc::new(10_000 + at)).collect();
    let mut random = Random(3);
    let mut unpolled = 0;
    for nodes in [Nodes::Small, Nodes::Full] {
        let (map, mut model) = filled_with(nodes, entries, true);
        let mut snapshots: Vec<(Snapshot<'_, Arc<u32>>, Model)> = Vec::new();
        for round in 0..rounds {
            if random.below(4) == 0 {
                snapshots.push((map.snapshot().unwrap(), model.clone()));
            }
            // A transaction begins with these.
            map.drop_leftovers();
            let before = held(&map, &values);
            let mut expected = model.clone();
            let mut inside = map.transaction();
            for _ in 0..=random.below(30) {
                let (over, value) = (random.span(width), &values[random.below(8) as usize]);
                step(&mut inside, &mut expected, over, random.below(6), value);
                let indexes = [over.first(), over.last(), random.below(width)];
                for index in indexes {
                    let (at, value) = inside.slot_at(index);
                    assert_eq!((at, value.copied()), expected.slot(index));
                    assert_eq!(inside.get(index).copied(), expected.at(index).map(|(_, value)| value));
                }
                is_so(&map, &model, &indexes);
            }
            let commits = random.below(3) > 0;
            if commits {
                inside.commit();
                model = expected;
            } else {
                drop(inside);
                let after = held(&map, &values);
                assert_eq!(before.1[0], after.1[0], "something was retired");
                if before.0 == after.0 {
                    unpolled += 1;
                    assert_eq!(before, after);
                }
            }
            is_so(&map, &model, &[]);
            if round % 10 == 0 {
                compare(&map, &model);
            }
            for (snapshot, was) in &snapshots {
                let index = random.below(width);
                let (at, value) = snapshot.slot_at(index);
                assert_eq!((at, value.copied()), was.slot(index));
            }
            if snapshots.len() > random.below(8) as usize {
                let (snapshot, was) = snapshots.swap_remove(0);
                assert!(snapshot.iter().map(|(at, value)| (at, *value)).eq(was.0.iter().copied()));
                assert!(snapshot.gaps(..).eq(was.gaps()));
            }
        }
        drop(snapshots);
        compare(&map, &model);
    }
    assert!(values.iter().all(|value| Arc::strong_count(value) == 1), "a value was lost or leaked");
    assert!(cfg!(miri) || unpolled > 100, "{unpolled}");
}

/// A transaction that takes a tree down to nothing, and builds it again, several times over.
#[test]
fn transactions_through_an_empty_map() {
    let _alone = alone();
    let value = Arc::new(1);
    for entries in if cfg!(miri) { 11..13 } else { 0..80 } {
        for commits in [true, false] {
            let (map, mut model) = filled(entries, entries % 2 == 0);
            let mut expected = model.clone();
            let mut inside = map.transaction();
            for turn in 0..3 {
                step(&mut inside, &mut expected, Span::ALL, 0, &value);
                assert_eq!(inside.slot_at(5), (Span::ALL, None));
                for at in 0..entries * turn {
                    step(&mut inside, &mut expected, span(at * 4, at * 4 + 1), 1, &value);
                }
            }
            is_so(&map, &model, &[0, 5, STRIDE * entries]);
            if commits {
                inside.commit();
                model = expected;
            } else {
                drop(inside);
            }
            compare(&map, &model);
            drop(map);
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }
}

/// Edges that a transaction moves, and moves back: no node is shared whose indexes are not what they were.
#[test]
fn edges_that_move_and_come_back() {
    let _beside_others = beside_others();
    let entries = if cfg!(miri) { 12 } else { 48 };
    let every = if cfg!(miri) { 40 } else { 1 };
    for at in (1..entries).step_by(every) {
        for (before, behind) in [(25, 3), (3, 25), (4, 4), (70, 70), (9, 0), (0, 9)] {
            let (map, mut model) = filled(entries, false);
            let reading = map.read();
            let mut iter = reading.iter();
            let was = model.clone();
            let middle = STRIDE * at;
            let mut inside = map.transaction();
            let over = span(middle.saturating_sub(before), middle + behind);
            let restored: Vec<_> = model.within(over);
            step(&mut inside, &mut model, over, 3, &Arc::new(5));
            step(&mut inside, &mut model, over, 0, &Arc::new(5));
            for &(at, value) in &restored {
                step(&mut inside, &mut model, at, 3, &Arc::new(value));
            }
            let first = iter.next().map(|(at, value)| (at, *value));
            inside.commit();
            assert_eq!(first, was.0.first().copied());
            is_so(&map, &model, &[0, middle, over.first(), over.last(), over.last() + 1]);
            // Stores into what may still be shared, and a reader of it.
            for index in [over.first(), over.last() + 1] {
                map.store(span(index, index), Arc::new(6)).unwrap();
                model.store(span(index, index), 6);
            }
            let ends: Vec<_> = iter.collect();
            assert!(ends.windows(2).all(|two| two[0].0.last() < two[1].0.last()));
            drop(reading);
            compare(&map, &model);
        }
    }
}

/// Forty entries that touch, and an `Arc` of each value.
fn fuses() -> (MapleTree<Fuse>, Vec<Arc<u32>>) {
    let values: Vec<_> = (0..=40).map(Arc::new).collect();
    let map = MapleTree::with_nodes(Nodes::Small);
    for (at, value) in (0..40).zip(&values) {
        map.store(span(10 * at, 10 * at + 9), Fuse(Arc::clone(value))).unwrap();
    }
    (map, values)
}

fn entries(map: &MapleTree<Fuse>) -> Vec<(Span, u32)> {
    map.validate().unwrap();
    map.read().iter().collect()
}

#[test]
fn a_split_that_panics_inside() {
    let _alone = alone();
    for commits in [true, false] {
        let (map, values) = fuses();
        let before = entries(&map);
        let spare = || Fuse(Arc::clone(&values[40]));
        let mut inside = map.transaction();
        inside.store(span(103, 104), spare()).unwrap();
        inside.remove_range(span(200, 255)).unwrap();
        for over in [span(13, 14), span(106, 107), span(257, 258)] {
            SPLIT_PANICS.set(true);
            assert!(catch_unwind(AssertUnwindSafe(|| inside.store(over, spare()))).is_err());
            SPLIT_PANICS.set(true);
            assert!(catch_unwind(AssertUnwindSafe(|| inside.remove_range(over))).is_err());
            assert!(!SPLIT_PANICS.get());
        }
        assert_eq!((inside.get(13), inside.get(103), inside.get(250)), (Some(1), Some(40), None));
        inside.store(span(300, 301), spare()).unwrap();
        if commits {
            inside.commit();
            assert_eq!(entries(&map).len(), 40 + 2 - 5 + 1);
        } else {
            drop(inside);
            assert_eq!(entries(&map), before);
        }
        drop(map);
        assert!(values.iter().all(|value| Arc::strong_count(value) == 1));
    }
}

/// Values whose drops panic, of a transaction that is dropped: it has changed nothing, and the other values are dropped.
#[test]
fn a_drop_that_panics_as_a_transaction_is_dropped() {
    let _alone = alone();
    let (map, values) = fuses();
    let before = entries(&map);
    let mut inside = map.transaction();
    for at in 0..6 {
        inside.store(span(50 * at + 3, 50 * at + 4), Fuse(Arc::clone(&values[40]))).unwrap();
    }
    DROP_PANICS.set(Some(40));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(inside))).is_err());
    assert_eq!(entries(&map), before);
    map.store(span(3, 4), Fuse(Arc::clone(&values[40]))).unwrap();
    drop(map);
    assert!(values.iter().all(|value| Arc::strong_count(value) == 1));
}

/// A thread that panics amid a transaction has changed nothing, and the map goes on.
#[test]
fn a_panic_amid_a_transaction() {
    let _alone = alone();
    let (map, values) = fuses();
    let before = entries(&map);
    let counts = || values.iter().map(Arc::strong_count).collect::<Vec<_>>();
    let was = counts();
    let panics = || {
        let mut inside = map.transaction();
        inside.store(span(3, 250), Fuse(Arc::clone(&values[40]))).unwrap();
        inside.remove_range(span(260, 300)).unwrap();
        panic!("amid");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!((entries(&map), counts()), (before, was));
    map.store(span(3, 250), Fuse(Arc::clone(&values[40]))).unwrap();
    assert_eq!(entries(&map).len(), 1 + 1 + 15);
}

/// Nobody reads a map that is dropped, whoever reads another: it waits for no one, with values to drop or without.
#[test]
fn a_map_is_dropped_beside_readers_of_another() {
    let _beside_others = beside_others();
    ends(|| {
        let other = MapleTree::<u64>::new();
        let reading = other.read_owned().unwrap();
        let (plain, counted) = (MapleTree::new(), MapleTree::new());
        for last in 9..12 {
            plain.store(3..=last, 7_u64).unwrap();
            counted.store(3..=last, Arc::new(7)).unwrap();
        }
        assert!(plain.backlog().held > 0 && counted.backlog().held > 0);
        drop((plain, counted));
        drop(reading);
    });
}

thread_local! {
    /// Values that used their map.
    static USED: Cell<u32> = const { Cell::new(0) };
}

/// A value that uses its map as it is dropped: stores into it, and reads. And what all of them share, to be counted.
struct Uses(Weak<MapleTree<Arc<Uses>>>, Arc<()>);

impl Drop for Uses {
    fn drop(&mut self) {
        if let Some(map) = self.0.upgrade() {
            USED.set(USED.get() + 1);
            let index = 1_000_000 + map.len();
            let _ = map.store(index..=index, Arc::new(Uses(Weak::new(), Arc::clone(&self.1))));
            let _ = map.transaction().slot_at(index);
            let _ = map.snapshot().map(|snapshot| snapshot.iter().next().is_some());
        }
    }
}

#[test]
fn drops_use_the_map() {
    let _alone = alone();
    ends(|| {
        let (map, all) = (Arc::new(MapleTree::with_nodes(Nodes::Small)), Arc::new(()));
        let value = || Arc::new(Uses(Arc::downgrade(&map), Arc::clone(&all)));
        for round in 0..if cfg!(miri) { 3 } else { 300 } {
            // Dropped: its values are.
            let before = USED.get();
            let mut inside = map.transaction();
            inside.store(5..9, value()).unwrap_or_else(|_| panic!("no memory"));
            inside.store(20..=20, value()).unwrap_or_else(|_| panic!("no memory"));
            drop(inside);
            assert!(USED.get() >= before + 2);
            // Committed: those that it replaces are dropped by a store that comes later.
            let mut inside = map.transaction();
            inside.store(round * 3..round * 3 + 9, value()).unwrap_or_else(|_| panic!("no memory"));
            inside.remove_range(round * 3 + 4..=round * 3 + 5).unwrap();
            inside.commit();
            // And without a transaction.
            for index in 2000..2004 {
                map.store(index..=index, value()).unwrap_or_else(|_| panic!("no memory"));
            }
            map.erase(2000).unwrap();
            map.remove_range(2001..2003).unwrap();
            map.validate().unwrap();
        }
        let polls = map.backlog();
        assert!(cfg!(miri) || polls.reclaimed > 1000 && USED.get() > 1000, "{polls:?}");
        drop(map);
        assert_eq!(Arc::strong_count(&all), 1);
    });
}

/// A store whose split panics drops its value, which may use the map: the store is over then, and has changed nothing.
#[test]
fn a_drop_after_a_split_that_panics_uses_the_map() {
    let _beside_others = beside_others();
    ends(|| {
        // Beside a snapshot, a store makes a version of its own.
        for is_frozen in [false, true] {
            let (map, values) = fuses();
            let map = Arc::new(map);
            let snapshot = is_frozen.then(|| map.snapshot().unwrap());
            let value = Fuse(Arc::clone(&values[40]));
            SPLIT_PANICS.set(true);
            let used = Arc::downgrade(&map);
            DROP_CALLS.set(Some(Box::new(move || {
                assert_eq!(used.upgrade().map(|map| map.len()), Some(40));
            })));
            assert!(catch_unwind(AssertUnwindSafe(|| map.store(13..=14, value))).is_err());
            assert!(DROP_CALLS.take().is_none(), "the value was dropped");
            map.validate().unwrap();
            drop(snapshot);
            map.erase(13).unwrap();
            assert_eq!((map.len(), map.is_empty(), map.validate()), (39, false, Ok(())));
            map.remove_range(..).unwrap();
            assert!(map.is_empty());
            map.validate().unwrap();
        }
    });
}

/// What a thread asks for within its own transaction is refused, or answered without it, but never waited for.
#[test]
fn a_thread_does_not_wait_for_its_own_transaction() {
    let _beside_others = beside_others();
    ends(|| {
        let map = MapleTree::new();
        map.store(0..100, 1_u64).unwrap();
        let mut inside = map.transaction();
        inside.store(50..60, 2).unwrap();
        let rejected = map.store(0..10, 3).unwrap_err();
        assert_eq!((rejected.value, rejected.cause), (3, WriteError::InTransaction));
        let rejected = map.insert(200..300, 4).unwrap_err();
        assert_eq!((rejected.value, rejected.cause), (4, WriteError::InTransaction));
        assert_eq!(map.remove_range(..), Err(WriteError::InTransaction));
        assert_eq!(map.erase(5), Err(WriteError::InTransaction));
        let second = catch_unwind(AssertUnwindSafe(|| drop(map.transaction())));
        let said = *second.unwrap_err().downcast::<String>().unwrap();
        assert!(said.contains("this thread has a transaction"), "{said}");
        assert_eq!((map.len(), map.height(), map.validate()), (1, 1, Ok(())));
        assert_eq!(map.snapshot().unwrap().iter().collect::<Vec<_>>(), [(span(0, 99), 1)]);
        assert!(map.bytes() > 0 && map.nodes() > 0 && map.backlog().limit > 0);
        inside.commit();
        assert_eq!((map.len(), map.validate()), (3, Ok(())));
        map.store(0..10, 3).unwrap();
    });
}

/// A transaction that is leaked keeps stores of its thread out by an error, and breaks nothing.
#[test]
#[cfg_attr(miri, ignore = "it leaks on purpose")]
fn a_transaction_that_is_leaked() {
    let _beside_others = beside_others();
    let base = Arc::new(1);
    let map = MapleTree::new();
    for at in 0..100_u64 {
        map.store(10 * at..10 * at + 5, Arc::clone(&base)).unwrap();
    }
    let mut inside = map.transaction();
    inside.store(3..333, Arc::new(2)).unwrap();
    inside.remove_range(400..500).unwrap();
    std::mem::forget(inside);
    assert_eq!(map.store(0..1, Arc::clone(&base)).unwrap_err().cause, WriteError::InTransaction);
    assert_eq!((map.len(), map.read().iter().count(), map.validate()), (100, 100, Ok(())));
    drop(map);
    assert_eq!(Arc::strong_count(&base), 1);
}

/// A thread that waits for a transaction of one map holds nothing back in another.
#[test]
#[cfg_attr(miri, ignore = "so many stores are slow there")]
fn threads_that_wait_for_a_transaction_are_no_readers() {
    let _alone = alone();
    let (waited_for, other) = (MapleTree::new(), MapleTree::new());
    let transaction = waited_for.transaction();
    std::thread::scope(|scope| {
        let waiting = [
            scope.spawn(|| drop(waited_for.snapshot().unwrap())),
            scope.spawn(|| waited_for.store(0..10, Arc::new(1)).unwrap()),
            scope.spawn(|| drop(waited_for.transaction())),
        ];
        std::thread::sleep(Duration::from_millis(50));
        for at in 0..3 * MapleTree::<Arc<u64>>::new().backlog().limit as u64 {
            other.store(0..10, Arc::new(at)).unwrap();
        }
        drop(transaction);
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A value whose conversions use the map that it goes into.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Looks;

static LOOKED_AT: LazyLock<MapleTree<Plain<Looks>>> = LazyLock::new(MapleTree::new);

impl PlainValue for Looks {
    fn to_bits(self) -> u64 {
        LOOKED_AT.len()
    }

    fn from_bits(_: u64) -> Self {
        let _ = LOOKED_AT.len();
        Self
    }
}

/// Conversions of values are the caller's code, and run with no lock held.
#[test]
fn values_that_use_their_map_as_they_become_words() {
    let _beside_others = beside_others();
    ends(|| {
        LOOKED_AT.store(0..10, Plain(Looks)).unwrap();
        assert!(LOOKED_AT.insert(5..6, Plain(Looks)).is_err());
        let mut inside = LOOKED_AT.transaction();
        inside.store(20..30, Plain(Looks)).unwrap();
        inside.store(22..23, Plain(Looks)).unwrap();
        assert!(inside.insert(25..26, Plain(Looks)).is_err());
        assert_eq!(inside.get(25), Some(Looks));
        inside.commit();
        assert_eq!(LOOKED_AT.read().get(25), Some(Looks));
    });
}
