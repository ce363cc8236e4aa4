//! Metrics by name and labels, and the page that shows them: `fh_registry`.

use super::counter::fh_counter;
use super::gauge::fh_gauge;
use super::histogram::fh_histogram;
use crate::error::{Failure, fh_error};
use crate::handle::hand_out;
use crate::memory::Aside;
use freehold::percpu::registry::{Format, Registry, RegistryError};
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Blocks that are set aside for a call, and the bytes of each beyond those of the caller's strings: an entry of the registry, its
/// parts, and the nodes of the maps that it goes into.
const BLOCKS: usize = 32;
const BLOCK_BYTES: usize = 4096;

/// Blocks for a histogram's name that is new: the texts of 64 bounds, each of which grows up to three times.
const BUCKET_BLOCKS: usize = 3 * 64;

/// Metrics by name and labels. Any number of threads.
pub struct fh_registry(Registry);

/// A label of a metric.
#[repr(C)]
pub struct fh_label {
    /// Its name, of letters, digits and underscores.
    pub name: *const c_char,
    /// Its value, UTF-8.
    pub value: *const c_char,
}

/// Makes a registry without metrics. The caller owns the handle, and ends it by fh_registry_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_new(registry: Option<&mut MaybeUninit<Box<fh_registry>>>) -> c_int {
    given!(registry);
    hand_out(registry, Ok(fh_registry(Registry::new())))
}

/// Ends a registry and its metrics, which no thread uses any more. Cost: O(n) for n metrics.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_destroy(registry: Option<Box<fh_registry>>) -> c_int {
    given!(registry);
    drop(registry);
    fh_error::FH_OK as c_int
}

/// A caller's string.
///
/// # Safety
/// It ends in 0, and stays as it is while it is used.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(fh_error::FH_ENULL.into());
    }
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| fh_error::FH_EINVAL.into())
}

/// Calls `get` with a caller's name and labels, with `blocks` of memory set aside for what it adds.
///
/// # Safety
/// The strings end in 0, there are `count` labels, and all of it stays as it is during the call.
unsafe fn with_labels<T>(
    name: *const c_char,
    labels: *const fh_label,
    count: usize,
    blocks: usize,
    get: impl FnOnce(&str, &[(&str, &str)]) -> Result<Arc<T>, RegistryError>,
) -> Result<Arc<T>, Failure> {
    if labels.is_null() && count > 0 {
        return Err(fh_error::FH_ENULL.into());
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { text(name)? };
    let mut pairs = Vec::new();
    pairs.try_reserve_exact(count).map_err(|_| fh_error::FH_ENOMEM)?;
    let mut bytes = name.len();
    for at in 0..count {
        // SAFETY: guaranteed by the caller: there are `count` labels.
        let fh_label { name, value } = unsafe { labels.add(at).read() };
        // SAFETY: guaranteed by the caller.
        let pair = unsafe { (text(name)?, text(value)?) };
        bytes += pair.0.len() + pair.1.len();
        pairs.push(pair);
    }
    // Texts of labels are escaped, and grow by doubling.
    let _aside = Aside::new(blocks, BLOCK_BYTES + 4 * bytes)?;
    Ok(get(name, &pairs)?)
}

/// The counter of a name and labels, made if there is none. `labels`: `count` of them, NULL if 0. `counter`: belongs to the registry,
/// whose end ends it. Any thread. Cost: O(log n) for n metrics, under a lock.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL: a bad name or label; FH_EOCCUPIED: the name is of another kind; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_counter(
    registry: Option<&fh_registry>,
    name: *const c_char,
    labels: *const fh_label,
    count: usize,
    counter: Option<&mut MaybeUninit<*const fh_counter>>,
) -> c_int {
    given!(registry, counter);
    // SAFETY: the caller's strings and labels are there throughout the call.
    let made =
        unsafe { with_labels(name, labels, count, BLOCKS, |name, labels| registry.0.counter(name, labels)) };
    counter.write(fh_counter::of(&*attempt!(made)));
    fh_error::FH_OK as c_int
}

/// The gauge of a name and labels, as fh_registry_counter. Any thread. Cost: as fh_registry_counter.
///
/// @return as fh_registry_counter
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_gauge(
    registry: Option<&fh_registry>,
    name: *const c_char,
    labels: *const fh_label,
    count: usize,
    gauge: Option<&mut MaybeUninit<*const fh_gauge>>,
) -> c_int {
    given!(registry, gauge);
    // SAFETY: as for a counter.
    let made =
        unsafe { with_labels(name, labels, count, BLOCKS, |name, labels| registry.0.gauge(name, labels)) };
    gauge.write(fh_gauge::of(&*attempt!(made)));
    fh_error::FH_OK as c_int
}

/// The histogram of a name and labels, as fh_registry_counter. `unit`: values are shown divided by it, 1e9 for nanoseconds as
/// seconds. Any thread. Cost: as fh_registry_counter.
///
/// @return as fh_registry_counter; FH_EINVAL: a unit that is not above 0, or another than that of the name
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_histogram(
    registry: Option<&fh_registry>,
    name: *const c_char,
    labels: *const fh_label,
    count: usize,
    unit: f64,
    histogram: Option<&mut MaybeUninit<*const fh_histogram>>,
) -> c_int {
    given!(registry, histogram);
    let get = |name: &str, labels: &[(&str, &str)]| registry.0.histogram(name, labels, unit);
    // SAFETY: as for a counter.
    let is_new = unsafe { text(name) }.is_ok_and(|name| registry.0.buckets_of(name).is_none());
    let blocks = if is_new { BLOCKS + BUCKET_BLOCKS } else { BLOCKS };
    // SAFETY: as for a counter.
    let made = unsafe { with_labels(name, labels, count, blocks, get) };
    histogram.write(fh_histogram::of(&*attempt!(made)));
    fh_error::FH_OK as c_int
}

/// Renders all metrics as a page, in Prometheus' text (`is_open` 0) or OpenMetrics (`is_open` 1).
///
/// `page`: UTF-8, not ended by 0; the caller frees it by free(). `len`: its bytes. Any thread. Cost: a read of each metric; one family
/// at a time is under the lock.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_registry_render(
    registry: Option<&fh_registry>,
    is_open: u32,
    page: Option<&mut MaybeUninit<*mut c_char>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    given!(registry, page, len);
    let format = match is_open {
        0 => Format::Text,
        1 => Format::OpenMetrics,
        _ => return fh_error::FH_EENUM as c_int,
    };
    let mut text = attempt!(registry.0.try_render(format)).into_bytes();
    // An empty page has memory, too, which the caller frees.
    attempt!(text.try_reserve(1).map_err(|_| fh_error::FH_ENOMEM));
    len.write(text.len());
    page.write(text.leak().as_mut_ptr().cast());
    fh_error::FH_OK as c_int
}
