//! A histogram: `fh_histogram`.

use super::counter::heap;
use crate::error::fh_error;
use crate::handle::hand_out;
use crate::memory::Aside;
use freehold::percpu::{Histogram, HistogramSnapshot};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Counts values by size, with slots for each CPU. Any number of threads.
#[repr(transparent)]
pub struct fh_histogram(Histogram);

impl fh_histogram {
    /// A histogram that someone else keeps, as a handle.
    pub(super) fn of(histogram: &Histogram) -> *const Self {
        // The types have one layout (`repr(transparent)`).
        std::ptr::from_ref(histogram).cast()
    }
}

/// What a histogram has counted at one moment.
pub struct fh_histogram_snapshot(HistogramSnapshot);

/// Makes a histogram without values. The caller owns the handle, and ends it by fh_histogram_destroy. Any thread. Cost: as
/// fh_counter_new.
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_new(histogram: Option<&mut MaybeUninit<Box<fh_histogram>>>) -> c_int {
    given!(histogram);
    hand_out(histogram, heap().and_then(|heap| Ok(fh_histogram(Histogram::in_heap(heap)?))))
}

/// Ends a histogram from fh_histogram_new that no thread uses any more. Cost: constant, mostly.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_destroy(histogram: Option<Box<fh_histogram>>) -> c_int {
    given!(histogram);
    drop(histogram);
    fh_error::FH_OK as c_int
}

/// Counts a value. Any thread, and signal handlers. Cost: two adds of a counter.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_record(histogram: Option<&fh_histogram>, value: u64) -> c_int {
    given!(histogram);
    histogram.0.record(value);
    fh_error::FH_OK as c_int
}

/// Reads a histogram. The caller owns the snapshot, and ends it by fh_histogram_snapshot_destroy. Any thread. Cost: a load for each
/// bucket and CPU.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_read(
    histogram: Option<&fh_histogram>,
    snapshot: Option<&mut MaybeUninit<Box<fh_histogram_snapshot>>>,
) -> c_int {
    given!(histogram, snapshot);
    let read = Aside::new(8, 16 << 10).map(|_aside| fh_histogram_snapshot(histogram.0.snapshot()));
    hand_out(snapshot, read.map_err(Into::into))
}

/// Ends a snapshot. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_snapshot_destroy(snapshot: Option<Box<fh_histogram_snapshot>>) -> c_int {
    given!(snapshot);
    drop(snapshot);
    fh_error::FH_OK as c_int
}

/// The number of values in a snapshot. `count`: gets it. Any thread. Cost: O(buckets).
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_snapshot_count(
    snapshot: Option<&fh_histogram_snapshot>,
    count: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(snapshot, count);
    count.write(snapshot.0.count());
    fh_error::FH_OK as c_int
}

/// The bucket that a quantile lies in: the value is at least `least` and at most `most`. `quantile`: from 0 to 1. Any thread. Cost:
/// O(buckets).
///
/// @return FH_OK; FH_ENULL; FH_EINVAL: no quantile; FH_ENOENT: there is no value
#[unsafe(no_mangle)]
pub extern "C" fn fh_histogram_snapshot_quantile(
    snapshot: Option<&fh_histogram_snapshot>,
    quantile: f64,
    least: Option<&mut MaybeUninit<u64>>,
    most: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(snapshot, least, most);
    if !(0.0..=1.0).contains(&quantile) {
        return fh_error::FH_EINVAL as c_int;
    }
    let Some((low, high)) = snapshot.0.quantile(quantile) else { return fh_error::FH_ENOENT as c_int };
    least.write(low);
    most.write(high);
    fh_error::FH_OK as c_int
}
