//! The marks of a space's carved regions, by which it recognizes a returning sub-space.
//!
//! ```text
//!   parent      marks   | 0x4000, * | 0x9000, - |      by the start of the region
//!                                 |           '- awaits its sub-space: the parent is a copy, or was restored
//!                                 v
//!   sub-space   origin           [ ]                   its identity (`identity.rs`)
//! ```
//!
//! A returning sub-space is the one that was carved if it has the identity in the mark. There are no references between
//! the two.
//!
//! Invariant: K12 marks ascend, and each is the start of a region.

use super::identity::Identity;
use crate::OutOfMemory;
use alloc::vec::Vec;
use freehold_units::{Broken, Span, check};

/// A carved region.
#[derive(Debug)]
struct Mark {
    /// The start of the region.
    first: u64,
    /// The identity of its sub-space; `None` while it awaits one.
    child: Option<Identity>,
}

/// The carved regions of a space. Cost: O(log carved) to look, O(carved) to change.
#[derive(Debug, Default)]
pub(super) struct Carved {
    marks: Vec<Mark>,
}

impl Clone for Carved {
    /// The sub-spaces belong to the original; the regions of the copy await their own.
    fn clone(&self) -> Self {
        let awaiting = |mark: &Mark| Mark { child: None, ..*mark };
        Self { marks: self.marks.iter().map(awaiting).collect() }
    }
}

impl Carved {
    /// Reserves memory for one more mark.
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        self.marks.try_reserve(1).map_err(|_| OutOfMemory)
    }

    fn place(&self, first: u64) -> Result<usize, usize> {
        self.marks.binary_search_by_key(&first, |mark| mark.first)
    }

    /// Whether the region that starts at `first` is carved.
    #[inline]
    pub(super) fn holds(&self, first: u64) -> bool {
        !self.marks.is_empty() && self.finds(first)
    }

    /// Apart from [`holds`](Self::holds), as most spaces have no marks.
    #[cold]
    fn finds(&self, first: u64) -> bool {
        self.place(first).is_ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The lowest start of a carved region in `span`.
    pub(super) fn first_in(&self, span: Span) -> Option<u64> {
        let (Ok(at) | Err(at)) = self.place(span.first());
        self.marks.get(at).map(|mark| mark.first).filter(|&first| first <= span.last())
    }

    /// The sub-space of the region that starts at `first`, if it is carved and does not await one.
    pub(super) fn child(&self, first: u64) -> Option<Identity> {
        self.marks.get(self.place(first).ok()?)?.child
    }

    /// Marks the region that starts at `first` as carved into `child`. Call [`Carved::reserve`] before it.
    pub(super) fn set(&mut self, first: u64, child: Option<Identity>) {
        match self.place(first) {
            Ok(at) => self.marks[at].child = child,
            Err(at) => self.marks.insert(at, Mark { first, child }),
        }
    }

    /// Removes the mark. Returns whether there was one.
    pub(super) fn remove(&mut self, first: u64) -> bool {
        let place = self.place(first);
        place.map(|at| self.marks.remove(at)).is_ok()
    }

    /// Whether the same regions are carved, whatever their sub-spaces.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.marks.iter().map(|mark| mark.first).eq(other.marks.iter().map(|mark| mark.first))
    }

    /// Bytes of memory held, including spare capacity.
    pub(super) fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>()
    }

    /// Checks K12. `starts` returns whether a region starts at an address.
    pub(super) fn validate(&self, starts: impl Fn(u64) -> bool) -> Result<(), Broken> {
        let mut previous = None;
        for mark in &self.marks {
            check(previous < Some(mark.first), "K12", "marks ascend", mark.first)?;
            check(starts(mark.first), "K12", "a mark is the start of a region", mark.first)?;
            previous = Some(mark.first);
        }
        Ok(())
    }
}
