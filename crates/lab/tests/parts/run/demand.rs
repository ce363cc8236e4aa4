use freehold::units::Align;
use freehold_lab::run::Demand;
use freehold_lab::workload::Workload;
use freehold_trace::kva::{Op, Space};
use std::collections::BTreeMap;

fn recorded(sizes: &[u64], at_ms: &[u64]) -> Workload {
    let ops = (0..).zip(sizes).map(|(object, &size)| match size {
        0 => Op::Free { object },
        size => Op::alloc(object, size),
    });
    let scene = Space { layout: Vec::new(), granule: Align::PAGE };
    let at_ns = Some(at_ms.iter().map(|ms| ms * 1_000_000).collect());
    Workload { at_ns, ..Workload::new("small", "", scene, ops.collect(), sizes.len() as u32) }
}

#[test]
fn runs_and_sizes_are_those_of_the_allocations() {
    // A free within a run does not end it.
    let demand = Demand::of(&recorded(&[5, 5, 0, 5, 2, 5, 5, 9], &[0, 1, 2, 3, 4, 5, 6, 7]));
    assert_eq!(demand.allocations, 7);
    assert_eq!(demand.sizes, BTreeMap::from([(2, 1), (5, 5), (9, 1)]));
    assert_eq!(demand.in_runs, BTreeMap::from([(1, 2), (2, 2), (3, 3)]));
    assert_eq!((demand.runs.len(), demand.longest_run(), demand.middle_run()), (4, 3, 2));
    assert_eq!(demand.repeats(), 3.0 / 7.0);
    assert_eq!(demand.commonest(1), [(5, 5.0 / 7.0)]);
    assert_eq!((demand.up_to(4), demand.up_to(9)), (1.0 / 7.0, 1.0));
    assert_eq!((demand.in_runs_from(1), demand.in_runs_from(3)), (1.0, 3.0 / 7.0));
}

#[test]
fn rates_are_per_second_and_windows_half_open() {
    let demand = Demand::of(&recorded(&[1; 6], &[0, 50, 99, 100, 1999, 2000]));
    assert_eq!((demand.seconds, demand.rate()), (2.0, Some(3.0)));
    // Within 1 ms: 1999 and 2000 are a whole millisecond apart. Within 100 ms: 0, 50, 99 or 50, 99, 100.
    assert_eq!(demand.busiest, [1, 3, 4]);
    let nothing = Demand::of(&recorded(&[], &[]));
    assert_eq!((nothing.rate(), nothing.middle_run(), nothing.repeats()), (None, 0, 0.0));
}
