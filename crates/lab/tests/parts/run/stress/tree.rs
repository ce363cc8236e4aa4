use crate::run::stress::liar::{INVALID, LEAKS, REFUSES, SHIFTED, maple_liar};
use freehold_lab::engine::maple::{ENGINES, EngineEntry};
use freehold_lab::family::Tree;
use freehold_lab::run::stress::{CaseRun, Stress, stress};
use freehold_lab::workload::suite::{Params, Refusal, Suited, TreeKind as Kind};

fn plan(kinds: &[Kind], n: u32, loops: u64) -> Stress<Tree> {
    let info = |kind| Tree::CASES.iter().find(|case| case.kind == kind).unwrap();
    let params = Params { loops, ..Params::default() };
    let cases = kinds.iter().map(|&kind| (info(kind), Some(n))).collect();
    Stress { cases, scene: Tree::scene(None).unwrap(), params, repeat: 2, duration: None }
}

fn run(plan: &Stress<Tree>, engines: &[EngineEntry]) -> Vec<CaseRun<Tree>> {
    let mut runs = stress(plan, engines, &mut |_| ()).unwrap();
    runs.retain(|run| !run.entry.is_floor());
    runs
}

/// Of so few slots that windows and runs of them are cut, and of more.
#[test]
fn every_engine_passes_what_it_can_do() {
    let kinds: Vec<Kind> = Tree::CASES.iter().map(|case| case.kind).collect();
    for n in [1, 5, 300] {
        for run in run(&plan(&kinds, n, 600), ENGINES) {
            let what = format!("{} at {n} on {}: {:?}", run.info.name, run.entry.engine, run.reason);
            assert_eq!((run.failed, run.cut), (0, 0), "{what}");
            assert!(!run.lacks || run.entry.trees.is_none(), "{what}: the kernel's calls are all there");
            if run.lacks {
                assert_eq!(run.repeats(), 0, "{what}");
                continue;
            }
            assert_eq!((run.passed, run.done.loops), (2, 1200), "{what}");
            assert!(run.done.refused == 0 || run.info.refusal == Refusal::Allowed, "{what}");
        }
    }
}

#[test]
fn nodes_are_counted() {
    let runs = run(&plan(&[Kind::Seq, Kind::Overwrite], 300, 1200), &ENGINES[..1]);
    let stores = |at: usize| &runs[at].done.ops[0];
    assert!(stores(0).work.mean() > 0.0, "a tree that grows takes nodes");
    assert_eq!(
        (stores(1).work.is_empty(), stores(1).work.mean()),
        (false, 0.0),
        "a store in place takes none"
    );
}

#[test]
fn a_lie_is_found() {
    // Ranges that are erased are stored again, so that a leak shows in what is held only if that does not happen.
    let says = [
        (maple_liar::<SHIFTED, 300>(), Kind::Load, 1000, "Load", "not Value("),
        (maple_liar::<SHIFTED, 300>(), Kind::Awalk, 1000, "EmptyArea", "not Gap("),
        (maple_liar::<REFUSES, 300>(), Kind::Erase, 1000, "Insert", "not Done(Ok"),
        (maple_liar::<LEAKS, 100>(), Kind::Seq, 1000, "Insert", "not Done(Ok"),
        (maple_liar::<LEAKS, 100>(), Kind::Seq, 200, "it holds", "the model"),
        (maple_liar::<INVALID, 2>(), Kind::RangeStore, 1000, "M0", "liar"),
    ];
    for (entry, kind, loops, about, says) in says {
        let runs = run(&Stress { repeat: 1, ..plan(&[kind], 200, loops) }, &[entry]);
        let reason = runs[0].reason.clone().unwrap_or_default();
        assert_eq!((runs[0].passed, runs[0].failed), (0, 1), "{kind:?} should find {says:?}");
        assert!(reason.contains(about) && reason.contains(says), "{kind:?}: {reason}, should be {says}");
    }
}
