//! Sub-spaces of a shared space. Each has one owner; it can be shared in turn.

use super::{RejectedValue, SharedSpace};
use crate::error::SharedError;
use crate::{AddressSpace, AdoptError, Placement, Request, ReturnError};
use freehold_units::{Rejected, Span};
use std::sync::Arc;

impl<V: ?Sized> SharedSpace<V> {
    /// Takes a range for `request` and stores the value with it. Returns an empty space of its addresses, as
    /// [`AddressSpace::carve`] does.
    ///
    /// Cost: the lock, [`AddressSpace::carve`], and a store into the tree of readers: O(log n), and O(carved regions).
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    pub fn carve<W>(
        &self,
        request: &Request,
        value: Arc<V>,
        placement: Placement,
    ) -> Result<AddressSpace<W>, RejectedValue<V>> {
        let mut core = self.begin();
        let carving = match core.prepare_carve(request, placement) {
            Ok(carving) => carving,
            Err(cause) => return Err(Rejected { value, cause: SharedError::Refused(cause) }),
        };
        match self.busy.insert_under_lock(carving.child.span(), Arc::clone(&value)) {
            Ok(()) => Ok(core.commit_carve(carving, value)),
            Err(Rejected { cause, .. }) => Err(Rejected { value, cause: cause.into() }),
        }
    }

    /// Ends an empty sub-space and frees the region that it was carved from, as [`AddressSpace::take_back`] does.
    ///
    /// Cost: the lock, [`AddressSpace::take_back`], and a transaction of one change in the tree of readers: O(log n),
    /// and O(carved regions).
    ///
    /// # Errors
    /// Returns the sub-space: as [`AddressSpace::take_back`], or the tree cannot make the change (readers, memory or the
    /// barrier); nothing was changed.
    #[allow(clippy::result_large_err, clippy::type_complexity, reason = "the sub-space comes back whole")]
    pub fn take_back<W>(
        &self,
        sub_space: AddressSpace<W>,
    ) -> Result<(Span, Arc<V>), Rejected<AddressSpace<W>, SharedError<ReturnError>>> {
        let span = sub_space.span();
        let mut sub_space = Some(sub_space);
        let taken = self.change(
            |_, tree| tree.remove_range(span),
            |core| {
                let given = sub_space.take().expect("K17: it is given once");
                core.take_back(given).map_err(|Rejected { value, cause }| {
                    sub_space = Some(value);
                    cause
                })
            },
        );
        taken.map_err(|cause| Rejected { value: sub_space.expect("K17: what is refused comes back"), cause })
    }

    /// Makes `child` the sub-space of the region that starts at `first`, as [`AddressSpace::adopt`] does.
    ///
    /// Cost: the lock, and [`AddressSpace::adopt`].
    ///
    /// # Errors
    /// As [`AddressSpace::adopt`].
    pub fn adopt<W>(&self, first: u64, child: &mut AddressSpace<W>) -> Result<Span, AdoptError> {
        self.begin().adopt(first, child)
    }

    /// Makes the carved region that starts at `first` an ordinary one, as [`AddressSpace::disown`] does.
    ///
    /// Cost: the lock, and [`AddressSpace::disown`].
    pub fn disown(&self, first: u64) -> bool {
        self.begin().disown(first)
    }
}
