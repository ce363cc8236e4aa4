//! What engines make of holes: whether they are used again, and whether their pages are given back.

use super::Bench;
use super::bench::{alloc, allocs_and_frees};
use crate::engine::percpu::EngineEntry;
use crate::workload::percpu::{Deletion, StaleHint};
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::Op;

/// Pages of a unit before and after the holes were filled.
#[derive(Clone, Debug)]
pub struct StaleHintRun {
    /// The engine.
    pub entry: EngineEntry,
    /// While the holes are open.
    pub before_pages: u64,
    /// After as many objects were placed as fit in them.
    pub after_pages: u64,
}

/// Opens holes and fills them.
///
/// # Errors
/// An engine cannot be made or cannot place an object.
pub fn stale_hint(
    engines: &[EngineEntry],
    config: &Config,
    workload: StaleHint,
) -> Result<Vec<StaleHintRun>, String> {
    let one = |entry: &EngineEntry| {
        let mut bench = Bench::new(entry, config, workload.objects as usize)?;
        let (allocs, mut frees) = allocs_and_frees(0..workload.objects, 4, Align::ONE);
        bench.run(&allocs)?;
        frees.retain(|op| {
            let offset_bytes = bench.offset_bytes(op.object());
            offset_bytes.is_some_and(|offset_bytes| !StaleHint::keeps(op.object() as usize, offset_bytes))
        });
        bench.run(&frees)?;
        let before_pages = bench.session.populated_pages();
        let again = frees.iter().take(workload.refilled as usize);
        let again: Vec<Op> = again.map(|op| alloc(op.object(), 4, Align::ONE)).collect();
        bench.run(&again)?;
        bench.check()?;
        Ok(StaleHintRun { entry: *entry, before_pages, after_pages: bench.session.populated_pages() })
    };
    engines.iter().map(one).collect()
}

/// Pages of a unit before and after most objects were deleted.
#[derive(Clone, Debug)]
pub struct DeletionRun {
    /// The engine.
    pub entry: EngineEntry,
    /// With all groups.
    pub full_pages: u64,
    /// With the groups that are kept, if nothing is ever given back.
    pub kept_pages: u64,
    /// With these, if the work that frees leave is done.
    pub balanced_pages: u64,
}

/// Makes groups and deletes most of them, once without and once with balancing.
///
/// # Errors
/// An engine cannot be made or cannot place an object.
pub fn deletion(
    engines: &[EngineEntry],
    config: &Config,
    workload: Deletion,
) -> Result<Vec<DeletionRun>, String> {
    let one = |entry: &EngineEntry| {
        let (full_pages, kept_pages) = delete(entry, config, workload, false)?;
        let (_, balanced_pages) = delete(entry, config, workload, true)?;
        Ok(DeletionRun { entry: *entry, full_pages, kept_pages, balanced_pages })
    };
    engines.iter().map(one).collect()
}

/// Pages with all groups, and with those that are kept.
fn delete(
    entry: &EngineEntry,
    config: &Config,
    workload: Deletion,
    balance: bool,
) -> Result<(u64, u64), String> {
    let sizes = Deletion::GROUP_BYTES;
    let objects = workload.groups * sizes.len() as u32;
    let mut bench = Bench::new(entry, config, objects as usize)?;
    let sized = (0..objects).zip(sizes.iter().cycle());
    let allocs: Vec<Op> = sized.map(|(object, &size)| alloc(object, size, Align::ONE)).collect();
    bench.run(&allocs)?;
    let full_pages = bench.session.populated_pages();
    for (group, allocs) in (0..).zip(allocs.chunks(sizes.len())) {
        if !workload.keeps(group) {
            let frees: Vec<Op> = allocs.iter().map(|op| Op::Free { object: op.object() }).collect();
            bench.run(&frees)?;
            if balance {
                bench.session.balance();
            }
        }
    }
    bench.check()?;
    Ok((full_pages, bench.session.populated_pages()))
}
