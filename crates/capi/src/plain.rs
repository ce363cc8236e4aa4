//! Spans and values: what errors and arguments are both made of.

use freehold::maple::{StoredValue, Word};
use freehold::units::Span;
use std::ffi::c_void;

/// A range of addresses or indexes. Both ends are inside, so it is never empty, and the last address of all has a place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct fh_span {
    /// The first address or index.
    pub first: u64,
    /// The last one, not below `first`.
    pub last: u64,
}

/// A caller's pointer, which is never followed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Value(pub(crate) *mut c_void);

// SAFETY: the pointer is carried, never followed. What it points to is the caller's matter.
unsafe impl Send for Value {}
// SAFETY: as above.
unsafe impl Sync for Value {}

// SAFETY: the word is the pointer, which may be copied as any pointer may, and needs no drop.
unsafe impl StoredValue for Value {
    const SPLITS_AS_COPY: bool = true;

    type Ref<'a> = Self;

    fn into_word(self) -> Word {
        self.0.cast()
    }

    unsafe fn from_word(word: Word) -> Self {
        Self(word.cast())
    }

    unsafe fn borrow<'a>(word: Word) -> Self
    where
        Self: 'a,
    {
        Self(word.cast())
    }

    unsafe fn split(word: Word) -> Word {
        word
    }
}

impl From<Span> for fh_span {
    fn from(span: Span) -> Self {
        Self { first: span.first(), last: span.last() }
    }
}
