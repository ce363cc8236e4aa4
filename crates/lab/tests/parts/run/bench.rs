use crate::run::stress::liar::{LEAKS, REFUSES, liar};
use freehold_lab::run::bench::{Budget, bench};
use freehold_lab::run::measure;
use freehold_lab::workload::bench::{BenchWorkload, cases};
use std::time::Duration;

/// A churn with more frees than the liar needs to lose one.
fn churn() -> BenchWorkload {
    BenchWorkload::new(cases().find(|case| case.name == "churn").unwrap(), 100, 4000, 1).unwrap()
}

#[test]
fn a_lost_free_is_found_in_a_bench() {
    let budget = Budget { setup: [Duration::from_secs(600); 2], rounds: [Duration::from_secs(600); 2] };
    let lost = bench(&churn(), &[liar::<LEAKS>()], 1, &budget, &mut |_| ()).err().unwrap().to_string();
    assert!(lost.contains("bytes are free and"), "{lost}");
}

#[test]
fn a_lost_free_is_found_in_a_replay() {
    let lost = measure(churn().into_workload(), &[liar::<LEAKS>()], 0, &mut |_| ()).err().unwrap();
    assert!(lost.to_string().contains("bytes are free and"), "{lost}");
}

#[test]
fn a_wrong_refusal_is_found_in_a_replay() {
    let refused = measure(churn().into_workload(), &[liar::<REFUSES>()], 0, &mut |_| ()).err().unwrap();
    assert!(refused.to_string().contains("was refused, though it fits at"), "{refused}");
}
