//! Several stores that readers of a shared tree see at once. One store in a transaction is the plan of that store.

use super::map::found;
use super::tree::{fh_tree, this_thread};
use crate::error::{Failure, fh_conflict, fh_error};
use crate::handle::{boxed, code_of};
use crate::plain::{Value, fh_span};
use crate::types::fh_entry;
use freehold::maple::maple_tree::Transaction;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

/// Stores of one thread that readers see at once, or never. The thread that begins them makes and ends them.
pub struct fh_tree_transaction {
    transaction: Transaction<'static, Value>,
    tree: &'static fh_tree,
}

impl fh_tree_transaction {
    /// Refuses any thread but the one that began.
    fn here(&mut self) -> Result<&mut Transaction<'static, Value>, Failure> {
        if self.tree.owner.load(Ordering::Relaxed) == this_thread() {
            Ok(&mut self.transaction)
        } else {
            Err(fh_error::FH_EBUSY.into())
        }
    }
}

/// Begins stores that readers see at once. Waits for other writers, and keeps them out until the end; readers go on.
///
/// This thread alone uses the handle, and ends it by fh_tree_transaction_commit or fh_tree_transaction_cancel. Any thread. Cost:
/// constant, once no other thread writes.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY: this thread has one of this tree; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_begin(
    tree: Option<&fh_tree>,
    transaction: Option<&mut MaybeUninit<Box<fh_tree_transaction>>>,
) -> c_int {
    given!(tree, transaction);
    // SAFETY: `open` keeps the tree from being destroyed as long as the handle is there.
    let tree: &'static fh_tree = unsafe { &*ptr::from_ref(tree) };
    let place = attempt!(boxed(MaybeUninit::uninit()));
    let begun = attempt!(tree.begin());
    tree.open.fetch_add(1, Ordering::Relaxed);
    tree.owner.store(this_thread(), Ordering::Relaxed);
    transaction.write(Box::write(place, fh_tree_transaction { transaction: begun, tree }));
    fh_error::FH_OK as c_int
}

/// Stores a value over a range, in a transaction. What it overwrites is found beforehand by fh_tree_transaction_find. The thread that
/// began. Cost: O(log n + k) for n entries of which it replaces k, amortized.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_EBUSY: another thread's; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM: the stores before stand
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_store(
    transaction: Option<&mut fh_tree_transaction>,
    range: fh_span,
    value: *mut c_void,
) -> c_int {
    given!(transaction);
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    code_of(attempt!(transaction.here()).store(range, value).map_err(Failure::from), None)
}

/// Stores a value over a free range, in a transaction. `conflict`: optional. The thread that began. Cost: as
/// fh_tree_transaction_store.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EOCCUPIED, or as fh_tree_transaction_store
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_insert(
    transaction: Option<&mut fh_tree_transaction>,
    range: fh_span,
    value: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(transaction);
    attempt!(Failure::check(conflict.as_deref()));
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    let stores = attempt!(transaction.here());
    let done = stores.insert(range, value).map_err(Failure::from);
    code_of(done.map_err(|failure| failure.naming(|index| stores.get(index))), conflict)
}

/// Removes all in a range, in a transaction. The thread that began. Cost: as fh_tree_transaction_store.
///
/// @return as fh_tree_transaction_store
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_remove_range(
    transaction: Option<&mut fh_tree_transaction>,
    range: fh_span,
) -> c_int {
    given!(transaction);
    let range = attempt!(range.checked());
    code_of(attempt!(transaction.here()).remove_range(range).map_err(Failure::from), None)
}

/// Finds the entry that contains an index, with the transaction's stores. The thread that began. Cost: O(log n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY: another thread's; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_find(
    transaction: Option<&mut fh_tree_transaction>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(transaction, entry);
    let (span, value) = attempt!(transaction.here()).slot_at(index);
    found(value.map(|value| (span, value)), entry)
}

/// Makes all stores of a transaction visible at once, and frees it. Takes no memory, and waits for nobody. The thread that began.
/// Cost: O(m) for m nodes and entries that they took and removed.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY: another thread's
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_commit(transaction: Option<&mut fh_tree_transaction>) -> c_int {
    given!(transaction);
    let (stores, tree) = attempt!(take(transaction));
    drop(stores.commit());
    closed(tree)
}

/// Gives a transaction up, and frees it: nothing has changed. The thread that began. Cost: as fh_tree_transaction_commit.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY: another thread's
#[unsafe(no_mangle)]
pub extern "C" fn fh_tree_transaction_cancel(transaction: Option<&mut fh_tree_transaction>) -> c_int {
    given!(transaction);
    let (stores, tree) = attempt!(take(transaction));
    drop(stores);
    closed(tree)
}

/// Takes a handle apart. The mark of its owner goes first, as the next writer may begin at once.
fn take(
    transaction: &mut fh_tree_transaction,
) -> Result<(Transaction<'static, Value>, &'static fh_tree), Failure> {
    transaction.here()?;
    // SAFETY: the handle came from `fh_tree_transaction_begin` as a box; the caller gives it up.
    let fh_tree_transaction { transaction, tree } = *unsafe { Box::from_raw(transaction) };
    tree.owner.store(0, Ordering::Relaxed);
    Ok((transaction, tree))
}

/// Release: pairs with the Acquire of `fh_tree_destroy`.
fn closed(tree: &fh_tree) -> c_int {
    tree.open.fetch_sub(1, Ordering::Release);
    fh_error::FH_OK as c_int
}
