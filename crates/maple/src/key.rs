//! Keys of a program's own: what a [`RangeMap`](crate::RangeMap) and a [`RangeSet`](crate::RangeSet) have as indexes.
//!
//! ```text
//!   keys     'a'..='z'  --to_word-->   0x61..=0x7a     in the tree
//!                       <-from_word--
//! ```
//!
//! A key is checked and becomes a word where it enters a map; a word becomes a key again where it leaves the map. The
//! tree between the two knows words alone, and is the same for all types of keys.

mod span;

pub use span::{KeySpan, SpanOf};

use crate::error::StoreError;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use freehold_units::Span;

/// A type of keys: of the indexes of a [`RangeMap`](crate::RangeMap) or a [`RangeSet`](crate::RangeSet).
///
/// Integers of up to 64 bits are keys, and so is `char`, whose `'\u{d7ff}'` and `'\u{e000}'` are neighbours: nothing
/// lies between them. A type that wraps a key becomes one by the macro [`key!`](crate::key).
///
/// # Rules for an implementation
/// Each key has a word of its own. The words are `0..=LAST` without a hole, and their order is the order of the keys.
/// [`to_word`](Self::to_word) and [`from_word`](Self::from_word) turn one into the other and back.
///
/// A map stays valid where a rule is broken, but its answers are meaningless: it may return keys that were never
/// stored. One case is checked, so that a type may have values that are no keys: a word above [`LAST`](Self::LAST) is
/// out of the domain. A store of it is refused ([`OutOfDomain`](StoreError::OutOfDomain)), and no look-up finds it.
///
/// ```
/// use freehold_maple::{Key, KeySpan, RangeMap, StoreError};
///
/// /// A part of a whole: 0 to 100.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Percent(u8);
///
/// impl Key for Percent {
///     type Span = KeySpan<Self>;
///     const LAST: u64 = 100;
///
///     fn to_word(self) -> u64 {
///         self.0.into()
///     }
///     fn from_word(word: u64) -> Self {
///         Self(word as u8)
///     }
/// }
///
/// let mut grades = RangeMap::with_keys();
/// grades.store(Percent(90).., "good")?;
/// assert_eq!(grades.get(Percent(100)), Some(&"good"));
/// assert_eq!(grades.gaps(..).next(), KeySpan::new(Percent(0), Percent(89)));
/// assert_eq!(grades.get(Percent(101)), None);
/// assert_eq!(grades.store(Percent(95)..Percent(102), "best").unwrap_err().cause, StoreError::OutOfDomain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Key: Copy {
    /// A range of keys, as a map returns it: [`Span`] of `u64`, and [`KeySpan`] of any other type.
    type Span: SpanOf<Self>;

    /// The word of the last key.
    const LAST: u64;

    /// The key's word. Cost: constant.
    fn to_word(self) -> u64;

    /// The key of a word, which is at most [`LAST`](Self::LAST). Cost: constant.
    fn from_word(word: u64) -> Self;
}

/// Keys that are their own words.
macro_rules! unsigned {
    ($($integer:ty: $span:ty),*) => {$(
        impl Key for $integer {
            type Span = $span;
            const LAST: u64 = <$integer>::MAX as u64;

            #[inline]
            fn to_word(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as Self
            }
        }
    )*};
}

unsigned! { u64: Span, u32: KeySpan<u32>, u16: KeySpan<u16>, u8: KeySpan<u8>, usize: KeySpan<usize> }

/// Keys whose words begin with that of the lowest, which is negative.
macro_rules! signed {
    ($($integer:ty, $unsigned:ty);*) => {$(
        impl Key for $integer {
            type Span = KeySpan<Self>;
            const LAST: u64 = <$unsigned>::MAX as u64;

            #[inline]
            fn to_word(self) -> u64 {
                (self ^ Self::MIN) as $unsigned as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as Self ^ Self::MIN
            }
        }
    )*};
}

signed! { i64, u64; i32, u32; i16, u16; i8, u8; isize, usize }

/// The first code point that is no `char`, and how many there are of these.
const SURROGATES: (u32, u32) = (0xd800, 0x800);

/// The words of `char` have no hole where surrogates are no `char`: `'\u{e000}'` has the word 0xd800.
impl Key for char {
    type Span = KeySpan<Self>;
    const LAST: u64 = (Self::MAX as u32 - SURROGATES.1) as u64;

    #[inline]
    fn to_word(self) -> u64 {
        let point = u32::from(self);
        u64::from(if point < SURROGATES.0 { point } else { point - SURROGATES.1 })
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        let word = word as u32;
        let point = if word < SURROGATES.0 { word } else { word + SURROGATES.1 };
        Self::from_u32(point).expect("M14: a word of the tree is the word of a key")
    }
}

/// Makes keys of a type that wraps one: `key!(Type: Wrapped, into, from)`, where `into` is a function from a `Type` to
/// the [`Key`](crate::Key) that it wraps, and `from` goes back. The keys have the order of what they wrap.
///
/// ```
/// use freehold_maple::{KeySpan, RangeMap, key};
///
/// /// An address in a guest.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct GuestAddress(u64);
/// key!(GuestAddress: u64, |address| address.0, GuestAddress);
///
/// let mut bus = RangeMap::with_keys();
/// bus.insert(GuestAddress(0xc000)..GuestAddress(0xd000), "nic")?;
/// let (span, device) = bus.entry_at(GuestAddress(0xc080)).unwrap();
/// assert_eq!((span.first(), span.last(), *device), (GuestAddress(0xc000), GuestAddress(0xcfff), "nic"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! key {
    ($type:ty: $wrapped:ty, $into:expr, $from:expr) => {
        impl $crate::Key for $type {
            type Span = $crate::KeySpan<Self>;
            const LAST: u64 = <$wrapped as $crate::Key>::LAST;

            #[inline]
            fn to_word(self) -> u64 {
                let into: fn($type) -> $wrapped = $into;
                $crate::Key::to_word(into(self))
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                let from: fn($wrapped) -> $type = $from;
                from($crate::Key::from_word(word))
            }
        }
    };
}

/// Marks what has keys of a type and holds none.
pub(crate) type Keys<K> = PhantomData<fn() -> K>;

/// The part of a range of words that is in the domain, which for 64 bits is all of it.
#[inline]
pub(crate) fn in_domain<K: Key>(words: Span) -> Option<Span> {
    if K::LAST == u64::MAX { Some(words) } else { words.intersection(domain::<K>()) }
}

/// The words of all keys.
pub(crate) fn domain<K: Key>() -> Span {
    Span::from(..=K::LAST)
}

/// The words of keys in some bounds, which may reach beyond the last key; `None` if there are none.
#[inline]
fn words<K: Key>(bounds: &impl RangeBounds<K>) -> Option<Span> {
    let first = match bounds.start_bound() {
        Bound::Included(first) => first.to_word(),
        Bound::Excluded(before) => before.to_word().checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match bounds.end_bound() {
        Bound::Included(last) => last.to_word(),
        Bound::Excluded(behind) => behind.to_word().checked_sub(1)?,
        Bound::Unbounded => K::LAST,
    };
    Span::new(first, last)
}

/// The words of the keys in some bounds; `None` if there are none.
#[inline]
pub(crate) fn within<K: Key>(bounds: &impl RangeBounds<K>) -> Option<Span> {
    in_domain::<K>(words(bounds)?)
}

/// The words of bounds to be stored over. They are refused if they have no key, or reach beyond the last one.
#[inline]
pub(crate) fn to_store<K: Key>(bounds: &impl RangeBounds<K>) -> Result<Span, StoreError> {
    let span = words(bounds).ok_or(StoreError::EmptyRange)?;
    if span.last() <= K::LAST { Ok(span) } else { Err(StoreError::OutOfDomain) }
}

/// An entry of the tree, with the keys of its words.
#[inline]
pub(crate) fn with_keys<K: Key, T>((words, value): (Span, T)) -> (K::Span, T) {
    (K::Span::of_words(words), value)
}

/// The keys of the gap of a key. A value that is no key is a gap of its own.
#[inline]
pub(crate) fn gap_at<K: Key>(key: K, gap: Span) -> K::Span {
    match in_domain::<K>(gap) {
        Some(gap) if key.to_word() <= K::LAST => K::Span::of_words(gap),
        _ => K::Span::of_one(key),
    }
}
