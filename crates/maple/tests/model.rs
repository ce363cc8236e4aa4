//! Random strings of operations, each answer held against a list that is gone through, every invariant checked after
//! each; on nodes as small as can be and on those that ship.

mod common;

use common::{Model, span};
use freehold_maple::{AllocError, Full, InsertError, RangeMap, Request, Shape, Tiny};
use freehold_units::{Align, Span};
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Op {
    Store(Span, u32),
    Insert(Span, u32),
    RemoveRange(Span),
    Erase(u64),
    Alloc { size: u64, align: Align, window: Span, highest: bool, value: u32 },
    Transaction { stores: Vec<(Span, Option<u32>)>, commit: bool },
    Clear,
}

/// Indexes at both ends of the space and in the middle, few enough that everything meets.
fn index(width: u64) -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..width, 1 => (u64::MAX - width / 4)..=u64::MAX, 1 => Just(1u64 << 40)]
}

fn range(width: u64) -> impl Strategy<Value = Span> {
    prop_oneof![
        8 => (index(width), 0..5u64).prop_map(|(first, reach)| span(first, first.saturating_add(reach))),
        2 => (index(width), index(width)).prop_map(|(a, b)| span(a, b)),
        1 => Just(Span::ALL),
    ]
}

fn op(width: u64) -> impl Strategy<Value = Op> {
    let value = 0..1000u32;
    let stores = prop::collection::vec((range(width), prop::option::of(0..1000u32)), 1..5);
    prop_oneof![
        8 => (range(width), value.clone()).prop_map(|(span, value)| Op::Store(span, value)),
        8 => (range(width), value.clone()).prop_map(|(span, value)| Op::Insert(span, value)),
        3 => range(width).prop_map(Op::RemoveRange),
        6 => index(width).prop_map(Op::Erase),
        6 => (1..9u64, 0..3u32, range(width), any::<bool>(), value).prop_map(|(size, shift, window, highest, value)| {
            Op::Alloc { size, align: Align::new(1 << shift).unwrap(), window, highest, value }
        }),
        2 => (stores, any::<bool>()).prop_map(|(stores, commit)| Op::Transaction { stores, commit }),
        1 => Just(Op::Clear),
    ]
}

/// Does an operation on both, and holds the answers against each other.
fn step<S: Shape>(map: &mut RangeMap<Arc<u32>, S>, model: &mut Model, op: &Op) {
    let taken = map.nodes_taken();
    match op.clone() {
        Op::Store(over, value) => {
            let plan = map.plan_store(over).unwrap();
            let facts = *plan.facts();
            plan.commit(Arc::new(value));
            assert_eq!(map.nodes_taken() - taken, facts.nodes, "{facts:?}");
            model.store(over, value);
        }
        Op::Insert(over, value) => {
            let refused = map.insert(over, Arc::new(value)).err().map(|rejected| rejected.cause);
            assert_eq!(refused, model.in_the_way(over).map(InsertError::Occupied));
            if refused.is_none() {
                model.store(over, value);
            }
        }
        Op::RemoveRange(over) => {
            let plan = map.plan_removal(over).unwrap();
            let facts = *plan.facts();
            plan.commit();
            assert_eq!(map.nodes_taken() - taken, facts.nodes, "{facts:?}");
            model.remove_range(over);
        }
        Op::Erase(index) => {
            let erased = map.erase(index).map(|(at, value)| (at, *value));
            assert_eq!(erased, model.erase(index));
            assert_eq!(map.nodes_taken(), taken, "an erase took a node");
        }
        Op::Alloc { size, align, window, highest, value } => {
            let request = Request::new(size).align(align).window(window);
            let found = model.find_gap(size, align, window, highest);
            let value_word = Arc::new(value);
            let placed = match highest {
                true => map.alloc_highest(&request, value_word),
                false => map.alloc_lowest(&request, value_word),
            };
            let error = match u128::from(size) > window.size_bytes() {
                true => AllocError::LargerThanWindow,
                false => AllocError::NoGap,
            };
            assert_eq!(placed.map_err(|rejected| rejected.cause), found.ok_or(error));
            if let Some(at) = found {
                model.store(at, value);
            }
        }
        Op::Transaction { stores, commit } => {
            let mut after = model.clone();
            let mut transaction = map.transaction();
            for (over, value) in stores {
                match value {
                    Some(value) => {
                        transaction.store(over, Arc::new(value)).unwrap();
                        after.store(over, value);
                    }
                    None => {
                        transaction.remove_range(over).unwrap();
                        after.remove_range(over);
                    }
                }
            }
            if commit {
                transaction.commit();
                *model = after;
            }
        }
        Op::Clear => {
            map.clear();
            model.0.clear();
        }
    }
}

/// Everything that a map says of itself.
fn compare<S: Shape>(map: &RangeMap<Arc<u32>, S>, model: &Model, probe: u64, window: Span) {
    map.validate().unwrap();
    assert_eq!(map.len(), model.0.len() as u64);
    let up: Vec<_> = map.iter().map(|(at, value)| (at, *value)).collect();
    assert_eq!(up, model.0);
    let mut down: Vec<_> = map.iter().rev().map(|(at, value)| (at, *value)).collect();
    down.reverse();
    assert_eq!(down, model.0);
    let part: Vec<_> = map.range(window.first()..=window.last()).map(|(at, value)| (at, *value)).collect();
    let expected: Vec<_> = model.0.iter().copied().filter(|(at, _)| at.overlaps(window)).collect();
    assert_eq!(part, expected);
    assert_eq!(map.gaps(..).collect::<Vec<_>>(), model.gaps());
    assert_eq!(map.gaps(..).rev().count(), model.gaps().len());
    assert_eq!(map.get(probe).copied(), model.at(probe).map(|(_, value)| value));
    let gap = model.gaps().into_iter().find(|gap| gap.contains(probe));
    assert_eq!(map.slot_at(probe).0, model.at(probe).map(|(at, _)| at).or(gap).unwrap());
}

fn run<S: Shape>(ops: &[Op], probes: &[(u64, Span)]) {
    let mut map = RangeMap::<Arc<u32>, S>::with_shape();
    let mut model = Model::default();
    for (op, &(probe, window)) in ops.iter().zip(probes.iter().cycle()) {
        step(&mut map, &mut model, op);
        compare(&map, &model, probe, window);
    }
    let copy = map.try_clone().unwrap();
    compare(&copy, &model, 0, Span::ALL);
    let holders: Vec<_> = map.iter().map(|(_, value)| value as *const u32).collect();
    assert_eq!(holders.len(), model.0.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn small_nodes(ops in prop::collection::vec(op(40), 1..120),
                   probes in prop::collection::vec((index(40), range(40)), 1..8)) {
        run::<Tiny>(&ops, &probes);
    }

    #[test]
    fn full_nodes(ops in prop::collection::vec(op(400), 1..300),
                  probes in prop::collection::vec((index(400), range(400)), 1..8)) {
        run::<Full>(&ops, &probes);
    }
}
