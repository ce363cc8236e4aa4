//! Driven trees whose kind is forgotten: one virtual call for a batch, none for an operation.

use freehold_trace::maple::{Answer, Driver, Engine, Op};

/// Trees with the kernel's calls, at work.
pub trait Trees {
    /// Runs the operations; `answers[i]` becomes what is said to `ops[i]`.
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]);

    /// The current tree's number.
    fn current(&self) -> u32;

    /// Number and digest of a tree's entries, of their values too if `values`.
    fn content(&self, tree: u32, values: bool) -> (u64, u64);

    /// Checks the current tree's invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

impl<E: Engine> Trees for Driver<E> {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        self.run_batch(ops, answers);
    }

    fn current(&self) -> u32 {
        Self::current(self)
    }

    fn content(&self, tree: u32, values: bool) -> (u64, u64) {
        Self::content(self, tree, values)
    }

    fn validate(&self) -> Result<(), String> {
        self.tree().map_or(Ok(()), Engine::validate)
    }
}
