//! Any bytes as operations on a map of ranges, of small nodes and of full ones, beside the model of its own tests.
#![no_main]

#[path = "../../crates/maple/tests/common/mod.rs"]
mod common;

use common::ops::ops_from_bytes;
use common::world::run;
use freehold_maple::Nodes;

/// The nodes of each map, and how many indexes operations are about.
const NODES: [(Nodes, u64); 2] = [(Nodes::Small, 40), (Nodes::Full, 200)];

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", NODES.len()),
    |bytes: &[u8]| {
        for (nodes, width) in NODES {
            run(nodes, &ops_from_bytes(bytes, width), width);
        }
    }
);
