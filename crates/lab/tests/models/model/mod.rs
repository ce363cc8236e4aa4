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

/// After which operations an engine looks at its own invariants, and its whole content is compared. That takes far longer than an
/// operation.
#[derive(Clone, Copy, Debug)]
pub enum Looks {
    /// After each: the first that breaks something is the one that is named.
    AtEach,
    /// After the last, and whenever there were twice as many: for fuzzing, where the number of inputs counts.
    AtDoublings,
}

impl Looks {
    const fn after(self, ops: usize, of: usize) -> bool {
        match self {
            Self::AtEach => true,
            Self::AtDoublings => ops.is_power_of_two() || ops == of,
        }
    }
}

/// Runs operations step by step. A step is told whether to look at everything.
///
/// # Errors
/// The first step that goes wrong, with the operations up to it as a list to replay.
fn replayed<O>(
    engine: &str,
    ops: &[O],
    looks: Looks,
    listing: impl Fn(&[O]) -> String,
    mut step: impl FnMut(&O, bool) -> Result<(), String>,
) -> Result<(), String> {
    for (at, op) in ops.iter().enumerate() {
        step(op, looks.after(at + 1, ops.len())).map_err(|reason| {
            let list = ops.get(..=at).map(&listing).unwrap_or_default();
            format!("{engine}: {reason}\nat the end of:\n{list}")
        })?;
    }
    Ok(())
}
