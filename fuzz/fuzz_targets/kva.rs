//! Any bytes as operations on every kva engine that the brute-force model can follow, over as many spans of the tiny space
//! as the engine manages.
#![no_main]

use freehold_models::{Looks, followed, ops_from_bytes, run_ops, spans_managed, tiny_layout};
use freehold_units::Align;

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", followed().filter(|entry| entry.ours).count()),
    |bytes: &[u8]| {
        let ops = ops_from_bytes(bytes);
        for entry in followed() {
            let result = run_ops(entry, &tiny_layout(spans_managed(entry)), Align::PAGE, &ops, Looks::AtDoublings);
            assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
        }
    }
);
