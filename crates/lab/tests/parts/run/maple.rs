use crate::run::stress::liar::{MapleLiar, OTHER_VALUE, SHIFTED};
use freehold_lab::engine::maple::{EngineEntry, MakeMap, Map, TreeFacts, find_maps};
use freehold_lab::run::maple::{Run, bench};
use freehold_lab::workload::maple::{Kind, Workload};
use std::sync::atomic::{AtomicU32, Ordering};

fn lookups(make: MakeMap) -> Result<Vec<Run>, String> {
    let honest = find_maps(&["std-btreemap".to_owned()]).unwrap()[0];
    benched(Kind::Lookup, &[honest, honest.with(TreeFacts { map: Some(make), ..honest.facts })])
}

fn benched(kind: Kind, engines: &[EngineEntry]) -> Result<Vec<Run>, String> {
    bench(&Workload { name: "x", kind, n: 100 }, engines, 2, &mut |_| ())
        .map(|(runs, _)| runs)
        .map_err(|error| error.to_string())
}

#[test]
fn a_wrong_answer_is_found_in_the_checked_round_and_in_a_timed_one() {
    assert!(lookups(MapleLiar::<SHIFTED, 0>::boxed).is_ok());
    assert!(lookups(MapleLiar::<SHIFTED, 7>::boxed).err().unwrap().contains("not Value(Number("));
    assert!(lookups(MapleLiar::<SHIFTED, 20_000>::boxed).err().unwrap().contains("are not the others'"));
}

/// Honest where it is checked one by one and where it stays; of maps for the timed rounds, every one has a wrong value.
fn late() -> Box<dyn Map> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let is_timed = MADE.fetch_add(1, Ordering::Relaxed) >= 2;
    if is_timed { MapleLiar::<OTHER_VALUE, 50>::boxed() } else { MapleLiar::<OTHER_VALUE, 0>::boxed() }
}

#[test]
fn a_wrong_value_that_is_stored_while_it_is_timed_is_found() {
    let honest = find_maps(&["std-btreemap".to_owned()]).unwrap()[0];
    let engine = |make: MakeMap| honest.with(TreeFacts { map: Some(make), ..honest.facts });
    let error = |kind, engines: &[EngineEntry]| benched(kind, engines).err().unwrap_or_default();
    let inserted = error(Kind::InsertSeq, &[engine(late)]);
    assert!(inserted.contains("other ranges than were inserted"), "{inserted}");
    // The last of the 100 that are there and of 50 in each of 164 repeats in two rounds.
    let alone = error(Kind::Erase, &[engine(MapleLiar::<OTHER_VALUE, 16_500>::boxed)]);
    assert!(alone.contains("other ranges than before the rounds"), "{alone}");
    // The last of two rounds of 16,384.
    let beside = error(Kind::Overwrite, &[honest, engine(MapleLiar::<OTHER_VALUE, 32_868>::boxed)]);
    assert!(beside.contains("are not the others'"), "{beside}");
}
