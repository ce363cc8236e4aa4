//! What a slot of the kernel's tree can hold.

use crate::Error;
use freehold_units::Rejected;

/// What the kernel's calls take and give: a pointer of its words is one of these three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Item<T> {
    /// Nothing: storing it erases.
    #[doc(alias = "NULL")]
    #[default]
    Null,
    /// The zero entry: it keeps its range occupied. The normal calls read it as nothing; cursors see it.
    #[doc(alias = "XA_ZERO_ENTRY")]
    Zero,
    /// An entry.
    Entry(T),
}

impl<T> Item<T> {
    /// Whether it is nothing.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The entry. The zero entry is none.
    #[must_use]
    pub fn entry(self) -> Option<T> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Null | Self::Zero => None,
        }
    }

    /// What a map of the adapter holds for it: nothing, no entry or an entry.
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

/// Of what is stored somewhere: an entry, or else the zero entry.
impl<T> From<Option<T>> for Item<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Zero, Self::Entry)
    }
}

/// What a map of the adapter refused, in the adapter's words.
pub(super) fn rejected<E, C: Into<Error>>(refused: Rejected<Option<E>, C>) -> Rejected<Item<E>, Error> {
    Rejected { value: refused.value.into(), cause: refused.cause.into() }
}
