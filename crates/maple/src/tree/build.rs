//! Builds a tree from entries in ascending order: each leaf is filled before the next one begins.
//!
//! ```text
//!   edge           | full |  ..  | being filled |
//!                  /                    |       \
//!               | full |  ..       | full |   | leaf |  <- slots come here
//! ```
//!
//! The nodes that a leaf takes on its way into the tree are reserved before its first slot is pushed. So pushed slots
//! can always be put into the tree. At the end, underfull nodes on the right edge are refilled or merged, as after any
//! store.

use super::path::MAX_HEIGHT;
use super::{Need, Path, Tree, indexes};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Child, Extent, Inner, Leaf, NodeId, NodeLimits};
use arrayvec::ArrayVec;
use core::mem;
use freehold_units::Span;

/// A tree that is being built.
#[derive(Debug)]
pub(crate) struct Builder {
    tree: Tree,
    /// The inner nodes of the right edge, lowest first.
    edge: ArrayVec<NodeId, MAX_HEIGHT>,
    /// The leaf that is being filled; it is not in the tree yet.
    leaf: Leaf,
    /// The leaf's first index.
    first: u64,
    /// Longest gap of the leaf that was attached last.
    gap_before: Extent,
    /// The first index after the last slot. `None` after index `u64::MAX`.
    next: Option<u64>,
}

impl Builder {
    pub(crate) fn new(limits: NodeLimits) -> Self {
        Self {
            tree: Tree::new(limits),
            edge: ArrayVec::new(),
            leaf: Leaf::WITHOUT_SLOTS,
            first: 0,
            gap_before: Extent::NONE,
            next: Some(0),
        }
    }

    /// Adds an entry, which begins after all others.
    ///
    /// # Errors
    /// There is no memory for another node; the word is not in the tree then.
    pub(crate) fn push(&mut self, span: Span, word: Word) -> Result<(), OutOfMemory> {
        debug_assert!(self.next.is_some_and(|next| next <= span.first()));
        if let Some(next) = self.next
            && next < span.first()
        {
            self.push_slot(span.first() - 1, None)?;
        }
        self.push_slot(span.last(), Some(word))?;
        self.tree.len += 1;
        Ok(())
    }

    /// Ends the tree with a gap up to `u64::MAX`.
    ///
    /// # Errors
    /// There is no memory for another node.
    pub(crate) fn end(&mut self) -> Result<(), OutOfMemory> {
        if self.tree.len > 0 && self.next.is_some() { self.push_slot(u64::MAX, None) } else { Ok(()) }
    }

    /// The tree of all entries so far. It is valid only after [`end`](Self::end); otherwise it may only be dropped.
    pub(crate) fn take_tree(&mut self) -> Tree {
        if self.leaf.len() > 0 {
            self.attach();
        }
        self.edge.clear();
        let limits = self.tree.limits;
        let mut tree = mem::replace(&mut self.tree, Tree::new(limits));
        if tree.height > 0 {
            let mut path = Path::new();
            tree.walk(u64::MAX, &mut path);
            tree.refresh_gaps(&path);
            tree.fix_underfull_path(u64::MAX);
        }
        tree
    }

    fn push_slot(&mut self, last: u64, entry: Option<Word>) -> Result<(), OutOfMemory> {
        if self.leaf.len() == self.tree.limits.leaf_slots {
            self.attach();
        }
        if self.leaf.len() == 0 {
            self.tree.reserve_nodes(self.need())?;
            self.first = self.next.expect("M1: a slot begins behind the one before it");
        }
        self.leaf.push(self.last(), entry);
        self.next = last.checked_add(1);
        Ok(())
    }

    /// The last slot's last index.
    fn last(&self) -> u64 {
        self.next.map_or(u64::MAX, |next| next.wrapping_sub(1))
    }

    /// The nodes that one more leaf takes.
    fn need(&self) -> Need {
        let full =
            self.edge.iter().take_while(|&&id| self.tree.inner(id).len() == self.tree.limits.fanout).count();
        let grows = self.tree.height > 0 && full == self.edge.len();
        Need { leaves: 1, inners: full + usize::from(grows) }
    }

    /// Attaches the leaf to the tree.
    fn attach(&mut self) {
        let last = self.last();
        let leaf = mem::replace(&mut self.leaf, Leaf::WITHOUT_SLOTS);
        let gap = leaf.largest_gap(indexes(self.first, last));
        let mut gap_left = mem::replace(&mut self.gap_before, gap);
        let tree = &mut self.tree;
        let fanout = tree.limits.fanout;
        let id = tree.new_leaf(|place| *place = leaf);
        if tree.height == 0 {
            tree.set_root(id, 1);
            return;
        }
        // `last` is the end of its predecessor, on every level.
        let mut child = Child { id, gap, last: self.first.wrapping_sub(1) };
        for edge in &mut self.edge {
            let inner = tree.inner_mut(*edge);
            let slot = inner.len() - 1;
            inner.set_gap(slot, gap_left);
            if inner.len() < fanout {
                inner.insert_after(slot, child.last, child.id, child.gap);
                return;
            }
            gap_left = inner.largest_gap();
            child.id = tree.new_inner(Inner::from_children(&[child]));
            *edge = child.id;
        }
        let old_root = Child { id: tree.root, gap: gap_left, last: child.last };
        let root = tree.new_inner(Inner::from_children(&[old_root, child]));
        tree.set_root(root, tree.height + 1);
        self.edge.push(root);
    }
}
