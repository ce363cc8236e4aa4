//! Any bytes as a snapshot of a space, and as the runs of one.
#![no_main]

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", freehold_models::PLACEMENTS.len()),
    |bytes: &[u8]| {
        freehold_models::fuzz_kva_restore(bytes);
    }
);
