//! The path from the root to a leaf. Nodes do not know their parents, so whoever changes a leaf holds its path.

use crate::node::NodeId;
use arrayvec::ArrayVec;
use freehold_units::Span;

/// No tree is higher: its nodes have numbers of 32 bits, and inner nodes below the root two children or more.
pub(crate) const MAX_HEIGHT: usize = 33;

/// A node of a path, and the child that the path goes on to; in the leaf, the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) id: NodeId,
    pub(crate) slot: u32,
}

/// Steps from the root to a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// As many as the tree is high.
    steps: ArrayVec<Step, MAX_HEIGHT>,
    /// The leaf's indexes.
    pub(crate) whole: Span,
}

impl Path {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { steps: ArrayVec::new_const(), whole: Span::ALL }
    }

    #[inline]
    pub(crate) fn push(&mut self, id: NodeId, slot: usize) {
        self.steps.push(Step { id, slot: slot as u32 });
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.whole = Span::ALL;
    }

    /// All steps, the leaf's last.
    #[inline]
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The same, to be changed.
    pub(super) fn steps_mut(&mut self) -> &mut [Step] {
        &mut self.steps
    }

    /// The steps above the leaf.
    #[inline]
    pub(crate) fn above(&self) -> &[Step] {
        self.steps.split_last().map_or(&[], |(_, above)| above)
    }

    /// The leaf's step.
    #[inline]
    pub(crate) fn leaf(&self) -> Step {
        *self.steps.last().expect("M3: a path ends in a leaf")
    }

    /// Goes to a copy of the leaf.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn set_leaf(&mut self, id: NodeId) {
        if let Some(step) = self.steps.last_mut() {
            step.id = id;
        }
    }

    /// Goes to another slot of the leaf.
    #[inline]
    pub(crate) fn set_slot(&mut self, slot: usize) {
        if let Some(step) = self.steps.last_mut() {
            step.slot = slot as u32;
        }
    }
}
