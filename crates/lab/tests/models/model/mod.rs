//! The model that every engine is held against: brute force over a tiny space, one operation at a time, with
//! the engine's own invariants checked after each.
//!
//! A library of its own to the fuzz targets: the same steps serve the random tests, the exhaustive tests and the fuzz targets. Snapshots are held against
//! themselves.

mod kva;
mod maple;
mod percpu;
mod restore;
mod tiny;

pub use kva::{Model, followed, run_ops, spans_managed};
pub use maple::{maple_ops_from_bytes, maple_subjects, run_maple_ops};
pub use percpu::{percpu_listing, percpu_ops_from_bytes, percpu_step, run_percpu_ops, tiny_scene};
pub use restore::{PLACEMENTS, framed_runs, fuzz_kva_restore};
pub use tiny::{listing, ops_from_bytes, tiny_layout};

/// Runs operations step by step.
///
/// # Errors
/// The first step that goes wrong, with the operations up to it as a list to replay.
fn replayed<O>(
    engine: &str,
    ops: &[O],
    listing: impl Fn(&[O]) -> String,
    mut step: impl FnMut(&O) -> Result<(), String>,
) -> Result<(), String> {
    for (at, op) in ops.iter().enumerate() {
        step(op).map_err(|reason| {
            let list = ops.get(..=at).map(&listing).unwrap_or_default();
            format!("{engine}: {reason}\nat the end of:\n{list}")
        })?;
    }
    Ok(())
}
