use crate::run::stress::liar::{INVALID, LEAKS, MISALIGNED, REFUSES, SHIFTED, TWICE, liar};
use freehold_lab::engine::{ENGINES, EngineEntry};
use freehold_lab::family::Kva;
use freehold_lab::run::stress::{CaseRun, Stress, stress};
use freehold_lab::workload::suite::{CASES, CaseInfo, Kind, Params, Suited};
use std::time::Duration;

fn info(kind: Kind) -> &'static CaseInfo {
    CASES.iter().find(|case| case.kind == kind).unwrap()
}

fn plan(kinds: &[Kind], loops: u64, repeat: u32) -> Stress {
    let cases = kinds.iter().map(|&kind| (info(kind), info(kind).sized.then_some(200))).collect();
    let params = Params { loops, ..Params::default() };
    Stress { cases, scene: Kva::scene(None).unwrap(), params, repeat, duration: None }
}

fn run(plan: &Stress, engines: &[EngineEntry]) -> Vec<CaseRun> {
    let mut runs = stress(plan, engines, &mut |_| ()).unwrap();
    runs.retain(|run| !run.entry.is_floor());
    runs
}

fn of_engine(name: &str) -> EngineEntry {
    *ENGINES.iter().find(|entry| entry.engine == name).unwrap()
}

#[test]
fn every_engine_passes_what_it_can_do() {
    let kinds: Vec<Kind> = CASES.iter().map(|case| case.kind).collect();
    let engines: Vec<EngineEntry> = ENGINES.iter().filter(|entry| entry.engine != "naive").copied().collect();
    let mut small = plan(&kinds, 100, 2);
    small.cases.retain(|(info, _)| !matches!(info.kind, Kind::FullFit | Kind::LongBusyList));
    for run in run(&small, &engines) {
        let what = format!("{} on {}: {:?}", run.info.name, run.entry.label(), run.reason);
        assert_eq!((run.failed, run.cut), (0, 0), "{what}");
        let loops = if run.info.once { 1 } else { 100 };
        match (run.lacks, run.info.kind) {
            (true, _) => assert_eq!((run.repeats(), run.done.loops), (0, 0), "{what}"),
            (false, Kind::AlignShift) => assert_eq!((run.xfailed, run.done.refused), (2, 44), "{what}"),
            (false, _) => assert_eq!((run.passed, run.done.loops), (2, 2 * loops), "{what}"),
        }
    }
}

#[test]
fn bodies_are_counted_in_part_and_timed() {
    for run in run(&plan(&[Kind::FixSize, Kind::RandomSize], 1000, 1), &ENGINES[..1]) {
        assert_eq!((run.done.ops[0].count, run.done.ops[1].count), (1000, 1000));
        for ops in &run.done.ops {
            assert!((60..=250).contains(&ops.work.len()) && (60..=250).contains(&ops.ns.len()));
        }
        // One block: an allocation looks at its leaf, and so does a free.
        assert_eq!((run.done.ops[0].work.mean(), run.done.ops[1].work.mean()), (1.0, 1.0));
        assert_eq!(run.medians_ns.len(), 1, "one repeat");
        assert!(run.loop_mean_ns().unwrap() > 0.0);
    }
}

#[test]
fn a_lie_is_found() {
    let says = [
        (liar::<SHIFTED>(), Kind::Holes, "overlaps a live object"),
        (liar::<SHIFTED>(), Kind::FixSize, "nothing to free, which is no answer"),
        (liar::<REFUSES>(), Kind::Churn, "was refused, though it fits"),
        (liar::<LEAKS>(), Kind::Holes, "taken, of"),
        (liar::<MISALIGNED>(), Kind::FixAlign, "is not a multiple of 32 KiB"),
        (liar::<TWICE>(), Kind::Churn, "overlaps a live object"),
        (liar::<INVALID>(), Kind::Burst, "K0"),
    ];
    for (entry, kind, says) in says {
        let runs = run(&plan(&[kind], 1000, 1), &[entry]);
        let reason = runs[0].reason.clone().unwrap_or_default();
        assert_eq!((runs[0].passed, runs[0].failed), (0, 1), "{kind:?} should find {says:?}");
        assert!(reason.contains(says), "{kind:?}: {reason}, should be {says}");
    }
}

#[test]
fn after_a_wrong_answer_the_space_is_a_fresh_one() {
    let runs = run(&plan(&[Kind::Holes, Kind::FixSize], 900, 1), &[liar::<TWICE>()]);
    assert_eq!((runs[0].failed, runs[1].failed, runs[1].passed), (1, 0, 1));
    // In one space with what came before it, it would have met the lie.
    let runs = run(&plan(&[Kind::RandomSize, Kind::FixSize], 900, 1), &[liar::<INVALID>()]);
    assert_eq!((runs[0].passed, runs[1].failed), (1, 1));
}

#[test]
fn the_seed_decides_the_requests_whatever_else_is_run() {
    let work = |plan: &Stress| {
        let runs = run(plan, &ENGINES[..1]);
        let of_churn = runs.iter().find(|run| run.info.kind == Kind::Churn).unwrap();
        (of_churn.done.ops[0].work.mean(), of_churn.done.ops[1].work.mean())
    };
    let alone = plan(&[Kind::Churn], 500, 2);
    let among = plan(&[Kind::RandomSize, Kind::Churn], 500, 2);
    assert_eq!(work(&alone), work(&among));
    let mut other = alone.clone();
    other.params.seed += 1;
    assert_ne!(work(&alone), work(&other));

    let all: Vec<Kind> = CASES.iter().map(|case| case.kind).collect();
    let order = |seed| {
        let mut plan = plan(&all, 1, 1);
        plan.params.seed = seed;
        plan.shuffle();
        plan.cases.iter().map(|(info, _)| info.name).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn time_that_is_over_cuts_loops_and_leaves_out_cases() {
    let mut endless = plan(&[Kind::FixSize, Kind::RandomSize], 1_000_000_000, 2);
    endless.duration = Some(Duration::from_millis(100));
    for run in run(&endless, &ENGINES[..1]) {
        // Whoever stopped the process meanwhile took its time away: there may be no repeat at all.
        assert_eq!((run.failed, run.cut), (0, 0));
        assert!(run.done.loops < u64::from(run.repeats()).max(1) * run.loops_wanted, "{run:?}");
    }
    let mut large = plan(&[Kind::Churn], 1, 2);
    large.cases[0].1 = Some(2_000_000);
    large.duration = Some(Duration::from_millis(20));
    let runs = run(&large, &[of_engine("gap-list")]);
    assert_eq!((runs[0].repeats(), runs[0].done.loops), (0, 0), "{:?}", runs[0]);
}
