//! An engine that is benched: it runs operations as `replay` does, and where its objects are is checked against what any
//! allocator must do: each aligned, within its unit, and apart from the others.

use crate::engine::percpu::{EngineEntry, Session};
use crate::family::Entry;
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::{Answer, Op};
use std::time::Instant;

/// Where a live object is: its chunk, its first byte and one past its last; and the alignment that was asked for.
type Placed = (u32, u64, u64, Align);

/// An engine, and where its live objects are.
pub struct Bench {
    /// The engine at work.
    pub session: Box<dyn Session>,
    entry: EngineEntry,
    unit_bytes: u64,
    /// By name.
    placed: Vec<Option<Placed>>,
    answers: Vec<Answer>,
}

impl Bench {
    /// A fresh engine, whose work for later is never done, for objects that are named below `objects`.
    ///
    /// # Errors
    /// The engine cannot be made.
    pub fn new(entry: &EngineEntry, config: &Config, objects: usize) -> Result<Self, String> {
        let mut session = (entry.make)(config, false)?;
        session.expect_objects(u32::try_from(objects).map_err(|_| "too many objects")?);
        let unit_bytes = u64::from(config.unit_bytes);
        Ok(Self { session, entry: *entry, unit_bytes, placed: vec![None; objects], answers: Vec::new() })
    }

    /// Runs operations. Returns the nanoseconds of one.
    ///
    /// # Errors
    /// Some of them failed.
    pub fn run(&mut self, ops: &[Op]) -> Result<f64, String> {
        self.answers.resize(ops.len(), Answer::default());
        let before = Instant::now();
        self.session.run(ops, &mut self.answers);
        let took = before.elapsed();
        let mut failed = 0;
        for (op, answer) in ops.iter().zip(&self.answers) {
            let place = match (*op, *answer) {
                (Op::Alloc { size_bytes, align, .. }, Answer::At { chunk, offset_bytes }) => {
                    let end = offset_bytes + size_bytes.next_multiple_of(self.entry.grain_bytes);
                    Some((chunk, offset_bytes, end, align))
                }
                (Op::Free { .. }, Answer::Freed) => None,
                _ => {
                    failed += 1;
                    None
                }
            };
            if let Some(slot) = self.placed.get_mut(op.object() as usize) {
                *slot = place;
            }
        }
        if failed > 0 {
            return Err(format!("{}: {failed} of {} operations failed", self.entry.engine, ops.len()));
        }
        Ok(took.as_nanos() as f64 / ops.len().max(1) as f64)
    }

    /// Where the object starts in its units, in bytes, if it is live.
    #[must_use]
    pub fn offset_bytes(&self, object: u32) -> Option<u64> {
        self.placed.get(object as usize).copied().flatten().map(|(_, start, ..)| start)
    }

    /// Checks the engine's invariants, and its objects if it is judged.
    ///
    /// # Errors
    /// What is broken, or which object is where it may not be.
    pub fn check(&self) -> Result<(), String> {
        let engine = self.entry.engine;
        self.session.validate().map_err(|reason| format!("{engine}: {reason}"))?;
        if self.entry.is_floor() {
            return Ok(());
        }
        let mut placed: Vec<Placed> = self.placed.iter().copied().flatten().collect();
        placed.sort_unstable_by_key(|&(chunk, start, ..)| (chunk, start));
        for (at, &(chunk, start, end, align)) in placed.iter().enumerate() {
            if !align.divides(start) {
                return Err(format!(
                    "{engine}: {start} of chunk {chunk} is not a multiple of {}",
                    align.bytes()
                ));
            }
            let next = placed.get(at + 1).filter(|next| next.0 == chunk);
            if end > self.unit_bytes || next.is_some_and(|next| next.1 < end) {
                let reach = "reaches into the next object, or passes the unit";
                return Err(format!("{engine}: {start} to {end} of chunk {chunk} {reach}"));
            }
        }
        Ok(())
    }
}

/// A request for an object that can wait.
#[must_use]
pub(super) fn alloc(object: u32, size_bytes: u32, align: Align) -> Op {
    Op::Alloc { object, size_bytes: size_bytes.into(), align, atomic: false }
}

/// Requests for objects of one size, and their frees.
#[must_use]
pub(super) fn allocs_and_frees(
    objects: std::ops::Range<u32>,
    size_bytes: u32,
    align: Align,
) -> (Vec<Op>, Vec<Op>) {
    let allocs = objects.clone().map(|object| alloc(object, size_bytes, align)).collect();
    (allocs, objects.map(|object| Op::Free { object }).collect())
}
