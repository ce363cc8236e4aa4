//! The spans of a shared space. Readers see regions alone, so the tree does not change.

use super::SharedSpace;
use crate::LayoutError;
use freehold_units::Span;

impl<V: ?Sized> SharedSpace<V> {
    /// Adds the addresses of `span` to the space.
    ///
    /// Cost: the lock, and [`AddressSpace::add`](crate::AddressSpace::add).
    ///
    /// # Errors
    /// As [`AddressSpace::add`](crate::AddressSpace::add); nothing was changed.
    pub fn add(&self, span: Span) -> Result<(), LayoutError> {
        self.begin().add(span)
    }

    /// Removes the addresses of `span`, which must be free, from the space.
    ///
    /// Cost: the lock, and [`AddressSpace::remove`](crate::AddressSpace::remove).
    ///
    /// # Errors
    /// As [`AddressSpace::remove`](crate::AddressSpace::remove); nothing was changed.
    pub fn remove(&self, span: Span) -> Result<(), LayoutError> {
        self.begin().remove(span)
    }
}
