//! Going down to an index, and from one leaf to the next.

use super::{Path, Tree};
use crate::entry::Word;
use crate::node::{Leaf, NodeId, Shape};
use freehold_units::{Probe, Span, Work};

/// A slot of a leaf: an entry or a gap, whole, since gaps are never parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) span: Span,
    pub(crate) entry: Option<Word>,
}

impl<S: Shape> Tree<S> {
    /// The entry at an index.
    #[inline]
    pub(crate) fn get(&self, index: u64, probe: &mut impl Probe) -> Option<Word> {
        let mut left = self.height;
        if left == 0 {
            return None;
        }
        let mut id = self.root;
        while left > 1 {
            let inner = self.inner(id);
            probe.count(Work::NodeVisited, 1);
            id = inner.child(inner.slot_of(index));
            left -= 1;
        }
        let leaf = self.leaf(id);
        probe.count(Work::NodeVisited, 1);
        leaf.entry(leaf.slot_of(index))
    }

    /// Goes to the leaf that has the index, and to its slot there. The tree has a node.
    #[inline]
    pub(crate) fn walk(&self, index: u64, path: &mut Path, probe: &mut impl Probe) {
        path.clear();
        let (mut first, mut last) = (0, u64::MAX);
        let mut id = self.root;
        for _ in 1..self.height {
            let inner = self.inner(id);
            probe.count(Work::NodeVisited, 1);
            let slot = inner.slot_of(index);
            path.push(id, slot);
            if slot > 0 {
                first = inner.pivot(slot - 1) + 1;
            }
            last = last.min(inner.pivot(slot));
            id = inner.child(slot);
        }
        let leaf = self.leaf(id);
        probe.count(Work::NodeVisited, 1);
        path.push(id, leaf.slot_of(index));
        path.whole = Span::new(first, last).unwrap_or(Span::ALL);
    }

    /// The slot that a path leads to.
    #[inline]
    pub(crate) fn slot(&self, path: &Path) -> Slot {
        self.slot_at(path, path.leaf().slot as usize)
    }

    /// Another slot of the path's leaf.
    #[inline]
    pub(crate) fn slot_at(&self, path: &Path, slot: usize) -> Slot {
        let leaf = self.leaf(path.leaf().id);
        let (first, last) = leaf.span(slot, path.whole);
        Slot { span: Span::new(first, last).unwrap_or(path.whole), entry: leaf.entry(slot) }
    }

    /// The range that holds an index: an entry's, or the whole gap.
    pub(crate) fn slot_of(&self, index: u64, probe: &mut impl Probe) -> Slot {
        if self.height == 0 {
            return Slot { span: Span::ALL, entry: None };
        }
        let mut path = Path::new();
        self.walk(index, &mut path, probe);
        self.slot(&path)
    }

    /// Goes on to the first slot of the next leaf. False at the last leaf; the path stays then.
    pub(crate) fn next_leaf(&self, path: &mut Path) -> bool {
        let Some(first) = path.whole.last().checked_add(1) else { return false };
        // The nearest ancestor with a child behind the path's; below it the way goes along the low edge.
        path.pop();
        while let Some(step) = path.last_mut() {
            if step.slot as usize + 1 < self.inner(step.id).len() {
                step.slot += 1;
                break;
            }
            path.pop();
        }
        let mut last = self.last_of_child(path);
        let mut id = self.child_of(path);
        for _ in path.steps().len() + 1..self.height {
            let inner = self.inner(id);
            path.push(id, 0);
            last = last.min(inner.pivot(0));
            id = inner.child(0);
        }
        path.push(id, 0);
        path.whole = Span::new(first, last).unwrap_or(Span::ALL);
        true
    }

    /// Goes on to the last slot of the leaf before. False at the first leaf; the path stays then.
    pub(crate) fn previous_leaf(&self, path: &mut Path) -> bool {
        let Some(last) = path.whole.first().checked_sub(1) else { return false };
        path.pop();
        while let Some(step) = path.last_mut() {
            if step.slot > 0 {
                step.slot -= 1;
                break;
            }
            path.pop();
        }
        let mut id = self.child_of(path);
        for _ in path.steps().len() + 1..self.height {
            let inner = self.inner(id);
            path.push(id, inner.len() - 1);
            id = inner.child(inner.len() - 1);
        }
        let starts = path.steps().iter().rev().filter(|step| step.slot > 0);
        let first = starts.map(|step| self.inner(step.id).pivot(step.slot as usize - 1) + 1).next();
        path.push(id, self.leaf(id).len() - 1);
        path.whole = Span::new(first.unwrap_or(0), last).unwrap_or(Span::ALL);
        true
    }

    /// The child that a path that ends at an inner node leads to.
    fn child_of(&self, path: &Path) -> NodeId {
        let step = path.leaf();
        self.inner(step.id).child(step.slot as usize)
    }

    /// The last index of that child: what the nearest ancestor says in which the way does not go to the last.
    fn last_of_child(&self, path: &Path) -> u64 {
        let pivots = path.steps().iter().rev().map(|step| self.inner(step.id).pivot(step.slot as usize));
        pivots.into_iter().find(|&last| last != u64::MAX).unwrap_or(u64::MAX)
    }

    /// The path's leaf.
    #[inline(always)]
    pub(crate) fn leaf_of(&self, path: &Path) -> &Leaf {
        self.leaf(path.leaf().id)
    }
}
