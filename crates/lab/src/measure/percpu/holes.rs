//! What engines make of holes: whether they are used again, and whether their pages are given back.

use crate::engine::percpu::{EngineEntry, Session};
use crate::workload::percpu::{Deletion, StaleHint};
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::Location;

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
        let mut session = (entry.make)(config, false)?;
        let placed = place(session.as_mut(), &vec![4; workload.objects as usize])?;
        let freed: Vec<Location> = placed
            .iter()
            .enumerate()
            .filter(|(nth, place)| !StaleHint::keeps(*nth, place.offset_bytes))
            .map(|(_, place)| *place)
            .collect();
        free(session.as_mut(), &freed)?;
        let before_pages = session.populated_pages();
        place(session.as_mut(), &vec![4; (workload.refilled as usize).min(freed.len())])?;
        session.validate()?;
        Ok(StaleHintRun { entry: *entry, before_pages, after_pages: session.populated_pages() })
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
        let (full_pages, kept_pages) = delete((entry.make)(config, false)?, workload, false)?;
        let (_, balanced_pages) = delete((entry.make)(config, false)?, workload, true)?;
        Ok(DeletionRun { entry: *entry, full_pages, kept_pages, balanced_pages })
    };
    engines.iter().map(one).collect()
}

fn delete(mut session: Box<dyn Session>, workload: Deletion, balance: bool) -> Result<(u64, u64), String> {
    let groups: Result<Vec<Vec<Location>>, String> =
        (0..workload.groups).map(|_| place(session.as_mut(), &Deletion::GROUP_BYTES)).collect();
    let full_pages = session.populated_pages();
    for (group, places) in (0..).zip(groups?) {
        if !workload.keeps(group) {
            free(session.as_mut(), &places)?;
            if balance {
                session.balance();
            }
        }
    }
    session.validate()?;
    Ok((full_pages, session.populated_pages()))
}

fn place(session: &mut dyn Session, sizes: &[u32]) -> Result<Vec<Location>, String> {
    let mut places = Vec::with_capacity(sizes.len());
    session.fill(sizes, Align::ONE, &mut places);
    let (placed, wanted) = (places.len(), sizes.len());
    if placed == wanted { Ok(places) } else { Err(format!("only {placed} of {wanted} objects were placed")) }
}

fn free(session: &mut dyn Session, places: &[Location]) -> Result<(), String> {
    match session.drain(places) {
        0 => Ok(()),
        failed => Err(format!("{failed} objects were not there to be freed")),
    }
}
