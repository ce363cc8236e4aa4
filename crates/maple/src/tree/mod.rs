//! The tree of words, whatever the words stand for.
//!
//! ```text
//!   root ->                |        inner         |               height 3
//!                        /           |            \
//!                  | inner |     | inner |      | inner |         height 2
//!                  /   |   \                    /   |   \
//!               leaf  leaf  leaf     ...     leaf  leaf  leaf     height 1
//! ```
//!
//! A tree without entries has no node. A change is planned ([`Tree::plan`]), and its nodes are reserved, before it is
//! made. So the change itself cannot fail. Words that leave the tree are handed over as [`Words`] and [`Subtrees`] once
//! the tree is whole again; the map drops their values.

mod build;
mod edge;
mod entry_cursor;
mod gaps;
mod leaves;
mod memory;
mod merging;
#[cfg(all(test, feature = "std"))]
mod mutant;
mod path;
#[cfg(feature = "std")]
mod publish;
mod removed;
mod search;
mod slot_pos;
mod slots;
mod spanning;
mod split;
mod store;
mod underfull;
mod validate;
mod version;
mod walk;

pub(crate) use build::Builder;
pub(crate) use entry_cursor::EntryCursor;
#[cfg(feature = "std")]
pub(crate) use leaves::{LeafAt, Leaves, ReadLeaf};
pub(crate) use memory::{InPlace, InnerPool, LeafPool, Memory, NodePool, Numbers};
#[cfg(all(test, feature = "std"))]
pub(crate) use mutant::SHARES_EQUAL_COPIES;
#[cfg(feature = "std")]
pub(crate) use path::MAX_HEIGHT;
pub(crate) use path::Path;
#[cfg(feature = "std")]
pub(crate) use publish::{Publish, Retired};
pub(crate) use removed::{MOST_SUBTREES_PER_LEVEL, MOST_WORDS, Subtree, Subtrees, Words};
pub(crate) use search::CheckedRequest;
pub(crate) use slot_pos::SlotPos;
pub(crate) use slots::Slots;
pub(crate) use spanning::fork;
pub(crate) use store::{StoreKind, StorePlan, replace_edit};

use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Extent, Inner, Leaf, NONE, NodeId, NodeLimits, NoneInline, Pool, PoolNode};
use freehold_units::Span;
pub(crate) use version::Base;
use version::Versions;

/// The direction of a walk or a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To higher indexes; among several places, the lowest.
    Up,
    /// To lower indexes; among several places, the highest.
    Down,
}

/// A number of nodes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) leaves: usize,
    pub(crate) inners: usize,
}

impl Need {
    pub(crate) const fn nodes(self) -> usize {
        self.leaves + self.inners
    }
}

/// The index range of a node or a slot, which has at least one index.
#[inline]
pub(crate) fn indexes(first: u64, last: u64) -> Span {
    Span::new(first, last).expect("M1: no slot and no node is empty")
}

#[derive(Debug)]
pub(crate) struct Tree<M: Memory = InPlace> {
    root: NodeId,
    /// Levels: 0 if there is no node, 1 if the root is a leaf.
    height: usize,
    /// Entries.
    len: u64,
    leaves: M::Leaves,
    inners: M::Inners,
    /// Nodes taken since the tree was made. Never decreases.
    taken: u64,
    version: Versions<M>,
    limits: NodeLimits,
}

impl Tree {
    pub(crate) const fn new(limits: NodeLimits) -> Self {
        Self::of_pools(limits, Pool::new([Leaf::VACANT]), Pool::new(NoneInline))
    }
}

impl<M: Memory> Tree<M> {
    /// An empty tree with these pools.
    pub(crate) const fn of_pools(limits: NodeLimits, leaves: M::Leaves, inners: M::Inners) -> Self {
        Self { root: NONE, height: 0, len: 0, leaves, inners, taken: 0, version: Versions::new(), limits }
    }

    /// The root, height and length of the tree.
    pub(crate) fn base(&self) -> Base {
        Base { root: self.root, height: self.height, len: self.len }
    }

    /// The same, without the changes of an open version.
    #[cfg(feature = "std")]
    pub(crate) fn published(&self) -> Base {
        self.version.open().map_or_else(|| self.base(), |version| version.base)
    }

    /// The number of slots and children that its nodes use.
    pub(crate) const fn limits(&self) -> NodeLimits {
        self.limits
    }

    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Entries.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Nodes in use.
    pub(crate) fn nodes(&self) -> Need {
        Need { leaves: self.leaves.in_use(), inners: self.inners.in_use() }
    }

    /// Nodes taken since the tree was made, without those that a copy began with.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes of memory held for nodes.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.bytes() + self.inners.bytes()
    }

    /// Limits the nodes of each kind that are in use from now on.
    pub(crate) fn set_limit(&mut self, leaves: usize, inners: usize) {
        self.leaves.set_limit(leaves);
        self.inners.set_limit(inners);
    }

    #[inline]
    pub(crate) fn leaf(&self, id: NodeId) -> &Leaf {
        &self.leaves[id]
    }

    #[inline]
    pub(crate) fn inner(&self, id: NodeId) -> &Inner {
        &self.inners[id]
    }

    /// A leaf for a change. In a version, it is the version's own.
    #[inline]
    fn leaf_mut(&mut self, id: NodeId) -> &mut Leaf {
        debug_assert!(self.version.may_change_leaf(id), "M9: a leaf is thawed");
        &mut self.leaves[id]
    }

    /// An inner node for a change. In a version, it is the version's own.
    #[inline]
    fn inner_mut(&mut self, id: NodeId) -> &mut Inner {
        debug_assert!(self.version.may_change_inner(id), "M9: a node is thawed");
        &mut self.inners[id]
    }

    /// Records the longest gap below a child, in a node that others may read. In a version, it is the version's own.
    #[inline]
    fn set_gap(&mut self, id: NodeId, slot: usize, gap: Extent) {
        debug_assert!(self.version.may_change_inner(id), "M9: a node is thawed");
        self.inners.set_gap(id, slot, gap);
    }

    /// Replaces an entry's word, in a leaf that others may read. In a version, it is the version's own.
    #[inline]
    fn set_word(&mut self, id: NodeId, slot: usize, word: Word) {
        debug_assert!(self.version.may_change_leaf(id), "M9: a leaf is thawed");
        self.leaves.set_word(id, slot, word);
    }

    #[inline(never)]
    pub(crate) fn reserve_nodes(&mut self, need: Need) -> Result<(), OutOfMemory> {
        self.leaves.reserve(need.leaves)?;
        self.inners.reserve(need.inners)
    }

    fn new_leaf(&mut self, fill: impl FnOnce(&mut Leaf)) -> NodeId {
        self.taken += 1;
        let id = self.leaves.take();
        fill(&mut self.leaves[id]);
        if let Some(version) = self.version.open_mut() {
            version.leaves.took(id);
        }
        id
    }

    fn new_inner(&mut self, inner: Inner) -> NodeId {
        self.taken += 1;
        let id = self.inners.take();
        self.inners[id] = inner;
        if let Some(version) = self.version.open_mut() {
            version.inners.took(id);
        }
        id
    }

    /// Empties the tree, and returns its nodes.
    pub(crate) fn take_root(&mut self) -> Option<Subtree> {
        let subtree = Subtree { id: self.root, height: self.height as u8 };
        (self.height > 0).then(|| {
            self.root = NONE;
            self.height = 0;
            self.len = 0;
            subtree
        })
    }

    /// Frees a leaf whose entries are elsewhere.
    fn free_leaf(&mut self, id: NodeId) {
        match self.version.open_mut() {
            Some(version) => version.leaves.leave(&mut self.leaves, id),
            None => self.leaves.give_back(id),
        }
    }

    /// Frees an inner node whose children are elsewhere.
    fn free_inner(&mut self, id: NodeId) {
        match self.version.open_mut() {
            Some(version) => version.inners.leave(&mut self.inners, id),
            None => self.inners.give_back(id),
        }
    }
}

impl Tree {
    /// Empties the tree, without a look at its words. All nodes in use are its own: no version is open.
    pub(crate) fn vacate(&mut self) {
        debug_assert!(self.version.open().is_none(), "M9: a version's base keeps its nodes");
        if self.take_root().is_some() {
            self.leaves.vacate();
            self.inners.vacate();
        }
    }

    /// A copy with the same words, which it does not own yet.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        if self.version.open().is_some() { self.rebuilt() } else { self.copied() }
    }

    /// Replaces each word, ascending. If `other` panics, the words so far leak.
    pub(crate) fn replace_words(&mut self, mut other: impl FnMut(Word) -> Word) {
        let mut path = Path::new();
        let mut next = (self.height > 0).then_some(0);
        while let Some(index) = next {
            self.walk(index, &mut path);
            self.leaves[path.leaf().id].replace_words(&mut other);
            next = path.whole.last().checked_add(1);
        }
    }

    /// The same nodes with the same words.
    fn copied(&self) -> Result<Self, OutOfMemory> {
        let (leaves, inners) = (self.leaves.try_clone()?, self.inners.try_clone()?);
        let Self { root, height, len, limits, .. } = *self;
        Ok(Self { root, height, len, leaves, inners, taken: 0, version: Versions::new(), limits })
    }

    /// The same words in new nodes, without those of a transaction's base.
    #[cold]
    fn rebuilt(&self) -> Result<Self, OutOfMemory> {
        let mut copy = Builder::new(self.limits);
        for (span, word) in self.entries_from(0) {
            copy.push(span, word)?;
        }
        copy.end()?;
        Ok(Self { taken: 0, ..copy.take_tree() })
    }
}
