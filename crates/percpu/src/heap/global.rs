//! The global heap, which holds the objects of statics.

use super::{Builder, HeapError, PerCpuHeap};
use freehold_sys::fork;
use std::sync::{Mutex, OnceLock};

static GLOBAL: OnceLock<PerCpuHeap> = OnceLock::new();
/// Held while the heap is made, so that only one is made and a failed attempt can be repeated.
static MAKING: Mutex<()> = Mutex::new(());

/// The global heap, which holds the objects of statics.
impl PerCpuHeap {
    /// The global heap, which holds the counters of statics. The first call makes it.
    ///
    /// Cost: constant; the first call is a [`Builder::build`].
    ///
    /// # Errors
    /// See [`HeapError`]. The next call tries again.
    pub fn global() -> Result<&'static Self, HeapError> {
        match GLOBAL.get() {
            Some(heap) => Ok(heap),
            None => make(Builder::new()).map(|(heap, _)| heap),
        }
    }

    /// Makes the global heap from a builder. Call it before any static counter is used. Cost: as [`Builder::build`].
    ///
    /// # Errors
    /// [`HeapError::GlobalExists`], or the error of [`Builder::build`].
    pub fn make_global(builder: Builder) -> Result<&'static Self, HeapError> {
        match make(builder)? {
            (heap, true) => Ok(heap),
            (_, false) => Err(HeapError::GlobalExists),
        }
    }
}

/// The global heap, and whether this call made it.
fn make(builder: Builder) -> Result<(&'static PerCpuHeap, bool), HeapError> {
    let _making = fork::lock(|| MAKING.lock());
    if let Some(heap) = GLOBAL.get() {
        return Ok((heap, false));
    }
    let made = builder.build()?;
    Ok((GLOBAL.get_or_init(|| made), true))
}
