//! When removed values are dropped: under prompt and batched reclamation, in a domain of the map's own.

use crate::common::ends;
use crate::fuse::{DROP_CALLS, DROP_PANICS, Fuse};
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::{Domain, Reclaim, WriteError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

type Map = MapleTree<Arc<u32>>;

/// Maps whose domains are their own, so that tests beside them change no count.
fn prompt() -> [Map; 2] {
    [Domain::new(), Domain::fenced()]
        .map(|domain| Map::builder().domain(domain).reclaim(Reclaim::Prompt).build())
}

fn holders(value: &Arc<u32>) -> usize {
    Arc::strong_count(value) - 1
}

type Change = fn(&Map);

/// Each way to remove the entry 10..20.
const REMOVALS: [(&str, Change); 7] = [
    ("erase", |map| assert!(map.erase(12).unwrap().is_some())),
    ("remove_range", |map| map.remove_range(..).unwrap()),
    ("store over it alone", |map| map.store(10..20, Arc::new(0)).unwrap()),
    ("store over more", |map| map.store(5..40, Arc::new(0)).unwrap()),
    ("a transaction", |map| {
        let mut inside = map.transaction();
        inside.remove_range(10..20).unwrap();
        drop(inside.commit());
    }),
    ("erase_under_lock", |map| drop(map.erase_under_lock(10).unwrap())),
    ("erase_waiting", |map| assert!(map.erase_waiting(10, Duration::ZERO).unwrap().is_some())),
];

#[test]
fn a_value_is_dropped_before_the_call_returns_that_removes_it() {
    for (name, remove) in REMOVALS {
        for map in prompt() {
            let value = Arc::new(7);
            map.store(10..20, Arc::clone(&value)).unwrap();
            map.store(30..34, Arc::new(1)).unwrap();
            let polls = map.backlog().polls;
            remove(&map);
            assert_eq!(holders(&value), 0, "{name}");
            assert_eq!(map.backlog().polls - polls, 1, "{name}: one barrier");
            map.validate().unwrap();
        }
    }
}

#[test]
fn a_change_that_removes_no_value_issues_no_barrier() {
    for map in prompt() {
        for at in 0..if cfg!(miri) { 20 } else { 100 } {
            map.store(at * 10..at * 10 + 5, Arc::new(0)).unwrap();
        }
        let mut inside = map.transaction();
        inside.store(5000..5010, Arc::new(0)).unwrap();
        drop(inside.commit());
        assert_eq!((map.erase(7).unwrap(), map.backlog().polls), (None, 0));
    }
}

/// A word that needs no drop is not kept for readers: they see the old or the new one.
#[test]
fn values_without_a_drop_do_not_wait() {
    let map: MapleTree<u64> = MapleTree::builder().domain(Domain::new()).build();
    map.store(10..20, 1).unwrap();
    let (reading, before) = (map.read(), map.backlog().held);
    for value in 2..100 {
        map.store(10..20, value).unwrap();
    }
    assert_eq!((reading.get(12), map.backlog().held), (Some(99), before));
}

/// A change is published at the lowest node that has all of it below: what lies above is not copied for good.
#[test]
fn a_small_change_retires_the_nodes_below_its_lowest_link() {
    let map: MapleTree<u64> = MapleTree::builder().domain(Domain::new()).build();
    // Three levels or more.
    for at in 0..if cfg!(miri) { 150 } else { 3000 } {
        map.store(at * 10..at * 10 + 5, at).unwrap();
    }
    map.reclaim().unwrap();
    let reading = map.read();
    let mut changes = map.transaction();
    changes.store(1000..1005, 0).unwrap();
    drop(changes.commit());
    assert_eq!(map.backlog().held, 1, "the leaf, of {} nodes", map.nodes());
    assert_eq!((reading.get(1000), map.read().get(1000)), (Some(0), Some(0)));
    map.validate().unwrap();
}

#[test]
fn a_reader_delays_the_drop_to_the_first_change_after_it_has_left() {
    let later: [(&str, Change); 6] = [
        ("store", |map| map.store(90..91, Arc::new(0)).unwrap()),
        ("insert", |map| map.insert(90..91, Arc::new(0)).unwrap()),
        ("erase of nothing", |map| assert_eq!(map.erase(90).unwrap(), None)),
        ("reclaim", |map| assert_eq!(map.reclaim().unwrap(), 0)),
        ("synchronize", |map| map.synchronize().unwrap()),
        ("drop_leftovers", Map::drop_leftovers),
    ];
    for (name, call) in later {
        for map in prompt() {
            let value = Arc::new(7);
            map.store(10..20, Arc::clone(&value)).unwrap();
            let reading = map.read();
            let seen = reading.get(15).unwrap();
            assert_eq!(map.erase(10).unwrap().map(|span| span.first()), Some(10));
            map.store(40..50, Arc::new(0)).unwrap();
            assert_eq!((*seen, holders(&value)), (7, 1), "the reader still has it");
            drop(reading);
            call(&map);
            assert_eq!(holders(&value), 0, "{name}");
        }
    }
}

/// Beside readers that stay, what eight changes removed is kept apart; what later ones remove waits for later readers.
#[test]
fn beyond_eight_changes_what_waits_waits_together() {
    for map in prompt() {
        let values: [_; 11] = std::array::from_fn(|at| Arc::new(at as u32));
        for value in &values {
            map.store(u64::from(10 * **value)..=u64::from(10 * **value), Arc::clone(value)).unwrap();
        }
        let erase = |at: u64| assert!(map.erase(10 * at).unwrap().is_some());
        let held = || values.iter().filter(|value| holders(value) > 0).count();
        let first = map.read_owned().unwrap();
        (0..10).for_each(erase);
        let later = map.read_owned().unwrap();
        erase(10);
        assert_eq!(held(), 11);
        drop(first);
        map.drop_leftovers();
        assert_eq!(held(), 4, "those of the first seven changes are dropped");
        drop(later);
        map.drop_leftovers();
        assert_eq!(held(), 0);
    }
}

/// While a reader is known to be inside, a look at its slot is enough: no barrier.
#[test]
fn a_reader_that_stays_costs_no_barrier_for_each_change() {
    for map in prompt() {
        map.store(10..20, Arc::new(7)).unwrap();
        let reading = map.read();
        map.erase(10).unwrap();
        let polls = map.backlog().polls;
        for at in 100..if cfg!(miri) { 120 } else { 200 } {
            map.store(at..=at, Arc::new(0)).unwrap();
        }
        assert_eq!(map.backlog().polls, polls);
        drop(reading);
    }
}

#[test]
fn batches_wait_and_an_idle_map_can_be_emptied() {
    let map = Map::builder().domain(Domain::new()).build();
    let value = Arc::new(7);
    for _ in 0..20 {
        map.store(10..20, Arc::clone(&value)).unwrap();
        map.erase(10).unwrap();
    }
    assert_eq!((holders(&value), map.backlog().polls), (20, 0));
    assert_eq!((map.reclaim().unwrap(), map.backlog().held, holders(&value)), (0, 0, 0));
    map.store(10..20, Arc::clone(&value)).unwrap();
    let reading = map.read();
    map.erase(10).unwrap();
    assert!(map.reclaim().unwrap() > 0);
    assert_eq!((holders(&value), map.synchronize()), (1, Err(WriteError::Reading)));
    drop(reading);
    map.synchronize().unwrap();
    assert_eq!((map.backlog().held, holders(&value)), (0, 0));
}

#[test]
fn synchronize_waits_for_another_threads_reader() {
    for map in prompt() {
        let value = Arc::new(7);
        map.store(10..20, Arc::clone(&value)).unwrap();
        let (inside, left) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let reading = map.read();
                inside.store(true, Ordering::Release);
                std::thread::sleep(Duration::from_millis(5));
                assert!(reading.get(10).is_none_or(|value| *value == 7));
                left.store(true, Ordering::Release);
            });
            while !inside.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            map.erase(10).unwrap();
            map.synchronize().unwrap();
            assert!(left.load(Ordering::Acquire), "it did not wait");
            assert_eq!((holders(&value), map.backlog().held), (0, 0));
        });
    }
}

/// Fills a map's backlog beside a reader that stays.
fn fill(map: &Map) -> WriteError {
    (0..1 << 20).find_map(|at| map.store(at % 64 * 4..at % 64 * 4 + 2, Arc::new(0)).err()).unwrap().cause
}

#[test]
fn a_reader_of_one_domain_refuses_no_change_in_another() {
    let [stalled, other] =
        [(); 2].map(|()| Map::builder().domain(Domain::new()).backlog_limit(100 * 336).build());
    let reading = stalled.read();
    assert!(matches!(fill(&stalled), WriteError::Readers { limit: 100, .. }));
    for at in 0..if cfg!(miri) { 300 } else { 20_000_u64 } {
        other.store(at % 64 * 4..at % 64 * 4 + 2, Arc::new(0)).unwrap();
    }
    // Two maps that share a domain share its readers.
    let domain = Arc::new(Domain::named("both"));
    let [first, second] =
        [(); 2].map(|()| Map::builder().domain(Arc::clone(&domain)).backlog_limit(100 * 336).build());
    let held = first.read();
    let WriteError::Readers { oldest: Some(oldest), .. } = fill(&second) else {
        panic!("its reader is the other's")
    };
    assert_eq!(oldest.domain, "both");
    drop((reading, held));
    second.store(0..9, Arc::new(0)).unwrap();
}

#[test]
fn the_default_limit_is_the_one_that_is_documented() {
    let map = MapleTree::<u64>::new();
    assert_eq!((map.backlog().limit, MapleTree::<u64>::BACKLOG_LIMIT), (8192, 8192 * 336));
    assert_eq!(format!("{:.1}", MapleTree::<u64>::BACKLOG_LIMIT as f64 / f64::from(1 << 20)), "2.6");
}

#[test]
fn an_erase_waits_for_readers_up_to_its_limit() {
    let map = Map::builder().domain(Domain::named("bus")).backlog_limit(60 * 336).build();
    let own = map.read();
    fill(&map);
    assert_eq!(map.erase_waiting(1, Duration::MAX), Err(WriteError::Reading));
    drop(own);
    let moving = map.read_owned().unwrap();
    fill(&map);
    let begin = Instant::now();
    let refused = map.erase_waiting(1, Duration::from_millis(3)).unwrap_err();
    assert!(begin.elapsed() >= Duration::from_millis(3));
    assert!(matches!(refused, WriteError::Readers { oldest: Some(oldest), .. } if oldest.domain == "bus"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(3));
            drop(moving);
        });
        assert_eq!(map.erase_waiting(1, Duration::MAX).unwrap().map(|span| span.first()), Some(0));
    });
}

#[test]
fn a_wait_for_readers_ends_where_there_are_none() {
    ends(|| {
        // It may keep nothing, so it refuses every change.
        let map = MapleTree::<u64>::builder().domain(Domain::new()).backlog_limit(0).build();
        let is_full = |error: &WriteError| matches!(error, WriteError::Readers { .. });
        for limit in [Duration::ZERO, Duration::from_millis(3), Duration::MAX] {
            let refused = map.waiting(limit, || map.store(0..9, 1).map_err(WriteError::from), is_full);
            assert_eq!(refused, Err(WriteError::Readers { held: 0, limit: 0, oldest: None }));
        }
    });
}

/// A stranger's call may panic with the drop of what another call removed, but then it has changed nothing.
#[test]
fn a_drop_that_panics_costs_a_stranger_nothing() {
    for reclaim in [Reclaim::Prompt, Reclaim::Batched] {
        let map = MapleTree::builder().domain(Domain::new()).reclaim(reclaim).build();
        let bad = Arc::new(13);
        map.store(0..5, Fuse(Arc::clone(&bad))).unwrap();
        let reading = map.read();
        map.erase(0).unwrap();
        drop(reading);
        DROP_PANICS.set(Some(13));
        let mut panicked = 0;
        // A batch is of 512 records.
        let stores = match reclaim {
            Reclaim::Prompt if cfg!(miri) => 20,
            _ if cfg!(miri) => 600,
            _ => 2000,
        };
        for at in 1..=stores {
            let span = at * 10..at * 10 + 5;
            let stored =
                catch_unwind(AssertUnwindSafe(|| map.store(span.clone(), Fuse(Arc::new(0))).unwrap()));
            // What the call says is true: it has stored, or it has changed nothing.
            assert_eq!(stored.is_ok(), map.read().get(span.start).is_some());
            if stored.is_err() {
                panicked += 1;
                map.store(span, Fuse(Arc::new(0))).unwrap();
            }
        }
        assert_eq!((panicked, map.len(), Arc::strong_count(&bad)), (1, stores, 1), "{reclaim:?}");
    }
}

/// A value's own removal panics with its drop, after it has been made.
#[test]
fn a_drop_that_panics_does_so_in_its_own_removal() {
    let map = MapleTree::builder().domain(Domain::new()).reclaim(Reclaim::Prompt).build();
    map.store(0..5, Fuse(Arc::new(13))).unwrap();
    map.store(10..15, Fuse(Arc::new(14))).unwrap();
    DROP_PANICS.set(Some(13));
    assert!(catch_unwind(AssertUnwindSafe(|| map.erase(0))).is_err());
    assert_eq!((map.read().get(0), map.len(), map.backlog().held), (None, 1, 0));
    map.validate().unwrap();
}

/// A drop may use the map: no lock is held.
#[test]
fn a_drop_may_change_the_map() {
    static MAP: LazyLock<MapleTree<Fuse>> =
        LazyLock::new(|| MapleTree::builder().domain(Domain::new()).reclaim(Reclaim::Prompt).build());
    let map = &*MAP;
    map.store(0..5, Fuse(Arc::new(1))).unwrap();
    map.store(10..15, Fuse(Arc::new(2))).unwrap();
    DROP_CALLS.set(Some(Box::new(move || assert!(map.erase(10).unwrap().is_some()))));
    map.erase(0).unwrap();
    assert_eq!((map.len(), map.backlog().held), (0, 0));
    // Also while a reader was inside.
    map.store(0..5, Fuse(Arc::new(1))).unwrap();
    let reading = map.read();
    map.erase(0).unwrap();
    drop(reading);
    DROP_CALLS.set(Some(Box::new(move || map.store(20..25, Fuse(Arc::new(3))).unwrap())));
    map.store(30..35, Fuse(Arc::new(4))).unwrap();
    assert_eq!((map.len(), map.backlog().held > 0), (2, true));
}
