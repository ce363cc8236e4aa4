//! Random operations on a tiny space, on every engine that the brute-force model can follow.

use crate::model::{Looks, followed, ops_from_bytes, run_ops, spans_managed, tiny_layout};
use freehold::units::Align;
use freehold_lab::engine::{ENGINES, EngineEntry, VARIANTS};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_engine_agrees_with_brute_force(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let ops = ops_from_bytes(&bytes);
        for entry in followed() {
            let result = run_ops(entry, &tiny_layout(spans_managed(entry)), Align::PAGE, &ops, Looks::AtEach);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}

#[test]
fn the_list_of_engines_is_in_order() {
    let defaults: Vec<_> = ENGINES.iter().filter(|entry| entry.is_default()).collect();
    assert_eq!(defaults.len(), 1, "one engine is the default");
    let labels: std::collections::BTreeSet<_> =
        ENGINES.iter().chain(VARIANTS).map(EngineEntry::label).collect();
    assert_eq!(labels.len(), ENGINES.len() + VARIANTS.len(), "names are unique");
}
