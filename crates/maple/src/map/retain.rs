//! Erases all entries that a closure rejects.

use super::WordMap;
use crate::entry::StoredValue;
use crate::tree::Direction;
use freehold_units::Span;

impl<E: StoredValue> WordMap<E> {
    /// Erases every entry for which `keep` returns false, in ascending order. Never takes memory.
    ///
    /// If `keep` or a value's drop panics, the entries rejected so far are erased and the others stay.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each that is erased.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
    /// let mut map = WordMap::from_sorted((0..9u64).map(|at| (Span::new(at, at).unwrap(), at as u32)))?;
    /// map.retain(|_, value| value % 3 == 0);
    /// assert_eq!(map.iter().map(|(span, _)| span.first()).collect::<Vec<_>>(), [0, 3, 6]);
    /// # Ok::<(), freehold_maple::SortedError>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(Span, E::Ref<'_>) -> bool) {
        let mut place = self.tree.pos_of(0);
        loop {
            let span = place.slot.span;
            if place.slot.entry.is_some_and(|word| !keep(span, self.borrow(word))) {
                drop(self.erase(span.first()));
                place = self.tree.pos_of(span.last());
            }
            if !self.tree.step(&mut place, Direction::Up) {
                return;
            }
        }
    }
}
