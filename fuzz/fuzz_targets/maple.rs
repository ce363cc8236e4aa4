//! Any bytes as operations on every engine with the kernel's range tree calls, beside the model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_maple(bytes));
