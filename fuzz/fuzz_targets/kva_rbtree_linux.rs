//! Any bytes as operations on `rbtree:linux`, beside the brute-force model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_kva("rbtree:linux", 2, bytes));
