//! The shared map: against the model, beside readers that stopped anywhere, on threads, with readers that hold everything back.

use crate::common::{Random, STRIDE, alone, beside_others, change, compare, filled, span, store, with_room};
use crate::fuse::{Fuse, SPLIT_PANICS};
use freehold_maple::maple_tree::{MapleTree, WriteError};
use freehold_maple::{Nodes, Request, WordMap};
use freehold_units::Span;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn what_the_model_answers() {
    let _beside_others = beside_others();
    let (width, steps) = if cfg!(miri) { (150, 30) } else { (2500, 6000) };
    let (map, mut model) = filled(width / STRIDE, true);
    let mut random = Random(7);
    for step in 0..steps {
        let over = random.span(width);
        match random.below(4) {
            0 => change(&map, &mut model, over, None),
            1 => {
                let erased = with_room(|| map.erase(over.first())).unwrap();
                assert_eq!(erased, model.erase(over.first()).map(|(at, _)| at));
            }
            2 => {
                let insert = || {
                    map.insert(over, Arc::new(step)).map_err(|refused| {
                        assert_eq!(*refused.value, step);
                        refused.cause
                    })
                };
                let refused = with_room(insert).err();
                let in_the_way = model.in_the_way(over);
                assert_eq!(refused, in_the_way.map(|entry| WriteError::Occupied { entry }));
                if in_the_way.is_none() {
                    model.store(over, step);
                }
            }
            _ => change(&map, &mut model, over, Some(step)),
        }
        let (reading, index) = (map.read(), random.below(width));
        assert_eq!(reading.get(index).copied(), model.at(index).map(|(_, value)| value));
        let (at, value) = reading.slot_at(index);
        assert_eq!((at, value.copied()), model.slot(index));
        assert_eq!(map.get_owned(index).map(|value| *value), model.at(index).map(|(_, value)| value));
        let part = reading.range(over).map(|(at, value)| (at, *value));
        assert!(part.eq(model.0.iter().copied().filter(|(at, _)| at.overlaps(over))));
        if step % 50 == 0 {
            compare(&map, &model);
        }
    }
    compare(&map, &model);
}

/// A leaf that was split at its end leaves one with few slots: what takes an entry out of that, and no slot, changes it alone.
#[test]
fn any_entry_of_a_map_without_gaps_is_erased() {
    let _beside_others = beside_others();
    // Under Miri, which is slow, some entries of one map.
    let (counts, every) = if cfg!(miri) { (17..18, 4) } else { (1..70, 1) };
    for (count, nodes) in counts.flat_map(|count| [(count, Nodes::Small), (count, Nodes::Full)]) {
        for erased in (0..count).step_by(every) {
            let map = MapleTree::with_nodes(nodes);
            map.store(.., u64::MAX).unwrap();
            for at in 0..count {
                map.store(at..=at, at).unwrap();
            }
            assert_eq!(map.erase(erased), Ok(Some(span(erased, erased))));
            map.validate().unwrap();
            let left = (0..count).chain([u64::MAX]).filter(|&at| at != erased);
            assert!(map.read().iter().map(|(_, value)| value).eq(left));
        }
    }
}

/// Ops of a round, and readers that begin in it.
const ROUND: usize = 24;

/// On trees of three and four levels, every store and every removal comes between the steps of snapshots that are gone through up
/// and down. Each is the map as it was when it began, whatever was changed and reused in the meantime.
#[test]
fn a_snapshot_stays_as_it_was() {
    let _alone = alone();
    // Under Miri, which is slow, of three.
    for (entries, height, every) in
        [(48, 3, 1), (240, 4, 31)].into_iter().take(if cfg!(miri) { 1 } else { 2 })
    {
        let every = if cfg!(miri) { 1500 * every } else { every };
        let of = |at: u64| [0, 3, 6, 7, 9].map(|off| STRIDE * at + off);
        let ends: Vec<u64> = (0..entries).flat_map(of).step_by(every).chain([u64::MAX]).collect();
        let pairs =
            ends.iter().enumerate().flat_map(|(at, first)| ends[at..].iter().map(|last| span(*first, *last)));
        let ops: Vec<_> = pairs.flat_map(|over| [(over, Some(1 << 20)), (over, None)]).collect();
        let (map, full) = filled(entries, true);
        assert!(map.height() >= height, "{entries} entries make {} levels", map.height());
        for ops in ops.chunks(ROUND) {
            let mut model = full.clone();
            with_room(|| map.remove_range(..)).unwrap();
            full.0.iter().for_each(|&(over, value)| store(&map, over, value));
            let moments: Vec<_> = ops.iter().map(|_| OnceCell::new()).collect();
            let mut readers = Vec::new();
            for (at, (&(over, value), moment)) in ops.iter().zip(&moments).enumerate() {
                let reading = moment.get_or_init(|| map.snapshot().unwrap());
                let (seen, expected) =
                    (reading.iter().map(|(at, value)| (at, *value)), model.0.clone().into_iter());
                let both: [Box<dyn Iterator<Item = (Span, u32)>>; 2] = if at % 2 == 0 {
                    [Box::new(seen), Box::new(expected)]
                } else {
                    [Box::new(seen.rev()), Box::new(expected.rev())]
                };
                readers.push(both);
                change(&map, &mut model, over, value);
                for [seen, expected] in &mut readers {
                    assert_eq!(seen.next(), expected.next());
                }
            }
            readers.into_iter().for_each(|[seen, expected]| assert!(seen.eq(expected)));
            compare(&map, &model);
        }
        let stats = map.backlog();
        assert!(cfg!(miri) || stats.reclaimed > 10 * stats.peak as u64, "nodes are reused: {stats:?}");
    }
}

/// A reader that stays: memory within the limit, stores refused and nothing lost, everything given back afterwards.
#[test]
#[cfg_attr(miri, ignore = "it takes thousands of stores to fill the backlog")]
fn a_reader_that_stalls() {
    let _alone = alone();
    let value = Arc::new(7);
    let map = MapleTree::new();
    for at in 0..64 {
        map.store(span(STRIDE * at, STRIDE * at + 6), Arc::clone(&value)).unwrap();
    }
    let stalled = map.read();
    let seen = stalled.iter();
    let mut stores = 0;
    let refused = loop {
        match map.store(span(STRIDE * (stores % 64), STRIDE * (stores % 64) + 6), Arc::clone(&value)) {
            Ok(()) => stores += 1,
            Err(refused) => break refused,
        }
    };
    assert!(Arc::ptr_eq(&refused.value, &value));
    let limit = map.backlog().limit;
    assert!(
        matches!(refused.cause, WriteError::Readers { held, limit: most, .. } if held <= limit && most == limit)
    );
    drop(refused);
    assert!(matches!(map.remove_range(0..5), Err(WriteError::Readers { .. })));
    assert!(matches!(map.erase(3), Err(WriteError::Readers { .. })));
    map.validate().unwrap();
    assert!(stores > 1000 && map.nodes() <= limit + 20, "{stores} stores, {} nodes", map.nodes());
    assert_eq!(seen.count(), 64);
    drop(stalled);
    for at in 0..2000 {
        map.store(span(STRIDE * (at % 64), STRIDE * (at % 64) + 6), Arc::clone(&value)).unwrap();
    }
    map.validate().unwrap();
    assert!(map.backlog().held < 1200 && map.nodes() < 1200, "{:?}", map.backlog());
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// A store over one entry, whole, is one of its word: with nothing to drop it is not refused, whatever readers hold back, but for
/// a snapshot's sake.
#[test]
#[cfg_attr(miri, ignore = "it takes thousands of stores to fill the backlog")]
fn a_word_is_stored_beside_a_reader_that_stalls() {
    let _alone = alone();
    let map = MapleTree::<u64>::new();
    map.store(0..10, 0).unwrap();
    let stalled = map.read();
    let refused = (20..).find_map(|last| map.store(20..=last, 1).err()).unwrap();
    assert!(matches!(refused.cause, WriteError::Readers { .. }));
    let held = map.backlog().held;
    for value in 1..=100 {
        map.store(0..10, value).unwrap();
        assert_eq!(stalled.get(3), Some(value));
    }
    assert_eq!(map.backlog().held, held);
    let moment = map.snapshot().unwrap();
    assert!(matches!(map.store(0..10, 101).unwrap_err().cause, WriteError::Readers { .. }));
    drop(stalled);
    map.store(0..10, 102).unwrap();
    assert_eq!((moment.get(3), map.read().get(3)), (Some(100), Some(102)));
    map.validate().unwrap();
}

/// A value that a reader has stays while the reader does, also if it has left the map.
#[test]
fn values_wait_for_readers() {
    let _beside_others = beside_others();
    let map = MapleTree::new();
    let value = Arc::new(String::from("first"));
    map.store(0..100, Arc::clone(&value)).unwrap();
    let reading = map.read();
    let held = reading.get(50).unwrap();
    map.store(40..60, Arc::new(String::from("second"))).unwrap();
    assert_eq!(
        Arc::strong_count(&value),
        3,
        "the old version's, which the lower part shares; the upper part's; this"
    );
    map.remove_range(..).unwrap();
    assert_eq!((held.as_str(), reading.get(50)), ("first", None));
    drop(reading);
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Also one whose place another takes, in a leaf that the reader has.
#[test]
fn a_value_whose_word_is_replaced_waits_for_readers() {
    let _beside_others = beside_others();
    let (map, value) = (MapleTree::new(), Arc::new(String::from("first")));
    map.store(0..100, Arc::clone(&value)).unwrap();
    let reading = map.read();
    let held = reading.get(50).unwrap();
    map.store(0..100, Arc::new(String::from("second"))).unwrap();
    assert_eq!((held.as_str(), reading.get(50).map(String::as_str)), ("first", Some("second")));
    assert_eq!((Arc::strong_count(&value), map.backlog().held), (2, 1));
    drop(reading);
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Two entries are stored at once with equal values, again and again, the ranges around them split and merged: a reader that goes
/// through the map never finds them unequal, and never a range that was not stored.
#[test]
fn threads_see_each_store_wholly() {
    let _beside_others = beside_others();
    const PAIRS: u64 = 40;
    let stores = if cfg!(miri) { 20 } else { 30_000 };
    let map = MapleTree::<u64>::with_nodes(Nodes::Small);
    for at in 0..PAIRS {
        map.store(span(100 * at, 100 * at + 99), 0).unwrap();
    }
    let (done, started) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (map, done, started) = (&map, &done, &started);
            scope.spawn(move || {
                let mut random = Random(thread + 3);
                let mut newest = 0;
                while !done.load(Ordering::Acquire) {
                    let reading = map.read();
                    let index = random.below(100 * PAIRS);
                    let (at, value) = reading.slot_at(index);
                    let whole = span(index / 100 * 100, index / 100 * 100 + 99);
                    let middle = span(whole.first() + 30, whole.first() + 60);
                    let known = [Some(whole), Some(middle), whole.below(middle), whole.above(middle)];
                    assert!(known.contains(&Some(at)) && value.is_some(), "{at} was never stored");
                    let (mut last, mut most) = (None::<Span>, 0);
                    for (at, value) in reading.iter() {
                        // The index behind the last one's is in it. What was stored meanwhile may begin below.
                        assert!(
                            last.is_none_or(|last| at.contains(last.last() + 1)),
                            "{at} follows {last:?}"
                        );
                        (last, most) = (Some(at), most.max(value));
                    }
                    assert!(most >= newest, "what was seen is not taken back");
                    newest = most;
                    assert!(newest <= started.load(Ordering::SeqCst));
                }
            });
        }
        for store in 1..=stores {
            let first = store * 7 % PAIRS * 100;
            started.store(store, Ordering::SeqCst);
            let over = if store % 3 == 0 { span(first + 30, first + 60) } else { span(first, first + 99) };
            while map.store(over, store).is_err() {
                std::thread::yield_now();
            }
        }
        done.store(true, Ordering::Release);
    });
    map.validate().unwrap();
}

#[test]
fn what_fails_changes_nothing() {
    let _beside_others = beside_others();
    let map = MapleTree::with_nodes(Nodes::Small);
    for at in 0..40 {
        map.store(span(STRIDE * at, STRIDE * at + 8), Fuse(Arc::new(at as u32))).unwrap();
    }
    let entries = || map.read().iter().collect::<Vec<_>>();
    let before = entries();
    SPLIT_PANICS.set(true);
    assert!(catch_unwind(AssertUnwindSafe(|| map.store(span(203, 204), Fuse(Arc::new(9))))).is_err());
    map.validate().unwrap();
    assert_eq!(entries(), before);
    map.set_node_limit(0, 0);
    let refused = map.store(span(203, 204), Fuse(Arc::new(9))).unwrap_err();
    assert_eq!((*refused.value.0, refused.cause), (9, WriteError::OutOfMemory));
    assert_eq!(map.erase(203), Err(WriteError::OutOfMemory));
    let refused = map.store(7..7, Fuse(Arc::new(9))).unwrap_err();
    assert_eq!(refused.cause, WriteError::EmptyRange);
    map.validate().unwrap();
    assert_eq!(entries(), before);
    map.set_node_limit(usize::MAX, usize::MAX);
    map.store(span(203, 204), Fuse(Arc::new(9))).unwrap();
    assert_eq!(map.len(), 42);
}

/// Searches for gaps answer as those of a map with one owner, and see no open transaction.
#[test]
fn gaps_are_found_as_readers_see_them() {
    let (map, mut model) = (MapleTree::new(), WordMap::new());
    let entries = if cfg!(miri) { 40 } else { 2000 };
    for at in 0..entries {
        let place = Span::new(at * 64 + at % 7, at * 64 + 40 + at % 11).unwrap();
        map.store(place, at as u32).unwrap();
        model.store(place, at as u32).unwrap();
    }
    let check = |model: &WordMap<u32>| {
        for size in [0, 1, 13, 20, 33, 64, u64::MAX] {
            for window in [Span::ALL, Span::new(100, entries * 32).unwrap(), Span::new(50, 60).unwrap()] {
                let request = Request::new(size).window(window);
                assert_eq!(map.lowest_gap(&request), model.lowest_gap(&request), "{size} in {window}");
                assert_eq!(map.highest_gap(&request), model.highest_gap(&request), "{size} in {window}");
            }
        }
    };
    check(&model);
    let mut open = map.transaction();
    open.remove_range(70..=entries * 40).unwrap();
    check(&model);
    open.commit();
    model.remove_range(70..=entries * 40).unwrap();
    check(&model);
    map.remove_range(..).unwrap();
    model.remove_range(..).unwrap();
    check(&model);
}
