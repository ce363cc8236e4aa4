//! What a case is about: the operations of its body, turn by turn. A turn leaves nothing half done.

use super::requests::{
    PAGE, align_shift, aligned, aligned_alloc, guarded, guarded_aligned, pages, pair, random_alloc,
    random_size_align, together,
};
use super::{CaseInfo, Kind, pcpu};
use crate::workload::SplitMix;
use crate::workload::recipe::LOW_PAGE;
use freehold::units::Span;
use freehold_trace::kva::Op;

/// Operations of one kind in a row.
const ROW: u32 = 64;
/// Operations of one kind in a row of a burst.
const BURST: u32 = 256;
/// Alignments that `align_shift` tries: one for each bit of an address.
const SHIFTS: u32 = 64;

/// A body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) info: &'static CaseInfo,
    /// Live objects of a sized case.
    pub(super) n: u32,
    /// Pages of `fix_size`.
    pub(super) nr_pages: u64,
    /// The first name of the setup's objects.
    pub(super) first: u32,
    /// The first name of the body's own objects.
    pub(super) own: u32,
}

impl Body {
    /// Loops that are done in a row: first all their allocations, then all their frees, or the other way round.
    fn row(&self) -> u32 {
        match self.info.kind {
            Kind::Holes | Kind::Aligned2m => ROW,
            Kind::Burst => BURST,
            Kind::Seqfill => self.n,
            _ if self.info.churns() => ROW.min(self.n.div_ceil(2)),
            _ => 1,
        }
    }

    /// Objects of its own.
    pub(super) fn names(&self) -> u32 {
        match self.info.kind {
            Kind::PcpuAlloc => pcpu::MOST_CHUNKS,
            Kind::LongBusyList => 2,
            _ if self.info.churns() => 0,
            _ => self.row(),
        }
    }

    /// Appends a turn of at most `most` loops, and at least one; how many it is.
    pub(super) fn turn(&self, ops: &mut Vec<Op>, most: u64, random: &mut SplitMix) -> u64 {
        let (own, row) = (self.own, self.row().min(u32::try_from(most).unwrap_or(u32::MAX)).max(1));
        match self.info.kind {
            Kind::FixSize => pair(ops, guarded(own, self.nr_pages)),
            Kind::FullFit => pair(ops, guarded(own, 1)),
            Kind::LongBusyList => {
                together(ops, own, 2, |name| guarded(name, if name == own { 100 } else { 1 }));
            }
            Kind::RandomSize => pair(ops, guarded(own, 1 + random.uniform(100))),
            Kind::FixAlign => pair(ops, guarded_aligned(own, 5, 8)),
            Kind::RandomSizeAlign => pair(ops, random_size_align(own, random)),
            Kind::AlignShift => (0..SHIFTS).for_each(|shift| pair(ops, align_shift(own, shift))),
            Kind::PcpuAlloc => pcpu::alloc_and_free(ops, own, random),
            Kind::Holes => together(ops, own, row, |name| pages(name, 2)),
            Kind::Aligned2m => together(ops, own, row, |name| aligned(name, 1 + random.uniform(64), 512)),
            Kind::Burst => {
                let size = 1 + random.uniform(16);
                together(ops, own, row, |name| pages(name, size));
            }
            Kind::Seqfill => together(ops, own, row, |name| pages(name, 1)),
            Kind::Churn | Kind::Zone | Kind::Aligned => self.churn(ops, row, random),
        }
        u64::from(row)
    }

    /// Frees `row` random objects and allocates as many in their place.
    fn churn(&self, ops: &mut Vec<Op>, row: u32, random: &mut SplitMix) {
        let mut names: Vec<u32> = Vec::with_capacity(row as usize);
        while names.len() < row as usize {
            let object = self.first + random.uniform(u64::from(self.n)) as u32;
            if !names.contains(&object) {
                names.push(object);
            }
        }
        ops.extend(names.iter().map(|&object| Op::Free { object }));
        ops.extend(names.into_iter().map(|object| match self.info.kind {
            Kind::Aligned => aligned_alloc(object, random),
            Kind::Zone => self.in_a_zone(random_alloc(object, random), random),
            _ => random_alloc(object, random),
        }));
    }

    /// A request put into a random window of 1/64 of the span that the objects use: 32.5 pages each, and a tenth of
    /// gaps, which is what churning leaves.
    fn in_a_zone(&self, op: Op, random: &mut SplitMix) -> Op {
        let used = u64::from(self.n) * 143 / 4;
        let width = (used / 64).max(1);
        let low = LOW_PAGE + random.uniform(used.saturating_sub(width).max(1));
        match (op, Span::from_size(low * PAGE, width * PAGE)) {
            (Op::Alloc { object, size_bytes, align, .. }, Some(window)) => {
                Op::Alloc { object, size_bytes, align, window }
            }
            (op, _) => op,
        }
    }
}
