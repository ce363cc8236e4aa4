use crate::run::stress::liar::{INVALID, LEAKS, MISALIGNED, OUTSIDE, REFUSES, SHIFTED, TWICE, percpu_liar};
use freehold_lab::engine::percpu::{ENGINES, EngineEntry};
use freehold_lab::family::Percpu;
use freehold_lab::run::stress::{CaseRun, Stress, stress};
use freehold_lab::run::{Replayable, measure};
use freehold_lab::workload::suite::{Params, PercpuKind as Kind, Suited};

fn plan(kinds: &[Kind], loops: u64, repeat: u32) -> Stress<Percpu> {
    let info = |kind| Percpu::CASES.iter().find(|case| case.kind == kind).unwrap();
    let params = Params { loops, ..Params::default() };
    let cases = kinds.iter().map(|&kind| (info(kind), Some(200))).collect();
    Stress { cases, scene: Percpu::scene(None).unwrap(), params, repeat, duration: None }
}

fn run(plan: &Stress<Percpu>, engines: &[EngineEntry]) -> Vec<CaseRun<Percpu>> {
    let mut runs = stress(plan, engines, &mut |_| ()).unwrap();
    runs.retain(|run| !run.entry.is_floor());
    runs
}

#[test]
fn every_engine_passes_what_it_can_do() {
    let kinds: Vec<Kind> = Percpu::CASES.iter().map(|case| case.kind).collect();
    for run in run(&plan(&kinds, 3000, 2), ENGINES) {
        let what = format!("{} on {}: {:?}", run.info.name, run.entry.engine, run.reason);
        assert_eq!((run.failed, run.cut), (0, 0), "{what}");
        if run.info.kind == Kind::Starved && !run.entry.knows_pages {
            assert!(run.lacks && run.repeats() == 0, "{what}");
            continue;
        }
        assert_eq!((run.passed, run.done.loops), (2, 6000), "{what}");
        match run.info.kind {
            Kind::Starved => assert!(run.done.refused > 0, "{what}: memory never ended"),
            Kind::Atomic => {}
            _ => assert_eq!(run.done.refused, 0, "{what}"),
        }
    }
}

#[test]
fn a_lie_is_found() {
    let says = [
        (percpu_liar::<SHIFTED>(), Kind::InOrder, "nothing to free, which is no answer"),
        (percpu_liar::<SHIFTED>(), Kind::ChurnSmall, "is not free"),
        (percpu_liar::<REFUSES>(), Kind::Mixed, "was refused, though there is room"),
        (percpu_liar::<REFUSES>(), Kind::Atomic, "was refused, though there is room"),
        (percpu_liar::<LEAKS>(), Kind::Random, "objects are live, not"),
        (percpu_liar::<MISALIGNED>(), Kind::AlignedChurn, "is not a multiple of"),
        (percpu_liar::<OUTSIDE>(), Kind::ChurnLarge, "is not in a unit"),
        (percpu_liar::<TWICE>(), Kind::ChurnLarge, "is not free"),
        (percpu_liar::<INVALID>(), Kind::Deletion, "P0"),
    ];
    for (entry, kind, says) in says {
        let runs = run(&plan(&[kind], 3000, 1), &[entry]);
        let reason = runs[0].reason.clone().unwrap_or_default();
        assert_eq!((runs[0].passed, runs[0].failed), (0, 1), "{kind:?} should find {says:?}");
        assert!(reason.contains(says), "{kind:?}: {reason}, should be {says}");
    }
}

#[test]
fn a_replay_of_a_liar_ends_with_the_lie() {
    let file = freehold_lab::data_folder().unwrap().join("vectors/percpu/x-r1024-stock.txt.zst");
    let mut workload = Percpu::workload(&file).unwrap();
    workload.ops.truncate(3000);
    let replayed = |entry| measure(workload.clone(), &[entry], 1, &mut |_| ());
    for (entry, says) in [
        (percpu_liar::<REFUSES>(), "was refused, though a chunk could be made for it"),
        (percpu_liar::<TWICE>(), "is not free"),
        (percpu_liar::<INVALID>(), "P0"),
    ] {
        let error = replayed(entry).unwrap_err().to_string();
        assert!(error.contains(says), "{error}, should be {says}");
    }
    let honest = replayed(ENGINES[0]).unwrap();
    let seen = &honest.runs[0].counted.seen;
    assert!(seen.pages_peak > 0 && seen.pages_mean() <= seen.pages_peak as f64, "{seen:?}");
    assert!(seen.fill().is_some_and(|fill| fill > 0.0 && fill <= 1.0), "{seen:?}");
}
