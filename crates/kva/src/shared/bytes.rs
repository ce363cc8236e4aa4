//! A shared space as bytes, in the format of [`image`](crate::image).

use super::SharedSpace;
use crate::error::SharedError;
use crate::image::{RestoreError, Writer};
use crate::{AddressSpace, Placement};
use alloc::vec::Vec;
use freehold_units::OutOfMemory;
use std::sync::Arc;

impl<V: ?Sized> SharedSpace<V> {
    /// Encodes the space as bytes, with alignments, guards, carved regions and pending moves. `encode` writes a value's
    /// bytes; it runs under the space's lock, so it must neither `fork` nor call a method that takes the lock.
    ///
    /// Cost: the lock, and [`AddressSpace::to_bytes`].
    ///
    /// # Errors
    /// There is no memory for the bytes.
    pub fn to_bytes(&self, mut encode: impl FnMut(&V, &mut Writer)) -> Result<Vec<u8>, OutOfMemory> {
        self.lock().to_bytes(|value, to| encode(value, to))
    }

    /// Restores a space from its [bytes](Self::to_bytes), or from those of an [`AddressSpace`], with any placement.
    ///
    /// Cost: as [`AddressSpace::from_bytes`] and [`share`](Self::share).
    ///
    /// # Errors
    /// As [`AddressSpace::from_bytes`], or those of [`share`](Self::share).
    pub fn from_bytes<E>(
        bytes: &[u8],
        placement: Placement,
        decode: impl FnMut(&[u8]) -> Result<Arc<V>, E>,
    ) -> Result<Self, SharedError<RestoreError<E>>> {
        let space = AddressSpace::from_bytes(bytes, placement, decode).map_err(SharedError::Refused)?;
        Ok(Self::share(space, Self::readers()).map_err(|rejected| rejected.cause)?)
    }
}
