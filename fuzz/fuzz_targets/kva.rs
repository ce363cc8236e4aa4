//! Any bytes as operations on every kva engine that the brute-force model can follow.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_kva(bytes));
