//! `freehold stress`: a family's cases on its engines, every answer checked. Of address ranges these are the kernel's
//! test of vmalloc and what it lacks; of trees of ranges, what the kernel's tests and benches of its own do, and what
//! they lack.

use crate::Progress;
use crate::concurrent::counters::stress as storm;
use crate::concurrent::history::LEAST_THREADS;
use crate::concurrent::{stress_every_cpu, stress_maple};
use crate::engine::{Facts, Listed};
use crate::failure::usage;
use crate::family::{FLOOR_NOTE, Kva, Percpu, Tree};
use crate::kind::Stressed;
use crate::record::{Field, Metric, Results, Stat, count, counted, fixed};
use crate::run::stress::{CaseRun, Mode, Options, SIZE, Stress, cases_of, stress};
use crate::workload::check_memory;
use crate::workload::suite::{MOST_N, Suited};

/// Sizes of cases that grow; the last takes seconds to set up, and is left to the long mode.
const GROWING_SIZES: [u32; 4] = [1000, 10_000, 100_000, 1_000_000];
/// The case whose pages may be asked for.
const OF_PAGES: &str = "fix_size";
/// Bytes of an object in an engine, its driver and its judge, about.
const OBJECT_BYTES: u64 = 512;

/// What cases of all families take.
const CASES_TAKE: [&str; 8] =
    ["--mode", "--loops", "--repeat", "--case", "--n", "--engine", "--seed", "--duration"];

/// Stresses a subject.
///
/// # Errors
/// No case or engine has such a name or bit, an option is of another subject, or the machine lacks what is needed.
pub fn run(subject: Stressed, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let takes = |more: &[&'static str]| [&CASES_TAKE[..], more].concat();
    match (subject, options.mode, options.threads) {
        (Stressed::Counters, ..) => {
            options.only("stress counters", &["--threads", "--loops", "--duration"])?;
            storm(options, progress)
        }
        (Stressed::Pools | Stressed::Memory | Stressed::Rcu, ..) => usage(
            "of pools, memory and rcu there is --adversary; threads that share maps and spaces: stress maple --threads N, \
             stress kva --mode stress",
        ),
        (Stressed::Kva, Mode::Stress, _) => {
            let what = "stress kva --mode stress";
            options.only(what, &takes(&["--threads", "--mask", "--nr-pages"]))?;
            if options.sizes.len() > 1 {
                return usage(format!("--n: {what} takes one"));
            }
            stress_every_cpu(options, progress)
        }
        (_, Mode::Stress, _) => usage("--mode stress: of kva alone"),
        (Stressed::Maple, _, Some(threads)) => {
            options.only("stress maple --threads", &["--threads", "--seed", "--duration"])?;
            if threads < LEAST_THREADS {
                return usage("--threads: one writes, and at least one reads");
            }
            stress_maple(options, progress)
        }
        (Stressed::Kva, ..) => {
            options.only("stress kva", &takes(&["--mask", "--nr-pages"]))?;
            of_family::<Kva>(options, progress)
        }
        (Stressed::Percpu, ..) => {
            options.only("stress percpu", &takes(&["--unit"]))?;
            of_family::<Percpu>(options, progress)
        }
        (Stressed::Maple, ..) => {
            options.only("stress maple", &takes(&["--threads"]))?;
            of_family::<Tree>(options, progress)
        }
    }
}

fn of_family<F: Suited>(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let known = F::CASES.iter().filter_map(|case| case.mask).sum::<u32>();
    let engines = F::stressed(&options.engines)?;
    let plan = plan::<F>(options)?;
    let most = options.sizes.iter().copied().max().unwrap_or(0);
    check_memory(most.into(), OBJECT_BYTES * engines.len() as u64)?;
    let mut runs = stress(&plan, &engines, &mut |what| progress.tick(what))?;
    let mut results = Results::default();
    if let Some(others) = options.mask.map(|mask| mask & !known).filter(|&others| others != 0) {
        results.note(format!("--mask: {others:#x} is no case that concerns address space"));
    }
    add(&mut results, &plan, &again(options), &mut runs, &engines);
    Ok(results)
}

/// The options of one family alone, to be given again.
fn again(options: &Options) -> String {
    let pages = options.nr_pages.map(|pages| format!(" --nr-pages {pages}"));
    let unit = options.unit.map(|unit| format!(" --unit {}", unit.0));
    [pages, unit].into_iter().flatten().collect()
}

/// Adds everything; `again` are options that show a failure again.
pub fn add<F: Suited>(
    results: &mut Results,
    plan: &Stress<F>,
    again: &str,
    runs: &mut [CaseRun<F>],
    engines: &[Listed<F::Facts>],
) {
    results.fact("repeat", plan.repeat.to_string());
    results.fact("loops", count(plan.params.loops));
    results.fact("seed", plan.params.seed.to_string());
    results.fact("work", F::WORK);
    for run in runs.iter_mut() {
        figures(results, plan, run);
    }
    for entry in engines {
        let of_engine = runs.iter().filter(|run| run.entry.label() == entry.label());
        notes(results, plan, again, &entry.label(), &of_engine.collect::<Vec<_>>());
    }
    engines.iter().filter_map(|entry| entry.outside).for_each(|library| results.note(library.note()));
    if F::Facts::FLOOR.is_some() {
        results.note(FLOOR_NOTE);
    }
    verdict(results, runs);
}

fn figures<F: Suited>(results: &mut Results, plan: &Stress<F>, run: &mut CaseRun<F>) {
    let key = F::scene_key(&plan.scene, run.entry.key(run.info.name)).param_if(Field::N, run.n);
    let mut whole = results.of(key.clone().op("loop"));
    whole.rounds(Metric::Time, &run.medians_ns, run.done.loops);
    if run.entry.is_floor() {
        return;
    }
    whole
        .total(Metric::Passed, run.passed.into())
        .total(Metric::Failed, run.failed.into())
        .total(Metric::Xfailed, run.xfailed.into())
        .total(Metric::Count, run.done.loops);
    if run.repeats() > 0 {
        whole.total(Metric::Refused, run.done.refused);
    }
    whole.some(Metric::Time, Stat::Mean, run.loop_mean_ns());
    for (kind, ops) in F::KINDS.iter().zip(&mut run.done.ops).filter(|(_, ops)| ops.count > 0) {
        results
            .of(key.clone().op(kind.op))
            .total(Metric::Count, ops.count)
            .counts(Metric::Work, &mut ops.work)
            .singles(&mut ops.ns, &[]);
    }
}

fn named<F: Suited>(run: &CaseRun<F>) -> String {
    run.n
        .map_or_else(|| run.info.name.to_owned(), |n| format!("{} at {}", run.info.name, count(u64::from(n))))
}

/// What the reader must know of an engine's runs: what failed and how to see it again, what it lacks, what was cut.
fn notes<F: Suited>(results: &mut Results, plan: &Stress<F>, again: &str, label: &str, runs: &[&CaseRun<F>]) {
    for run in runs {
        if let Some(reason) = &run.reason {
            let n = run.n.map_or_else(String::new, |n| format!(" --n {n}"));
            let (name, params) = (run.info.name, &plan.params);
            results.note(format!(
                "FAILED: {} on {label}, {} of {} repeats: {reason}. Again: freehold stress {} --case {name}{n} --engine \
                 {label} --seed {} --loops {} --repeat {}{again}",
                named(run),
                run.failed,
                run.repeats(),
                F::SUITE.name(),
                params.seed,
                params.loops,
                plan.repeat,
            ));
        }
    }
    let mut say = |before: &str, wanted: &dyn Fn(&CaseRun<F>) -> Option<String>| {
        let list: Vec<String> = runs.iter().filter_map(|run| wanted(run)).collect();
        if !list.is_empty() {
            results.note(format!("{label}{before}: {}", list.join(", ")));
        }
    };
    say(" does not have the requests of", &|run| run.lacks.then(|| named(run)));
    let out = |run: &CaseRun<F>| !run.lacks && run.repeats() == 0;
    say(": there was no time for", &|run| out(run).then(|| named(run)));
    say(": cut by --duration, loops done of those asked for", &|run| {
        let wanted = run.loops_wanted * u64::from(plan.repeat);
        let is_short = run.failed == 0 && !run.lacks && !out(run) && run.done.loops < wanted;
        is_short.then(|| format!("{} {} %", named(run), fixed(100.0 * run.done.loops as f64 / wanted as f64)))
    });
}

/// One line for all, as the last; something failed if it did, or if nothing was run.
fn verdict<F: Suited>(results: &mut Results, runs: &[CaseRun<F>]) {
    let judged = || runs.iter().filter(|run| !run.entry.is_floor());
    let sum = |of: fn(&CaseRun<F>) -> u32| judged().map(of).sum::<u32>();
    let (passed, failed, xfailed) = (sum(|run| run.passed), sum(|run| run.failed), sum(|run| run.xfailed));
    results.failed = failed > 0 || passed + xfailed == 0;
    let word = if !results.failed {
        "passed"
    } else if failed > 0 {
        "FAILED"
    } else {
        "nothing was run"
    };
    let operations: u64 = judged().flat_map(|run| &run.done.ops).map(|ops| ops.count).sum();
    results.note(format!(
        "{word}: {} passed, {failed} failed, {xfailed} failed as expected; {} of their bodies checked",
        counted(passed.into(), "repeat"),
        counted(operations, "operation"),
    ));
}

fn plan<F: Suited>(options: &Options) -> anyhow::Result<Stress<F>> {
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return usage(format!("--n {n}: sizes are from 1 to {MOST_N}"));
    }
    let (loops, repeat, largest) = match options.mode {
        Mode::Performance => (1_000_000, 3, 1_000_000),
        Mode::Smoke | Mode::Stress => (10_000, 10, 100_000),
    };
    let params = options.params(loops);
    let repeat = options.repeat.unwrap_or(repeat);
    let mut cases = Vec::new();
    let asked = cases_of::<F>(options)?;
    if !options.sizes.is_empty() && !asked.iter().any(|info| info.sized) {
        return usage("--n: none of these cases has sizes");
    }
    if options.nr_pages.is_some() && !asked.iter().any(|info| info.name == OF_PAGES) {
        return usage(format!("--nr-pages: of {OF_PAGES}, which is none of these cases"));
    }
    for info in asked {
        let sizes = match info.sized {
            false => vec![None],
            true if !options.sizes.is_empty() => options.sizes.iter().copied().map(Some).collect(),
            true if F::GROWS.contains(&info.kind) => {
                GROWING_SIZES.into_iter().filter(|&n| n <= largest).map(Some).collect()
            }
            true => vec![Some(SIZE)],
        };
        cases.extend(sizes.into_iter().map(|n| (info, n)));
    }
    let mut plan =
        Stress { cases, scene: F::scene(options.unit)?, params, repeat, duration: options.duration };
    if options.mode == Mode::Smoke {
        plan.shuffle();
    }
    Ok(plan)
}
