//! Guests: engines that a program which has the lab as a library makes itself.

use freehold::units::Span;
use freehold_lab::commands::{replay, verify};
use freehold_lab::engine::outside::{named, register};
use freehold_lab::engine::{SpaceEngine, Takes};
use freehold_lab::stop::{Stopped, until};
use freehold_lab::view::findings;
use freehold_lab::{Progress, data_folder};
use freehold_trace::kva::{Driver, Session, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
        let results = verify::run(std::slice::from_ref(&vector), &engines, &mut Progress::silent()).unwrap();
        assert_eq!(results.failed, fails, "{:?}", results.notes);
    }
}

#[test]
fn a_guest_is_found_on_its_own_thread_alone() {
    let names = ["py:mine".to_owned()];
    guest(&names[0], freehold::kva::Placement::Lowest);
    let elsewhere = names.clone();
    assert!(std::thread::spawn(move || named(&elsewhere).is_err()).join().unwrap());
    assert_eq!(named(&names).unwrap().len(), 1);
}

/// The set-up may be longer than all else.
#[test]
fn a_run_that_is_stopped_ends_within_the_set_up() {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // It is too small for the set-up, and would fail there.
    let make = move |space: &Space| -> Result<Box<dyn Session>, String> {
        asked.store(true, Ordering::Relaxed);
        let page = Span::new(0, 4095).ok_or("a page")?;
        Ok(Box::new(Driver::new(SpaceEngine::new(&[page], space.granule, freehold::kva::Placement::Lowest)?)))
    };
    register("py:stopped", Takes::Lowest, Box::new(make)).unwrap();
    let engines = ["py:stopped".to_owned()];
    let run = || replay::run(&[("churn:100", 1)], &engines, &mut Progress::silent()).map(drop);
    assert_eq!(until(stop, || run().map_err(|error| error.to_string())), Err(Stopped));
}

#[test]
fn what_is_no_guest_is_refused() {
    let make = |_: &Space| -> Result<Box<dyn Session>, String> { Err("it is never made".to_owned()) };
    assert!(register("mine", Takes::Lowest, Box::new(make)).is_err(), "a name without the prefix");
    assert!(register("py:odd", Takes::KernelsChoice, Box::new(make)).is_err(), "no such column");
    assert!(named(&["py:unknown".to_owned()]).is_err());
}
