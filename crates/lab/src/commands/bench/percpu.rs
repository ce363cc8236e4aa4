//! `freehold bench percpu`: our placements beside each other and beside the area map, which the bitmap replaced; and the
//! figures of these workloads, whoever runs them.

use super::Options;
use crate::Progress;
use crate::engine::percpu::{EngineEntry, FLOOR};
use crate::failure::Failure;
use crate::family::{Entry, FLOOR_NOTE, Family, Percpu};
use crate::record::count;
use crate::record::{Key, Metric, Results, Stat};
use crate::run::describe;
use crate::run::percpu::{
    ChurnRun, DeletionRun, FIRST, FillRun, MassFreeRun, StaleHintRun, churn, deletion, fill, mass_free,
    over_operations, stale_hint,
};
use crate::workload::percpu::{
    CASES, Churn, Deletion, LIVE, Order, Recorded, Size, StaleHint, second_half_sizes, seed_sizes,
};
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
    /// Pages get memory on demand.
    on_demand: Config,
}

impl Plan {
    fn of(options: &Options) -> Result<Self, Failure> {
        let unit_bytes = u32::try_from(options.unit.0)
            .map_err(|_| Failure::Usage(format!("--unit {}: more than 4 GiB", options.unit)))?;
        let on_demand = Config::new(unit_bytes, 2);
        let asked = options.sizes.last().copied();
        Ok(Self {
            engines: Percpu::engines(&options.engines)?,
            objects: asked.unwrap_or(if options.quick { OBJECTS / 5 } else { OBJECTS }),
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

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let plan = Plan::of(options)?;
    let is_case = |name: &String| CASES.iter().any(|case| case.name == *name);
    let is_known = |name: &&String| is_case(name) || Path::new(name).is_file();
    if let Some(unknown) = options.workloads.iter().find(|name| !is_known(name)) {
        let all: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        let reason = format!("no workload or file {unknown:?}; there are {}", all.join(", "));
        return Err(Failure::Usage(reason).into());
    }
    let mut results = Results::default();
    describe::<Percpu>(&mut results, plan.engines.iter().copied());
    results.fact("unit", options.unit.to_string());
    for case in CASES {
        if options.workloads.is_empty() || options.workloads.iter().any(|name| name == case.name) {
            one(case.name, &plan, &mut results, progress).map_err(anyhow::Error::msg)?;
        }
    }
    for file in options.workloads.iter().filter(|name| !is_case(name)) {
        progress.tick(file);
        pages(file, &plan, &mut results)?;
    }
    results.note(FLOOR_NOTE);
    Ok(results)
}

/// Pages over recorded operations.
fn pages(file: &str, plan: &Plan, results: &mut Results) -> anyhow::Result<()> {
    let Recorded { name, config, balances, ops, .. } = Recorded::read(file.as_ref())?;
    let runs = over_operations(&plan.engines, &config, balances, &ops).map_err(anyhow::Error::msg)?;
    for run in runs {
        let mean = run.sum as f64 / ops.len().max(1) as f64;
        results
            .of(run.entry.key("pages").param("file", name.as_str()))
            .put(Metric::Pages, Stat::Max, run.peak as f64, 1)
            .put(Metric::Pages, Stat::Mean, mean, ops.len() as u64)
            .total(Metric::Refused, run.failures);
    }
    Ok(())
}

fn one(
    name: &'static str,
    plan: &Plan,
    results: &mut Results,
    progress: &mut Progress,
) -> Result<(), String> {
    let unit = plan.whole.unit_bytes;
    let mut tick = |what: &str| progress.tick(what);
    match name {
        "seed" => fills(name, &seed_sizes(), plan, results, &mut tick),
        "second-half" => fills(name, &second_half_sizes(), plan, results, &mut tick),
        "aligned" => fills(name, &[Size::new(4, 8), Size::new(4, 64)], plan, results, &mut tick),
        "footprint" => {
            for size in [seed_sizes(), vec![Size::new(4, 8)]].concat() {
                let runs = filled(size, plan, 0, &mut tick)?;
                runs.iter().for_each(|run| add_footprint(results, size, run, unit));
            }
            Ok(())
        }
        "churn-4-64" => churns(name, 64, plan, results, &mut tick),
        "churn-4-1024" => churns(name, 1024, plan, results, &mut tick),
        "stale-hint" => {
            let runs = stale_hint(&plan.engines, &plan.whole, StaleHint::MEASURED)?;
            runs.iter().for_each(|run| add_stale_hint(results, run, unit));
            Ok(())
        }
        "mass-free" => {
            for size in [Size::new(4, 4), Size::new(64, 8)] {
                let runs = mass_free(&plan.engines, &plan.whole, size, plan.objects, plan.rounds, &mut tick)?;
                runs.iter().for_each(|run| add_mass_free(results, size, run, unit));
            }
            Ok(())
        }
        _ => {
            let engines: Vec<EngineEntry> =
                plan.engines.iter().filter(|entry| entry.knows_pages).copied().collect();
            let runs = deletion(&engines, &plan.on_demand, Deletion::MEASURED)?;
            runs.iter().for_each(|run| add_deletion(results, run, unit));
            Ok(())
        }
    }
}

fn fills(
    name: &'static str,
    sizes: &[Size],
    plan: &Plan,
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> Result<(), String> {
    for &size in sizes {
        let runs = filled(size, plan, plan.rounds, tick)?;
        runs.iter().for_each(|run| add_fill(results, name, size, run, plan.whole.unit_bytes));
    }
    Ok(())
}

fn filled(
    size: Size,
    plan: &Plan,
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> Result<Vec<FillRun>, String> {
    let walked = size.align.bytes() > u64::from(size.bytes.next_multiple_of(4));
    let objects = |entry: &EngineEntry| match (walked, entry.knows_pages) {
        (true, false) => plan.objects.min(QUADRATIC_OBJECTS[usize::from(!plan.quick)]),
        (true, true) if !plan.exactly => plan.objects.div_ceil(WALKED),
        _ => plan.objects,
    };
    let engines = if rounds > 0 { plan.timed() } else { plan.engines.clone() };
    fill(&engines, &plan.whole, size, objects, rounds, tick)
}

fn churns(
    name: &'static str,
    most_bytes: u32,
    plan: &Plan,
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let workload = Churn::new(most_bytes, LIVE.min(plan.objects), plan.objects);
    for run in churn(&plan.timed(), &plan.whole, &workload, tick)? {
        add_churn(results, name, &workload, &run, plan.whole.unit_bytes);
    }
    Ok(())
}

fn key(workload: &str, entry: &EngineEntry, unit_bytes: u32) -> Key {
    entry.key(workload).param("unit_bytes", unit_bytes)
}

fn sized(key: Key, size: Size) -> Key {
    key.param("size", size.bytes).param("align", size.align.bytes())
}

/// One size of objects: an allocation, and a free in each order.
pub fn add_fill(results: &mut Results, workload: &str, size: Size, run: &FillRun, unit_bytes: u32) {
    let key = sized(key(workload, &run.entry, unit_bytes), size).param("n", run.objects);
    let each = u64::from(run.objects);
    results.of(key.clone().op("alloc")).rounds(Metric::Time, &run.alloc_ns, each * run.alloc_ns.len() as u64);
    for (order, ns) in &run.free_ns {
        let key = key.clone().op("free").param("order", Order::name(*order));
        results.of(key).rounds(Metric::Time, ns, each * ns.len() as u64);
    }
}

/// Bytes of metadata while all objects of a size are live.
pub fn add_footprint(results: &mut Results, size: Size, run: &FillRun, unit_bytes: u32) {
    let full = &run.full;
    let units = full.chunks.max(1) as f64 * f64::from(unit_bytes);
    let each = full.metadata_bytes as f64 / full.objects.max(1) as f64;
    results
        .of(sized(key("footprint", &run.entry, unit_bytes), size).param("n", full.objects))
        .put(Metric::Chunks, Stat::Max, full.chunks as f64, 1)
        .put(Metric::Pages, Stat::Total, full.populated_pages as f64, 1)
        .origin(run.entry.memory())
        .put(Metric::Metadata, Stat::Max, full.metadata_bytes as f64, 1)
        .put(Metric::BytesPerItem, Stat::Total, each, full.objects)
        .put(Metric::MetadataShare, Stat::Total, full.metadata_bytes as f64 / units, 1);
}

/// A steady state: time of a pair, and pages beside what the objects would fill without a gap.
pub fn add_churn(results: &mut Results, workload: &str, churn: &Churn, run: &ChurnRun, unit_bytes: u32) {
    let key = key(workload, &run.entry, unit_bytes).param("n", run.end.objects);
    let pairs = (churn.pairs.len() / 2) as u64;
    let pages = run.end.populated_pages;
    results.of(key.clone().op("pair")).rounds(Metric::Time, &run.pair_ns, pairs);
    if !run.entry.is_floor() {
        results.of(key).put(Metric::Pages, Stat::Total, pages as f64, 1).put(
            Metric::SpanRatio,
            Stat::Total,
            pages as f64 / churn.ideal_pages.max(1) as f64,
            1,
        );
    }
    results.fact(&format!("ideal:{workload}"), count(churn.ideal_pages));
}

/// A mass free: the free, the first request after it, the longest of the first, these, and all.
pub fn add_mass_free(results: &mut Results, size: Size, run: &MassFreeRun, unit_bytes: u32) {
    let first = format!("first {}, each", count(FIRST as u64));
    let figures = [
        ("free", &run.free_ns),
        ("the first", &run.first_ns),
        ("longest of the first", &run.longest_ns),
        (first.as_str(), &run.early_ns),
        ("all, each", &run.all_ns),
    ];
    for (op, ns) in figures {
        let key = sized(key("mass-free", &run.entry, unit_bytes), size).op(op);
        results.of(key).rounds(Metric::Time, ns, ns.len() as u64);
    }
}

/// Pages before holes are filled, and after.
pub fn add_stale_hint(results: &mut Results, run: &StaleHintRun, unit_bytes: u32) {
    for (op, pages) in [("free", run.before_pages), ("alloc", run.after_pages)] {
        let key = key("stale-hint", &run.entry, unit_bytes).op(op);
        results.of(key).put(Metric::Pages, Stat::Total, pages as f64, 1);
    }
}

/// Pages of all groups, of those that are kept, and of these when the work that frees leave is done.
pub fn add_deletion(results: &mut Results, run: &DeletionRun, unit_bytes: u32) {
    for (op, pages) in [("alloc", run.full_pages), ("free", run.kept_pages), ("balance", run.balanced_pages)]
    {
        let key = key("deletion", &run.entry, unit_bytes).op(op);
        results.of(key).put(Metric::Pages, Stat::Total, pages as f64, 1);
    }
}
