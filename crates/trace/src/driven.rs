//! An engine at work whose kind is forgotten: one virtual call for a batch, none for an operation. What a family's
//! sessions can do beyond this is in a trait of their own.

use crate::Drive;
use freehold_units::Tally;
use std::time::Instant;

/// An engine of some family, which is asked by `Op` and answers by `Answer`.
pub trait Driven<Op, Answer> {
    /// Runs the operations, as fast as they go.
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]);

    /// Runs the operations as [`run`](Self::run) does; how long that took, in nanoseconds. An engine in a process of its own has the
    /// clock read there.
    fn run_clocked(&mut self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        let before = Instant::now();
        self.run(ops, answers);
        u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Runs the operations and notes for each how long it took, one reading of the clock included.
    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]);

    /// Runs one operation as [`run`](Self::run) does, uncounted.
    fn run_one(&mut self, op: &Op) -> Answer;

    /// Runs one operation and counts its work.
    fn run_counted(&mut self, op: &Op) -> (Answer, Tally);

    /// Names the objects that will be used, so that a timed run asks for no memory on their behalf.
    fn expect_objects(&mut self, objects: u32);

    /// Bytes of memory that the engine holds for its own structures.
    fn metadata_bytes(&self) -> usize;

    /// Checks the engine's invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

impl<D: Drive> Driven<D::Op, D::Answer> for D {
    fn run(&mut self, ops: &[D::Op], answers: &mut [D::Answer]) {
        self.run_batch(ops, answers, &mut ());
    }

    fn run_timed(&mut self, ops: &[D::Op], answers: &mut [D::Answer], nanoseconds: &mut [u64]) {
        let mut before = Instant::now();
        for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
            *answer = Drive::run(self, op, &mut ());
            let after = Instant::now();
            *took = u64::try_from((after - before).as_nanos()).unwrap_or(u64::MAX);
            before = after;
        }
    }

    fn run_one(&mut self, op: &D::Op) -> D::Answer {
        Drive::run(self, op, &mut ())
    }

    fn run_counted(&mut self, op: &D::Op) -> (D::Answer, Tally) {
        let mut tally = Tally::default();
        let answer = Drive::run(self, op, &mut tally);
        (answer, tally)
    }

    fn expect_objects(&mut self, objects: u32) {
        Drive::expect_objects(self, objects);
    }

    fn metadata_bytes(&self) -> usize {
        Drive::metadata_bytes(self)
    }

    fn validate(&self) -> Result<(), String> {
        Drive::validate(self)
    }
}
