//! The possible contents of a slot of the kernel's tree.

use crate::Error;
use freehold_units::Rejected;

/// An argument or result of the kernel's calls, whose pointers are one of these three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Item<T> {
    /// No entry: storing it erases.
    #[doc(alias = "NULL")]
    #[default]
    Null,
    /// The zero entry: it keeps its range occupied. The normal calls read it as no entry; cursors see it.
    #[doc(alias = "XA_ZERO_ENTRY")]
    Zero,
    /// An entry.
    Entry(T),
}

impl<T> Item<T> {
    /// Whether the item is [`Item::Null`].
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The entry; `None` for the zero entry.
    #[must_use]
    pub fn entry(self) -> Option<T> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Null | Self::Zero => None,
        }
    }

    /// The representation in the adapter's map: `None` for no entry, `Some(None)` for the zero entry, or an entry.
    pub(super) fn into_slot(self) -> Option<Option<T>> {
        match self {
            Self::Null => None,
            Self::Zero => Some(None),
            Self::Entry(entry) => Some(Some(entry)),
        }
    }

    pub(super) fn from_slot(slot: Option<Option<T>>) -> Self {
        match slot {
            None => Self::Null,
            Some(value) => Self::from(value),
        }
    }
}

/// Converts the contents of an occupied range: an entry, or else the zero entry.
impl<T> From<Option<T>> for Item<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Zero, Self::Entry)
    }
}

/// Converts a refusal of the adapter's map.
pub(super) fn rejected<E, C: Into<Error>>(refused: Rejected<Option<E>, C>) -> Rejected<Item<E>, Error> {
    Rejected { value: refused.value.into(), cause: refused.cause.into() }
}
