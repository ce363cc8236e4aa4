//! What tells a space from every other: a byte of memory, held for nothing but its address.
//!
//! While a space holds its byte, no other has one at the same address: what was noted with the address is known to be
//! this space's when it comes back. Only of a space that was dropped may another come to have the address. This takes
//! neither a counter that all spaces share nor a reference from one to the other.

use crate::OutOfMemory;
use alloc::vec::Vec;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Identity(Option<Vec<u8>>);

impl Identity {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        let mut byte = Vec::new();
        byte.try_reserve_exact(1)?;
        Ok(Self(Some(byte)))
    }

    pub(super) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Of a copy, which needs one at once. Aborts where there is no memory, as all copying does.
    pub(super) fn of_copy() -> Self {
        Self(Some(Vec::with_capacity(1)))
    }

    /// The address that no other space has.
    pub(super) fn address(&self) -> Option<usize> {
        self.0.as_ref().map(|byte| byte.as_ptr().addr())
    }
}

impl Clone for Identity {
    /// A copy is another space, without identity.
    fn clone(&self) -> Self {
        Self(None)
    }
}
