//! The heap of statics.

use super::{Builder, HeapError, PerCpuHeap};
use freehold_sys::fork;
use std::sync::{Mutex, OnceLock};

static GLOBAL: OnceLock<PerCpuHeap> = OnceLock::new();
/// Held by who makes it, so that one is made and a failure can be repeated.
static MAKING: Mutex<()> = Mutex::new(());

/// The heap of statics.
impl PerCpuHeap {
    /// The heap in which counters of statics are, made when first asked for.
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

    /// Makes the global heap as described. To be called before any counter of a static is used. Cost: as [`Builder::build`].
    ///
    /// # Errors
    /// [`HeapError::GlobalExists`], or why there is no such heap.
    pub fn make_global(builder: Builder) -> Result<&'static Self, HeapError> {
        match make(builder)? {
            (heap, true) => Ok(heap),
            (_, false) => Err(HeapError::GlobalExists),
        }
    }
}

/// The global heap, and whether it was made just now.
fn make(builder: Builder) -> Result<(&'static PerCpuHeap, bool), HeapError> {
    let _making = fork::lock(|| MAKING.lock());
    if let Some(heap) = GLOBAL.get() {
        return Ok((heap, false));
    }
    let made = builder.build()?;
    Ok((GLOBAL.get_or_init(|| made), true))
}
