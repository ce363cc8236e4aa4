//! `freehold bench percpu`: our placements beside each other and beside the area map, which the bitmap replaced.

pub(crate) mod rows;
mod tables;

use super::Progress;
use crate::engine::percpu::{EngineEntry, FLOOR};
use crate::failure::Failure;
use crate::family::{Family, Percpu};
use crate::measure::percpu::{churn, deletion, fill, mass_free, over_operations, stale_hint};
use crate::output::Document;
use crate::workload::percpu::{
    CASES, Churn, Deletion, LIVE, Recorded, Size, StaleHint, second_half_sizes, seed_sizes,
};
use freehold::percpu::{Config, Population};
use freehold::units::Bytes;
use std::path::Path;
use tables::Tables;

/// Objects of the posting's tables.
const OBJECTS: u32 = 1_000_000;
/// The largest number that may be asked for.
const MOST: u32 = 4_000_000;
/// Where an engine may walk over fragments for every object, as many fewer are placed.
const WALKED: u32 = 5;
/// Where the area map walks over all there is for every object, it places so many at most, quick and full.
const QUADRATIC_OBJECTS: [u32; 2] = [4_000, 20_000];

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Fewer objects and rounds.
    pub quick: bool,
    /// Engines by name; none is all.
    pub engines: Vec<String>,
    /// Workloads by name, or files with operations; none is all workloads.
    pub workloads: Vec<String>,
    /// The number of objects, the last one counts; none is the posting's.
    pub objects: Vec<u32>,
    /// Bytes of a chunk for each CPU.
    pub unit: Bytes,
}

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
    /// Pages get memory on demand.
    on_demand: Config,
}

impl Plan {
    fn of(options: &Options) -> Result<Self, Failure> {
        let usage = |reason: String| Failure::Usage(reason);
        let unit_bytes = u32::try_from(options.unit.0)
            .map_err(|_| usage(format!("--unit {}: more than 4 GiB", options.unit)))?;
        let on_demand = Config::new(unit_bytes, 2);
        let asked = options.objects.last().copied();
        if let Some(n) = asked.filter(|n| !(1..=MOST).contains(n)) {
            return Err(usage(format!("--n {n}: objects are from 1 to {MOST}")));
        }
        let usual = if options.quick { OBJECTS / 5 } else { OBJECTS };
        Ok(Self {
            engines: Percpu::engines(&options.engines)?,
            objects: asked.unwrap_or(usual),
            exactly: asked.is_some(),
            quick: options.quick,
            rounds: if options.quick { 3 } else { 5 },
            whole: on_demand.population(Population::Whole),
            on_demand,
        })
    }

    /// The engines where all that counts is time: the one that does no work shows the lab's own share.
    fn timed(&self) -> Vec<EngineEntry> {
        [&self.engines[..], &[FLOOR]].concat()
    }
}

/// Benches and describes.
///
/// # Errors
/// No engine or workload has such a name, the unit is none, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Document> {
    let plan = Plan::of(options)?;
    let is_case = |name: &String| CASES.iter().any(|case| case.name == *name);
    let is_known = |name: &&String| is_case(name) || Path::new(name).is_file();
    if let Some(unknown) = options.workloads.iter().find(|name| !is_known(name)) {
        let all: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        let reason = format!("no workload or file {unknown:?}; there are {}", all.join(", "));
        return Err(Failure::Usage(reason).into());
    }
    let mut tables = Tables::new(plan.whole.unit_bytes);
    for case in CASES {
        if options.workloads.is_empty() || options.workloads.iter().any(|name| name == case.name) {
            one(case.name, &plan, &mut tables, progress).map_err(anyhow::Error::msg)?;
        }
    }
    let files: Vec<&String> = options.workloads.iter().filter(|name| !is_case(name)).collect();
    if !files.is_empty() {
        pages(&files, &plan, &mut tables, progress)?;
    }
    Ok(tables.document)
}

/// Pages over recorded operations, file by file and over all.
fn pages(files: &[&String], plan: &Plan, tables: &mut Tables, progress: &mut Progress) -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for file in files {
        progress.tick(file);
        let recorded = Recorded::read(file.as_ref())?;
        let Recorded { config, balances, ops, .. } = &recorded;
        let pages = over_operations(&plan.engines, config, *balances, ops).map_err(anyhow::Error::msg)?;
        runs.push((recorded.name, pages));
    }
    tables.pages(&plan.engines, &runs);
    Ok(())
}

fn one(name: &'static str, plan: &Plan, tables: &mut Tables, progress: &mut Progress) -> Result<(), String> {
    match name {
        "seed" => fills(name, &seed_sizes(), plan, tables, progress),
        "second-half" => fills(name, &second_half_sizes(), plan, tables, progress),
        "aligned" => fills(name, &[Size::new(4, 8), Size::new(4, 64)], plan, tables, progress),
        "footprint" => {
            for size in [seed_sizes(), vec![Size::new(4, 8)]].concat() {
                let runs = filled(size, plan, 0, progress)?;
                tables.footprint(size, &runs);
            }
            Ok(())
        }
        "churn-4-64" => churns(name, 64, plan, tables, progress),
        "churn-4-1024" => churns(name, 1024, plan, tables, progress),
        "stale-hint" => {
            tables.stale_hint(&stale_hint(&plan.engines, &plan.whole, StaleHint::MEASURED)?);
            Ok(())
        }
        "mass-free" => {
            for size in [Size::new(4, 4), Size::new(64, 8)] {
                let mut tick = |what: &str| progress.tick(what);
                let runs = mass_free(&plan.engines, &plan.whole, size, plan.objects, plan.rounds, &mut tick)?;
                tables.mass_free(size, &runs);
            }
            Ok(())
        }
        _ => {
            let engines: Vec<EngineEntry> =
                plan.engines.iter().filter(|entry| entry.knows_pages).copied().collect();
            tables.deletion(&deletion(&engines, &plan.on_demand, Deletion::MEASURED)?);
            Ok(())
        }
    }
}

fn fills(
    name: &'static str,
    sizes: &[Size],
    plan: &Plan,
    tables: &mut Tables,
    progress: &mut Progress,
) -> Result<(), String> {
    for &size in sizes {
        let runs = filled(size, plan, plan.rounds, progress)?;
        tables.fill(name, size, &runs);
    }
    Ok(())
}

fn filled(
    size: Size,
    plan: &Plan,
    rounds: usize,
    progress: &mut Progress,
) -> Result<Vec<crate::measure::percpu::FillRun>, String> {
    let walked = size.align.bytes() > u64::from(size.bytes.next_multiple_of(4));
    let objects = |entry: &EngineEntry| match (walked, entry.knows_pages) {
        (true, false) => plan.objects.min(QUADRATIC_OBJECTS[usize::from(!plan.quick)]),
        (true, true) if !plan.exactly => plan.objects.div_ceil(WALKED),
        _ => plan.objects,
    };
    let engines = if rounds > 0 { plan.timed() } else { plan.engines.clone() };
    fill(&engines, &plan.whole, size, objects, rounds, &mut |what| progress.tick(what))
}

fn churns(
    name: &'static str,
    most_bytes: u32,
    plan: &Plan,
    tables: &mut Tables,
    progress: &mut Progress,
) -> Result<(), String> {
    let workload = Churn::new(most_bytes, LIVE.min(plan.objects), plan.objects);
    let runs = churn(&plan.timed(), &plan.whole, &workload, &mut |what| progress.tick(what))?;
    tables.churn(name, &workload, &runs);
    Ok(())
}
