//! Changes values in place, and cuts entries.

use super::RangeMap;
use super::numbered::{Numbered, number_of};
use crate::OutOfMemory;
use crate::key::{Key, SpanOf, within};
use crate::map::overlap;
use crate::tree::{Need, StorePlan, indexes};
use core::ops::RangeBounds;
use freehold_units::Span;

impl<V, K: Key> RangeMap<V, K> {
    /// Changes only the values in a range: entries that reach beyond it are first cut at its ends, and their values
    /// cloned. `change` gets each entry's range, ascending, and its value. Gaps stay gaps.
    ///
    /// Entries stay cut even if the values on both sides are equal: see [`merge_adjacent_in`](Self::merge_adjacent_in).
    ///
    /// Cost: O(log n + k) for n entries and k whose values change, and O(n) where the table of values grows for a part
    /// that is cut off.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut protection = RangeMap::new();
    /// protection.store(0x1000..0x9000, String::from("rw"))?;
    /// protection.update_range(0x3000..0x4000, |_, access| access.push('x'))?;
    /// assert_eq!(protection.get(0x3fff).unwrap(), "rwx");
    /// assert_eq!((protection.get(0x4000).unwrap().as_str(), protection.len()), ("rw", 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for another node or value, if an entry is cut. Nothing has changed then. If `change` panics,
    /// the values so far are changed.
    #[doc(alias = "overlapping_mut")]
    pub fn update_range(
        &mut self,
        bounds: impl RangeBounds<K>,
        mut change: impl FnMut(K::Span, &mut V),
    ) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = within(&bounds) else { return Ok(()) };
        self.ranges.cut_ends(span)?;
        let Numbered { numbers, values } = &mut self.ranges;
        for (part, number) in numbers.range(span) {
            change(K::Span::of_words(part), values.get_mut(number));
        }
        Ok(())
    }

    /// As [`update_range`](Self::update_range), with the gaps: `change` gets each entry and each gap within the range,
    /// ascending, a gap without a value. If it returns a value, that is the slot's value from then on: it replaces the
    /// entry's, or fills the gap, as far as it is within the range.
    ///
    /// Cost: O(k log n) for n entries and k slots within the range, and O(n) where the table of values grows.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// // How many hold each page.
    /// let mut holders = RangeMap::from([(10..20, 1)]);
    /// holders.update_slots(15..30, |_, count| match count {
    ///     Some(count) => Some(*count + 1),
    ///     None => Some(1),
    /// })?;
    /// assert_eq!([12, 17, 25, 30].map(|page| holders.get(page).copied()), [Some(1), Some(2), Some(1), None]);
    /// # Ok::<(), freehold_maple::OutOfMemory>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for a value in each gap, or for the nodes that a change at both ends may take. Nothing has
    /// changed then. If `change` or a value's drop panics, the slots so far are changed.
    pub fn update_slots(
        &mut self,
        bounds: impl RangeBounds<K>,
        mut change: impl FnMut(K::Span, Option<&mut V>) -> Option<V>,
    ) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = within(&bounds) else { return Ok(()) };
        self.ranges.update_slots(span, |part, value| change(K::Span::of_words(part), value))
    }

    /// Cuts the entry that contains an index, so that an entry begins there; its value is cloned. Returns `false` if
    /// there is nothing to cut: the index is in a gap, or an entry begins there already.
    ///
    /// Cost: O(log n) for n entries, and O(n) where the table of values grows; amortized O(log n).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..10, "a")]);
    /// assert_eq!((map.cut_at(4)?, map.cut_at(4)?, map.len()), (true, false, 2));
    /// assert_eq!((map.merge_adjacent(), map.len()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for another node or value. Nothing has changed then.
    #[doc(alias = "split")]
    pub fn cut_at(&mut self, index: K) -> Result<bool, OutOfMemory>
    where
        V: Clone,
    {
        let part = self.ranges.cut_part(index.to_word());
        let cuts = part.is_some();
        self.ranges.store_part(part)?;
        Ok(cuts)
    }
}

impl<V> Numbered<V> {
    fn update_slots(
        &mut self,
        span: Span,
        mut change: impl FnMut(Span, Option<&mut V>) -> Option<V>,
    ) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let gaps = self.numbers.gaps(span).count();
        // A gap that is filled within the range keeps its slot. At each end, a slot may be cut and its leaf split.
        let tree = &mut self.numbers.tree;
        tree.reserve_nodes(Need { leaves: 2, inners: 2 * tree.height() + 1 })?;
        // Each store asks for two places and takes one, the last one, too.
        self.values.reserve(gaps + 3)?;
        self.cut_ends(span)?;
        let mut next = Some(span.first());
        while let Some(index) = next.filter(|&index| index <= span.last()) {
            let slot = self.numbers.tree.slot_of(index);
            let part = overlap(slot.span, span);
            if let Some(word) = slot.entry {
                let held = self.values.get_mut(number_of(word));
                if let Some(value) = change(part, Some(held)) {
                    *held = value;
                }
            } else if let Some(value) = change(part, None) {
                self.store_part(Some((part, value)))?;
            }
            next = part.last().checked_add(1);
        }
        Ok(())
    }

    /// Cuts the entries that reach beyond a range at its ends. If memory is refused, nothing has changed.
    fn cut_ends(&mut self, span: Span) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        // Clones may panic, so both are made before anything changes.
        let low = self.cut_part(span.first());
        let high = span.last().checked_add(1).and_then(|behind| self.cut_part(behind));
        let whole = self.numbers.entry_at(span.first()).filter(|_| low.is_some());
        self.store_part(low)?;
        if let Err(cause) = self.store_part(high) {
            if let Some((whole, number)) = whole {
                drop(self.unite(whole, number));
            }
            return Err(cause);
        }
        Ok(())
    }

    /// The part, from an index on, of the entry that contains the index, and a clone of its value. `None` if the entry
    /// begins there.
    fn cut_part(&self, index: u64) -> Option<(Span, V)>
    where
        V: Clone,
    {
        let (whole, number) = self.numbers.entry_at(index).filter(|(whole, _)| whole.first() < index)?;
        Some((indexes(index, whole.last()), self.values.get(number).clone()))
    }

    /// Stores a part that was cut off as an entry of its own.
    fn store_part(&mut self, part: Option<(Span, V)>) -> Result<(), OutOfMemory> {
        if let Some((part, value)) = part {
            let mut plan = StorePlan::new(part);
            self.prepare(&mut plan, true)?;
            self.commit(&mut plan, Some(value), None);
        }
        Ok(())
    }
}
