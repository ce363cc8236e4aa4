//! What is there before a case's body, operation by operation, and how it is taken away again.

use super::requests::{Draw, ObjectOp, Pairs};
use crate::workload::SplitMix;

/// Objects, of which all stay, or of every `of` runs of `run` objects the last: so the highest hole, too, ends at an object.
/// Then pairs of a free of any object and an allocation in its place.
#[derive(Clone, Copy, Debug)]
pub struct Before<O> {
    /// Runs that stay.
    kept: u32,
    run: u32,
    of: u32,
    pairs: u32,
    /// What the objects ask for.
    pub(super) draw: Draw<O>,
}

impl<O: ObjectOp> Before<O> {
    /// So many objects that stay.
    pub(super) fn kept(count: u32, draw: Draw<O>) -> Self {
        Self::holes(count, 1, 1, draw)
    }

    /// So many runs that stay, and a hole before each.
    pub(super) fn holes(kept: u32, run: u32, of: u32, draw: Draw<O>) -> Self {
        Self { kept, run, of, pairs: 0, draw }
    }

    /// So many objects, and twice as many pairs.
    pub(super) fn churned(count: u32, draw: Draw<O>) -> Self {
        Self { pairs: 2 * count, ..Self::kept(count, draw) }
    }

    /// Objects that it names.
    pub(super) fn names(&self) -> u32 {
        self.kept * self.run * self.of
    }

    /// Operations that it is.
    pub(super) fn len(&self) -> u32 {
        self.names() + (self.names() - self.undo_len(true)) + 2 * self.pairs
    }

    /// The operation after `at` others, of objects named from `first` on.
    pub(super) fn op(&self, first: u32, at: u32, pairs: &mut Pairs<O>, random: &mut SplitMix) -> O {
        match at.checked_sub(self.names()) {
            None => (self.draw)(first + at, random),
            Some(_) if self.pairs > 0 => pairs.next_op(random),
            Some(at) => {
                let hole = self.run * (self.of - 1);
                O::free(first + at / hole * self.run * self.of + at % hole)
            }
        }
    }

    /// How many frees undo it. Of a setup that was not `finished` every name is freed.
    pub(super) fn undo_len(&self, finished: bool) -> u32 {
        if finished { self.kept * self.run } else { self.names() }
    }

    /// The object that is freed after `at` others.
    pub(super) fn undone(&self, finished: bool, at: u32) -> u32 {
        if finished { (at / self.run + 1) * self.run * self.of - self.run + at % self.run } else { at }
    }
}
