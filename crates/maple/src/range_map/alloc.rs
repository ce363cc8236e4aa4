//! Finds gaps and stores in them.

use super::RangeMap;
use crate::error::{AllocError, InsertError, or_reject};
use crate::key::{Key, SpanOf, domain};
use crate::map::Request;
use freehold_units::Rejected;

impl<V, K: Key> RangeMap<V, K> {
    /// The lowest free place that fits a request. Of keys other than `u64`, a request's alignment and window are those of
    /// their words.
    ///
    /// Cost: O(log n) for n entries; with an alignment O(n), if gaps are long enough but misaligned.
    /// [`WordMap::lowest_gap`](crate::WordMap::lowest_gap) describes alternatives.
    ///
    /// # Errors
    /// `ZeroSize`; `TooLarge` if the request exceeds the window; `NoSpace` if no place fits.
    pub fn lowest_gap(&self, request: &Request) -> Result<K::Span, AllocError> {
        let request = request.within(domain::<K>())?;
        self.ranges.numbers.lowest_gap(&request).map(K::Span::of_words)
    }

    /// The highest free place that fits a request.
    ///
    /// Cost: as for [`lowest_gap`](Self::lowest_gap).
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap).
    pub fn highest_gap(&self, request: &Request) -> Result<K::Span, AllocError> {
        let request = request.within(domain::<K>())?;
        self.ranges.numbers.highest_gap(&request).map(K::Span::of_words)
    }

    /// Stores a value in the lowest free place that fits; returns its range.
    ///
    /// Cost: that of [`lowest_gap`](Self::lowest_gap) and of [`store`](Self::store).
    ///
    /// ```
    /// use freehold_maple::{RangeMap, Request};
    ///
    /// let mut bus = RangeMap::new();
    /// bus.insert(0x1000..0x2000, "nic")?;
    /// let disk = bus.alloc_lowest(&Request::new(0x800).window((0x1000..0x9000).try_into()?), "disk")?;
    /// assert_eq!(disk, (0x2000..0x2800).try_into()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap), or `OutOfMemory` if there is no memory for another node or value. The
    /// error returns the value.
    pub fn alloc_lowest(&mut self, request: &Request, value: V) -> Result<K::Span, Rejected<V, AllocError>> {
        let span = or_reject!(self.lowest_gap(request), value);
        self.alloc_at(span, value)
    }

    /// Stores a value in the highest free place that fits; returns its range.
    ///
    /// Cost: that of [`lowest_gap`](Self::lowest_gap) and of [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`alloc_lowest`](Self::alloc_lowest).
    pub fn alloc_highest(&mut self, request: &Request, value: V) -> Result<K::Span, Rejected<V, AllocError>> {
        let span = or_reject!(self.highest_gap(request), value);
        self.alloc_at(span, value)
    }

    fn alloc_at(&mut self, span: K::Span, value: V) -> Result<K::Span, Rejected<V, AllocError>> {
        match self.insert(span, value) {
            Ok(()) => Ok(span),
            Err(Rejected { value, cause: InsertError::OutOfMemory }) => {
                Err(Rejected { value, cause: AllocError::OutOfMemory })
            }
            Err(_) => unreachable!("M4: a gap that was found is free"),
        }
    }
}
