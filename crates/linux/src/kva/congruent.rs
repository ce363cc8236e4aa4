//! Congruent areas, as the first chunk of per-CPU memory and its followers need them: one base for several areas.
//!
//! The base starts at the window's end. Each area in turn pulls it down to the highest place where that area is free,
//! until a whole round leaves it where it is. No base that would do is passed over, so the answer is the highest.

use super::KernelSpace;
use super::rbtree::Policy;
use crate::Error;
use alloc::vec::Vec;
use freehold_units::{Align, Probe, Rejected, Span};

impl<V, P: Policy> KernelSpace<V, P> {
    /// Takes every area at one common base, a multiple of `align`, the highest for which all areas are free and inside
    /// `window`. An area is given as its span for base 0. Returns the base. Counts the work of the tree of free blocks.
    ///
    /// # Errors
    /// The areas and values come back with the reason; nothing was changed. [`Error::Invalid`]: no area, one that is not
    /// made of granules, or two that overlap. [`Error::Busy`]: no base. [`Error::NoMemory`].
    ///
    /// # Cost
    /// O(areas · log n) for each free block that the base is pulled past, and O(areas²) to see that no two overlap.
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
