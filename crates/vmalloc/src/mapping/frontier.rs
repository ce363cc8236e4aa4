//! How far a range is committed: all of it, or up to a frontier that grows in steps.
//!
//! ```text
//!   range   | committed ........ |  .  .  .  |
//!                                ^ frontier: grows by a quarter, 4 MiB to 1 GiB at a time
//! ```

use super::Mapping;
use crate::builder::Commit;
use crate::lock::lock;
use freehold_sys::SysError;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The least that is committed at a time, where not all is.
const LEAST_STEP: usize = 4 << 20;
/// The most.
const MOST_STEP: usize = 1 << 30;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Frontier {
    /// Bytes of the mapping.
    range: Range<usize>,
    /// Bytes from the start that are committed. Grows under `growing`.
    reached: AtomicUsize,
    growing: Mutex<()>,
}

impl Frontier {
    pub(crate) fn new(mapping: &Mapping, range: Range<usize>) -> Self {
        let committed = mapping.commits() == Commit::Lazy;
        let reached = AtomicUsize::new(if committed { range.len() } else { 0 });
        Self { range, reached, growing: Mutex::new(()) }
    }

    pub(crate) fn range(&self) -> &Range<usize> {
        &self.range
    }

    /// Bytes from its start that are committed.
    #[inline]
    pub(crate) fn committed(&self) -> usize {
        // Acquire: pairs with the Release of `commit`.
        self.reached.load(Ordering::Acquire)
    }

    /// Commits the first `end` bytes, and more where there is.
    pub(crate) fn commit(&self, mapping: &Mapping, end: usize) -> Result<(), SysError> {
        if end <= self.committed() {
            return Ok(());
        }
        let _growing = lock(&self.growing);
        let now = self.committed();
        if end <= now {
            return Ok(());
        }
        let step = (now / 4).clamp(LEAST_STEP, MOST_STEP);
        let ample = end.max(now + step).min(self.range.len());
        let at = |bytes: usize| self.range.start + bytes;
        // Where there is little left to be had, no more than is needed.
        let reached = match mapping.commit(at(now)..at(ample)) {
            Ok(()) => ample,
            Err(_) => mapping.commit(at(now)..at(end)).map(|()| end)?,
        };
        // Release: pairs with the Acquire of `committed`.
        self.reached.store(reached, Ordering::Release);
        Ok(())
    }
}
