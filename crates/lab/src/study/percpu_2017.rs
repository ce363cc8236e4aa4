//! `freehold reproduce percpu-2017`: the posting that replaced the area map allocator of per-CPU memory by bitmaps: its
//! table, the second version's, its worst case, what was found since, and chunks to look at as they fill.
//!
//! Source: the posting, July 2017, its second version, and the letters that followed.

use super::Options;
use crate::engine::percpu::{EngineEntry, FLOOR};
use crate::failure::usage;
use crate::family::{FLOOR_NOTE, Family, Percpu};
use crate::record::{Field, Metric, Origin, Results, Stat, count};
use crate::run::describe;
use crate::run::percpu::{Bench, Job, Watched, watch};
use crate::workload::percpu::{
    ALIGNED, Churn, Deletion, LIVE, SECOND_HALF, SEED, SEED_V2, Size, StaleHint, Work,
};
use crate::{Progress, published};
use freehold::percpu::{Config, Population};
use freehold::units::Bytes;
use std::collections::BTreeMap;

/// What there was before, the posting, what became of it, and ours.
const COMPARED: [&str; 4] = ["area-map", "bitmap-2017", "bitmap-linux", "bitmap"];
/// Those that keep hints to look at, the kernel's with its stale hint put right among them.
const HINTED: [&str; 4] = ["bitmap-2017", "bitmap-linux", "bitmap-linux-fixed", "bitmap"];
/// The posting's number of objects, what takes less than a minute, and what the main job has time for.
const POSTED: u32 = 1 << 20;
const USUAL: u32 = 1 << 17;
const BRIEF: u32 = 1 << 16;
const OBJECTS: std::ops::RangeInclusive<u32> = 1_000..=4_000_000;
/// The posting does not tell its units. The shape of its free times is that of units of about so many bytes.
const UNIT_BYTES: u32 = 256 << 10;
const UNITS: std::ops::RangeInclusive<u128> = (32 << 10)..=(4 << 20);
const CPUS: u32 = 2;
const MILLION: u32 = 1_000_000;

/// How much is done.
struct Scale {
    compared: Vec<EngineEntry>,
    /// The same in tables of times, with the engine that does no work beneath, where there is room for it.
    timed: Vec<EngineEntry>,
    hinted: Vec<EngineEntry>,
    /// Chunks whose memory comes when it is needed.
    on_demand: Config,
    objects: u32,
    rounds: usize,
    stale_hint: StaleHint,
    deletion: Deletion,
}

impl Scale {
    fn of(options: &Options) -> anyhow::Result<Self> {
        let unit = options.unit.unwrap_or(Bytes::from(u64::from(UNIT_BYTES)));
        let Some(unit_bytes) = UNITS.contains(&unit.0).then_some(unit.0 as u32) else {
            return usage(format!(
                "--unit {}: units are from 32 KiB to 4 MiB",
                unit.beside(Bytes(*UNITS.end()))
            ));
        };
        let objects = options.objects.unwrap_or(if options.full { POSTED } else { USUAL });
        if !OBJECTS.contains(&objects) {
            let (least, most) = (OBJECTS.start(), OBJECTS.end());
            return usage(format!("--objects {objects}: from {least} to {most}"));
        }
        let mut scale = Self::new(unit_bytes, objects, if options.full { 5 } else { 3 })?;
        scale.timed.push(FLOOR);
        Ok(scale)
    }

    fn new(unit_bytes: u32, objects: u32, rounds: usize) -> anyhow::Result<Self> {
        let in_units = if objects < USUAL { 3 } else { 12 } * (unit_bytes / 4);
        let compared = Percpu::engines(&COMPARED.map(str::to_owned))?;
        Ok(Self {
            timed: compared.clone(),
            compared,
            hinted: Percpu::engines(&HINTED.map(str::to_owned))?,
            on_demand: Config::new(unit_bytes, CPUS),
            objects,
            rounds,
            stale_hint: StaleHint { objects: in_units, refilled: in_units / 2 },
            deletion: Deletion { groups: Deletion::MEASURED.groups.min(objects / 8), ..Deletion::MEASURED },
        })
    }

    /// Every chunk has its memory from the start: the area map knows no pages.
    fn whole(&self) -> Config {
        self.on_demand.population(Population::Whole)
    }

    fn live(&self) -> u32 {
        LIVE.min(self.objects)
    }

    /// A job; of fills, which place so many objects.
    fn job<'a>(
        &self,
        workload: &'static str,
        work: Work,
        objects: &'a dyn Fn(&EngineEntry) -> u32,
    ) -> Job<'a> {
        Job { workload, config: self.whole(), work, objects, rounds: self.rounds }
    }

    /// What texts name.
    fn facts(&self, results: &mut Results) {
        results.fact("unit", Bytes::from(u64::from(self.on_demand.unit_bytes)).to_string());
        results.fact("live", count(self.live().into()));
        results.fact("holes", count(self.stale_hint.objects.into()));
        results.fact("groups", count(self.deletion.groups.into()));
        describe::<Percpu>(results, self.compared.iter().chain(&self.hinted).copied());
    }
}

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let scale = Scale::of(options)?;
    let mut results = Results::default();
    scale.facts(&mut results);
    results.note(FLOOR_NOTE);
    measure(&scale, &mut results, &mut |what| progress.tick(what))?;
    results.records.extend(published::records("percpu"));
    published::conclude("percpu", &mut results)?;
    Ok(results)
}

/// The posting's table at a size that the main job has time for.
///
/// # Errors
/// An engine answers wrong.
pub fn brief(results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let scale = Scale::new(UNIT_BYTES, BRIEF, 3)?;
    scale.facts(results);
    seed(&scale, SEED, results, &mut |what| progress.tick(what))?;
    let is_seed = |of: &crate::record::Record| of.key.workload == "seed" && of.key.engine.starts_with("v1");
    results.records.extend(published::records("percpu").into_iter().filter(is_seed));
    Ok(())
}

fn seed(
    scale: &Scale,
    sizes: &[Size],
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    for &size in sizes {
        let objects = |_: &EngineEntry| scale.objects;
        let job = scale.job("seed", Work::Fill(size), &objects);
        for bench in job.run(&scale.timed, tick)? {
            job.record(&bench, results);
            if !bench.entry.is_floor() {
                job.record_footprint(&bench, results);
            }
        }
    }
    Ok(())
}

fn measure(scale: &Scale, results: &mut Results, tick: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    seed(scale, &[SEED, SEED_V2].concat(), results, tick)?;
    let mut run = |job: &Job<'_>, engines: &[EngineEntry]| -> anyhow::Result<()> {
        job.run(engines, tick)?.iter().for_each(|bench| job.record(bench, results));
        Ok(())
    };
    // The area map moves half of a map for each object.
    let second_half = |_: &EngineEntry| (scale.objects / 4).max(1_000);
    for &size in SECOND_HALF {
        run(&scale.job("second-half", Work::Fill(size), &second_half), &scale.timed)?;
    }
    for (most_bytes, workload) in [(64, "churn-4-64"), (1024, "churn-4-1024")] {
        let churn = Churn::new(most_bytes, scale.live(), scale.objects);
        run(&scale.job(workload, Work::Churn(churn), &|_| 0), &scale.timed)?;
    }
    let area_map = scale.compared.iter().filter(|entry| !entry.knows_pages);
    let engines: Vec<EngineEntry> = area_map.chain(&scale.hinted).copied().collect();
    run(&scale.job("stale-hint", Work::StaleHint(scale.stale_hint), &|_| 0), &engines)?;
    for balanced in [false, true] {
        let job = scale.job("deletion", Work::Deletion(scale.deletion, balanced), &|_| 0);
        run(&Job { config: scale.on_demand, ..job }, &scale.hinted)?;
    }
    aligned(scale, results, tick)?;
    look(scale, results, tick)
}

/// Places and frees growing numbers of objects; of the area map, whose time grows with their square, as many as end in
/// seconds. What a million takes is computed from the largest number.
fn aligned(scale: &Scale, results: &mut Results, tick: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let few = (scale.objects / 8).clamp(1_000, 1 << 15);
    let mut last: BTreeMap<&str, Bench> = BTreeMap::new();
    let mut numbers = vec![few / 8, few / 4, few / 2, few, scale.objects];
    numbers.dedup();
    for objects in numbers {
        let takes = |entry: &EngineEntry| objects <= few || entry.knows_pages;
        let entries: Vec<EngineEntry> = scale.compared.iter().filter(|entry| takes(entry)).copied().collect();
        let each = |_: &EngineEntry| objects;
        let job = Job { rounds: 1, ..scale.job("aligned", Work::Fill(ALIGNED), &each) };
        for bench in job.run(&entries, tick)? {
            job.record(&bench, results);
            let key = bench.entry.key("aligned").param(Field::N, objects).op("alloc all");
            let all_ns = bench.sheet.median(("alloc", None)) * f64::from(objects);
            results.of(key).put(Metric::Time, Stat::Total, all_ns, objects.into());
            last.insert(bench.entry.engine, bench);
        }
    }
    for bench in scale.compared.iter().filter_map(|entry| last.get(entry.engine)) {
        let [alloc, free] =
            [("alloc", None), ("free", Some("in-order"))].map(|timed| bench.sheet.median(timed));
        let all_ns = alloc * f64::from(bench.objects);
        let alloc_ns = million(all_ns, bench.objects, !bench.entry.knows_pages);
        let both_ns = alloc_ns + free * f64::from(MILLION);
        for (op, ns) in [("alloc all", alloc_ns), ("alloc and free", both_ns)] {
            // A million that was placed needs no estimate.
            if op == "alloc all" && bench.objects == MILLION {
                continue;
            }
            results
                .of(bench.entry.key("aligned").param(Field::N, MILLION).op(op))
                .origin(Origin::Extrapolated(bench.objects.into()))
                .put(Metric::Time, Stat::Total, ns, u64::from(MILLION));
        }
    }
    results.fact("few", count(few.into()));
    results.note(format!(
        "* a million computed from fewer objects, not measured: of the area map from {} by the square of their number, of \
         the bitmaps in proportion.",
        count(few.into())
    ));
    Ok(())
}

/// What a million would take, if so many take `ns`.
pub fn million(ns: f64, objects: u32, quadratic: bool) -> f64 {
    let times = f64::from(MILLION) / f64::from(objects.max(1));
    ns * if quadratic { times * times } else { times }
}

/// Runs that are looked at: how full chunks are, and how far hints are from the truth.
fn look(scale: &Scale, results: &mut Results, tick: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let live = (LIVE / 4).min(scale.objects / 2);
    let churn = Churn::new(1024, live, 2 * live);
    for (workload, config, balances, work) in [
        ("churn-4-1024", scale.on_demand, false, Work::Churn(churn)),
        ("stale-hint", scale.whole(), false, Work::StaleHint(scale.stale_hint)),
        ("deletion", scale.on_demand, true, Work::Deletion(scale.deletion, false)),
    ] {
        let mut watched = Vec::new();
        for entry in &scale.hinted {
            tick(&format!("looking at {} in {workload}", entry.engine));
            watched.push(watch(entry, &config, balances, &work).map_err(anyhow::Error::msg)?);
        }
        draw(workload, &watched, results);
        watched.iter().for_each(|watched| hints(workload, watched, results));
    }
    Ok(())
}

/// How far hints agree with the truth, and pages, over the run.
fn draw(workload: &'static str, watched: &[Watched], results: &mut Results) {
    for of in watched {
        let at: Vec<f64> = of.looks.iter().map(|look| look.ops as f64).collect();
        let quality = of.looks.iter().map(|look| look.mean_known().map(|known| 100.0 * known)).collect();
        let pages = of.looks.iter().map(|look| Some(look.pages as f64)).collect();
        results.line("hints", workload, of.entry.engine, &at, vec![quality]);
        results.line("pages", workload, of.entry.engine, &at, vec![pages]);
    }
}

/// Hints of all chunks with room, at all looks, beside the truth.
pub fn hints(workload: &str, watched: &Watched, results: &mut Results) {
    let (mut hints, mut exact, mut sum, mut worst_bytes) = (0u64, 0u64, 0.0, 0);
    for chunk in watched.looks.iter().flat_map(|look| &look.chunks) {
        let Some(known) = chunk.known() else { continue };
        hints += 1;
        exact += u64::from(chunk.hint_bytes == chunk.longest_bytes);
        sum += known;
        worst_bytes = worst_bytes.max(chunk.longest_bytes.abs_diff(chunk.hint_bytes));
    }
    let key = watched.entry.key(workload).op("hint").param(Field::UnitBytes, watched.unit_bytes);
    results
        .of(key)
        .total(Metric::Hints, hints)
        .total(Metric::Mismatches, hints - exact)
        .put(Metric::HintShare, Stat::Mean, sum / hints.max(1) as f64, hints)
        .put(Metric::HintError, Stat::Max, worst_bytes as f64, 1);
}
