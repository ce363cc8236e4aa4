//! What is remembered of a block, and of a chunk's blocks.

use crate::request::Want;

/// A free run of a block: where it starts in the block, and its length in bits, which may pass the block's end.
/// Length 0 is no run. One word: the length above ten bits of start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run(u32);

const START_BITS: u32 = crate::BLOCK_BITS.ilog2();

const _: () = assert!(crate::MAX_UNIT_BYTES / crate::BIT_BYTES <= u32::MAX >> START_BITS);

impl Run {
    pub(super) const NONE: Self = Self(0);

    /// No run is longer.
    pub(super) const LONGEST: Self = Self(u32::MAX);

    #[inline]
    pub(super) const fn new(start: u32, len: u32) -> Self {
        Self(if len == 0 { 0 } else { len << START_BITS | start })
    }

    /// In bits of the block.
    #[inline]
    pub(super) const fn start(self) -> u32 {
        self.0 & ((1 << START_BITS) - 1)
    }

    #[inline]
    pub(super) const fn len(self) -> u32 {
        self.0 >> START_BITS
    }

    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether it is a run, and starts there.
    #[inline]
    pub(super) const fn is_at(self, start: u32) -> bool {
        !self.is_none() && self.start() == start
    }

    #[inline]
    const fn unless_at(self, start: u32) -> Self {
        if self.start() == start { Self::NONE } else { self }
    }

    /// Whether there is room for a request.
    #[inline]
    pub(super) const fn has_room(self, want: &Want) -> bool {
        let skipped = self.start().wrapping_neg() & (want.align - 1);
        self.len() >= want.bits + skipped
    }

    /// Whether it is to be preferred: longer, or as long and better aligned.
    #[inline]
    pub(super) fn beats(self, other: Self) -> bool {
        self.len() > other.len() || (self.len() == other.len() && self.evenness() > other.evenness())
    }

    /// How well its start is aligned, as far as objects ask for it: 4 for 64 bytes and more.
    #[inline]
    pub(super) fn evenness(self) -> u32 {
        (self.start() | 16).trailing_zeros()
    }
}

/// What is known of the runs that start in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    /// The longest.
    pub(super) best: Run,
    /// One of `rest` bits, if it is known where one is.
    pub(super) second: Run,
    /// No run but the best is longer.
    pub(super) rest: u32,
}

impl Runs {
    pub(super) const NONE: Self = Self { best: Run::NONE, second: Run::NONE, rest: 0 };

    /// With one more run.
    #[inline]
    pub(super) fn with(self, run: Run) -> Self {
        if run.beats(self.best) {
            Self { best: run, second: self.best, rest: self.best.len() }
        } else if run.len() >= self.rest {
            Self { second: run, rest: run.len(), ..self }
        } else {
            self
        }
    }

    /// With what is left of the run at `start`, the longer part first; `None` if another is the longest, and it is not
    /// known where.
    #[inline]
    pub(super) fn cut(self, start: u32, longer: Run, shorter: Run) -> Option<Self> {
        if !self.best.is_at(start) {
            return Some(Self { second: self.second.unless_at(start), ..self });
        }
        if self.second.beats(longer) {
            return Some(Self { best: self.second, second: Run::NONE, ..self }.with(longer).with(shorter));
        }
        (longer.len() >= self.rest).then(|| Self { best: longer, ..self }.with(shorter))
    }

    /// With a run that those at `start` and `tail`, if there are, have become part of.
    #[inline]
    pub(super) fn joined(self, start: u32, tail: u32, grown: Run) -> Self {
        let others = Self { second: self.second.unless_at(start).unless_at(tail), ..self };
        if self.best.is_at(start) || self.best.is_at(tail) {
            Self { best: grown, ..others }
        } else {
            others.with(grown)
        }
    }
}

/// What is remembered of a block. The runs change by `Hints::put_runs` alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) runs: Runs,
    /// Length of the free run at the left edge, within the block.
    pub(super) left: u16,
    /// Length of the free run at the right edge, within the block.
    pub(super) right: u16,
    /// The bits that were used when all this was right. Fewer are, if something was freed since.
    pub(super) used: u16,
}

impl Block {
    /// Nothing in it is used; what run it is of starts in a block before.
    pub(super) const FREE: Self =
        Self { runs: Runs::NONE, left: crate::BLOCK_BITS as u16, right: crate::BLOCK_BITS as u16, used: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Bits of the little block that the runs are in.
    const BITS: u32 = 48;

    /// The free runs of a block, one by one, beside what is remembered of them.
    #[derive(Debug)]
    struct Beside {
        all: Vec<Run>,
        runs: Runs,
    }

    impl Beside {
        fn free() -> Self {
            let whole = Run::new(0, BITS);
            Self { all: Vec::from([whole]), runs: Runs::NONE.with(whole) }
        }

        /// Takes the bits if they are free. Where what is left cannot be known, it is looked for as `Hints` would, in
        /// all runs.
        fn take(&mut self, start: u32, end: u32) {
            let holds = |run: &Run| run.start() <= start && end <= run.start() + run.len();
            let Some(at) = self.all.iter().position(holds) else { return };
            let run = self.all.swap_remove(at);
            let (head, tail) =
                (Run::new(run.start(), start - run.start()), Run::new(end, run.start() + run.len() - end));
            let (longer, shorter) = if tail.beats(head) { (tail, head) } else { (head, tail) };
            self.all.extend([head, tail].into_iter().filter(|run| !run.is_none()));
            self.runs = self.runs.cut(run.start(), longer, shorter).unwrap_or_else(|| {
                assert!(self.runs.second.is_none(), "a search with the second known");
                self.all.iter().fold(Runs::NONE, |runs, &run| runs.with(run))
            });
        }

        /// Frees the bits if all are used.
        fn give(&mut self, start: u32, end: u32) {
            if self.all.iter().any(|run| run.start() < end && start < run.start() + run.len()) {
                return;
            }
            let head = self.all.iter().find(|run| run.start() + run.len() == start).map(|run| run.start());
            let tail = self.all.iter().find(|run| run.start() == end).map(|run| run.start() + run.len());
            let (from, to) = (head.unwrap_or(start), tail.unwrap_or(end));
            let grown = Run::new(from, to - from);
            self.all.retain(|run| run.start() < from || to <= run.start());
            self.all.push(grown);
            self.runs = self.runs.joined(from, if tail.is_some() { end } else { u32::MAX }, grown);
        }

        fn check(&self) {
            let Runs { best, second, rest } = self.runs;
            let longest = self.all.iter().map(|run| run.len()).max().unwrap_or(0);
            assert!(best.len() == longest && (best.is_none() || self.all.contains(&best)), "{self:?}");
            let others = self.all.iter().filter(|run| **run != best).map(|run| run.len()).max();
            assert!(others.unwrap_or(0) <= rest, "{self:?}");
            let known = self.all.contains(&second) && second != best && second.len() == rest;
            assert!(second.is_none() || known, "{self:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_true_of_all_runs(
            changes in prop::collection::vec((any::<bool>(), 0..BITS, 1u32..8), 0..200),
        ) {
            let mut beside = Beside::free();
            for (take, start, len) in changes {
                let end = (start + len).min(BITS);
                if take { beside.take(start, end) } else { beside.give(start, end) }
                beside.check();
            }
        }
    }
}
