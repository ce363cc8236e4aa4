//! Checks every invariant from scratch.

use super::LazySpace;
use super::area::{Held, List};
use super::purge::Purge;
use alloc::vec::Vec;
use freehold_units::{Broken, Span, check};

impl LazySpace {
    /// Checks the tree, and that areas and lists agree. Cost: O(n log n).
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        self.areas.validate()?;
        for block in self.tree.iter() {
            check(!self.areas.overlaps(block), "K4", "a free block overlaps no area", block.first())?;
        }
        let waits = self.purge.as_ref().map_or_else(Vec::new, Purge::waiting);
        let [mut lazy, mut pooled, mut taken] = [0, 0, 0];
        for (area, at) in self.areas.iter() {
            let pages = self.pages(area);
            match at.held {
                Held::Live => {}
                Held::Lazy(_) => lazy += pages,
                Held::Pooled(_) => pooled += pages,
                Held::Taken => {
                    let waits = waits.binary_search(&area.first()).is_ok();
                    check(waits, "K18", "the purge that runs has what was taken", area.first())?;
                    taken += pages;
                }
            }
        }
        let is_counted = lazy + taken == self.counts.lazy_pages && pooled == self.counts.pooled_pages;
        check(is_counted, "K18", "freed and pooled pages are counted", self.zone.first())?;
        check(
            self.pages_of(self.lazy, None)? == lazy,
            "K18",
            "the list has all freed areas",
            self.zone.first(),
        )?;
        let mut listed = 0;
        for (number, &list) in self.lists.iter().enumerate() {
            listed += self.pages_of(list, Some(number))?;
        }
        check(listed == pooled, "K18", "lists have all pooled areas", self.zone.first())
    }

    /// The pages of a list's areas, each of which says that it is there.
    fn pages_of(&self, list: List, number: Option<usize>) -> Result<u64, Broken> {
        let (mut pages, mut len, mut last) = (0, 0, None);
        for first in list.iter(&self.areas) {
            let area: Span = self.span_at(first);
            let is_here = match (self.areas.at(first).held, number) {
                (Held::Lazy(node), None) => node < self.choices.sets() as usize,
                (Held::Pooled(list), Some(number)) => {
                    list == number && number % super::LISTS + 1 == self.pages(area) as usize
                }
                _ => false,
            };
            check(is_here, "K18", "an area is in the list that it says", first)?;
            (pages, len, last) = (pages + self.pages(area), len + 1, Some(first));
        }
        check(
            len == list.len && last == list.tail,
            "K18",
            "a list has its length and end",
            last.unwrap_or(0),
        )?;
        Ok(pages)
    }
}
