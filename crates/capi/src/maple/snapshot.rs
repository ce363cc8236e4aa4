//! A shared tree as it was at one moment.

use super::map::found;
use super::tree::fh_tree;
use crate::error::fh_error;
use crate::handle::boxed;
use crate::plain::{Value, fh_span};
use crate::types::{fh_entry, fh_entry_fn, walk};
use freehold::maple::maple_tree::Snapshot;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

/// A tree as it was when the snapshot was taken. It holds back what is removed meanwhile. Any thread, one at a time.
pub struct fh_tree_snapshot {
    snapshot: Snapshot<'static, Value>,
    tree: &'static fh_tree,
}

/// Takes a snapshot, without the stores of open transactions.
///
/// The caller owns the handle, and ends it by fh_tree_snapshot_destroy before the tree. Any thread. Cost: a lock, whatever the tree's
/// size; as long as the snapshot lives, each store copies its path from the root.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_snapshot_new(
    tree: Option<&fh_tree>,
    snapshot: Option<&mut MaybeUninit<Box<fh_tree_snapshot>>>,
) -> c_int {
    given!(tree, snapshot);
    // SAFETY: `open` keeps the tree from being destroyed as long as the handle is there.
    let tree: &'static fh_tree = unsafe { &*ptr::from_ref(tree) };
    let place = attempt!(boxed(MaybeUninit::uninit()));
    let taken = attempt!(tree.tree.snapshot());
    tree.open.fetch_add(1, Ordering::Relaxed);
    snapshot.write(Box::write(place, fh_tree_snapshot { snapshot: taken, tree }));
    fh_error::FH_OK as c_int
}

/// Finds the entry that contained an index. Any thread, one at a time. Cost: O(log n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_snapshot_find(
    snapshot: Option<&fh_tree_snapshot>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(snapshot, entry);
    found(snapshot.snapshot.entry_at(index), entry)
}

/// Calls `each` for the entries that overlapped a range, lowest first, until it returns something else than 0. Any thread, one at a
/// time. Cost: O(log n) for each leaf of up to 16 entries.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_snapshot_for_each(
    snapshot: Option<&fh_tree_snapshot>,
    range: fh_span,
    each: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(snapshot, each);
    let range = attempt!(range.checked());
    walk(snapshot.snapshot.range(range).map(fh_entry::new), each, ctx)
}

/// Ends a snapshot. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_snapshot_destroy(snapshot: Option<Box<fh_tree_snapshot>>) -> c_int {
    given!(snapshot);
    let fh_tree_snapshot { snapshot, tree } = *snapshot;
    drop(snapshot);
    // Release: pairs with the Acquire of `fh_tree_destroy`.
    tree.open.fetch_sub(1, Ordering::Release);
    fh_error::FH_OK as c_int
}
