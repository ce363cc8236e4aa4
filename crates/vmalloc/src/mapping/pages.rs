//! Pages with a single owner.

use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// Committed pages that only their owner uses (V1).
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nobody else uses the pages, whichever thread owns them.
unsafe impl Send for Pages {}
// SAFETY: a shared reference only reads them.
unsafe impl Sync for Pages {}

impl Pages {
    /// The pages from `start` on.
    ///
    /// # Safety
    /// As for [`Mapping::pages`].
    #[inline]
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }

    /// No pages.
    #[inline]
    pub(crate) fn none() -> Self {
        Self { start: NonNull::dangling(), len: 0 }
    }

    #[inline]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Writes zeros.
    #[inline]
    pub(crate) fn zero(&mut self, part: Range<usize>) {
        self[part].fill(0);
    }
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY:
        // - The pages are committed, and the owner's.
        // - Their content is initialized: the system, or an earlier owner, wrote it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Pages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has a reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Lets handles be read and written as the bytes of one of their fields.
macro_rules! as_bytes {
    ($($handle:ty { $($field:tt)+ })*) => {$(
        impl std::ops::Deref for $handle {
            type Target = [u8];

            #[inline]
            fn deref(&self) -> &[u8] {
                &self.$($field)+
            }
        }

        impl std::ops::DerefMut for $handle {
            #[inline]
            fn deref_mut(&mut self) -> &mut [u8] {
                &mut self.$($field)+
            }
        }
    )*};
}
pub(crate) use as_bytes;
