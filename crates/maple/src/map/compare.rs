//! Maps are equal if they have equal entries, whatever the shape of their trees.

use super::WordMap;
use crate::entry::StoredValue;
use core::fmt;

impl<E: StoredValue> PartialEq for WordMap<E>
where
    for<'a> E::Ref<'a>: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<E: StoredValue> Eq for WordMap<E> where for<'a> E::Ref<'a>: Eq {}

impl<E: StoredValue> fmt::Debug for WordMap<E>
where
    for<'a> E::Ref<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
