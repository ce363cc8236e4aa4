//! What a shared map does where readers hold back much: memory is bounded, what is refused has changed nothing, what is granted is
//! done at once, and everything comes back.

use crate::common::{Map, Model, Random, alone, span};
use crate::refused::{OPS, entries, map_of, state};
use crate::refusing::{NONE_REFUSED, watched};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{Snapshot, WriteError};
use std::sync::Arc;

/// 100,000 entries go at once, which is more than may wait: granted, and everything comes back, if a reader holds it for a while
/// also.
#[test]
#[cfg_attr(miri, ignore = "it takes many stores to have so many entries")]
fn a_large_removal() {
    let _alone = alone();
    let count = 100_000;
    for transaction in [false, true] {
        let (value, map) = (Arc::new(7), Map::new());
        for at in 0..count {
            map.store(span(at * 2, at * 2), Arc::clone(&value)).unwrap();
        }
        let reading = map.read();
        let seen = reading.get(7 * 2).map(std::ptr::from_ref);
        assert_eq!(seen, Some(Arc::as_ptr(&value)));
        let limit = map.backlog().limit;
        if transaction {
            let mut inside = map.transaction();
            inside.remove_range(..).unwrap();
            // More than the limit is kept for the commit: it is granted all the same, as no store of it is in the backlog yet.
            inside.store(5..=5, Arc::clone(&value)).unwrap();
            assert_eq!(watched(NONE_REFUSED, || inside.commit()).1, 0);
        } else {
            map.remove_range(..).unwrap();
        }
        assert_eq!(map.len(), u64::from(transaction));
        assert!(map.backlog().held > count as usize && map.backlog().held < 2 * count as usize);
        assert_eq!(Arc::strong_count(&value) as u64, 1 + count + u64::from(transaction));
        let refused = map.store(1..=1, Arc::clone(&value)).unwrap_err().cause;
        assert!(
            matches!(refused, WriteError::Readers { held, limit: most, .. } if held > limit && most == limit)
        );
        drop(reading);
        map.store(1..=1, Arc::clone(&value)).unwrap();
        map.remove_range(..).unwrap();
        map.store(1..=1, Arc::clone(&value)).unwrap();
        map.validate().unwrap();
        assert!(map.backlog().held < 100, "{:?}", map.backlog());
        assert!(map.nodes() < 100 && Arc::strong_count(&value) < 100, "{} nodes", map.nodes());
        drop(map);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

/// A reader that stays, until stores are refused: memory is bounded, what the reader sees is there, and everything comes back.
fn stalls<'m, K>(map: &'m Map, value: &Arc<u32>, hold: impl FnOnce(&'m Map) -> K, look: impl Fn(&K)) {
    let (before, held) = (entries(map), hold(map));
    let mut random = Random(17);
    let full = |cause| {
        let limit = map.backlog().limit;
        matches!(cause, WriteError::Readers { held, limit: most, .. } if held >= limit && held < limit + 300 && most == limit)
    };
    let mut stores = 0;
    let refused = loop {
        match map.store(random.small_span(600), Arc::clone(value)) {
            Ok(()) => stores += 1,
            Err(refused) => break refused,
        }
    };
    assert!(stores > 500 && full(refused.cause) && Arc::ptr_eq(&refused.value, value), "{stores} stores");
    drop(refused);
    let now = state(map, value);
    for _ in 0..3 {
        for (name, operation) in OPS {
            let refused = operation(map, span(0, 700), value);
            assert!(name == "insert" || refused.is_err_and(full), "{name}");
        }
        assert_eq!(state(map, value), now);
    }
    // Nothing to be done takes no room.
    assert_eq!((map.erase(1 << 40), map.remove_range(1 << 40..1 << 41)), (Ok(None), Ok(())));
    let mut inside = map.transaction();
    assert!(full(inside.store(5..=5, Arc::clone(value)).unwrap_err().cause));
    inside.commit();
    assert_eq!(state(map, value), now);
    assert!(map.nodes() < map.backlog().limit + 400 && map.bytes() < 16 << 20, "{} bytes", map.bytes());
    look(&held);
    drop(held);
    for (at, &(over, _)) in before.iter().cycle().take(3000).enumerate() {
        map.store(over, Arc::clone(value)).unwrap_or_else(|refused| panic!("{at}: {:?}", refused.cause));
    }
    map.validate().unwrap();
    assert!(map.backlog().held < 1300 && map.nodes() < 1300, "{:?}", map.backlog());
    assert!(Arc::strong_count(value) < 2000);
}

#[test]
#[cfg_attr(miri, ignore = "it takes thousands of stores to fill the backlog")]
fn readers_of_each_kind_that_stall() {
    let _alone = alone();
    let value = Arc::new(7);
    for nodes in [Nodes::Small, Nodes::Full] {
        let map = map_of(nodes, 50, &value);
        stalls(&map, &value, |map| map.read(), |reading| assert!(reading.iter().count() > 0));
        stalls(&map, &value, |map| map.read_owned().unwrap(), |reading| assert!(reading.iter().count() > 0));
        let was = entries(&map);
        let seen = |snapshot: &Snapshot<'_, Arc<u32>>| {
            assert!(snapshot.iter().map(|(at, value)| (at, Some(*value))).eq(was.iter().copied()));
        };
        stalls(&map, &value, |map| map.snapshot().unwrap(), seen);
        // One that began, and is gone, between two others that stay.
        stalls(&map, &value, |map| (map.snapshot().unwrap(), map.read(), drop(map.snapshot())), |_| ());
        drop(map);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

/// Snapshots that are held while others come and go, and 10,000 stores: each is what it was; then all comes back.
#[test]
fn snapshots_beside_many_stores() {
    let _alone = alone();
    let (stores, every) = if cfg!(miri) { (20, 4) } else { (10_000, 100) };
    let value = Arc::new(7);
    let map = map_of(Nodes::Small, 60, &value);
    let mut model = Model(entries(&map).into_iter().map(|(at, _)| (at, 7)).collect());
    let mut random = Random(19);
    let mut snapshots = Vec::new();
    for at in 0..stores {
        if at % every == 0 {
            snapshots.push((map.snapshot().unwrap(), model.clone()));
        }
        if snapshots.len() > 4 {
            let (snapshot, was) = snapshots.remove(at / every % 2);
            assert!(snapshot.iter().map(|(at, value)| (at, *value)).eq(was.0.iter().copied()));
            assert!(snapshot.gaps(..).eq(was.gaps()));
        }
        let over = random.small_span(600);
        if random.below(3) == 0 {
            map.remove_range(over).unwrap();
            model.remove_range(over);
        } else {
            map.store(over, Arc::clone(&value)).unwrap();
            model.store(over, 7);
        }
    }
    crate::common::compare(&map, &model);
    let stats = map.backlog();
    assert!(cfg!(miri) || stats.reclaimed > 20_000 && stats.peak < map.backlog().limit, "{stats:?}");
    drop(snapshots);
    for at in 0..1200 {
        map.store(span(at % 60 * 10, at % 60 * 10 + 6), Arc::clone(&value)).unwrap();
    }
    assert!(map.backlog().held < 1300 && map.nodes() < 1300, "{:?}", map.backlog());
    drop(map);
    assert_eq!(Arc::strong_count(&value), 1);
}
