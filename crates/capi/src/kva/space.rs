//! An address space with one owner: `fh_space`.

use super::moves::fh_move;
use super::saved::{self, fh_load_fn, fh_save_fn};
use super::stats::fh_space_stats;
use crate::error::{Failure, fh_conflict, fh_error};
use crate::handle::{boxed, code_of, hand_out};
use crate::plain::{Value, fh_span};
use crate::types::{align, fh_region, fh_region_fn, fh_request, fh_span_fn, give_all, placement, walk};
use freehold::kva::AddressSpace;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

/// An address space: regions that do not overlap, each with a value of the caller's. One thread at a time.
pub struct fh_space(AddressSpace<Value>);

impl fh_space {
    /// The failure, with the value of the region that is in the way, or the size of the largest free block.
    fn named(&self, failure: Failure) -> Failure {
        let failure = failure.measuring(|| self.0.stats().largest_free_bytes);
        failure.naming(|address| self.0.region_at(address).map(|region| *region.value()))
    }
}

/// Makes an empty space.
///
/// `span`: its addresses. `granule`: bytes, a power of two, of which places and sizes are made. `by`: an fh_placement. The caller
/// owns the handle, and ends it by fh_space_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_EINVAL: the span is not made of granules; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_new(
    span: fh_span,
    granule: u64,
    by: u32,
    space: Option<&mut MaybeUninit<Box<fh_space>>>,
) -> c_int {
    given!(space);
    let make = || Ok(fh_space(AddressSpace::new(span.checked()?, align(granule)?, placement(by)?)?));
    hand_out(space, make())
}

/// Ends a space. `each` (optional) gets every region that is left, lowest address first, and so its value.
///
/// One thread at a time. Cost: O(n) for n regions.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_destroy(
    space: Option<Box<fh_space>>,
    each: fh_region_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(space);
    give_all(space.0.into_iter().map(|(span, value)| fh_region::new(span, value)), each, ctx);
    fh_error::FH_OK as c_int
}

/// Allocates a region, which carries `value`.
///
/// `span`: gets its addresses. `conflict`: optional. One thread at a time. Cost: O(log n) for n regions, with alignments that the
/// space has met.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ERANGE: the window; FH_ENOSPC; FH_EOCCUPIED: the window has one place, which is
/// taken; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_alloc(
    space: Option<&mut fh_space>,
    request: Option<&fh_request>,
    value: *mut c_void,
    span: Option<&mut MaybeUninit<fh_span>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space, request, span);
    attempt!(Failure::check(conflict.as_deref()));
    let request = attempt!(request.of_space());
    let done = space.0.alloc(&request, Value(value)).map(|place| _ = span.write(place.into()));
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Allocates a region at a fixed place, with `guard_bytes` behind it that stay unused.
///
/// `conflict`: optional, gets the region that is in the way and its value. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ERANGE; FH_EOCCUPIED; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_alloc_at(
    space: Option<&mut fh_space>,
    place: fh_span,
    guard_bytes: u64,
    value: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let place = attempt!(place.checked());
    let done = space.0.alloc_at_guarded(place, guard_bytes, Value(value)).map(drop);
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Frees the region that starts at `first`.
///
/// `freed`: optional, gets its addresses and gives its value back. `conflict`: optional. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINTERIOR; FH_EFREE; FH_EMOVING; FH_ENOENT: outside the space; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_free(
    space: Option<&mut fh_space>,
    first: u64,
    freed: Option<&mut MaybeUninit<fh_region>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let done = space.0.free(first).map(|(span, value)| {
        freed.map(|freed| freed.write(fh_region::new(span, value)));
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Frees all that lies in a range. Regions that reach beyond it are cut, and keep their value on either side.
///
/// `each`: optional, gets each part that was freed, with its region's value. `conflict`: optional. One thread at a time. Cost:
/// O(log n) for each region in the range, and memory for a list of them.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_EMOVING; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_free_range(
    space: Option<&mut fh_space>,
    range: fh_span,
    each: fh_region_fn,
    ctx: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let range = attempt!(range.checked());
    let done = space.0.free_range(range).map(|freed| {
        give_all(freed.map(|(span, value)| fh_region::new(span, value)), each, ctx);
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Finds the region that an address lies in.
///
/// One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_find(
    space: Option<&fh_space>,
    address: u64,
    region: Option<&mut MaybeUninit<fh_region>>,
) -> c_int {
    given!(space, region);
    match space.0.region_at(address) {
        Some(found) => {
            region.write(fh_region::new(found.span(), *found.value()));
            fh_error::FH_OK as c_int
        }
        None => fh_error::FH_ENOENT as c_int,
    }
}

/// Resizes the region that starts at `first` in place. Its guard moves with its end.
///
/// `span`: optional, gets its addresses. `conflict`: optional, gets what is in the way. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ERANGE; FH_EOCCUPIED, or as fh_space_free
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_resize(
    space: Option<&mut fh_space>,
    first: u64,
    size_bytes: u64,
    span: Option<&mut MaybeUninit<fh_span>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let done = space.0.resize(first, size_bytes).map(|now| {
        span.map(|span| span.write(now.into()));
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Cuts the region that contains an address in two. Both have its value; the second starts at the address, and has its guard.
///
/// `below`, `above`: optional, get the addresses of both. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_EINVAL: the address is no multiple of the granule, a region's start, or in a guard; FH_EFREE;
/// FH_ENOENT: outside the space; FH_EMOVING; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_split(
    space: Option<&mut fh_space>,
    address: u64,
    below: Option<&mut MaybeUninit<fh_span>>,
    above: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(space);
    let (first, second) = attempt!(space.0.split_at(address).map_err(Failure::from));
    below.map(|below| below.write(first.into()));
    above.map(|above| above.write(second.into()));
    fh_error::FH_OK as c_int
}

/// Makes one region of the one that starts at `first` and the one that starts where it ends, if both have the same value.
///
/// `span`: optional, gets its addresses. `conflict`: optional, gets the second region if its value is another. One thread at a time. Cost:
/// O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_ENOENT: none starts there; FH_EINVAL: the first has a guard; FH_EOCCUPIED: another value; or as
/// fh_space_free
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_merge(
    space: Option<&mut fh_space>,
    first: u64,
    span: Option<&mut MaybeUninit<fh_span>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let done = space.0.merge(first).map(|(whole, _)| {
        span.map(|span| span.write(whole.into()));
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Begins to move the region that starts at `first` to `to`. Both places are held until the move ends.
///
/// `begun`: gets a handle, which the commit or the cancel frees. `conflict`: optional. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ERANGE; FH_EOCCUPIED, or as fh_space_free
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_begin_move(
    space: Option<&mut fh_space>,
    first: u64,
    to: u64,
    begun: Option<&mut MaybeUninit<Box<fh_move>>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space, begun);
    attempt!(Failure::check(conflict.as_deref()));
    let place = attempt!(boxed(MaybeUninit::uninit()));
    let done = space.0.begin_move(first, to).map(|pending| {
        begun.write(Box::write(place, fh_move(pending)));
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Ends a move: the region is at its new place, and its old one is free. Needs no memory.
///
/// `begun`: freed, but for an error. `span`: optional, gets the region's addresses. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESTALE: a move of another space
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_commit_move(
    space: Option<&mut fh_space>,
    begun: Option<&mut fh_move>,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(space, begun);
    let now = attempt!(space.0.commit_move(begun.0).map_err(Failure::from));
    end(begun);
    span.map(|span| span.write(now.into()));
    fh_error::FH_OK as c_int
}

/// Gives a move up: the region stays where it is, and the new place is free.
///
/// `begun`: freed, but for an error. One thread at a time. Cost: O(log n).
///
/// @return FH_OK; FH_ENULL; FH_ESTALE: a move of another space
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_cancel_move(space: Option<&mut fh_space>, begun: Option<&mut fh_move>) -> c_int {
    given!(space, begun);
    attempt!(space.0.cancel_move(begun.0).map_err(Failure::from));
    end(begun);
    fh_error::FH_OK as c_int
}

/// Frees the handle of a move that has ended.
pub(super) fn end(begun: &mut fh_move) {
    // SAFETY: the handle came from `fh_space_begin_move` or that of the shared space, as a box; the caller gives it up.
    drop(unsafe { Box::from_raw(begun) });
}

/// Calls `each` for the regions that overlap a range, lowest address first, until it returns something else than 0.
///
/// One thread at a time; `each` does not change the space. Cost: O(log n), and constant for each region.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_for_each(
    space: Option<&fh_space>,
    range: fh_span,
    each: fh_region_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(space, each);
    let range = attempt!(range.checked());
    walk(space.0.regions_in(range).map(|region| fh_region::new(region.span(), *region.value())), each, ctx)
}

/// Calls `each` for the free blocks, lowest address first, until it returns something else than 0.
///
/// One thread at a time; `each` does not change the space. Cost: O(n) for n regions.
///
/// @return what `each` returned last; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_for_each_free(
    space: Option<&fh_space>,
    each: fh_span_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(space, each);
    let answer = space.0.free_blocks().map(|block| each(ctx, block.into())).find(|&answer| answer != 0);
    answer.unwrap_or(fh_error::FH_OK as c_int)
}

/// Saves a space as bytes of a versioned format: regions, guards, moves, and a number for each value.
///
/// `save`: optional; without it the number is the value's own bits. `bytes`: the caller frees them by free(). `len`: their number.
/// One thread at a time. Cost: O(n) for n regions.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_snapshot(
    space: Option<&fh_space>,
    save: fh_save_fn,
    ctx: *mut c_void,
    bytes: Option<&mut MaybeUninit<*mut u8>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    given!(space, bytes, len);
    let made = space.0.to_bytes(|value, out| out.put(&saved::number_of(*value, save, ctx)));
    code_of(saved::hand_out(made, bytes, len), None)
}

/// Makes a space from its bytes, with any placement.
///
/// `load`: optional; without it a value is its number. After an error, the values that `load` has made are not given back: the caller
/// still owns what they point to. `space`: as from fh_space_new. Any thread. Cost: O(n log n) for n regions; memory in proportion to
/// `len`, whatever the bytes are.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_EFORMAT; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_restore(
    bytes: *const u8,
    len: usize,
    by: u32,
    load: fh_load_fn,
    ctx: *mut c_void,
    space: Option<&mut MaybeUninit<Box<fh_space>>>,
) -> c_int {
    given!(space);
    let make = || {
        // SAFETY: the caller's bytes are there throughout the call.
        let bytes = unsafe { saved::slice(bytes, len)? };
        let restored =
            AddressSpace::from_bytes(bytes, placement(by)?, |bytes| saved::value_of(bytes, load, ctx));
        Ok(fh_space(restored?))
    };
    hand_out(space, make())
}

/// Tells what a space holds.
///
/// `stats`: its size is set. One thread at a time. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_get_stats(space: Option<&fh_space>, stats: Option<&mut fh_space_stats>) -> c_int {
    given!(space, stats);
    code_of(stats.write(&space.0.stats()), None)
}

/// Checks every invariant of a space from scratch.
///
/// One thread at a time. Cost: O(n log n) for n regions.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_space_validate(space: Option<&fh_space>) -> c_int {
    given!(space);
    code_of(space.0.validate().map_err(Failure::from), None)
}
