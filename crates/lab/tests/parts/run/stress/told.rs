use super::liar::{REFUSES, liar};
use freehold_lab::commands::stress::add;
use freehold_lab::family::Kva;
use freehold_lab::record::{Metric, Results};
use freehold_lab::run::stress::{Stress, stress};
use freehold_lab::workload::suite::{CASES, Params, Suited};

#[test]
fn what_failed_is_told_with_the_command_that_shows_it_again() {
    let info = CASES.iter().find(|case| case.name == "holes").unwrap();
    let params = Params { loops: 1000, seed: 5, ..Params::default() };
    let scene = Kva::scene(None).unwrap();
    let plan = Stress { cases: vec![(info, Some(300))], scene, params, repeat: 1, duration: None };
    let engines = [liar::<REFUSES>()];
    let mut runs = stress(&plan, &engines, &mut |_| ()).unwrap();
    let mut results = Results::default();
    add(&mut results, &plan, "", &mut runs, &engines);
    assert!(results.failed);
    let failed = results.notes.iter().find(|note| note.starts_with("FAILED: holes at 300 on")).unwrap();
    let label = engines[0].label();
    let again = format!("stress kva --case holes --n 300 --engine {label} --seed 5 --loops 1000 --repeat 1");
    for part in ["1 of 1 repeats: ", "was refused, though it fits at 0x", &again] {
        assert!(failed.contains(part), "{part} is missing in {failed}");
    }
    let of =
        |metric| results.records.iter().find(|record| record.metric == metric).map(|record| record.value);
    assert_eq!((of(Metric::Failed), of(Metric::Passed)), (Some(1.0), Some(0.0)));
    assert!(results.notes.last().unwrap().starts_with("FAILED: 0 repeats passed, 1 failed"));
}
