//! Congruent areas: one base for several areas at fixed offsets, as chunks of per-CPU memory need them.
//!
//! The base starts at the window's end. Each area in turn lowers it to the highest base at which that area is free,
//! until a whole round changes nothing. No valid base is skipped, so the answer is the highest one.

use super::KernelSpace;
use super::rbtree::Policy;
use crate::Error;
use alloc::vec::Vec;
use freehold_units::{Align, Probe, Rejected, Span};

impl<V, P: Policy> KernelSpace<V, P> {
    /// Takes all areas at one common base: the highest multiple of `align` for which all areas are free and inside
    /// `window`. An area is given as its span for base 0. Returns the base. Counts the work of the tree of free blocks.
    ///
    /// # Errors
    /// Returns the areas and values with the reason; nothing was changed. [`Error::Invalid`]: there are no areas, one
    /// does not consist of granules, or two overlap. [`Error::Busy`]: there is no base. [`Error::NoMemory`].
    ///
    /// # Cost
    /// O(areas · log n) for each free block that the base passes, and O(areas²) to check that no two overlap.
    #[doc(alias = "pcpu_get_vm_areas")]
    pub fn alloc_congruent_probed(
        &mut self,
        areas: Vec<(Span, V)>,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Result<u64, Rejected<Vec<(Span, V)>, Error>> {
        match self.prepare_congruent(&areas, align.max(self.granule), window) {
            Ok(base) => {
                for (area, value) in areas {
                    let area = area.shifted(base).expect("K4: an area lies in a free block");
                    let (block, _) = self.free.floor(area.first()).expect("K4: an area lies in a free block");
                    self.free.carve_node(block, area, probe);
                    self.busy.insert(area, value);
                }
                Ok(base)
            }
            Err(cause) => Err(Rejected { value: areas, cause }),
        }
    }

    fn prepare_congruent(&mut self, areas: &[(Span, V)], align: Align, window: Span) -> Result<u64, Error> {
        let sound = areas.iter().enumerate().all(|(at, (area, _))| {
            self.free.is_granular(*area) && !areas[..at].iter().any(|(other, _)| other.overlaps(*area))
        });
        if areas.is_empty() || !sound {
            return Err(Error::Invalid);
        }
        self.free.reserve(areas.len())?;
        self.busy.reserve(areas.len())?;
        self.highest_base(areas, align, window).ok_or(Error::Busy)
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

    /// The highest base at or below `base` for which `area` is free and does not pass the window's end.
    fn highest_base_for(&self, area: Span, base: u64, align: Align, window: Span) -> Option<u64> {
        let mut base = base.min(align.down(window.last().checked_sub(area.last())?));
        loop {
            let needed = area.shifted(base)?;
            let (_, block) = self.free.floor(needed.first())?;
            if block.covers(needed) {
                return Some(base);
            }
            // The block starts early enough, so it ends too early: the area goes down to end with it.
            base = align.down(block.last().checked_sub(area.last())?);
        }
    }
}
