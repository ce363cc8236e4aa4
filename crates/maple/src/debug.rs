//! `Debug` of types that borrow a map, and of iterators by value: where they are, and no value.

use crate::key::Key;
use crate::map::{Cursor, CursorMut, IntoIter};
use crate::{Plan, RemovalPlan, StoredValue, map, range_map};
use core::fmt::{self, Debug, Formatter};

/// `[parameters] type, "name": field = its value;`
macro_rules! shown {
    ($([$($parameters:tt)*] $type:ty, $name:literal: $field:ident = |$it:ident| $value:expr;)*) => {$(
        impl<$($parameters)*> Debug for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                let $it = self;
                f.debug_struct($name).field(stringify!($field), &$value).finish_non_exhaustive()
            }
        }
    )*};
}

shown! {
    [E: StoredValue] Cursor<'_, E>, "Cursor": span = |it| it.span();
    [E: StoredValue] CursorMut<'_, E>, "CursorMut": span = |it| it.span();
    [E: StoredValue] map::OccupiedEntry<'_, E>, "OccupiedEntry": span = |it| it.span();
    [E: StoredValue] map::VacantEntry<'_, E>, "VacantEntry": gap = |it| it.gap();
    [E: StoredValue] map::Transaction<'_, E>, "Transaction": len = |it| it.map().len();
    [E: StoredValue] Plan<'_, E>, "Plan": nodes = |it| it.nodes();
    [E: StoredValue] RemovalPlan<'_, E>, "RemovalPlan": gap = |it| it.gap();
    [E: StoredValue] IntoIter<E>, "IntoIter": left = |it| it.len();
    [V, K: Key<Span: Debug>] range_map::OccupiedEntry<'_, V, K>, "OccupiedEntry": span = |it| it.span();
    [V, K: Key<Span: Debug>] range_map::VacantEntry<'_, V, K>, "VacantEntry": gap = |it| it.gap();
    [V, K: Key] range_map::Transaction<'_, V, K>, "Transaction": len = |it| it.map().len();
    [V, K: Key] range_map::IntoIter<V, K>, "IntoIter": left = |it| it.len();
}

impl<E: StoredValue> Debug for map::Entry<'_, E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => entry.fmt(f),
            Self::Vacant(gap) => gap.fmt(f),
        }
    }
}

impl<V, K: Key<Span: Debug>> Debug for range_map::Entry<'_, V, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => entry.fmt(f),
            Self::Vacant(gap) => gap.fmt(f),
        }
    }
}
