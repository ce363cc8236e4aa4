//! The map for values of any type, with keys of any type.
//!
//! What a call does to the tree and to the values is in `numbered.rs`, which knows words alone. Here keys become words,
//! and words become keys.

mod alloc;
mod collect;
mod entry;
mod iter;
mod merging;
mod numbered;
mod overlay;
#[cfg(feature = "serde")]
mod serde;
mod store;
mod taking;
#[cfg(test)]
mod tests;
mod transaction;
mod update;

pub use collect::IntoIter;
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use iter::{Iter, IterMut, Spans, Values, ValuesMut};
pub use transaction::Transaction;

use crate::key::{Key, Keys, SpanOf, gap_at, within};
use crate::map::{Gaps, GapsWithin, WordMap};
use crate::node::Nodes;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::{Broken, check};
use numbered::Numbered;

/// Maps ranges of `u64`, or of another type of [`Key`], both ends included, to values of any type.
///
/// Ranges do not overlap. A store over a range replaces the entries there, and cuts those that reach beyond. The value
/// is cloned only if parts of its entry stay on both sides. Neighbours with equal values stay apart; gaps do not.
///
/// ```
/// use freehold_maple::RangeMap;
///
/// let mut map = RangeMap::new();
/// map.store(0x1000..0x5000, String::from("file"))?;
/// map.store(0x2000..0x3000, String::from("copy"))?;
/// map.get_mut(0x4000).unwrap().push_str(", read");
/// let all: Vec<_> = map.iter().map(|(span, value)| (span.first(), value.as_str())).collect();
/// assert_eq!(all, [(0x1000, "file"), (0x2000, "copy"), (0x3000, "file, read")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keys
/// Keys are `u64` unless the type says otherwise: `RangeMap<V, char>`, or an address of a program's own ([`Key`]). A map
/// of other keys begins with [`with_keys`](Self::with_keys). Its ranges are [`KeySpan`](crate::KeySpan)s, and errors and
/// [requests](crate::Request) have the words of its keys.
///
/// # Coming from `BTreeMap` or `rangemap`
/// Search these docs for the name of a method there. Ranges are accepted in any form: `0..10`, `0..=9`, `5..`, a
/// [`Span`](freehold_units::Span).
///
/// | Theirs | Ours |
/// |---|---|
/// | `insert` (rangemap), which overwrites | [`store`](Self::store); with what was there, [`replace_range`](Self::replace_range) |
/// | `insert` (std), `try_insert` | [`insert`](Self::insert), which refuses an overlap and names it |
/// | `get`, `get_mut`, `contains_key`, index `[]` | [`get`](Self::get), [`get_mut`](Self::get_mut), [`contains`](Self::contains) |
/// | `get_key_value`, `get_range_value` | [`entry_at`](Self::entry_at); gaps too: [`slot_at`](Self::slot_at) |
/// | `remove`, `remove_entry` (std) | [`erase`](Self::erase), the whole entry |
/// | `remove` (rangemap) | [`remove_range`](Self::remove_range); with what was there, [`take_range`](Self::take_range) |
/// | `first_key_value`, `last_key_value`, `first_range_value`, `last_range_value` | [`first`](Self::first), [`last`](Self::last) |
/// | `first_entry`, `last_entry` | [`entry`](Self::entry) at the first index of [`first`](Self::first) or [`last`](Self::last) |
/// | `pop_first`, `pop_last` | [`pop_first`](Self::pop_first), [`pop_last`](Self::pop_last) |
/// | `entry` | [`entry`](Self::entry) |
/// | `iter`, `iter_mut`, `into_iter` | [`iter`](Self::iter), [`iter_mut`](Self::iter_mut), `into_iter` |
/// | `keys`, `values`, `values_mut`, `into_keys`, `into_values` | [`spans`](Self::spans), [`values`](Self::values), [`values_mut`](Self::values_mut); `into_iter` and `map` |
/// | `range`, `range_mut`, `overlapping`, `overlapping_mut` | [`range`](Self::range) or [`overlapping`](Self::overlapping), [`range_mut`](Self::range_mut) |
/// | `lower_bound`, `upper_bound` (cursors) | `range(index..).next()`, [`last_before`](Self::last_before) |
/// | `overlaps` | [`is_free`](Self::is_free), the opposite |
/// | `gaps` | [`gaps_within`](Self::gaps_within); not clipped to the range: [`gaps`](Self::gaps) |
/// | `retain`, `extract_if` | [`retain`](Self::retain); [`take_range`](Self::take_range) |
/// | `append`, `extend`, `from_iter`, `from([..])` | `extend`, `from_iter`, `from`; [`from_sorted`](Self::from_sorted) |
/// | `split_off` | [`split_at`](Self::split_at) |
/// | `clear`, `len`, `is_empty`, `new` | the same |
/// | equal neighbours coalesce (rangemap) | [`store_merging`](Self::store_merging) instead of a store |
///
/// # Cost
/// The cost of [`WordMap`], and one access beside the tree for each value. A value takes its own size plus that of an
/// enum's tag, rounded up. The tree takes 18 bytes for each range that touches the next, and 35 for one with a gap behind
/// it, if its nodes are full as after [`from_sorted`](Self::from_sorted). A table of words, such as offsets or pointers,
/// is smaller as a [`WordMap`], which keeps them in the tree: there are no other bytes.
///
/// # Memory, and values that panic
/// - An operation that lacks memory returns an error and has changed nothing. [`erase`](Self::erase),
///   [`retain`](Self::retain) and merging never take memory.
/// - If a value's `clone` panics, nothing has changed, and a value on its way into the map is dropped.
/// - If a value's `drop` panics, the operation is done, the map is valid, and the other removed values are dropped
///   during the unwind.
pub struct RangeMap<V, K = u64> {
    ranges: Numbered<V>,
    keys: Keys<K>,
}

impl<V> RangeMap<V> {
    /// An empty map with keys of `u64`, without memory of its own. Up to ten entries take memory only for their values.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_keys()
    }

    /// An empty map that uses only a part of its nodes' slots, as `nodes` says. For tests.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_nodes(nodes: Nodes) -> Self {
        Self::of_ranges(Numbered::new(WordMap::with_nodes(nodes)))
    }
}

impl<V, K> RangeMap<V, K> {
    /// An empty map with keys of any type. [`new`](RangeMap::new) is the same for `u64`, so that its type need not be
    /// written.
    ///
    /// Cost: constant.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut ports = RangeMap::with_keys();
    /// ports.store(0..=1023_u16, "well known")?;
    /// ports.store(49152.., "private")?;
    /// assert_eq!(ports.get(65535), Some(&"private"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn with_keys() -> Self {
        Self::of_ranges(Numbered::new(WordMap::new()))
    }

    const fn of_ranges(ranges: Numbered<V>) -> Self {
        Self { ranges, keys: PhantomData }
    }
}

impl<V, K: Key> RangeMap<V, K> {
    /// The number of entries.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ranges.numbers.len()
    }

    /// Whether there are no entries.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.numbers.is_empty()
    }

    /// The value at an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[inline]
    #[must_use]
    pub fn get(&self, index: K) -> Option<&V> {
        self.ranges.numbers.get(index.to_word()).map(|number| self.ranges.values.get(number))
    }

    /// The value at an index, mutable. It belongs to the whole entry; [`update_range`](Self::update_range) changes a
    /// part.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: K) -> Option<&mut V> {
        self.ranges.numbers.get(index.to_word()).map(|number| self.ranges.values.get_mut(number))
    }

    /// Whether an index is in an entry.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "contains_key")]
    #[must_use]
    pub fn contains(&self, index: K) -> bool {
        self.ranges.numbers.get(index.to_word()).is_some()
    }

    /// The range that contains an index, with its value, or the whole gap if it has none. A value of the type that is no
    /// key is a gap of its own.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn slot_at(&self, index: K) -> (K::Span, Option<&V>) {
        match self.ranges.numbers.slot_at(index.to_word()) {
            (span, Some(number)) => (K::Span::of_words(span), Some(self.ranges.values.get(number))),
            (gap, None) => (gap_at(index, gap), None),
        }
    }

    /// The entry that contains an index: its whole range, and its value.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "get_key_value")]
    #[doc(alias = "get_range_value")]
    #[inline(always)] // 145 instructions among 256 ranges, 172 with a call, which returns through memory
    #[must_use]
    pub fn entry_at(&self, index: K) -> Option<(K::Span, &V)> {
        let (span, number) = self.ranges.numbers.entry_at(index.to_word())?;
        Some((K::Span::of_words(span), self.ranges.values.get(number)))
    }

    /// As [`entry_at`](Self::entry_at), with a mutable value.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut sizes = RangeMap::from([(10..30, 0)]);
    /// if let Some((span, size)) = sizes.entry_at_mut(15) {
    ///     *size = span.size_bytes();
    /// }
    /// assert_eq!(sizes.get(10), Some(&20));
    /// ```
    #[inline]
    #[must_use]
    pub fn entry_at_mut(&mut self, index: K) -> Option<(K::Span, &mut V)> {
        let (span, number) = self.ranges.numbers.entry_at(index.to_word())?;
        Some((K::Span::of_words(span), self.ranges.values.get_mut(number)))
    }

    /// The last entry that begins before an index. It may contain the index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let symbols = RangeMap::from([(0x1000..0x1080, "main"), (0x2000..0x2010, "exit")]);
    /// let name = |index| symbols.last_before(index).map(|(_, &name)| name);
    /// assert_eq!([name(0x1000), name(0x1040), name(0x1fff), name(u64::MAX)], [None, Some("main"), Some("main"), Some("exit")]);
    /// ```
    #[doc(alias = "lower_bound")]
    #[must_use]
    pub fn last_before(&self, index: K) -> Option<(K::Span, &V)> {
        let (span, number) = self.ranges.numbers.last_before(index.to_word())?;
        Some((K::Span::of_words(span), self.ranges.values.get(number)))
    }

    /// The gaps that overlap the bounds, ascending. Each is returned whole.
    ///
    /// Cost: O(log n) for n entries to begin. The next gap may be behind many leaves without one: O(n) for one gap and
    /// for all of them together. To find a gap of some size, use [`lowest_gap`](Self::lowest_gap).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let map = RangeMap::from([(0..10, 'a'), (20..30, 'b')]);
    /// assert_eq!(map.gaps(..25).map(|gap| gap.to_string()).collect::<Vec<_>>(), ["0xa..=0x13"]);
    /// assert!(map.is_free(12..15) && !map.is_free(12..21));
    /// ```
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<K>) -> Gaps<'_, K> {
        Gaps::of_tree(self.ranges.numbers.tree(), within(&bounds))
    }

    /// As [`gaps`](Self::gaps), each clipped to the bounds.
    ///
    /// Cost: as for [`gaps`](Self::gaps).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let map = RangeMap::from([(0..10, 'a'), (20..30, 'b')]);
    /// assert_eq!(map.gaps_within(15..50).map(|gap| gap.to_string()).collect::<Vec<_>>(), ["0xf..=0x13", "0x1e..=0x31"]);
    /// // How many there are by size, and how fragmented the free part is.
    /// let sizes: freehold_units::FreeSizes = map.gaps_within(0..70).collect();
    /// assert_eq!((sizes.blocks_from(0), sizes.bytes(), sizes.fragmentation()), (2, 50, 0.2));
    /// ```
    #[must_use]
    pub fn gaps_within(&self, bounds: impl RangeBounds<K>) -> GapsWithin<'_, K> {
        GapsWithin::of_tree(self.ranges.numbers.tree(), within(&bounds))
    }

    /// Whether no entry overlaps the bounds.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "overlaps")]
    #[must_use]
    pub fn is_free(&self, bounds: impl RangeBounds<K>) -> bool {
        self.ranges.numbers.range_within(within(&bounds)).next().is_none()
    }

    /// Removes all entries, and keeps the memory for others.
    ///
    /// Cost: O(n) for n entries.
    pub fn clear(&mut self) {
        self.ranges.numbers.clear();
        self.ranges.values.clear();
    }

    /// Nodes in use: leaves of 256 bytes, and inner nodes of 320.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.ranges.numbers.nodes()
    }

    /// Bytes of memory that the map holds for nodes and values, in use or not. Memory that values own is not counted.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ranges.numbers.bytes() + self.ranges.values.bytes()
    }

    /// Limits the leaves and inner nodes in use. A store that needs more fails.
    ///
    /// Cost: constant.
    pub fn set_node_limit(&mut self, leaves: usize, inners: usize) {
        self.ranges.numbers.set_node_limit(leaves, inners);
    }

    /// Checks every invariant of the map from scratch. Cost: linear.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn validate(&self) -> Result<(), Broken> {
        self.ranges.validate()?;
        let last = self.ranges.numbers.last().map_or(0, |(span, _)| span.last());
        check(last <= K::LAST, "M14", "a word of the tree is the word of a key", last)
    }
}

impl<V, K> Default for RangeMap<V, K> {
    fn default() -> Self {
        Self::with_keys()
    }
}
