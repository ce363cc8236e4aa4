//! What the fuzz target of snapshots does, on runs that are often those of a space.

use freehold_lab::model::{framed_runs, fuzz_kva_restore};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

/// A run of any kind, mostly of small numbers, now and then with a byte too few or too many.
fn runs() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        8 => (0u8..9).prop_map(|number| vec![number]),
        1 => (any::<u8>(), 0u8..0x80).prop_map(|(low, high)| vec![low | 0x80, high]),
        1 => Just(vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
    ];
    let plain = (0u8..2, number.clone()).prop_map(|(kind, number)| [&[kind], &number[..]].concat());
    let value = prop::collection::vec(0u8..0xff, 0..4);
    let region = (2u8..4, number.clone(), number, value).prop_map(|(kind, size, guard, value)| {
        [&[kind], &size[..], &guard, &[value.len() as u8], &value].concat()
    });
    let damaged = prop::collection::vec(any::<u8>(), 1..3);
    let run = prop_oneof![8 => plain, 12 => region, 1 => damaged];
    prop::collection::vec(run, 1..20).prop_map(|runs| runs.concat())
}

#[test]
fn every_index_makes_the_same_of_any_bytes() -> Result<(), impl std::error::Error> {
    const CASES: u32 = 20_000;
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let spaces = Cell::new(0);
    let result = TestRunner::new(config).run(&(0u8..72, runs()), |(granule, runs)| {
        let bytes = [&[granule], &runs[..]].concat();
        spaces.set(spaces.get() + u32::from(fuzz_kva_restore(&bytes)));
        Ok(())
    });
    assert!(spaces.get() > CASES / 50, "only {} were spaces", spaces.get());
    result
}

#[test]
fn a_space_can_be_written_by_the_description_alone() {
    // A page free, a page of a region with the value 7.
    let bytes = framed_runs(12, &[1, 0, 2, 0, 0, 1, 7]);
    let decode = |value: &[u8]| <[u8; 1]>::try_from(value);
    let space: freehold::kva::AddressSpace<[u8; 1]> =
        freehold::kva::AddressSpace::restore(&bytes, Default::default(), decode).unwrap();
    assert_eq!(*space.region_at(0x1fff).unwrap().value(), [7]);
    assert!(space.region_at(0xfff).is_none());
}
