//! Random operations on small units, on every percpu engine of the list beside the model.

use crate::model::{Looks, percpu_ops_from_bytes, run_percpu_ops, tiny_scene};
use freehold_lab::engine::percpu::ENGINES;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_engine_agrees_with_the_model(
        which in 0u8..4,
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let ops = percpu_ops_from_bytes(&bytes);
        for entry in ENGINES {
            let result = run_percpu_ops(entry, tiny_scene(which), &ops, Looks::AtEach);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every operation is followed by a look at all bits, so that there are few cases.
    #[test]
    fn every_engine_agrees_with_the_model_in_larger_units(
        which in 4u8..16,
        bytes in prop::collection::vec(any::<u8>(), 0..240),
    ) {
        let ops = percpu_ops_from_bytes(&bytes);
        for entry in ENGINES {
            let result = run_percpu_ops(entry, tiny_scene(which), &ops, Looks::AtEach);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}

#[test]
fn the_list_of_engines_is_in_order() {
    assert_eq!(ENGINES.iter().filter(|entry| entry.is_default()).count(), 1, "one engine is the default");
    let names: std::collections::BTreeSet<_> = ENGINES.iter().map(|entry| entry.engine).collect();
    assert_eq!(names.len(), ENGINES.len(), "names are unique");
}
