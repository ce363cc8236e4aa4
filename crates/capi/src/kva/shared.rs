//! An address space that threads share: `fh_shared_space`.

use super::moves::fh_move;
use super::saved::{self, fh_load_fn, fh_save_fn};
use super::space::end;
use super::stats::fh_space_stats;
use crate::error::{Failure, fh_conflict, fh_error};
use crate::handle::{boxed, code_of, hand_out};
use crate::memory::Aside;
use crate::plain::{Value, fh_span};
use crate::types::{align, fh_region, fh_region_fn, fh_request, give_all, placement, walk};
use freehold::kva::{AddressSpace, SharedSpace};
use freehold::maple::MapleTree;
use freehold::units::OutOfMemory;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// An address space for any number of threads. Look-ups take no lock. Changes take one lock.
pub struct fh_shared_space(SharedSpace<Value>);

impl fh_shared_space {
    /// The failure, with the value of the region that is in the way, if it is still there.
    fn named(&self, failure: Failure) -> Failure {
        let failure = failure.measuring(|| self.0.stats().largest_free_bytes);
        failure.naming(|address| self.0.read().get(address).copied())
    }
}

/// A value as the space holds it. The memory is set aside first, as an `Arc` cannot be refused.
fn shared(value: *mut c_void) -> Result<Arc<Value>, OutOfMemory> {
    // Two counts and the value.
    let _aside = Aside::new(1, 3 * size_of::<usize>())?;
    Ok(Arc::new(Value(value)))
}

/// A shared space of a space. Its readers are in the process's one domain, so `fh_thread_register` has their memory.
fn share(space: AddressSpace<Arc<Value>>) -> Result<fh_shared_space, Failure> {
    // The list of the tree's chunks cannot be refused.
    let _aside = Aside::new(4, 4096)?;
    SharedSpace::share(space, MapleTree::builder())
        .map(fh_shared_space)
        .map_err(|rejected| rejected.cause.into())
}

/// Makes an empty space, as fh_space_new.
///
/// The caller owns the handle, and ends it by fh_shared_space_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_new(
    span: fh_span,
    granule: u64,
    by: u32,
    space: Option<&mut MaybeUninit<Box<fh_shared_space>>>,
) -> c_int {
    given!(space);
    let make = || share(AddressSpace::new(span.checked()?, align(granule)?, placement(by)?)?);
    hand_out(space, make())
}

/// Ends a space that no thread uses any more. `each` (optional) gets every region that is left, and so its value.
///
/// Cost: O(n) for n regions.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_destroy(
    space: Option<Box<fh_shared_space>>,
    each: fh_region_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(space);
    let regions = space.0.into_space().into_iter();
    give_all(regions.map(|(span, value)| fh_region::new(span, *value)), each, ctx);
    fh_error::FH_OK as c_int
}

/// Allocates a region, as fh_space_alloc. Look-ups find it from then on.
///
/// Any thread. Cost: as fh_space_alloc, and a store in the readers' tree, O(log n); waits for other changes.
///
/// @return as fh_space_alloc; FH_EREADERS; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_alloc(
    space: Option<&fh_shared_space>,
    request: Option<&fh_request>,
    value: *mut c_void,
    span: Option<&mut MaybeUninit<fh_span>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space, request, span);
    attempt!(Failure::check(conflict.as_deref()));
    let request = attempt!(request.of_space());
    let value = attempt!(shared(value));
    let done = space.0.alloc(&request, value).map(|place| _ = span.write(place.into()));
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Allocates a region at a fixed place, as fh_space_alloc_at.
///
/// Any thread. Cost: as fh_shared_space_alloc.
///
/// @return as fh_space_alloc_at; FH_EREADERS; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_alloc_at(
    space: Option<&fh_shared_space>,
    place: fh_span,
    guard_bytes: u64,
    value: *mut c_void,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let place = attempt!(place.checked());
    let value = attempt!(shared(value));
    let done = space.0.alloc_at_guarded(place, guard_bytes, value).map(drop);
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Frees the region that starts at `first`.
///
/// `freed`: optional, gets its addresses and its value. Threads inside a read section may still use the value: free what it points
/// to after fh_synchronize. `conflict`: optional. Any thread. Cost: as fh_shared_space_alloc.
///
/// @return as fh_space_free; FH_EREADERS; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_free(
    space: Option<&fh_shared_space>,
    first: u64,
    freed: Option<&mut MaybeUninit<fh_region>>,
    conflict: Option<&mut fh_conflict>,
) -> c_int {
    given!(space);
    attempt!(Failure::check(conflict.as_deref()));
    let done = space.0.free(first).map(|(span, value)| {
        freed.map(|freed| freed.write(fh_region::new(span, *value)));
    });
    code_of(done.map_err(|error| space.named(error.into())), conflict)
}

/// Finds the region that an address lies in. Inside a read section (fh_read_enter), its value stays usable until the exit.
///
/// Any thread, no lock. Cost: O(log n), and a nanosecond for a section of its own.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_find(
    space: Option<&fh_shared_space>,
    address: u64,
    region: Option<&mut MaybeUninit<fh_region>>,
) -> c_int {
    given!(space, region);
    let reading = space.0.read();
    match reading.entry_at(address) {
        Some((span, value)) => {
            region.write(fh_region::new(span, *value));
            fh_error::FH_OK as c_int
        }
        None => fh_error::FH_ENOENT as c_int,
    }
}

/// Resizes a region in place, as fh_space_resize. Any thread. Cost: as fh_shared_space_alloc.
///
/// @return as fh_space_resize; FH_EREADERS; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_resize(
    space: Option<&fh_shared_space>,
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

/// Begins to move a region, as fh_space_begin_move. Until the move ends, look-ups and walks find it at both places, as two regions
/// with its value: its old place, and the part of the new one beyond that. Any thread. Cost: as fh_shared_space_alloc.
///
/// @return as fh_space_begin_move; FH_EREADERS; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_begin_move(
    space: Option<&fh_shared_space>,
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

/// Ends a move: look-ups find the region at its new place alone, from one moment on.
///
/// `begun`: freed, but for an error. `span`: optional, gets the region's addresses. Any thread. Cost: as fh_shared_space_alloc.
///
/// @return FH_OK; FH_ENULL; FH_ESTALE; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_commit_move(
    space: Option<&fh_shared_space>,
    begun: Option<&mut fh_move>,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(space, begun);
    let now = attempt!(space.0.commit_move(begun.0).map_err(Failure::from));
    end(begun);
    span.map(|span| span.write(now.into()));
    fh_error::FH_OK as c_int
}

/// Gives a move up, as fh_space_cancel_move. Any thread. Cost: as fh_shared_space_alloc.
///
/// @return FH_OK; FH_ENULL; FH_ESTALE; FH_EREADERS; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_cancel_move(
    space: Option<&fh_shared_space>,
    begun: Option<&mut fh_move>,
) -> c_int {
    given!(space, begun);
    attempt!(space.0.cancel_move(begun.0).map_err(Failure::from));
    end(begun);
    fh_error::FH_OK as c_int
}

/// Calls `each` for the regions that overlap a range, lowest address first, until it returns something else than 0. Regions that
/// come or go meanwhile may be met or not.
///
/// Any thread; `each` runs inside a read section. Cost: O(log n) for each leaf of up to 16 regions.
///
/// @return what `each` returned last; FH_ENULL; FH_EINVAL
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_for_each(
    space: Option<&fh_shared_space>,
    range: fh_span,
    each: fh_region_fn,
    ctx: *mut c_void,
) -> c_int {
    given!(space, each);
    let range = attempt!(range.checked());
    let reading = space.0.read();
    walk(reading.range(range).map(|(span, value)| fh_region::new(span, *value)), each, ctx)
}

/// Saves a space as bytes, as fh_space_snapshot, at one moment. `save` runs under the space's lock, so it must
/// neither change the space nor fork. Any thread. Cost: O(n) for n regions.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_snapshot(
    space: Option<&fh_shared_space>,
    save: fh_save_fn,
    ctx: *mut c_void,
    bytes: Option<&mut MaybeUninit<*mut u8>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    given!(space, bytes, len);
    let made = space.0.to_bytes(|value, out| out.put(&saved::number_of(*value, save, ctx)));
    code_of(saved::hand_out(made, bytes, len), None)
}

/// Makes a space from the bytes of a space of either kind, as fh_space_restore. Any thread. Cost: O(n log n) for n regions.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_EFORMAT; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_restore(
    bytes: *const u8,
    len: usize,
    by: u32,
    load: fh_load_fn,
    ctx: *mut c_void,
    space: Option<&mut MaybeUninit<Box<fh_shared_space>>>,
) -> c_int {
    given!(space);
    let make = || {
        // SAFETY: the caller's bytes are there throughout the call.
        let bytes = unsafe { saved::slice(bytes, len)? };
        let restored = AddressSpace::from_bytes(bytes, placement(by)?, |bytes| {
            let value = saved::value_of(bytes, load, ctx)?;
            shared(value.0).map_err(|_| fh_error::FH_ENOMEM)
        });
        share(restored?)
    };
    hand_out(space, make())
}

/// Tells what a space holds. `stats`: its size is set. Any thread. Cost: constant, under the lock.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_get_stats(
    space: Option<&fh_shared_space>,
    stats: Option<&mut fh_space_stats>,
) -> c_int {
    given!(space, stats);
    code_of(stats.write(&space.0.stats()), None)
}

/// Checks every invariant of a space from scratch, under the lock. Any thread. Cost: O(n log n) for n regions.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_shared_space_validate(space: Option<&fh_shared_space>) -> c_int {
    given!(space);
    code_of(space.0.validate().map_err(Failure::from), None)
}
