//! A transaction is a version of its own: whatever it stores on a tree of three or four levels, the tree that it began from
//! stays as it was, and is the tree again if it is dropped.

use crate::common::model::Model;
use freehold_maple::{Nodes, WordMap};
use freehold_units::Span;

type Map = WordMap<u32>;

/// From one entry to the next.
const STRIDE: u64 = 10;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

/// So many entries on small nodes, gaps between them if `gaps`; their model too.
fn filled(entries: u64, gaps: bool) -> (Map, Model) {
    let (mut map, mut model) = (Map::with_nodes(Nodes::Small), Model::default());
    for at in 0..entries {
        let first = STRIDE * at;
        let over = span(first, first + if gaps { 6 } else { STRIDE - 1 });
        map.store(over, at as u32).unwrap();
        model.store(over, at as u32);
    }
    (map, model)
}

/// The map is what the model is. `validate` checks the base of an open version, too; not under Miri, which is slow: nodes are
/// safe code, and no word of theirs is looked at.
fn compare(map: &Map, model: &Model) {
    if !cfg!(miri) {
        map.validate().unwrap();
    }
    assert!(map.iter().eq(model.0.iter().copied()));
}

/// Stores or removes in the open version and in the model.
macro_rules! apply {
    ($target:expr, $model:expr, $over:expr, $entry:expr) => {
        if $entry {
            $target.store($over, 9999).unwrap();
            $model.store($over, 9999);
        } else {
            $target.remove_range($over).unwrap();
            $model.remove_range($over);
        }
    };
}

/// Every store and removal between the indexes of `ends`, and behind each one `second`, if there is one: dropped, then
/// committed on a copy.
fn all_in_versions(map: &mut Map, model: &Model, ends: &[u64], second: Option<(Span, bool)>) {
    let nodes = map.nodes();
    for (at, &first) in ends.iter().enumerate() {
        for &last in &ends[at..] {
            for entry in [true, false] {
                let mut after = model.clone();
                let mut version = map.transaction();
                apply!(version, after, span(first, last), entry);
                compare(version.map(), &after);
                if let Some((over, entry)) = second {
                    apply!(version, after, over, entry);
                    compare(version.map(), &after);
                }
                drop(version);
                compare(map, model);
                assert_eq!(map.nodes(), nodes, "nodes are kept after [{first}, {last}]");
                if last % 7 == 0 {
                    let mut copy = map.clone();
                    let mut version = copy.transaction();
                    apply!(version, Model::default(), span(first, last), entry);
                    if let Some((over, entry)) = second {
                        apply!(version, Model::default(), over, entry);
                    }
                    version.commit();
                    compare(&copy, &after);
                }
            }
        }
    }
}

/// In each entry and gap an index at either end and one between, and the last of all.
fn ends(entries: u64, every: usize) -> Vec<u64> {
    let of = |at: u64| [0, 3, 6, 7, 9].map(|off| STRIDE * at + off);
    (0..entries).flat_map(of).step_by(every).chain([u64::MAX]).collect()
}

#[test]
fn the_base_stays_as_it_was() {
    // Miri takes a second for each look at a tree of that size.
    let trees: &[_] = if cfg!(miri) { &[(24, 3, 110)] } else { &[(48, 3, 1), (240, 4, 13)] };
    for &gaps in if cfg!(miri) { [true].as_slice() } else { &[true, false] } {
        for &(entries, height, every) in trees {
            let (mut map, model) = filled(entries, gaps);
            assert!(map.height() >= height, "{entries} entries make {} levels", map.height());
            all_in_versions(&mut map, &model, &ends(entries, every), None);
        }
    }
}

/// A second store finds some of its nodes thawed, and others not.
#[test]
fn a_second_store_in_the_same_version() {
    let (entries, every) = if cfg!(miri) { (24, 300) } else { (100, 17) };
    let (mut map, model) = filled(entries, true);
    let ends = ends(entries, every);
    let top = STRIDE * entries;
    let overs =
        [span(top / 3, top / 3 + 111), span(0, 4), span(95, 96), span(0, top), span(top - 40, u64::MAX)];
    for over in overs.into_iter().take(if cfg!(miri) { 1 } else { usize::MAX }) {
        for entry in [true, false] {
            all_in_versions(&mut map, &model, &ends, Some((over, entry)));
        }
    }
}

/// A removal in a version takes nodes for copies; where there are none, it is refused, and the version is as it was.
#[test]
fn a_version_that_may_have_no_nodes() {
    let entries = if cfg!(miri) { 24 } else { 100 };
    let (mut map, mut model) = filled(entries, true);
    map.set_node_limit(map.nodes(), map.nodes());
    let used = map.nodes();
    let mut version = map.transaction();
    let mut refused = 0;
    for at in (0..entries).step_by(4) {
        let over = span(STRIDE * at, STRIDE * at + 6);
        match version.remove_range(over) {
            Ok(()) => model.remove_range(over),
            Err(_) => refused += 1,
        }
        compare(version.map(), &model);
    }
    version.commit();
    compare(&map, &model);
    assert!(refused > 0 && map.nodes() <= used, "{refused} removals are refused");
}
