//! Any bytes as a snapshot of a space, and as the runs of one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    freehold_models::fuzz_kva_restore(bytes);
});
