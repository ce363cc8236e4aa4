//! Any bytes as operations on every kva engine of the list, beside the brute-force model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_kva(bytes));
