//! The kernel's normal calls and those that write: codes, what comes back, what stays.

use freehold_linux::Error;
use freehold_linux::maple::{Cycled, Flags, Item, MaState, State, Tree};
use std::num::NonZeroU64;
use std::sync::Arc;

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
    let mut tree = Tree::new(Flags { alloc_range: true, use_rcu: false });
    tree.store_range(10, 19, entry(1)).unwrap();
    tree.store_range(30, 39, entry(2)).unwrap();
    tree.store_range(50, 59, ZERO).unwrap();
    tree.store_range(60, 69, entry(3)).unwrap();
    tree
}

fn content(tree: &Tree<NonZeroU64>) -> Vec<(u64, u64, Item<NonZeroU64>)> {
    tree.map().validate().unwrap();
    tree.map().iter().map(|(span, entry)| (span.first(), span.last(), entry.into())).collect()
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
    assert_eq!((tree.erase(25), tree.erase(15), tree.erase(15)), (NULL, entry(1), NULL));
    assert_eq!((tree.erase(59), tree.load(55)), (ZERO, None));
    assert_eq!(content(&tree), [(30, 39, entry(2)), (60, 69, entry(3))]);
}

#[test]
fn look_ups_pass_over_the_zero_entry() {
    let tree = tree();
    assert_eq!((tree.load(9), tree.load(10), tree.load(55)), (None, number(1), None));
    let find = |index, max| {
        let mut next = index;
        (tree.find(&mut next, max), next)
    };
    assert_eq!(find(0, 9), (None, 0));
    assert_eq!(find(0, 10), (number(1), 20), "it begins at the maximum");
    assert_eq!(find(15, 15), (number(1), 20), "it began before the index");
    assert_eq!(find(40, 59), (None, 40));
    assert_eq!(find(40, MAX), (number(3), 70));
    assert_eq!(find(12, 11), (None, 12));
    let (mut start, mut behind) = (0, 20);
    assert_eq!((tree.find_after(&mut start, MAX), start), (None, 0));
    assert_eq!((tree.find_after(&mut behind, MAX), behind), (number(2), 40));
}

#[test]
fn find_wraps_behind_the_last_index() {
    let mut tree = tree();
    tree.store_range(100, MAX, entry(4)).unwrap();
    let mut next = 70;
    assert_eq!((tree.find(&mut next, MAX), next), (number(4), 0));
    assert_eq!(tree.find_after(&mut next, MAX), None);
    assert_eq!((tree.next(100, MAX), tree.prev(MAX, 0)), (NULL, entry(3)));
    assert_eq!((tree.next(MAX, MAX), tree.prev(0, 0)), (NULL, NULL));
}

#[test]
fn next_and_prev_leave_the_range_that_holds_the_index() {
    let tree = tree();
    assert_eq!((tree.next(15, MAX), tree.next(25, MAX)), (entry(2), entry(2)));
    assert_eq!((tree.next(15, 29), tree.next(15, 30)), (NULL, entry(2)));
    assert_eq!((tree.next(15, 15), tree.next(39, MAX), tree.next(69, MAX)), (NULL, ZERO, NULL));
    assert_eq!((tree.prev(35, 0), tree.prev(35, 19), tree.prev(35, 20)), (entry(1), entry(1), NULL));
    assert_eq!((tree.prev(60, 0), tree.prev(60, 60), tree.prev(12, 0)), (ZERO, NULL, NULL));
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
    assert_eq!(tree.load(0), None, "nothing was to be stored");

    let mut plain = Tree::new(Flags::default());
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
    let mut tree = Tree::new(Flags { alloc_range: true, use_rcu: false });
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
    let mut copy = Tree::new(tree.flags());
    copy.store_range(1, 1, ZERO).unwrap();
    assert_eq!(tree.dup(&mut copy), Err(Error::Invalid));
    copy.destroy();
    assert!(copy.is_empty());
    assert_eq!(tree.dup(&mut copy), Ok(()));
    assert_eq!(content(&copy), content(&tree));
    copy.erase(15);
    assert_eq!(tree.load(15), number(1));
    let mut other = Tree::new(Flags { use_rcu: true, ..tree.flags() });
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
        assert_eq!(mas.prev(&tree, 0), entry(1));
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
        assert_eq!(mas.erase(&mut tree), erased);
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
    assert_eq!(mas.prev(&tree, 0), entry(9));
}

#[test]
fn a_preallocated_store_that_is_given_up_was_never_there() {
    let mut tree = Tree::new(Flags::default());
    let kept = Arc::new(7u32);
    let entries = if cfg!(miri) { 60 } else { 500 };
    for at in 0..entries {
        tree.store_range(at * 4, at * 4 + 1, Item::Entry(Arc::clone(&kept))).unwrap();
    }
    let before: Vec<_> = tree.map().iter().map(|(span, _)| span).collect();
    let over = MaState::new(101, 4 * entries - 100);
    let mut mas = over;
    drop(mas.preallocate(&mut tree, Item::Entry(Arc::new(8))).unwrap());
    drop(mas.preallocate(&mut tree, Item::Null).unwrap());
    assert_eq!(mas, over);
    tree.map().validate().unwrap();
    assert_eq!(tree.map().iter().map(|(span, _)| span).collect::<Vec<_>>(), before);
    assert_eq!(Arc::strong_count(&kept) as u64, 1 + entries);
    mas.preallocate(&mut tree, Item::Null).unwrap().store_prealloc();
    assert_eq!(Arc::strong_count(&kept), 1 + tree.map().len() as usize);
}

#[test]
fn without_memory_nothing_changes_and_the_item_comes_back() {
    let mut tree = tree();
    tree.store_range(0, MAX, NULL).unwrap();
    for at in 0..8 {
        tree.store_range(at * 10, at * 10 + 8, entry(at + 1)).unwrap();
    }
    let full = content(&tree);
    tree.map_mut().set_node_limit(1, 0);
    let no_memory = |item| freehold_maple::Rejected { value: item, cause: Error::NoMemory };
    for item in [entry(9), ZERO, NULL] {
        let mut mas = MaState::new(4, 4);
        assert_eq!(tree.store_range(4, 4, item), Err(no_memory(item)));
        assert_eq!(mas.store(&mut tree, item), Err(no_memory(item)));
        assert_eq!(mas.preallocate(&mut tree, item).map(drop), Err(no_memory(item)));
        assert_eq!(mas, MaState::new(4, 4));
    }
    assert_eq!(tree.insert_range(300, 300, ZERO), Err(no_memory(ZERO)));
    assert_eq!(tree.alloc_range(1, 300, 400, entry(9)), Err(no_memory(entry(9))));
    let mut next = 300;
    assert_eq!(tree.alloc_cyclic(0, MAX, &mut next, entry(9)), Err(no_memory(entry(9))));
    assert_eq!(next, 300);
    assert_eq!(content(&tree), full);
    assert_eq!(tree.erase(4), entry(1), "erasing needs no memory");
    tree.map_mut().set_node_limit(2, 1);
    assert_eq!(tree.store_range(14, 14, entry(9)), Ok(()));
    tree.map().validate().unwrap();
}

/// A prepared store that is forgotten leaves the tree as it was.
#[test]
fn a_forgotten_store_is_not_done() {
    let mut tree = Tree::new(Flags::default());
    let mut state = MaState::new(10, 19);
    std::mem::forget(state.preallocate(&mut tree, entry(7)).unwrap());
    assert_eq!(state.walk(&tree), NULL);
    state.preallocate(&mut tree, entry(7)).unwrap().store_prealloc();
    assert_eq!(state.walk(&tree), entry(7));
}
