//! The kernel's normal calls and those that write: codes, what comes back, what stays.

use super::{Tree, new};
use freehold_linux::Error;
use freehold_linux::maple::{Cycled, Flags, Item, MaState, Ranges, State};
use std::num::NonZeroU64;

const MAX: u64 = u64::MAX;
const NULL: Item<NonZeroU64> = Item::Null;
const ZERO: Item<NonZeroU64> = Item::Zero;

fn entry(number: u64) -> Item<NonZeroU64> {
    Item::Entry(NonZeroU64::new(number).unwrap())
}

fn number(number: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(number)
}

/// Gaps around and between 10..=19, 30..=39, the zero entry in 50..=59, and its neighbour 60..=69.
fn tree() -> Tree<NonZeroU64> {
    let mut tree = new(Flags { alloc_range: true, use_rcu: false });
    tree.store_range(10, 19, entry(1)).unwrap();
    tree.store_range(30, 39, entry(2)).unwrap();
    tree.store_range(50, 59, ZERO).unwrap();
    tree.store_range(60, 69, entry(3)).unwrap();
    tree
}

fn content(tree: &Tree<NonZeroU64>) -> Vec<(u64, u64, Item<NonZeroU64>)> {
    tree.map().validate().unwrap();
    tree.read().entries(0, MAX).map(|(span, item)| (span.first(), span.last(), item)).collect()
}

fn code<T>(refused: Result<T, freehold_maple::Rejected<Item<NonZeroU64>, Error>>) -> i32 {
    refused.map_or_else(|rejected| rejected.cause.code(), |_| 0)
}

#[test]
fn stores_cut_and_inserts_refuse() {
    let mut tree = tree();
    assert_eq!(code(tree.store_range(6, 5, entry(9))), -22);
    assert_eq!(code(tree.insert_range(6, 5, NULL)), -22);
    assert_eq!(code(tree.insert_range(0, 10, entry(9))), -17);
    assert_eq!(code(tree.insert_range(55, 55, entry(9))), -17, "the zero entry occupies");
    assert_eq!(code(tree.insert_range(55, 55, NULL)), -17);
    assert_eq!(code(tree.insert_range(20, 29, NULL)), 0);
    assert_eq!(content(&tree), content(&self::tree()));

    assert_eq!(code(tree.insert_range(20, 29, entry(1))), 0);
    assert_eq!(code(tree.store_range(12, 13, entry(8))), 0);
    assert_eq!(code(tree.store_range(35, 65, NULL)), 0);
    let kept = [(10, 11, 1), (12, 13, 8), (14, 19, 1), (20, 29, 1), (30, 34, 2), (66, 69, 3)];
    assert_eq!(content(&tree), kept.map(|(first, last, number)| (first, last, entry(number))));
}

#[test]
fn erase_takes_the_whole_entry() {
    let mut tree = tree();
    assert_eq!([25, 15, 15].map(|index| tree.erase(index)), [Ok(NULL), Ok(entry(1)), Ok(NULL)]);
    assert_eq!((tree.erase(59), tree.read().load(55)), (Ok(ZERO), None));
    assert_eq!(content(&tree), [(30, 39, entry(2)), (60, 69, entry(3))]);
}

#[test]
fn look_ups_pass_over_the_zero_entry() {
    let tree = tree();
    assert_eq!((tree.read().load(9), tree.read().load(10), tree.read().load(55)), (None, number(1), None));
    let find = |index, max| {
        let mut next = index;
        (tree.read().find(&mut next, max), next)
    };
    assert_eq!(find(0, 9), (None, 0));
    assert_eq!(find(0, 10), (number(1), 20), "it begins at the maximum");
    assert_eq!(find(15, 15), (number(1), 20), "it began before the index");
    assert_eq!(find(40, 59), (None, 40));
    assert_eq!(find(40, MAX), (number(3), 70));
    assert_eq!(find(12, 11), (None, 12));
    let (mut start, mut behind) = (0, 20);
    assert_eq!((tree.read().find_after(&mut start, MAX), start), (None, 0));
    assert_eq!((tree.read().find_after(&mut behind, MAX), behind), (number(2), 40));
}

#[test]
fn find_wraps_behind_the_last_index() {
    let mut tree = tree();
    tree.store_range(100, MAX, entry(4)).unwrap();
    let mut next = 70;
    assert_eq!((tree.read().find(&mut next, MAX), next), (number(4), 0));
    assert_eq!(tree.read().find_after(&mut next, MAX), None);
    assert_eq!((tree.read().next(100, MAX), tree.read().prev(MAX, 0)), (NULL, entry(3)));
    assert_eq!((tree.read().next(MAX, MAX), tree.read().prev(0, 0)), (NULL, NULL));
}

#[test]
fn next_and_prev_leave_the_range_that_holds_the_index() {
    let tree = tree();
    assert_eq!((tree.read().next(15, MAX), tree.read().next(25, MAX)), (entry(2), entry(2)));
    assert_eq!((tree.read().next(15, 29), tree.read().next(15, 30)), (NULL, entry(2)));
    assert_eq!(
        (tree.read().next(15, 15), tree.read().next(39, MAX), tree.read().next(69, MAX)),
        (NULL, ZERO, NULL)
    );
    assert_eq!(
        (tree.read().prev(35, 0), tree.read().prev(35, 19), tree.read().prev(35, 20)),
        (entry(1), entry(1), NULL)
    );
    assert_eq!(
        (tree.read().prev(60, 0), tree.read().prev(60, 60), tree.read().prev(12, 0)),
        (ZERO, NULL, NULL)
    );
}

#[test]
fn allocation_takes_the_lowest_or_the_highest_gap() {
    let mut tree = tree();
    let all = (0, MAX);
    for (size, (min, max), expected) in
        [(0, all, -22), (1, (5, 4), -22), (11, (20, 29), -22), (11, (20, 30), -16), (1, (50, 69), -16)]
    {
        assert_eq!(code(tree.alloc_range(size, min, max, entry(9))), expected);
        assert_eq!(code(tree.alloc_rrange(size, min, max, entry(9))), expected);
        let mut mas = MaState::new(7, 8);
        assert_eq!(mas.empty_area(&tree, min, max, size).unwrap_err().code(), expected);
        assert_eq!(mas.empty_area_rev(&tree, min, max, size).unwrap_err().code(), expected);
        assert_eq!(mas, MaState::new(7, 8));
    }
    assert_eq!(code(tree.alloc_range(1, 0, MAX, ZERO)), -22);
    assert_eq!(tree.alloc_range(10, 5, 100, entry(9)), Ok(20));
    assert_eq!(tree.alloc_rrange(10, 5, 78, entry(9)), Ok(40));
    assert_eq!(tree.alloc_range(3, 0, 100, NULL), Ok(0));
    assert_eq!(tree.read().load(0), None, "nothing was to be stored");

    let mut plain = new(Flags::default());
    assert_eq!(code(plain.alloc_range(1, 0, MAX, entry(9))), -22, "it does not give out gaps");
    let mut next = 0;
    assert_eq!(code(plain.alloc_cyclic(0, MAX, &mut next, entry(9))), -22);
}

#[test]
fn cyclic_allocation_comes_around() {
    let mut tree = tree();
    let mut next = 68;
    let mut alloc = |low, high, next: &mut u64| tree.alloc_cyclic(low, high, next, entry(9));
    assert_eq!((alloc(28, 70, &mut next), next), (Ok(Cycled { index: 70, wrapped: false }), 71));
    assert_eq!((alloc(28, 70, &mut next), next), (Ok(Cycled { index: 28, wrapped: true }), 29));
    assert_eq!((alloc(28, 29, &mut next), next), (Ok(Cycled { index: 29, wrapped: false }), 30));
    assert_eq!((code(alloc(28, 29, &mut next)), next), (-16, 30));
    assert_eq!((code(alloc(28, 29, &mut 28)), code(alloc(30, 29, &mut next))), (-16, -22));
    assert_eq!(code(tree.alloc_cyclic(0, MAX, &mut next, ZERO)), -22);
}

#[test]
fn having_come_around_is_told_once() {
    let mut tree = new(Flags { alloc_range: true, use_rcu: false });
    let mut next = MAX;
    let mut alloc = |low, next: &mut u64| tree.alloc_cyclic(low, MAX, next, entry(9)).unwrap();
    assert_eq!((alloc(3, &mut next), next), (Cycled { index: MAX, wrapped: false }, 0));
    // One that comes around by itself says so and leaves it to the next to tell of the last index.
    let mut full = MAX;
    assert_eq!((alloc(3, &mut full), full), (Cycled { index: 3, wrapped: true }, 4));
    assert_eq!((alloc(3, &mut next), next), (Cycled { index: 4, wrapped: true }, 5));
    assert_eq!((alloc(3, &mut next), next), (Cycled { index: 5, wrapped: false }, 6));
}

#[test]
fn a_copy_goes_into_an_empty_tree_of_the_same_kind() {
    let tree = tree();
    let mut copy = new(tree.flags());
    copy.store_range(1, 1, ZERO).unwrap();
    assert_eq!(tree.dup(&mut copy), Err(Error::Invalid));
    copy.destroy().unwrap();
    assert!(copy.is_empty());
    assert_eq!(tree.dup(&mut copy), Ok(()));
    assert_eq!(content(&copy), content(&tree));
    copy.erase(15).unwrap();
    assert_eq!(tree.read().load(15), number(1));
    let mut other = new(Flags { use_rcu: true, ..tree.flags() });
    assert_eq!(tree.dup(&mut other), Err(Error::Invalid));
}

#[test]
fn cursors_store_and_stand_on_what_is_there() {
    let stored: [fn(&mut MaState, &mut Tree<NonZeroU64>, _); 3] = [
        |mas, tree, item| assert_eq!(mas.store(tree, item), Ok(entry(1))),
        |mas, tree, item| mas.store_gfp(tree, item).unwrap(),
        |mas, tree, item| mas.preallocate(tree, item).unwrap().store_prealloc(),
    ];
    for store in stored {
        let mut tree = tree();
        let mut mas = MaState::new(15, 34);
        store(&mut mas, &mut tree, entry(9));
        assert_eq!((mas.index(), mas.last(), mas.state()), (15, 34, State::Active));
        assert_eq!(mas.prev(&tree.read(), 0), entry(1));
        assert_eq!((mas.index(), mas.last()), (10, 14));
        store(&mut mas, &mut tree, NULL);
        assert_eq!((mas.index(), mas.last(), mas.state()), (0, 14, State::Active), "the whole gap");
        assert_eq!(content(&tree)[..2], [(15, 34, entry(9)), (35, 39, entry(2))]);
    }
    let mut mas = MaState::new(20, 10);
    let mut tree = tree();
    assert_eq!(code(mas.store(&mut tree, NULL)), -22);
    assert_eq!(code(mas.preallocate(&mut tree, entry(9)).map(drop)), -22);
    assert_eq!(mas, MaState::new(20, 10));
}

#[test]
fn cursors_erase_and_stand_on_the_gap() {
    let mut tree = tree();
    for (index, erased, first, last) in [(35, entry(2), 20, 49), (25, NULL, 20, 49), (69, entry(3), 60, MAX)]
    {
        let mut mas = MaState::new(index, index);
        assert_eq!(mas.erase(&mut tree), Ok(erased));
        assert_eq!((mas.index(), mas.last(), mas.state()), (first, last, State::Active));
    }
}

#[test]
fn cursors_are_put_on_gaps_and_store_there() {
    let mut tree = tree();
    let mut mas = MaState::new(0, 0);
    mas.empty_area(&tree, 0, MAX, 11).unwrap();
    assert_eq!((mas.index(), mas.last()), (70, 80));
    mas.store_gfp(&mut tree, entry(9)).unwrap();
    mas.empty_area_rev(&tree, 0, 90, 10).unwrap();
    assert_eq!((mas.index(), mas.last()), (81, 90));
    assert_eq!(mas.prev(&tree.read(), 0), entry(9));
}

#[test]
fn a_preallocated_store_that_is_dropped_leaves_the_tree_as_it_was() {
    let mut tree = new(Flags::default());
    let entries = if cfg!(miri) { 60 } else { 500 };
    for at in 0..entries {
        tree.store_range(at * 4, at * 4 + 1, entry(at + 1)).unwrap();
    }
    let before = content(&tree);
    let over = MaState::new(101, 4 * entries - 100);
    let mut mas = over;
    drop(mas.preallocate(&mut tree, entry(9999)).unwrap());
    drop(mas.preallocate(&mut tree, NULL).unwrap());
    assert_eq!(mas, over);
    assert_eq!(content(&tree), before);
    mas.preallocate(&mut tree, entry(9999)).unwrap().store_prealloc();
    let middle = 2 * entries;
    assert_eq!((tree.read().load(101), tree.read().load(middle)), (number(9999), number(9999)));
}
