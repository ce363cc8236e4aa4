//! Erases all entries that a closure rejects.

use super::WordMap;
use crate::entry::StoredValue;
use crate::tree::EntryCursor;
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
        let mut cursor = EntryCursor::at_start();
        while let Some((span, word)) = self.tree.next_entry(&mut cursor) {
            if !keep(span, self.borrow(word)) {
                drop(self.erase(span.first()));
                cursor = EntryCursor::behind(span);
            }
        }
    }

    /// The next entry at a cursor.
    #[inline]
    pub(crate) fn next_at(&self, cursor: &mut EntryCursor) -> Option<(Span, E::Ref<'_>)> {
        self.tree.next_entry(cursor).map(|(span, word)| (span, self.borrow(word)))
    }
}
