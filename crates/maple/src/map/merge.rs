//! Merging equal neighbours, which the map does only when it is asked to.

use super::RangeMap;
use crate::entry::{StoredValue, Word};
use crate::tree::{Direction, Need, StorePlan};
use freehold_units::Span;

impl<E: StoredValue> RangeMap<E> {
    /// Makes one entry of each run of equal entries that touch. Returns how many entries fewer there are. Of each
    /// run the first value stays. Never takes memory.
    ///
    /// Cost: one pass over the slots, and one way down for each run.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// # use freehold_units::Span;
    /// let mut map = RangeMap::new();
    /// for (first, last, value) in [(0, 3, 'a'), (4, 7, 'a'), (9, 9, 'a'), (10, 12, 'b')] {
    ///     map.store(Span::new(first, last).unwrap(), value as u32)?;
    /// }
    /// assert_eq!(map.merge_adjacent(), 1);
    /// assert_eq!(map.entry_at(5), Some((Span::new(0, 7).unwrap(), 'a' as u32)));
    /// # Ok::<(), freehold_maple::Rejected<u32, freehold_maple::OutOfMemory>>(())
    /// ```
    pub fn merge_adjacent(&mut self) -> u64
    where
        for<'a> E::Ref<'a>: PartialEq,
    {
        self.merge_adjacent_by(|a, b| a == b)
    }

    /// The same, where `same` says whether two neighbours are equal; it is given the run's first value, and the value
    /// that may join it.
    ///
    /// Should `same` or a value's drop panic, the runs so far are merged and the others are not.
    pub fn merge_adjacent_by(&mut self, mut same: impl for<'a> FnMut(E::Ref<'a>, E::Ref<'a>) -> bool) -> u64 {
        let before = self.len();
        let mut place = self.tree.pos_of(0);
        loop {
            let (run, word) = (place.slot.span, place.slot.entry);
            let mut hull = run;
            let mut more = self.tree.step(&mut place, Direction::Up);
            if let Some(word) = word {
                while more && place.slot.entry.is_some_and(|next| same(self.borrow(word), self.borrow(next)))
                {
                    hull = hull.hull(place.slot.span);
                    more = self.tree.step(&mut place, Direction::Up);
                }
                if hull != run {
                    self.unite(hull, word);
                    if more {
                        // The slot behind the run.
                        place = self.tree.pos_of(hull.last());
                        more = self.tree.step(&mut place, Direction::Up);
                    }
                }
            }
            if !more {
                return before - self.len();
            }
        }
    }

    /// Stores over whole entries, two or more, of which one has this word.
    fn unite(&mut self, hull: Span, word: Word) {
        let mut plan = StorePlan::new(hull);
        self.tree.plan(&mut plan, true);
        debug_assert_eq!(plan.need, Need::default(), "one entry instead of several takes no node");
        let value = self.owned(word);
        self.commit(&mut plan, Some(value));
    }
}
