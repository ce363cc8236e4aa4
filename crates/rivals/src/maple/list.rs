//! A sorted list of ranges: what models keep, which share nothing with what they judge.
//!
//! ```text
//!   entries   [3, 5] a   [9, 20] b   [21, 30] c      a store over [10, 25] replaces what it meets, b and c, by
//!                        ---------------------       what is left of b, itself, and what is left of c
//! ```
//!
//! Cost: in proportion to the ranges behind the place of a change, and to those that a search for a gap passes.

use freehold_trace::maple::{End, Ranges};
use freehold_trace::vma::AreaMap;
use freehold_units::{Align, Span};

/// Disjoint ranges in a list, ascending.
#[derive(Clone, Debug, Default)]
pub struct ListRanges<V> {
    /// First index, last index and value.
    pub(super) entries: Vec<(u64, u64, V)>,
    /// Equal neighbours become one range.
    merges: bool,
}

impl<V: Copy + PartialEq> ListRanges<V> {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Vec::new(), merges: false }
    }

    /// One that makes equal neighbours one range, to judge maps that do.
    #[must_use]
    pub fn merging() -> Self {
        Self { merges: true, ..Self::new() }
    }

    /// Ranges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// First index, last index and value of every range in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, V)> {
        self.entries.iter().copied()
    }

    /// The last of the ranges that start at or below the index.
    #[must_use]
    pub fn at_or_below(&self, index: u64) -> Option<(u64, u64, V)> {
        let after = self.entries.partition_point(|entry| entry.0 <= index);
        after.checked_sub(1).and_then(|at| self.entries.get(at)).copied()
    }

    /// The first of the ranges that start at or above the index.
    #[must_use]
    pub fn at_or_above(&self, index: u64) -> Option<(u64, u64, V)> {
        self.entries.get(self.entries.partition_point(|entry| entry.0 < index)).copied()
    }

    /// The range that holds the index.
    #[must_use]
    pub fn holding(&self, index: u64) -> Option<(u64, u64, V)> {
        self.at_or_below(index).filter(|entry| entry.1 >= index)
    }

    /// Places of the ranges that a span meets.
    fn met(&self, span: Span) -> std::ops::Range<usize> {
        let from = self.entries.partition_point(|entry| entry.1 < span.first());
        from..self.entries.partition_point(|entry| entry.0 <= span.last())
    }

    /// The ranges that a span meets.
    pub fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, V)> {
        self.entries.get(self.met(span)).into_iter().flatten().copied()
    }

    /// Their values.
    pub fn values_in(&self, span: Span) -> impl Iterator<Item = V> {
        self.overlapping(span).map(|entry| entry.2)
    }

    /// Whether nothing is stored in a range.
    #[must_use]
    pub fn is_free(&self, span: Span) -> bool {
        self.met(span).is_empty()
    }

    /// Stores a value over a range, whatever is there, or empties it.
    pub fn put(&mut self, span: Span, value: Option<V>) {
        let met = self.met(span);
        let below = self.entries.get(met.start).filter(|entry| !met.is_empty() && entry.0 < span.first());
        let below = below.map(|&(first, _, old)| (first, span.first() - 1, old));
        let above = met.end.checked_sub(1).and_then(|at| self.entries.get(at));
        let above = above.filter(|entry| !met.is_empty() && entry.1 > span.last());
        let above = above.map(|&(_, last, old)| (span.last() + 1, last, old));
        let new = value.map(|value| (span.first(), span.last(), value));
        let mut at = met.start.saturating_sub(1);
        self.entries.splice(met, [below, new, above].into_iter().flatten());
        // From the neighbour below to that above there are four pairs at most.
        for _ in 0..if self.merges { 4 } else { 0 } {
            match self.entries.get(at..at + 2) {
                Some(&[one, next]) if one.1.checked_add(1) == Some(next.0) && one.2 == next.2 => {
                    self.entries.splice(at..at + 2, [(one.0, next.1, one.2)]);
                }
                _ => at += 1,
            }
        }
    }

    /// Erases the whole range that holds the index.
    pub fn erase(&mut self, index: u64) -> Option<(u64, u64, V)> {
        let held = self.holding(index)?;
        let at = self.entries.partition_point(|entry| entry.0 < held.0);
        Some(self.entries.remove(at))
    }

    /// The lowest or highest place that is free, [`Ranges::gap`]: each gap, cut to the window, in turn.
    #[must_use]
    pub fn free_place(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let (size, align) = (u128::from(size), u128::from(align.bytes()));
        let place = |from: u128, until: u128| {
            let (from, until) = (from.max(window.first().into()), until.min(u128::from(window.last()) + 1));
            let first = match end {
                End::Lowest => from.next_multiple_of(align),
                End::Highest => until.checked_sub(size)? / align * align,
            };
            let fits = size > 0 && from <= first && first + size <= until;
            let first = u64::try_from(first).ok().filter(|_| fits)?;
            Span::new(first, u64::try_from(u128::from(first) + size - 1).ok()?)
        };
        // Gaps begin at 0 and behind each range, and end before each range and behind the last index.
        let within = self.entries.get(self.met(window))?.iter();
        let starts = std::iter::once(0).chain(within.clone().map(|entry| u128::from(entry.1) + 1));
        let ends = within.map(|entry| u128::from(entry.0)).chain(std::iter::once(1 << 64));
        let mut places = starts.zip(ends).filter_map(|(from, until)| place(from, until));
        match end {
            End::Lowest => places.next(),
            End::Highest => places.last(),
        }
    }

    /// Bytes of memory that it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u64, u64, V)>()
    }

    /// Checks that ranges are ranges, and apart.
    ///
    /// # Errors
    /// Which is not.
    pub fn validate(&self) -> Result<(), String> {
        let backwards = self.entries.iter().find(|entry| entry.0 > entry.1);
        let meeting =
            self.entries.windows(2).find(|pair| matches!(pair, [below, above] if below.1 >= above.0));
        let wrong = backwards.or(meeting.and_then(<[_]>::last));
        wrong.map_or(Ok(()), |(first, last, _)| {
            Err(format!("{first:#x}..={last:#x} is no range, or not after the one before it"))
        })
    }
}

impl Ranges for ListRanges<u64> {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self::new()
    }

    fn store(&mut self, span: Span, value: u64) {
        self.put(span, Some(value));
    }

    fn clear(&mut self, span: Span) {
        self.put(span, None);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let free = self.is_free(span);
        if free {
            self.put(span, Some(value));
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.erase(index).map(|(_, _, value)| value)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.holding(index).map(|(_, _, value)| value)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.iter()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        self.free_place(end, size, align, window)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.validate()
    }
}

impl AreaMap for ListRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        self.overlapping(span)
    }
}
