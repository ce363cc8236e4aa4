//! The memory behind the lab's chunks: none at all, but counted, so that it can be made to end.

use freehold::percpu::{Backing, ChunkId, OutOfMemory};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Refuses what passes a limit that can be moved at any time. Pages are those of one unit.
#[derive(Clone, Debug)]
pub struct Limited {
    pages: u64,
    /// Which pages of each chunk have memory, up to the last that ever had.
    chunks: BTreeMap<ChunkId, Vec<bool>>,
    changes: u64,
    /// No page more than these; what is there already stays. Set from outside, while the set has the backing.
    most: Cell<Option<u64>>,
}

impl Limited {
    /// Memory without end.
    pub fn endless() -> Self {
        Self { pages: 0, chunks: BTreeMap::new(), changes: 0, most: Cell::new(None) }
    }

    /// Every chunk, and which of its pages have memory.
    pub fn chunks(&self) -> &BTreeMap<ChunkId, Vec<bool>> {
        &self.chunks
    }

    /// How often that changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn set(&mut self, chunk: ChunkId, pages: Range<u32>, populated: bool) {
        self.changes += 1;
        let known = self.chunks.entry(chunk).or_default();
        let (first, end) = (pages.start as usize, pages.end as usize);
        known.resize(known.len().max(end), false);
        known.get_mut(first..end).into_iter().flatten().for_each(|page| *page = populated);
    }

    /// From now on.
    pub fn limit(&self, most: Option<u64>) {
        self.most.set(most);
    }

    /// How many more there are; `None` if there is no end.
    pub fn left(&self) -> Option<u64> {
        self.most.get().map(|most| most.saturating_sub(self.pages))
    }
}

fn length(pages: &Range<u32>) -> u64 {
    u64::from(pages.end.saturating_sub(pages.start))
}

impl Backing for Limited {
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        self.set(chunk, 0..0, false);
        Ok(())
    }

    fn destroy(&mut self, chunk: ChunkId) {
        self.changes += 1;
        self.chunks.remove(&chunk);
    }

    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        if self.left().is_some_and(|left| left < length(&pages)) {
            return Err(OutOfMemory);
        }
        self.pages += length(&pages);
        self.set(chunk, pages, true);
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        self.pages = self.pages.saturating_sub(length(&pages));
        self.set(chunk, pages, false);
    }
}
