//! Frees all regions, or those that are not wanted any more.

use super::AddressSpace;
use super::free_range::Freeing;
use crate::FreeRangeError;
use freehold_units::Span;

/// Regions that [`AddressSpace::retain`] finds at once.
const AT_ONCE: usize = 32;

impl<V> AddressSpace<V> {
    /// Frees every region. The values are dropped in address order. If a `Drop` panics, all others are dropped, too.
    ///
    /// # Errors
    /// [`FreeRangeError::Carved`] and [`FreeRangeError::Moving`]: a region cannot be freed. Nothing was changed.
    ///
    /// # Cost
    /// O(n log n). Needs no memory: the free blocks by size, if there are any, are given up, and the next request for
    /// [best fit](crate::Placement::BestFit) makes them again.
    pub fn clear(&mut self) -> Result<(), FreeRangeError> {
        self.check_whole_in(Span::ALL)?;
        self.sizes = None;
        Freeing::new(self, Span::ALL).run(&mut |_, value| drop(value));
        Ok(())
    }

    /// Frees the regions for which `keep` returns false, in address order. Regions that cannot be freed stay, and
    /// `keep` is not called for them: those that are carved, and those that are moving.
    ///
    /// If `keep` or a value's `Drop` panics, the regions above it stay, and the space is valid.
    ///
    /// # Cost
    /// O(n log n). Needs no memory it cannot do without: if none is left for the free blocks by size, they are given up,
    /// and the next request for [best fit](crate::Placement::BestFit) makes them again.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut space = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// for owner in [1, 2, 1, 3] {
    ///     space.alloc(&Request::new(0x1000), owner)?;
    /// }
    /// space.retain(|_, &mut owner| owner != 1);
    /// assert!(space.regions().map(|region| *region.value()).eq([2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(Span, &mut V) -> bool) {
        let mut rest = Some(Span::ALL);
        while let Some(span) = rest.take() {
            // Regions change places within their leaves as others are freed, but none of them is freed before its turn.
            let mut next = [Span::ALL; AT_ONCE];
            let entries = self.regions.entries(span).filter_map(|at| self.regions.region_of(at));
            let mut found = 0;
            for (to, entry) in next.iter_mut().zip(entries) {
                (*to, found) = (entry.span, found + 1);
                rest = Span::ALL.above(entry.taken());
            }
            for span in &next[..found] {
                self.retain_one(*span, &mut keep);
            }
        }
    }

    fn retain_one(&mut self, span: Span, keep: &mut impl FnMut(Span, &mut V) -> bool) {
        if self.check_whole(span.first()).is_err() {
            return;
        }
        let value = self.regions.value_at(span.first()).expect("K4: a region that was found is there");
        if !keep(span, value) {
            if self.reserve_blocks(1).is_err() {
                self.sizes = None;
            }
            self.free_entry(span.first(), &mut ());
        }
    }
}
