//! A bitmap of the committed parts of the mapping, if not all of it is.
//!
//! ```text
//!   mapping   | 1 1 1 0 | 1 0 0 0 | ...    a bit for each granule: 64 KiB, or a 2^20th of the mapping if that is more
//! ```

use super::Mapping;
use crate::bits::Bits;
use crate::lock::lock;
use freehold_sys::SysError;
use freehold_units::OutOfMemory;
use std::ops::Range;
use std::sync::Mutex;

/// The smallest granule.
const LEAST_GRANULE: usize = 64 << 10;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct CommitMap {
    granule: usize,
    /// Empty if all is committed. Bits are set under `growing`.
    bits: Bits,
    growing: Mutex<()>,
}

impl CommitMap {
    /// A map of `len` bytes, of which all or nothing is committed.
    pub(super) fn new(len: usize, all: bool) -> Result<Self, OutOfMemory> {
        let granule = (len >> 20).next_power_of_two().max(LEAST_GRANULE);
        let bits = Bits::new(if all { 0 } else { len.div_ceil(granule) })?;
        Ok(Self { granule, bits, growing: Mutex::new(()) })
    }

    /// Alignment of ranges with different users, so that one is not committed with another.
    pub(crate) fn granule(&self) -> usize {
        self.granule
    }

    /// Whether all of the mapping was committed at once.
    pub(super) fn is_all(&self) -> bool {
        self.bits.is_empty()
    }

    fn granules(&self, range: &Range<usize>) -> Range<usize> {
        range.start / self.granule..range.end.div_ceil(self.granule)
    }

    /// Bytes of a range that are committed.
    pub(crate) fn committed_bytes(&self, range: &Range<usize>) -> usize {
        if self.bits.is_empty() {
            return range.len();
        }
        let bytes = |granule: usize| {
            let (start, end) = (granule * self.granule, (granule + 1) * self.granule);
            end.min(range.end) - start.max(range.start)
        };
        self.granules(range).filter(|&granule| self.bits.has(granule)).map(bytes).sum()
    }

    /// Whether all of a range is committed.
    #[inline]
    pub(crate) fn is_committed(&self, range: &Range<usize>) -> bool {
        self.bits.is_empty() || self.granules(range).all(|granule| self.bits.has(granule))
    }

    /// Calls `found` with each committed part of a range.
    pub(super) fn each_committed(
        &self,
        range: &Range<usize>,
        mut found: impl FnMut(Range<usize>) -> Result<(), SysError>,
    ) -> Result<(), SysError> {
        if self.bits.is_empty() {
            return found(range.clone());
        }
        let mut granules = self.granules(range).peekable();
        while let Some(first) = granules.find(|&granule| self.bits.has(granule)) {
            let mut last = first;
            while let Some(next) = granules.next_if(|&next| self.bits.has(next)) {
                last = next;
            }
            found((first * self.granule).max(range.start)..((last + 1) * self.granule).min(range.end))?;
        }
        Ok(())
    }

    /// Commits the uncommitted parts of a range, in whole granules.
    pub(super) fn commit(&self, mapping: &Mapping, range: &Range<usize>) -> Result<(), SysError> {
        if self.is_committed(range) {
            return Ok(());
        }
        let _growing = lock(&self.growing);
        let mut granules = self.granules(range).peekable();
        while let Some(first) = granules.next() {
            if self.bits.has(first) {
                continue;
            }
            let mut last = first;
            while let Some(next) = granules.next_if(|&next| !self.bits.has(next)) {
                last = next;
            }
            mapping.make_usable(first * self.granule..((last + 1) * self.granule).min(mapping.len()))?;
            (first..=last).for_each(|granule| self.bits.set(granule));
        }
        Ok(())
    }
}
