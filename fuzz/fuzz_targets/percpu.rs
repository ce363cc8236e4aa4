//! Any bytes as operations on every percpu engine of the list, beside the model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_percpu(bytes));
