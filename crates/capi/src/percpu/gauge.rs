//! A gauge: `fh_gauge`.

use super::counter::heap;
use crate::error::fh_error;
use crate::handle::hand_out;
use freehold::percpu::Gauge;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// A number that goes up and down, with slots for each CPU. Any number of threads.
#[repr(transparent)]
pub struct fh_gauge(Gauge);

impl fh_gauge {
    /// A gauge that someone else keeps, as a handle.
    pub(super) fn of(gauge: &Gauge) -> *const Self {
        // The types have one layout (`repr(transparent)`).
        std::ptr::from_ref(gauge).cast()
    }
}

/// Makes a gauge at 0. The caller owns the handle, and ends it by fh_gauge_destroy. Any thread. Cost: as fh_counter_new, twice.
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_gauge_new(gauge: Option<&mut MaybeUninit<Box<fh_gauge>>>) -> c_int {
    given!(gauge);
    hand_out(gauge, heap().and_then(|heap| Ok(fh_gauge(Gauge::in_heap(heap)?))))
}

/// Ends a gauge from fh_gauge_new that no thread uses any more. Cost: constant, mostly.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_gauge_destroy(gauge: Option<Box<fh_gauge>>) -> c_int {
    given!(gauge);
    drop(gauge);
    fh_error::FH_OK as c_int
}

/// Adds to a gauge; `value` may be negative. Any thread, and signal handlers. Cost: a nanosecond.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_gauge_add(gauge: Option<&fh_gauge>, value: i64) -> c_int {
    given!(gauge);
    gauge.0.add(value);
    fh_error::FH_OK as c_int
}

/// Sets a gauge. Any thread. Cost: as fh_gauge_get.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_gauge_set(gauge: Option<&fh_gauge>, value: i64) -> c_int {
    given!(gauge);
    gauge.0.set(value);
    fh_error::FH_OK as c_int
}

/// Reads a gauge. `value`: gets it. Any thread. Cost: two loads for each CPU.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_gauge_get(gauge: Option<&fh_gauge>, value: Option<&mut MaybeUninit<i64>>) -> c_int {
    given!(gauge, value);
    value.write(gauge.0.get());
    fh_error::FH_OK as c_int
}
