//! A counted value that panics, or calls back, when it is told to.

#![allow(clippy::panic, unsafe_code, reason = "an entry type of the tests' own")]
#![allow(dead_code, reason = "not every test uses all of it")]

use freehold_maple::{StoredValue, Word};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::Arc;

thread_local! {
    /// The value whose next drop panics.
    pub(crate) static DROP_PANICS: Cell<Option<u32>> = const { Cell::new(None) };
    pub(crate) static SPLIT_PANICS: Cell<bool> = const { Cell::new(false) };
    /// What the next drop calls.
    pub(crate) static DROP_CALLS: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

pub(crate) struct Fuse(pub(crate) Arc<u32>);

impl Drop for Fuse {
    fn drop(&mut self) {
        let call = DROP_CALLS.take();
        if let Some(call) = call {
            call();
        }
        if DROP_PANICS.get() == Some(*self.0) {
            DROP_PANICS.set(None);
            panic!("dropped");
        }
    }
}

// SAFETY: words are those of the `Arc`.
unsafe impl StoredValue for Fuse {
    type Ref<'a> = u32;

    fn into_word(self) -> Word {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again.
        unsafe { std::ptr::read(&this.0) }.into_word()
    }

    unsafe fn from_word(word: Word) -> Self {
        // SAFETY: the caller's promise is the same.
        Self(unsafe { Arc::from_word(word) })
    }

    unsafe fn borrow<'a>(word: Word) -> u32
    where
        Self: 'a,
    {
        // SAFETY: the caller's promise is the same.
        *unsafe { Arc::<u32>::borrow(word) }
    }

    unsafe fn split(word: Word) -> Word {
        assert!(!SPLIT_PANICS.replace(false), "split");
        // SAFETY: the caller's promise is the same.
        unsafe { Arc::<u32>::split(word) }
    }
}
