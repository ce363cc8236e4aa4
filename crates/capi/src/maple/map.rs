//! A map of ranges with one owner: `fh_map`.

use crate::error::{Failure, fh_conflict, fh_error};
use crate::handle::{code_of, hand_out};
use crate::plain::{Value, fh_span};
use crate::types::{fh_entry, fh_entry_fn, fh_request, fh_span_fn, give_all, walk};
use freehold::maple::WordMap;
use freehold::units::Span;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// A map of ranges to values that are not NULL. Ranges do not overlap. One thread at a time.
pub struct fh_map {
    /// A box that plans and transactions borrow. It is used by none but them while `is_open`.
    pub(super) map: *mut WordMap<Value>,
    /// A plan or a transaction is open.
    pub(super) is_open: Cell<bool>,
}

impl Drop for fh_map {
    fn drop(&mut self) {
        // SAFETY: the box is the map's, and nothing borrows it: `fh_map_destroy` refuses a map with `is_open`.
        drop(unsafe { Box::from_raw(self.map) });
    }
}

impl fh_map {
    fn holding(words: WordMap<Value>) -> Result<Self, Failure> {
        Ok(Self { map: Box::into_raw(crate::handle::boxed(words)?), is_open: Cell::new(false) })
    }

    pub(super) fn read(&self) -> Result<&WordMap<Value>, Failure> {
        // SAFETY: the box is the map's, and no plan or transaction borrows it.
        if self.is_open.get() { Err(fh_error::FH_EBUSY.into()) } else { Ok(unsafe { &*self.map }) }
    }

    pub(super) fn change(&mut self) -> Result<&mut WordMap<Value>, Failure> {
        // SAFETY: as above; the map itself is borrowed to change it.
        if self.is_open.get() { Err(fh_error::FH_EBUSY.into()) } else { Ok(unsafe { &mut *self.map }) }
    }
}

/// Makes an empty map. The caller owns the handle, and ends it by fh_map_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_new(map: Option<&mut MaybeUninit<Box<fh_map>>>) -> c_int {
    given!(map);
    hand_out(map, fh_map::holding(WordMap::new()))
}

/// Copies a map as it is: a snapshot with an owner of its own. Values are copied as pointers, so each is then in both. The caller owns the
/// copy, and ends it by fh_map_destroy. One thread at a time. Cost: O(n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_clone(map: Option<&fh_map>, copy: Option<&mut MaybeUninit<Box<fh_map>>>) -> c_int {
    given!(map, copy);
    let words = attempt!(attempt!(map.read()).try_clone().map_err(Failure::from));
    hand_out(copy, fh_map::holding(words))
}

/// Ends a map. `each` (optional) gets every entry that is left, lowest first, and so its value. A map with a plan or a transaction
/// is not ended. One thread at a time. Cost: O(n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_destroy(map: Option<&mut fh_map>, each: fh_entry_fn, ctx: *mut c_void) -> c_int {
    given!(map);
    give_all(attempt!(map.read()).iter().map(fh_entry::new), each, ctx);
    // SAFETY: the handle came from `fh_map_new` as a box; the caller gives it up.
    drop(unsafe { Box::from_raw(map) });
    fh_error::FH_OK as c_int
}

/// The value at an index; NULL if there is none, or if the map is NULL or has a plan or a transaction.
///
/// One thread at a time. Cost: O(log n) for n entries.
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_load(map: Option<&fh_map>, index: u64) -> *mut c_void {
    let found = map.and_then(|map| map.read().ok()).and_then(|words| words.get(index));
    found.map_or(ptr::null_mut(), |value| value.0)
}

/// Finds the entry that contains an index. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_find(
    map: Option<&fh_map>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(map, entry);
    found(attempt!(map.read()).entry_at(index), entry)
}

/// Finds the first entry whose range ends at `index` or above. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_next(
    map: Option<&fh_map>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(map, entry);
    found(attempt!(map.read()).range(index..).next(), entry)
}

/// Finds the last entry whose range begins at `index` or below. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_prev(
    map: Option<&fh_map>,
    index: u64,
    entry: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(map, entry);
    found(attempt!(map.read()).range(..=index).next_back(), entry)
}

/// Writes what was found.
pub(super) fn found(found: Option<(Span, Value)>, entry: &mut MaybeUninit<fh_entry>) -> c_int {
    let Some(found) = found else { return fh_error::FH_ENOENT as c_int };
    entry.write(fh_entry::new(found));
    fh_error::FH_OK as c_int
}

/// Stores a value over a range, whatever is there. Entries that reach beyond it are cut, and keep their value on either side.
///
/// `replaced`: optional, gets each part that was there, after the store. One thread at a time. Cost: O(log n + k) for n entries of
/// which it replaces k; with `replaced`, memory for a list of them.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_store(
    map: Option<&mut fh_map>,
    range: fh_span,
    value: *mut c_void,
    replaced: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(map);
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    let words = attempt!(map.change());
    if replaced.is_none() {
        return code_of(words.store(range, value).map_err(Failure::from), None);
    }
    let old = attempt!(words.replace_range(range, value).map_err(Failure::from));
    give_all(old.map(fh_entry::new), replaced, ctx);
    fh_error::FH_OK as c_int
}

/// Stores a value over a free range. `conflict`: optional, gets the first entry that is in the way. One thread at a time. Cost:
/// O(log n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EBUSY; FH_EINVAL; FH_EOCCUPIED; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_insert(
    map: Option<&mut fh_map>,
    range: fh_span,
    value: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(map);
    attempt!(Failure::check(conflict.as_deref()));
    let (range, value) = (attempt!(range.checked()), attempt!(Value::entry(value)));
    let words = attempt!(map.change());
    let done = words.insert(range, value).map_err(Failure::from);
    code_of(done.map_err(|failure| failure.naming(|index| words.get(index))), conflict)
}

/// Removes the whole entry that contains an index, without memory. `erased`: optional, gets it. One thread at a time. Cost: O(log n)
/// for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_erase(
    map: Option<&mut fh_map>,
    index: u64,
    erased: Option<&mut MaybeUninit<fh_entry>>,
) -> c_int {
    given!(map);
    let Some(entry) = attempt!(map.change()).erase(index) else { return fh_error::FH_ENOENT as c_int };
    erased.map(|erased| erased.write(fh_entry::new(entry)));
    fh_error::FH_OK as c_int
}

/// Removes all in a range. Entries that reach beyond it are cut. `removed`: optional, gets each part that was there. One thread at a
/// time. Cost: O(log n + k) for n entries of which it removes k, and memory for a list of them.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_remove_range(
    map: Option<&mut fh_map>,
    range: fh_span,
    removed: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(map);
    let range = attempt!(range.checked());
    let old = attempt!(attempt!(map.change()).take_range(range).map_err(Failure::from));
    give_all(old.map(fh_entry::new), removed, ctx);
    fh_error::FH_OK as c_int
}

/// Finds the lowest free place for a request: so many indexes, their alignment, within a window. Guards are not known. One thread at
/// a time. Cost: O(log n) for n entries; O(n) with an alignment above 1.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EBUSY; FH_EINVAL; FH_ENOSPC
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_lowest_gap(
    map: Option<&fh_map>,
    request: Option<&fh_request>,
    gap: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(map, request, gap);
    let request = attempt!(request.of_map());
    gap.write(attempt!(attempt!(map.read()).lowest_gap(&request).map_err(Failure::from)).into());
    fh_error::FH_OK as c_int
}

/// Finds the highest free place for a request. Otherwise as fh_map_lowest_gap.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EBUSY; FH_EINVAL; FH_ENOSPC
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_highest_gap(
    map: Option<&fh_map>,
    request: Option<&fh_request>,
    gap: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(map, request, gap);
    let request = attempt!(request.of_map());
    gap.write(attempt!(attempt!(map.read()).highest_gap(&request).map_err(Failure::from)).into());
    fh_error::FH_OK as c_int
}

/// Stores a value in the lowest (`highest` 0) or the highest (`highest` 1) free place for a request. `span`: gets it. One thread at a
/// time. Cost: as fh_map_lowest_gap and fh_map_insert.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EENUM; FH_EBUSY; FH_EINVAL; FH_ENOSPC; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_alloc(
    map: Option<&mut fh_map>,
    request: Option<&fh_request>,
    highest: u32,
    value: *mut c_void,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(map, request, span);
    let request = attempt!(request.of_map());
    let value = attempt!(Value::entry(value));
    let words = attempt!(map.change());
    let stored = match highest {
        0 => words.alloc_lowest(&request, value),
        1 => words.alloc_highest(&request, value),
        _ => return fh_error::FH_EENUM as c_int,
    };
    span.write(attempt!(stored.map_err(|refused| Failure::from(refused.cause))).into());
    fh_error::FH_OK as c_int
}

/// Calls `each` for the entries that overlap a range, lowest first, until it returns something else than 0. Entries are whole.
///
/// One thread at a time; `each` does not change the map. Cost: O(log n), and constant for each entry.
///
/// @return what `each` returned last; FH_ENULL; FH_EBUSY; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_for_each(
    map: Option<&fh_map>,
    range: fh_span,
    each: fh_entry_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(map, each);
    let range = attempt!(range.checked());
    walk(attempt!(map.read()).range(range).map(fh_entry::new), each, ctx)
}

/// Calls `each` for the gaps that overlap a range, lowest first, until it returns something else than 0. Gaps are whole.
///
/// One thread at a time; `each` does not change the map. Cost: O(n) for n entries.
///
/// @return what `each` returned last; FH_ENULL; FH_EBUSY; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_for_each_gap(
    map: Option<&fh_map>,
    range: fh_span,
    each: fh_span_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(map, each);
    let range = attempt!(range.checked());
    let answer =
        attempt!(map.read()).gaps(range).map(|gap| each(ctx, gap.into())).find(|&answer| answer != 0);
    answer.unwrap_or(fh_error::FH_OK as c_int)
}

/// The number of entries. `len`: gets it. One thread at a time. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_len(map: Option<&fh_map>, len: Option<&mut MaybeUninit<u64>>) -> c_int {
    given!(map, len);
    len.write(attempt!(map.read()).len());
    fh_error::FH_OK as c_int
}

/// Checks every invariant of a map from scratch. One thread at a time. Cost: O(n) for n entries.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_map_validate(map: Option<&fh_map>) -> c_int {
    given!(map);
    code_of(attempt!(map.read()).validate().map_err(Failure::from), None)
}
