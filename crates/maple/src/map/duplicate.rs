//! Copying a map.

use super::WordMap;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use core::alloc::Layout;

impl<E: StoredValue> WordMap<E> {
    /// A map with the same entries, each value a second one of the same ([`StoredValue::split`]).
    ///
    /// Cost: O(n) for n entries. The nodes are copied as they are, and each word is split, unless that is a copy, too. All memory is asked
    /// for before the first word is. Should a split panic, the values that were split are leaked, and the map itself is
    /// untouched.
    ///
    /// # Errors
    /// There is not enough memory.
    #[doc(alias = "mtree_dup")]
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(self.with_copied_tree(self.tree.try_clone()?))
    }
}

/// As [`try_clone`](WordMap::try_clone), but where memory is exhausted it does as the standard library's collections do:
/// it calls [`handle_alloc_error`](alloc::alloc::handle_alloc_error).
impl<E: StoredValue> Clone for WordMap<E> {
    fn clone(&self) -> Self {
        or_abort(self.try_clone())
    }
}

/// What was made; where memory is exhausted, the process ends as the standard library's collections end it.
pub(crate) fn or_abort<T>(made: Result<T, OutOfMemory>) -> T {
    match made {
        Ok(made) => made,
        Err(OutOfMemory) => alloc::alloc::handle_alloc_error(Layout::new::<crate::node::Leaf>()),
    }
}
