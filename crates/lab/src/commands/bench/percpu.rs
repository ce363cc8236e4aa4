//! `freehold bench percpu`: our placements beside each other and beside the area map, which the bitmap replaced.

use super::Options;
use crate::Progress;
use crate::engine::percpu::{EngineEntry, FLOOR};
use crate::failure::Failure;
use crate::family::{FLOOR_NOTE, Family, Percpu};
use crate::record::{Results, count};
use crate::run::percpu::Job;
use crate::run::{Replayable, describe, measure, record_pages};
use crate::workload::percpu::{CASES, Case, Churn, Deletion, Kind, LIVE, Size, StaleHint, Work};
use freehold::percpu::{Config, Population};
use std::path::Path;

/// Objects of the posting's tables.
const OBJECTS: u32 = 1_000_000;
/// Where an engine may walk over fragments for every object, as many fewer are placed.
const WALKED: u32 = 5;
/// Where the area map walks over all there is for every object, it places so many at most, quick and full.
const QUADRATIC_OBJECTS: [u32; 2] = [4_000, 20_000];

/// How much is done.
struct Plan {
    engines: Vec<EngineEntry>,
    objects: u32,
    /// Whether that number was asked for.
    exactly: bool,
    quick: bool,
    rounds: usize,
    /// Every chunk has its memory from the start: the area map knows no pages.
    whole: Config,
}

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let unit_bytes = u32::try_from(options.unit.0)
        .map_err(|_| Failure::Usage(format!("--unit {}: more than 4 GiB", options.unit)))?;
    let is_case = |name: &String| CASES.iter().any(|case| case.name == *name);
    let is_known = |name: &&String| is_case(name) || Path::new(name).is_file();
    if let Some(unknown) = options.workloads.iter().find(|name| !is_known(name)) {
        let all: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        let reason = format!("no workload or file {unknown:?}; there are {}", all.join(", "));
        return Err(Failure::Usage(reason).into());
    }
    let engines = Percpu::engines(&options.engines)?;
    let mut results = Results::default();
    describe::<Percpu>(&mut results, engines.iter().copied());
    results.fact("unit", options.unit.to_string());
    let usual = if options.quick { OBJECTS / 5 } else { OBJECTS };
    let sizes = if options.sizes.is_empty() { &[usual][..] } else { &options.sizes };
    let named = |name: &str| options.workloads.is_empty() || options.workloads.iter().any(|of| of == name);
    for case in CASES.iter().filter(|case| named(case.name)) {
        for &objects in sizes {
            let plan = Plan {
                engines: engines.clone(),
                objects,
                exactly: !options.sizes.is_empty(),
                quick: options.quick,
                rounds: if options.quick { 3 } else { 5 },
                whole: Config::new(unit_bytes, 2).population(Population::Whole),
            };
            plan.case(case, &mut results, &mut |what| progress.tick(what)).map_err(anyhow::Error::msg)?;
        }
    }
    for file in options.workloads.iter().filter(|name| !is_case(name)) {
        let pages = measure(Percpu::workload(file)?, &engines, 0, &mut |what| progress.tick(what))?;
        record_pages(&pages, &mut results);
    }
    results.note(FLOOR_NOTE);
    Ok(results)
}

impl Plan {
    /// Objects of a size that an engine places: fewer where it walks over gaps.
    fn objects(&self, size: Size, entry: &EngineEntry) -> u32 {
        match (size.leaves_gaps(), entry.knows_pages) {
            (true, false) => self.objects.min(QUADRATIC_OBJECTS[usize::from(!self.quick)]),
            (true, true) if !self.exactly => self.objects.div_ceil(WALKED),
            _ => self.objects,
        }
    }

    fn case(&self, case: &Case, results: &mut Results, tick: &mut dyn FnMut(&str)) -> Result<(), String> {
        let timed = [&self.engines[..], &[FLOOR]].concat();
        let with_pages: Vec<_> = self.engines.iter().filter(|entry| entry.knows_pages).copied().collect();
        let (workload, config, rounds) = (case.name, self.whole, self.rounds);
        let all = |_: &EngineEntry| self.objects;
        let job = |work| Job { workload, config, work, objects: &all, rounds };
        let filled = |size| move |entry: &EngineEntry| self.objects(size, entry);
        let mut run = |job: &Job<'_>, engines: &[EngineEntry]| -> Result<(), String> {
            job.run(engines, tick)?.iter().for_each(|bench| job.record(bench, results));
            Ok(())
        };
        match case.kind {
            Kind::Fill(sizes) => sizes
                .iter()
                .try_for_each(|&size| run(&Job { objects: &filled(size), ..job(Work::Fill(size)) }, &timed)),
            Kind::Footprint(sizes) => sizes.iter().try_for_each(|&size| {
                let job = Job { objects: &filled(size), rounds: 0, ..job(Work::Fill(size)) };
                let benches = job.run(&self.engines, tick)?;
                benches.iter().for_each(|bench| job.record_footprint(bench, results));
                Ok(())
            }),
            Kind::Churn(most_bytes) => {
                let churn = Churn::new(most_bytes, LIVE.min(self.objects), self.objects);
                let pages = count(churn.ideal_pages);
                run(&job(Work::Churn(churn)), &timed)?;
                results.fact(&format!("ideal:{workload}"), pages);
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
