//! Any bytes as operations on every percpu engine of the list, beside the model; the first byte sets the scene. In large units an input
//! takes up to a thousand times as long as in small ones, so few first bytes are of large ones.
#![no_main]

use freehold_lab::engine::percpu::ENGINES;
use freehold_models::{Looks, percpu_ops_from_bytes, run_percpu_ops, tiny_scene};

/// First bytes from here on are of all kinds of units.
const ALL_UNITS: u8 = 240;

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", ENGINES.iter().filter(|entry| entry.ours).count()),
    |bytes: &[u8]| {
        let Some((&which, bytes)) = bytes.split_first() else { return };
        let scene = tiny_scene(if which < ALL_UNITS { which & 7 } else { which });
        let ops = percpu_ops_from_bytes(bytes);
        for entry in ENGINES {
            let result = run_percpu_ops(entry, scene, &ops, Looks::AtDoublings);
            assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
        }
    }
);
