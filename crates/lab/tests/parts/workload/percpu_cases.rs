//! The cases of per-CPU objects.

use freehold_lab::family::Percpu;
use freehold_lab::workload::suite::{Case, Params, PercpuKind as Kind, Phase, Refusal, Suited};
use freehold_trace::percpu::Op;
use std::collections::HashSet;

/// The largest object in bytes.
const MOST_BYTES: u64 = 32 << 10;

#[test]
fn every_case_does_its_loops_and_leaves_nothing() {
    for info in Percpu::CASES {
        for n in [1, 100] {
            let params = Params { n, loops: 500, seed: 3, ..Params::default() };
            let mut case = Case::new(info, &params, 7);
            let names = 7..7 + case.objects();
            let (mut ops, mut live, mut loops) = (Vec::new(), HashSet::new(), 0);
            while let Some(batch) = case.next_batch(&mut ops, 64) {
                loops += batch.loops;
                for op in ops.drain(..) {
                    assert!(names.contains(&op.object()), "{}: {op:?}", info.name);
                    let right = match op {
                        Op::Alloc { object, size_bytes, align, atomic } => {
                            assert!(
                                (1..=MOST_BYTES).contains(&size_bytes) && align.bytes() <= 4096,
                                "{op:?}"
                            );
                            assert!(!atomic || info.refusal == Refusal::Allowed, "{}", info.name);
                            live.insert(object)
                        }
                        Op::Free { object } => live.remove(&object),
                    };
                    assert!(right, "{}: {op:?}", info.name);
                }
                assert_eq!(case.held(), live.len() as u64, "{}", info.name);
            }
            assert_eq!((loops, live.len()), (500, 0), "{} at {n}", info.name);
        }
    }
}

#[test]
fn holes_are_where_a_case_says() {
    let info = Percpu::CASES.iter().find(|case| case.kind == Kind::StaleHint).unwrap();
    let mut case = Case::new(info, &Params { n: 10, loops: 1, ..Params::default() }, 0);
    let mut ops = Vec::new();
    while case.phase() == Some(Phase::Setup) {
        case.next_batch(&mut ops, 1000);
    }
    let freed: Vec<u32> = ops.iter().filter(|op| op.is_free()).map(Op::object).collect();
    assert_eq!(freed.len(), 70);
    assert!(freed.iter().all(|object| object % 8 != 7));
}
