//! The values that a map stores: a value fits one word, and can be split over two ranges.
//!
//! A store into the middle of an entry's range leaves the entry on both sides. So a value must be able to become
//! two, without allocating and without failing: integers are copied, an `Arc` counts one more. A wide value goes
//! into an `Arc`.
//!
//! `map/words.rs` and the shared map's `words.rs` turn words into values, and keep the promises made here.

#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use core::{mem, ptr};

/// A value as a tree's node holds it. A pointer, so that it keeps the provenance of what it points to.
pub type Word = *mut ();

const _: () = assert!(size_of::<Word>() == size_of::<u64>(), "freehold-maple needs a 64-bit target");

/// A value that a [`WordMap`](crate::WordMap) can store. A type that fits 64 bits needs no `unsafe`: it is a
/// [`PlainValue`], stored as [`Plain`].
///
/// # Safety
/// A map trusts an implementation with its memory:
/// - A word that [`into_word`](Self::into_word) or [`split`](Self::split) returned stands for one value, until
///   [`from_word`](Self::from_word) takes that value back.
/// - Where [`SPLITS_AS_COPY`](Self::SPLITS_AS_COPY) is true, a word may be copied instead of split.
/// - If the type is `Send` and `Sync`, `split` and `borrow` may be called from several threads at once, for one word.
/// - [`from_word`](Self::from_word) is called to drop a value only if the type needs dropping
///   ([`needs_drop`](core::mem::needs_drop)): other words may be forgotten.
/// - A value that `split` made may go wherever the first may: to another thread if the type is `Send`.
/// - A word of a subtype is a word of the type: a map is covariant, as a `Vec` is, unless it is shared.
pub unsafe trait StoredValue: Sized {
    /// Whether [`split`](Self::split) returns the same word and does nothing else, as for integers. A map is then
    /// copied without looking at its words.
    const SPLITS_AS_COPY: bool = false;

    /// The type that a look-up returns: the value itself if it is small, otherwise a reference to it.
    type Ref<'a>
    where
        Self: 'a;

    /// The word that stands for the value, which it owns from now on. Cost: constant.
    fn into_word(self) -> Word;

    /// Turns a word back into its value.
    ///
    /// # Safety
    /// The word came from `into_word` or `split` of this type, and is not used again.
    unsafe fn from_word(word: Word) -> Self;

    /// Borrows the value that a word stands for.
    ///
    /// # Safety
    /// The word came from `into_word` or `split` of this type, and is not taken back within `'a`.
    unsafe fn borrow<'a>(word: Word) -> Self::Ref<'a>
    where
        Self: 'a;

    /// A second word for the same value. It must not allocate, fail, fork, or use the map, whose lock may be held. If
    /// it panics, the map has not changed; a value that was on its way into the map is dropped, or leaked.
    ///
    /// # Safety
    /// As for [`borrow`](Self::borrow).
    unsafe fn split(word: Word) -> Word;
}

/// Values that are copied with their word: how a value becomes a word, and how a word becomes that value again.
macro_rules! copied_values {
    ($($({$parameter:ident})? $type:ty: |$value:ident| $to:expr, |$word:ident| $from:expr;)*) => {$(
        // SAFETY: the word is the value, or points to data that is never dropped. So it may be copied as the value may
        // be.
        unsafe impl$(<$parameter>)? StoredValue for $type {
            const SPLITS_AS_COPY: bool = true;

            type Ref<'a> = Self;

            fn into_word(self) -> Word {
                let $value = self;
                $to
            }

            unsafe fn from_word($word: Word) -> Self {
                $from
            }

            unsafe fn borrow<'a>(word: Word) -> Self
            where
                Self: 'a,
            {
                // SAFETY: the caller's promise is the same; the word of such a value may be used again.
                unsafe { Self::from_word(word) }
            }

            unsafe fn split(word: Word) -> Word {
                word
            }
        }
    )*};
}

/// The word of a value's bits.
const fn of_bits(bits: usize) -> Word {
    ptr::without_provenance_mut(bits)
}

copied_values! {
    (): |_value| ptr::null_mut(), |_word| ();
    bool: |value| of_bits(usize::from(value)), |word| !word.is_null();
    u8: |value| of_bits(usize::from(value)), |word| word.addr() as u8;
    u16: |value| of_bits(usize::from(value)), |word| word.addr() as u16;
    u32: |value| of_bits(value as usize), |word| word.addr() as u32;
    u64: |value| of_bits(value as usize), |word| word.addr() as u64;
    usize: |value| of_bits(value), |word| word.addr();
    i32: |value| of_bits(value as u32 as usize), |word| word.addr() as i32;
    i64: |value| of_bits(value as usize), |word| word.addr() as i64;
    // SAFETY: the word came from `into_word`, whose value is not 0.
    NonZeroU32: |value| of_bits(value.get() as usize), |word| unsafe { Self::new_unchecked(word.addr() as u32) };
    // SAFETY: as above.
    NonZeroU64: |value| of_bits(value.get() as usize), |word| unsafe { Self::new_unchecked(word.addr() as u64) };
    // SAFETY: as above.
    NonZeroUsize: |value| of_bits(value.get()), |word| unsafe { Self::new_unchecked(word.addr()) };
    // SAFETY: the word came from `into_word`. It points to a `T` that lives for `'static` and is only read.
    {T} &'static T: |value| ptr::from_ref(value).cast_mut().cast(), |word| unsafe { &*word.cast_const().cast() };
}

/// An `Arc` of a [sized](Sized) value is its own word. Any other (`Arc<dyn Trait>`, `Arc<[T]>`, `Arc<str>`) has a pointer
/// of two words: the map keeps it in an `Arc` of its own. That costs an allocation of 32 bytes for a value on its way
/// into the map (which aborts if there is no memory, as [`Arc::new`] does), and a load more for each look-up.
// SAFETY: a word holds one count of the value's `Arc`, or of the `Arc` that holds it; `split` adds one.
unsafe impl<T: ?Sized> StoredValue for Arc<T> {
    type Ref<'a>
        = &'a T
    where
        T: 'a;

    fn into_word(self) -> Word {
        if is_one_word::<T>() {
            Self::into_raw(self).cast_mut().cast()
        } else {
            Arc::into_raw(Arc::new(self)).cast_mut().cast()
        }
    }

    unsafe fn from_word(word: Word) -> Self {
        if is_one_word::<T>() {
            // SAFETY: the word came from `into_raw`, and the count it stands for is not taken twice.
            unsafe { Self::from_raw(pointer(word)) }
        } else {
            // SAFETY: as above, of the outer `Arc`.
            Arc::unwrap_or_clone(unsafe { Arc::<Self>::from_raw(word.cast()) })
        }
    }

    unsafe fn borrow<'a>(word: Word) -> &'a T
    where
        T: 'a,
    {
        if is_one_word::<T>() {
            // SAFETY: the word came from `into_raw` and holds a count within `'a`.
            unsafe { &*pointer(word) }
        } else {
            // SAFETY: as above. The outer `Arc` is not changed, so it holds a count of the value within `'a`.
            unsafe { &*word.cast::<Self>() }
        }
    }

    unsafe fn split(word: Word) -> Word {
        // SAFETY: the word came from `into_raw` and holds a count.
        unsafe {
            if is_one_word::<T>() {
                Self::increment_strong_count(pointer::<T>(word));
            } else {
                Arc::<Self>::increment_strong_count(word.cast());
            }
        }
        word
    }
}

/// Whether a pointer to a `T` is one word.
const fn is_one_word<T: ?Sized>() -> bool {
    size_of::<*const T>() == size_of::<Word>()
}

/// The pointer of a word.
///
/// # Safety
/// [`is_one_word`] holds for `T`.
unsafe fn pointer<T: ?Sized>(word: Word) -> *const T {
    // SAFETY: both are pointers of one word, which any pointer may be copied into.
    unsafe { mem::transmute_copy(&word) }
}

/// A value of at most 64 bits, which may be copied: an index into a table, a small enum, a pair of `u32`.
///
/// ```
/// use freehold_maple::{Plain, PlainValue, WordMap};
/// use freehold_units::Span;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Device {
///     slot: u32,
///     writable: bool,
/// }
///
/// impl PlainValue for Device {
///     fn to_bits(self) -> u64 {
///         u64::from(self.slot) << 1 | u64::from(self.writable)
///     }
///     fn from_bits(bits: u64) -> Self {
///         Self { slot: (bits >> 1) as u32, writable: bits & 1 != 0 }
///     }
/// }
///
/// let mut bus = WordMap::new();
/// let device = Device { slot: 7, writable: true };
/// bus.store(Span::new(0xc000_0000, 0xc000_0fff).unwrap(), Plain(device))?;
/// assert_eq!(bus.get(0xc000_0080), Some(device));
/// # Ok::<(), freehold_maple::Rejected<Plain<Device>, freehold_maple::StoreError>>(())
/// ```
pub trait PlainValue: Copy {
    /// The value's bits. Cost: constant.
    fn to_bits(self) -> u64;

    /// The value of bits that [`to_bits`](Self::to_bits) returned. Cost: constant.
    fn from_bits(bits: u64) -> Self;
}

/// A [`PlainValue`] as a map stores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plain<T>(pub T);

// SAFETY:
// - The word is the value's bits, which own nothing and may be copied as the value may be.
// - Whatever `from_bits` makes of them is a value of `T`.
unsafe impl<T: PlainValue> StoredValue for Plain<T> {
    const SPLITS_AS_COPY: bool = true;

    type Ref<'a>
        = T
    where
        T: 'a;

    fn into_word(self) -> Word {
        self.0.to_bits().into_word()
    }

    unsafe fn from_word(word: Word) -> Self {
        Self(T::from_bits(word.addr() as u64))
    }

    unsafe fn borrow<'a>(word: Word) -> T
    where
        T: 'a,
    {
        T::from_bits(word.addr() as u64)
    }

    unsafe fn split(word: Word) -> Word {
        word
    }
}

/// A value whose word is never null, so that an `Option` of it fits the same word.
///
/// # Safety
/// [`into_word`](StoredValue::into_word) and [`split`](StoredValue::split) never give a null word.
///
/// ```
/// use freehold_maple::WordMap;
/// use freehold_units::Span;
/// use std::sync::Arc;
///
/// let mut owners = WordMap::new();
/// owners.store(Span::new(0, 9).unwrap(), None)?; // Taken, by nobody yet.
/// owners.store(Span::new(10, 19).unwrap(), Some(Arc::new(7u32)))?;
/// assert_eq!(owners.get(5), Some(None));
/// assert_eq!(owners.get(15), Some(Some(&7)));
/// # Ok::<(), freehold_maple::Rejected<Option<Arc<u32>>, freehold_maple::StoreError>>(())
/// ```
pub unsafe trait NonNullValue: StoredValue {}

// SAFETY: an integer that is not 0 is its own word.
unsafe impl NonNullValue for NonZeroU32 {}
// SAFETY: an integer that is not 0 is its own word.
unsafe impl NonNullValue for NonZeroU64 {}
// SAFETY: an integer that is not 0 is its own word.
unsafe impl NonNullValue for NonZeroUsize {}
// SAFETY: a reference is never null.
unsafe impl<T> NonNullValue for &'static T {}
// SAFETY: an `Arc`'s pointer is never null.
unsafe impl<T: ?Sized> NonNullValue for Arc<T> {}

// SAFETY: a null word is `None`, which owns nothing; any other is a word of `E`, which is never null.
unsafe impl<E: NonNullValue> StoredValue for Option<E> {
    const SPLITS_AS_COPY: bool = E::SPLITS_AS_COPY;

    type Ref<'a>
        = Option<E::Ref<'a>>
    where
        E: 'a;

    fn into_word(self) -> Word {
        self.map_or(ptr::null_mut(), E::into_word)
    }

    unsafe fn from_word(word: Word) -> Self {
        // SAFETY: a word that is not null came from `E`; the caller's promise is the same.
        (!word.is_null()).then(|| unsafe { E::from_word(word) })
    }

    unsafe fn borrow<'a>(word: Word) -> Option<E::Ref<'a>>
    where
        E: 'a,
    {
        // SAFETY: as for `from_word`.
        (!word.is_null()).then(|| unsafe { E::borrow(word) })
    }

    unsafe fn split(word: Word) -> Word {
        if word.is_null() {
            return word;
        }
        // SAFETY: as for `from_word`.
        unsafe { E::split(word) }
    }
}
