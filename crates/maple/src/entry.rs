//! What a map stores: a value that fits one word, and can be in two ranges at once.
//!
//! A store into the middle of an entry's range leaves the entry on both sides. So a value must be able to become
//! two, without allocating and without failing: integers are copied, an `Arc` counts one more. A wide value goes
//! into an `Arc`.
//!
//! This is one of two files of the crate with `unsafe`; the other is [`map`](crate::map)'s `words.rs`, which keeps
//! the promise that is made here.

#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use core::ptr;

/// A value as a tree's node holds it. A pointer, so that what it points to may be reached through it again.
pub type Word = *mut ();

const _: () = assert!(size_of::<Word>() == size_of::<u64>(), "freehold-maple needs a 64-bit target");

/// A value that a [`RangeMap`](crate::RangeMap) can store.
///
/// # Invariants
/// A word that [`into_word`](Self::into_word) or [`split`](Self::split) gave stands for one value, until
/// [`from_word`](Self::from_word) takes that value back.
pub trait Entry: Sized {
    /// Whether [`split`](Self::split) gives the same word again and does nothing else, as for integers: a map is then
    /// copied without a look at its words.
    const SPLITS_AS_COPY: bool = false;

    /// What a look-up answers with: the value itself where it is small, a reference to it otherwise.
    type Ref<'a>
    where
        Self: 'a;

    /// The word that stands for the value, which it owns from now on.
    fn into_word(self) -> Word;

    /// The value back from its word.
    ///
    /// # Safety
    /// The word came from `into_word` or `split` of this type, and is not used again.
    unsafe fn from_word(word: Word) -> Self;

    /// What the word stands for, while it stays where it is.
    ///
    /// # Safety
    /// The word came from `into_word` or `split` of this type, and is not taken back within `'a`.
    unsafe fn borrow<'a>(word: Word) -> Self::Ref<'a>
    where
        Self: 'a;

    /// A second word for the same value. Neither allocates nor fails. Where it panics, the map has not changed; a value
    /// that was on its way into the map is leaked.
    ///
    /// # Safety
    /// As for [`borrow`](Self::borrow).
    unsafe fn split(word: Word) -> Word;
}

/// Integers and the like: the word's address is the value.
macro_rules! plain_entry {
    ($($type:ty: |$value:ident| $to:expr, |$addr:ident| $from:expr;)*) => {$(
        impl Entry for $type {
            const SPLITS_AS_COPY: bool = true;

            type Ref<'a> = Self;

            #[inline(always)]
            fn into_word(self) -> Word {
                let $value = self;
                ptr::without_provenance_mut($to)
            }

            #[inline(always)]
            unsafe fn from_word(word: Word) -> Self {
                let $addr = word.addr();
                $from
            }

            #[inline(always)]
            unsafe fn borrow<'a>(word: Word) -> Self
            where
                Self: 'a,
            {
                let $addr = word.addr();
                $from
            }

            #[inline(always)]
            unsafe fn split(word: Word) -> Word {
                word
            }
        }
    )*};
}

plain_entry! {
    (): |_value| 0, |_addr| ();
    bool: |value| usize::from(value), |addr| addr != 0;
    u8: |value| usize::from(value), |addr| addr as u8;
    u16: |value| usize::from(value), |addr| addr as u16;
    u32: |value| value as usize, |addr| addr as u32;
    u64: |value| value as usize, |addr| addr as u64;
    usize: |value| value, |addr| addr;
    i32: |value| value as u32 as usize, |addr| addr as u32 as i32;
    i64: |value| value as usize, |addr| addr as i64;
}

/// Integers that are never 0.
macro_rules! nonzero_entry {
    ($($type:ty: $integer:ty;)*) => {$(
        impl Entry for $type {
            const SPLITS_AS_COPY: bool = true;

            type Ref<'a> = Self;

            #[inline(always)]
            fn into_word(self) -> Word {
                self.get().into_word()
            }

            #[inline(always)]
            unsafe fn from_word(word: Word) -> Self {
                // SAFETY: the word came from `into_word`, whose value is not 0.
                unsafe { Self::new_unchecked(<$integer>::from_word(word)) }
            }

            #[inline(always)]
            unsafe fn borrow<'a>(word: Word) -> Self
            where
                Self: 'a,
            {
                // SAFETY: the caller's promise is the same.
                unsafe { Self::from_word(word) }
            }

            #[inline(always)]
            unsafe fn split(word: Word) -> Word {
                word
            }
        }
    )*};
}

nonzero_entry! {
    NonZeroU32: u32;
    NonZeroU64: u64;
    NonZeroUsize: usize;
}

impl<T> Entry for &'static T {
    const SPLITS_AS_COPY: bool = true;

    type Ref<'a> = Self;

    #[inline(always)]
    fn into_word(self) -> Word {
        ptr::from_ref(self).cast_mut().cast()
    }

    #[inline(always)]
    unsafe fn from_word(word: Word) -> Self {
        // SAFETY: the word came from `into_word`: it points to a `T` that lives for good and is only read.
        unsafe { &*word.cast_const().cast() }
    }

    #[inline(always)]
    unsafe fn borrow<'a>(word: Word) -> Self
    where
        Self: 'a,
    {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::from_word(word) }
    }

    #[inline(always)]
    unsafe fn split(word: Word) -> Word {
        word
    }
}

impl<T> Entry for Arc<T> {
    type Ref<'a>
        = &'a T
    where
        T: 'a;

    #[inline]
    fn into_word(self) -> Word {
        Self::into_raw(self).cast_mut().cast()
    }

    #[inline]
    unsafe fn from_word(word: Word) -> Self {
        // SAFETY: the word came from `into_raw`, and the count it stands for is not taken twice.
        unsafe { Self::from_raw(word.cast_const().cast()) }
    }

    #[inline]
    unsafe fn borrow<'a>(word: Word) -> &'a T
    where
        T: 'a,
    {
        // SAFETY: the word came from `into_raw` and holds a count within `'a`.
        unsafe { &*word.cast_const().cast() }
    }

    #[inline]
    unsafe fn split(word: Word) -> Word {
        // SAFETY: the word came from `into_raw` and holds a count.
        unsafe { Self::increment_strong_count(word.cast_const().cast::<T>()) };
        word
    }
}

/// An entry whose word is never null, so that an `Option` of it fits the same word.
///
/// ```
/// use freehold_maple::RangeMap;
/// use freehold_units::Span;
/// use std::sync::Arc;
///
/// let mut owners = RangeMap::new();
/// owners.store(Span::new(0, 9).unwrap(), None)?; // Taken, by nobody yet.
/// owners.store(Span::new(10, 19).unwrap(), Some(Arc::new(7u32)))?;
/// assert_eq!(owners.get(5), Some(None));
/// assert_eq!(owners.get(15), Some(Some(&7)));
/// # Ok::<(), freehold_maple::Rejected<Option<Arc<u32>>, freehold_maple::OutOfMemory>>(())
/// ```
pub trait NonNullEntry: Entry {}

impl NonNullEntry for NonZeroU32 {}
impl NonNullEntry for NonZeroU64 {}
impl NonNullEntry for NonZeroUsize {}
impl<T> NonNullEntry for &'static T {}
impl<T> NonNullEntry for Arc<T> {}

impl<E: NonNullEntry> Entry for Option<E> {
    const SPLITS_AS_COPY: bool = E::SPLITS_AS_COPY;

    type Ref<'a>
        = Option<E::Ref<'a>>
    where
        E: 'a;

    #[inline(always)]
    fn into_word(self) -> Word {
        self.map_or(ptr::null_mut(), E::into_word)
    }

    #[inline(always)]
    unsafe fn from_word(word: Word) -> Self {
        // SAFETY: a word that is not null came from `E`; the caller's promise is the same.
        (!word.is_null()).then(|| unsafe { E::from_word(word) })
    }

    #[inline(always)]
    unsafe fn borrow<'a>(word: Word) -> Option<E::Ref<'a>>
    where
        E: 'a,
    {
        // SAFETY: as for `from_word`.
        (!word.is_null()).then(|| unsafe { E::borrow(word) })
    }

    #[inline(always)]
    unsafe fn split(word: Word) -> Word {
        if word.is_null() {
            return word;
        }
        // SAFETY: as for `from_word`.
        unsafe { E::split(word) }
    }
}
