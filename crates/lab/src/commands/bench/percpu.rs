//! `freehold bench percpu`: our placements beside each other and beside the area map, which the bitmap replaced.

use super::{Options, that_fit};
use crate::Progress;
use crate::engine::percpu::{EngineEntry, FLOOR, Scene};
use crate::family::{FLOOR_NOTE, Family, Percpu};
use crate::record::{Results, count};
use crate::run::percpu::Job;
use crate::run::{Replayable, describe, measure, record_pages};
use crate::workload::percpu::{Churn, Deletion, Kind, LIVE, Size, StaleHint, Work};
use crate::workload::suite::{Benched, PERCPU_BENCHED, Suited, find_cases};
use freehold::percpu::{Config, Population};
use freehold::units::Bytes;
use std::path::Path;

/// Objects of the posting's tables.
const OBJECTS: u32 = 1_000_000;
/// Objects that a churn replaces at least while they grow, so that there is enough to be timed.
const LEAST_REPLACED: u32 = 20_000;
/// Where an engine may walk over fragments for every object, as many fewer are placed.
const WALKED: u32 = 5;
/// Where the area map walks over all there is for every object, it places so many at most, quick and full.
const QUADRATIC_OBJECTS: [u32; 2] = [4_000, 20_000];

/// Bytes of an object, about: in the lab's operations, and in an engine, its driver and where its objects are.
const LAB_BYTES: u64 = 128;
const ENGINE_BYTES: u64 = 96;

/// How much is done.
pub struct Plan {
    /// Who is compared.
    pub engines: Vec<EngineEntry>,
    /// How many are placed, where an engine is fast.
    pub objects: u32,
    /// The size before: what an engine does no more of than then is not done again. Of the first size, none.
    pub before: u32,
    /// Whether that number was asked for.
    pub exactly: bool,
    /// Whether it is one of those that grow, small ones too.
    pub grows: bool,
    /// Done within a minute.
    pub quick: bool,
    /// Timed rounds.
    pub rounds: usize,
    /// Every chunk has its memory from the start: the area map knows no pages.
    pub whole: Config,
}

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let Scene { config, .. } = Percpu::scene(options.unit)?;
    let is_case = |name: &&String| PERCPU_BENCHED.iter().any(|case| case.name == **name);
    let (mut named, files): (Vec<String>, Vec<String>) =
        options.workloads.iter().cloned().partition(|name| is_case(&name) || !Path::new(name).is_file());
    if named.is_empty() && files.is_empty() {
        named.extend(PERCPU_BENCHED.iter().map(|case| case.name.to_owned()));
    }
    let cases = if named.is_empty() {
        Vec::new()
    } else {
        find_cases("workload", &named, PERCPU_BENCHED, |case| case.name)?
    };
    let engines = Percpu::engines(&options.engines)?;
    let mut results = Results::default();
    describe::<Percpu>(&mut results, engines.iter().copied());
    results.fact("unit", Bytes::from(u64::from(config.unit_bytes)).to_string());
    let usual = if options.quick { OBJECTS / 5 } else { OBJECTS };
    let sizes = if options.sizes.is_empty() { &[usual][..] } else { &options.sizes };
    let bytes_each = LAB_BYTES + ENGINE_BYTES * engines.len() as u64;
    let sized = cases.iter().any(|case| case.kind.is_sized());
    let sizes = that_fit(sizes, sized, bytes_each, options, &mut results)?;
    for case in cases {
        let mut before = 0;
        for objects in if case.kind.is_sized() { sizes.clone() } else { vec![usual] } {
            let plan = Plan {
                engines: engines.clone(),
                objects,
                before: std::mem::replace(&mut before, objects),
                exactly: !options.sizes.is_empty(),
                grows: options.growth,
                quick: options.quick,
                rounds: if options.quick { 3 } else { 5 },
                whole: config.population(Population::Whole),
            };
            plan.case(case, &mut results, &mut |what| progress.tick(what))?;
        }
    }
    for file in &files {
        let pages = measure(Percpu::workload(file.as_ref())?, &engines, 0, &mut |what| progress.tick(what))?;
        record_pages(&pages, &mut results);
    }
    results.note(FLOOR_NOTE);
    Ok(results)
}

impl Plan {
    /// Objects of a size that an engine places, of so many: fewer where it walks over gaps.
    fn placed(&self, size: Size, entry: &EngineEntry, objects: u32) -> u32 {
        match (size.leaves_gaps(), entry.knows_pages) {
            (true, false) => objects.min(QUADRATIC_OBJECTS[usize::from(!self.quick)]),
            (true, true) if !self.exactly => objects.div_ceil(WALKED),
            _ => objects,
        }
    }

    /// The engines that place more objects of a size than of the size before.
    fn that_place_more(&self, size: Size, engines: &[EngineEntry]) -> Vec<EngineEntry> {
        let placed = |entry: &EngineEntry, objects| self.placed(size, entry, objects);
        let more = |entry: &&EngineEntry| placed(entry, self.objects) > placed(entry, self.before);
        engines.iter().filter(more).copied().collect()
    }

    /// A churn of as many live objects as were asked for.
    pub fn churn(&self, most_bytes: u32) -> Churn {
        let live = if self.exactly { self.objects } else { LIVE.min(self.objects) };
        let least = if self.grows { LEAST_REPLACED } else { 0 };
        Churn::new(most_bytes, live, self.objects.clamp(least, OBJECTS))
    }

    /// Measures a case.
    ///
    /// # Errors
    /// An engine answers wrong.
    pub fn case(
        &self,
        case: &Benched<Kind>,
        results: &mut Results,
        tick: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let timed = [&self.engines[..], &[FLOOR]].concat();
        let with_pages: Vec<_> = self.engines.iter().filter(|entry| entry.knows_pages).copied().collect();
        let (workload, config, rounds) = (case.name, self.whole, self.rounds);
        let all = |_: &EngineEntry| self.objects;
        let job = |work| Job { workload, config, work, objects: &all, rounds };
        let filled = |size| move |entry: &EngineEntry| self.placed(size, entry, self.objects);
        let mut run = |job: &Job<'_>, engines: &[EngineEntry]| -> anyhow::Result<()> {
            job.run(engines, tick)?.iter().for_each(|bench| job.record(bench, results));
            Ok(())
        };
        match case.kind {
            Kind::Fill(sizes) => sizes.iter().try_for_each(|&size| {
                let job = Job { objects: &filled(size), ..job(Work::Fill(size)) };
                run(&job, &self.that_place_more(size, &timed))
            }),
            Kind::Footprint(sizes) => sizes.iter().try_for_each(|&size| {
                let job = Job { objects: &filled(size), rounds: 0, ..job(Work::Fill(size)) };
                let benches = job.run(&self.that_place_more(size, &self.engines), tick)?;
                benches.iter().for_each(|bench| job.record_footprint(bench, results));
                Ok(())
            }),
            Kind::Churn(most_bytes) => {
                let churn = self.churn(most_bytes);
                let live = churn.first.len();
                let (too_slow, in_time): (Vec<_>, Vec<EngineEntry>) = timed
                    .into_iter()
                    .partition(|entry| !entry.is_floor() && !entry.knows_pages && live > LIVE as usize);
                run(&job(Work::Churn(churn)), &in_time)?;
                for entry in too_slow {
                    let (label, live) = (entry.label(), count(live as u64));
                    results.note(format!(
                        "{workload}: {label} left out at n {live}: it walks over all of a chunk"
                    ));
                }
                Ok(())
            }
            Kind::StaleHint => run(&job(Work::StaleHint(StaleHint::MEASURED)), &self.engines),
            Kind::MassFree(sizes) => {
                sizes.iter().try_for_each(|&size| run(&job(Work::MassFree(size)), &self.engines))
            }
            Kind::Deletion => [false, true].into_iter().try_for_each(|balanced| {
                let config = config.population(Population::OnDemand);
                let work = Work::Deletion(Deletion::MEASURED, balanced);
                run(&Job { config, ..job(work) }, &with_pages)
            }),
        }
    }
}
