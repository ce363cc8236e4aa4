//! Finds gaps and stores in them.

use super::RangeMap;
use crate::error::{AllocError, InsertError};
use crate::map::Request;
use freehold_units::{Rejected, Span};

impl<V> RangeMap<V> {
    /// The lowest free place that fits a request.
    ///
    /// Cost: O(log n) for n entries; with an alignment O(n), if gaps are long enough but misaligned.
    /// [`WordMap::lowest_gap`](crate::WordMap::lowest_gap) describes alternatives.
    ///
    /// # Errors
    /// `ZeroSize`; `TooLarge` if the request exceeds the window; `NoSpace` if no place fits.
    pub fn lowest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.numbers.lowest_gap(request)
    }

    /// The highest free place that fits a request.
    ///
    /// Cost: as for [`lowest_gap`](Self::lowest_gap).
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap).
    pub fn highest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.numbers.highest_gap(request)
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
    pub fn alloc_lowest(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V, AllocError>> {
        let found = self.lowest_gap(request);
        self.alloc_at(found, value)
    }

    /// Stores a value in the highest free place that fits; returns its range.
    ///
    /// Cost: that of [`lowest_gap`](Self::lowest_gap) and of [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`alloc_lowest`](Self::alloc_lowest).
    pub fn alloc_highest(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V, AllocError>> {
        let found = self.highest_gap(request);
        self.alloc_at(found, value)
    }

    fn alloc_at(
        &mut self,
        found: Result<Span, AllocError>,
        value: V,
    ) -> Result<Span, Rejected<V, AllocError>> {
        let span = match found {
            Ok(span) => span,
            Err(cause) => return Err(Rejected { value, cause }),
        };
        match self.insert(span, value) {
            Ok(()) => Ok(span),
            Err(Rejected { value, cause: InsertError::OutOfMemory }) => {
                Err(Rejected { value, cause: AllocError::OutOfMemory })
            }
            Err(_) => unreachable!("M4: a gap that was found is free"),
        }
    }
}
