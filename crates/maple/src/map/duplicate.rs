//! Copies a map.

use super::WordMap;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use core::alloc::Layout;

impl<E: StoredValue> WordMap<E> {
    /// A map with the same entries, where each value is a split ([`StoredValue::split`]) of the original's.
    ///
    /// Cost: O(n) for n entries. The nodes are copied as they are, and each word is split, unless a split is a copy,
    /// too. All memory is taken before the first split. If a split panics, the values that were split leak, and the map
    /// itself is unchanged.
    ///
    /// # Errors
    /// `OutOfMemory`: there is not enough memory.
    #[doc(alias = "mtree_dup")]
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(self.with_copied_tree(self.tree.try_clone()?))
    }
}

/// As [`try_clone`](WordMap::try_clone), but if memory is exhausted it calls
/// [`handle_alloc_error`](alloc::alloc::handle_alloc_error), like the standard library's collections.
impl<E: StoredValue> Clone for WordMap<E> {
    fn clone(&self) -> Self {
        or_abort(self.try_clone())
    }
}

/// The value, or, if memory is exhausted, the end of the process, as in the standard library's collections.
pub(crate) fn or_abort<T>(made: Result<T, OutOfMemory>) -> T {
    match made {
        Ok(made) => made,
        Err(OutOfMemory) => alloc::alloc::handle_alloc_error(Layout::new::<crate::node::Leaf>()),
    }
}
