//! What is there before a case of the kva family, and what it is about: the operations of its body, turn by turn.

use super::requests::{
    PAGE, align_shift, aligned, aligned_alloc, guarded, guarded_aligned, pages, random_alloc,
    random_size_align, replace, together,
};
use super::setup::Before;
use super::{Body, CASES, CaseInfo, Kind, Params, Suited, no_units, pcpu};
use crate::engine::{Compared, ENGINES, EngineEntry, Takes};
use crate::failure::Failure;
use crate::family::Kva;
use crate::workload::{LOW_PAGE, SplitMix, whole_scene};
use freehold::units::{Bytes, Span};
use freehold_trace::kva::{Op, Space};

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
    const CASES: &'static [CaseInfo] = CASES;
    const WORK: &'static str = "the steps of an operation";
    const GROWS: &'static [Kind] = &[Kind::Churn];

    fn before(kind: Kind, params: &Params) -> Before<Op> {
        let n = params.n;
        let doublings = u32::BITS - params.cpus.leading_zeros();
        match kind {
            Kind::FullFit => {
                Before::holes(doublings.max(1) * FULL_FIT_HOLES, 1, 2, |object, _| guarded(object, 1))
            }
            Kind::LongBusyList => Before::kept(LONG_BUSY_LIST, |object, _| guarded(object, 1)),
            Kind::Holes => Before::holes(n, 1, 2, |object, _| pages(object, 1)),
            Kind::Churn | Kind::Zone | Kind::Aligned2m | Kind::Burst => Before::churned(n, random_alloc),
            Kind::Aligned5 => Before::churned(n, aligned_alloc::<5>),
            Kind::Aligned => Before::churned(n, aligned_alloc::<11>),
            Kind::Aligned20 => Before::churned(n, aligned_alloc::<20>),
            _ => Before::kept(0, random_alloc),
        }
    }

    fn row(body: &Body) -> u32 {
        match body.info.kind {
            Kind::Holes | Kind::Aligned2m => ROW,
            Kind::Burst => BURST,
            Kind::Seqfill => body.params.n,
            _ if body.info.churns() => ROW.min(body.params.n.div_ceil(2)),
            _ => 1,
        }
    }

    fn names(body: &Body) -> u32 {
        match body.info.kind {
            Kind::PcpuAlloc => pcpu::MOST_CHUNKS,
            Kind::LongBusyList => 2,
            _ if body.info.churns() => 0,
            _ => Self::row(body),
        }
    }

    fn turn(body: &Body, row: u32, ops: &mut Vec<Op>, random: &mut SplitMix) {
        let own = body.own;
        match body.info.kind {
            Kind::FixSize => together(ops, own, 1, |name| guarded(name, body.params.nr_pages.max(1))),
            Kind::FullFit => together(ops, own, 1, |name| guarded(name, 1)),
            Kind::LongBusyList => {
                together(ops, own, 2, |name| guarded(name, if name == own { 100 } else { 1 }));
            }
            Kind::RandomSize => together(ops, own, 1, |name| guarded(name, 1 + random.uniform(100))),
            Kind::FixAlign => together(ops, own, 1, |name| guarded_aligned(name, 5, 8)),
            Kind::RandomSizeAlign => together(ops, own, 1, |name| random_size_align(name, random)),
            Kind::AlignShift => {
                (0..SHIFTS).for_each(|shift| together(ops, own, 1, |name| align_shift(name, shift)))
            }
            Kind::PcpuAlloc => pcpu::alloc_and_free(ops, own, random),
            Kind::Holes => together(ops, own, row, |name| pages(name, 2)),
            Kind::Aligned2m => together(ops, own, row, |name| aligned(name, 1 + random.uniform(64), 512)),
            Kind::Burst => {
                let size = 1 + random.uniform(16);
                together(ops, own, row, |name| pages(name, size));
            }
            Kind::Seqfill => together(ops, own, row, |name| pages(name, 1)),
            kind @ (Kind::Churn | Kind::Zone | Kind::Aligned | Kind::Aligned5 | Kind::Aligned20) => {
                let n = body.params.n;
                replace(ops, (body.first, n), row, random, |object, random| match kind {
                    Kind::Aligned5 => aligned_alloc::<5>(object, random),
                    Kind::Aligned => aligned_alloc::<11>(object, random),
                    Kind::Aligned20 => aligned_alloc::<20>(object, random),
                    Kind::Zone => in_a_zone(n, random_alloc(object, random), random),
                    _ => random_alloc(object, random),
                });
            }
        }
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

/// A request put into a random window of 1/64 of the span that `n` objects use: 32.5 pages each, and a tenth of
/// gaps, which is what churning leaves.
fn in_a_zone(n: u32, op: Op, random: &mut SplitMix) -> Op {
    let used = u64::from(n) * 143 / 4;
    let width = (used / 64).max(1);
    let low = LOW_PAGE + random.uniform(used.saturating_sub(width).max(1));
    match (op, Span::from_size(low * PAGE, width * PAGE)) {
        (Op::Alloc { object, size_bytes, align, .. }, Some(window)) => {
            Op::Alloc { object, size_bytes, align, window }
        }
        (op, _) => op,
    }
}
