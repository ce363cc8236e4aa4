//! Balancing: releases unneeded memory, and keeps a few empty pages ready for requests that cannot wait. No operation
//! does this by itself; the caller decides when.

use super::free::EMPTY_PAGES_HIGH;
use super::{Backing, ChunkSet};
use crate::OutOfMemory;
use crate::placement::End;
use crate::placement::NONE;
use crate::placement::Placement;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Destroys the chunks without objects, except one and those whose pages stay ready, depopulates the empty pages of
    /// chunks that were set aside, and populates pages until a few empty ones are ready. Call it soon after [`ChunkSet::wants_balance`] becomes true.
    ///
    /// Cost: a step for each page of the chunks that are destroyed, set aside or populated, amortized against the
    /// allocations and frees that caused it. With the default placement also a step for every 16 chunks; the kernel's
    /// placements visit every chunk.
    ///
    /// # Errors
    /// There is no memory for the empty pages. All other work is done, and the set still wants balancing.
    #[doc(alias = "pcpu_balance_workfn")]
    pub fn balance(&mut self) -> Result<(), OutOfMemory> {
        self.balance_wanted = false;
        self.destroy_free_chunks(false);
        self.empty_isolated_chunks();
        let populated = self.populate_some();
        self.destroy_free_chunks(true);
        self.balance_wanted |= populated.is_err();
        populated
    }

    /// Destroys the chunks without objects except the first; if `unpopulated`, only those without memory.
    #[doc(alias = "pcpu_balance_free")]
    fn destroy_free_chunks(&mut self, unpopulated: bool) {
        let first = self.chunks.lists.first(self.chunks.lists.free());
        if first == NONE {
            return;
        }
        let mut index = self.chunks.lists.next(first);
        while index != NONE {
            let next = self.chunks.lists.next(index);
            if !unpopulated || self.chunks.at(index).empty_pages == 0 {
                self.destroy_chunk(index);
            }
            index = next;
        }
    }

    /// Depopulates the empty pages of chunks that were set aside, while enough empty ones are left elsewhere. A chunk
    /// returns to the list of its size class if its empty pages had to stay, or if it has no objects; otherwise it is
    /// sidelined.
    #[doc(alias = "pcpu_reclaim_populated")]
    fn empty_isolated_chunks(&mut self) {
        loop {
            let index = self.chunks.lists.first(self.chunks.lists.to_depopulate());
            if index == NONE {
                return;
            }
            // The count excludes isolated chunks, so depopulating their pages does not change it.
            let enough = self.chunks.empty_pages >= EMPTY_PAGES_HIGH;
            let had = self.chunks.at(index).empty_pages;
            if enough {
                self.depopulate_empty_pages(index);
            }
            if (had > 0 && !enough) || self.chunks.at(index).objects == 0 {
                self.reintegrate(index);
            } else {
                let sidelined = self.chunks.lists.sidelined();
                self.chunks.lists.move_to(index, sidelined, End::Tail);
            }
        }
    }

    /// Depopulates a chunk's empty pages, from the last to the first, one range at a time.
    pub(super) fn depopulate_empty_pages(&mut self, index: u32) {
        let mut page = self.config.blocks();
        while page > 0 && self.chunks.at(index).empty_pages > 0 {
            let end = page;
            while page > 0 && self.chunks.at(index).pages.is_empty(page - 1) {
                page -= 1;
            }
            if page < end {
                self.depopulate(index, page..end);
            } else {
                page -= 1;
            }
        }
    }

    /// Populates pages until a few empty ones are ready. If a request that could not wait was refused, populates a few
    /// more even if some are ready.
    #[doc(alias = "pcpu_balance_populated")]
    fn populate_some(&mut self) -> Result<(), OutOfMemory> {
        loop {
            let mut wanted = if self.atomic_failed {
                EMPTY_PAGES_HIGH
            } else {
                EMPTY_PAGES_HIGH.saturating_sub(self.chunks.empty_pages)
            };
            self.atomic_failed = false;
            for slot in P::first_list_with_pages()..=self.chunks.lists.free() {
                if wanted == 0 {
                    return Ok(());
                }
                if let Some(index) = P::unpopulated(&mut self.chunks, slot) {
                    if !P::READIES_ASIDE && self.chunks.at(index).isolated {
                        self.reintegrate(index);
                    }
                    wanted -= self.populate(index, 0..self.config.blocks(), wanted)?;
                }
            }
            if wanted == 0 {
                return Ok(());
            }
            if !self.create_chunk()? {
                return Ok(());
            }
        }
    }
}
