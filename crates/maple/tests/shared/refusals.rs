//! What a shared map does where memory or nodes are refused: nothing has changed, and it works when tried again.

use crate::common::{Map, Model, Random, alone, change_model, span};
use crate::refused::{OPS, TOGETHER, entries, map_of, put, state};
use crate::refusing::{NONE_REFUSED, watched};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{Domain, MapleTree, Reclaim, WriteError};
use freehold_units::Span;
use std::sync::Arc;

/// Has an operation refused, by each `refuse` in turn until it is granted: it changes nothing, and is granted the next time. Returns
/// how many refusals there were.
fn survives(
    make: impl Fn() -> Map,
    value: &Arc<u32>,
    operation: impl Fn(&Map) -> Result<(), WriteError>,
    refuse: impl Fn(&Map, usize, &dyn Fn() -> Result<(), WriteError>) -> Result<(), WriteError>,
) -> usize {
    let done = make();
    operation(&done).unwrap();
    let wanted = entries(&done);
    drop(done);
    for granted in 0.. {
        let map = make();
        let before = state(&map, value);
        let answer = refuse(&map, granted, &|| operation(&map));
        if answer.is_ok() {
            assert_eq!(entries(&map), wanted);
            return granted;
        }
        assert_eq!(answer, Err(WriteError::OutOfMemory));
        assert_eq!(state(&map, value), before, "changed something though it was refused");
        operation(&map).unwrap();
        assert_eq!(entries(&map), wanted);
        drop(map);
        assert_eq!(Arc::strong_count(value), 1);
    }
    unreachable!("some number of requests is enough")
}

fn all_fail_in_turn(nodes: Nodes) {
    let _alone = alone();
    let value = Arc::new(7);
    // Within an entry, between two, over several leaves, over all, at both ends.
    let spans = [span(12, 13), span(37, 38), span(25, 333), Span::ALL, span(0, 0), span(u64::MAX, u64::MAX)];
    let sizes: &[u64] = if cfg!(miri) { &[7] } else { &[0, 1, 7, 30, 61, 100, 300] };
    let mut inners_refused = 0;
    for (name, operation) in OPS {
        let mut refusals = [0; 3];
        for &size in sizes {
            for over in spans.into_iter().take(if cfg!(miri) { 1 } else { spans.len() }) {
                let make = || map_of(nodes, size, &value);
                let operation = |map: &Map| operation(map, over, &value);
                refusals[0] += survives(make, &value, operation, |_, granted, operation| {
                    let (answer, requests) = watched(granted as u64, operation);
                    assert!(answer.is_err() || requests <= granted as u64);
                    answer
                });
                // One limit after the other is slow where there are many nodes.
                for of_inners in [false, true].into_iter().filter(|_| size < 300) {
                    refusals[1 + usize::from(of_inners)] +=
                        survives(make, &value, operation, |map, limit, operation| {
                            let of_leaves = if of_inners { usize::MAX } else { limit };
                            map.set_node_limit(of_leaves, if of_inners { limit } else { usize::MAX });
                            let answer = operation();
                            map.set_node_limit(usize::MAX, usize::MAX);
                            answer
                        });
                }
            }
        }
        assert!(cfg!(miri) || refusals[0] > 5 && refusals[1] > 50, "{name}: {refusals:?}");
        inners_refused += refusals[2];
    }
    assert!(cfg!(miri) || inners_refused > 50, "{inners_refused}");
}

#[test]
fn every_request_and_every_node_on_small_nodes() {
    all_fail_in_turn(Nodes::Small);
}

#[test]
fn every_request_and_every_node_on_full_nodes() {
    all_fail_in_turn(Nodes::Full);
}

/// A store that is refused inside leaves those before and those behind it; what is committed is they. A commit asks for no memory.
#[test]
fn stores_refused_inside_a_transaction() {
    let _alone = alone();
    let value = Arc::new(7);
    let mut refusals = [0; 2];
    for (nodes, frozen) in
        [(Nodes::Small, false), (Nodes::Small, true), (Nodes::Full, false), (Nodes::Full, true)]
    {
        for entries_before in if cfg!(miri) { 7..8 } else { 0..40 } {
            for by_limit in [false, true] {
                for granted in 0.. {
                    let map = map_of(nodes, entries_before, &value);
                    let mut model = Model(entries(&map).into_iter().map(|(at, _)| (at, *value)).collect());
                    let snapshot = frozen.then(|| map.snapshot().unwrap());
                    if by_limit {
                        map.set_node_limit(granted, usize::MAX);
                    }
                    let mut inside = map.transaction();
                    let granted = if by_limit { NONE_REFUSED } else { granted as u64 };
                    let (answers, _) =
                        watched(granted, || std::array::from_fn(|at| put(&mut inside, at, &value)));
                    let answers: [_; TOGETHER.len()] = answers;
                    let (_, requests) = watched(0, || inside.commit());
                    assert_eq!(requests, 0, "a commit asks for memory");
                    for (answer, (first, last, stores)) in answers.iter().zip(TOGETHER) {
                        match answer {
                            Ok(()) => change_model(&mut model, span(first, last), stores.then_some(*value)),
                            Err(cause) => assert_eq!(*cause, WriteError::OutOfMemory),
                        }
                    }
                    crate::common::compare(&map, &model);
                    if let Some(snapshot) = snapshot {
                        assert_eq!(snapshot.iter().count() as u64, entries_before);
                    }
                    let refused = answers.iter().filter(|answer| answer.is_err()).count();
                    refusals[usize::from(by_limit)] += refused;
                    if refused == 0 {
                        break;
                    }
                }
            }
        }
    }
    assert_eq!(Arc::strong_count(&value), 1);
    assert!(cfg!(miri) || refusals.iter().all(|&count| count > 100), "{refusals:?}");
}

/// Random transactions on one map, which polls, grows and drops values meanwhile: no commit asks for memory.
#[test]
fn no_commit_asks_for_memory() {
    let _alone = alone();
    let value = Arc::new(7);
    let map = map_of(Nodes::Small, 60, &value);
    let mut random = Random(13);
    let mut snapshot = None;
    for round in 0..if cfg!(miri) { 5 } else { 1500 } {
        if round % 5 == 0 {
            snapshot = (round % 10 == 0).then(|| map.snapshot().unwrap());
        }
        let mut inside = map.transaction();
        for _ in 0..=random.below(12) {
            let over = random.span(900);
            match random.below(3) {
                0 => inside.remove_range(over).unwrap(),
                _ => inside.store(over, Arc::clone(&value)).unwrap(),
            }
        }
        let ((), requests) = watched(0, || if round % 7 == 0 { drop(inside) } else { drop(inside.commit()) });
        assert_eq!(requests, 0, "in round {round}");
    }
    drop(snapshot);
    map.validate().unwrap();
    let stats = map.backlog();
    assert!(cfg!(miri) || stats.reclaimed > 0 && stats.polls > 1, "{stats:?}");
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// What others drop meanwhile takes nothing from an open transaction: its commit still asks for no memory.
#[test]
fn a_commit_asks_for_no_memory_whatever_was_dropped_meanwhile() {
    let _alone = alone();
    let drops: [fn(&Map); 4] = [
        |_| (),
        |map| _ = map.reclaim(),
        // Without memory for that room, nothing is dropped.
        |map| _ = watched(0, || map.reclaim()),
        MapleTree::drop_leftovers,
    ];
    for (at, drop_some) in drops.into_iter().enumerate() {
        let value = Arc::new(7);
        let map: Map = MapleTree::builder().domain(Domain::new()).reclaim(Reclaim::Prompt).build();
        for at in 0..9 {
            map.store(span(10 * at, 10 * at + 4), Arc::clone(&value)).unwrap();
        }
        let reader = map.read_owned().unwrap();
        map.remove_range(0..40).unwrap();
        let later = map.read_owned().unwrap();
        map.remove_range(40..50).unwrap();
        let mut inside = map.transaction();
        inside.remove_range(50..60).unwrap();
        drop(reader);
        drop_some(&map);
        drop(later);
        let (removed, requests) = watched(0, || inside.commit());
        assert_eq!(requests, 0, "a commit asks for memory after drop {at}");
        drop(removed);
        assert_eq!(map.reclaim(), Ok(0));
        assert_eq!(Arc::strong_count(&value), 4);
    }
}

/// Guards that are values are refused where there is no memory for one, and then granted.
#[test]
fn guards_that_are_refused() {
    let _alone = alone();
    let value = Arc::new(7);
    let map = map_of(Nodes::Small, 20, &value);
    let (mut owned, mut snapshots, mut refusals) = (Vec::new(), Vec::new(), [0; 2]);
    let before = entries(&map);
    for _ in 0..if cfg!(miri) { 40 } else { 600 } {
        let (answer, requests) = watched(0, || map.read_owned());
        refusals[0] += usize::from(answer.is_err());
        assert_eq!(answer.is_err(), requests > 0);
        drop(answer);
        owned.push(map.read_owned().unwrap());
        let (answer, requests) = watched(0, || map.snapshot());
        refusals[1] += usize::from(answer.is_err());
        assert_eq!(answer.is_err(), requests > 0);
        drop(answer);
        snapshots.push(map.snapshot().unwrap());
        if snapshots.len() % 50 == 0 {
            map.store(span(3, 4), Arc::clone(&value)).unwrap();
        }
    }
    assert!(cfg!(miri) || refusals[0] + refusals[1] > 0, "{refusals:?}");
    assert!(snapshots.iter().take(40).all(|snapshot| snapshot.get(3) == Some(&7)));
    assert_eq!(before.len(), snapshots[0].iter().count());
    drop((owned, snapshots));
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Values that a store takes back from the backlog are dropped, also if the store is refused then and none comes after it.
#[test]
fn what_a_refused_store_took_back_goes_with_the_map() {
    let _alone = alone();
    let value = Arc::new(7);
    let map = map_of(Nodes::Full, 3, &value);
    let store = |last| map.store(span(0, last), Arc::clone(&value));
    // A store that is refused comes before each that is not: it is the one that polls.
    for last in [2, 3].into_iter().cycle() {
        let before = map.backlog();
        map.set_node_limit(0, 0);
        let refused = store(1).unwrap_err();
        assert_eq!(refused.cause, WriteError::OutOfMemory);
        if map.backlog().reclaimed > before.reclaimed {
            break;
        }
        map.set_node_limit(usize::MAX, usize::MAX);
        store(last).unwrap();
    }
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1, "values were lost");
}
