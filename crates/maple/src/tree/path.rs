//! The path from the root to a leaf. Nodes do not know their parents, so a change of a leaf carries its path.

use crate::node::NodeId;
use arrayvec::ArrayVec;
use freehold_units::Span;

/// The greatest possible height: nodes have 32-bit numbers, and inner nodes below the root have at least two children.
pub(crate) const MAX_HEIGHT: usize = 33;

/// A node of a path, and the child that the path goes on to, or in the leaf, the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) id: NodeId,
    pub(crate) slot: u32,
}

/// Steps from the root to a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// As many as the tree has levels.
    steps: ArrayVec<Step, MAX_HEIGHT>,
    /// The leaf's index range.
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

    /// All steps; the leaf's is the last.
    #[inline]
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// All steps, mutable.
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

    /// Replaces the leaf by its copy.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn set_leaf(&mut self, id: NodeId) {
        if let Some(step) = self.steps.last_mut() {
            step.id = id;
        }
    }

    /// Selects another slot of the leaf.
    #[inline]
    pub(crate) fn set_slot(&mut self, slot: usize) {
        if let Some(step) = self.steps.last_mut() {
            step.slot = slot as u32;
        }
    }
}
