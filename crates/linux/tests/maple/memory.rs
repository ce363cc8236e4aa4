//! Trees with one owner: which stores need memory, and what a plan does with values that own something.

use freehold_linux::Error;
use freehold_linux::maple::{Flags, Item, MaState, Tree};
use std::num::NonZeroU64;
use std::sync::Arc;

const MAX: u64 = u64::MAX;
const NULL: Item<NonZeroU64> = Item::Null;
const ZERO: Item<NonZeroU64> = Item::Zero;

fn entry(number: u64) -> Item<NonZeroU64> {
    Item::Entry(NonZeroU64::new(number).unwrap())
}

fn content(tree: &Tree<NonZeroU64>) -> Vec<(u64, u64, Item<NonZeroU64>)> {
    tree.map().validate().unwrap();
    tree.map().iter().map(|(span, entry)| (span.first(), span.last(), entry.into())).collect()
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
    let mut tree = Tree::new(Flags { alloc_range: true, use_rcu: false });
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
    assert_eq!(tree.erase(4), Ok(entry(1)), "erasing needs no memory");
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
