//! The names of the crate `rangemap`, over [`freehold_maple`]: for a try in a program, without a change of its code.
//!
//! ```toml
//! # In the Cargo.toml of the program's workspace:
//! [patch.crates-io]
//! rangemap = { path = "../freehold/clients/rangemap" }
//! ```
//!
//! Cargo uses a patch only if its version is the one in the program's `Cargo.lock`, which is 1.8.0 here. If the lock has
//! another, `cargo update -p rangemap --precise 1.8.0` changes that where the program's requirement allows it; otherwise
//! change the version in this crate's `Cargo.toml`. `cargo tree -i rangemap` shows which one is used.
//!
//! # What differs
//! - A key has a word of 64 bits ([`Key`]): integers (of 128 bits as long as the values fit), and types that are made of
//!   integers and have a difference, as addresses often are. Another type of a program implements [`Key`], by two
//!   functions. `char` and types of other crates without these cannot.
//! - Ranges are returned by value: `Range<K>`, where `rangemap` has `&Range<K>`.
//! - Steps of one's own ([`StepFns`]) are accepted and not called: the next key is the one of the next word.
//! - The ranges of a union of sets never touch. `rangemap` merges those of half-open ranges only where they overlap.
//! - Of the features there is `const_fn` alone, which does nothing: `new` is always `const`.
//!
//! A program that stays should use [`freehold_maple::RangeMap`] itself. Its documentation has a page on the way there.

#![no_std]
#![allow(clippy::expect_used, reason = "as rangemap, an empty range and a lack of memory stop the program")]

mod key;
mod map_of;
mod range;
mod set_of;
mod step;

pub use key::Key;
pub use map_of::MapOf;
pub use range::RangeOf;
pub use set_of::SetOf;
pub use step::{StepFns, StepLite};

pub use inclusive_map::RangeInclusiveMap;
pub use inclusive_set::RangeInclusiveSet;
pub use map::RangeMap;
pub use set::RangeSet;

/// Maps of half-open ranges.
pub mod map {
    use core::ops::Range;

    /// A map of half-open ranges to values. Equal neighbours are one range.
    pub type RangeMap<K, V> = crate::MapOf<Range<K>, V>;
    /// The entries of a map, ascending.
    pub type Iter<'a, K, V> = crate::map_of::Iter<'a, Range<K>, V>;
    /// The entries of a map that is taken apart, ascending.
    pub type IntoIter<K, V> = crate::map_of::IntoIter<Range<K>, V>;
    /// The gaps within a range, ascending.
    pub type Gaps<'a, K, V> = crate::map_of::Gaps<'a, Range<K>, V>;
    /// The entries that overlap a range, ascending.
    pub type Overlapping<'a, K, V, R = &'a Range<K>> = crate::map_of::Overlapping<'a, Range<K>, V, R>;
}

/// Maps of inclusive ranges.
pub mod inclusive_map {
    use core::ops::RangeInclusive;

    /// A map of inclusive ranges to values. Equal neighbours are one range.
    pub type RangeInclusiveMap<K, V, StepFnsT = K> = crate::MapOf<RangeInclusive<K>, V, StepFnsT>;
    /// The entries of a map, ascending.
    pub type Iter<'a, K, V> = crate::map_of::Iter<'a, RangeInclusive<K>, V>;
    /// The entries of a map that is taken apart, ascending.
    pub type IntoIter<K, V> = crate::map_of::IntoIter<RangeInclusive<K>, V>;
    /// The gaps within a range, ascending.
    pub type Gaps<'a, K, V> = crate::map_of::Gaps<'a, RangeInclusive<K>, V>;
    /// The entries that overlap a range, ascending.
    pub type Overlapping<'a, K, V, R = &'a RangeInclusive<K>> =
        crate::map_of::Overlapping<'a, RangeInclusive<K>, V, R>;
}

/// Sets of half-open ranges.
pub mod set {
    use core::ops::Range;

    /// A set that is kept as half-open ranges. Those that touch are one.
    pub type RangeSet<T> = crate::SetOf<Range<T>>;
}

/// Sets of inclusive ranges.
pub mod inclusive_set {
    use core::ops::RangeInclusive;

    /// A set that is kept as inclusive ranges. Those that touch are one.
    pub type RangeInclusiveSet<T, StepFnsT = T> = crate::SetOf<RangeInclusive<T>, StepFnsT>;
}
