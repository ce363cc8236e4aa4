//! Several stores that are committed together, or not at all.

use super::WordMap;
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::tree::{MOST_WORDS, StorePlan};
use alloc::vec::Vec;
use freehold_units::{Rejected, Span};

/// Stores that are committed together, or undone together. For example, an `munmap` in the middle of three regions is
/// one transaction.
///
/// - It is a private version of the tree: the nodes that its stores change are copied first. So a removal takes memory,
///   too.
/// - Each store takes the memory that it needs. [`commit`](Self::commit) takes none and cannot fail.
/// - Dropping it without a commit undoes it, which cannot fail either. Replaced values are kept until then.
/// - If it is forgotten (`mem::forget`), the next change of the map commits it. It then leaks the values that it took
///   out of the map, and its own lists of words.
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
    /// Words put into the tree since it began.
    pub(super) inserted: Vec<Word>,
    /// Words that left the tree.
    pub(super) removed: Vec<Word>,
    pub(super) committed: bool,
}

impl<E: StoredValue> WordMap<E> {
    /// Begins stores that are committed together.
    ///
    /// Cost: constant.
    pub fn transaction(&mut self) -> Transaction<'_, E> {
        self.end_forgotten();
        Transaction { map: self, inserted: Vec::new(), removed: Vec::new(), committed: false }
    }

    /// Commits a forgotten transaction. No other can be open, as the caller borrows the map itself.
    #[inline]
    pub(super) fn end_forgotten(&mut self) {
        self.tree.end_forgotten_version();
    }
}

impl<E: StoredValue> Transaction<'_, E> {
    /// The map with the stores so far.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &WordMap<E> {
        self.map
    }

    /// Stores a value over a range, whatever is there.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// There is not enough memory. The stores before stay, and can be committed or dropped.
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
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
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
        // One for the new word, one for the second word of an entry that is cut in two.
        self.inserted.try_reserve(2)?;
        self.removed.try_reserve(MOST_WORDS)?;
        self.map.tree.plan_in_version(plan, entry)?;
        self.map.tree.reserve_removed()
    }

    /// Commits the stores.
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) {
        self.committed = true;
    }
}
