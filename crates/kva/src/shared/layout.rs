//! The spans of a shared space. Readers see regions alone, so the tree does not change.

use super::SharedSpace;
use crate::LayoutError;
use freehold_units::{Align, Span};

impl<V: ?Sized> SharedSpace<V> {
    /// As [`AddressSpace::span`](crate::AddressSpace::span). Waits for the lock. Cost: constant, with the lock.
    ///
    /// ```
    /// use freehold_kva::{Placement, SharedSpace};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = SharedSpace::<u32>::new(Span::try_from(0x1000..0x9000)?, Align::PAGE, Placement::Lowest)?;
    /// bus.add(Span::try_from(0xc000..0xd000)?)?;
    /// assert_eq!((bus.span(), bus.granule()), (Span::try_from(0x1000..0xd000)?, Align::PAGE));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn span(&self) -> Span {
        self.lock().span()
    }

    /// As [`AddressSpace::granule`](crate::AddressSpace::granule). Waits for the lock. Cost: constant, with the lock.
    #[must_use]
    pub fn granule(&self) -> Align {
        self.lock().granule()
    }

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
