//! The failure of every single allocation: whichever node is refused by the map's limit, or whichever request for memory
//! by the allocator, the operation says so, leaves the map as it was, and succeeds when it is tried again. What never
//! takes memory makes no request.
//!
//! A memory request that cannot be answered by an error ends the process.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

/// The one allocator of all tests that refuse memory.
#[path = "../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;

use freehold_maple::word_map::Entry;
use freehold_maple::{
    AllocError, InsertError, Nodes, OutOfMemory, RangeMap, RangeSet, Request, SortedError, StoreError,
    WordMap,
};
use freehold_units::{Broken, Span};
use refusing::{NONE_REFUSED, watched};

type Map = WordMap<u32>;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

/// Checks a map. Under Miri, which is slow, it does not: nodes are safe code, and no word of theirs is looked at.
fn check(validate: impl FnOnce() -> Result<(), Broken>) {
    if !cfg!(miri) {
        validate().unwrap();
    }
}

fn entries(map: &Map) -> Vec<(Span, u32)> {
    check(|| map.validate());
    map.iter().collect()
}

/// `count` entries of five indexes, with as many between them.
fn with_gaps(nodes: Nodes, count: u64) -> Map {
    WordMap::from_sorted_with_nodes(nodes, (0..count).map(|at| (span(10 * at, 10 * at + 4), at as u32)))
        .unwrap()
}

/// `count` entries that touch, in nodes that have been split.
fn dense(nodes: Nodes, count: u64) -> Map {
    let mut map = Map::with_nodes(nodes);
    for at in (0..count).step_by(2).chain((1..count).step_by(2)) {
        map.store(span(10 * at, 10 * at + 9), at as u32).unwrap();
    }
    map
}

fn starts(nodes: Nodes) -> Vec<Map> {
    // Under Miri, which is slow, small maps; how many refusals there must be is said for the others.
    let sizes: &[u64] = if cfg!(miri) { &[7] } else { &[0, 1, 7, 60, 300] };
    let mut starts: Vec<Map> =
        sizes.iter().copied().flat_map(|count| [with_gaps(nodes, count), dense(nodes, count)]).collect();
    starts.truncate(if cfg!(miri) { 1 } else { usize::MAX });
    starts
}

/// Has every node and every request for memory of an operation refused in turn, on every start. Returns how many
/// refusals there were.
fn survives(nodes: Nodes, operation: impl Fn(&mut Map) -> Result<(), OutOfMemory>) -> [u64; 2] {
    let mut refusals = [0, 0];
    for start in starts(nodes) {
        let before = entries(&start);
        let mut done = start.clone();
        operation(&mut done).unwrap();
        let wanted = entries(&done);
        let retried = |map: &mut Map| {
            assert_eq!(entries(map), before, "changed something though it was refused");
            operation(map).unwrap();
            assert_eq!(entries(map), wanted);
        };
        for of_inners in [false, true] {
            for limit in 0.. {
                let mut map = start.clone();
                let limits = if of_inners { (usize::MAX, limit) } else { (limit, usize::MAX) };
                map.set_node_limit(limits.0, limits.1);
                let answer = operation(&mut map);
                if answer.is_ok() {
                    assert_eq!(entries(&map), wanted);
                    break;
                }
                map.set_node_limit(usize::MAX, usize::MAX);
                retried(&mut map);
                refusals[0] += 1;
            }
        }
        for refused in 0.. {
            let mut map = start.clone();
            let (answer, requests) = watched(refused, || operation(&mut map));
            if answer.is_ok() {
                assert!(requests <= refused);
                assert_eq!(entries(&map), wanted);
                break;
            }
            retried(&mut map);
            refusals[1] += 1;
        }
    }
    refusals
}

fn all_fail_in_turn(nodes: Nodes) {
    // Within an entry, over several leaves, over all, at both ends.
    let spans = [span(12, 13), span(31, 32), span(5, 333), span(0, 0), span(u64::MAX, u64::MAX), Span::ALL];
    let mut requests_refused = [0, 0];
    for over in spans.into_iter().take(if cfg!(miri) { 1 } else { usize::MAX }) {
        let refusals =
            survives(nodes, |map| map.store(over, 9999).map_err(|rejected| no_memory(rejected.cause)));
        assert!(cfg!(miri) || refusals[0] > 0, "a store at {over} takes no node");
        requests_refused[0] += refusals[1];
        for value in [9999, 1] {
            survives(nodes, |map| {
                map.store_merging(over, value).map(drop).map_err(|rejected| no_memory(rejected.cause))
            });
        }
        let refusals = survives(nodes, |map| {
            let plan = map.plan_store(over).map_err(no_memory)?;
            let ((), requests) = watched(0, || plan.commit(9999));
            assert_eq!(requests, 0, "committing a plan asks for memory");
            Ok(())
        });
        assert!(cfg!(miri) || refusals[0] > 0, "a plan at {over} takes no node");
        requests_refused[1] += refusals[1];
        survives(nodes, |map| {
            let plan = map.plan_removal(over).map_err(no_memory)?;
            assert_eq!(watched(0, || plan.commit()).1, 0, "committing a plan asks for memory");
            Ok(())
        });
        survives(nodes, |map| map.remove_range(over));
        survives(nodes, |map| {
            map.cursor_mut(over.first()).store(over, 1).map_err(|rejected| no_memory(rejected.cause))
        });
        survives(nodes, |map| match map.insert(over, 9999) {
            Err(rejected) if rejected.cause == InsertError::OutOfMemory => Err(OutOfMemory),
            _ => Ok(()),
        });
        survives(nodes, |map| match map.entry(over.first()) {
            Entry::Vacant(gap) => match gap.insert(over, 9999) {
                Err(rejected) if rejected.cause == InsertError::OutOfMemory => Err(OutOfMemory),
                _ => Ok(()),
            },
            Entry::Occupied(_) => Ok(()),
        });
    }
    // A tree of one leaf asks for no memory, so not every range has a request to refuse.
    assert!(cfg!(miri) || requests_refused.iter().all(|&count| count > 0), "{requests_refused:?}");
    let middle = survives(nodes, |map| map.remove_range(span(12, 13)));
    assert!(cfg!(miri) || middle.iter().all(|&count| count > 0), "an entry cut in two: {middle:?}");
    survives(nodes, |map| match map.alloc_lowest(&Request::new(3), 7) {
        Err(rejected) => {
            assert_eq!((rejected.value, rejected.cause), (7, AllocError::OutOfMemory));
            Err(OutOfMemory)
        }
        Ok(_) => Ok(()),
    });
}

#[test]
fn single_stores_on_small_nodes() {
    all_fail_in_turn(Nodes::Small);
}

#[test]
#[cfg_attr(miri, ignore = "small nodes take the same steps, and Miri a minute")]
fn single_stores_on_full_nodes() {
    all_fail_in_turn(Nodes::Full);
}

/// Stores that split, span and cut, one after the other.
const TOGETHER: [(u64, u64, Option<u32>); 7] = [
    (11, 13, Some(1)),
    (31, 31, None),
    (33, 33, Some(2)),
    (2, 555, Some(3)),
    (100, 101, None),
    (90, 2000, None),
    (u64::MAX, u64::MAX, Some(4)),
];

fn transactions(nodes: Nodes) {
    let refusals = survives(nodes, |map| {
        let mut all = map.transaction();
        // Under Miri, which is slow, the first two.
        for (first, last, value) in TOGETHER.into_iter().take(if cfg!(miri) { 2 } else { TOGETHER.len() }) {
            match value {
                Some(value) => {
                    all.store(span(first, last), value).map_err(|rejected| no_memory(rejected.cause))?;
                }
                None => all.remove_range(span(first, last))?,
            }
        }
        let ((), requests) = watched(0, || all.commit());
        assert_eq!(requests, 0, "a commit asks for memory");
        Ok(())
    });
    assert!(cfg!(miri) || refusals.iter().all(|&count| count > 20), "{refusals:?}");
}

/// A store that fails in the middle leaves those before it, to be committed all the same.
#[test]
fn what_stood_before_a_failure_can_be_committed() {
    let mut map = dense(Nodes::Small, 60);
    let mut wanted = map.clone();
    wanted.store(span(11, 13), 1).unwrap();
    let mut all = map.transaction();
    all.store(span(11, 13), 1).unwrap();
    let (answer, _) = watched(0, || all.store(span(21, 23), 2));
    assert_eq!(answer.map_err(|rejected| rejected.cause), Err(StoreError::OutOfMemory));
    all.commit();
    assert_eq!(entries(&map), entries(&wanted));
}

#[test]
fn transactions_on_small_nodes() {
    transactions(Nodes::Small);
}

#[test]
#[cfg_attr(miri, ignore = "small nodes take the same steps")]
fn transactions_on_full_nodes() {
    transactions(Nodes::Full);
}

/// Has every request for memory refused of what makes a new map.
fn new_maps(nodes: Nodes) {
    for start in starts(nodes) {
        let wanted = entries(&start);
        for refused in 0.. {
            let (copy, requests) = watched(refused, || start.try_clone());
            if let Ok(copy) = copy {
                assert!(requests <= refused && entries(&copy) == wanted);
                break;
            }
        }
        for refused in 0.. {
            let (built, requests) = watched(refused, || Map::from_sorted_with_nodes(nodes, start.iter()));
            match built {
                Ok(built) => {
                    assert!(requests <= refused && entries(&built) == wanted);
                    break;
                }
                Err(error) => assert_eq!(error, SortedError::OutOfMemory),
            }
        }
        for at in [0, 12, 20, 1700, u64::MAX] {
            let mut split = start.clone();
            let upper = entries(&split.split_at(at).unwrap());
            let lower = entries(&split);
            for refused in 0.. {
                let mut map = start.clone();
                let (off, requests) = watched(refused, || map.split_at(at));
                if let Ok(off) = off {
                    assert!(requests <= refused);
                    assert_eq!((entries(&map), entries(&off)), (lower, upper));
                    break;
                }
                assert_eq!(entries(&map), wanted);
            }
        }
    }
}

#[test]
fn copies_and_parts() {
    new_maps(Nodes::Small);
    new_maps(Nodes::Full);
}

/// What is said to take no memory.
fn without_memory(nodes: Nodes) {
    for start in starts(nodes) {
        let indexes: Vec<u64> = start.iter().map(|(at, _)| at.first()).collect();
        let mut map = start.clone();
        let scattered = (0..indexes.len()).map(|at| indexes[at * 7 % indexes.len()]);
        for index in scattered.clone() {
            let (_, requests) = watched(0, || {
                let Entry::Occupied(mut entry) = map.entry(index) else { return };
                entry.replace(77);
            });
            assert_eq!(requests, 0);
        }
        for (at, index) in scattered.enumerate() {
            let (_, requests) = watched(0, || match at % 3 {
                0 => map.erase(index),
                1 => map.cursor_mut(index).erase(),
                _ => match map.entry(index) {
                    Entry::Occupied(entry) => Some(entry.remove()),
                    Entry::Vacant(_) => None,
                },
            });
            assert_eq!(requests, 0);
            check(|| map.validate());
        }
        let mut map = start.clone();
        let (_, requests) = watched(0, || {
            map.retain(|_, value| value % 3 != 0);
            map.merge_adjacent_by(|a, b| a / 2 == b / 2);
            map.iter().rev().count() + map.gaps(..).count()
        });
        map.validate().unwrap();
        assert_eq!(requests, 0);
        let mut other = start.clone();
        assert_eq!(watched(0, || map.into_iter().count()).1, 0);
        assert_eq!(watched(0, || other.clear()).1, 0);
        other.validate().unwrap();
        assert!(other.is_empty());
    }
}

#[test]
fn erasing_and_merging_ask_for_no_memory() {
    without_memory(Nodes::Small);
    without_memory(Nodes::Full);
}

/// An entry that is cut beside a gap makes the gap longer, whichever leaves the two are in.
fn cut_beside_gaps(nodes: Nodes) {
    let start = with_gaps(nodes, if cfg!(miri) { 12 } else { 300 });
    for at in 1..start.len() {
        for cut in [span(10 * at, 10 * at + 2), span(10 * at + 3, 10 * at + 4)] {
            let mut map = start.clone();
            map.set_node_limit(0, 0);
            map.remove_range(cut).unwrap();
            assert_eq!(
                (entries(&map).len(), map.get(cut.first()), map.get(cut.last())),
                (start.len() as usize, None, None)
            );
        }
    }
}

#[test]
fn cutting_an_entry_beside_a_gap_takes_no_node() {
    cut_beside_gaps(Nodes::Small);
    cut_beside_gaps(Nodes::Full);
}

#[test]
fn a_cleared_map_keeps_its_memory() {
    let mut map = dense(Nodes::Full, if cfg!(miri) { 60 } else { 300 });
    map.clear();
    let (_, requests) = watched(NONE_REFUSED, || map.store(span(3, 4), 1).unwrap());
    assert_eq!(requests, 0);
}

/// Has every request for memory of an operation on a map of any value refused in turn. Returns how many refusals there were.
fn any_value_survives(operation: impl Fn(&mut RangeMap<&'static str>) -> Result<(), OutOfMemory>) -> u64 {
    let mut refusals = 0;
    let sizes: &[u64] = if cfg!(miri) { &[7] } else { &[0, 1, 7, 15, 16, 60, 255, 300] };
    for &count in sizes {
        let mut start = RangeMap::with_nodes(Nodes::Small);
        for at in 0..count {
            start.store(span(10 * at, 10 * at + 7), ["a", "b"][at as usize % 2]).unwrap();
        }
        let mut done = start.clone();
        operation(&mut done).unwrap();
        done.validate().unwrap();
        for refused in 0.. {
            let mut map = start.clone();
            let (answer, requests) = watched(refused, || operation(&mut map));
            check(|| map.validate());
            if answer.is_ok() {
                assert!(requests <= refused);
                assert_eq!(map, done);
                break;
            }
            assert_eq!(map, start, "changed something though it was refused");
            operation(&mut map).unwrap();
            assert_eq!(map, done);
            check(|| map.validate());
            refusals += 1;
        }
    }
    refusals
}

fn no_memory(cause: StoreError) -> OutOfMemory {
    assert_eq!(cause, StoreError::OutOfMemory);
    OutOfMemory
}

#[test]
fn a_map_of_any_value_survives_every_refusal() {
    let mut all = 0;
    let spans = [span(12, 13), span(5, 333), span(0, 0), span(u64::MAX, u64::MAX), Span::ALL];
    for over in spans.into_iter().take(if cfg!(miri) { 1 } else { usize::MAX }) {
        all += any_value_survives(|map| map.store(over, "c").map_err(|rejected| no_memory(rejected.cause)));
        all += any_value_survives(|map| {
            map.store_with(over, "c", |_, _, _| "d").map_err(|rejected| no_memory(rejected.cause))
        });
        for value in ["a", "b", "c"] {
            all += any_value_survives(|map| {
                map.store_merging(over, value).map(drop).map_err(|rejected| no_memory(rejected.cause))
            });
        }
        all += any_value_survives(|map| map.remove_range(over));
        all += any_value_survives(|map| map.remove_range_with(over, |_, _, _| "d"));
        all += any_value_survives(|map| map.take_range(over).map(drop));
        all += any_value_survives(|map| {
            map.replace_range(over, "c").map(drop).map_err(|rejected| no_memory(rejected.cause))
        });
        all += any_value_survives(|map| {
            let mut together = map.transaction();
            together.store(over, "c").map_err(|rejected| no_memory(rejected.cause))?;
            together.remove_range(31..=35)?;
            together.store_with(over, "d", |_, _, _| "e").map_err(|rejected| no_memory(rejected.cause))?;
            together.remove_range_with(33..=34, |_, _, _| "f")?;
            together.insert(33..=34, "g").map_err(|rejected| match rejected.cause {
                InsertError::OutOfMemory => OutOfMemory,
                cause => panic!("{cause}"),
            })?;
            assert_eq!(watched(0, || together.commit()).1, 0, "a commit asks for memory");
            Ok(())
        });
        let near = span(over.first(), over.first().saturating_add(400));
        all += any_value_survives(|map| map.update_slots(near, |_, _| Some("e")));
        all += any_value_survives(|map| map.update_range(over, |_, value| *value = "e"));
        all += any_value_survives(|map| map.split_at(over.first()).map(drop));
        all += any_value_survives(|map| match map.insert(over, "c") {
            Err(rejected) if rejected.cause == InsertError::OutOfMemory => Err(OutOfMemory),
            _ => Ok(()),
        });
    }
    assert!(cfg!(miri) || all > 200, "{all} refusals");
    let none = any_value_survives(|map| {
        map.erase(0);
        map.retain(|_, value| *value == "a");
        map.merge_adjacent_in_with(..200, |_, _| true, |_, kept, _| *kept = "m");
        map.merge_adjacent();
        Ok(())
    });
    assert_eq!(none, 0, "what never takes memory asked for some");
    assert!(any_value_survives(|map| map.try_clone().map(drop)) > 0);
}

/// Places of values are reserved for all gaps at once, and for both ends. With four values they are just as many as are taken:
/// the last gap must not ask for more.
#[test]
fn all_gaps_are_filled_or_none() {
    let start = RangeMap::from_sorted((0..4).map(|at| (span(10 * at, 10 * at + 4), at))).unwrap();
    let mut refusals = 0;
    loop {
        let mut map = start.clone();
        let (answer, _) = watched(refusals, || map.update_slots(2..=32, |_, _| Some(9)));
        check(|| map.validate());
        if answer.is_ok() {
            assert_eq!(map.len(), 9);
            break;
        }
        assert_eq!(map, start, "changed something though it was refused");
        refusals += 1;
    }
    assert!(refusals > 0);
}

/// Sets and overlays: whichever request is refused, what there was stays as it was.
#[test]
fn sets_and_overlays_survive_every_refusal() {
    let spans = |off: u64, len| {
        (0..if cfg!(miri) { 9 } else { 200 }).map(move |at| span(10 * at + off, 10 * at + off + len))
    };
    let (a, b) = (RangeSet::from_sorted(spans(0, 4)).unwrap(), RangeSet::from_sorted(spans(3, 3)).unwrap());
    let [low, high] = [&a, &b].map(|set| RangeMap::from_sorted(set.iter().zip(0..)).unwrap());
    let mut refusals = 0;
    let new: [&dyn Fn() -> Result<u64, OutOfMemory>; 6] = [
        &|| a.union(&b).map(|set| set.len()),
        &|| a.intersection(&b).map(|set| set.len()),
        &|| a.difference(&b).map(|set| set.len()),
        &|| a.try_clone().map(|set| set.len()),
        &|| {
            low.union_with(&high, |_, a: Option<&i32>, b: Option<&i32>| a.or(b).copied()).map(|map| map.len())
        },
        &|| low.intersection_with(&high, |_, a, b| a + b).map(|map| map.len()),
    ];
    for make in new {
        let wanted = make().unwrap();
        refusals += (0..).find(|&refused| watched(refused, make).0.is_ok_and(|len| len == wanted)).unwrap();
    }
    type Change<'a> = &'a dyn Fn(&mut RangeSet) -> Result<(), OutOfMemory>;
    let change: [Change<'_>; 3] =
        [&|set| set.insert(5..7).map(drop).map_err(no_memory), &|set| set.remove(1..3), &|set| {
            set.remove(12..500)
        }];
    for change in change {
        for refused in 0.. {
            let mut set = a.clone();
            let (answer, _) = watched(refused, || change(&mut set));
            set.validate().unwrap();
            if answer.is_ok() {
                break;
            }
            assert_eq!(set, a);
            refusals += 1;
        }
    }
    assert!(cfg!(miri) || refusals > 10, "{refusals} refusals");
}
