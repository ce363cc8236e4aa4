use crate::run::stress::liar::{MapleLiar, SHIFTED};
use freehold_lab::engine::maple::{MakeMap, TreeFacts, find_maps};
use freehold_lab::run::maple::{Run, bench};
use freehold_lab::workload::maple::{Kind, Workload};

fn lookups(make: MakeMap) -> Result<Vec<Run>, String> {
    let honest = find_maps(&["std-btreemap".to_owned()]).unwrap()[0];
    let engines = [honest, honest.with(TreeFacts { map: Some(make), ..honest.facts })];
    bench(&Workload { name: "lookup", kind: Kind::Lookup, n: 100 }, &engines, 2, &mut |_| ())
        .map(|(runs, _)| runs)
        .map_err(|error| error.to_string())
}

#[test]
fn a_wrong_answer_is_found_in_the_checked_round_and_in_a_timed_one() {
    assert!(lookups(MapleLiar::<SHIFTED, 0>::boxed).is_ok());
    assert!(lookups(MapleLiar::<SHIFTED, 7>::boxed).err().unwrap().contains("not Value(Number("));
    assert!(lookups(MapleLiar::<SHIFTED, 20_000>::boxed).err().unwrap().contains("are not the others'"));
}
