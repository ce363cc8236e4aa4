//! Creates and destroys chunks; populates and depopulates their pages.

use super::{Backing, ChunkSet};
use crate::OutOfMemory;
use crate::config::Population;
use crate::placement::Chunk;
use crate::placement::Placement;
use core::ops::Range;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Creates a chunk, at the head of the list of chunks without objects. Returns whether the backing may have one more.
    #[doc(alias = "pcpu_create_chunk")]
    pub(super) fn create_chunk(&mut self) -> Result<bool, OutOfMemory> {
        let id = self.chunks.reserve()?;
        if id.index >= self.backing.most_chunks() {
            return Ok(false);
        }
        let chunk = Chunk::new(&self.config, id.generation, P::hints(&self.config)?)?;
        self.backing.create(id)?;
        if self.config.population == Population::Whole
            && let Err(error) = self.backing.populate(id, 0..self.config.blocks())
        {
            self.backing.destroy(id);
            return Err(error);
        }
        self.populated_pages += u64::from(chunk.populated_pages);
        self.chunks.empty_pages += chunk.empty_pages;
        self.chunks.add(id, chunk);
        Ok(true)
    }

    /// Destroys a chunk without objects.
    #[doc(alias = "pcpu_destroy_chunk")]
    pub(super) fn destroy_chunk(&mut self, index: u32) {
        self.depopulate(index, 0..self.config.blocks());
        self.backing.destroy(self.chunks.id(index));
        self.chunks.remove(index);
    }

    /// Populates at most `most` unpopulated pages of `pages`, lowest first. Returns how many.
    #[doc(alias = "pcpu_populate_chunk")]
    pub(super) fn populate(&mut self, index: u32, pages: Range<u32>, most: u32) -> Result<u32, OutOfMemory> {
        let id = self.chunks.id(index);
        let (mut done, mut at) = (0, pages.start);
        while done < most {
            let known = &self.chunks.at(index).pages;
            let start = known.next_bare(at..pages.end);
            at = known.next_populated(start..pages.end).min(start.saturating_add(most - done));
            if start == at {
                break;
            }
            self.backing.populate(id, start..at)?;
            let chunk = self.chunks.at_mut(index);
            chunk.pages.set_populated(start..at, true);
            chunk.populated_pages += at - start;
            chunk.empty_pages += at - start;
            if !chunk.isolated {
                self.chunks.empty_pages += at - start;
            }
            self.populated_pages += u64::from(at - start);
            done += at - start;
            // The next call may be refused, and then these pages have no object.
            P::update_pages(&mut self.chunks, index, true);
        }
        Ok(done)
    }

    /// Depopulates the populated pages of `pages`, none of which has an object.
    #[doc(alias = "pcpu_depopulate_chunk")]
    pub(super) fn depopulate(&mut self, index: u32, pages: Range<u32>) {
        let id = self.chunks.id(index);
        let mut at = pages.start;
        loop {
            let known = &self.chunks.at(index).pages;
            let start = known.next_populated(at..pages.end);
            at = known.next_bare(start..pages.end);
            if start == at {
                return;
            }
            self.backing.depopulate(id, start..at);
            let chunk = self.chunks.at_mut(index);
            chunk.pages.set_populated(start..at, false);
            chunk.populated_pages -= at - start;
            chunk.empty_pages -= at - start;
            if !chunk.isolated {
                self.chunks.empty_pages -= at - start;
            }
            self.populated_pages -= u64::from(at - start);
            P::update_pages(&mut self.chunks, index, false);
        }
    }
}
