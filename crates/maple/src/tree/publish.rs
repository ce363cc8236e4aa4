//! Publishing stores in a shared tree: a store is made where no reader is, and appears by one store of a link.
//!
//! ```text
//!   one leaf changes      | inner |            more changes     | inner |
//!                         /   |   \ <- the link                 /   |   \ <- the lowest link above all
//!                     leaf  leaf  leaf'                     leaf  leaf  inner'
//!                                                                      /     \
//!                                                                   leaf'   leaf
//! ```
//!
//! A store over exactly one entry is one store of its word. Most others change one leaf, whose index range stays: a
//! copy of the leaf is changed, and replaces it.
//!
//! The rest are made in a version, a copy of all nodes that change. The topmost copies often differ from their
//! originals in one child only. These copies are freed, and the version is published through the link below them.
//!
//! What the tree no longer uses is handed to the caller, not reused: readers may be there.

use super::path::Step;
use super::version::MOST_PER_LEVEL;
use super::{Base, InnerPool, Memory, NodePool, Path, StoreKind, StorePlan, Subtree, Tree};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Edit, NodeId, SLOTS};
use crate::tree::MOST_WORDS;
use freehold_units::Span;

/// A node or a word that has left the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Retired {
    Leaf(NodeId),
    Inner(NodeId),
    Word(Word),
}

/// How a store is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Publish {
    /// One atomic store of the entry's word.
    Word,
    /// A copied leaf, which neither splits nor is left underfull, published by its parent's link.
    Leaf,
    /// A private version, published by the lowest changed link.
    Version,
}

impl<M: Memory> Tree<M> {
    /// How a planned store is to be published.
    #[inline]
    pub(crate) fn way_of(&self, plan: &StorePlan) -> Publish {
        let (before, after, entries) = match &plan.kind {
            StoreKind::NewRoot | StoreKind::Spanning => return Publish::Version,
            StoreKind::InLeaf(Edit::Exchange(_)) => return Publish::Word,
            StoreKind::InLeaf(Edit::Fill(_)) => return Publish::Leaf,
            StoreKind::InLeaf(Edit::Vacate(edit)) => {
                let leaf = self.leaf_of(&plan.path);
                (leaf.len(), leaf.len() - edit.slots_less(), leaf.entries() as u64 - 1)
            }
            StoreKind::InLeaf(Edit::Replace(edit)) => {
                (edit.slots_before(), edit.slots_after(), edit.entries().1)
            }
        };
        // A leaf that is the root may have any number of entries except none.
        let is_mended = if self.height == 1 { entries == 0 } else { self.limits.underfills(before, after) };
        if !is_mended && after <= self.limits.leaf_slots { Publish::Leaf } else { Publish::Version }
    }

    /// Reserves the node that a store by [`Publish::Leaf`] takes.
    #[inline]
    pub(crate) fn reserve_leaf(&mut self) -> Result<(), OutOfMemory> {
        self.leaves.reserve(1)
    }

    /// The most nodes and words together that a store takes out of the tree, without the subtrees that lie within its
    /// range.
    pub(crate) fn most_around(&self) -> usize {
        MOST_WORDS + 2 * MOST_PER_LEVEL * self.height
    }

    /// The most nodes and words together that lie within a range: each leaf, its words, and no more inner nodes than
    /// leaves.
    pub(crate) fn most_between(&self, span: Span) -> usize {
        let (mut path, mut most) = (Path::new(), 0);
        let mut next = Some(span.first());
        while let Some(index) = next.filter(|&index| index <= span.last()) {
            most += 2 + self.walk(index, &mut path).entries();
            next = path.whole.last().checked_add(1);
        }
        most
    }

    /// Makes a store by [`Publish::Leaf`]: in a copy of its leaf, for which a node is reserved, which then replaces the
    /// leaf. `second` is the second word of an entry that is cut in two. Returns the old leaf. If the leaf is the root,
    /// the caller publishes it.
    #[inline]
    pub(crate) fn store_in_copy(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        second: Option<Word>,
        removed: &mut impl Extend<Word>,
    ) -> NodeId {
        let old = plan.path.leaf().id;
        self.taken += 1;
        let copy = self.leaves.take();
        self.leaves.copy(old, copy);
        plan.path.set_leaf(copy);
        self.commit(plan, entry, |_| second.expect("M7: a cut entry has a second word"), removed);
        match plan.path.above().last() {
            Some(parent) => self.inners.set_child(parent.id, parent.slot as usize, copy),
            None => self.root = copy,
        }
        old
    }

    /// How many nodes of its base the open version has replaced or removed, without those of subtrees that were removed
    /// whole.
    pub(crate) fn gone_len(&self) -> usize {
        self.version.open().map_or(0, |version| version.leaves.gone_len() + version.inners.gone_len())
    }

    /// Publishes the version by a store of one link: the lowest possible, or the root's if `whole` or if there is no
    /// lower one. `set_root` stores the root. Then retires the nodes that only the base has.
    pub(crate) fn publish_version(
        &mut self,
        whole: bool,
        set_root: impl FnOnce(Base),
        retire: &mut impl FnMut(Retired),
    ) {
        #[cfg(test)]
        self.share_equal_copies();
        let lowest = if whole { None } else { self.lowest_link() };
        match lowest {
            Some((step, child)) => self.inners.set_child(step.id, step.slot as usize, child),
            None => set_root(self.base()),
        }
        let Some(version) = self.version.open_mut() else { return };
        version.leaves.commit(|id| retire(Retired::Leaf(id)));
        version.inners.commit(|id| retire(Retired::Inner(id)));
        version.close();
    }

    /// The lowest link of the base that has all of the version's own nodes below it, and the node to store there. Frees
    /// the version's copies of the nodes above, whose originals are in the tree again. `None` if that link is the
    /// root's.
    fn lowest_link(&mut self) -> Option<(Step, NodeId)> {
        let version = self.version.open_mut()?;
        let base = version.base;
        let (mut own, mut old, mut lowest) = (self.root, base.root, None);
        // A node of the version is the child of another if all levels between are its own (M9).
        let levels = if self.height == base.height { self.height } else { 1 };
        for _ in 1..levels {
            let (copy, original) = (&self.inners[own], &self.inners[old]);
            // Equal pivots imply the same number of children.
            if copy.pivots != original.pivots {
                break;
            }
            let mut parted = (0..copy.len()).filter(|&slot| copy.child(slot) != original.child(slot));
            let (Some(slot), None) = (parted.next(), parted.next()) else { break };
            let (child, old_child, gaps) = (copy.child(slot), original.child(slot), copy.gaps);
            if !version.inners.give_copy_back(&mut self.inners, own, old) {
                break;
            }
            for (slot, gap) in gaps.into_iter().enumerate() {
                self.inners.set_gap(old, slot, gap);
            }
            lowest = Some((Step { id: old, slot: slot as u32 }, child));
            (own, old) = (child, old_child);
        }
        if lowest.is_some() {
            self.root = base.root;
        }
        lowest
    }

    /// Retires every node and every word of a removed subtree.
    pub(crate) fn retire_subtree(&self, subtree: Subtree, retire: &mut impl FnMut(Retired)) {
        let Subtree { id, height } = subtree;
        if height == 1 {
            self.leaf(id).words(0..SLOTS).for_each(|word| retire(Retired::Word(word)));
            return retire(Retired::Leaf(id));
        }
        let inner = self.inner(id);
        for slot in 0..inner.len() {
            self.retire_subtree(Subtree { id: inner.child(slot), height: height - 1 }, retire);
        }
        retire(Retired::Inner(id));
    }

    /// Frees a leaf that nobody can reach any more.
    pub(crate) fn reuse_leaf(&mut self, id: NodeId) {
        self.leaves.give_back(id);
    }

    /// Frees an inner node that nobody can reach any more.
    pub(crate) fn reuse_inner(&mut self, id: NodeId) {
        self.inners.give_back(id);
    }
}
