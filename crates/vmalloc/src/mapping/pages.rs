//! Pages that one owner uses.

use std::ops::Range;
use std::ptr::NonNull;

/// Committed pages that their owner alone uses (V1).
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nobody else uses the pages, whichever thread has them.
unsafe impl Send for Pages {}
// SAFETY: through a shared reference they are only read.
unsafe impl Sync for Pages {}

impl Pages {
    /// Pages that start there.
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

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are committed and the owner's; what the system or earlier owners left is bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has a reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Writes zeros.
    #[inline]
    pub(crate) fn zero(&mut self, part: Range<usize>) {
        self.bytes_mut()[part].fill(0);
    }
}
