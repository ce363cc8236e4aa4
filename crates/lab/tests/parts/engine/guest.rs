//! Guests: engines that a program which has the lab as a library makes itself.

use freehold_lab::commands::{replay, verify};
use freehold_lab::engine::outside::{named, register};
use freehold_lab::engine::{SpaceEngine, Takes};
use freehold_lab::view::findings;
use freehold_lab::{Progress, data_folder};
use freehold_trace::kva::{Driver, Session, Space};

/// Registers the default engine with that placement as a guest that says it takes the lowest address.
fn guest(name: &str, placement: freehold::kva::Placement) {
    let make = move |space: &Space| -> Result<Box<dyn Session>, String> {
        Ok(Box::new(Driver::new(SpaceEngine::new(&space.layout, space.granule, placement)?)))
    };
    register(name, Takes::Lowest, Box::new(make)).unwrap();
}

#[test]
fn a_guest_is_judged_beside_the_others_and_compared_with_none() {
    guest("py:replayed", freehold::kva::Placement::Lowest);
    let engines = ["btree:lowest".to_owned(), "py:replayed".to_owned()];
    let results = replay::run(&[("churn:100", 2)], &engines, &mut Progress::silent()).unwrap();
    assert!(results.records.iter().any(|record| record.key.engine == "py:replayed"));
    assert!(findings(&results).iter().all(|finding| finding.rival != "py:replayed"));
    assert!(results.notes.iter().any(|note| note.starts_with("`py:` engines")), "{:?}", results.notes);
}

#[test]
fn a_guest_is_held_against_the_column_that_it_claims() {
    let vector = data_folder().unwrap().join("vectors/kva/churn_n100.txt.zst");
    for (placement, fails) in
        [(freehold::kva::Placement::Lowest, false), (freehold::kva::Placement::Highest, true)]
    {
        guest("py:verified", placement);
        let engines = named(&["py:verified".to_owned()]).unwrap();
        let results = verify::run(std::slice::from_ref(&vector), &engines, &mut Progress::silent());
        assert_eq!(results.failed, fails, "{:?}", results.notes);
    }
}

#[test]
fn what_is_no_guest_is_refused() {
    let make = |_: &Space| -> Result<Box<dyn Session>, String> { Err("it is never made".to_owned()) };
    assert!(register("mine", Takes::Lowest, Box::new(make)).is_err(), "a name without the prefix");
    assert!(register("py:odd", Takes::KernelsChoice, Box::new(make)).is_err(), "no such column");
    assert!(named(&["py:unknown".to_owned()]).is_err());
}
