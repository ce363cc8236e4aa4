//! Any bytes as operations on every engine with the kernel's range tree calls, beside the model; the first byte says what
//! kind of trees.
#![no_main]

use freehold_models::{Looks, maple_ops_from_bytes, maple_subjects, run_maple_ops};
use freehold_trace::maple::TreeFlags;

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", maple_subjects().filter(|entry| entry.ours).count()),
    |bytes: &[u8]| {
        let Some((&which, bytes)) = bytes.split_first() else { return };
        let ops = maple_ops_from_bytes(bytes);
        let flags = TreeFlags { alloc: which & 1 == 0, rcu: false };
        for entry in maple_subjects() {
            let result = run_maple_ops(&entry, flags, &ops, Looks::AtDoublings);
            assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
        }
    }
);
