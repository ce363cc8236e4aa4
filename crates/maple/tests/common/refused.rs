//! Operations of a shared map that are to be refused, and all that they must leave as it was.

#![allow(dead_code, reason = "not every test uses all of it")]

use crate::common::{Map, STRIDE, Slot, span};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{MapleTree, Transaction, WriteError};
use freehold_units::Span;
use std::sync::Arc;

/// A map of one value, in so many places; an odd number of them touch.
pub(crate) fn map_of(nodes: Nodes, entries: u64, value: &Arc<u32>) -> Map {
    let map = MapleTree::with_nodes(nodes);
    for at in (0..entries).step_by(2).chain((1..entries).step_by(2)) {
        let first = STRIDE * at;
        map.store(span(first, first + if entries.is_multiple_of(2) { 6 } else { 9 }), Arc::clone(value))
            .unwrap();
    }
    map
}

pub(crate) fn entries(map: &Map) -> Vec<Slot> {
    map.validate().unwrap();
    map.read().iter().map(|(at, value)| (at, Some(*value))).collect()
}

/// All that a refused operation leaves as it was. Few nodes wait, so none comes back.
pub(crate) fn state(map: &Map, value: &Arc<u32>) -> (Vec<Slot>, usize, usize, [u64; 3]) {
    let stats = map.backlog();
    let counts = [Arc::strong_count(value) as u64, stats.retired, stats.held as u64];
    (entries(map), map.nodes(), map.height(), counts)
}

pub(crate) type Op = fn(&Map, Span, &Arc<u32>) -> Result<(), WriteError>;

/// Stores together, of which any may be refused.
pub(crate) const TOGETHER: [(u64, u64, bool); 8] = [
    (11, 13, true),
    (31, 31, false),
    (33, 33, true),
    (2, 255, true),
    (100, 101, false),
    (400, 2000, false),
    (402, 403, true),
    (u64::MAX, u64::MAX, true),
];

pub(crate) fn put(
    inside: &mut Transaction<'_, Arc<u32>>,
    at: usize,
    value: &Arc<u32>,
) -> Result<(), WriteError> {
    let (first, last, stores) = TOGETHER[at];
    if stores {
        inside.store(span(first, last), Arc::clone(value)).map_err(|refused| refused.cause)
    } else {
        inside.remove_range(span(first, last))
    }
}

pub(crate) const OPS: [(&str, Op); 6] = [
    ("store", |map, over, value| {
        map.store(over, Arc::clone(value)).map_err(|refused| {
            assert!(Arc::ptr_eq(&refused.value, value));
            refused.cause
        })
    }),
    ("insert", |map, over, value| match map.insert(over, Arc::clone(value)) {
        Err(refused) if !matches!(refused.cause, WriteError::Occupied { .. }) => Err(refused.cause),
        _ => Ok(()),
    }),
    ("erase", |map, over, _| map.erase(over.first()).map(drop)),
    ("remove_range", |map, over, _| map.remove_range(over)),
    ("transaction", |map, over, value| {
        let mut inside = map.transaction();
        inside.store(over, Arc::clone(value)).map_err(|refused| refused.cause)?;
        for at in 0..TOGETHER.len() {
            put(&mut inside, at, value)?;
        }
        inside.commit();
        Ok(())
    }),
    ("store beside a snapshot", |map, over, value| {
        let _snapshot = map.snapshot().map_err(|_| WriteError::OutOfMemory)?;
        map.store(over, Arc::clone(value)).map_err(|refused| refused.cause)
    }),
];
