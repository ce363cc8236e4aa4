//! What keeps a map for itself: a planned store, and several stores that are made together.
//!
//! The handle borrows the map's box as long as it is open. `fh_map::is_open` keeps all else out, and the map alive.

use super::map::{fh_map, found};
use crate::error::{Failure, fh_error};
use crate::handle::{boxed, code_of};
use crate::plain::{Value, fh_span};
use crate::types::{fh_entry, fh_entry_fn, walk};
use freehold::maple::Plan;
use freehold::maple::word_map::Transaction;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// A store that cannot fail any more. fh_plan_commit and fh_plan_cancel end and free it.
pub struct fh_plan {
    plan: Plan<'static, Value>,
    is_open: &'static Cell<bool>,
}

/// Several stores that are made together, or not at all. fh_map_transaction_commit and fh_map_transaction_cancel end and free it.
pub struct fh_map_transaction {
    transaction: Transaction<'static, Value>,
    is_open: &'static Cell<bool>,
}

/// The mark of a map, for a handle.
fn mark(map: &fh_map) -> &'static Cell<bool> {
    // SAFETY: a map that is open is not destroyed, so the mark outlives the handle that will clear it.
    unsafe { &*ptr::from_ref(&map.is_open) }
}

/// Plans a store over a range: takes all the memory that it needs. Until the plan ends, the map answers FH_EBUSY.
///
/// One thread at a time. Cost: O(log n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_plan_store(
    map: Option<&fh_map>,
    range: fh_span,
    plan: Option<&mut MaybeUninit<Box<fh_plan>>>,
) -> c_int {
    given!(map, plan);
    let range = attempt!(range.checked());
    attempt!(map.read());
    let place = attempt!(boxed(MaybeUninit::uninit()));
    // SAFETY: the box is the map's, nothing else borrows it, and from here on `is_open` keeps all else out.
    let planned = attempt!(unsafe { &mut *map.map }.plan_store(range).map_err(Failure::from));
    map.is_open.set(true);
    plan.write(Box::write(place, fh_plan { plan: planned, is_open: mark(map) }));
    fh_error::FH_OK as c_int
}

/// Makes a planned store. Takes no memory. What it overwrites is not given back: look before the plan. The plan is freed, but for an
/// error. One thread at a time. Cost: O(log n + k) for n entries of which it replaces k.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_plan_commit(plan: Option<&mut fh_plan>, value: *mut c_void) -> c_int {
    given!(plan);
    let value = attempt!(Value::entry(value));
    // SAFETY: the handle came from `fh_map_plan_store` as a box; the caller gives it up.
    let fh_plan { plan, is_open } = *unsafe { Box::from_raw(plan) };
    plan.commit(value);
    is_open.set(false);
    fh_error::FH_OK as c_int
}

/// Gives a plan up, and frees it: nothing is stored. One thread at a time. Cost: constant.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_plan_cancel(plan: Option<Box<fh_plan>>) -> c_int {
    given!(plan);
    let fh_plan { plan, is_open } = *plan;
    drop(plan);
    is_open.set(false);
    fh_error::FH_OK as c_int
}

/// Begins stores that are made together. Until they end, the map itself answers FH_EBUSY.
///
/// One thread at a time. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_begin(
    map: Option<&fh_map>,
    transaction: Option<&mut MaybeUninit<Box<fh_map_transaction>>>,
) -> c_int {
    given!(map, transaction);
    attempt!(map.read());
    let place = attempt!(boxed(MaybeUninit::uninit()));
    // SAFETY: the box is the map's, nothing else borrows it, and from here on `is_open` keeps all else out.
    let begun = unsafe { &mut *map.map }.transaction();
    map.is_open.set(true);
    transaction.write(Box::write(place, fh_map_transaction { transaction: begun, is_open: mark(map) }));
    fh_error::FH_OK as c_int
}

/// Stores a value over a range, in a transaction. What it overwrites is found beforehand by fh_map_transaction_for_each. One thread
/// at a time. Cost: O(log n + k) for n entries of which it replaces k, amortized.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOMEM: the stores before stand
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_store(
    transaction: Option<&mut fh_map_transaction>,
    range: fh_span,
    value: *mut c_void,
) -> c_int {
    given!(transaction);
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    code_of(transaction.transaction.store(range, value).map_err(Failure::from), None)
}

/// Removes all in a range, in a transaction. One thread at a time. Cost: as fh_map_transaction_store.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOMEM: the stores before stand
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_remove_range(
    transaction: Option<&mut fh_map_transaction>,
    range: fh_span,
) -> c_int {
    given!(transaction);
    let range = attempt!(range.checked());
    code_of(transaction.transaction.remove_range(range).map_err(Failure::from), None)
}

/// Finds the entry that contains an index, with the transaction's stores. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_find(
    transaction: Option<&fh_map_transaction>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(transaction, entry);
    found(transaction.transaction.map().entry_at(index), entry)
}

/// Calls `each` for the entries that overlap a range, with the transaction's stores, as fh_map_for_each. One thread at a time. Cost:
/// O(log n), and constant for each entry.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_for_each(
    transaction: Option<&fh_map_transaction>,
    range: fh_span,
    each: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(transaction, each);
    let range = attempt!(range.checked());
    walk(transaction.transaction.map().range(range).map(fh_entry::new), each, ctx)
}

/// Makes all stores of a transaction, and frees it. Takes no memory. One thread at a time. Cost: O(m) for m nodes and entries that
/// they took and removed.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_commit(transaction: Option<Box<fh_map_transaction>>) -> c_int {
    given!(transaction);
    let fh_map_transaction { transaction, is_open } = *transaction;
    transaction.commit();
    is_open.set(false);
    fh_error::FH_OK as c_int
}

/// Gives a transaction up, and frees it: nothing has changed. One thread at a time. Cost: as fh_map_transaction_commit.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_transaction_cancel(transaction: Option<Box<fh_map_transaction>>) -> c_int {
    given!(transaction);
    let fh_map_transaction { transaction, is_open } = *transaction;
    drop(transaction);
    is_open.set(false);
    fh_error::FH_OK as c_int
}
