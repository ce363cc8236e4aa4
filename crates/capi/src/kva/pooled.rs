//! An address space of slabs, for threads that allocate and free all the time: `fh_pooled`.

use crate::error::{Failure, check_size, fh_error};
use crate::handle::{code_of, hand_out};
use crate::memory::Aside;
use crate::plain::fh_span;
use crate::types::{align, fh_request};
use freehold::kva::{AllocError, PooledSpace};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Address ranges by size, one exchange an operation. Any number of threads.
pub struct fh_pooled(PooledSpace);

/// What a pooled space holds.
#[repr(C)]
pub struct fh_pooled_stats {
    /// sizeof(fh_pooled_stats), set by the caller.
    pub size: usize,
    /// Blocks that are allocated.
    pub blocks: u64,
    /// Bytes of them, rounded up to slots.
    pub held_bytes: u64,
    /// Slabs.
    pub slabs: u64,
    /// Blocks too large for slabs.
    pub extents: u64,
    /// Bytes of memory that the space itself takes.
    pub index_bytes: u64,
}

/// Makes an empty pooled space. `span` and `granule` as for fh_space_new, but at most 2^36 granules, and at least 16 from a multiple
/// of 16 granules on: what lies beyond the outermost such multiples stays unused.
///
/// The caller owns the handle, and ends it by fh_pooled_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_new(
    span: fh_span,
    granule: u64,
    pooled: Option<&mut MaybeUninit<Box<fh_pooled>>>,
) -> c_int {
    given!(pooled);
    let make = || {
        // What the first one learns of the system is in lists whose making cannot return an error.
        let _aside = Aside::new(16, 4096)?;
        Ok(fh_pooled(PooledSpace::new(span.checked()?, align(granule)?)?))
    };
    hand_out(pooled, make())
}

/// Ends a pooled space that no thread uses any more. Cost: O(n) for n slabs.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_destroy(pooled: Option<Box<fh_pooled>>) -> c_int {
    given!(pooled);
    drop(pooled);
    fh_error::FH_OK as c_int
}

fn refused(error: AllocError) -> Failure {
    Failure::from(error).without_place()
}

/// Allocates a range of at least `size_bytes`, which are whole granules.
///
/// `span`: gets it, rounded up to a slot. Any thread. Cost: one exchange, mostly; O(log n) for n slabs under a lock otherwise.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOSPC; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_alloc(
    pooled: Option<&fh_pooled>,
    size_bytes: u64,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(pooled, span);
    span.write(attempt!(pooled.0.alloc(size_bytes).map_err(refused)).into());
    fh_error::FH_OK as c_int
}

/// Allocates a range with an alignment, a window or a guard. Any thread. Cost: as fh_pooled_alloc.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL; FH_ERANGE; FH_ENOSPC; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_alloc_request(
    pooled: Option<&fh_pooled>,
    request: Option<&fh_request>,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(pooled, request, span);
    let request = attempt!(request.of_space());
    span.write(attempt!(pooled.0.alloc_request(&request).map_err(refused)).into());
    fh_error::FH_OK as c_int
}

/// Frees the range that starts at `first`. `freed`: optional, gets it. Any thread. Cost: as fh_pooled_alloc.
///
/// @return FH_OK; FH_ENULL; FH_EINTERIOR; FH_EFREE; FH_ENOENT: outside the space; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_free(
    pooled: Option<&fh_pooled>,
    first: u64,
    freed: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(pooled);
    let span = attempt!(pooled.0.free(first).map_err(Failure::from));
    freed.map(|freed| freed.write(span.into()));
    fh_error::FH_OK as c_int
}

/// Finds the allocated range that an address lies in. Any thread, no lock. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_find(
    pooled: Option<&fh_pooled>,
    address: u64,
    span: Option<&mut MaybeUninit<fh_span>>,
) -> c_int {
    given!(pooled, span);
    let Some(found) = pooled.0.locate(address) else { return fh_error::FH_ENOENT as c_int };
    span.write(found.into());
    fh_error::FH_OK as c_int
}

/// Gives slabs without a block back. `trimmed_bytes`: optional, gets their bytes. Any thread. Cost: O(n) for n slabs.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_trim(
    pooled: Option<&fh_pooled>,
    trimmed_bytes: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(pooled);
    let bytes = pooled.0.trim();
    trimmed_bytes.map(|trimmed| trimmed.write(bytes));
    fh_error::FH_OK as c_int
}

/// Tells what a pooled space holds; while threads change it, at about one moment. `stats`: its size is set. Any thread. Cost: O(n)
/// for n slabs.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_get_stats(
    pooled: Option<&fh_pooled>,
    stats: Option<&mut fh_pooled_stats>,
) -> c_int {
    given!(pooled, stats);
    attempt!(check_size::<fh_pooled_stats>(stats.size));
    let now = pooled.0.stats();
    *stats = fh_pooled_stats {
        size: stats.size,
        blocks: now.blocks,
        held_bytes: now.held_bytes,
        slabs: now.slabs,
        extents: now.extents,
        index_bytes: now.index_bytes as u64,
    };
    fh_error::FH_OK as c_int
}

/// Checks every invariant of a pooled space that no thread changes meanwhile. Cost: O(n) for n slots.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_pooled_validate(pooled: Option<&fh_pooled>) -> c_int {
    given!(pooled);
    code_of(pooled.0.validate().map_err(Failure::from), None)
}
