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
        self.parts(range, true).map(|part| part.len()).sum()
    }

    /// Whether all of a range is committed.
    #[inline]
    pub(crate) fn is_committed(&self, range: &Range<usize>) -> bool {
        self.bits.is_empty() || self.granules(range).all(|granule| self.bits.has(granule))
    }

    /// The parts of a range that are committed, or those that are not.
    pub(crate) fn parts(&self, range: &Range<usize>, committed: bool) -> impl Iterator<Item = Range<usize>> {
        let (all, range) = (self.is_all(), range.clone());
        let mut granules = if all { 0..0 } else { self.granules(&range) }.peekable();
        let whole = (all && committed).then(|| range.clone());
        let parts = std::iter::from_fn(move || {
            let is_wanted = |granule: &usize| self.bits.has(*granule) == committed;
            let first = granules.find(is_wanted)?;
            let mut end = first + 1;
            while granules.next_if(is_wanted).is_some() {
                end += 1;
            }
            Some((first * self.granule).max(range.start)..(end * self.granule).min(range.end))
        });
        whole.into_iter().chain(parts)
    }

    /// Commits the uncommitted parts of a range, in whole granules.
    pub(super) fn commit(&self, mapping: &Mapping, range: &Range<usize>) -> Result<(), SysError> {
        if self.is_committed(range) {
            return Ok(());
        }
        let _growing = lock(&self.growing);
        let granules = self.granules(range);
        let whole = granules.start * self.granule..(granules.end * self.granule).min(mapping.len());
        self.parts(&whole, false).try_for_each(|part| {
            let granules = self.granules(&part);
            mapping.make_usable(part)?;
            granules.for_each(|granule| self.bits.set(granule));
            Ok(())
        })
    }
}
