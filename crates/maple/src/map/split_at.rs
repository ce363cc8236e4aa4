//! Splits a map in two.

use super::WordMap;
use super::words::NewWord;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use crate::tree::{Builder, StorePlan, Subtrees, Words, indexes};
use freehold_units::Span;

impl<E: StoredValue> WordMap<E> {
    /// Splits off everything from an index on, as a new map. An entry that contains the index, but does not start
    /// there, is cut: each map gets a part, and the value is split.
    ///
    /// Cost: O(log n + m) for m entries above: the upper part is rebuilt, entry by entry, and its old nodes are freed.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
    /// let mut low = WordMap::new();
    /// low.store(Span::new(0, 99).unwrap(), 1u32)?;
    /// let high = low.split_at(40).unwrap();
    /// assert_eq!(low.first(), Some((Span::new(0, 39).unwrap(), 1)));
    /// assert_eq!(high.first(), Some((Span::new(40, 99).unwrap(), 1)));
    /// # Ok::<(), freehold_maple::Rejected<u32, freehold_maple::StoreError>>(())
    /// ```
    ///
    /// # Errors
    /// There is not enough memory for the nodes of the upper part. Nothing has changed then.
    #[doc(alias = "split_off")]
    pub fn split_at(&mut self, index: u64) -> Result<Self, OutOfMemory> {
        let Some(upper) = Span::new(index, u64::MAX) else { return Ok(self.new_alike()) };
        self.end_forgotten();
        let mut plan = StorePlan::new(upper);
        self.tree.plan_and_reserve(&mut plan, false)?;
        if plan.is_rootless() {
            return Ok(self.new_alike());
        }
        let mut builder = Builder::new(self.tree.limits());
        let second = self.build_upper(upper, &mut builder)?;
        // Both trees have the words of the upper part until these have left this map's tree.
        let (mut moved, mut subtrees) = (Words::new(), Subtrees::new());
        if plan.is_spanning() {
            self.tree.commit_spanning(&mut plan, None, &mut moved, &mut subtrees);
            while self.tree.next_removed(&mut moved, &mut subtrees).is_some() {}
        } else {
            self.commit_in_leaf(&plan, None, &mut moved);
        }
        second.into_iter().for_each(NewWord::stored);
        Ok(Self::of_tree(builder.take_tree()))
    }

    /// Builds a tree of the words in `upper`. An entry that is cut gets a second word for its upper part, which is
    /// returned; the other words still belong to this map.
    fn build_upper(&self, upper: Span, builder: &mut Builder) -> Result<Option<NewWord<E>>, OutOfMemory> {
        let mut second = None;
        for (span, word) in self.tree.entries_from(upper.first()) {
            if span.first() >= upper.first() {
                builder.push(span, word)?;
            } else {
                let cut = second.insert(NewWord::new(self.owned(word)));
                builder.push(indexes(upper.first(), span.last()), cut.word())?;
            }
        }
        builder.end()?;
        Ok(second)
    }
}
