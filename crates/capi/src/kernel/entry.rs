//! The pointers that a kernel's tree holds: any, tagged integers included, but for NULL and the zero entry.

use freehold::maple::{NonNullValue, StoredValue};
use freehold_linux::maple::Item;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// `xa_mk_internal(257)`: what `XA_ZERO_ENTRY` is.
const ZERO: usize = internal(257);
/// `xa_mk_internal(256)`: up to here, an internal entry means something to the kernel's trees.
const LAST_ADVANCED: usize = internal(256);
/// Internal entries below are reserved.
const RESERVED: usize = 4096;

/// The number of an internal entry: its two lowest bits are 10.
const fn internal(number: usize) -> usize {
    number << 2 | 2
}

/// A pointer that is not NULL. The tree never reads what it points to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(NonNull<()>);

// SAFETY: a tree never reads through the pointer. What a C program does with it on another thread is the program's.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

// SAFETY: the word is the pointer, which owns nothing and may be copied.
unsafe impl StoredValue for Entry {
    const SPLITS_AS_COPY: bool = true;

    type Ref<'a> = Self;

    fn into_word(self) -> *mut () {
        self.0.as_ptr()
    }

    unsafe fn from_word(word: *mut ()) -> Self {
        // SAFETY: the word came from `into_word`, so it is not null.
        Self(unsafe { NonNull::new_unchecked(word) })
    }

    unsafe fn borrow<'a>(word: *mut ()) -> Self
    where
        Self: 'a,
    {
        // SAFETY: the caller's promise is the same; such a word may be used again.
        unsafe { Self::from_word(word) }
    }

    unsafe fn split(word: *mut ()) -> *mut () {
        word
    }
}

// SAFETY: `into_word` gives the pointer of a `NonNull`, and `split` the same.
unsafe impl NonNullValue for Entry {}

/// The item that a pointer of C stands for.
pub(super) fn item(pointer: *mut c_void) -> Item<Entry> {
    if pointer.addr() == ZERO {
        return Item::Zero;
    }
    NonNull::new(pointer.cast()).map_or(Item::Null, |entry| Item::Entry(Entry(entry)))
}

/// The pointer of C that stands for an item.
pub(super) fn pointer(item: Item<Entry>) -> *mut c_void {
    match item {
        Item::Null => ptr::null_mut(),
        Item::Zero => ptr::without_provenance_mut(ZERO),
        Item::Entry(Entry(entry)) => entry.as_ptr().cast(),
    }
}

/// Whether the calls without a cursor refuse to store it.
pub(super) fn is_advanced(pointer: *mut c_void) -> bool {
    pointer.addr() & 3 == 2 && pointer.addr() <= LAST_ADVANCED
}

/// Whether the calls that find a gap refuse to store it.
pub(super) fn is_reserved(pointer: *mut c_void) -> bool {
    pointer.addr() & 3 == 2 && pointer.addr() < RESERVED
}
