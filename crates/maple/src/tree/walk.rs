//! Going down to an index, and from one leaf to the next.

use super::{Path, Tree};
use crate::entry::Word;
use crate::node::{Leaf, Shape};
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
        self.descend(index, path, probe);
    }

    /// Goes on down from where the path is; at the start, from the root.
    #[inline]
    fn descend(&self, index: u64, path: &mut Path, probe: &mut impl Probe) {
        let (mut first, mut last) = (path.whole.first(), path.whole.last());
        let mut id = match path.steps().last() {
            None => self.root,
            Some(step) => self.inner(step.id).child(step.slot as usize),
        };
        for _ in path.steps().len() + 1..self.height {
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
        self.neighbour(path, true)
    }

    /// Goes on to the last slot of the leaf before. False at the first leaf; the path stays then.
    pub(crate) fn previous_leaf(&self, path: &mut Path) -> bool {
        self.neighbour(path, false)
    }

    fn neighbour(&self, path: &mut Path, up: bool) -> bool {
        let index = if up { path.whole.last().checked_add(1) } else { path.whole.first().checked_sub(1) };
        let Some(index) = index else { return false };
        // The nearest ancestor with a child on that side; below it the way goes along the edge.
        path.pop();
        while let Some(step) = path.last_mut() {
            let len = self.inner(step.id).len();
            let slot = step.slot as usize;
            if up && slot + 1 < len {
                step.slot += 1;
                break;
            }
            if !up && slot > 0 {
                step.slot -= 1;
                break;
            }
            path.pop();
        }
        path.whole = self.child_span(path);
        self.descend(index, path, &mut ());
        true
    }

    /// The indexes of the child that a path that ends at an inner node leads to.
    fn child_span(&self, path: &Path) -> Span {
        let (mut first, mut last) = (0, u64::MAX);
        for step in path.steps() {
            let inner = self.inner(step.id);
            let slot = step.slot as usize;
            if slot > 0 {
                first = inner.pivot(slot - 1) + 1;
            }
            last = last.min(inner.pivot(slot));
        }
        Span::new(first, last).unwrap_or(Span::ALL)
    }

    /// The path's leaf.
    #[inline(always)]
    pub(crate) fn leaf_of(&self, path: &Path) -> &Leaf {
        self.leaf(path.leaf().id)
    }
}
