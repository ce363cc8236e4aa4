//! What is there before a case of the kva family, and what it is about: the operations of its body, turn by turn.

use super::requests::{
    PAGE, align_shift, aligned, aligned_alloc, guarded, guarded_aligned, pages, pair, random_alloc,
    random_size_align, replace, together,
};
use super::setup::{Before, Holes};
use super::{CASES, CaseInfo, Kind, Params, Suited, no_units, pcpu};
use crate::engine::Space;
use crate::engine::{Compared, ENGINES, EngineEntry, Takes};
use crate::failure::Failure;
use crate::family::Kva;
use crate::workload::recipe::LOW_PAGE;
use crate::workload::{SplitMix, whole_scene};
use freehold::units::{Bytes, Span};
use freehold_trace::kva::Op;

/// Areas kept before `long_busy_list`.
const LONG_BUSY_LIST: u32 = 15_000;
/// Junk areas freed before `full_fit`, for each doubling of the CPUs: 32 MiB of pages.
const FULL_FIT_HOLES: u32 = 8192;
/// Operations of one kind in a row.
const ROW: u32 = 64;
/// Operations of one kind in a row of a burst.
const BURST: u32 = 256;
/// Alignments that `align_shift` tries: one for each bit of an address.
const SHIFTS: u32 = 64;

impl Suited for Kva {
    type Kind = Kind;
    type Body = Body;
    const CASES: &'static [CaseInfo] = CASES;
    const WORK: &'static str = "the steps of an operation";
    const GROWS: &'static [Kind] = &[Kind::Churn];
    const KERNELS: bool = true;

    fn before(kind: Kind, params: &Params) -> Before<Op> {
        let n = params.n;
        let doublings = u32::BITS - params.cpus.leading_zeros();
        match kind {
            Kind::FullFit => {
                let holes = doublings.max(1) * FULL_FIT_HOLES;
                Before::Holes(Holes::single(holes, |object, _| guarded(object, 1)))
            }
            Kind::LongBusyList => {
                Before::Kept { count: LONG_BUSY_LIST, draw: |object, _| guarded(object, 1) }
            }
            Kind::Holes => Before::Holes(Holes::single(n, |object, _| pages(object, 1))),
            Kind::Churn | Kind::Zone | Kind::Aligned2m | Kind::Burst => {
                Before::Churned { count: n, draw: random_alloc }
            }
            Kind::Aligned => Before::Churned { count: n, draw: aligned_alloc },
            _ => Before::Nothing,
        }
    }

    fn body(info: &'static CaseInfo, params: &Params, first: u32, own: u32) -> Body {
        Body { info, n: params.n, nr_pages: params.nr_pages.max(1), first, own }
    }

    fn names(body: &Body) -> u32 {
        body.names()
    }

    fn turn(body: &Body, ops: &mut Vec<Op>, most: u64, random: &mut SplitMix) -> u64 {
        body.turn(ops, most, random)
    }

    /// The space that all synthetic workloads share.
    fn scene(unit: Option<Bytes>) -> anyhow::Result<Space> {
        no_units(unit)?;
        Ok(whole_scene())
    }

    /// Without names our own that promise the lowest address.
    fn stressed(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
        if !names.is_empty() {
            return EngineEntry::find(names, Compared::IfNamed);
        }
        let ours = |entry: &&EngineEntry| entry.takes == Takes::Lowest && !entry.linear;
        Ok(ENGINES.iter().filter(ours).copied().collect())
    }
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    info: &'static CaseInfo,
    /// Live objects of a sized case.
    n: u32,
    /// Pages of `fix_size`.
    nr_pages: u64,
    /// The first name of the setup's objects.
    first: u32,
    /// The first name of the body's own objects.
    own: u32,
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
    fn names(&self) -> u32 {
        match self.info.kind {
            Kind::PcpuAlloc => pcpu::MOST_CHUNKS,
            Kind::LongBusyList => 2,
            _ if self.info.churns() => 0,
            _ => self.row(),
        }
    }

    /// Appends a turn of at most `most` loops, and at least one; how many it is.
    fn turn(&self, ops: &mut Vec<Op>, most: u64, random: &mut SplitMix) -> u64 {
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
        replace(ops, (self.first, self.n), row, random, |object, random| match self.info.kind {
            Kind::Aligned => aligned_alloc(object, random),
            Kind::Zone => self.in_a_zone(random_alloc(object, random), random),
            _ => random_alloc(object, random),
        });
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
