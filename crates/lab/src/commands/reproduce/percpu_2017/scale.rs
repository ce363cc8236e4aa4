//! How much is done: the engines, the units, the numbers of objects.

use crate::commands::reproduce::Options;
use crate::engine::percpu::EngineEntry;
use crate::failure::Failure;
use crate::family::{Family, Percpu};
use crate::workload::percpu::{Deletion, LIVE, StaleHint};
use freehold::percpu::{Config, Population};
use freehold::units::Bytes;

/// What there was before, the posting, what became of it, and ours.
const COMPARED: [&str; 4] = ["area-map", "bitmap-2017", "bitmap-linux", "bitmap"];
/// Those that keep hints to look at, the kernel's with its stale hint put right among them.
const HINTED: [&str; 4] = ["bitmap-2017", "bitmap-linux", "bitmap-linux-fixed", "bitmap"];
/// The posting's number of objects.
const POSTED: u32 = 1 << 20;
/// The number of objects that take less than a minute.
const USUAL: u32 = 1 << 17;
/// The number that the main job takes: the smallest of them fill a unit.
const BRIEF: u32 = 1 << 16;
const OBJECTS: std::ops::RangeInclusive<u32> = 1_000..=4_000_000;
/// The posting does not tell its units. The shape of its free times is that of units of about so many bytes.
const UNIT_BYTES: u32 = 256 << 10;
const UNITS: std::ops::RangeInclusive<u128> = (32 << 10)..=(4 << 20);
const CPUS: u32 = 2;

/// How much is done.
pub(super) struct Scale {
    /// What is compared.
    pub(super) compared: Vec<EngineEntry>,
    /// What is looked at as it runs.
    pub(super) hinted: Vec<EngineEntry>,
    /// Bytes of a chunk for each CPU.
    pub(super) unit_bytes: u32,
    /// Every chunk has its memory from the start: the area map knows no pages.
    pub(super) whole: Config,
    /// Pages get memory on demand.
    pub(super) on_demand: Config,
    /// Objects of the posting's table.
    pub(super) objects: u32,
    /// Timed rounds, each with every order of freeing.
    pub(super) rounds: usize,
    /// At most so many of the area map where it scans all there is for every object.
    pub(super) quadratic: u32,
    /// Objects of the table with second halves filled; the area map moves half of a map for each.
    pub(super) second_half: u32,
    /// Live objects of a churn.
    pub(super) live: u32,
    /// The same, of a churn that is looked at.
    pub(super) watched_live: u32,
    /// Holes in some units' worth of objects.
    pub(super) stale_hint: StaleHint,
    /// Groups made and deleted.
    pub(super) deletion: Deletion,
}

impl Scale {
    /// What is asked for.
    pub(super) fn of(options: &Options) -> Result<Self, Failure> {
        let unit = options.unit.unwrap_or(Bytes::from(u64::from(UNIT_BYTES)));
        let fits = |unit: Bytes| UNITS.contains(&unit.0).then(|| u32::try_from(unit.0).ok()).flatten();
        let unit_bytes = fits(unit)
            .ok_or_else(|| Failure::Usage(format!("--unit {unit}: units are from 32 KiB to 4 MiB")))?;
        let objects = options.objects.unwrap_or(if options.full { POSTED } else { USUAL });
        if !OBJECTS.contains(&objects) {
            let (least, most) = (OBJECTS.start(), OBJECTS.end());
            return Err(Failure::Usage(format!("--objects {objects}: from {least} to {most}")));
        }
        Self::new(unit_bytes, objects, if options.full { 5 } else { 3 })
    }

    /// As much as the main job has time for.
    pub(super) fn brief() -> Result<Self, Failure> {
        Self::new(UNIT_BYTES, BRIEF, 1)
    }

    fn new(unit_bytes: u32, objects: u32, rounds: usize) -> Result<Self, Failure> {
        let on_demand = Config::new(unit_bytes, CPUS);
        let units = if objects < USUAL { 3 } else { 12 };
        let in_units = units * (unit_bytes / 4);
        Ok(Self {
            compared: named(&COMPARED)?,
            hinted: named(&HINTED)?,
            unit_bytes,
            whole: on_demand.population(Population::Whole),
            on_demand,
            objects,
            rounds,
            quadratic: (objects / 8).clamp(1_000, 1 << 15),
            second_half: (objects / 4).max(1_000),
            live: LIVE.min(objects),
            watched_live: (LIVE / 4).min(objects / 2),
            stale_hint: StaleHint { objects: in_units, refilled: in_units / 2 },
            deletion: Deletion { groups: Deletion::MEASURED.groups.min(objects / 8), ..Deletion::MEASURED },
        })
    }

    /// Every engine that is shown, once.
    pub(super) fn shown(&self) -> impl Iterator<Item = EngineEntry> {
        let is_other = |entry: &&EngineEntry| self.compared.iter().all(|other| other.engine != entry.engine);
        self.compared.iter().chain(self.hinted.iter().filter(is_other)).copied()
    }

    /// The unit for people.
    pub(super) fn unit(&self) -> Bytes {
        Bytes::from(u64::from(self.unit_bytes))
    }
}

/// Engines in this order, not in that of their list.
fn named(names: &[&str]) -> Result<Vec<EngineEntry>, Failure> {
    let mut entries = Vec::new();
    for name in names {
        entries.extend(Percpu::engines(&[(*name).to_owned()])?);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_asked_for_and_little_is_done() {
        let little = Options { objects: Some(1_000), unit: Some("32K".parse().unwrap()), ..options() };
        let scale = Scale::of(&little).unwrap();
        assert_eq!((scale.unit_bytes, scale.objects, scale.live), (32 << 10, 1_000, 1_000));
        assert!(scale.deletion.groups >= 100 && scale.stale_hint.objects == 3 * (8 << 10));
        assert_eq!(scale.compared.first().map(|entry| entry.engine), Some("area-map"));
        assert_eq!(scale.shown().count(), 5);
        let full = Scale::of(&Options { full: true, ..options() }).unwrap();
        assert_eq!((full.objects, full.live), (1 << 20, 200_000));
        assert_eq!(full.deletion, Deletion::MEASURED);
    }

    #[test]
    fn units_and_numbers_that_cannot_be_are_refused() {
        for unit in ["16K", "8M", "1"] {
            assert!(
                Scale::of(&Options { unit: Some(unit.parse().unwrap()), ..options() }).is_err(),
                "{unit}"
            );
        }
        for objects in [0, 999, 5_000_000] {
            assert!(Scale::of(&Options { objects: Some(objects), ..options() }).is_err(), "{objects}");
        }
    }

    fn options() -> Options {
        Options { full: false, samples: None, traces: None, unit: None, objects: None }
    }
}
