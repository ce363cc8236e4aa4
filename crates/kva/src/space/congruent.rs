//! Congruent areas: one base for several areas at fixed offsets, as per-CPU chunks need them.
//!
//! ```text
//!   base        +off 0         +off 1                    +off 2
//!    |.............|###|.........|######|..................|##|......   all free, base as high as can be
//! ```
//!
//! The base starts at the top. Each area that does not fit lowers it to the highest base at which that area alone fits.
//! The search ends when all areas in a row fit. It never skips a valid base, so the result is the highest one.

use super::AddressSpace;
use crate::request::CheckedRequest;
use crate::{AllocError, Rejected};
use alloc::vec::Vec;
use freehold_units::{Align, Probe, Span};

impl<V> AddressSpace<V> {
    /// Takes all areas at one common base: the highest multiple of `align` for which all areas are free and inside
    /// `window`. An area is given as its span for base 0. Each becomes a region of its own. Returns the base.
    ///
    /// # Errors
    /// Returns the areas and values with the reason, see [`AllocError`]; nothing was changed.
    ///
    /// # Cost
    /// O(areas · log n) for each free block that the base passes: one that is long enough for an area but does not hold
    /// it at a multiple of `align`. Also O(areas²) to check that no two areas overlap. Every area reserves a leaf of
    /// the tree of regions.
    #[doc(alias = "pcpu_get_vm_areas")]
    pub fn alloc_congruent(
        &mut self,
        areas: Vec<(Span, V)>,
        align: Align,
        window: Span,
    ) -> Result<u64, Rejected<Vec<(Span, V)>>> {
        self.alloc_congruent_probed(areas, align, window, &mut ())
    }

    /// [`AddressSpace::alloc_congruent`], with the work counted.
    ///
    /// Cost: as [`AddressSpace::alloc_congruent`].
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_congruent`].
    pub fn alloc_congruent_probed(
        &mut self,
        areas: Vec<(Span, V)>,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Result<u64, Rejected<Vec<(Span, V)>>> {
        match self.prepare_congruent(&areas, align, window, probe) {
            Ok(base) => {
                for (area, value) in areas {
                    let span = area.shifted(base).expect("K4: an area lies in a free block");
                    let block = self.block_over(span).expect("K4: an area lies in a free block");
                    self.occupy(block, span, self.unaligned(), Some(value), probe);
                }
                Ok(base)
            }
            Err(cause) => Err(Rejected { value: areas, cause }),
        }
    }

    fn prepare_congruent(
        &mut self,
        areas: &[(Span, V)],
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Result<u64, AllocError> {
        let align = align.max(self.granule);
        self.check_window(window)?;
        self.check_areas(areas)?;
        self.reserve_regions(areas.len())?;
        self.highest_base(areas, align, window).ok_or_else(|| {
            let size_bytes =
                areas.iter().fold(0u64, |sum, (area, _)| sum.saturating_add(area.size_saturating()));
            let extent = areas.iter().map(|&(area, _)| area).reduce(Span::hull);
            self.no_space(
                &CheckedRequest { size_bytes, align, window },
                extent.expect("K6: a congruent request has an area"),
                probe,
            )
        })
    }

    fn check_areas(&self, areas: &[(Span, V)]) -> Result<(), AllocError> {
        if areas.is_empty() {
            return Err(AllocError::ZeroSize);
        }
        for (at, &(area, _)) in areas.iter().enumerate() {
            if !self.made_of_granules(area) {
                return Err(AllocError::AreaNotGranular { area: at, granule: self.granule });
            }
            if let Some(other) = areas[..at].iter().position(|(other, _)| other.overlaps(area)) {
                return Err(AllocError::AreasOverlap { area: other, other: at });
            }
        }
        Ok(())
    }

    fn highest_base(&self, areas: &[(Span, V)], align: Align, window: Span) -> Option<u64> {
        let lowest_offset = areas.iter().map(|(area, _)| area.first()).min()?;
        let mut base = align.down(window.last());
        let mut agreed = 0;
        for (area, _) in areas.iter().cycle() {
            if agreed == areas.len() {
                break;
            }
            let fit = self.highest_base_for(*area, base, align, window)?;
            agreed = if fit == base { agreed + 1 } else { 1 };
            base = fit;
            base.checked_add(lowest_offset).filter(|&first| first >= window.first())?;
        }
        Some(base)
    }

    /// The highest base at or below `base` for which `area` is free and does not extend past the window's end.
    fn highest_base_for(&self, area: Span, base: u64, align: Align, window: Span) -> Option<u64> {
        let mut base = base.min(align.down(window.last().checked_sub(area.last())?));
        let highest = |last| self.regions.block_at_or_below(last, area.size_saturating());
        let mut block = highest(area.shifted(base)?.last())?;
        loop {
            let needed = area.shifted(base)?;
            if block.covers(needed) {
                return Some(base);
            }
            if block.last() < needed.last() {
                base = align.down(block.last().checked_sub(area.last())?);
            } else {
                block = highest(block.first().checked_sub(1)?)?;
            }
        }
    }
}
