//! A map of ranges that threads share: `fh_tree`.

use super::map::found;
use crate::error::{Failure, fh_conflict, fh_error};
use crate::handle::{code_of, hand_out};
use crate::memory::Aside;
use crate::plain::{Value, fh_span};
use crate::types::{fh_entry, fh_entry_fn, fh_request, fh_span_fn, give_all, walk};
use freehold::maple::MapleTree;
use freehold::maple::maple_tree::Transaction;
use freehold::units::{OutOfMemory, Span};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A map of ranges to values that are not NULL, for any number of threads. Readers take no lock and never wait; one writer at a time.
///
/// A value that was replaced or removed may still be in use by threads inside a read section: free what it points to after
/// fh_synchronize.
pub struct fh_tree {
    pub(super) tree: MapleTree<Value>,
    /// Transactions and snapshots that are open: they keep the tree alive.
    pub(super) open: AtomicUsize,
    /// The thread whose transaction is open, as `this_thread` names it; 0 if none is. Only that thread's own calls compare it with
    /// themselves, so `Relaxed` is enough.
    pub(super) owner: AtomicUsize,
}

/// A number of this thread that no other living thread has, and is not 0.
pub(super) fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| ptr::from_ref(here).addr())
}

impl fh_tree {
    /// A transaction, which this thread must not have open already: it would wait for itself.
    pub(super) fn begin(&self) -> Result<Transaction<'_, Value>, Failure> {
        if self.owner.load(Ordering::Relaxed) == this_thread() {
            return Err(fh_error::FH_EBUSY.into());
        }
        Ok(self.tree.transaction())
    }
}

/// The parts of entries within a range, as a transaction sees them. Cost: O(log n) for each.
fn parts_of(transaction: &Transaction<'_, Value>, range: Span) -> Result<Vec<fh_entry>, Failure> {
    let mut parts = Vec::new();
    let mut from = Some(range.first());
    while let Some(index) = from {
        let (span, value) = transaction.slot_at(index);
        if let (Some(part), Some(value)) = (span.intersection(range), value) {
            parts.try_reserve(1).map_err(|_| OutOfMemory)?;
            parts.push(fh_entry::new((part, value)));
        }
        from = span.last().checked_add(1).filter(|&next| next <= range.last());
    }
    Ok(parts)
}

/// Makes an empty tree. The caller owns the handle, and ends it by fh_tree_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_new(tree: Option<&mut MaybeUninit<Box<fh_tree>>>) -> c_int {
    given!(tree);
    let make = || {
        // The list of the tree's chunks cannot be refused.
        let _aside = Aside::new(4, 4096)?;
        Ok(fh_tree { tree: MapleTree::new(), open: AtomicUsize::new(0), owner: AtomicUsize::new(0) })
    };
    hand_out(tree, make())
}

/// Ends a tree that no thread uses any more. `each` (optional) gets every entry that is left, and so its value. A tree with a
/// transaction or a snapshot is not ended. Cost: O(n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_destroy(tree: Option<&mut fh_tree>, each: fh_entry_fn, ctx: *mut c_void) -> c_int {
    given!(tree);
    // Acquire: pairs with the Release of whoever closed the last one.
    if tree.open.load(Ordering::Acquire) > 0 {
        return fh_error::FH_EBUSY as c_int;
    }
    give_all(tree.tree.read().iter().map(fh_entry::new), each, ctx);
    // SAFETY: the handle came from `fh_tree_new` as a box; the caller gives it up.
    drop(unsafe { Box::from_raw(tree) });
    fh_error::FH_OK as c_int
}

/// The value at an index; NULL if there is none, or if the tree is NULL. Inside a read section it stays usable until the exit.
///
/// Any thread, no lock. Cost: O(log n) for n entries, and a nanosecond for a section of its own.
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_load(tree: Option<&fh_tree>, index: u64) -> *mut c_void {
    let Some(tree) = tree else { return ptr::null_mut() };
    let reading = tree.tree.read();
    reading.get(index).map_or(ptr::null_mut(), |value| value.0)
}

/// Finds the entry that contains an index. Any thread, no lock. Cost: as fh_tree_load.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_find(
    tree: Option<&fh_tree>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(tree, entry);
    found(tree.tree.read().entry_at(index), entry)
}

/// Finds the first entry whose range ends at `index` or above. Any thread, no lock. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_next(
    tree: Option<&fh_tree>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(tree, entry);
    found(tree.tree.read().range(index..).next(), entry)
}

/// Finds the last entry whose range begins at `index` or below. Any thread, no lock. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_prev(
    tree: Option<&fh_tree>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(tree, entry);
    found(tree.tree.read().range(..=index).next_back(), entry)
}

/// Stores a value over a range, whatever is there. Entries that reach beyond it are cut, and keep their value on either side.
///
/// `replaced`: optional, gets each part that was there, after the store, under no lock. Any thread; waits for other writers. Cost:
/// O(log n + k) for n entries of which it replaces k, amortized O(log n); with `replaced`, O(log n) for each, and memory for a list.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_EBUSY: this thread has a transaction of the tree; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_store(
    tree: Option<&fh_tree>,
    range: fh_span,
    value: *mut c_void,
    replaced: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(tree);
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    if replaced.is_none() {
        return code_of(tree.tree.store(range, value).map_err(Failure::from), None);
    }
    let mut transaction = attempt!(tree.begin());
    let parts = attempt!(parts_of(&transaction, range));
    attempt!(transaction.store(range, value).map_err(Failure::from));
    drop(transaction.commit());
    give_all(parts.into_iter(), replaced, ctx);
    fh_error::FH_OK as c_int
}

/// Stores a value over a free range. `conflict`: optional, gets the first entry that is in the way. Any thread; waits for other
/// writers. Cost: as fh_tree_store.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_EOCCUPIED; FH_EBUSY; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_insert(
    tree: Option<&fh_tree>,
    range: fh_span,
    value: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(tree);
    attempt!(Failure::check(conflict.as_deref()));
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    let done = tree.tree.insert(range, value).map_err(Failure::from);
    code_of(done.map_err(|failure| failure.naming(|index| tree.tree.read().get(index))), conflict)
}

/// Removes the whole entry that contains an index. `erased`: optional, gets it. Any thread; waits for other writers. Cost: as
/// fh_tree_store.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT; FH_EBUSY; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_erase(
    tree: Option<&fh_tree>,
    index: u64,
    erased: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(tree);
    let mut transaction = attempt!(tree.begin());
    let (span, Some(value)) = transaction.slot_at(index) else { return fh_error::FH_ENOENT as c_int };
    attempt!(transaction.remove_range(span).map_err(Failure::from));
    drop(transaction.commit());
    erased.map(|erased| erased.write(fh_entry::new((span, value))));
    fh_error::FH_OK as c_int
}

/// Removes all in a range. Entries that reach beyond it are cut. `removed`: optional, gets each part that was there, under no lock.
/// Any thread; waits for other writers. Cost: as fh_tree_store.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_EBUSY; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_remove_range(
    tree: Option<&fh_tree>,
    range: fh_span,
    removed: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(tree);
    let range = attempt!(range.checked());
    if removed.is_none() {
        return code_of(tree.tree.remove_range(range).map_err(Failure::from), None);
    }
    let mut transaction = attempt!(tree.begin());
    let parts = attempt!(parts_of(&transaction, range));
    attempt!(transaction.remove_range(range).map_err(Failure::from));
    drop(transaction.commit());
    give_all(parts.into_iter(), removed, ctx);
    fh_error::FH_OK as c_int
}

/// Finds the lowest free place for a request, which another thread may take at any time: fh_tree_alloc stores there at once. Guards are
/// not known. Any thread; waits for a running store. Cost: O(log n) for n entries; O(n) with an alignment above 1.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ENOSPC
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_lowest_gap(
    tree: Option<&fh_tree>,
    request: Option<&fh_request>,
    gap: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(tree, request, gap);
    let request = attempt!(request.of_map());
    gap.write(attempt!(tree.tree.lowest_gap(&request).map_err(Failure::from)).into());
    fh_error::FH_OK as c_int
}

/// Finds the highest free place for a request. Otherwise as fh_tree_lowest_gap.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ENOSPC
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_highest_gap(
    tree: Option<&fh_tree>,
    request: Option<&fh_request>,
    gap: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(tree, request, gap);
    let request = attempt!(request.of_map());
    gap.write(attempt!(tree.tree.highest_gap(&request).map_err(Failure::from)).into());
    fh_error::FH_OK as c_int
}

/// Stores a value in the lowest (`highest` 0) or the highest (`highest` 1) free place for a request. `span`: gets it. Any thread;
/// waits for other writers. Cost: as fh_tree_lowest_gap and fh_tree_insert.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EENUM; FH_EINVAL; FH_ENOSPC; FH_EBUSY; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_alloc(
    tree: Option<&fh_tree>,
    request: Option<&fh_request>,
    highest: u32,
    value: *mut c_void,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(tree, request, span);
    let request = attempt!(request.of_map());
    let value = attempt!(Value::entry(value));
    // Its lock keeps other writers out, so the gap stays as it is found.
    let mut transaction = attempt!(tree.begin());
    let place = match highest {
        0 => tree.tree.lowest_gap(&request),
        1 => tree.tree.highest_gap(&request),
        _ => return fh_error::FH_EENUM as c_int,
    };
    let place = attempt!(place.map_err(Failure::from));
    attempt!(transaction.insert(place, value).map_err(Failure::from));
    drop(transaction.commit());
    span.write(place.into());
    fh_error::FH_OK as c_int
}

/// Calls `each` for the entries that overlap a range, lowest first, until it returns something else than 0. Entries are whole; those
/// that come or go meanwhile may be met or not.
///
/// Any thread, no lock; `each` runs inside a read section. Cost: O(log n) for each leaf of up to 16 entries.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_for_each(
    tree: Option<&fh_tree>,
    range: fh_span,
    each: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(tree, each);
    let range = attempt!(range.checked());
    walk(tree.tree.read().range(range).map(fh_entry::new), each, ctx)
}

/// Calls `each` for the gaps that overlap a range, lowest first, until it returns something else than 0. Gaps are whole.
///
/// Any thread, no lock; `each` runs inside a read section. Cost: O(n log n) for n entries.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_for_each_gap(
    tree: Option<&fh_tree>,
    range: fh_span,
    each: fh_span_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(tree, each);
    let range = attempt!(range.checked());
    let reading = tree.tree.read();
    let answer = reading.gaps(range).map(|gap| each(ctx, gap.into())).find(|&answer| answer != 0);
    answer.unwrap_or(fh_error::FH_OK as c_int)
}

/// The number of entries. `len`: gets it. Any thread. Cost: constant, under the lock.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_len(tree: Option<&fh_tree>, len: Option<&mut MaybeUninit<u64>>) -> c_int {
    given!(tree, len);
    len.write(tree.tree.len());
    fh_error::FH_OK as c_int
}

/// Checks every invariant of a tree from scratch, under the lock. Any thread. Cost: O(n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_validate(tree: Option<&fh_tree>) -> c_int {
    given!(tree);
    code_of(tree.tree.validate().map_err(Failure::from), None)
}
