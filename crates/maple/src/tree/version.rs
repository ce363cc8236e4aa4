//! A private version of the tree: the changes of a transaction, until it is committed or dropped.
//!
//! ```text
//!   base   root --------> | inner |          own   root' -------> | inner' |
//!                         /   |   \                               /   |   \
//!                     leaf  leaf  leaf                        leaf  leaf'  leaf
//!                                  \__________ shared ___________/
//! ```
//!
//! The base is the tree as it was when the transaction began. None of its nodes changes.
//!
//! Before a store changes nodes, it makes the paths to them the version's own ([`Tree::thaw`]): each node of such a
//! path that is shared with the base is replaced by a copy, and the links lead to the copies. Changes in place then
//! change copies only.
//!
//! A commit forgets the base's root; an undo returns to it. Neither takes memory, and both are linear in the version's
//! own nodes.
//!
//! # Invariants
//! Only own nodes link to a version's own nodes, or one is its root; the base has none of them (M9).

use super::path::Step;
use super::{
    InnerPool, MOST_SUBTREES_PER_LEVEL, Memory, Need, NodePool, Numbers, Path, StorePlan, Subtree, Subtrees,
    Tree, Words,
};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{NodeId, boxed};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// The most nodes of one level that a store takes or removes. It has two paths, and merges underfull nodes on both with
/// neighbours. It does so at most four times, as each node has at least one slot, and one slot more than a quarter of a
/// node is enough.
pub(super) const MOST_PER_LEVEL: usize = 2 * (4 + 2);

/// The version, after the first transaction. Its memory is kept for the next one.
#[derive(Debug)]
pub(super) struct Versions<M: Memory>(Option<Box<[Version<M>; 1]>>);

/// An open version, and the base that it began from.
#[derive(Debug)]
pub(super) struct Version<M: Memory> {
    /// Whether a transaction is open.
    on: bool,
    pub(super) leaves: OwnNodes<M::Leaves>,
    pub(super) inners: OwnNodes<M::Inners>,
    /// The base.
    pub(super) base: Base,
    /// Subtrees that a map's transaction removed. Kept here and not in the transaction, so that the nodes of a
    /// forgotten transaction are freed in the end, too.
    removed: Vec<Subtree>,
}

/// The root, height and length of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    pub(crate) root: NodeId,
    pub(crate) height: usize,
    /// Entries.
    pub(crate) len: u64,
}

/// The nodes of one kind in which a version differs from its base.
#[derive(Debug)]
pub(super) struct OwnNodes<P> {
    /// A bitmap over the nodes of the pool, in the order of their creation: set for the version's own.
    own: Vec<u64>,
    /// Every node that was taken. A node that was freed and taken again is there twice.
    taken: Vec<NodeId>,
    /// Nodes of the base that the version no longer has.
    gone: Vec<NodeId>,
    pool: PhantomData<fn() -> P>,
}

impl<P: Numbers> OwnNodes<P> {
    const fn new() -> Self {
        Self { own: Vec::new(), taken: Vec::new(), gone: Vec::new(), pool: PhantomData }
    }
    /// Reserves memory for a store that takes or removes at most `most` nodes, of a pool of `nodes`.
    fn reserve(&mut self, most: usize, nodes: usize) -> Result<(), OutOfMemory> {
        self.taken.try_reserve(most)?;
        self.gone.try_reserve(most)?;
        let words = nodes.div_ceil(64);
        self.own.try_reserve(words.saturating_sub(self.own.len()))?;
        self.own.resize(words.max(self.own.len()), 0);
        Ok(())
    }

    /// Whether a node is the version's own.
    pub(super) fn has(&self, id: NodeId) -> bool {
        let number = P::number(id);
        self.own.get(number / 64).is_some_and(|bits| bits >> (number % 64) & 1 != 0)
    }

    fn forget(&mut self, id: NodeId) {
        let number = P::number(id);
        self.own[number / 64] &= !(1 << (number % 64));
    }

    /// Records that a node was taken.
    pub(super) fn took(&mut self, id: NodeId) {
        debug_assert!(
            self.taken.len() < self.taken.capacity(),
            "M9: memory for what a store takes is reserved"
        );
        let number = P::number(id);
        self.own[number / 64] |= 1 << (number % 64);
        self.taken.push(id);
    }

    /// Removes a node whose content is elsewhere from the version. It is vacant at once if it is the version's own.
    pub(super) fn leave<N>(&mut self, pool: &mut P, id: NodeId)
    where
        P: NodePool<N>,
    {
        if self.has(id) {
            self.forget(id);
            pool.give_back(id);
        } else {
            debug_assert!(
                self.gone.len() < self.gone.capacity(),
                "M9: memory for what a store removes is reserved"
            );
            self.gone.push(id);
        }
    }

    /// The version's own copy of a node that is shared with the base.
    fn copy<N>(&mut self, pool: &mut P, id: NodeId) -> NodeId
    where
        P: NodePool<N>,
    {
        let copy = pool.take();
        pool.copy(id, copy);
        self.took(copy);
        self.leave(pool, id);
        copy
    }

    /// The version becomes the tree: the nodes that only the base has are passed to `gone`.
    pub(super) fn commit(&mut self, gone: impl FnMut(NodeId)) {
        while let Some(id) = self.taken.pop() {
            self.forget(id);
        }
        self.gone.drain(..).for_each(gone);
    }

    /// Frees a copy that equals its original, which is in the version again. Returns `false`, and changes nothing, if
    /// the two are not copy and original.
    #[cfg(feature = "std")]
    pub(super) fn give_copy_back<N>(&mut self, pool: &mut P, copy: NodeId, original: NodeId) -> bool
    where
        P: NodePool<N>,
    {
        let place = self.gone.iter().position(|&id| id == original).filter(|_| self.has(copy));
        let Some(place) = place else { return false };
        self.gone.swap_remove(place);
        self.forget(copy);
        pool.give_back(copy);
        true
    }

    #[cfg(all(test, feature = "std"))]
    pub(super) fn gone(&self) -> &[NodeId] {
        &self.gone
    }

    /// The number of nodes of the base that the version no longer has.
    #[cfg(feature = "std")]
    pub(super) fn gone_len(&self) -> usize {
        self.gone.len()
    }

    /// Returns to the base: the version's own nodes are vacant.
    fn undo<N>(&mut self, pool: &mut P)
    where
        P: NodePool<N>,
    {
        while let Some(id) = self.taken.pop() {
            if self.has(id) {
                self.forget(id);
                pool.give_back(id);
            }
        }
        self.gone.clear();
    }
}

impl<M: Memory> Version<M> {
    const fn new() -> Self {
        let base = Base { root: 0, height: 0, len: 0 };
        Self { on: false, leaves: OwnNodes::new(), inners: OwnNodes::new(), base, removed: Vec::new() }
    }

    /// Ends the transaction.
    pub(super) fn close(&mut self) {
        self.on = false;
    }
}

impl<M: Memory> Versions<M> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// The open version; `None` if no transaction is open.
    #[inline]
    pub(super) fn open(&self) -> Option<&Version<M>> {
        self.0.as_deref().map(|[version]| version).filter(|version| version.on)
    }

    /// Whether a leaf may be changed: no version is open, or it is the version's own.
    pub(super) fn may_change_leaf(&self, id: NodeId) -> bool {
        self.open().is_none_or(|version| version.leaves.has(id))
    }

    /// Whether an inner node may be changed, as [`may_change_leaf`](Self::may_change_leaf).
    pub(super) fn may_change_inner(&self, id: NodeId) -> bool {
        self.open().is_none_or(|version| version.inners.has(id))
    }

    /// The open version, mutable.
    #[inline]
    pub(super) fn open_mut(&mut self) -> Option<&mut Version<M>> {
        self.0.as_deref_mut().map(|[version]| version).filter(|version| version.on)
    }
}

impl<M: Memory> Tree<M> {
    /// Plans a store in a version of the tree, and reserves all memory that it takes.
    pub(crate) fn plan_in_version(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        self.plan(plan, entry);
        self.reserve_in_version(plan)
    }

    /// Makes a store that was planned in the open version. `duplicate` makes the second word of an entry that is cut in
    /// two.
    pub(crate) fn store_in_version(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        duplicate: impl FnOnce(Word) -> Word,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        if plan.is_spanning() {
            self.commit_spanning(plan, entry, words, subtrees);
        } else {
            self.thaw(&mut plan.path);
            self.commit(plan, entry, duplicate, words);
        }
    }

    /// Reserves all memory that a planned store takes in a version of the tree: for its nodes, for copies of nodes, and
    /// for the lists of both. The first call opens the version.
    pub(crate) fn reserve_in_version(&mut self, plan: &StorePlan) -> Result<(), OutOfMemory> {
        // On each level: the node of each path that changes, and a neighbour that is merged with an underfull one.
        let paths = if plan.is_spanning() { 2 } else { 1 };
        let need = Need {
            leaves: plan.need.leaves + 2 * paths,
            inners: plan.need.inners + 2 * paths * self.height.saturating_sub(1),
        };
        self.reserve_nodes(need)?;
        let base = self.base();
        let [version] = match &mut self.version.0 {
            Some(version) => &mut **version,
            none => &mut **none.insert(boxed([Version::new()])?),
        };
        version.leaves.reserve(plan.need.leaves + MOST_PER_LEVEL, self.leaves.made())?;
        version.inners.reserve(plan.need.inners + MOST_PER_LEVEL * self.height, self.inners.made())?;
        if !version.on {
            version.on = true;
            version.base = base;
        }
        Ok(())
    }

    /// Makes the nodes of a path the version's own. The path then leads to the copies. Other paths through the same
    /// nodes have to be thawed, too, before they are used.
    #[inline]
    pub(crate) fn thaw(&mut self, path: &mut Path) {
        if self.version.open().is_some() {
            self.thaw_nodes(path);
        }
    }

    /// Makes the nodes above an index, and its leaf, the version's own.
    #[inline]
    pub(super) fn thaw_at(&mut self, index: u64) {
        if self.version.open().is_some() {
            let mut path = Path::new();
            self.walk(index, &mut path);
            self.thaw_nodes(&mut path);
        }
    }

    #[cold]
    fn thaw_nodes(&mut self, path: &mut Path) {
        let mut above = None;
        for (depth, step) in path.steps_mut().iter_mut().enumerate() {
            step.id = self.thaw_child(above, self.height - depth);
            above = Some(*step);
        }
    }

    /// Makes the node that a step leads to the version's own; without a step, the root. The step's own node is the
    /// version's already, and `height` is the number of levels below the step. Returns the node.
    pub(super) fn thaw_child(&mut self, above: Option<Step>, height: usize) -> NodeId {
        let id = above.map_or(self.root, |step| self.inner(step.id).child(step.slot as usize));
        let Some(version) = self.version.open_mut() else { return id };
        let is_own = if height == 1 { version.leaves.has(id) } else { version.inners.has(id) };
        if is_own {
            return id;
        }
        self.taken += 1;
        let copy = if height == 1 {
            version.leaves.copy(&mut self.leaves, id)
        } else {
            version.inners.copy(&mut self.inners, id)
        };
        match above {
            Some(step) => self.inners.set_child(step.id, step.slot as usize, copy),
            None => self.root = copy,
        }
        copy
    }

    /// Goes back to the version's base, and ends the version.
    pub(crate) fn undo_version(&mut self) {
        let Some(version) = self.version.open_mut() else { return };
        version.leaves.undo(&mut self.leaves);
        version.inners.undo(&mut self.inners);
        version.removed.clear();
        let Base { root, height, len } = version.base;
        (self.root, self.height, self.len) = (root, height, len);
        version.close();
    }

    /// Reserves memory for the subtrees that a store in the open version removes.
    pub(crate) fn reserve_removed(&mut self) -> Result<(), OutOfMemory> {
        let most = MOST_SUBTREES_PER_LEVEL * self.height;
        Ok(self.version.open_mut().map_or(Ok(()), |version| version.removed.try_reserve(most))?)
    }

    /// Keeps the subtrees that a store in the open version removed, until the version ends.
    pub(crate) fn keep_removed(&mut self, subtrees: &[Subtree]) {
        if let Some(version) = self.version.open_mut() {
            version.removed.extend_from_slice(subtrees);
        }
    }

    /// Makes the version the tree, and ends it. [`next_kept`](Self::next_kept) then takes the removed subtrees apart.
    pub(crate) fn commit_version(&mut self) {
        let Some(version) = self.version.open_mut() else { return };
        version.leaves.commit(|id| self.leaves.give_back(id));
        version.inners.commit(|id| self.inners.give_back(id));
        version.close();
    }

    /// The next word of the subtrees that a committed version removed. Their nodes become vacant.
    pub(crate) fn next_kept(&mut self, words: &mut Words, subtrees: &mut Subtrees) -> Option<Word> {
        loop {
            if let Some(word) = self.next_removed(words, subtrees) {
                return Some(word);
            }
            let [version] = self.version.0.as_deref_mut()?;
            subtrees.push(version.removed.pop()?);
        }
    }

    /// Commits the version of a forgotten transaction, if there is one. The words that it removed leak.
    #[inline]
    pub(crate) fn end_forgotten_version(&mut self) {
        if self.version.open().is_some() {
            self.commit_forgotten();
        }
    }

    #[cold]
    #[inline(never)]
    fn commit_forgotten(&mut self) {
        self.commit_version();
        let (mut words, mut subtrees) = (Words::new(), Subtrees::new());
        while self.next_kept(&mut words, &mut subtrees).is_some() {}
    }
}
