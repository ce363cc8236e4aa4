//! Any bytes as operations on `rbtree:lowest`, beside the brute-force model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_lab::model::fuzz_kva("rbtree:lowest", 2, bytes));
