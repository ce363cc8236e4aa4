//! What safe code forgets breaks nothing: the map is valid, and goes on. Only what the docs name is leaked.

#![allow(clippy::forget_non_drop, reason = "which of these types implement `Drop` may change")]

use freehold_maple::word_map::Entry;
use freehold_maple::{Nodes, RangeMap, Request, WordMap};
use freehold_units::Span;
use std::mem;
use std::sync::Arc;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn a_transaction_that_is_forgotten_is_final() {
    let value = Arc::new(1);
    let mut map: WordMap<Arc<i32>> = WordMap::with_nodes(Nodes::Small);
    for at in 0..40 {
        map.store(span(at, at), Arc::clone(&value)).unwrap();
    }
    let mut forgotten = map.transaction();
    forgotten.store(span(3, 30), Arc::clone(&value)).unwrap();
    mem::forget(forgotten);
    // A copy beside it is made anew, and has taken no node by a store.
    let copy = map.clone();
    assert!(copy.iter().map(|(at, _)| at).eq(map.iter().map(|(at, _)| at)) && copy.nodes_taken() == 0);
    drop(copy);
    map.store(span(5, 6), Arc::clone(&value)).unwrap();
    let before: Vec<Span> = map.iter().map(|(at, _)| at).collect();
    let mut dropped = map.transaction();
    dropped.store(span(0, 35), Arc::clone(&value)).unwrap();
    drop(dropped);
    assert!(map.iter().map(|(at, _)| at).eq(before));
    assert!(map.iter().all(|(_, held)| *held == 1));
}

#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn nothing_is_kept_after_a_forgotten_transaction() {
    let mut map: WordMap<u64> = WordMap::with_nodes(Nodes::Small);
    for at in 0..200 {
        map.store(span(10 * at, 10 * at + 4), at).unwrap();
    }
    let mut forgotten = map.transaction();
    forgotten.store(span(5, 7), 7).unwrap();
    mem::forget(forgotten);
    // Leaves are merged; if they were kept to be undone, they would still be in use.
    for at in 0..199 {
        assert!(map.erase(10 * at).is_some());
    }
    assert!(map.erase(6).is_some());
    assert_eq!((map.len(), map.nodes()), (1, 1));
    map.validate().unwrap();
}

/// Forgets a transaction that stores and removes ranges of many leaves, so that whole subtrees leave the tree, of both
/// versions. Then each change that a map has comes first.
#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn every_change_is_valid_after_a_forgotten_transaction() {
    type Map = WordMap<Arc<u64>>;
    type Change<'a> = &'a dyn Fn(&mut Map);
    let value = Arc::new(7);
    let new = || Arc::clone(&value);
    let changes: [(&str, Change<'_>); 17] = [
        ("store", &|map| map.store(5..2500, new()).unwrap()),
        ("store_with", &|map| map.store_with(span(5, 2500), new(), |_, _, old| Arc::new(*old)).unwrap()),
        ("insert", &|map| map.insert(span(100_000, 100_001), new()).unwrap()),
        ("erase", &|map| drop(map.erase(1990).unwrap())),
        ("remove_range", &|map| map.remove_range(5..1500).unwrap()),
        ("take_range", &|map| drop(map.take_range(5..1500).unwrap())),
        ("replace_range", &|map| drop(map.replace_range(5..1500, new()).unwrap())),
        ("alloc_lowest", &|map| _ = map.alloc_lowest(&Request::new(3), new()).unwrap()),
        ("cursor_mut", &|map| map.cursor_mut(1900).store(span(1901, 1902), new()).unwrap()),
        ("entry", &|map| match map.entry(1990) {
            Entry::Occupied(mut entry) => drop(entry.replace(new())),
            Entry::Vacant(_) => panic!("there is an entry"),
        }),
        ("plan_store", &|map| map.plan_store(span(5, 2500)).unwrap().commit(new())),
        ("plan_removal", &|map| map.plan_removal(span(5, 2500)).unwrap().commit()),
        ("merge_adjacent", &|map| assert!(map.merge_adjacent_by(|_, _| true) > 0)),
        ("retain", &|map| map.retain(|at, _| at.first() % 20 == 0)),
        ("split_at", &|map| map.split_at(1700).unwrap().validate().unwrap()),
        ("transaction", &|map| {
            let mut next = map.transaction();
            next.remove_range(span(1000, 1800)).unwrap();
        }),
        ("clear", &Map::clear),
    ];
    // Miri, which is slow, does a few on small nodes alone.
    let (step, kinds) = if cfg!(miri) { (8, 1) } else { (1, 2) };
    for (name, change) in changes.into_iter().step_by(step) {
        for nodes in [Nodes::Small, Nodes::Full].into_iter().take(kinds) {
            let mut map = Map::with_nodes(nodes);
            for at in 0..200 {
                map.store(span(10 * at, 10 * at + 4), new()).unwrap();
            }
            let mut forgotten = map.transaction();
            forgotten.store(span(3, 400), new()).unwrap();
            forgotten.remove_range(span(822, 1333)).unwrap();
            // Also of nodes that are the transaction's own.
            for at in 82..130 {
                forgotten.store(span(10 * at, 10 * at + 4), new()).unwrap();
            }
            forgotten.remove_range(span(852, 1290)).unwrap();
            mem::forget(forgotten);
            map.validate().unwrap_or_else(|broken| panic!("forgotten: {broken}"));
            map.try_clone().unwrap().validate().unwrap();
            assert_eq!(map.entry_at(300).unwrap().0, span(3, 400));
            change(&mut map);
            map.validate().unwrap_or_else(|broken| panic!("{name}: {broken}"));
            assert!(map.iter().all(|(_, held)| *held == 7));
            map.clear();
            assert_eq!((map.nodes(), map.validate()), (0, Ok(())), "{name}");
        }
    }
}

/// What was stored before is dropped with the map, what the transaction took out is leaked, and nothing is dropped twice.
#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn only_what_a_forgotten_transaction_took_out_is_leaked() {
    let value = Arc::new(7);
    let mut map: WordMap<Arc<i32>> = WordMap::with_nodes(Nodes::Small);
    for at in 0..40 {
        map.store(span(2 * at, 2 * at), Arc::clone(&value)).unwrap();
    }
    let mut forgotten = map.transaction();
    forgotten.store(span(10, 29), Arc::clone(&value)).unwrap();
    mem::forget(forgotten);
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1 + 10);
}

/// Plans, entries, cursors and iterators hold nothing that the map does not have.
#[test]
#[cfg_attr(miri, ignore = "iterators by value leak, as they are meant to")]
fn what_else_is_forgotten_leaves_the_map_as_it_was() {
    let mut map: WordMap<u64> = WordMap::with_nodes(Nodes::Small);
    for at in 0..200 {
        map.store(span(10 * at, 10 * at + 4), at).unwrap();
    }
    let before = map.try_clone().unwrap();
    mem::forget(map.plan_store(span(5, 900)).unwrap());
    mem::forget(map.plan_removal(span(5, 900)).unwrap());
    mem::forget(map.cursor_mut(77));
    mem::forget(map.entry(70));
    mem::forget(map.transaction());
    mem::forget(map.iter());
    mem::forget(map.gaps(..));
    map.validate().unwrap();
    assert!(map == before);
    mem::forget(map.take_range(5..900).unwrap());
    mem::forget(map.replace_range(1000..1500, 1).unwrap());
    map.validate().unwrap();
    let mut rest = map.split_at(1200).unwrap().into_iter();
    assert!(rest.next().is_some());
    mem::forget(rest);
    map.store(5..1900, 1).unwrap();
    map.validate().unwrap();

    let mut map: RangeMap<String> = (0..200u64).map(|at| (10 * at..10 * at + 5, "a".to_string())).collect();
    mem::forget(map.entry(70));
    mem::forget(map.iter_mut().next());
    mem::forget(map.iter_mut());
    mem::forget(map.take_range(5..900).unwrap());
    mem::forget(map.replace_range(1000..1500, "b".to_string()).unwrap());
    map.validate().unwrap();
    let mut rest = map.split_at(1200).unwrap().into_iter();
    assert!(rest.next().is_some());
    mem::forget(rest);
    map.store(5..1900, "c".to_string()).unwrap();
    map.validate().unwrap();
}

/// Each change of a map of any value comes first after a forgotten transaction: no value lives twice, and what the
/// transaction took out lives until the map is cleared.
#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn a_forgotten_transaction_of_any_value_is_final() {
    type Change<'a> = &'a dyn Fn(&mut RangeMap<Arc<u64>>);
    let value = Arc::new(7);
    let new = || Arc::clone(&value);
    let changes: [Change<'_>; 8] = [
        &|map| map.store(5..500, new()).unwrap(),
        &|map| _ = map.store_merging(5..500, new()).unwrap(),
        &|map| drop(map.take_range(5..1500).unwrap()),
        &|map| map.update_range(5..500, |_, _| ()).unwrap(),
        &|map| assert!(map.merge_adjacent_in_by(.., |_, _| true) > 0),
        &|map| map.split_at(900).unwrap().validate().unwrap(),
        &|map| map.transaction().store(5..500, new()).unwrap(),
        &|map| mem::forget(map.transaction()),
    ];
    for change in changes {
        let mut map = RangeMap::with_nodes(Nodes::Small);
        for at in 0..200 {
            map.store(10 * at..10 * at + 10, new()).unwrap();
        }
        let mut forgotten = map.transaction();
        forgotten.store(3..400, new()).unwrap();
        forgotten.remove_range(822..1333).unwrap();
        forgotten.store(825..830, new()).unwrap();
        mem::forget(forgotten);
        map.validate().unwrap();
        map.try_clone().unwrap().validate().unwrap();
        change(&mut map);
        map.validate().unwrap();
        assert!(Arc::strong_count(&value) > map.len() as usize);
        map.clear();
        map.validate().unwrap();
        assert_eq!((Arc::strong_count(&value), map.nodes()), (1, 0));
    }
}
