//! A driven engine whose kind is forgotten: one virtual call for a batch, none for an operation.

use super::Touched;
use freehold::units::{Span, Tally};
use freehold_trace::kva::{Answer, Driver, Engine, Op};
use std::time::Instant;

/// An engine at work.
pub trait Session {
    /// Runs the operations, as fast as they go.
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]);

    /// Runs the operations and notes for each how long it took, one reading of the clock included.
    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]);

    /// Runs one operation and counts its work.
    fn run_counted(&mut self, op: &Op) -> (Answer, Tally);

    /// Runs one operation and counts its work and the cache lines that it touches.
    fn run_touching(&mut self, op: &Op) -> (Answer, Touched);

    /// Names the objects that will be used, so that a timed run asks for no memory on their behalf.
    fn expect_objects(&mut self, objects: u32);

    /// Shows every free block in address order.
    fn free_blocks(&self, visit: &mut dyn FnMut(Span));

    /// Bytes of memory that the engine holds for its own structures.
    fn metadata_bytes(&self) -> usize;

    /// Of these, the bytes that know the free blocks, where that is a structure of its own.
    fn free_index_bytes(&self) -> Option<usize>;

    /// The same engine in the same state; `None` if it cannot be copied.
    fn duplicate(&self) -> Option<Box<dyn Session>>;

    /// Checks the engine's invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

impl<E: Engine + 'static> Session for Driver<E> {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        self.run_batch(ops, answers, &mut ());
    }

    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]) {
        let mut before = Instant::now();
        for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
            *answer = self.run(op, &mut ());
            let after = Instant::now();
            *took = u64::try_from((after - before).as_nanos()).unwrap_or(u64::MAX);
            before = after;
        }
    }

    fn run_counted(&mut self, op: &Op) -> (Answer, Tally) {
        let mut tally = Tally::default();
        let answer = self.run(op, &mut tally);
        (answer, tally)
    }

    fn run_touching(&mut self, op: &Op) -> (Answer, Touched) {
        let mut touched = Touched::default();
        let answer = self.run(op, &mut touched);
        (answer, touched)
    }

    fn expect_objects(&mut self, objects: u32) {
        Self::expect_objects(self, objects);
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.engine().free_blocks(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.engine().metadata_bytes()
    }

    fn free_index_bytes(&self) -> Option<usize> {
        self.engine().free_index_bytes()
    }

    fn duplicate(&self) -> Option<Box<dyn Session>> {
        Some(Box::new(Self::duplicate(self)?))
    }

    fn validate(&self) -> Result<(), String> {
        self.engine().validate()
    }
}
