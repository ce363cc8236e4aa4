//! Congruent areas: one base for several areas at fixed distances, as per-CPU chunks need them.
//!
//! ```text
//!   base        +off 0         +off 1                    +off 2
//!    |.............|###|.........|######|..................|##|......   all free, base as high as can be
//! ```
//!
//! The base starts at the top and is pulled down by whichever area is in the way, to the highest place where
//! that area alone would fit, until a whole round of areas has nothing to say against it. It never passes over
//! a base that would do, so the answer is the highest one.

use super::AddressSpace;
use crate::{AllocError, Area, FreeIndex, Rejected, Want};
use alloc::vec::Vec;
use freehold_units::{Align, Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Takes every area at one common base, a multiple of `align`, the highest for which all areas are free and
    /// inside `window`. Each area becomes a region of its own. Returns the base.
    ///
    /// # Errors
    /// The areas and values come back with the reason, see [`AllocError`]; nothing was changed.
    ///
    /// # Cost
    /// O(areas · log n) for each free block that the base is pulled past.
    #[doc(alias = "pcpu_get_vm_areas")]
    pub fn alloc_congruent(
        &mut self,
        areas: Vec<(Area, V)>,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Result<u64, Rejected<Vec<(Area, V)>>> {
        match self.prepare_congruent(&areas, align, window) {
            Ok(base) => {
                for (area, value) in areas {
                    if let Some(span) = area.at(base) {
                        self.take(span, value, probe);
                    }
                }
                Ok(base)
            }
            Err(cause) => Err(Rejected { value: areas, cause }),
        }
    }

    /// Cuts `span`, which is free, out of the block that holds it.
    fn take(&mut self, span: Span, value: V, probe: &mut impl Probe) {
        if let Some((block, _)) = self.free.at_or_below(span.first()) {
            self.free.carve(block, span, probe);
            self.free_bytes -= span.size_bytes();
            self.busy.insert(span, 0, value);
        }
    }

    fn prepare_congruent(
        &mut self,
        areas: &[(Area, V)],
        align: Align,
        window: Span,
    ) -> Result<u64, AllocError> {
        let align = align.max(self.granule);
        self.check_window(window)?;
        self.check_areas(areas)?;
        self.free.reserve(areas.len())?;
        self.busy.reserve(areas.len())?;
        self.highest_base(areas, align, window).ok_or_else(|| {
            let size_bytes = areas.iter().fold(0u64, |sum, (area, _)| sum.saturating_add(area.size_bytes));
            self.no_space(&Want { size_bytes, align, window })
        })
    }

    fn check_areas(&self, areas: &[(Area, V)]) -> Result<(), AllocError> {
        if areas.is_empty() {
            return Err(AllocError::ZeroSize);
        }
        for (at, (area, _)) in areas.iter().enumerate() {
            self.check_size(area.size_bytes)?;
            if !self.granule.divides(area.offset_bytes) {
                return Err(AllocError::NotGranular { size_bytes: area.offset_bytes, granule: self.granule });
            }
            let span = area.at(0).ok_or(AllocError::SizeOverflow)?;
            let clash = areas[..at].iter().position(|(other, _)| other.at(0).is_some_and(|o| o.overlaps(span)));
            if let Some(other) = clash {
                return Err(AllocError::AreasOverlap { area: other, other: at });
            }
        }
        Ok(())
    }

    fn highest_base(&self, areas: &[(Area, V)], align: Align, window: Span) -> Option<u64> {
        let lowest_offset = areas.iter().map(|(area, _)| area.offset_bytes).min()?;
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

    /// The highest base at or below `base` for which `area` is free and does not pass the window's end.
    fn highest_base_for(&self, area: Area, base: u64, align: Align, window: Span) -> Option<u64> {
        let room = window.last().checked_add(1);
        let mut base = base.min(align.down(match room {
            Some(end) => end.checked_sub(area.offset_bytes)?.checked_sub(area.size_bytes)?,
            None => (u64::MAX - area.offset_bytes).checked_sub(area.size_bytes - 1)?,
        }));
        let (mut block, mut span) = self.free.at_or_below(area.at(base)?.last())?;
        loop {
            let needed = area.at(base)?;
            if span.covers(needed) {
                return Some(base);
            }
            if span.last() < needed.last() {
                let reach = area.offset_bytes.checked_add(area.size_bytes - 1)?;
                base = align.down(span.last().checked_sub(reach)?);
            } else {
                (block, span) = self.free.before(block)?;
            }
        }
    }
}

impl Area {
    /// Where the area lies for a base; `None` if it would pass the last address.
    #[must_use]
    pub fn at(self, base: u64) -> Option<Span> {
        Span::from_size(base.checked_add(self.offset_bytes)?, self.size_bytes)
    }
}
