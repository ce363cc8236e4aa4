//! Several stores, all or nothing.

use super::WordMap;
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::tree::{MOST_WORDS, StorePlan};
use alloc::vec::Vec;
use freehold_units::{Rejected, Span};

/// Stores that are made final together, or undone together: an `munmap` in the middle of three regions is one.
///
/// It is a version of the tree of its own: the nodes that its stores change are copied first. So a removal takes memory, too.
/// Memory is asked for by each store; [`commit`](Self::commit) asks for none and cannot fail. What is dropped without
/// being committed is undone, which cannot fail either. Values that were replaced are kept until then. A forgotten
/// transaction (`mem::forget`) is committed by the next change of the map; it leaks the values that it took out of the map,
/// and its own lists of words.
///
/// ```
/// use freehold_maple::WordMap;
/// use freehold_units::Span;
///
/// let mut map = WordMap::new();
/// map.store(Span::new(0, 99).unwrap(), 1u32)?;
/// let mut both = map.transaction();
/// both.store(Span::new(10, 19).unwrap(), 2)?;
/// both.store(Span::new(50, 59).unwrap(), 3)?;
/// drop(both);
/// assert_eq!(map.get(15), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transaction<'a, E: StoredValue> {
    pub(super) map: &'a mut WordMap<E>,
    /// Words that were put into the tree since it began.
    pub(super) inserted: Vec<Word>,
    /// Words that left it.
    pub(super) removed: Vec<Word>,
    pub(super) committed: bool,
}

impl<E: StoredValue> WordMap<E> {
    /// Begins stores that are made final together.
    ///
    /// Cost: constant.
    pub fn transaction(&mut self) -> Transaction<'_, E> {
        self.end_forgotten();
        Transaction { map: self, inserted: Vec::new(), removed: Vec::new(), committed: false }
    }

    /// Commits a forgotten transaction: no other can be open where the map itself is changed.
    #[inline]
    pub(super) fn end_forgotten(&mut self) {
        self.tree.end_forgotten_version();
    }
}

impl<E: StoredValue> Transaction<'_, E> {
    /// What the map is, with the stores so far.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &WordMap<E> {
        self.map
    }

    /// Stores a value over a range, whatever is there.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for each
    /// node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// There is not enough memory; the stores before stand, and can be committed or dropped.
    pub fn store(&mut self, span: Span, value: E) -> Result<(), Rejected<E, OutOfMemory>> {
        let mut plan = StorePlan::new(span);
        if let Err(cause) = self.plan(&mut plan, true) {
            return Err(Rejected { value, cause });
        }
        let word = value.into_word();
        self.inserted.push(word);
        self.apply(&mut plan, Some(word));
        Ok(())
    }

    /// Removes everything in a range.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for each
    /// node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn remove_range(&mut self, span: Span) -> Result<(), OutOfMemory> {
        let mut plan = StorePlan::new(span);
        self.plan(&mut plan, false)?;
        self.apply(&mut plan, None);
        Ok(())
    }

    /// Plans a store, and reserves all memory that it takes.
    fn plan(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        // The new word, and the second word of an entry that is cut in two.
        self.inserted.try_reserve(2)?;
        self.removed.try_reserve(MOST_WORDS)?;
        self.map.tree.plan_in_version(plan, entry)?;
        self.map.tree.reserve_removed()
    }

    /// Makes the stores final.
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) {
        self.committed = true;
    }
}
