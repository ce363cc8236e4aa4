//! Drops of values that panic while other maps have readers.

use crate::common::{alone, ends};
use crate::fuse::{DROP_PANICS, Fuse};
use freehold_maple::MapleTree;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A map whose values wait is dropped, the drop of one panics, and this thread reads another map: nothing waits for that reader.
#[test]
#[cfg_attr(miri, ignore = "the value that is still in the tree is leaked, as documented")]
fn a_drop_that_panics_beside_readers_of_another_map() {
    let _alone = alone();
    ends(|| {
        let other = MapleTree::<u64>::new();
        let snapshot = other.snapshot().unwrap();
        let map = MapleTree::new();
        let values: Vec<_> = (0..4).map(Arc::new).collect();
        for value in &values {
            map.store(3..9, Fuse(Arc::clone(value))).unwrap();
        }
        assert!(map.backlog().held >= 3);
        DROP_PANICS.set(Some(0));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(map))).is_err());
        // Those that waited are dropped.
        assert!(values[..3].iter().all(|value| Arc::strong_count(value) == 1));
        drop(snapshot);
    });
}
