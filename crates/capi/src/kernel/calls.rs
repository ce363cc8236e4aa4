//! The calls without a cursor: `mtree_*` and `mt_*`. The header takes the tree's lock for those that write.

use super::entry::{Entry, is_advanced, is_reserved, item, pointer};
use super::tree::{EMPTY, KernelTree, fhk_tree};
use freehold::rcu;
use freehold_linux::Error;
use freehold_linux::maple::{Cycled, Item, Ranges, Stored};
use std::ffi::{c_int, c_void};
use std::ptr;

/// What a call with the tree's look-ups returns.
macro_rules! read {
    ($tree:ident, |$map:ident| $call:expr) => {{
        let _guard = rcu::read();
        match $tree.kernel() {
            Some(kernel) => {
                let $map = &kernel.map.read();
                $call
            }
            None => {
                let $map = &EMPTY;
                $call
            }
        }
    }};
}

fn plain(entry: Option<Entry>) -> *mut c_void {
    entry.map_or(ptr::null_mut(), |entry| pointer(Item::Entry(entry)))
}

/// Stores by a call of the tree, unless the entry is refused. Returns 0 or the error.
fn store(tree: &fhk_tree, refused: bool, call: impl FnOnce(&mut KernelTree) -> Stored<(), Entry>) -> c_int {
    if refused {
        return Error::Invalid.code();
    }
    let stored = tree.writer().and_then(|mut writer| call(&mut writer.tree).map_err(|refused| refused.cause));
    stored.map_or_else(Error::code, |()| 0)
}

/// The entry at an index; NULL for the zero entry.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_load(tree: &fhk_tree, index: u64) -> *mut c_void {
    read!(tree, |map| plain(map.load(index)))
}

/// Whether the tree has no entries.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_empty(tree: &fhk_tree) -> bool {
    let _guard = rcu::read();
    tree.kernel().is_none_or(|kernel| kernel.map.is_empty())
}

/// Levels of nodes.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_height(tree: &fhk_tree) -> u32 {
    let _guard = rcu::read();
    tree.kernel().map_or(0, |kernel| kernel.map.height() as u32)
}

/// Stores over a range. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_store_range(tree: &fhk_tree, first: u64, last: u64, entry: *mut c_void) -> c_int {
    store(tree, is_advanced(entry), |tree| tree.store_range(first, last, item(entry)))
}

/// Stores into a free range. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_insert_range(
    tree: &fhk_tree,
    first: u64,
    last: u64,
    entry: *mut c_void,
) -> c_int {
    store(tree, is_advanced(entry), |tree| tree.insert_range(first, last, item(entry)))
}

/// Removes the whole entry at an index. Returns it; NULL, with nothing changed, if there is no memory for the store.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_erase(tree: &fhk_tree, index: u64) -> *mut c_void {
    if tree.kernel().is_none() {
        return ptr::null_mut();
    }
    let erased = tree.writer().and_then(|mut writer| writer.tree.erase(index));
    erased.map_or(ptr::null_mut(), pointer)
}

/// Stores at the lowest or, if `down`, the highest gap of a window. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_alloc_range(
    tree: &fhk_tree,
    start: &mut u64,
    entry: *mut c_void,
    size: u64,
    min: u64,
    max: u64,
    down: bool,
) -> c_int {
    store(tree, is_reserved(entry), |tree| {
        *start = if down {
            tree.alloc_rrange(size, min, max, item(entry))
        } else {
            tree.alloc_range(size, min, max, item(entry))
        }?;
        Ok(())
    })
}

/// Stores at the lowest free index from `*next` on, else from `low` on. Returns 0, 1 if it wrapped, or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_alloc_cyclic(
    tree: &fhk_tree,
    start: &mut u64,
    entry: *mut c_void,
    low: u64,
    high: u64,
    next: &mut u64,
) -> c_int {
    let mut around = false;
    let code = store(tree, is_reserved(entry), |tree| {
        let Cycled { index, wrapped } = tree.alloc_cyclic(low, high, next, item(entry))?;
        *start = index;
        around = wrapped;
        Ok(())
    });
    if around { 1 } else { code }
}

/// Copies a tree into an empty one of the same kind. Returns 0 or the error.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_dup(from: &fhk_tree, into: &fhk_tree) -> c_int {
    if ptr::eq(from, into) {
        return Error::Invalid.code();
    }
    if from.kernel().is_none() && into.kernel().is_none() {
        return 0;
    }
    // A copy changes nothing in the tree that it is made of: a store that is planned there stays.
    let copied = from.writer_with_plan().and_then(|from| {
        let mut into = into.writer()?;
        from.tree.dup(&mut into.tree)
    });
    copied.map_or_else(Error::code, |()| 0)
}

/// Removes everything, and frees the tree once nobody reads it.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mtree_destroy(tree: &fhk_tree) {
    tree.destroy();
}

/// The next entry from `*index` on that begins at `max` or below.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_find(tree: &fhk_tree, index: &mut u64, max: u64) -> *mut c_void {
    read!(tree, |map| plain(map.find(index, max)))
}

/// The same, after one that has found an entry.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_find_after(tree: &fhk_tree, index: &mut u64, max: u64) -> *mut c_void {
    read!(tree, |map| plain(map.find_after(index, max)))
}

/// The entry after the range that contains an index.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_next(tree: &fhk_tree, index: u64, max: u64) -> *mut c_void {
    read!(tree, |map| pointer(Ranges::next(map, index, max)))
}

/// The entry before the range that contains an index.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_prev(tree: &fhk_tree, index: u64, min: u64) -> *mut c_void {
    read!(tree, |map| pointer(Ranges::prev(map, index, min)))
}
