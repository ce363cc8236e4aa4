//! What the kernel's tree is known to answer wrongly (6.12, 6.16 and, but for what is said, 7.3), answered rightly.
//! Each test's name is the defect; what the kernel says stands in it.

use super::{Tree, new};
use freehold_linux::Error;
use freehold_linux::maple::{Cycled, Flags, Item, MaState, Ranges, State};
use freehold_units::Span;
use std::num::NonZeroU64;

const MAX: u64 = u64::MAX;

fn entry(number: u64) -> Item<NonZeroU64> {
    Item::Entry(NonZeroU64::new(number).unwrap())
}

fn tree() -> Tree<NonZeroU64> {
    new(Flags { alloc_range: true, use_rcu: false })
}

fn content(tree: &Tree<NonZeroU64>) -> Vec<(u64, u64, Item<NonZeroU64>)> {
    tree.map().validate().unwrap();
    tree.read().entries(0, MAX).map(|(span, item)| (span.first(), span.last(), item)).collect()
}

fn range(mas: &MaState) -> (u64, u64, State) {
    (mas.index(), mas.last(), mas.state())
}

/// With a maximum of 2^64 - 1 the kernel's reverse searches miss a gap under the root's first slot: -16.
#[test]
fn reverse_search_up_to_the_last_index_misses_the_lowest_gap() {
    let mut tree = tree();
    tree.store_range(0x64, MAX, entry(1)).unwrap();
    for max in [MAX, MAX - 1] {
        let mut mas = MaState::new(0, 0);
        mas.empty_area_rev(&tree, 0, max, 0xa).unwrap();
        assert_eq!((mas.index(), mas.last()), (0x5a, 0x63));
    }
    assert_eq!(tree.alloc_rrange(0xa, 0, MAX, entry(2)), Ok(0x5a));
    assert_eq!(content(&tree), [(0x5a, 0x63, entry(2)), (0x64, MAX, entry(1))]);
}

/// The kernel's insert over all indexes returns 0 and overwrites what is there.
#[test]
fn insert_over_everything_overwrites() {
    let mut tree = tree();
    tree.store_range(5, 9, entry(1)).unwrap();
    let refused = tree.insert_range(0, MAX, entry(2)).unwrap_err();
    assert_eq!((refused.value, refused.cause), (entry(2), Error::Exists));
    assert_eq!(tree.insert_range(0, MAX, Item::Null).unwrap_err().cause, Error::Exists);
    assert_eq!(content(&tree), [(5, 9, entry(1))]);
    tree.erase(7).unwrap();
    assert_eq!(tree.insert_range(0, MAX, entry(2)), Ok(()));
    assert_eq!(content(&tree), [(0, MAX, entry(2))]);
}

/// After an entry over all indexes is erased, the kernel reckons with a gap of 2^64 indexes, which is 0: its reverse
/// searches find none, -16.
#[test]
fn the_gap_of_an_empty_tree_has_size_zero() {
    for erase in [true, false] {
        let mut tree = tree();
        tree.store_range(0, MAX, entry(1)).unwrap();
        match erase {
            true => assert_eq!(tree.erase(77), Ok(entry(1))),
            false => tree.store_range(0, MAX, Item::Null).unwrap(),
        }
        let mut mas = MaState::new(0, 0);
        mas.empty_area_rev(&tree, 0, MAX, MAX).unwrap();
        assert_eq!((mas.index(), mas.last()), (1, MAX));
        mas.empty_area(&tree, 0, MAX, MAX).unwrap();
        assert_eq!((mas.index(), mas.last()), (0, MAX - 1));
        assert_eq!(tree.alloc_rrange(0x10, 0, MAX, entry(2)), Ok(MAX - 0xf));
    }
}

/// The kernel keeps in a tree's flags that a cyclic allocation had the last index. A copy's flags differ then: -22.
#[test]
fn a_tree_whose_cyclic_allocation_had_the_last_index_cannot_be_copied() {
    let mut tree = tree();
    let mut next = MAX;
    let last = tree.alloc_cyclic(5, MAX, &mut next, entry(1)).unwrap();
    assert_eq!((last, next), (Cycled { index: MAX, wrapped: false }, 0));

    let mut copy = new(tree.flags());
    assert_eq!(tree.dup(&mut copy), Ok(()));
    assert_eq!(content(&copy), content(&tree));
    // Both go on alike: the next allocation says that it wrapped, the one after does not.
    for mut tree in [tree, copy] {
        let mut next = next;
        let around = tree.alloc_cyclic(5, MAX, &mut next, entry(2)).unwrap();
        assert_eq!((around, next), (Cycled { index: 5, wrapped: true }, 6));
        let after = tree.alloc_cyclic(5, MAX, &mut next, entry(3)).unwrap();
        assert_eq!(after, Cycled { index: 6, wrapped: false });
    }
}

/// A cursor that met its limit before it was ever walked has no node in the kernel, and the next step goes through a null
/// pointer. Here it goes on from the indexes that it was set to.
#[test]
fn a_cursor_that_was_never_walked_meets_its_limit_and_goes_on() {
    let mut tree = tree();
    for (first, number) in [(10, 1), (20, 2), (30, 3)] {
        tree.store_range(first, first + 5, entry(number)).unwrap();
    }

    // mas_next twice.
    let mut mas = MaState::new(17, 17);
    assert_eq!((mas.next(&tree.read(), 17), range(&mas)), (Item::Null, (17, 17, State::Overflow)));
    assert_eq!((mas.next(&tree.read(), 100), range(&mas)), (entry(2), (20, 25, State::Active)));

    // mas_prev twice; 7.3 has put this one right.
    let mut mas = MaState::new(17, 17);
    assert_eq!((mas.prev(&tree.read(), 17), range(&mas)), (Item::Null, (17, 17, State::Underflow)));
    assert_eq!((mas.prev(&tree.read(), 0), range(&mas)), (entry(1), (10, 15, State::Active)));

    // mas_next or mas_prev, then mas_find_rev.
    let mut mas = MaState::new(17, 17);
    assert_eq!((mas.next(&tree.read(), 17), mas.state()), (Item::Null, State::Overflow));
    assert_eq!((mas.find_rev(&tree.read(), 0), range(&mas)), (entry(1), (10, 15, State::Active)));
    let mut mas = MaState::new(17, 17);
    assert_eq!((mas.prev(&tree.read(), 17), mas.state()), (Item::Null, State::Underflow));
    assert_eq!((mas.find_rev(&tree.read(), 0), range(&mas)), (entry(1), (10, 15, State::Active)));

    // The same with the cursor inside an entry: the step goes from the index on, not from the entry's end.
    let mut mas = MaState::new(22, 22);
    assert_eq!((mas.next(&tree.read(), 22), mas.state()), (Item::Null, State::Overflow));
    assert_eq!((mas.next(&tree.read(), 100), range(&mas)), (entry(2), (20, 25, State::Active)));
    assert_eq!((mas.next(&tree.read(), 100), range(&mas)), (entry(3), (30, 35, State::Active)));

    // And in a tree without an entry.
    tree.destroy().unwrap();
    let mut mas = MaState::new(17, 17);
    assert_eq!((mas.next(&tree.read(), 17), mas.next(&tree.read(), 100)), (Item::Null, Item::Null));
    assert_eq!((mas.find_rev(&tree.read(), 0), mas.prev(&tree.read(), 0)), (Item::Null, Item::Null));
}

/// The kernel's `mas_store` over all indexes may return nothing where there is an entry.
#[test]
fn a_store_over_everything_says_that_nothing_was_there() {
    let mut tree = tree();
    tree.store_range(0, 9, entry(1)).unwrap();
    tree.store_range(50, 59, entry(2)).unwrap();
    let mut mas = MaState::new(0, MAX);
    assert_eq!(mas.store(&mut tree, entry(3)), Ok(entry(1)));
    assert_eq!(mas.store(&mut tree, Item::Null), Ok(entry(3)));
    assert_eq!(mas.store(&mut tree, Item::Zero), Ok(Item::Null));
    assert_eq!(content(&tree), [(0, MAX, Item::Zero)]);
}

/// Up to 6.16, a `mas_store` over several nodes returned anything.
#[test]
#[cfg_attr(miri, ignore = "a thousand entries are slow there, and looked at by safe code")]
fn a_store_over_several_nodes_returns_garbage() {
    let mut tree = tree();
    for at in 0..1000 {
        tree.store_range(at * 10, at * 10 + 4, entry(at + 1)).unwrap();
    }
    assert!(tree.map().height() > 2);
    let mut mas = MaState::new(2002, 7007);
    assert_eq!(mas.store(&mut tree, entry(5000)), Ok(entry(201)));
    assert_eq!(range(&mas), (2002, 7007, State::Active));
    let mut mas = MaState::new(1005, 1205);
    assert_eq!(mas.store(&mut tree, Item::Null), Ok(Item::Null));
    assert_eq!((mas.index(), mas.last()), (1005, 1209), "the whole gap");
    assert_eq!(tree.read().load(2001), NonZeroU64::new(201));
    assert_eq!(Ranges::slot_at(&tree.read(), 7008), (Span::new(7008, 7009).unwrap(), Item::Null));
    tree.map().validate().unwrap();
}
