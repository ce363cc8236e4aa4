//! What the driver of an engine does, whichever family it is of.

use freehold_units::Probe;

/// Runs operations on an engine, and remembers for it what operations name.
pub trait Drive {
    /// What the family's engines are asked.
    type Op;
    /// What they say to it.
    type Answer;

    /// Runs one operation.
    fn run(&mut self, op: &Self::Op, probe: &mut impl Probe) -> Self::Answer;

    /// Runs the operations in order; `answers[i]` becomes what the engine says to `ops[i]`.
    fn run_batch(&mut self, ops: &[Self::Op], answers: &mut [Self::Answer], probe: &mut impl Probe) {
        for (op, answer) in ops.iter().zip(answers) {
            *answer = self.run(op, probe);
        }
    }

    /// Makes room for objects up to and without `objects`, so that running operations asks for no memory here.
    fn expect_objects(&mut self, objects: u32);

    /// Bytes of memory that the engine holds for its own structures.
    fn metadata_bytes(&self) -> usize;

    /// Checks the engine's invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}
