//! Checks a whole set against its maps. Terminates for any set, however broken.

use super::{Backing, ChunkSet};
use crate::Broken;
use crate::geometry::base_of;
use crate::object_map::Found;
use crate::placement::Placement;
use crate::placement::{Chunk, NONE};
use core::ops::Range;
use freehold_units::check;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Checks every invariant: counts, lists and hints against the maps. Cost: linear in the bits of all chunks.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.validate_lists()?;
        let (mut objects, mut populated, mut empty) = (0, 0, 0);
        for (index, chunk) in (0..).zip(self.chunks.positions()) {
            let in_chunk = |broken: Broken| broken.in_chunk(index);
            if chunk.is_live() {
                self.validate_chunk(chunk).map_err(in_chunk)?;
            }
            P::validate(&self.chunks, index).map_err(in_chunk)?;
            objects += u64::from(chunk.objects);
            populated += u64::from(chunk.populated_pages);
            empty += if chunk.isolated { 0 } else { chunk.empty_pages };
        }
        check(objects == self.objects, "P6", "the count of objects is their number", 0)?;
        check(populated == self.populated_pages, "P6", "populated_pages is their number", 0)?;
        check(
            empty == self.chunks.empty_pages,
            "P6",
            "empty_pages is their number, isolated chunks left out",
            0,
        )
    }

    fn validate_lists(&self) -> Result<(), Broken> {
        let lists = &self.chunks.lists;
        let mut linked = 0;
        for slot in 0..lists.count() {
            let (mut previous, mut index) = (NONE, lists.first(slot));
            while index != NONE {
                let broken = |broken: Broken| broken.in_chunk(index);
                let live = self.chunks.positions().get(index as usize).is_some_and(Chunk::is_live);
                check(live, "P1", "a list links chunks", 0).map_err(broken)?;
                let right = lists.of(index) == slot && lists.previous(index) == previous;
                check(right, "P1", "a list links its chunks both ways", 0).map_err(broken)?;
                linked += 1;
                check(linked <= self.chunks.live, "P1", "no list goes round", 0).map_err(broken)?;
                self.validate_list_of(index, slot).map_err(broken)?;
                (previous, index) = (index, lists.next(index));
            }
            check(lists.ends_with(slot, previous), "P1", "a list ends with its last chunk", 0)?;
            let occupied = lists.next_occupied(slot, slot + 1).is_some();
            check(occupied == (previous != NONE), "P1", "a list with chunks is marked so", 0)?;
        }
        check(linked == self.chunks.live, "P1", "every chunk is on a list", 0)
    }

    /// Checks that a chunk's list is valid: one of the two lists of isolated chunks, the list of its size class, or the
    /// list of full chunks, to which the kernel's placement demotes chunks.
    fn validate_list_of(&self, index: u32, slot: u32) -> Result<(), Broken> {
        let lists = &self.chunks.lists;
        let aside = slot == lists.sidelined() || slot == lists.to_depopulate();
        check(aside == self.chunks.at(index).isolated, "P1", "isolated chunks are set aside", 0)?;
        let by_room = lists.by_room(index);
        check(by_room == P::slot(&self.chunks, index), "P1", "the list of a chunk's room is known", 0)?;
        let right = aside || slot == 0 || slot == by_room;
        check(right, "P1", "a chunk is on the list of its room", 0)
    }

    fn validate_chunk(&self, chunk: &Chunk<P::Hints>) -> Result<(), Broken> {
        check(chunk.used.starts_are_used(), "P2", "objects start at used bits", 0)?;
        let (mut objects, mut used) = (0, 0);
        for object in chunk.used.objects() {
            let Range { start, end } = object;
            let starts = chunk.used.find(start) == Found::Object(end);
            check(starts, "P2", "where used bits start an object does", start.into())?;
            let ends = start < end && end <= self.chunks.bits;
            check(ends, "P2", "an object ends behind its start, in its unit", start.into())?;
            check(chunk.pages.are_populated(&object), "P5", "an object's pages have memory", start.into())?;
            objects += 1;
            used += end - start;
        }
        check(objects == chunk.objects, "P6", "the count of objects is their number", 0)?;
        check(used + chunk.free_bits == self.chunks.bits, "P6", "free_bits is their number", 0)?;
        self.validate_pages(chunk)
    }

    fn validate_pages(&self, chunk: &Chunk<P::Hints>) -> Result<(), Broken> {
        let count = self.config.blocks();
        check(chunk.pages.count() == count, "P6", "a chunk has all its pages", 0)?;
        let (mut populated, mut empty) = (0, 0);
        for page in 0..count {
            let used = chunk.used.count(base_of(page)..base_of(page + 1));
            let counted = chunk.pages.used_bits(page) == used;
            check(counted, "P6", "the used bits of a page are counted", base_of(page).into())?;
            populated += u32::from(chunk.pages.is_populated(page));
            empty += u32::from(chunk.pages.is_empty(page));
        }
        check(populated == chunk.populated_pages, "P6", "populated_pages is their number", 0)?;
        check(empty == chunk.empty_pages, "P6", "empty_pages is their number", 0)
    }
}
