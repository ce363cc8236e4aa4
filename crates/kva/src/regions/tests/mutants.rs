//! Trees that are broken on purpose: `validate` finds each, by the invariant that it breaks.

use super::super::leaf::BEYOND;
use super::super::{EntryHandle, Order, RegionAttrs, RegionTree, search};
use super::{bytes, take, tree_of, wanted};
use crate::bplus::LeafPath;

/// Three levels, gaps of two sizes, a tail, and a class of alignment that was started.
fn sound() -> RegionTree<u32> {
    let mut tree = tree_of(1 << 40);
    for at in 0..3000 {
        take(&mut tree, at * 10, at * 10 + 3 + at % 2);
    }
    let aligned = wanted(0, 7, 3, (0, 1 << 40)).unwrap();
    search(&mut tree, Order::LowestFirst, &aligned, &mut ());
    assert_eq!((tree.tree.height, tree.tree.classes.masks()), (2, &[0, 7][..]));
    tree
}

/// The path to a leaf in the middle, of which no step takes the first child.
fn middle(tree: &RegionTree<u32>) -> LeafPath {
    let path = (0..3000)
        .map(|at| tree.tree.path_to(at * 10 + 15_000))
        .find(|path| path.steps[..2].iter().all(|step| step.slot() > 0));
    path.unwrap()
}

/// The result of `validate` after a change.
fn caught(change: impl FnOnce(&mut RegionTree<u32>)) -> &'static str {
    let mut tree = sound();
    tree.validate().unwrap();
    change(&mut tree);
    tree.validate().expect_err("it is broken").invariant
}

#[test]
fn a_separator_that_is_stale() {
    for by in [1, -1] {
        let stale = caught(|tree| {
            let path = middle(tree);
            let low = tree.tree.leaves[path.leaf].low();
            tree.tree.set_low(&path, low.saturating_add_signed(by));
        });
        assert_eq!(stale, "K8");
        let above = caught(|tree| {
            // As if the leaf's parent were the leaf.
            let mut path = middle(tree);
            let low = tree.tree.inners[path.steps[1].inner()].low(path.steps[1].slot());
            path.steps[0] = path.steps[1];
            tree.tree.set_low(&path, low.saturating_add_signed(by));
        });
        assert_eq!(above, "K8");
    }
}

/// A tree in which a bound of a child in the middle is changed.
fn with_bound(level: usize, class: usize, change: impl Fn(u64) -> u64) -> impl Fn(&mut RegionTree<u32>) {
    move |tree| {
        let step = middle(tree).steps[level];
        let row = tree.tree.inners[step.inner()].row(class);
        row.set(step.slot(), change(row.bound(step.slot())));
    }
}

#[test]
fn a_bound_that_is_too_low() {
    for level in [0, 1] {
        assert_eq!(caught(with_bound(level, 0, |bound| bound - 1)), "K9");
        assert_eq!(caught(with_bound(level, 1, |_| 0)), "K9");
    }
    // A bound that is too high only costs time.
    let mut tree = sound();
    with_bound(1, 0, |bound| bound + 1)(&mut tree);
    assert_eq!(tree.validate(), Ok(()));
}

#[test]
fn an_entry_that_is_lost_or_moved() {
    let lost = caught(|tree| {
        let leaf = middle(tree).leaf;
        tree.tree.leaves[leaf].remove(5);
    });
    assert_eq!(lost, "K4");
    let shorter = caught(|tree| {
        let leaf = middle(tree).leaf;
        tree.tree.leaves[leaf].next[5] -= 1;
    });
    assert_eq!(shorter, "K4");
    let longer = caught(|tree| {
        let leaf = middle(tree).leaf;
        tree.tree.leaves[leaf].end[5] += 10;
    });
    assert_eq!(longer, "K4");
    let left_behind = caught(|tree| {
        let leaf = middle(tree).leaf;
        let leaf = &mut tree.tree.leaves[leaf];
        let slot = leaf.len() - 1;
        leaf.remove(slot);
        leaf.start[slot] = 7;
    });
    assert_eq!(left_behind, "K8");
}

#[test]
fn a_tail_that_is_another_entry() {
    let tail = |tree: &RegionTree<u32>| {
        let leaf = tree.tree.path_to(1 << 30).leaf;
        (leaf, tree.tree.leaves[leaf].tail().unwrap())
    };
    let swapped = caught(|tree| {
        let (leaf, tail) = tail(tree);
        let leaf = &mut tree.tree.leaves[leaf];
        let other = (tail + 1) % leaf.len();
        leaf.start.swap(tail, other);
    });
    assert!(["K4", "K8"].contains(&swapped), "{swapped}");
    let in_the_lanes = caught(|tree| {
        let (leaf, tail) = tail(tree);
        let leaf = &mut tree.tree.leaves[leaf];
        leaf.end[tail] = leaf.start[tail] + 3;
    });
    assert_eq!(in_the_lanes, "K8");
    let none = caught(|tree| {
        let leaf = middle(tree).leaf;
        let leaf = &mut tree.tree.leaves[leaf];
        (leaf.end[3], leaf.next[3]) = (BEYOND, -1);
    });
    assert_eq!(none, "K8");
}

#[test]
fn a_count_that_is_off() {
    assert_eq!(caught(|tree| tree.regions += 1), "K4");
    assert_eq!(caught(|tree| tree.regions -= 1), "K4");
    assert_eq!(caught(|tree| tree.blocks += 1), "K4");
    assert_eq!(caught(|tree| tree.blocks -= 1), "K4");
}

#[test]
fn a_node_that_is_nowhere() {
    let leaked = caught(|tree| {
        tree.reserve(1).unwrap();
        tree.tree.take_leaf();
    });
    assert_eq!(leaked, "K7");
}

/// Adds a region on terms that do not suit its place.
fn on_terms(terms: RegionAttrs) -> &'static str {
    caught(|tree| {
        let span = bytes(0, 40_001, 40_003);
        tree.reserve(1).unwrap();
        let (entry, _): (EntryHandle, _) = tree.block_over(span).unwrap();
        tree.insert(entry, span, terms, Some(1));
    })
}

#[test]
fn terms_that_cannot_be() {
    assert_eq!(on_terms(RegionAttrs { guard_granules: 0, align: 1 }), "K6");
    assert_eq!(on_terms(RegionAttrs { guard_granules: 2, align: 0 }), "K4");
}

#[test]
fn spans_that_touch() {
    let touching = caught(|tree| {
        let end = 1u128 << 40;
        tree.reserve(1).unwrap();
        tree.add_span(bytes(0, end + 5, end + 9)).unwrap();
        tree.validate().unwrap();
        let entry = tree.entry_before(1 << 39).unwrap();
        let leaf = &mut tree.tree.leaves[entry.leaf];
        leaf.set_gap(entry.slot, leaf.end(entry.slot), end + 5);
        tree.refresh(1 << 39);
    });
    assert_eq!(touching, "K1");
}
