//! What the fuzz target of snapshots does, on runs that are often those of a space.

use crate::model::{framed_runs, fuzz_kva_restore};
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
    let result = TestRunner::new(config).run(&(0u8..=u8::MAX, runs()), |(granule, runs)| {
        let bytes = [&[granule], &runs[..]].concat();
        spaces.set(spaces.get() + u32::from(fuzz_kva_restore(&bytes)));
        Ok(())
    });
    assert!(spaces.get() > CASES / 50, "only {} were spaces", spaces.get());
    result
}

/// Regions of a version 3 that move up or down, near or far, mostly as they may, now and then a number off.
fn moving_runs() -> impl Strategy<Value = Vec<u8>> {
    let off = prop_oneof![6 => Just(0u8), 1 => 0u8..3];
    let one = (0u8..3, 1u8..5, 0u8..4, any::<bool>(), prop::array::uniform3(off));
    prop::collection::vec(one, 1..6).prop_map(|all| {
        let (mut runs, mut at) = (Vec::new(), 0);
        for (free, size, far, up, [off_size, off_from, off_to]) in all {
            if free > 0 {
                runs.extend([1, free - 1]);
            }
            // Next to each other the places overlap, and the placeholder is what one has beyond the other.
            let held = if far == 0 { size.div_ceil(2) } else { size };
            let (low, gap) = (at + free, far.saturating_sub(1));
            let (from, to) = match (up, far) {
                (true, 0) => (low, low + held),
                (true, _) => (low, low + size + gap),
                (false, 0) => (low + held, low),
                (false, _) => (low + held + gap, low),
            };
            let region = [2, size - 1, 0, 0, 0].to_vec();
            let placeholder = [4, held - 1 + off_size, from + off_from, to + off_to].to_vec();
            let between = if gap > 0 { vec![1, gap - 1] } else { Vec::new() };
            let parts = if up { [region, between, placeholder] } else { [placeholder, between, region] };
            runs.extend(parts.concat());
            at = low + size + gap + held + off_size;
        }
        runs
    })
}

#[test]
fn every_index_makes_the_same_of_regions_that_move() -> Result<(), impl std::error::Error> {
    const CASES: u32 = 5_000;
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let spaces = Cell::new(0);
    let result =
        TestRunner::new(config).run(&(prop_oneof![Just(0u8), Just(12)], moving_runs()), |(granule, runs)| {
            let bytes = [&[2 * 72 + granule], &runs[..]].concat();
            spaces.set(spaces.get() + u32::from(fuzz_kva_restore(&bytes)));
            Ok(())
        });
    let others = CASES - spaces.get();
    assert!(spaces.get() > CASES / 10 && others > CASES / 10, "{} were spaces", spaces.get());
    result
}

#[test]
fn a_space_can_be_written_by_the_description_alone() {
    // A page free, a page of a region with the value 7.
    let bytes = framed_runs(1, 12, &[1, 0, 2, 0, 0, 1, 7]);
    let decode = |value: &[u8]| <[u8; 1]>::try_from(value);
    let space: freehold::kva::AddressSpace<[u8; 1]> =
        freehold::kva::AddressSpace::from_bytes(&bytes, Default::default(), decode).unwrap();
    assert_eq!(*space.region_at(0x1fff).unwrap().value(), [7]);
    assert!(space.region_at(0xfff).is_none());
}
