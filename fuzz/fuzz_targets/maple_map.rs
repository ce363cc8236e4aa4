//! Any bytes as operations on a map of ranges, of small nodes and of full ones, beside the model of its own tests.
#![no_main]

#[path = "../../crates/maple/tests/common/mod.rs"]
mod common;

use common::ops::ops_from_bytes;
use common::world::run;
use freehold_maple::Nodes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    run(Nodes::Small, &ops_from_bytes(bytes, 40), 40);
    run(Nodes::Full, &ops_from_bytes(bytes, 200), 200);
});
