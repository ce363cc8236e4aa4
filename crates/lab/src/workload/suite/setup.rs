//! What is there before a case's body, operation by operation, and how it is taken away again.

use super::requests::{Draw, ObjectOp, Pairs};
use crate::workload::SplitMix;

/// A setup, its objects named from `first` on.
#[derive(Clone, Debug)]
pub(super) struct Setup<O> {
    first: u32,
    before: Before<O>,
    /// Of a churned setup.
    pairs: Option<Pairs<O>>,
    /// What undoes it, and all that came after it.
    clear: Option<O>,
}

/// What is there before a body.
#[derive(Clone, Copy, Debug)]
pub enum Before<O> {
    /// Nothing.
    Nothing,
    /// Objects that stay.
    Kept {
        /// How many.
        count: u32,
        /// What they ask for.
        draw: Draw<O>,
    },
    /// Objects of which most are freed again.
    Holes(Holes<O>),
    /// Objects, and twice as many times one of them freed and another allocated.
    Churned {
        /// How many.
        count: u32,
        /// What they ask for.
        draw: Draw<O>,
    },
}

/// Objects that stay among holes: of every `of` runs of `run` objects the last one stays, so that the highest hole, too,
/// ends at an object.
#[derive(Clone, Copy, Debug)]
pub struct Holes<O> {
    /// Runs that stay.
    pub(super) kept: u32,
    /// Objects of a run.
    pub(super) run: u32,
    /// Of so many runs one stays.
    pub(super) of: u32,
    /// What they ask for.
    pub(super) draw: Draw<O>,
}

impl<O> Holes<O> {
    /// So many holes, each of one object, and between them as many objects.
    pub(super) fn single(kept: u32, draw: Draw<O>) -> Self {
        Self { kept, run: 1, of: 2, draw }
    }

    fn objects(&self) -> u32 {
        self.kept * self.run * self.of
    }

    fn freed(&self) -> u32 {
        self.kept * self.run * (self.of - 1)
    }

    /// The object that is freed after `at` others, counted from the first.
    fn nth_freed(&self, at: u32) -> u32 {
        let hole = self.run * (self.of - 1);
        at / hole * self.run * self.of + at % hole
    }

    /// The object that stays after `at` others.
    fn nth_kept(&self, at: u32) -> u32 {
        at / self.run * self.run * self.of + self.run * (self.of - 1) + at % self.run
    }
}

impl<O: ObjectOp> Setup<O> {
    pub(super) fn new(before: Before<O>, first: u32, clear: Option<O>) -> Self {
        let pairs = match before {
            Before::Churned { count, draw } => Some(Pairs::new(first, count, draw)),
            _ => None,
        };
        Self { first, before, pairs, clear }
    }

    /// Objects that it names.
    pub(super) fn names(&self) -> u32 {
        match &self.before {
            Before::Nothing => 0,
            Before::Kept { count, .. } | Before::Churned { count, .. } => *count,
            Before::Holes(holes) => holes.objects(),
        }
    }

    /// Operations that it is.
    pub(super) fn len(&self) -> u32 {
        match &self.before {
            Before::Nothing => 0,
            Before::Kept { count, .. } => *count,
            Before::Holes(holes) => holes.objects() + holes.freed(),
            Before::Churned { count, .. } => 5 * count,
        }
    }

    /// The operation after `at` others; `None` after the last.
    pub(super) fn op(&mut self, at: u32, random: &mut SplitMix) -> Option<O> {
        let names = self.names();
        let draw = match &self.before {
            Before::Nothing => return None,
            Before::Kept { draw, .. } | Before::Churned { draw, .. } => *draw,
            Before::Holes(holes) => holes.draw,
        };
        if at < names {
            return Some(draw(self.first + at, random));
        }
        match (&self.before, &mut self.pairs) {
            (Before::Holes(holes), _) => Some(O::free(self.first + holes.nth_freed(at - names))),
            (_, Some(pairs)) => Some(pairs.next_op(random)),
            _ => None,
        }
    }

    /// How many operations undo it. Of a setup that was not `finished` every name is freed.
    pub(super) fn undo_len(&self, finished: bool) -> u32 {
        match &self.before {
            _ if self.clear.is_some() => 1,
            Before::Holes(holes) if finished => holes.objects() - holes.freed(),
            _ => self.names(),
        }
    }

    /// The operation after `at` others that undo it.
    pub(super) fn undo(&self, finished: bool, at: u32) -> O {
        if let Some(clear) = &self.clear {
            return clear.clone();
        }
        let object = match &self.before {
            Before::Holes(holes) if finished => holes.nth_kept(at),
            _ => at,
        };
        O::free(self.first + object)
    }
}
