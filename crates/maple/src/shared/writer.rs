//! State of the single writer, behind `MapleTree::writer`.

use super::arena::Shared;
use super::{Published, Reclaim};
use crate::entry::{StoredValue, Word};
use crate::error::WriteError;
use crate::tree::{
    MOST_SUBTREES_PER_LEVEL, MOST_WORDS, Need, Publish, Retired, StorePlan, Subtree, Subtrees, Tree, Words,
};
use alloc::vec::Vec;
use core::mem;
use freehold_rcu::{Backlog, BacklogStats, DomainRef};
use freehold_units::Broken;

#[derive(Debug)]
pub(super) struct Writer {
    /// The published tree, or a version of it that is being built.
    pub(super) tree: Tree<Shared>,
    /// The thread with an open transaction. Only that thread may store.
    pub(super) owner: Option<u64>,
    /// The thread that writes next, once the transaction has ended.
    pub(super) next: Option<u64>,
    backlog: Backlog<'static, Retired>,
    /// Nodes in the backlog.
    waiting: Need,
    reclaim: Reclaim,
    /// Words that no reader can have any more. The next change drops their values before it changes anything, and
    /// while the lock is not held, as a drop may do anything.
    dead: Vec<Word>,
    /// Words that the present change removed, and that no reader can have any more.
    own: Vec<Word>,
    /// Words that the open version removed.
    words: Vec<Word>,
    subtrees: Vec<Subtree>,
    /// The most nodes and words in those subtrees.
    below: usize,
}

impl Writer {
    pub(super) fn new(
        tree: Tree<Shared>,
        domain: DomainRef<'static>,
        limit: usize,
        reclaim: Reclaim,
    ) -> Self {
        Self {
            tree,
            owner: None,
            next: None,
            backlog: Backlog::new(domain, limit),
            waiting: Need::default(),
            reclaim,
            dead: Vec::new(),
            own: Vec::new(),
            words: Vec::new(),
            subtrees: Vec::new(),
            below: 0,
        }
    }

    pub(super) fn stats(&self) -> BacklogStats {
        self.backlog.stats()
    }

    pub(super) fn validate(&self) -> Result<(), Broken> {
        self.tree.validate(self.waiting)
    }

    /// Reserves all that a planned store needs, so that it cannot fail. A version is open afterwards if the store needs
    /// one.
    #[inline]
    pub(super) fn prepare<E: StoredValue>(
        &mut self,
        plan: &StorePlan,
        way: Publish,
    ) -> Result<(), WriteError> {
        if mem::needs_drop::<E>() {
            self.reserve_dead()?;
        }
        match way {
            Publish::Word if mem::needs_drop::<E>() => self.reserve_records(1),
            Publish::Word => Ok(()),
            Publish::Leaf => {
                self.reserve_records(1 + MOST_WORDS)?;
                Ok(self.tree.reserve_leaf()?)
            }
            Publish::Version => self.prepare_version(plan),
        }
    }

    #[inline(never)]
    fn prepare_version(&mut self, plan: &StorePlan) -> Result<(), WriteError> {
        let between = if plan.is_spanning() { self.tree.most_between(plan.span) } else { 0 };
        let below = self.below + between;
        let known = self.words.len() + self.tree.gone_len() + below;
        self.reserve_records(known + self.tree.most_around())?;
        let Self { tree, words, subtrees, .. } = self;
        let most_subtrees = MOST_SUBTREES_PER_LEVEL * tree.height();
        let lists = words.try_reserve(MOST_WORDS).and_then(|()| subtrees.try_reserve(most_subtrees));
        lists.map_err(|_| WriteError::OutOfMemory)?;
        tree.reserve_in_version(plan)?;
        self.below = below;
        Ok(())
    }

    /// Reserves room for `records` records, and takes back what no reader can reach any more.
    #[inline]
    fn reserve_records(&mut self, records: usize) -> Result<(), WriteError> {
        let Self { tree, backlog, waiting, dead, .. } = self;
        backlog.reserve(records, |record| dead.extend(reuse(tree, waiting, record)))?;
        if self.reclaim == Reclaim::Prompt { self.reserve_own(records) } else { Ok(()) }
    }

    /// Reserves room for the words that the backlog returns.
    fn reserve_dead(&mut self) -> Result<(), WriteError> {
        self.dead.try_reserve(self.backlog.held()).map_err(|_| WriteError::OutOfMemory)
    }

    /// Reserves room for the words that a change returns, and those that return with them.
    fn reserve_own(&mut self, records: usize) -> Result<(), WriteError> {
        self.reserve_dead()?;
        self.own.try_reserve(records).map_err(|_| WriteError::OutOfMemory)
    }

    /// Values that wait for readers.
    #[inline]
    pub(super) fn values_waiting(&self) -> usize {
        self.backlog.held() - self.waiting.leaves - self.waiting.inners
    }

    /// Whether the next change has values to drop, or to look for, before it begins.
    #[inline]
    pub(super) fn has_leftovers(&self) -> bool {
        !self.dead.is_empty() || self.reclaim == Reclaim::Prompt && self.values_waiting() > 0
    }

    /// The values that earlier changes left, as far as no reader can have them.
    pub(super) fn take_leftovers(&mut self) -> Vec<Word> {
        if self.reclaim == Reclaim::Prompt && self.values_waiting() > 0 && !self.backlog.is_held_back() {
            // Without a barrier they wait on, and a call that needs one says so.
            let _left = self.poll();
        }
        // Without memory they stay, and a call that needs it says so.
        self.take_polled().unwrap_or_default()
    }

    /// The values that a poll has collected. Those that wait keep their room in the list if a transaction is open: its
    /// commit may collect them, and takes no memory.
    ///
    /// # Errors
    /// There is no memory for that room. The values stay for a later call.
    pub(super) fn take_polled(&mut self) -> Result<Vec<Word>, WriteError> {
        let polled = mem::take(&mut self.dead);
        if self.owner.is_some()
            && let Err(refused) = self.reserve_dead()
        {
            self.dead = polled;
            return Err(refused);
        }
        Ok(polled)
    }

    /// Reuses nodes and collects values that no reader can reach any more. Returns how many of both still wait.
    pub(super) fn poll(&mut self) -> Result<usize, WriteError> {
        self.reserve_dead()?;
        let Self { tree, backlog, waiting, dead, .. } = self;
        backlog.poll(|record| dead.extend(reuse(tree, waiting, record)))?;
        Ok(self.backlog.held())
    }

    /// At the end of a change before which `before` values waited: under prompt reclamation, the values that it
    /// removed, if no reader is inside.
    #[inline]
    pub(super) fn take_own(&mut self, before: usize) -> Vec<Word> {
        if self.reclaim == Reclaim::Prompt && self.values_waiting() > before {
            self.poll_own(before);
            mem::take(&mut self.own)
        } else {
            Vec::new()
        }
    }

    #[cold]
    fn poll_own(&mut self, mut before: usize) {
        let Self { tree, backlog, waiting, dead, own, .. } = self;
        // If the barrier is refused they wait on: the change has been made.
        let _refused = backlog.poll(|record| {
            let Some(word) = reuse(tree, waiting, record) else { return };
            // Oldest first: the change's own values are the last.
            match before.checked_sub(1) {
                Some(left) => {
                    before = left;
                    dead.push(word);
                }
                None => own.push(word),
            }
        });
    }

    /// Makes a prepared store over exactly one entry: readers see its word from then on.
    #[inline]
    pub(super) fn store_in_place<E: StoredValue>(&mut self, plan: &StorePlan, entry: Option<Word>) {
        let mut words = Words::new();
        self.tree.commit(plan, entry, |_| unreachable!("M12: a store of one word cuts no entry"), &mut words);
        self.retire_words::<E>(&words);
    }

    /// Makes a prepared store in a copy of its leaf, which readers see from then on. `second` is the second word of an
    /// entry that is cut in two.
    #[inline]
    pub(super) fn store_low<E: StoredValue>(
        &mut self,
        published: &Published,
        plan: &mut StorePlan,
        entry: Option<Word>,
        second: Option<Word>,
    ) {
        let mut words = Words::new();
        let old = self.tree.store_in_copy(plan, entry, second, &mut words);
        if plan.path.above().is_empty() {
            published.set_root(self.tree.base());
        }
        retire::<E>(&mut self.backlog, &mut self.waiting, Retired::Leaf(old));
        self.retire_words::<E>(&words);
    }

    #[inline]
    fn retire_words<E: StoredValue>(&mut self, words: &[Word]) {
        let Self { backlog, waiting, .. } = self;
        words.iter().for_each(|&word| retire::<E>(backlog, waiting, Retired::Word(word)));
    }

    /// Makes a prepared store in the open version.
    pub(super) fn store_in_version(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        second: Option<Word>,
    ) {
        let (mut words, mut subtrees) = (Words::new(), Subtrees::new());
        let second = |_| second.expect("M7: a cut entry has a second word");
        self.tree.store_in_version(plan, entry, second, &mut words, &mut subtrees);
        self.words.extend_from_slice(&words);
        self.subtrees.extend_from_slice(&subtrees);
    }

    /// Publishes the open version as the tree, and ends the transaction: readers see all its stores from then on. If
    /// `frozen`, nothing that the present root can reach may change.
    pub(super) fn publish<E: StoredValue>(&mut self, published: &Published, frozen: bool) {
        let Self { tree, owner, backlog, waiting, words, subtrees, below, .. } = self;
        *owner = None;
        let mut retire = |record| retire::<E>(backlog, waiting, record);
        tree.publish_version(frozen, |base| published.set_root(base), &mut retire);
        words.drain(..).for_each(|word| retire(Retired::Word(word)));
        subtrees.drain(..).for_each(|subtree| tree.retire_subtree(subtree, &mut retire));
        *below = 0;
    }

    /// Undoes the open version, if there is one, and ends the transaction. The caller owns the words that were put into
    /// it.
    pub(super) fn undo(&mut self) {
        self.owner = None;
        self.tree.undo_version();
        self.words.clear();
        self.subtrees.clear();
        self.below = 0;
    }

    /// The owner of the open transaction, and the thread that writes next.
    #[inline]
    pub(super) fn turn(&self) -> (Option<u64>, Option<u64>) {
        (self.owner, self.next)
    }

    /// Takes all records at once: nobody reads any more. If `dead` panics, it still gets the other words during the
    /// unwind, as dropping a backlog that has records waits for readers of other maps.
    pub(super) fn take_back(&mut self, dead: impl FnMut(Word)) {
        struct Waiting<'b, F: FnMut(Word)>(&'b mut Backlog<'static, Retired>, F);
        impl<F: FnMut(Word)> Drop for Waiting<'_, F> {
            fn drop(&mut self) {
                take_words(self.0, &mut self.1);
            }
        }
        self.waiting = Need::default();
        let waiting = &mut Waiting(&mut self.backlog, dead);
        take_words(waiting.0, &mut waiting.1);
    }
}

/// Takes all records, and calls `dead` with their words.
fn take_words(backlog: &mut Backlog<'_, Retired>, dead: &mut impl FnMut(Word)) {
    backlog.take_all(|record| {
        if let Retired::Word(word) = record {
            dead(word);
        }
    });
}

#[cfg(all(test, shuttle))]
impl Writer {
    /// Reuses waiting nodes as if nobody read, which is wrong: tests must catch it. Values stay.
    pub(super) fn reuse_at_once(&mut self) {
        let Self { tree, backlog, waiting, .. } = self;
        backlog.take_all(|record| {
            let _value = reuse(tree, waiting, record);
        });
    }
}

/// Frees a node that no reader can reach any more, or returns a word whose value is to be dropped.
#[inline]
fn reuse(tree: &mut Tree<Shared>, waiting: &mut Need, record: Retired) -> Option<Word> {
    match record {
        Retired::Leaf(id) => {
            waiting.leaves -= 1;
            tree.reuse_leaf(id);
        }
        Retired::Inner(id) => {
            waiting.inners -= 1;
            tree.reuse_inner(id);
        }
        Retired::Word(word) => return Some(word),
    }
    None
}

/// Puts a node or a word into the backlog. Words whose values need no drop are not kept.
#[inline]
fn retire<E: StoredValue>(backlog: &mut Backlog<'static, Retired>, waiting: &mut Need, record: Retired) {
    match record {
        Retired::Leaf(_) => waiting.leaves += 1,
        Retired::Inner(_) => waiting.inners += 1,
        Retired::Word(_) if !mem::needs_drop::<E>() => return,
        Retired::Word(_) => {}
    }
    backlog.retire(record).expect("M12: room for what is retired is reserved");
}
