//! A stress for people and programs: a summary per engine, as the kernel prints one, the engines side by side, rows.

use crate::family::Entry;
use crate::measure::stress::{CaseRun, Ops, Plan};
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::suite::Suited;

/// Adds everything; the runs are in the order of the plan's cases, the engines in turn. `again` are options that show
/// a failure again.
pub(super) fn describe<F: Suited>(
    document: &mut Document,
    plan: &Plan<F>,
    again: &str,
    runs: &mut [CaseRun<F>],
    engines: &[F::Entry],
) {
    for entry in engines {
        let title = format!(
            "Summary: {}, repeat: {} loops: {} seed: {}",
            entry.label(),
            plan.repeat,
            count(plan.params.loops),
            plan.params.seed,
        );
        let of_engine = runs.iter_mut().filter(|run| run.entry.label() == entry.label());
        document.tables.push(summary(title, of_engine));
    }
    if engines.len() > 1 {
        document.tables.push(side_by_side(runs, engines));
    }
    for entry in engines {
        let of_engine: Vec<&CaseRun<F>> =
            runs.iter().filter(|run| run.entry.label() == entry.label()).collect();
        notes(document, plan, again, entry, &of_engine);
    }
    for of_case in runs.chunk_by_mut(|a, b| (a.info.name, a.n) == (b.info.name, b.n)) {
        let first = of_case.first().and_then(CaseRun::loop_median_ns);
        for run in of_case {
            rows(document, plan, run, first);
        }
    }
    document.notes.push(format!(
        "An engine's cases share one engine, one after another, so what one leaves behind in it meets the next. avg is what all loops of a repeat take, from the mean of those batches that were timed as a whole, and has \
         in it what else the machine did; ns/loop is the median batch; work is {}, from every \
         eighth batch. Checking is in no time.",
        F::WORK
    ));
    verdict(document, runs);
}

fn size<F: Suited>(run: &CaseRun<F>) -> String {
    run.n.map_or_else(|| "-".to_owned(), |n| count(u64::from(n)))
}

fn named<F: Suited>(run: &CaseRun<F>) -> String {
    run.n
        .map_or_else(|| run.info.name.to_owned(), |n| format!("{} at {}", run.info.name, count(u64::from(n))))
}

fn summary<'a, F: Suited>(title: String, runs: impl Iterator<Item = &'a mut CaseRun<F>>) -> Table {
    let header = ["case", "n", "passed", "failed", "xfailed", "loops", "avg usec", "ns/loop", "refused"];
    let mut table = Table::new(title, &header);
    table.header.extend(F::KINDS.iter().map(|kind| format!("{} work", kind.op)));
    table.name_columns = 2;
    for run in runs {
        let dash = || "-".to_owned();
        let per_repeat = run.loops / u64::from(run.repeats().max(1));
        let avg_us = run.loop_mean_ns().map(|ns| ns * per_repeat as f64 / 1000.0);
        let work = |ops: &Ops| if ops.work.is_empty() { dash() } else { fixed(ops.work.mean()) };
        let mut cells = vec![
            run.info.name.to_owned(),
            size(run),
            run.passed.to_string(),
            run.failed.to_string(),
            run.xfailed.to_string(),
            count(per_repeat),
            avg_us.map_or_else(dash, fixed),
            run.loop_median_ns().map_or_else(dash, fixed),
            count(run.refused),
        ];
        cells.extend(run.ops.iter().map(work));
        table.row(cells);
    }
    table
}

fn side_by_side<F: Suited>(runs: &[CaseRun<F>], engines: &[F::Entry]) -> Table {
    let mut table = Table::new("Nanoseconds of a loop, and the ratio to the first engine", &["case", "n"]);
    table.name_columns = 2;
    table.header.extend(engines.iter().map(Entry::label));
    for of_case in runs.chunk_by(|a, b| (a.info.name, a.n) == (b.info.name, b.n)) {
        let Some(first) = of_case.first() else { continue };
        let ours = first.loop_median_ns().filter(|&ns| ns > 0.0);
        let mut cells = vec![first.info.name.to_owned(), size(first)];
        cells.extend(of_case.iter().map(|run| match (run.loop_median_ns(), ours) {
            (Some(ns), Some(ours)) => format!("{} {}x", fixed(ns), fixed(ns / ours)),
            (Some(ns), None) => fixed(ns),
            (None, _) => "-".to_owned(),
        }));
        table.row(cells);
    }
    table
}

/// What the reader must know of an engine's runs: what failed and how to see it again, what it lacks, what was cut.
fn notes<F: Suited>(
    document: &mut Document,
    plan: &Plan<F>,
    again: &str,
    entry: &F::Entry,
    runs: &[&CaseRun<F>],
) {
    let label = entry.label();
    for run in runs {
        if let Some(reason) = &run.reason {
            let n = run.n.map_or_else(String::new, |n| format!(" --n {n}"));
            let (name, params) = (run.info.name, &plan.params);
            document.notes.push(format!(
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
    let list = |wanted: &dyn Fn(&CaseRun<F>) -> Option<String>| -> String {
        runs.iter().filter_map(|run| wanted(run)).collect::<Vec<_>>().join(", ")
    };
    let lacks = list(&|run| run.lacks.then(|| named(run)));
    if !lacks.is_empty() {
        document.notes.push(format!("{label} does not have the requests of: {lacks}"));
    }
    let out = |run: &CaseRun<F>| !run.lacks && run.repeats() == 0;
    let not_run = list(&|run| out(run).then(|| named(run)));
    if !not_run.is_empty() {
        document.notes.push(format!("{label}: there was no time for: {not_run}"));
    }
    let short = list(&|run| {
        let wanted = run.loops_wanted * u64::from(plan.repeat);
        let is_short = run.failed == 0 && !run.lacks && !out(run) && run.loops < wanted;
        is_short.then(|| format!("{} {} %", named(run), fixed(100.0 * run.loops as f64 / wanted as f64)))
    });
    if !short.is_empty() {
        document.notes.push(format!("{label}: cut by --duration, loops done of those asked for: {short}"));
    }
}

/// One line for all, as the last; something failed if it did, or if nothing was run.
fn verdict<F: Suited>(document: &mut Document, runs: &[CaseRun<F>]) {
    let sum = |of: fn(&CaseRun<F>) -> u32| runs.iter().map(of).sum::<u32>();
    let (passed, failed, xfailed) = (sum(|run| run.passed), sum(|run| run.failed), sum(|run| run.xfailed));
    document.failed = failed > 0 || passed + xfailed == 0;
    let word = match (failed, document.failed) {
        (0, true) => "nothing was run",
        (_, true) => "FAILED",
        (_, false) => "passed",
    };
    let operations: u64 = runs.iter().flat_map(|run| &run.ops).map(|ops| ops.count).sum();
    document.notes.push(format!(
        "{word}: {passed} repeats passed, {failed} failed, {xfailed} failed as expected; {} operations of their bodies \
         checked",
        count(operations),
    ));
}

fn rows<F: Suited>(document: &mut Document, plan: &Plan<F>, run: &mut CaseRun<F>, first: Option<f64>) {
    let median = run.loop_median_ns();
    let note = match (&run.reason, run.lacks) {
        (Some(reason), _) => Some(reason.clone()),
        (None, true) => Some("does not have these requests".to_owned()),
        (None, false) => (run.repeats() == 0).then(|| "there was no time".to_owned()),
    };
    let base = Row {
        workload: Some(run.info.name.to_owned()),
        n: run.n.map(u64::from),
        ..F::scene_row(&plan.scene, run.entry.row())
    };
    document.rows.push(Row {
        op: Some("loop"),
        count: Some(run.loops),
        passed: Some(run.passed),
        failed: Some(run.failed),
        xfailed: Some(run.xfailed),
        ns_median: median,
        ns_median_range: run.loop_range_ns(),
        ratio: median.zip(first.filter(|&ns| ns > 0.0)).map(|(ns, first)| ns / first),
        note,
        ..base.clone()
    });
    let refused = run.refused;
    for (at, (kind, ops)) in F::KINDS.iter().zip(&mut run.ops).enumerate() {
        if ops.count == 0 {
            continue;
        }
        let failures = (at == 0).then_some(refused);
        let mut row = Row { op: Some(kind.op), count: Some(ops.count), failures, ..base.clone() };
        if !ops.work.is_empty() {
            row.work_mean = Some(ops.work.mean());
            row.work_p99 = Some(ops.work.percentile(990));
            row.work_p999 = Some(ops.work.percentile(999));
            row.work_max = Some(ops.work.percentile(1000));
        }
        if !ops.ns.is_empty() {
            row.ns_median = Some(ops.ns.percentile(500) as f64);
            row.ns_p99 = Some(ops.ns.percentile(990));
            row.ns_p999 = Some(ops.ns.percentile(999));
        }
        document.rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Kva;
    use crate::measure::stress::liar::{REFUSES, liar};
    use crate::measure::stress::stress;
    use crate::workload::suite::{CASES, Params};

    #[test]
    fn what_failed_is_told_with_the_command_that_shows_it_again() {
        let info = CASES.iter().find(|case| case.name == "holes").unwrap();
        let params = Params { loops: 1000, seed: 5, ..Params::default() };
        let scene = Kva::scene(None).unwrap();
        let plan = Plan { cases: vec![(info, Some(300))], scene, params, repeat: 1, duration: None };
        let engines = [liar::<REFUSES>()];
        let mut runs = stress(&plan, &engines, &mut |_| ()).unwrap();
        let mut document = Document::default();
        describe(&mut document, &plan, "", &mut runs, &engines);
        assert!(document.failed);
        let failed = document.notes.iter().find(|note| note.starts_with("FAILED: holes at 300 on")).unwrap();
        let label = engines[0].label();
        let again =
            format!("stress kva --case holes --n 300 --engine {label} --seed 5 --loops 1000 --repeat 1");
        for part in ["1 of 1 repeats: ", "was refused, though it fits at 0x", &again] {
            assert!(failed.contains(part), "{part} is missing in {failed}");
        }
        let row = &document.rows[0];
        assert_eq!((row.op, row.failed, row.passed), (Some("loop"), Some(1), Some(0)));
        assert!(document.notes.last().unwrap().starts_with("FAILED: 0 repeats passed, 1 failed"));
    }
}
